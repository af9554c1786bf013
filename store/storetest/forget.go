package storetest

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func forgetTests() map[string]func(*env) {
	return map[string]func(*env){
		"Purge":        forgetPurge,
		"PurgeSession": forgetSession,
		"PurgeWorking": forgetWorking,
		"PurgeCopies":  forgetCopies,
		"PurgeTasks":   forgetTasks,
		"Residue":      forgetResidue,
		"Weight":       forgetWeight,
		"Atomic":       forgetAtomic,
		"InProgress":   forgetInProgress,
		"OwnerLists":   forgetOwnerLists,
		"Receipts":     forgetReceipts,
		"Audit":        forgetAudit,
	}
}

// purgeable fills the owner with two memories and two messages that are tied
// to each other, and returns what a purge of the first of each counts.
func (e *env) purgeable() (memories []*store.Memory, messages []*store.Message, want yiku.Removed) {
	e.t.Helper()
	s := e.session("会话", 0)
	messages, memories = e.messages(s, "a", "b"), e.memories("m", "n")
	e.update(func(tx store.Tx) error {
		m := memories[0]
		m.Content, m.UpdatedAt = "改了", At(1)
		return errors.Join(tx.UpdateMemory(m, "patched"), tx.Touch([]int64{m.Key}, At(2)),
			tx.AddLineage(memoryItem(m), []store.Item{messageItem(messages[0]), messageItem(messages[1])}),
			tx.AddLineage(memoryItem(memories[1]), []store.Item{memoryItem(m)}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "1", CreatedAt: At(0)}, Cites: []store.Item{memoryItem(m), messageItem(messages[0])}}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "2", CreatedAt: At(0)}, Cites: []store.Item{memoryItem(memories[1])}}),
			tx.PutIdempotency(&store.Idempotency{Operation: "save", Key: "both", Result: []byte("[1]"), At: At(0)}, []store.Item{memoryItem(m), memoryItem(memories[1])}),
			tx.PutIdempotency(&store.Idempotency{Operation: "save", Key: "other", Result: []byte("[2]"), At: At(0)}, []store.Item{memoryItem(memories[1])}))
	})
	return memories, messages, yiku.Removed{Memories: 1, Versions: 1, Messages: 1, Snapshots: 1, Idempotency: 1}
}

// forgetPurge proves E2: each layer loses what names the rows, counted as it
// was; the rest stays, and other owners lose nothing.
func forgetPurge(e *env) {
	memories, messages, want := e.purgeable()
	keys, said := []int64{memories[0].Key, memories[0].Key, memories[0].Key + 999}, []int64{messages[0].Key, memories[1].Key}
	var removed yiku.Removed
	e.updateAs(e.alien, func(tx store.Tx) error { return tx.Purge(keys, said, &removed) })
	e.same("removed by another owner", yiku.Removed{}, removed)
	before := e.state()
	e.update(func(tx store.Tx) error { return tx.Purge(keys, said, &removed) })
	e.same("removed", want, removed)
	e.update(func(tx store.Tx) error { return tx.Purge(keys, said, &removed) })
	e.same("removed again", want, removed)
	e.view(func(r store.Reader) error {
		_, err := r.Memory(e.owner, "m")
		e.want("the memory", err, yiku.ErrNotFound)
		_, err = r.Snapshot(e.owner, "1", At(0))
		e.want("the snapshot", err, yiku.ErrNotFound)
		_, err1 := r.Memory(e.owner, "n")
		_, err2 := r.Snapshot(e.owner, "2", At(0))
		both, err3 := r.Idempotency(e.owner, "save", "both")
		e.same("the record's result", []any{true, 0}, []any{both.Forgotten, len(both.Result)})
		other, err4 := r.Idempotency(e.owner, "save", "other")
		e.same("the other record", []any{false, "[2]"}, []any{other.Forgotten, string(other.Result)})
		changes, err5 := r.Changes(e.owner, before.Seq, 0)
		e.same("tombstones", []store.Item{memoryItem(memories[0]), messageItem(messages[0])}, []store.Item{changes[0].Item, changes[1].Item})
		session, err6 := r.Session(e.owner, "会话")
		e.same("count of messages", 1, session.MessageCount)
		return errors.Join(err1, err2, err3, err4, err5, err6)
	})
}

