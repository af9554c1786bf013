package rerank_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/rerank"
	"github.com/yiku-ai/yiku/rerank/reranktest"
)

// deaf is a reranker that does not heed its context.
type deaf struct{ until chan struct{} }

func (d deaf) Name() string { return "deaf" }

func (d deaf) Rerank(context.Context, string, []string) (rerank.Response, error) {
	<-d.until
	return rerank.Response{}, nil
}

// TestD11_TimeBudget: nobody waits longer for a reranker than it may take, even
// for one that hears nothing.
func TestD11_TimeBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		for _, r := range []rerank.Reranker{reranktest.NewScript(reranktest.Step{Hang: true}), deaf{until}} {
			began := time.Now()
			_, err := rerank.NewSteady(r, 300*time.Millisecond).Rerank(t.Context(), "q", []string{"a"})
			if took := time.Since(began); !errors.Is(err, yiku.ErrUnavailable) || took != 300*time.Millisecond {
				t.Errorf("%s: %v after %s", r.Name(), err, took)
			}
		}
		close(until)
	})
}

// TestD11_Breaker: after failures in a row the reranker is left alone, one call
// is let through after a while, and a good answer closes the breaker. Callers
// who go away are no failures.
func TestD11_Breaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := reranktest.Step{Err: yiku.Errorf(yiku.ErrUnavailable, "broken")}
		script := reranktest.NewScript(broken, broken, broken, broken, broken, reranktest.Step{})
		s := rerank.NewSteady(script, 0)
		call := func(ctx context.Context) error {
			_, err := s.Rerank(ctx, "q", []string{"a"})
			return err
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		away := rerank.NewSteady(reranktest.NewScript(reranktest.Step{Hang: true}), 0)
		for range 9 {
			if _, err := away.Rerank(gone, "q", []string{"a"}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if away.Open() {
			t.Error("callers who went away opened the breaker")
		}
		for range 5 {
			if err := call(t.Context()); !errors.Is(err, yiku.ErrUnavailable) {
				t.Fatal(err)
			}
		}
		var e *yiku.Error
		if err := call(t.Context()); !errors.As(err, &e) || e.RetryAfter == 0 || len(script.Asked()) != 5 || !s.Open() {
			t.Fatalf("open: %v after %d calls", err, len(script.Asked()))
		}
		time.Sleep(31 * time.Second)
		if err := call(t.Context()); err != nil || s.Open() {
			t.Fatalf("closed: %v", err)
		}
	})
}
