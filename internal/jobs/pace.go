package jobs

import (
	"context"
	"time"
)

// While callers wait for a place, work that nobody waits for takes the time of
// those it delays. It cannot stop for as long as they do, or a server that is
// busy all day would learn nothing: so after each step it stands still for
// restPerWork times as long as the step has taken, and at most for maxRest.
// How long a step takes is what a clock says, not a processor: the more there
// is to do beside it, the longer the rest, so that under overload it has no
// larger share than at the peak.
const (
	restPerWork = 3
	maxRest     = time.Second
	glance      = 5 * time.Millisecond // how often a resting job looks whether callers still wait
)

// pace is how one job shares the machine with callers.
type pace struct {
	busy  func() bool
	since time.Time // when its step began; of the goroutine that works
}

type paceKey struct{}

// paced gives the steps of a job a pace.
func (r *Runner) paced(ctx context.Context) context.Context {
	if r.options.Busy == nil {
		return ctx
	}
	return context.WithValue(ctx, paceKey{}, &pace{busy: r.options.Busy, since: time.Now()})
}

// Yield is called by handlers between two steps of a job, each of which is
// short and holds no lock: it lets callers go first where some wait. It returns
// the error of the context once that has ended, and otherwise nil; outside a
// runner it does nothing else.
func Yield(ctx context.Context) error {
	p, ok := ctx.Value(paceKey{}).(*pace)
	if !ok {
		return ctx.Err()
	}
	for end := time.Now().Add(min(restPerWork*time.Since(p.since), maxRest)); p.busy() && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(glance):
		}
	}
	p.since = time.Now()
	return ctx.Err()
}