func forgetSession(e *env) {
	s := e.session("s", 0)
	messages := e.messages(s, "a")
	e.update(func(tx store.Tx) error {
		_, err := tx.Enqueue(&store.Job{Kind: "k", SessionKey: s.Key})
		return errors.Join(err, tx.PutWorking(&store.Working{SessionID: "s"}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "1", SessionID: "s", CreatedAt: At(0)}}),
			tx.PutTask(&store.Task{Task: yiku.Task{ID: "t", SessionID: "s", StartedAt: At(0)}, SessionKey: s.Key}))
	})
	var removed yiku.Removed
	purge := func() error {
		return e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error { return tx.PurgeSession(s.Key, &removed) })
	}
	e.want("with a message", purge(), yiku.ErrConflict)
	e.same("removed by a failure", yiku.Removed{}, removed)
	e.update(func(tx store.Tx) error { return tx.Purge(nil, []int64{messages[0].Key}, nil) })
	e.want("without", purge(), nil)
	e.same("removed", yiku.Removed{Sessions: 1, Working: 1, Jobs: 1, Snapshots: 1}, removed)
	e.want("again", purge(), yiku.ErrNotFound)
	e.view(func(r store.Reader) error {
		task, err := r.Task(e.owner, "", "t")
		e.same("the task's session", []any{int64(0), ""}, []any{task.SessionKey, task.SessionID})
		return err
	})
}

func forgetWorking(e *env) {
	fill := func(o yiku.Owner) {
		e.updateAs(o, func(tx store.Tx) error {
			secret, plain := &store.Working{SessionID: "s"}, &store.Working{SessionID: "s"}
			secret.TaskID, secret.Todos = "秘密", []any{"secret"}
			plain.TaskID = "plain"
			return errors.Join(tx.PutWorking(secret), tx.PutWorking(plain), tx.PutWorking(&store.Working{SessionID: "s"}),
				tx.PutTask(&store.Task{Task: yiku.Task{ID: "秘密", StartedAt: At(0)}}), tx.PutTask(&store.Task{Task: yiku.Task{ID: "plain", StartedAt: At(0)}}))
		})
	}
	fill(e.owner)
	fill(e.neighbour)
	var removed yiku.Removed
	e.update(func(tx store.Tx) error {
		return tx.PurgeWorking(func(w store.Working) bool { return len(w.Todos) > 0 }, &removed)
	})
	e.same("those that say it", yiku.Removed{Working: 1, Tasks: 1}, removed)
	e.update(func(tx store.Tx) error { return tx.DeleteWorking("", "", "s") }) // cleared, not counted
	e.update(func(tx store.Tx) error { return tx.PurgeWorking(nil, &removed) })
	e.same("all", yiku.Removed{Working: 2, Tasks: 2}, removed)
	e.view(func(r store.Reader) error {
		_, err := r.Task(e.neighbour, "", "秘密")
		_, err2 := r.Working(e.neighbour, "", "", "s")
		return errors.Join(err, err2)
	})
}

func forgetCopies(e *env) {
	fill := func(o yiku.Owner) {
		e.updateAs(o, func(tx store.Tx) error {
			_, err := tx.Enqueue(&store.Job{Kind: "k"})
			return errors.Join(err, tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "1", CreatedAt: At(0)}}))
		})
	}
	fill(e.owner)
	fill(e.neighbour)
	var removed yiku.Removed
	e.update(func(tx store.Tx) error { return tx.PurgeCopies(nil, &removed) })
	e.same("removed", yiku.Removed{Snapshots: 1}, removed)
	e.updateAs(e.neighbour, func(tx store.Tx) error { return tx.PurgeCopies(nil, &removed) })
	e.same("and the neighbour's", yiku.Removed{Snapshots: 2}, removed)
	fill(e.owner)
	removed = yiku.Removed{}
	e.update(func(tx store.Tx) error {
		err := tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "2", CreatedAt: At(0), Response: yiku.GetContextResponse{System: "梨"}}})
		for _, path := range []string{"梨", "苹果"} {
			err = errors.Join(err, tx.AddExtraction(&store.Extraction{Report: yiku.ExtractionReport{Path: path, Status: yiku.ExtractionStored, CreatedAt: At(0)}}))
		}
		return errors.Join(err, tx.PurgeCopies(&store.Copies{Snapshot: func(s store.Snapshot) bool { return s.Response.System == "梨" },
			Extraction: func(x store.Extraction) bool { return x.Report.Path == "梨" }}, &removed))
	})
	e.same("by a test", yiku.Removed{Snapshots: 1}, removed)
	e.view(func(r store.Reader) error {
		_, err := r.Snapshot(e.owner, "1", At(0))
		reports, err2 := r.Extractions(e.owner, store.ExtractionQuery{})
		if len(reports) != 1 || reports[0].Report.Path != "苹果" {
			e.t.Errorf("records of extractions that are left: %+v", reports)
		}
		return errors.Join(err, err2)
	})
}

