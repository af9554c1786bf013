package rerank_test

import (
	"context"
	"errors"
	"math"
	"slices"
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

// TestD11_Scores: an answer counts where each document has one score that is a
// number, in any order; anything else is none at all.
func TestD11_Scores(t *testing.T) {
	t.Parallel()
	line := func(index int, score float64) rerank.Ranked { return rerank.Ranked{Index: &index, Score: &score} }
	got, err := rerank.Scores([]rerank.Ranked{line(1, -2), line(0, .5)}, 2)
	if err != nil || !slices.Equal(got, []float64{.5, -2}) {
		t.Errorf("%v, %v", got, err)
	}
	whole := line(0, 1)
	for name, lines := range map[string][]rerank.Ranked{
		"none": nil, "one is missing": {whole}, "twice": {whole, whole}, "one too many": {whole, line(1, 1), line(1, 2)},
		"beyond": {whole, line(2, 1)}, "below": {whole, line(-1, 1)}, "no index": {whole, {Score: whole.Score}}, "no score": {whole, {Index: line(1, 0).Index}},
		"not a number": {whole, line(1, math.NaN())}, "infinite": {whole, line(1, math.Inf(1))}, "infinite downwards": {whole, line(1, math.Inf(-1))},
	} {
		if scores, err := rerank.Scores(lines, 2); !errors.Is(err, yiku.ErrUnavailable) || scores != nil {
			t.Errorf("%s: %v, %v", name, scores, err)
		}
	}
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
