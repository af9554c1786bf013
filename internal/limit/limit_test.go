package limit

import (
	"fmt"
	"testing"
	"time"
)

// clock is a time that a test moves.
type clock struct{ now time.Time }

func newClock() *clock {
	return &clock{now: time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC)}
}

func (c *clock) read() time.Time { return c.now }

// come is a request that comes in and takes its place.
func come(t *testing.T, l *Limiter, tenant, key string) *Refusal {
	v, refusal := l.Admit(tenant, key)
	if refusal != nil {
		return refusal
	}
	return v.Enter(t.Context(), true)
}

// early is what a door that refuses early hears, nil where nothing is refused.
func early(l *Limiter, tenant, key string) *Refusal {
	if r, refused := l.Refuse(tenant, key); refused {
		return &r
	}
	return nil
}

// TestF3_RateOfAKey: a key has its burst, then its rate, and another key of
// the same tenant its own.
func TestF3_RateOfAKey(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := New(Options{Rate: 2, Burst: 3, Now: c.read})
	enter := func(key string) *Refusal { return come(t, l, "t", key) }
	for range 3 {
		if r := enter("a"); r != nil {
			t.Fatal("the burst is refused:", r.Reason)
		}
	}
	r := enter("a")
	if r == nil || r.Reason != Rate || r.Retry != 500*time.Millisecond || r.Quota != 3 || r.Window != 1500*time.Millisecond {
		t.Fatalf("over the rate: %+v", r)
	}
	if got := early(l, "t", "a"); got == nil || got.Reason != Rate || got.Retry != r.Retry {
		t.Errorf("asked without entering: %+v", got)
	}
	if enter("b") != nil || early(l, "t", "c") != nil {
		t.Error("another key is refused")
	}
	c.now = c.now.Add(r.Retry)
	if enter("a") != nil {
		t.Error("refused after the time to wait")
	}
	if enter("a") == nil {
		t.Error("a token came twice")
	}
	if got := l.Stats().Refused["rate"]; got != 3 {
		t.Errorf("%d refusals counted, want 3", got)
	}
}

// TestF3_DayOfATenant: all keys of a tenant share its day, which ends at
// midnight (UTC).
func TestF3_DayOfATenant(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := New(Options{Day: func(tenant string) int { return map[string]int{"small": 2}[tenant] }, Now: c.read})
	for i := range 2 {
		if r := come(t, l, "small", fmt.Sprint(i)); r != nil {
			t.Fatal(r.Reason)
		}
	}
	for _, r := range []*Refusal{come(t, l, "small", "x"), early(l, "small", "x")} {
		if r == nil || r.Reason != Day || r.Retry != time.Minute || r.Quota != 2 {
			t.Fatalf("over the quota: %+v", r)
		}
	}
	if come(t, l, "other", "x") != nil {
		t.Error("a tenant without a quota is refused")
	}
	c.now = c.now.Add(time.Minute)
	if early(l, "small", "x") != nil || come(t, l, "small", "x") != nil {
		t.Error("refused on the next day")
	}
}

// TestRefusedAtTheGateCountsNothing: who found no place has used up neither
// rate nor quota.
func TestRefusedAtTheGateCountsNothing(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := New(Options{Rate: 1, Burst: 2, Day: func(string) int { return 2 }, Gate: Bounds{Running: 1}, Now: c.read})
	if r := come(t, l, "t", "k"); r != nil {
		t.Fatal(r.Reason)
	}
	for range 5 {
		if r := come(t, l, "t", "k"); r == nil || r.Reason != Full || r.Retry <= 0 {
			t.Fatalf("at a full gate: %+v", r)
		}
	}
	if r := early(l, "t", "k"); r == nil || r.Reason != Full {
		t.Fatalf("asked without entering: %+v", r)
	}
	l.Leave(true)
	if r := come(t, l, "t", "k"); r != nil {
		t.Error("the refusals were counted:", r.Reason)
	}
	l.Leave(true)
}

// TestR17_EarlyRefusalsLeaveNoGarbage: under overload there are ten of them for
// each request.
func TestR17_EarlyRefusalsLeaveNoGarbage(t *testing.T) {
	full := New(Options{Gate: Bounds{Running: 1}})
	spent := New(Options{Rate: .001, Burst: 1})
	for name, l := range map[string]*Limiter{"full": full, "rate": spent} {
		if r := come(t, l, "t", "k"); r != nil {
			t.Fatal(name, r.Reason)
		}
		if n := testing.AllocsPerRun(100, func() { l.Refuse("t", "k") }); n != 0 || early(l, "t", "k") == nil {
			t.Errorf("%s: %v allocations for each early refusal", name, n)
		}
	}
}

// TestManyCallers: what is remembered of callers stays bounded.
func TestManyCallers(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := New(Options{Rate: 1, Burst: 1, Day: func(string) int { return 1 }, Now: c.read})
	for i := range 3 * manyCallers {
		if i%manyCallers == 0 {
			c.now = c.now.Add(24 * time.Hour)
		}
		if r := come(t, l, fmt.Sprint(i), ""); r != nil {
			t.Fatal(r.Reason)
		}
	}
	if len(l.buckets) > manyCallers || len(l.days) > manyCallers {
		t.Errorf("%d buckets and %d days are remembered", len(l.buckets), len(l.days))
	}
}

// TestNoLimits: the zero options limit nothing.
func TestNoLimits(t *testing.T) {
	t.Parallel()
	l := New(Options{})
	for range 1000 {
		if come(t, l, "t", "k") != nil || early(l, "t", "k") != nil {
			t.Fatal("refused without limits")
		}
		l.Leave(true)
	}
}
