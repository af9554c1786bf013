package rerank

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/yiku-ai/yiku"
)

// Patience says how long a reranker is waited for and when it is left alone;
// the zero value is useful. Nothing is tried again: somebody waits for the
// answer, and has one without it.
type Patience struct {
	Timeout  time.Duration // 1 s
	Failures uint          // in a row until the breaker opens; 5
	Open     time.Duration // until one call is let through again; 30 s
}

// Steady is a reranker with a hard time budget and a breaker around it. An
// answer that came too late or cannot be used is ErrUnavailable, and while the
// breaker is open so is every call, at once.
type Steady struct {
	reranker Reranker
	patience Patience
	breaker  circuitbreaker.CircuitBreaker[Response]
	run      failsafe.Executor[Response]
}

// NewSteady puts patience around a reranker; nil is the default.
func NewSteady(r Reranker, patience *Patience) *Steady {
	p := Patience{}
	if patience != nil {
		p = *patience
	}
	if p.Timeout == 0 {
		p.Timeout = time.Second
	}
	if p.Failures == 0 {
		p.Failures = 5
	}
	if p.Open == 0 {
		p.Open = 30 * time.Second
	}
	s := &Steady{reranker: r, patience: p}
	s.breaker = circuitbreaker.NewBuilder[Response]().
		HandleIf(func(_ Response, err error) bool { return err != nil && !errors.Is(err, context.Canceled) }).
		WithFailureThreshold(p.Failures).WithSuccessThreshold(1).WithDelay(p.Open).Build()
	s.run = failsafe.With[Response](s.breaker)
	return s
}

// Name is the reranker's own.
func (s *Steady) Name() string { return s.reranker.Name() }

// Open reports whether the breaker keeps calls away.
func (s *Steady) Open() bool { return s.breaker.IsOpen() }

// Rerank asks the reranker, for as long as it may take. A reranker that does
// not heed its context is not waited for.
func (s *Steady) Rerank(ctx context.Context, query string, documents []string) (Response, error) {
	res, err := s.run.Get(func() (Response, error) {
		within, cancel := context.WithTimeout(ctx, s.patience.Timeout)
		defer cancel()
		type answer struct {
			res Response
			err error
		}
		came := make(chan answer, 1)
		go func() {
			res, err := s.reranker.Rerank(within, query, documents)
			came <- answer{res, err}
		}()
		select {
		case a := <-came:
			return a.res, a.err
		case <-within.Done():
			return Response{}, within.Err()
		}
	})
	switch {
	case errors.Is(err, circuitbreaker.ErrOpen):
		e := yiku.Errorf(yiku.ErrUnavailable, "the reranker has failed %d times in a row and is left alone for a while", s.patience.Failures)
		e.RetryAfter = s.breaker.RemainingDelay()
		return Response{}, e
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return Response{}, yiku.Errorf(yiku.ErrUnavailable, "the reranker took longer than %s", s.patience.Timeout)
	}
	return res, err
}
