package limit

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// machine is one processor and a disk, in the time of a bubble: requests
// compute one after the other, and half of them then wait for the disk. A
// refusal takes as much less of the processor as it does of a real one.
type machine struct {
	t         *testing.T
	gate      *Gate
	processor chan struct{} // holds what computes
	owed      atomic.Int64  // what refusals have taken of the processor

	mu     sync.Mutex
	served []time.Duration // guarded by mu
}

const (
	modelRead    = time.Millisecond
	modelWrite   = 300 * time.Microsecond
	modelDisk    = 2 * time.Millisecond
	modelRefusal = 6 * time.Microsecond
)

func (m *machine) compute(d time.Duration) {
	m.processor <- struct{}{}
	time.Sleep(d + time.Duration(m.owed.Swap(0)))
	<-m.processor
}

// serve is one request; false where it was refused.
func (m *machine) serve(reads bool) bool {
	begun := time.Now()
	if m.gate.Enter(m.t.Context(), "t", reads) != Admitted {
		m.owed.Add(int64(modelRefusal))
		return false
	}
	if reads {
		m.compute(modelRead)
	} else {
		m.compute(modelWrite)
		time.Sleep(modelDisk)
	}
	m.gate.Leave(reads)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.served = append(m.served, time.Since(begun))
	return true
}

// closed has so many callers ask again when they are answered.
func (m *machine) closed(callers int, last time.Duration) (goodput float64, p99 time.Duration) {
	end := time.Now().Add(last)
	for i := range callers {
		go func() {
			kind := rand.New(rand.NewPCG(1, uint64(i)))
			for time.Now().Before(end) {
				if !m.serve(kind.IntN(2) == 0) {
					time.Sleep(time.Millisecond)
				}
			}
		}()
	}
	return m.result(last, end)
}

// open has requests come at a rate, whatever becomes of them.
func (m *machine) open(rate float64, last time.Duration) (goodput float64, p99 time.Duration) {
	end := time.Now().Add(last)
	go func() {
		kind := rand.New(rand.NewPCG(2, 2))
		for time.Now().Before(end) {
			time.Sleep(time.Duration(float64(time.Second) / rate))
			if m.gate.Refuses("t") {
				m.owed.Add(int64(modelRefusal))
			} else {
				go m.serve(kind.IntN(2) == 0)
			}
		}
	}()
	return m.result(last, end)
}

// result is what was served until the end: requests a second, and the time in
// which 99 of 100 were.
func (m *machine) result(last time.Duration, end time.Time) (goodput float64, p99 time.Duration) {
	time.Sleep(time.Until(end))
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.served
	m.served = nil
	slices.Sort(all)
	return float64(len(all)) / last.Seconds(), all[len(all)*99/100]
}

// TestR17_TenTimesTheLoad offers a gate on a machine of the mind ten times what
// that can do: nine tenths of it are still done, as fast as at the peak, and all
// of it right after. The control is a gate whose queue stays long.
func TestR17_TenTimesTheLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name   string
			bounds Bounds
			late   bool
		}{
			{"a short queue", Bounds{Running: 64, Reads: 4, Queue: 24, Wait: time.Second}, false},
			{"control: a long queue", Bounds{Running: 64, Reads: 4, Queue: 512, Wait: time.Second}, true},
		} {
			const callers = 24 // as many as none of them is refused: all kinds of requests are served alike
			m := &machine{t: t, gate: NewGate(tt.bounds), processor: make(chan struct{}, 1)}
			peak, atPeak := m.closed(callers, 10*time.Second)
			over, meanwhile := m.open(10*peak, 10*time.Second)
			after, _ := m.closed(callers, 5*time.Second)
			if late := meanwhile > 2*atPeak; late != tt.late || over < .9*peak || after < .9*peak {
				t.Errorf("%s: %.0f requests a second in %v at the peak, %.0f in %v beyond it, %.0f after", tt.name, peak, atPeak, over, meanwhile, after)
			}
			time.Sleep(5 * time.Second) // of the bubble: all are answered
			if r, w := m.gate.Load(); r != 0 || w != 0 {
				t.Errorf("%s: %d run and %d wait at the end", tt.name, r, w)
			}
		}
	})
}
