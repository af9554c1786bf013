package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func lineageTests() map[string]func(*env) {
	return map[string]func(*env){"Edges": lineageEdges}
}

func lineageEdges(e *env) {
	s := e.session("s", 0)
	messages := e.messages(s, "a", "b")
	list := e.memories("m", "n")
	m, n := memoryItem(list[0]), memoryItem(list[1])
	a, b, session := messageItem(messages[0]), messageItem(messages[1]), sessionItem(s)
	before := e.state()
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.AddLineage(n, []store.Item{b, m, a}), tx.AddLineage(m, []store.Item{a, session}), tx.AddLineage(n, []store.Item{a, session}))
	})
	e.same("state", before, e.state())
	e.view(func(r store.Reader) error {
		sources, err := r.Sources(e.owner, n)
		e.same("sources", []store.Item{b, m, a, session}, sources)
		derived, err2 := r.Derived(e.owner, a)
		e.same("derived", []store.Item{n, m}, derived)
		wrong, err3 := r.Sources(e.owner, store.Item{Kind: store.ItemMessage, Key: n.Key})
		e.same("of another kind", []store.Item(nil), wrong)
		return errors.Join(err, err2, err3)
	})
	for _, item := range []store.Item{{Kind: store.ItemMemory, Key: m.Key + 500}, {Kind: store.ItemMessage, Key: m.Key}, {Kind: 9, Key: m.Key}} {
		err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
			return tx.AddLineage(n, []store.Item{item})
		})
		e.want("AddLineage from what is not there", err, yiku.ErrNotFound)
	}
}

func changeTests() map[string]func(*env) {
	return map[string]func(*env){"Sequence": changeSequence, "Paging": changePaging}
}

func changeSequence(e *env) {
	s := e.session("s", 0)              // 1
	messages := e.messages(s, "a", "b") // 2, 3
	list := e.memories("m", "n")        // 4, 5
	e.update(func(tx store.Tx) error {
		m := list[0]
		m.UpdatedAt = At(1)
		return errors.Join(
			tx.UpdateMemory(m, "patched"),               // 6
			tx.PutSession(s),                            // 7
			tx.DeleteMemory(list[1].Key),                // 8
			tx.DeleteMessages([]int64{messages[0].Key}), // 9
			tx.Touch([]int64{m.Key}, At(2)),             // outside
			tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "k", At: At(0)}, nil), // outside
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "x", CreatedAt: At(0)}}),
			tx.PutWorking(&store.Working{SessionID: "s"}))
	})
	want := []store.Change{
		{Item: messageItem(messages[1]), Seq: 3},
		{Item: memoryItem(list[0]), Seq: 6},
		{Item: sessionItem(s), Seq: 7},
		{Item: memoryItem(list[1]), Seq: 8, Deleted: true},
		{Item: messageItem(messages[0]), Seq: 9, Deleted: true},
	}
	e.same("state", store.OwnerState{Known: true, Seq: 9}, e.state())
	e.same("seq of the row", int64(6), list[0].Seq)
	e.view(func(r store.Reader) error {
		for after := range int64(11) {
			var rest []store.Change
			for _, c := range want {
				if c.Seq > after {
					rest = append(rest, c)
				}
			}
			got, err := r.Changes(e.owner, after, 0)
			e.same(fmt.Sprint("changes after ", after), rest, got)
			two, err2 := r.Changes(e.owner, after, 2)
			e.same(fmt.Sprint("two changes after ", after), rest[:min(2, len(rest))], two)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
		}
		return nil
	})
}

func changePaging(e *env) {
	s := e.session("s", 0)
	for i := range 5 {
		e.messages(s, number(i))
		e.memories(number(i))
	}
	e.view(func(r store.Reader) error {
		all, err := r.Changes(e.owner, 0, 0)
		var got []store.Change
		var after int64
		for {
			page, err := r.Changes(e.owner, after, 3)
			if err != nil || len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = page[len(page)-1].Seq
		}
		e.same("pages together", all, got)
		return err
	})
}

func recordTests() map[string]func(*env) {
	return map[string]func(*env){
		"Snapshot":      recordSnapshot,
		"Idempotency":   recordIdempotency,
		"DropExpired":   recordDropExpired,
		"KeepSnapshots": recordKeepSnapshots,
		"Suppressions":  recordSuppressions,
	}
}

func recordSnapshot(e *env) {
	m := e.memories("m")[0]
	turns := 3
	s := &store.Snapshot{
		Snapshot: yiku.Snapshot{
			ID: "snap", UserID: "ignored", SessionID: "s", CreatedAt: At(0),
			Request: yiku.GetContextRequest{UserID: "u", Query: "住在哪里", Turns: &turns, Filter: &yiku.Filter{Field: "kind", Op: yiku.OpEq, Value: "semantic"}},
			Response: yiku.GetContextResponse{
				System: "系统", Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("hi")}},
				Memories: []yiku.ContextMemory{{ID: "m", Content: "c", Score: 0.5}}, Degraded: []string{"llm"},
			},
		},
		Cites: []store.Item{memoryItem(m)}, ExpiresAt: At(10),
	}
	e.update(func(tx store.Tx) error { return tx.PutSnapshot(s) })
	e.view(func(r store.Reader) error {
		got, err := r.Snapshot(e.owner, "snap", At(9))
		e.same("snapshot", *s, got)
		_, err2 := r.Snapshot(e.owner, "snap", At(10))
		e.want("an expired snapshot", err2, yiku.ErrNotFound)
		return err
	})
	for want, again := range map[error]*store.Snapshot{
		yiku.ErrConflict: {Snapshot: yiku.Snapshot{ID: "snap", CreatedAt: At(0)}},
		yiku.ErrNotFound: {Snapshot: yiku.Snapshot{ID: "other", CreatedAt: At(0)}, Cites: []store.Item{{Kind: store.ItemMemory, Key: m.Key + 99}}},
	} {
		err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error { return tx.PutSnapshot(again) })
		e.want("PutSnapshot", err, want)
	}
}