// forgetTasks: tasks go with or without working memory, which stays; those
// for which the test does not say so and another owner's stay.
func forgetTasks(e *env) {
	for _, o := range []yiku.Owner{e.owner, e.neighbour} {
		e.updateAs(o, func(tx store.Tx) error {
			work := &store.Working{Project: "一", SessionID: "s"}
			work.TaskID = "done"
			err := tx.PutWorking(work)
			for _, id := range []string{"done", "other"} {
				for _, project := range []string{"", "一"} {
					err = errors.Join(err, tx.PutTask(&store.Task{Task: yiku.Task{ID: id, ProjectID: project, StartedAt: At(0), CompletedAt: At(1)}}))
				}
			}
			return err
		})
	}
	before := e.stateOf(e.owner).Seq
	var removed yiku.Removed
	e.update(func(tx store.Tx) error {
		return tx.PurgeTasks(func(t store.Task) bool { return t.ProjectID == "一" }, &removed)
	})
	e.same("removed", yiku.Removed{Tasks: 2}, removed)
	e.same("numbers", before+2, e.stateOf(e.owner).Seq)
	e.view(func(r store.Reader) error {
		for _, id := range []string{"done", "other"} {
			_, err := r.Task(e.owner, "一", id)
			e.want("a task of the project", err, yiku.ErrNotFound)
			_, err = r.Task(e.owner, "", id)
			e.want("a task of none", err, nil)
			_, err = r.Task(e.neighbour, "一", id)
			e.want("a neighbour's", err, nil)
		}
		_, err := r.Working(e.owner, "一", "done", "")
		return err
	})
}

// forgetResidue proves E2's re-scan, with what still stands as its control.
func forgetResidue(e *env) {
	memories, messages, _ := e.purgeable()
	items := []store.Item{memoryItem(memories[0]), messageItem(messages[0])}
	residue := func(o yiku.Owner) (left int) {
		e.view(func(r store.Reader) error {
			found, err := r.Residue(o, items)
			if len(found) < 10 {
				e.t.Errorf("only %d places were searched", len(found))
			}
			for _, n := range found {
				left += n
			}
			return err
		})
		return left
	}
	if residue(e.owner) < 8 {
		e.t.Error("the control is not seen: the rows are there")
	}
	e.update(func(tx store.Tx) error { return tx.Purge([]int64{memories[0].Key}, nil, nil) })
	if n := residue(e.owner); n == 0 {
		e.t.Error("the message that was left on purpose is not seen")
	}
	e.same("as another owner", 0, residue(e.alien))
	e.update(func(tx store.Tx) error { return tx.Purge(nil, []int64{messages[0].Key}, nil) })
	e.same("residue", 0, residue(e.owner))
}

