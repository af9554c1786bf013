package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLoopRunsOnAfterFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		runs := 0
		l := StartLoop(time.Hour, slog.New(slog.NewTextHandler(&log, nil)), func(context.Context) error {
			runs++
			if runs == 1 {
				return errors.New("no room")
			}
			return nil
		})
		time.Sleep(3*time.Hour + time.Minute)
		synctest.Wait()
		if runs != 3 || strings.Count(log.String(), "maintenance failed") != 1 {
			t.Errorf("%d runs, log %q", runs, log.String())
		}
		l.Stop()
		time.Sleep(24 * time.Hour)
		if runs != 3 {
			t.Error("runs after Stop")
		}
	})
}

func TestLoopStopCancelsAndWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		l := StartLoop(time.Hour, slog.New(slog.DiscardHandler), func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return ctx.Err()
		})
		time.Sleep(time.Hour)
		synctest.Wait()
		l.Stop()
		if !ended {
			t.Error("Stop does not wait for the run")
		}
		l.Stop()
	})
}

func TestLoopNever(t *testing.T) {
	t.Parallel()
	StartLoop(0, slog.New(slog.DiscardHandler), func(context.Context) error { t.Error("runs"); return nil }).Stop()
}
