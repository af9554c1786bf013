package storetest

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

var errOwn = errors.New("the function's own error") // a value to be recognised, never changed

func updateTests() map[string]func(*env) {
	return map[string]func(*env){
		"ErrorUndoesAll":    errorUndoesAll,
		"PanicUndoesAll":    panicUndoesAll,
		"GoexitUndoesAll":   goexitUndoesAll,
		"FailedCallUndone":  failedCallUndone,
		"CancelledBefore":   cancelledBefore,
		"CancelledInside":   cancelledInside,
		"SeesItself":        seesItself,
		"OneAfterTheOther":  oneAfterTheOther,
		"ViewSeesOneState":  viewSeesOneState,
		"ViewError":         viewError,
		"BothPriorities":    bothPriorities,
		"UniqueKeys":        uniqueKeys,
		"RefusesAfterClose": refusesAfterClose,
	}
}

// everyWrite calls each write method once.
func everyWrite(tx store.Tx) error {
	s := &store.Session{Session: yiku.Session{ID: "undone", CreatedAt: At(0)}}
	if err := tx.PutSession(s); err != nil {
		return err
	}
	m, mem := message("undone", 0), fact("undone")
	mem.SubjectNorm, mem.AttributeNorm, mem.Single = "s", "a", true
	_, err := tx.RaiseEpoch()
	err = errors.Join(err, tx.AddMessages(s.Key, []*store.Message{m}), tx.AddMemory(mem))
	if err != nil {
		return err
	}
	w := &store.Working{Project: "p", SessionID: "undone", Open: true}
	w.TaskID = "undone"
	_, err = tx.Enqueue(&store.Job{Kind: "k", Unique: "undone"})
	err = errors.Join(err,
		tx.UpdateMemory(mem, "patched"),
		tx.PutTask(&store.Task{Task: yiku.Task{ID: "undone", ProjectID: "p", StartedAt: At(0)}}),
		tx.PutWorking(w),
		tx.AddLineage(memoryItem(mem), []store.Item{messageItem(m)}),
		tx.Touch([]int64{mem.Key}, At(1)),
		tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "undone", CreatedAt: At(0)}}),
		tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "undone", At: At(0)}, []store.Item{memoryItem(mem)}),
		tx.Suppress([]string{"undone"}, At(0)),
		tx.DeleteMessages([]int64{m.Key}), tx.DeleteMemory(mem.Key), tx.DeleteWorking("p", "undone", ""))
	return err
}

// untouched checks that nothing of everyWrite stands, and that it can be done now.
func (e *env) untouched(before store.OwnerState) {
	e.t.Helper()
	e.view(func(r store.Reader) error {
		state, err := r.Owner(e.owner)
		e.same("owner state", before, state)
		_, err1 := r.Session(e.owner, "undone")
		_, err2 := r.Task(e.owner, "p", "undone")
		_, err3 := r.Snapshot(e.owner, "undone", At(0))
		_, err4 := r.Idempotency(e.owner, "o", "undone")
		for _, err := range []error{err1, err2, err3, err4} {
			e.want("read of what was undone", err, yiku.ErrNotFound)
		}
		changes, err5 := r.Changes(e.owner, before.Seq, 10)
		e.same("changes", []store.Change(nil), changes)
		return errors.Join(err, err5)
	})
	e.update(func(tx store.Tx) error {
		stand, err := tx.Suppressed([]string{"undone"})
		e.same("suppressed", []bool{false}, stand)
		return errors.Join(err, everyWrite(tx))
	})
}

func (e *env) state() (st store.OwnerState) {
	e.t.Helper()
	e.view(func(r store.Reader) (err error) {
		st, err = r.Owner(e.owner)
		return err
	})
	return st
}

func errorUndoesAll(e *env) {
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return errors.Join(everyWrite(tx), errOwn)
	})
	e.want("Update", err, errOwn)
	e.untouched(store.OwnerState{})
}

func panicUndoesAll(e *env) {
	e.session("kept", 0)
	before := e.state()
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				e.t.Errorf("recovered %v, want the function's own value", got)
			}
		}()
		_ = e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
			if err := everyWrite(tx); err != nil {
				e.t.Error(err)
			}
			panic("boom")
		})
	}()
	func() {
		defer func() {
			if got := recover(); got != "view" {
				e.t.Errorf("recovered %v from a view", got)
			}
		}()
		_ = e.s.View(context.Background(), func(store.Reader) error { panic("view") })
	}()
	e.untouched(before)
}

func goexitUndoesAll(e *env) {
	var wait sync.WaitGroup
	wait.Go(func() {
		_ = e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
			if err := everyWrite(tx); err != nil {
				e.t.Error(err)
			}
			runtime.Goexit()
			return nil
		})
	})
	wait.Wait()
	e.untouched(store.OwnerState{})
}

