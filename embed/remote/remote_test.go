package remote_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/remote"
	"github.com/yiku-ai/yiku/llm"
)

// TestR16_QueryBudget: nobody waits longer for a question's vector than it may
// take, nor for what an endpoint asks to wait, and after failures in a row the
// endpoint is left alone. Controls: passages are waited for, and a question has
// its vector where the endpoint answers in time.
func TestR16_QueryBudget(t *testing.T) {
	t.Parallel()
	hangs := func(ctx context.Context, _ []string) ([][]float32, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	throttles := func(context.Context, []string) ([][]float32, error) {
		return nil, &yiku.Error{Sentinel: yiku.ErrLimited, RetryAfter: 10 * time.Second}
	}
	answers := func(context.Context, []string) ([][]float32, error) {
		time.Sleep(200 * time.Millisecond)
		return [][]float32{{1}}, nil
	}
	for name, test := range map[string]struct {
		ask  remote.Ask
		want error
		took time.Duration
	}{"hangs": {hangs, yiku.ErrUnavailable, 300 * time.Millisecond}, "throttles": {throttles, yiku.ErrLimited, 0}, "control": {answers, nil, 200 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			counted := func(ctx context.Context, texts []string) ([][]float32, error) {
				n++
				return test.ask(ctx, texts)
			}
			e, err := remote.Open(t.Context(), "m", counted, remote.Options{Dimensions: 1, Patience: &llm.Patience{Timeout: 30 * time.Second}, QueryTimeout: 300 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 6 {
				use := []embed.Use{embed.Query, embed.Sample}[i%2]
				began := time.Now()
				_, err := e.Embed(t.Context(), []string{"q"}, use)
				took := time.Since(began)
				if open := i == 5 && test.want != nil; open && (!errors.Is(err, yiku.ErrUnavailable) || took != 0 || n != 5) {
					t.Errorf("%s: the breaker: %v after %s and %d exchanges", name, err, took, n)
				} else if !open && (!errors.Is(err, test.want) || took != test.took || n != i+1) {
					t.Errorf("%s: %v after %s and %d exchanges", name, err, took, n)
				}
			}
			began := time.Now()
			if _, err := e.Embed(t.Context(), []string{"p"}, embed.Passage); test.want != nil && (err == nil || time.Since(began) < 20*time.Second) {
				t.Errorf("%s: control: a passage was waited for %s: %v", name, time.Since(began), err)
			}
		})
	}
}
