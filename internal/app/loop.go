package app

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Loop runs a piece of maintenance again and again, one run at a time, until
// it is stopped. A failure is logged and the next run comes as usual.
type Loop struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// StartLoop starts the loop; the first run comes after every. With every 0
// nothing runs. Stop ends it.
func StartLoop(every time.Duration, log *slog.Logger, run func(context.Context) error) *Loop {
	ctx, cancel := context.WithCancel(context.Background())
	l := &Loop{cancel: cancel}
	if every > 0 {
		l.done.Go(func() { repeat(ctx, every, log, run) })
	}
	return l
}

func repeat(ctx context.Context, every time.Duration, log *slog.Logger, run func(context.Context) error) {
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := run(ctx); err != nil && ctx.Err() == nil {
			log.Error("maintenance failed", "error", err)
		}
		timer.Reset(every)
	}
}

// Stop cancels a running piece of work and waits for its end. It may be called
// more than once.
func (l *Loop) Stop() {
	l.cancel()
	l.done.Wait()
}