func recordIdempotency(e *env) {
	rec := &store.Idempotency{Operation: "o", Key: "钥匙", Request: []byte{1, 0, 2}, Result: []byte(`{"id":"m"}`), At: At(0), ExpiresAt: At(5)}
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.PutIdempotency(rec, nil), tx.PutIdempotency(&store.Idempotency{Operation: "p", Key: "钥匙", At: At(0)}, nil))
	})
	e.view(func(r store.Reader) error {
		got, err := r.Idempotency(e.owner, "o", "钥匙")
		e.same("record", *rec, got)
		other, err2 := r.Idempotency(e.owner, "p", "钥匙")
		e.same("its default time", At(0).Add(store.DefaultIdempotencyTTL), other.ExpiresAt)
		_, err3 := r.Idempotency(e.owner, "o", "other")
		e.want("an unknown key", err3, yiku.ErrNotFound)
		return errors.Join(err, err2)
	})
	put := func(minute int) error {
		return e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
			return tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "钥匙", At: At(minute)}, nil)
		})
	}
	e.want("the key again", put(4), yiku.ErrConflict)
	e.want("the key after its time", put(5), nil)
	e.want("PutIdempotency", e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "x", At: At(0)}, []store.Item{{Kind: store.ItemMemory, Key: 5}})
	}), yiku.ErrNotFound)
}

// recordKeepSnapshots: the oldest go, the newest never does, and those of
// another owner are not touched.
func recordKeepSnapshots(e *env) {
	put := func(tx store.Tx, id int, text string) error {
		return tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: number(id), CreatedAt: At(0), Response: yiku.GetContextResponse{System: text}}})
	}
	e.updateAs(e.neighbour, func(tx store.Tx) error { return put(tx, 0, "theirs") })
	e.update(func(tx store.Tx) error {
		return errors.Join(put(tx, 0, ""), put(tx, 1, ""), put(tx, 2, strings.Repeat("长", 10_000)), put(tx, 3, ""), put(tx, 4, ""))
	})
	keep := func(most, bytes int, want ...int) {
		e.t.Helper()
		e.update(func(tx store.Tx) error { return tx.KeepSnapshots(most, bytes) })
		e.view(func(r store.Reader) error {
			var got []int
			for i := range 5 {
				if _, err := r.Snapshot(e.owner, number(i), At(0)); err == nil {
					got = append(got, i)
				}
			}
			e.same("snapshots that are left", want, got)
			_, err := r.Snapshot(e.neighbour, number(0), At(0))
			return err
		})
	}
	keep(0, 0, 0, 1, 2, 3, 4)
	keep(4, 0, 1, 2, 3, 4)
	keep(0, 10_000, 3, 4)
	keep(1, 0, 4)
	keep(1, 1, 4)
}

func recordDropExpired(e *env) {
	e.updateAs(e.neighbour, func(tx store.Tx) error {
		return tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "1", CreatedAt: At(0)}, ExpiresAt: At(1)})
	})
	e.update(func(tx store.Tx) error {
		for i := range 4 {
			err := errors.Join(
				tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: number(i), CreatedAt: At(0)}, ExpiresAt: At(i)}),
				tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: number(i), At: At(-5), ExpiresAt: At(i)}, nil))
			if err != nil {
				return err
			}
		}
		return tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "for ever", CreatedAt: At(0)}})
	})
	drop := func(minute, limit, want int) {
		e.t.Helper()
		e.update(func(tx store.Tx) error {
			n, err := tx.DropExpired(At(minute), limit)
			e.same("dropped", want, n)
			return err
		})
	}
	drop(-1, 10, 0)
	drop(2, 4, 4) // three snapshots and one record
	drop(2, 4, 2) // the other two records
	drop(2, 4, 0)
	drop(99, 0, 2) // no bound
	e.view(func(r store.Reader) error {
		_, err := r.Snapshot(e.owner, "for ever", At(1000))
		_, err2 := r.Snapshot(e.neighbour, "1", At(0))
		_, err3 := r.Idempotency(e.owner, "o", number(0))
		e.want("a dropped record", err3, yiku.ErrNotFound)
		return errors.Join(err, err2)
	})
}

func recordSuppressions(e *env) {
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.Suppress([]string{"甲", "b"}, At(0)), tx.Suppress([]string{"b"}, At(1)))
	})
	e.update(func(tx store.Tx) error {
		stand, err := tx.Suppressed([]string{"b", "c", "甲", ""})
		e.same("suppressed", []bool{true, false, true, false}, stand)
		at, err3 := tx.SuppressedAt([]string{"b", "c"})
		e.same("added last", []time.Time{At(1), {}}, at)
		err = errors.Join(err, err3)
		none, err2 := tx.Suppressed(nil)
		e.same("of none", []bool{}, none)
		return errors.Join(err, err2)
	})
}
