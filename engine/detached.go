package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// leaveTime is how long a close waits for forgets that run. One that has not
// ended then stops after its present transaction, and the next start goes on.
const leaveTime = 2 * time.Second

// running are the forgets that this process is carrying out, by receipt: the
// store belongs to one process. They belong to the engine, not to their
// callers, who may leave.
type running struct {
	mu     sync.Mutex
	ids    map[string]chan struct{} // closed at their ends; guarded by mu
	closed bool                     // guarded by mu
	all    sync.WaitGroup
	kill   func()        // makes those who run stop
	killed chan struct{} // closed by kill
}

func newRunning() *running {
	r := &running{ids: map[string]chan struct{}{}, killed: make(chan struct{})}
	r.kill = sync.OnceFunc(func() { close(r.killed) })
	return r
}

// run carries a forget out in its own time: a caller who leaves gets the error
// of their context, and the forget goes on.
func (r *running) run(ctx context.Context, id string, do func(context.Context) (store.Receipt, error)) (store.Receipt, error) {
	if err := r.begin(id); err != nil {
		return store.Receipt{}, err
	}
	type result struct {
		receipt store.Receipt
		err     error
	}
	done := make(chan result, 1)
	go func() {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		go func() {
			select {
			case <-r.killed:
				cancel()
			case <-own.Done():
			}
		}()
		var res result
		defer func() {
			if p := recover(); p != nil {
				res.err = fmt.Errorf("a forget panicked: %v\n%s", p, debug.Stack())
			}
			r.end(id)
			done <- res
		}()
		res.receipt, res.err = do(own)
	}()
	select {
	case res := <-done:
		return res.receipt, res.err
	case <-ctx.Done():
		return store.Receipt{}, fmt.Errorf("wait for a forget: %w", ctx.Err())
	}
}

// begin notes a forget, unless it runs already.
func (r *running) begin(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return yiku.Errorf(yiku.ErrUnavailable, "the engine is closing")
	case r.ids[id] != nil:
		return yiku.Errorf(yiku.ErrConflict, "the same request is still running")
	}
	r.ids[id] = make(chan struct{})
	r.all.Add(1)
	return nil
}

func (r *running) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.ids[id])
	delete(r.ids, id)
	r.all.Done()
}

// wait waits for the end of a forget, where it runs.
func (r *running) wait(ctx context.Context, id string) error {
	r.mu.Lock()
	end := r.ids[id]
	r.mu.Unlock()
	if end == nil {
		return nil
	}
	select {
	case <-end:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for a forget: %w", ctx.Err())
	}
}

// close lets nothing more begin, and returns when nothing runs.
func (r *running) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	timer := time.AfterFunc(leaveTime, r.kill)
	r.all.Wait()
	timer.Stop()
}
