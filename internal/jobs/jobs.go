// Package jobs runs the work that the store has promised: one job of an owner
// at a time, several owners at once, with a cap on attempts, spread delays
// between them, and a parked end for what fails for good. A job is deleted by
// its handler, in the transaction of its effects; a crash at any point leaves
// it waiting.
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// Handler does the work of a job and deletes it. An error that is a Snooze puts
// the job off without counting an attempt; ErrLimited and ErrUnavailable are
// tried again, unless they are Final; every other error parks it.
type Handler interface {
	Do(ctx context.Context, job store.Job) error
	// Park is called for a job that will not be tried again because of an error,
	// which job.Problem tells, to leave its inputs in an end state. It returns whether the job stays, parked.
	Park(ctx context.Context, job store.Job, cause error) (stays bool, err error)
}

// Snooze is the error of a job whose time has not come.
type Snooze struct {
	Until time.Time
}

// Error says that it is no failure.
func (s Snooze) Error() string { return "not yet" }

// Final is an error after which a job is not tried again, whatever it wraps.
type Final struct {
	Err error
}

// Error is the error's own.
func (f Final) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f Final) Unwrap() error { return f.Err }

// Options are what need not be given; the zero value is useful.
type Options struct {
	Workers  int           // owners worked for at once; 4
	Poll     time.Duration // how often the store is asked for what is due; 1 s
	Attempts int           // 8
	Delay    time.Duration // before the second attempt, doubled each time and spread by half; 2 s
	MaxDelay time.Duration // 1 h
	Lease    time.Duration // after which a job that a crash interrupted runs again; 15 min
	Busy     func() bool   // whether callers wait for the machine, so that jobs rest between their steps; never
	Now      func() time.Time
	Log      *slog.Logger
}

// Runner runs jobs from Start to Stop.
type Runner struct {
	store   store.Store
	handler Handler
	options Options
	wake    chan struct{}
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu   sync.Mutex
	busy map[yiku.Owner]bool // guarded by mu: owners that are worked for
}

// Start starts a runner; Stop ends it.
func Start(s store.Store, handler Handler, options *Options) *Runner {
	r := newRunner(s, handler, options)
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.done.Go(func() { r.loop(ctx) })
	return r
}

func newRunner(s store.Store, handler Handler, options *Options) *Runner {
	if options == nil {
		options = &Options{}
	}
	r := &Runner{store: s, handler: handler, options: *options, wake: make(chan struct{}, 1), busy: map[yiku.Owner]bool{}}
	r.defaults()
	return r
}

// Drain runs what is due, one job after the other, until nothing is.
func Drain(ctx context.Context, s store.Store, handler Handler, options *Options) error {
	r := newRunner(s, handler, options)
	for {
		due, err := s.DueJobs(ctx, r.options.Now(), 1)
		if err != nil || len(due) == 0 {
			return err
		}
		if err := r.run(ctx, due[0]); err != nil {
			return err
		}
	}
}

// RunOne runs one job where it is due and nobody else has it. What became of it
// stands in the store.
func RunOne(ctx context.Context, s store.Store, handler Handler, job store.Job, options *Options) error {
	return newRunner(s, handler, options).run(ctx, job)
}

