package jobs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestR17_JobsRest: while callers wait, a job stands still after each step for
// a multiple of what the step took and no longer than a bound; it goes on at
// once where nobody waits, or waits any more.
func TestR17_JobsRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name             string
		step, busy, want time.Duration
	}{
		{"nobody waits", 20 * time.Millisecond, 0, 0},
		{"all the time", 20 * time.Millisecond, time.Hour, 60 * time.Millisecond},
		{"a long step", time.Minute, time.Hour, time.Second},
		{"until they are served", 200 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				r := newRunner(nil, nil, &Options{Busy: func() bool { return time.Since(began) < c.step+c.busy }})
				ctx := r.paced(t.Context())
				for step := range 2 {
					began = time.Now()
					time.Sleep(c.step)
					rested := time.Now()
					if err := Yield(ctx); err != nil {
						t.Fatal(err)
					}
					if got := time.Since(rested); got != c.want {
						t.Errorf("after step %d the job rested for %v, want %v", step, got, c.want)
					}
				}
			})
		})
	}
}

// TestR19_RestEndsWithTheServer: a job that rests ends with its context, and so
// does one that has no pace.
func TestR19_RestEndsWithTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(nil, nil, &Options{Busy: func() bool { return true }})
		ctx, cancel := context.WithTimeout(r.paced(t.Context()), time.Minute+time.Millisecond)
		defer cancel()
		time.Sleep(time.Minute)
		rested := time.Now()
		if err := Yield(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(rested) != time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(rested))
		}
		plain, stop := context.WithCancel(t.Context())
		if err := Yield(plain); err != nil {
			t.Error(err)
		}
		stop()
		if err := Yield(plain); !errors.Is(err, context.Canceled) {
			t.Errorf("without a pace: %v", err)
		}
	})
}
