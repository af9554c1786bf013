package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// work is a handler whose jobs do what the test says.
type work struct {
	do     func(ctx context.Context, job store.Job) error
	mu     sync.Mutex
	parked []string // guarded by mu
}

func (w *work) Do(ctx context.Context, job store.Job) error { return w.do(ctx, job) }

func (w *work) Park(_ context.Context, job store.Job, _ error) (bool, error) {
	problem := job.Problem
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parked = append(w.parked, problem)
	return true, nil
}

// clock is set by tests.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t *testing.T) (store.Store, *clock) {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	s, err := sqlite.Open(t.Context(), t.TempDir(), &sqlite.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

func owner(t *testing.T, user string) yiku.Owner {
	t.Helper()
	o, err := yiku.NewOwner("acme", user)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func promise(t *testing.T, s store.Store, o yiku.Owner, ids ...string) {
	t.Helper()
	err := s.Update(t.Context(), o, store.Request, func(tx store.Tx) error {
		for _, id := range ids {
			if _, err := tx.Enqueue(&store.Job{ID: id, Kind: "k"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func done(s store.Store, job store.Job) error {
	return s.Update(context.Background(), job.Owner, store.Maintenance, func(tx store.Tx) error { return tx.DeleteJob(job.ID) })
}

func state(t *testing.T, s store.Store, o yiku.Owner, id string) (job store.Job, there bool) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) (err error) {
		job, err = r.Job(o, id)
		return err
	})
	if err != nil && !errors.Is(err, yiku.ErrNotFound) {
		t.Fatal(err)
	}
	return job, err == nil
}

// TestC6_AttemptsEnd: what may pass is tried again with growing delays up to a
// cap, and then parked with its reason; what will not pass is parked at once;
// what is put off counts no attempt.
func TestC6_AttemptsEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		err      error
		attempts int
		parked   bool
	}{
		{"unavailable", yiku.Errorf(yiku.ErrUnavailable, "down"), 4, true},
		{"invalid", yiku.Errorf(yiku.ErrInvalid, "no"), 1, true},
		{"a fault of ours", errors.New("secret text"), 1, true},
		{"not yet", jobs.Snooze{Until: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, c := open(t)
			o := owner(t, "ann")
			promise(t, s, o, "j")
			w := &work{do: func(context.Context, store.Job) error { return test.err }}
			for range 10 {
				if err := jobs.Drain(t.Context(), s, w, &jobs.Options{Attempts: 4, Now: c.Now}); err != nil {
					t.Fatal(err)
				}
				c.Advance(2 * time.Hour)
			}
			job, there := state(t, s, o, "j")
			if !there || job.Attempts != test.attempts || (job.State == yiku.JobParked) != test.parked || len(w.parked) > 1 {
				t.Errorf("job %+v, parked %q", job, w.parked)
			}
			if test.parked && (job.Problem == "" || job.Problem == "secret text") {
				t.Errorf("problem %q", job.Problem)
			}
		})
	}
}

// TestC3_OneAtATime: the jobs of one owner run one after the other, in order;
// a slow owner does not hold up another.
func TestC3_OneAtATime(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ann, ben := owner(t, "ann"), owner(t, "ben")
	promise(t, s, ann, "a1", "a2", "a3")
	promise(t, s, ben, "b1")
	var mu sync.Mutex
	running, order := map[yiku.Owner]int{}, []string{}
	slow, finished := make(chan struct{}), make(chan string, 8)
	w := &work{do: func(ctx context.Context, job store.Job) error {
		mu.Lock()
		running[job.Owner]++
		if running[job.Owner] > 1 {
			t.Errorf("two jobs of %s at once", job.Owner.User())
		}
		order = append(order, job.ID)
		mu.Unlock()
		if job.ID == "a1" {
			<-slow
		}
		mu.Lock()
		running[job.Owner]--
		mu.Unlock()
		defer func() { finished <- job.ID }()
		return done(s, job)
	}}
	r := jobs.Start(s, w, &jobs.Options{Poll: time.Hour})
	defer r.Stop()
	if id := <-finished; id != "b1" {
		t.Errorf("%s is done while a1 hangs", id)
	}
	close(slow)
	for range 3 {
		<-finished
	}
	mu.Lock()
	defer mu.Unlock()
	var own []string
	for _, id := range order {
		if id[0] == 'a' {
			own = append(own, id)
		}
	}
	if fmt.Sprint(own) != "[a1 a2 a3]" {
		t.Errorf("order %v", own)
	}
}

// TestR19_StoppedJobsGoOn: a stop cancels what runs, counts no attempt, and it
// runs again at the next start; a crash leaves it waiting until its lease ends.
func TestR19_StoppedJobsGoOn(t *testing.T) {
	t.Parallel()
	s, c := open(t)
	o := owner(t, "ann")
	promise(t, s, o, "j")
	started := make(chan struct{})
	r := jobs.Start(s, &work{do: func(ctx context.Context, _ store.Job) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	}}, &jobs.Options{Now: c.Now})
	<-started
	r.Stop()
	if job, _ := state(t, s, o, "j"); job.Attempts != 0 || job.State != yiku.JobWaiting {
		t.Errorf("after a stop: %+v", job)
	}
	crash(t, s, c, o, "j")
	runs := 0
	w := &work{do: func(_ context.Context, job store.Job) error { runs++; return done(s, job) }}
	for _, want := range []int{0, 1} {
		if err := jobs.Drain(t.Context(), s, w, &jobs.Options{Now: c.Now}); err != nil {
			t.Fatal(err)
		}
		if runs != want {
			t.Errorf("%d runs, want %d", runs, want)
		}
		c.Advance(time.Hour)
	}
}

// crash leaves a job as a process does that is gone in the middle of it.
func crash(t *testing.T, s store.Store, c *clock, o yiku.Owner, id string) {
	t.Helper()
	err := s.Update(t.Context(), o, store.Maintenance, func(tx store.Tx) error {
		job, err := tx.Job(o, id)
		if err != nil {
			return err
		}
		job.Attempts++
		job.NotBefore = c.Now().Add(15 * time.Minute)
		return tx.PutJob(&job)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestC6_PoisonIsParked: a job that panics, or that no process survives, does
// not run for ever.
func TestC6_PoisonIsParked(t *testing.T) {
	t.Parallel()
	s, c := open(t)
	o := owner(t, "ann")
	promise(t, s, o, "panics", "kills")
	for range 3 {
		crash(t, s, c, o, "kills")
	}
	c.Advance(time.Hour)
	w := &work{do: func(_ context.Context, job store.Job) error {
		if job.ID == "kills" {
			t.Error("it runs once more")
		}
		panic("poison")
	}}
	if err := jobs.Drain(t.Context(), s, w, &jobs.Options{Attempts: 3, Now: c.Now}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"panics", "kills"} {
		if job, _ := state(t, s, o, id); job.State != yiku.JobParked || job.Problem == "" {
			t.Errorf("%s: %+v", id, job)
		}
	}
}