// forgetWeight: what items weigh is what their purge then counts.
func forgetWeight(e *env) {
	memories, messages, _ := e.purgeable()
	items := []store.Item{memoryItem(memories[0]), messageItem(messages[0])}
	weigh := func(o yiku.Owner) (w yiku.Removed) {
		e.view(func(r store.Reader) (err error) {
			w, err = r.Weight(o, items)
			return err
		})
		return w
	}
	weight, removed := weigh(e.owner), yiku.Removed{}
	e.update(func(tx store.Tx) error { return tx.Purge([]int64{memories[0].Key}, []int64{messages[0].Key}, &removed) })
	removed.Snapshots = 0 // of the copies
	e.same("weight", removed, weight)
	if weight.Memories != 1 || weight.Messages != 1 || weight.Idempotency == 0 {
		e.t.Errorf("there was little to weigh: %+v", weight)
	}
	e.same("as another owner", yiku.Removed{}, weigh(e.alien))
	e.same("afterwards", yiku.Removed{}, weigh(e.owner))
}

// forgetAtomic: an update that fails after its purge has purged nothing.
func forgetAtomic(e *env) {
	memories, messages, _ := e.purgeable()
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		var removed yiku.Removed
		entry := &store.AuditEntry{At: At(0)}
		err := errors.Join(tx.Purge([]int64{memories[0].Key}, []int64{messages[0].Key}, &removed), tx.PurgeWorking(nil, &removed), tx.PurgeCopies(nil, &removed),
			tx.PutForget(&store.Forget{At: At(0)}), tx.PutReceipt(&store.Receipt{Receipt: yiku.Receipt{ID: "r"}}), tx.Audit(entry, testSeal))
		return errors.Join(err, errOwn)
	})
	e.want("the update", err, errOwn)
	forgets, err := e.s.Forgets(context.Background())
	e.same("forgets", 0, len(forgets))
	e.want("forgets", err, nil)
	e.view(func(r store.Reader) error {
		_, err := r.Receipt(e.owner, "r")
		e.want("the receipt", err, yiku.ErrNotFound)
		entries, err1 := r.AuditEntries(0, 0)
		e.same("audit", 0, len(entries))
		_, err2 := r.Memory(e.owner, "m")
		_, err3 := r.Snapshot(e.owner, "1", At(0))
		rec, err4 := r.Idempotency(e.owner, "save", "both")
		e.same("forgotten", false, rec.Forgotten)
		return errors.Join(err1, err2, err3, err4)
	})
}

func forgetInProgress(e *env) {
	f := &store.Forget{Epoch: 3, UpTo: 9, Receipt: "r", Actor: "admin", At: At(2), IDs: []string{"m"}, Removed: yiku.Removed{Memories: 1},
		Request: yiku.ForgetRequest{UserID: "u", Selector: yiku.Selector{Keyword: "密码 password"}, Reason: "因为"}}
	other := &store.Forget{At: At(1)}
	e.update(func(tx store.Tx) error { return tx.PutForget(f) })
	e.updateAs(e.alien, func(tx store.Tx) error { return tx.PutForget(other) })
	list := func() []store.Forget {
		got, err := e.s.Forgets(context.Background())
		e.want("Forgets", err, nil)
		return got
	}
	e.same("oldest first", []store.Forget{*other, *f}, list())
	e.same("owner", e.owner, f.Owner)
	f.Removed.Memories, f.IDs = 2, append(f.IDs, "n")
	e.update(func(tx store.Tx) error { return tx.PutForget(f) })
	e.same("replaced", []store.Forget{*other, *f}, list())
	for _, fn := range []func(tx store.Tx) error{
		func(tx store.Tx) error { return tx.EndForget(other.Key) },
		func(tx store.Tx) error { return tx.PutForget(&store.Forget{Key: other.Key}) },
		func(tx store.Tx) error { return errors.Join(tx.EndForget(f.Key), tx.EndForget(f.Key)) },
	} {
		e.want("a forget that is not there", e.s.Update(context.Background(), e.owner, store.Request, fn), yiku.ErrNotFound)
	}
	e.update(func(tx store.Tx) error { return tx.EndForget(f.Key) })
	e.same("ended", []store.Forget{*other}, list())
}

