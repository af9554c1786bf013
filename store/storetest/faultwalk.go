package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

// FaultWalk runs a script of writes, each retried once under its idempotency
// key after an error, with the n-th call failing before or after its work, for
// every n, and requires the state of a run without faults (R4).
func FaultWalk(t *testing.T, open func(t *testing.T) store.Store) {
	owner := Owner(t, "acme", "王小明")
	whole := Faulty(open(t), Plan{})
	if err := runScript(whole, owner); err != nil {
		t.Fatal(err)
	}
	calls := whole.Calls()
	want := dump(t, whole.Store, owner)
	if calls < 40 || len(want.Changes) < 5 {
		t.Fatalf("the script has %d calls and %d changes: too short to prove anything", calls, len(want.Changes))
	}
	for n := 1; n <= calls; n++ {
		for _, after := range []bool{false, true} {
			s := open(t)
			faulty := Faulty(s, Plan{Call: n, After: after})
			if err := runScript(faulty, owner); err != nil {
				t.Errorf("call %d (after %v): %v", n, after, err)
			}
			if d := diff(want, dump(t, s, owner)); d != "" {
				t.Errorf("call %d (after %v) leaves another state (-without +with the fault):\n%s", n, after, d)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R4", Part: "store", Trials: 2 * calls, What: "faults left another state", Note: fmt.Sprint(calls, " calls, before and after")})
}

// runScript does each step of the script until it succeeds, at most twice.
func runScript(s store.Store, owner yiku.Owner) error {
	for key, step := range script() {
		do := func() error {
			return s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
				_, err := tx.Idempotency(owner, "script", number(key))
				if err == nil {
					return nil // it is done already
				}
				if !errors.Is(err, yiku.ErrNotFound) {
					return err
				}
				made, err := step(tx, owner)
				if err != nil {
					return err
				}
				return tx.PutIdempotency(&store.Idempotency{Operation: "script", Key: number(key), At: At(key)}, made)
			})
		}
		look := func() error {
			return s.View(context.Background(), func(r store.Reader) error {
				_, err := r.Memories(owner, store.MemoryQuery{})
				return err
			})
		}
		for _, call := range []func() error{do, look} {
			if err := call(); err != nil {
				if err := call(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// script is what an owner's first hour may look like.
func script() []func(tx store.Tx, owner yiku.Owner) ([]store.Item, error) {
	return []func(tx store.Tx, owner yiku.Owner) ([]store.Item, error){
		scriptAppend, scriptLearn, scriptCorrect, scriptWork, scriptForget, scriptPurge,
	}
}

func scriptAppend(tx store.Tx, _ yiku.Owner) ([]store.Item, error) {
	s := &store.Session{Session: yiku.Session{ID: "s", ProjectID: "p", CreatedAt: At(0)}}
	if err := tx.PutSession(s); err != nil {
		return nil, err
	}
	list := []*store.Message{message("a", 0), message("b", 1), message("c", 2)}
	list[1].TaskID = "t"
	if err := tx.AddMessages(s.Key, list); err != nil {
		return nil, err
	}
	_, err := tx.Enqueue(&store.Job{ID: "job", Kind: "extract", Unique: "s", SessionKey: s.Key, CreatedAt: At(0)})
	return []store.Item{messageItem(list[0])}, err
}

func scriptLearn(tx store.Tx, owner yiku.Owner) ([]store.Item, error) {
	s, err := tx.Session(owner, "s")
	if err != nil {
		return nil, err
	}
	messages, err := tx.Messages(owner, store.MessageQuery{SessionKey: s.Key})
	if err != nil {
		return nil, err
	}
	var made []store.Item
	for i := range messages {
		m := fact(number(i))
		m.Subject, m.SubjectNorm, m.AttributeNorm, m.Single = "我", "user", number(i), true
		if _, err := tx.Duplicate(owner, *m); !errors.Is(err, yiku.ErrNotFound) {
			return nil, err
		}
		if err := tx.AddMemory(m); err != nil {
			return nil, err
		}
		if err := tx.AddLineage(memoryItem(m), []store.Item{messageItem(&messages[i])}); err != nil {
			return nil, err
		}
		made = append(made, memoryItem(m))
	}
	s.Cursor = messages[len(messages)-1].Key
	return made, tx.PutSession(&s)
}

func scriptCorrect(tx store.Tx, owner yiku.Owner) ([]store.Item, error) {
	old, err := tx.Memory(owner, number(0))
	if err != nil {
		return nil, err
	}
	old.Status, old.ValidTo, old.UpdatedAt = yiku.StatusSuperseded, At(5), At(5)
	if err := tx.UpdateMemory(&old, "superseded"); err != nil {
		return nil, err
	}
	m := fact("new")
	m.SubjectNorm, m.AttributeNorm, m.Single, m.Supersedes = "user", number(0), true, old.ID
	if err := tx.AddMemory(m); err != nil {
		return nil, err
	}
	if err := tx.Touch([]int64{m.Key, old.Key}, At(6)); err != nil {
		return nil, err
	}
	return nil, tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "snap", SessionID: "s", CreatedAt: At(6)}, Cites: []store.Item{memoryItem(m)}})
}

func scriptWork(tx store.Tx, _ yiku.Owner) ([]store.Item, error) {
	if err := tx.PutTask(&store.Task{Task: yiku.Task{ID: "t", ProjectID: "p", StartedAt: At(1)}}); err != nil {
		return nil, err
	}
	w := &store.Working{Project: "p", SessionID: "s", Open: true}
	w.TaskID = "t"
	if err := tx.PutWorking(w); err != nil {
		return nil, err
	}
	w.Todos = []any{"下一步"}
	return nil, tx.PutWorking(w)
}

func scriptForget(tx store.Tx, owner yiku.Owner) ([]store.Item, error) {
	m, err := tx.Memory(owner, number(1))
	if err != nil {
		return nil, err
	}
	sources, err := tx.Sources(owner, memoryItem(&m))
	if err != nil {
		return nil, err
	}
	if _, err := tx.RaiseEpoch(); err != nil {
		return nil, err
	}
	if err := tx.Suppress([]string{"b"}, At(7)); err != nil {
		return nil, err
	}
	for _, item := range sources {
		if err := tx.DeleteMessages([]int64{item.Key}); err != nil {
			return nil, err
		}
	}
	return nil, tx.DeleteMemory(m.Key)
}

// scriptPurge forgets everything that is left, with its receipt.
func scriptPurge(tx store.Tx, owner yiku.Owner) ([]store.Item, error) {
	f := &store.Forget{At: At(8)}
	if err := tx.PutForget(f); err != nil {
		return nil, err
	}
	memories, err := tx.OwnerMemories(owner, 0, 1<<30, 0)
	if err != nil {
		return nil, err
	}
	messages, err := tx.OwnerMessages(owner, 0, 1<<30, 0)
	if err != nil {
		return nil, err
	}
	rec := &store.Receipt{Receipt: yiku.Receipt{ID: "r", CreatedAt: At(8)}, Gone: []store.Item{memoryItem(&memories[0]), messageItem(&messages[0])}}
	err = tx.Purge([]int64{memories[0].Key}, []int64{messages[0].Key, messages[1].Key}, &rec.Removed)
	if err != nil {
		return nil, err
	}
	if err := tx.PurgeSession(messages[0].SessionKey, &rec.Removed); err != nil {
		return nil, err
	}
	if err := tx.PurgeCopies(nil, &rec.Removed); err != nil {
		return nil, err
	}
	entry := &store.AuditEntry{At: At(8), Action: "forget"}
	if err := tx.Audit(entry, testSeal); err != nil {
		return nil, err
	}
	rec.Audit = entry.N
	if err := tx.PutReceipt(rec); err != nil {
		return nil, err
	}
	return nil, tx.EndForget(f.Key)
}

// scriptState is everything that a reader sees of the script's owner.
type scriptState struct {
	Owner    store.OwnerState
	Changes  []store.Change
	Sessions []store.Session
	Messages []store.Message
	Memories []store.Memory
	Versions []store.Version
	Edges    [][]store.Item
	Tasks    []store.Task
	Working  store.Working
	Records  []store.Idempotency
	Marks    []bool
	Receipts []store.Receipt
	Audit    []store.AuditEntry
	Residue  map[string]int
}

// dump reads an owner's state.
func dump(t *testing.T, s store.Store, owner yiku.Owner) (st scriptState) {
	t.Helper()
	err := s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
		st = scriptState{}
		var errs [9]error
		st.Owner, errs[0] = tx.Owner(owner)
		st.Changes, errs[1] = tx.Changes(owner, 0, 0)
		st.Sessions, errs[2] = tx.Sessions(owner, store.SessionQuery{})
		st.Memories, errs[3] = tx.Memories(owner, store.MemoryQuery{})
		st.Working, errs[4] = tx.Working(owner, "p", "t", "s")
		st.Marks, errs[5] = tx.Suppressed([]string{"a", "b"})
		st.Receipts, errs[6] = tx.Receipts(owner, "", 0)
		st.Audit, errs[7] = tx.AuditEntries(0, 0)
		for _, rec := range st.Receipts {
			st.Residue, errs[8] = tx.Residue(owner, rec.Gone)
		}
		err := errors.Join(errs[:]...)
		for _, session := range st.Sessions {
			messages, err1 := tx.Messages(owner, store.MessageQuery{SessionKey: session.Key})
			tasks, err2 := tx.SessionTasks(owner, session.Key)
			st.Messages, st.Tasks = append(st.Messages, messages...), append(st.Tasks, tasks...)
			err = errors.Join(err, err1, err2)
		}
		for i, m := range st.Memories {
			st.Memories[i].Hash = "" // keyed: another one in each store
			versions, err1 := tx.Versions(owner, m.Key)
			sources, err2 := tx.Sources(owner, memoryItem(&m))
			st.Versions, st.Edges = append(st.Versions, versions...), append(st.Edges, sources)
			err = errors.Join(err, err1, err2)
		}
		for key := range script() {
			rec, err1 := tx.Idempotency(owner, "script", number(key))
			st.Records = append(st.Records, rec)
			err = errors.Join(err, err1)
		}
		if _, err1 := tx.Snapshot(owner, "snap", At(0)); !errors.Is(err1, yiku.ErrNotFound) {
			err = errors.Join(err, errors.New("the snapshot is there"))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return st
}