func (r *Runner) defaults() {
	o := &r.options
	for _, d := range []struct {
		to    *time.Duration
		value time.Duration
	}{{&o.Poll, time.Second}, {&o.Delay, 2 * time.Second}, {&o.MaxDelay, time.Hour}, {&o.Lease, 15 * time.Minute}} {
		if *d.to == 0 {
			*d.to = d.value
		}
	}
	if o.Workers == 0 {
		o.Workers = 4
	}
	if o.Attempts == 0 {
		o.Attempts = 8
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// Wake makes the runner look for work now.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Stop cancels what runs, which goes on at the next start, and waits for it.
// It may be called more than once.
func (r *Runner) Stop() {
	r.cancel()
	r.done.Wait()
}

func (r *Runner) loop(ctx context.Context) {
	var workers sync.WaitGroup
	defer workers.Wait()
	slots := make(chan struct{}, r.options.Workers)
	ticker := time.NewTicker(r.options.Poll)
	defer ticker.Stop()
	for {
		if err := r.dispatch(ctx, &workers, slots); err != nil && ctx.Err() == nil {
			r.options.Log.Error("jobs cannot be listed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-r.wake:
		}
	}
}

// dispatch starts what is due, as far as there are free workers.
func (r *Runner) dispatch(ctx context.Context, workers *sync.WaitGroup, slots chan struct{}) error {
	due, err := r.store.DueJobs(ctx, r.options.Now(), 16*r.options.Workers)
	if err != nil {
		return err
	}
	for _, job := range due {
		if !r.take(job.Owner) {
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			r.release(job.Owner)
			return nil
		}
		workers.Go(func() {
			defer func() { <-slots; r.release(job.Owner); r.Wake() }()
			ctx := r.paced(ctx)
			if err := r.run(ctx, job); err != nil && ctx.Err() == nil {
				r.options.Log.Error("job cannot be kept", "job", job.ID, "error", err)
			}
			_ = Yield(ctx) // the next job is one more step
		})
	}
	return nil
}

func (r *Runner) take(owner yiku.Owner) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[owner] {
		return false
	}
	r.busy[owner] = true
	return true
}

func (r *Runner) release(owner yiku.Owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, owner)
}

// run counts an attempt, durably, does the work, and writes how it ended. The
// returned error is of the store.
func (r *Runner) run(ctx context.Context, job store.Job) error {
	err := r.store.Update(ctx, job.Owner, store.Maintenance, func(tx store.Tx) error {
		row, err := tx.Job(job.Owner, job.ID)
		if err != nil {
			return err
		}
		if row.State != yiku.JobWaiting || row.NotBefore.After(r.options.Now()) {
			return yiku.Errorf(yiku.ErrNotFound, "the job is not due any more")
		}
		job = row
		job.Attempts++
		job.NotBefore = r.options.Now().Add(r.options.Lease)
		return tx.PutJob(&job)
	})
	if errors.Is(err, yiku.ErrNotFound) { // forgotten, or replayed by hand meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	if job.Attempts > r.options.Attempts { // every attempt ended with the process
		return r.end(ctx, job, yiku.Errorf(yiku.ErrInvalid, "the program ended during every attempt"))
	}
	return r.end(ctx, job, r.do(ctx, job))
}

// do runs the handler; a panic of its is an error.
func (r *Runner) do(ctx context.Context, job store.Job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.options.Log.Error("job panicked", "job", job.ID, "stack", string(debug.Stack()))
			err = errors.New("panic")
		}
	}()
	return r.handler.Do(ctx, job)
}

// end writes how an attempt ended.
func (r *Runner) end(ctx context.Context, job store.Job, err error) error {
	var snooze Snooze
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // stopped: it goes on at the next start
		job.Attempts, job.NotBefore = job.Attempts-1, r.options.Now()
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return r.put(fresh, job)
	case errors.As(err, &snooze):
		job.Attempts, job.NotBefore = job.Attempts-1, snooze.Until
		return r.put(ctx, job)
	case passing(err) && job.Attempts < r.options.Attempts:
		job.NotBefore, job.Problem = r.options.Now().Add(r.delay(job.Attempts, err)), problem(err)
		return r.put(ctx, job)
	}
	job.Problem, job.State = problem(err), yiku.JobParked
	stays, err := r.handler.Park(ctx, job, err)
	if err != nil || !stays {
		return err
	}
	return r.put(ctx, job)
}

func (r *Runner) put(ctx context.Context, job store.Job) error {
	err := r.store.Update(ctx, job.Owner, store.Maintenance, func(tx store.Tx) error { return tx.PutJob(&job) })
	if errors.Is(err, yiku.ErrNotFound) {
		return nil // forgotten meanwhile
	}
	return err
}

// delay is how long to wait after an attempt: twice as long each time, spread
// between half and one and a half of it, and at least what was asked for.
func (r *Runner) delay(attempts int, err error) time.Duration {
	d := min(r.options.Delay<<min(attempts-1, 20), r.options.MaxDelay)
	d = time.Duration(float64(d) * (0.5 + rand.Float64()))
	var e *yiku.Error
	if errors.As(err, &e) {
		d = max(d, e.RetryAfter)
	}
	return d
}

func passing(err error) bool {
	if final := (Final{}); errors.As(err, &final) {
		return false
	}
	return errors.Is(err, yiku.ErrLimited) || errors.Is(err, yiku.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// problem is an error as it is kept: what kind it is, and its detail, which
// never holds content.
func problem(err error) string {
	var e *yiku.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return "internal error"
}
