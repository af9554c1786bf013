package storetest

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// reads calls every reading method for an owner with the keys of some rows.
// One is for what is a single row, many for a list: its length.
func reads(r store.Reader, o yiku.Owner, session, message, memory int64) (one map[string]error, many map[string]int, errs map[string]error) {
	one, many, errs = map[string]error{}, map[string]int{}, map[string]error{}
	single := func(name string, err error) { one[name] = err }
	list := func(name string, n int, err error) { many[name], errs[name] = n, err }

	_, err := r.Session(o, "s")
	single("Session", err)
	_, err = r.SessionByKey(o, session)
	single("SessionByKey", err)
	_, err = r.MessageByID(o, session, "a")
	single("MessageByID", err)
	_, err = r.Task(o, "p", "t")
	single("Task", err)
	_, err = r.Working(o, "p", "t", "s")
	single("Working", err)
	_, err = r.OpenWorking(o, "p", "")
	single("OpenWorking", err)
	_, err = r.Memory(o, "m")
	single("Memory", err)
	_, err = r.Duplicate(o, *fact("m"))
	single("Duplicate", err)
	_, err = r.Snapshot(o, "snap", At(0))
	single("Snapshot", err)
	_, err = r.Idempotency(o, "o", "k")
	single("Idempotency", err)

	sessions, err := r.Sessions(o, store.SessionQuery{})
	list("Sessions", len(sessions), err)
	n, err := r.CountSessions(o, store.SessionQuery{})
	list("CountSessions", n, err)
	messages, err := r.Messages(o, store.MessageQuery{SessionKey: session})
	list("Messages", len(messages), err)
	n, err = r.CountMessages(o, session)
	list("CountMessages", n, err)
	messages, err = r.MessagesByKey(o, []int64{message})
	list("MessagesByKey", len(messages), err)
	tasks, err := r.SessionTasks(o, session)
	list("SessionTasks", len(tasks), err)
	memories, err := r.MemoriesByKey(o, []int64{memory})
	list("MemoriesByKey", len(memories), err)
	memories, err = r.Memories(o, store.MemoryQuery{})
	list("Memories", len(memories), err)
	n, err = r.CountMemories(o, store.MemoryQuery{})
	list("CountMemories", n, err)
	versions, err := r.Versions(o, memory)
	list("Versions", len(versions), err)
	items, err := r.Sources(o, store.Item{Kind: store.ItemMemory, Key: memory})
	list("Sources", len(items), err)
	items, err = r.Derived(o, store.Item{Kind: store.ItemMessage, Key: message})
	list("Derived", len(items), err)
	changes, err := r.Changes(o, 0, 0)
	list("Changes", len(changes), err)
	return one, many, errs
}

// populate writes one row of everything for an owner, all owners with the same ids.
func populate(e *env, o yiku.Owner) (session, message_, memory int64) {
	s := &store.Session{Session: yiku.Session{ID: "s", ProjectID: "p", CreatedAt: At(0)}}
	m, mem := message("a", 0), fact("m")
	m.TaskID = "t"
	e.updateAs(o, func(tx store.Tx) error {
		if err := tx.PutSession(s); err != nil {
			return err
		}
		if err := errors.Join(tx.AddMessages(s.Key, []*store.Message{m}), tx.AddMemory(mem)); err != nil {
			return err
		}
		w := &store.Working{Project: "p", SessionID: "s", Open: true}
		w.TaskID = "t"
		return errors.Join(
			tx.UpdateMemory(mem, "patched"),
			tx.PutTask(&store.Task{Task: yiku.Task{ID: "t", ProjectID: "p", StartedAt: At(0)}}),
			tx.PutWorking(w),
			tx.AddLineage(memoryItem(mem), []store.Item{messageItem(m)}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "snap", CreatedAt: At(0)}}),
			tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "k", At: At(0)}, nil),
			tx.Suppress([]string{"mark"}, At(0)))
	})
	return s.Key, m.Key, mem.Key
}