func forgetOwnerLists(e *env) {
	s := e.session("s", 0)
	memories := e.memories("a", "b", "c", "d")
	messages := e.messages(s, "1", "2", "3")
	upTo := e.state().Seq
	later := e.messages(s, "4")
	e.update(func(tx store.Tx) error {
		memories[1].Status, memories[1].UpdatedAt = yiku.StatusArchived, At(1)
		return tx.UpdateMemory(memories[1], "archived")
	})
	last := e.state().Seq
	e.updateAs(e.alien, func(tx store.Tx) error {
		return tx.AddMemory(&store.Memory{Memory: yiku.Memory{ID: "x", Content: "x", CreatedAt: At(0), UpdatedAt: At(0)}})
	})
	e.view(func(r store.Reader) error {
		got, err1 := r.OwnerMemories(e.owner, 0, upTo, 0)
		e.same("memories added until then, changed since or not", []string{"a", "b", "c", "d"}, ids(got))
		got, err2 := r.OwnerMemories(e.owner, memories[0].Key, last, 2)
		e.same("any status, after a key", []string{"b", "c"}, ids(got))
		said, err3 := r.OwnerMessages(e.owner, 0, upTo, 0)
		e.same("messages", values(messages), said)
		said, err4 := r.OwnerMessages(e.owner, messages[2].Key, later[0].Seq, 5)
		e.same("later messages", values(later), said)
		got, err5 := r.OwnerMemories(e.alien, 0, upTo, 0)
		e.same("of another owner", []string{"x"}, ids(got))
		return errors.Join(err1, err2, err3, err4, err5)
	})
}

func forgetReceipts(e *env) {
	var all []store.Receipt
	for i := range 5 {
		rec := &store.Receipt{Receipt: yiku.Receipt{ID: number(i), CreatedAt: At(-i), Selector: "keyword", Reason: "因为 because", Epoch: 2,
			Removed: yiku.Removed{Memories: i}, Verified: true, Audit: 4}, Gone: []store.Item{{Kind: store.ItemMemory, Key: int64(i) << 40}}}
		e.update(func(tx store.Tx) error { return tx.PutReceipt(rec) })
		all = append([]store.Receipt{*rec}, all...)
	}
	e.updateAs(e.alien, func(tx store.Tx) error { return tx.PutReceipt(&store.Receipt{Receipt: yiku.Receipt{ID: number(0)}}) })
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return tx.PutReceipt(&store.Receipt{Receipt: yiku.Receipt{ID: number(0)}})
	})
	e.want("the same id", err, yiku.ErrConflict)
	e.view(func(r store.Reader) error {
		got, err := r.Receipts(e.owner, "", 2)
		e.same("newest", all[:2], got)
		got, err2 := r.Receipts(e.owner, number(3), 0)
		e.same("older", all[2:], got)
		one, err3 := r.Receipt(e.owner, number(2))
		e.same("one", all[2], one)
		_, unknown := r.Receipts(e.owner, "x", 0)
		e.want("before an unknown one", unknown, yiku.ErrNotFound)
		_, unknown = r.Receipt(e.neighbour, number(2))
		e.want("another owner's", unknown, yiku.ErrNotFound)
		return errors.Join(err, err2, err3)
	})
}

// testSeal makes the previous MAC and the number visible.
func testSeal(previous []byte, e store.AuditEntry) []byte {
	return append(append([]byte{}, previous...), byte(e.N))
}

// forgetAudit: one chain over all owners (E8).
func forgetAudit(e *env) {
	var want []store.AuditEntry
	for i, o := range []yiku.Owner{e.owner, e.alien, e.owner} {
		entry := &store.AuditEntry{At: At(i).Add(1234567), Subject: []byte{1, 0}, Actor: "admin", Action: "forget", Trigger: "user", Ref: "记",
			Counts: map[string]int{"memories": i, "messages": -1}}
		e.updateAs(o, func(tx store.Tx) error { return tx.Audit(entry, testSeal) })
		want = append(want, *entry)
	}
	if want[0].Owner == 0 || want[0].Owner != want[2].Owner || want[0].Owner == want[1].Owner {
		e.t.Error("owners' numbers are not set, or not apart")
	}
	e.same("the last MAC", []byte{1, 2, 3}, want[2].MAC)
	e.view(func(r store.Reader) error {
		got, err := r.AuditEntries(0, 0)
		e.same("entries", want, got)
		got, err2 := r.AuditEntries(1, 1)
		e.same("one after the first", want[1:2], got)
		return errors.Join(err, err2)
	})
}
