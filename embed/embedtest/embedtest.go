// Package embedtest is the suite that every embedder must pass.
package embedtest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku/embed"
)

// texts are of several kinds and lengths, in several languages.
func texts() []string {
	return []string{
		"", " ", "a", "我住在杭州。", "I live in Berlin and work as a nurse.",
		"会议改到下周五下午三点，地点在 B-204。", strings.Repeat("a long message about nothing, ", 40),
		"👩‍👩‍👧 emoji", "\u200b\u202e", "日本語とעברית и русский", strings.Repeat("长", 900),
	}
}

// Run holds an embedder against the contract.
func Run(t *testing.T, e embed.Embedder) {
	t.Run("Shape", func(t *testing.T) { shape(t, e) })
	t.Run("None", func(t *testing.T) { none(t, e) })
	t.Run("AloneAsTogether", func(t *testing.T) { alone(t, e) })
	t.Run("NearerInMeaning", func(t *testing.T) { nearer(t, e) })
	t.Run("Cancelled", func(t *testing.T) { cancelled(t, e) })
	t.Run("AtOnce", func(t *testing.T) { atOnce(t, e) })
}

func must(t *testing.T, e embed.Embedder, texts []string, use embed.Use) [][]float32 {
	t.Helper()
	out, err := e.Embed(t.Context(), texts, use)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(out), len(texts))
	}
	return out
}

// shape: as many values as the model says, of the length 1, for every text.
func shape(t *testing.T, e embed.Embedder) {
	m := e.Model()
	if m.Name == "" || m.Dimensions <= 0 {
		t.Fatalf("the model is %+v", m)
	}
	for _, use := range []embed.Use{embed.Passage, embed.Query} {
		for i, v := range must(t, e, texts(), use) {
			if len(v) != m.Dimensions {
				t.Errorf("text %d has %d values, want %d", i, len(v), m.Dimensions)
			}
			if l := math.Sqrt(Dot(v, v)); math.Abs(l-1) > 1e-3 {
				t.Errorf("text %d has the length %g", i, l)
			}
		}
	}
}

func none(t *testing.T, e embed.Embedder) {
	if out := must(t, e, nil, embed.Passage); len(out) != 0 {
		t.Errorf("%d vectors for no texts", len(out))
	}
}

// alone: a text's vector does not depend on what stands beside it.
func alone(t *testing.T, e embed.Embedder) {
	together := must(t, e, texts(), embed.Passage)
	for i, text := range texts() {
		if cos := Dot(must(t, e, []string{text}, embed.Passage)[0], together[i]); cos < 0.9999 {
			t.Errorf("text %d alone and among others: cosine %g", i, cos)
		}
	}
}

// nearer: words that two texts share make them nearer than none.
func nearer(t *testing.T, e embed.Embedder) {
	v := must(t, e, []string{"my dog likes the park", "the park where my dog runs", "quarterly tax report"}, embed.Passage)
	if Dot(v[0], v[1]) <= Dot(v[0], v[2]) {
		t.Errorf("cosines %g and %g", Dot(v[0], v[1]), Dot(v[0], v[2]))
	}
}

func cancelled(t *testing.T, e embed.Embedder) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := e.Embed(ctx, texts(), embed.Passage); !errors.Is(err, context.Canceled) || out != nil {
		t.Errorf("%d vectors and %v", len(out), err)
	}
}

func atOnce(t *testing.T, e embed.Embedder) {
	want := must(t, e, texts(), embed.Query)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			out, err := e.Embed(t.Context(), texts(), embed.Query)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range out {
				if Dot(out[i], want[i]) < 0.9999 {
					t.Errorf("text %d differs when several are embedded at once", i)
				}
			}
		})
	}
	wg.Wait()
}

// Dot is the product of two vectors; of the length 1, their cosine.
func Dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