// failedCallUndone: a write method that fails has written nothing, and the
// transaction goes on.
func failedCallUndone(e *env) {
	s := e.session("s", 0)
	e.messages(s, "a")
	single := fact("one")
	single.Subject, single.SubjectNorm, single.AttributeNorm, single.Single = "S", "s", "a", true
	e.update(func(tx store.Tx) error { return tx.AddMemory(single) })
	var before store.OwnerState
	e.update(func(tx store.Tx) error {
		before, _ = tx.Owner(e.owner)
		e.want("AddMessages", tx.AddMessages(s.Key, []*store.Message{message("b", 1), message("a", 1)}), yiku.ErrConflict)
		other := fact("two")
		other.SubjectNorm, other.AttributeNorm, other.Single = "s", "a", true
		e.want("AddMemory", tx.AddMemory(other), yiku.ErrConflict)
		if other.Key != 0 || other.Version != 0 {
			e.t.Error("a failed AddMemory has set the key or version")
		}
		after, err := tx.Owner(e.owner)
		e.same("owner state inside", before, after)
		return err
	})
	e.same("owner state", before, e.state())
	e.view(func(r store.Reader) error {
		n, err := r.CountMessages(e.owner, s.Key)
		e.same("messages", 1, n)
		_, err2 := r.Memory(e.owner, "two")
		e.want("Memory", err2, yiku.ErrNotFound)
		return err
	})
}

func cancelledBefore(e *env) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ran := false
	e.want("Update", e.s.Update(ctx, e.owner, store.Request, func(store.Tx) error { ran = true; return nil }), context.Canceled)
	e.want("View", e.s.View(ctx, func(store.Reader) error { ran = true; return nil }), context.Canceled)
	_, err := e.s.Owners(ctx, yiku.Owner{}, 1)
	e.want("Owners", err, context.Canceled)
	if ran {
		e.t.Error("a function ran although its context was cancelled before")
	}
}

func cancelledInside(e *env) {
	ctx, cancel := context.WithCancel(context.Background())
	err := e.s.Update(ctx, e.owner, store.Request, func(tx store.Tx) error {
		if err := everyWrite(tx); err != nil {
			return err
		}
		cancel()
		_, err := tx.Owner(e.neighbour)
		e.want("a read after the cancellation", err, context.Canceled)
		return tx.PutSession(&store.Session{Session: yiku.Session{ID: "late", CreatedAt: At(0)}})
	})
	e.want("Update", err, context.Canceled)
	e.untouched(store.OwnerState{})
	ctx, cancel = context.WithCancel(context.Background())
	err = e.s.View(ctx, func(r store.Reader) error {
		cancel()
		_, err := r.Memories(e.owner, store.MemoryQuery{})
		return err
	})
	e.want("View", err, context.Canceled)
	e.state()
}

func seesItself(e *env) {
	e.update(func(tx store.Tx) error {
		s := &store.Session{Session: yiku.Session{ID: "s", CreatedAt: At(0)}}
		if err := tx.PutSession(s); err != nil {
			return err
		}
		got, err := tx.Session(e.owner, "s")
		e.same("session", *s, got)
		state, err2 := tx.Owner(e.owner)
		e.same("state", store.OwnerState{Known: true, Seq: 1}, state)
		changes, err3 := tx.Changes(e.owner, 0, 10)
		e.same("changes", []store.Change{{Item: sessionItem(s), Seq: 1}}, changes)
		return errors.Join(err, err2, err3)
	})
}

// oneAfterTheOther: each update of an owner sees those before it.
func oneAfterTheOther(e *env) {
	e.session("s", 0)
	const updates = 64
	var wait sync.WaitGroup
	for range updates {
		wait.Go(func() {
			err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
				s, err := tx.Session(e.owner, "s")
				if err != nil {
					return err
				}
				n, _ := s.Metadata["n"].(float64)
				s.Metadata = yiku.Metadata{"n": n + 1}
				return tx.PutSession(&s)
			})
			if err != nil {
				e.t.Error(err)
			}
		})
	}
	wait.Wait()
	e.view(func(r store.Reader) error {
		s, err := r.Session(e.owner, "s")
		e.same("counted", any(float64(updates)), s.Metadata["n"])
		e.same("version", int64(updates+1), s.Version)
		return err
	})
	e.same("seq", int64(updates+1), e.state().Seq)
}

// viewSeesOneState: a view does not see what is committed while it runs. A
// store that lets the update wait for the view passes too.
func viewSeesOneState(e *env) {
	e.session("a", 0)
	done := make(chan error, 1)
	e.view(func(r store.Reader) error {
		before, err := r.Owner(e.owner)
		go func() {
			done <- e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
				return tx.PutSession(&store.Session{Session: yiku.Session{ID: "b", CreatedAt: At(0)}})
			})
		}()
		select {
		case err := <-done:
			done <- err
		case <-time.After(300 * time.Millisecond):
		}
		after, err2 := r.Owner(e.owner)
		e.same("state within one view", before, after)
		n, err3 := r.CountSessions(e.owner, store.SessionQuery{})
		e.same("sessions within one view", 1, n)
		return errors.Join(err, err2, err3)
	})
	if err := <-done; err != nil {
		e.t.Error(err)
	}
	e.same("seq afterwards", int64(2), e.state().Seq)
}