func zeroOwner(e *env) {
	e.want("Update", e.s.Update(context.Background(), yiku.Owner{}, store.Request, func(store.Tx) error { return nil }), yiku.ErrInvalid)
	e.view(func(r store.Reader) error {
		one, _, errs := reads(r, yiku.Owner{}, 1, 1, 1)
		for name, err := range one {
			e.want(name, err, yiku.ErrInvalid)
		}
		for name, err := range errs {
			e.want(name, err, yiku.ErrInvalid)
		}
		_, err := r.Owner(yiku.Owner{})
		e.want("Owner", err, yiku.ErrInvalid)
		return nil
	})
}

func unknownOwner(e *env) {
	session, message, memory := populate(e, e.owner)
	e.view(func(r store.Reader) error {
		e.empty(r, e.alien, session, message, memory)
		return nil
	})
}

// empty checks that an owner sees nothing, also under another's keys.
func (e *env) empty(r store.Reader, o yiku.Owner, session, message, memory int64) {
	e.t.Helper()
	one, many, errs := reads(r, o, session, message, memory)
	for name, err := range one {
		e.want(name, err, yiku.ErrNotFound)
	}
	for name, n := range many {
		if n != 0 || errs[name] != nil {
			e.t.Errorf("%s gives %d rows, %v", name, n, errs[name])
		}
	}
}

// isolation: owners, and tenants with users of the same id, never meet: each
// sees all of its own under the same ids, nothing under another's keys, and
// cannot write to them.
func isolation(e *env) {
	session, message_, memory := populate(e, e.owner)
	e.updateAs(e.alien, func(store.Tx) error { return nil })
	e.view(func(r store.Reader) error {
		e.empty(r, e.alien, session, message_, memory)
		return nil
	})
	own, ownMessage, ownMemory := populate(e, e.alien)
	e.view(func(r store.Reader) error {
		one, many, errs := reads(r, e.alien, own, ownMessage, ownMemory)
		for name, err := range one {
			if err != nil {
				e.t.Errorf("%s = %v", name, err)
			}
		}
		for name, n := range many {
			if n == 0 || errs[name] != nil {
				e.t.Errorf("%s gives %d rows, %v", name, n, errs[name])
			}
		}
		return nil
	})
	for name, write := range map[string]func(tx store.Tx) error{
		"PutSession": func(tx store.Tx) error {
			return tx.PutSession(&store.Session{Session: yiku.Session{ID: "s"}, Key: session})
		},
		"DeleteSession": func(tx store.Tx) error { return tx.DeleteSession(session) },
		"AddMessages":   func(tx store.Tx) error { return tx.AddMessages(session, []*store.Message{message("x", 0)}) },
		"UpdateMemory": func(tx store.Tx) error {
			m := fact("m")
			m.Key = memory
			return tx.UpdateMemory(m, "patched")
		},
		"RecordOutcome": func(tx store.Tx) error { return tx.RecordOutcome(memory, true) },
		"DeleteMemory":  func(tx store.Tx) error { return tx.DeleteMemory(memory) },
		"AddLineage": func(tx store.Tx) error {
			return tx.AddLineage(store.Item{Kind: store.ItemMemory, Key: ownMemory}, []store.Item{{Kind: store.ItemMemory, Key: memory}})
		},
		"PutTask": func(tx store.Tx) error { return tx.PutTask(&store.Task{Task: yiku.Task{ID: "t"}, Key: session}) },
	} {
		e.want(name, e.s.Update(context.Background(), e.alien, store.Request, write), yiku.ErrNotFound)
	}
	e.updateAs(e.alien, func(tx store.Tx) error {
		stand, err := tx.Suppressed([]string{"mark", "other"})
		e.same("own marks", []bool{true, false}, stand)
		return errors.Join(err, tx.DeleteMessages([]int64{message_}), tx.Touch([]int64{memory}, At(9)))
	})
	e.updateAs(e.neighbour, func(tx store.Tx) error {
		stand, err := tx.Suppressed([]string{"mark"})
		e.same("another's marks", []bool{false}, stand)
		return err
	})
	e.view(func(r store.Reader) error {
		list, err := r.MemoriesByKey(e.owner, []int64{memory})
		if len(list) != 1 || list[0].AccessCount != 0 {
			e.t.Error("another owner's Touch or delete reached the row")
		}
		n, err2 := r.CountMessages(e.owner, session)
		e.same("messages", 1, n)
		return errors.Join(err, err2)
	})
}
