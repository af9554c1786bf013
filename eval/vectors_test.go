package eval_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/embedtest"
	"github.com/yiku-ai/yiku/embed/hash"
	"github.com/yiku-ai/yiku/eval"
)

// counting counts the texts that it embeds.
type counting struct {
	embed.Embedder
	texts int
}

func (c *counting) Embed(ctx context.Context, texts []string, use embed.Use) ([][]float32, error) {
	c.texts += len(texts)
	return c.Embedder.Embed(ctx, texts, use)
}

func keep(t *testing.T, e embed.Embedder, dir string) *eval.Vectors {
	t.Helper()
	v, err := eval.KeepVectors(e, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

func vectorsOf(t *testing.T, e embed.Embedder, texts []string, use embed.Use) [][]float32 {
	t.Helper()
	out, err := e.Embed(t.Context(), texts, use)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVectorsAreKept: each text is embedded once for each use, also by two at
// once and after an end that was torn off; another model has vectors of its own.
func TestVectorsAreKept(t *testing.T) {
	t.Parallel()
	dir, model := t.TempDir(), &counting{Embedder: hash.New(8)}
	texts := []string{"a ferry", "杭州", "a ferry", ""}
	want := vectorsOf(t, hash.New(8), texts, embed.Passage)
	one, two := keep(t, model, dir), keep(t, model, dir)
	for range 2 {
		if diff := cmp.Diff(want, vectorsOf(t, one, texts, embed.Passage)); diff != "" {
			t.Errorf("vectors (-want +got):\n%s", diff)
		}
	}
	vectorsOf(t, two, []string{"another"}, embed.Passage)
	vectorsOf(t, one, []string{"a ferry"}, embed.Query)
	if model.texts != 6 { // "a ferry" stands twice in the first call
		t.Errorf("%d texts were embedded, want 6", model.texts)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files: %v, %v", found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], raw[:len(raw)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	again := keep(t, model, dir)
	vectorsOf(t, again, append(texts, "another"), embed.Passage)
	if diff := cmp.Diff(want[:1], vectorsOf(t, again, texts[:1], embed.Query)); diff != "" || model.texts != 7 {
		t.Errorf("%d texts were embedded, want 7: the last one was torn off\n%s", model.texts, diff)
	}
	other := &counting{Embedder: named{hash.New(8)}}
	if vectorsOf(t, keep(t, other, dir), texts[:1], embed.Passage); other.texts != 1 {
		t.Error("another model's vectors were taken")
	}
}

type named struct{ embed.Embedder }

func (n named) Model() embed.Model { return embed.Model{Name: "other", Dimensions: 8} }

// TestVectorsAreAnEmbedder holds the contract over what is kept.
func TestVectorsAreAnEmbedder(t *testing.T) {
	t.Parallel()
	embedtest.Run(t, keep(t, hash.New(256), t.TempDir()))
}
