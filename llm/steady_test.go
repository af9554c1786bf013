package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

func ask() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}
}

func busy(after time.Duration) llmtest.Step {
	e := yiku.Errorf(yiku.ErrLimited, "busy")
	e.RetryAfter = after
	return llmtest.Step{Err: e}
}

// TestR16_TriesAgain: what may pass is tried again, after as long as the
// endpoint asks; what will not pass is not.
func TestR16_TriesAgain(t *testing.T) {
	t.Parallel()
	broken := llmtest.Step{Err: yiku.Errorf(yiku.ErrUnavailable, "broken")}
	for _, test := range []struct {
		name     string
		steps    []llmtest.Step
		want     error
		asked    int
		at, most time.Duration
	}{
		{"well", []llmtest.Step{{Text: "a"}}, nil, 1, 0, 0},
		{"broken once", []llmtest.Step{broken, {Text: "a"}}, nil, 2, 250 * time.Millisecond, 750 * time.Millisecond},
		{"broken for good", []llmtest.Step{broken}, yiku.ErrUnavailable, 3, 750 * time.Millisecond, 3 * time.Second},
		{"asks for 7 s", []llmtest.Step{busy(7 * time.Second), {Text: "a"}}, nil, 2, 7 * time.Second, 21 * time.Second},
		{"asks for an hour", []llmtest.Step{busy(time.Hour), {Text: "a"}}, yiku.ErrLimited, 1, 0, 0},
		{"refused", []llmtest.Step{{Err: yiku.Errorf(yiku.ErrInvalid, "no")}}, yiku.ErrInvalid, 1, 0, 0},
		{"wrong key", []llmtest.Step{{Err: yiku.Errorf(yiku.ErrUnauthorized, "no")}}, yiku.ErrUnauthorized, 1, 0, 0},
		{"hangs", []llmtest.Step{{Hang: true}}, yiku.ErrUnavailable, 3, 180 * time.Second, 183 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := llmtest.NewScript(test.steps...)
				began := time.Now()
				_, err := llm.NewSteady(script, nil).Complete(t.Context(), ask())
				if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
					t.Errorf("error %v, want %v", err, test.want)
				}
				if n := len(script.Asked()); n != test.asked {
					t.Errorf("asked %d times, want %d", n, test.asked)
				}
				if took := time.Since(began); took < test.at || took > test.most {
					t.Errorf("took %s, want %s to %s", took, test.at, test.most)
				}
			})
		})
	}
}

// TestR16_Breaker: after failures in a row the model is left alone, one call
// is let through after a while, and a good answer closes the breaker.
func TestR16_Breaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := llmtest.Step{Err: yiku.Errorf(yiku.ErrUnavailable, "broken")}
		script := llmtest.NewScript(broken, broken, broken, broken, broken, broken, llmtest.Step{Text: "a"})
		m := llm.NewSteady(script, &llm.Patience{Attempts: 1})
		call := func() error { _, err := m.Complete(context.Background(), ask()); return err }
		for range 5 {
			if err := call(); !errors.Is(err, yiku.ErrUnavailable) {
				t.Fatal(err)
			}
		}
		var e *yiku.Error
		if err := call(); !errors.As(err, &e) || e.RetryAfter == 0 || len(script.Asked()) != 5 || !m.Open() {
			t.Fatalf("open: %v after %d calls", err, len(script.Asked()))
		}
		time.Sleep(31 * time.Second)
		if err := call(); err == nil || len(script.Asked()) != 6 {
			t.Fatalf("one is let through: %v", err)
		}
		if err := call(); err == nil || len(script.Asked()) != 6 {
			t.Fatalf("open again: %v", err)
		}
		time.Sleep(31 * time.Second)
		if err := call(); err != nil || m.Open() {
			t.Fatalf("closed: %v", err)
		}
	})
}
