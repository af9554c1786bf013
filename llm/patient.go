package llm

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/yiku-ai/yiku"
)

// Patience says how long a model is waited for and when it is left alone; the
// zero value is useful.
type Patience struct {
	Timeout  time.Duration // of one attempt; 60 s
	Attempts int           // 3
	Delay    time.Duration // before the second attempt; doubled each time, spread by half; 500 ms
	MaxDelay time.Duration // also of what the endpoint asks for; 30 s
	Failures uint          // in a row until the breaker opens; 5
	Open     time.Duration // until one attempt is let through again; 30 s
}

func (p Patience) orDefault() Patience {
	or := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	or(&p.Timeout, 60*time.Second)
	or(&p.Delay, 500*time.Millisecond)
	or(&p.MaxDelay, 30*time.Second)
	or(&p.Open, 30*time.Second)
	if p.Attempts == 0 {
		p.Attempts = 3
	}
	if p.Failures == 0 {
		p.Failures = 5
	}
	return p
}

// Patient asks an endpoint with timeouts, further attempts and a breaker. Only
// ErrLimited and ErrUnavailable are tried again; a Retry-After longer than
// MaxDelay ends the attempts at once, because whoever asked has a queue to wait
// in. While the breaker is open every call is ErrUnavailable at once, with
// RetryAfter.
type Patient[T any] struct {
	patience Patience
	breaker  circuitbreaker.CircuitBreaker[T]
	run      failsafe.Executor[T]
}

// NewPatient is patience for answers of one kind; nil is the default.
func NewPatient[T any](patience *Patience) *Patient[T] {
	if patience == nil {
		patience = &Patience{}
	}
	p := patience.orDefault()
	s := &Patient[T]{patience: p}
	s.breaker = circuitbreaker.NewBuilder[T]().HandleIf(func(_ T, err error) bool { return passing(err) }).
		WithFailureThreshold(p.Failures).WithSuccessThreshold(1).WithDelay(p.Open).Build()
	retry := retrypolicy.NewBuilder[T]().
		HandleIf(func(_ T, err error) bool { return passing(err) }).
		AbortIf(func(_ T, err error) bool {
			return wanted(err) > p.MaxDelay || errors.Is(err, circuitbreaker.ErrOpen)
		}).
		WithMaxAttempts(p.Attempts).WithBackoff(p.Delay, p.MaxDelay).WithJitterFactor(0.5).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[T]) time.Duration {
			if d := wanted(e.LastError()); d > 0 {
				return 2 * d // the spread takes off at most half: never before it was asked for
			}
			return -1 // the backoff
		}).ReturnLastFailure().Build()
	s.run = failsafe.With[T](retry, s.breaker)
	return s
}

// Open reports whether the breaker keeps calls away.
func (s *Patient[T]) Open() bool { return s.breaker.IsOpen() }

// Ask asks, patiently. Where an error comes, so does the zero answer.
func (s *Patient[T]) Ask(ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	res, err := s.run.WithContext(ctx).Get(func() (T, error) {
		attempt, cancel := context.WithTimeout(ctx, s.patience.Timeout)
		defer cancel()
		return ask(attempt)
	})
	var none T
	switch {
	case errors.Is(err, circuitbreaker.ErrOpen):
		e := yiku.Errorf(yiku.ErrUnavailable, "the model has failed %d times in a row and is left alone for a while", s.patience.Failures)
		e.RetryAfter = s.breaker.RemainingDelay()
		return none, e
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return none, yiku.Errorf(yiku.ErrUnavailable, "the model took longer than %s", s.patience.Timeout)
	}
	return res, err
}

// passing reports whether an error may be gone at the next attempt.
func passing(err error) bool {
	if errors.Is(err, ErrBudget) {
		return false
	}
	return errors.Is(err, yiku.ErrLimited) || errors.Is(err, yiku.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// wanted is how long the endpoint asks to wait; 0 where it does not say.
func wanted(err error) time.Duration {
	var e *yiku.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}