func viewError(e *env) {
	if err := e.s.View(context.Background(), func(store.Reader) error { return errOwn }); err != errOwn {
		e.t.Errorf("View = %v, want the function's own error as it is", err)
	}
}

func bothPriorities(e *env) {
	for _, p := range []store.Priority{store.Maintenance, store.Request} {
		err := e.s.Update(context.Background(), e.owner, p, func(tx store.Tx) error {
			_, err := tx.RaiseEpoch()
			return err
		})
		if err != nil {
			e.t.Error(err)
		}
	}
	e.same("epoch", int64(2), e.state().Epoch)
}

// uniqueKeys: 64 clients at once make one row of each.
func uniqueKeys(e *env) {
	s := e.session("s", 0)
	single := func(tx store.Tx, i int) error {
		m := fact(number(i))
		m.SubjectNorm, m.AttributeNorm, m.Single = "用户", "住址", true
		return tx.AddMemory(m)
	}
	for name, add := range map[string]func(tx store.Tx, i int) error{
		"session": func(tx store.Tx, i int) error {
			return tx.PutSession(&store.Session{Session: yiku.Session{ID: "new", CreatedAt: At(i)}})
		},
		"message": func(tx store.Tx, i int) error { return tx.AddMessages(s.Key, []*store.Message{message("new", i)}) },
		"memory": func(tx store.Tx, i int) error {
			m := fact("id" + number(i))
			m.ContentNorm = "一样的内容"
			return tx.AddMemory(m)
		},
		"value": single,
		"task": func(tx store.Tx, i int) error {
			return tx.PutTask(&store.Task{Task: yiku.Task{ID: "t", StartedAt: At(i)}})
		},
		"record": func(tx store.Tx, i int) error {
			return tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "k", At: At(0)}, nil)
		},
	} {
		var won, lost atomic.Int64
		var wait sync.WaitGroup
		for i := range 64 {
			wait.Go(func() {
				err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error { return add(tx, i) })
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, yiku.ErrConflict):
					lost.Add(1)
				default:
					e.t.Error(err)
				}
			})
		}
		wait.Wait()
		if won.Load() != 1 || lost.Load() != 63 {
			e.t.Errorf("%s: %d made it and %d met ErrConflict, want 1 and 63", name, won.Load(), lost.Load())
		}
	}
}

func refusesAfterClose(e *env) {
	if err := e.s.Close(); err != nil {
		e.t.Fatal(err)
	}
	e.want("Update", e.s.Update(context.Background(), e.owner, store.Request, func(store.Tx) error { return nil }), yiku.ErrUnavailable)
	e.want("View", e.s.View(context.Background(), func(store.Reader) error { return nil }), yiku.ErrUnavailable)
	if err := e.s.Close(); err != nil {
		e.t.Errorf("the second Close = %v", err)
	}
}

func ownerTests() map[string]func(*env) {
	return map[string]func(*env){
		"Usage":         usage,
		"UsageOfOwners": usageOfOwners,
		"Meta": func(e *env) {
			m := e.s.Meta()
			if m.Generation == "" || len(m.Secret) < 16 || m.Schema == 0 {
				e.t.Error("Meta lacks a generation, a schema or a secret")
			}
			m.Secret[0]++
			if e.s.Meta().Secret[0] == m.Secret[0] {
				e.t.Error("a caller can change the secret")
			}
		},
		"Check": func(e *env) {
			e.update(everyWrite)
			found, err := e.s.Check(context.Background())
			if err != nil || len(found) != 0 {
				e.t.Errorf("Check = %v, %v", found, err)
			}
		},
		"State":     ownerState,
		"List":      ownerList,
		"Zero":      zeroOwner,
		"Unknown":   unknownOwner,
		"Isolation": isolation,
	}
}

func ownerState(e *env) {
	e.same("unknown owner", store.OwnerState{}, e.state())
	e.update(func(store.Tx) error { return nil })
	e.same("after an empty update", store.OwnerState{Known: true}, e.state())
	var epoch int64
	e.update(func(tx store.Tx) (err error) {
		if _, err = tx.RaiseEpoch(); err != nil {
			return err
		}
		epoch, err = tx.RaiseEpoch()
		return err
	})
	e.same("epoch returned", int64(2), epoch)
	e.same("epoch stored", store.OwnerState{Known: true, Epoch: 2}, e.state())
}

func ownerList(e *env) {
	shared, err := yiku.SharedOwner("acme")
	if err != nil {
		e.t.Fatal(err)
	}
	want := []yiku.Owner{e.neighbour, e.owner, shared, e.alien}
	for _, o := range want {
		e.updateAs(o, func(store.Tx) error { return nil })
	}
	var got []yiku.Owner
	var after yiku.Owner
	for {
		page, err := e.s.Owners(context.Background(), after, 3)
		if err != nil {
			e.t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		after = page[len(page)-1]
	}
	e.same("owners", want, got)
	_, err = e.s.Owners(context.Background(), Owner(e.t, "nobody", "x"), 1)
	e.want("Owners after an unknown one", err, yiku.ErrNotFound)
}
