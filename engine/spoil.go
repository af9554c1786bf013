package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/store"
)

const (
	spoiledPause  = time.Minute
	spoiledMost   = time.Hour
	spoiledTables = 10_000 // tenants that are remembered; a full table is emptied
)

// spoils is the breaker of cost: a tenant for which call after call brings
// nothing that can be used is left alone for a while, each time twice as long,
// so that what always fails does not burn its budget. llm.Steady does the same
// for an endpoint that fails for all.
type spoils struct {
	mu      sync.Mutex
	most    int               // calls in a row until a tenant is left alone; 0: no number is too high
	tenants map[string]*spoil // guarded by mu
}

// spoil is how the last calls for one tenant ended.
type spoil struct {
	failed  int // in a row, by error
	spoiled int // answers in a row that could not be used
	until   time.Time
}

func (s *spoils) of(tenant string) *spoil {
	if s.tenants == nil || len(s.tenants) >= spoiledTables {
		s.tenants = map[string]*spoil{}
	}
	if s.tenants[tenant] == nil {
		s.tenants[tenant] = &spoil{}
	}
	return s.tenants[tenant]
}

// refused is the error of a call whose tenant is left alone; nil where it is not.
func (s *spoils) refused(tenant string, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(tenant)
	if !t.until.After(at) {
		return nil
	}
	e := yiku.Errorf(yiku.ErrLimited, "%d calls of the model in a row brought nothing that could be used; it is left alone for a while", max(t.failed, t.spoiled))
	e.RetryAfter = t.until.Sub(at)
	return fmt.Errorf("%w: %w", llm.ErrBudget, e)
}

// note changes what is known of a tenant.
func (s *spoils) note(tenant string, at time.Time, change func(*spoil)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of(tenant)
	before := *t
	change(t)
	over, now, then := max(t.failed, t.spoiled)-s.most, t.failed+t.spoiled, before.failed+before.spoiled
	switch {
	case now < then:
		t.until = time.Time{}
	case now > then && s.most > 0 && over >= 0:
		t.until = at.Add(min(spoiledPause<<min(over, 10), spoiledMost))
	}
}

// ended notes whether a call was answered.
func (s *spoils) ended(tenant string, at time.Time, err error) {
	switch {
	case err == nil:
		s.note(tenant, at, func(t *spoil) { t.failed = 0 })
	case !errors.Is(err, context.Canceled):
		s.note(tenant, at, func(t *spoil) { t.failed++ })
	}
}

// usable notes that an answer for an owner could be used.
func (e *Engine) usable(owner yiku.Owner) {
	e.spoils.note(owner.Tenant(), e.now(), func(t *spoil) { t.spoiled = 0 })
}

// spoiled notes that the last answer for an owner and an operation could not be
// used, in the ledger too. Whoever judges answers calls it, or usable.
func (e *Engine) spoiled(ctx context.Context, owner yiku.Owner, operation string) {
	at := e.now()
	e.spoils.note(owner.Tenant(), at, func(t *spoil) { t.spoiled++ })
	e.spend(ctx, owner, store.Spending{Day: usage.Day(at), Operation: operation, Model: e.model.Name(), Path: pathModel, Spent: store.Spent{Failures: 1}})
}
