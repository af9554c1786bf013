package main

import (
	"context"
	"errors"
	"sync"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/local"
	"github.com/yiku-ai/yiku/eval"
)

// dimensions are those of Yiku's default model.
const dimensions = 384

// model is Yiku's default model, opened when a text is embedded that no vector
// is kept of: most processes that are measured need none.
type model struct {
	file string

	mu    sync.Mutex
	local *local.Embedder // nil until then; guarded by mu
}

var _ embed.Embedder = (*model)(nil)

// Model implements embed.Embedder.
func (m *model) Model() embed.Model {
	return embed.Model{Name: "local/multilingual-e5-small", Dimensions: dimensions}
}

// Embed implements embed.Embedder.
func (m *model) Embed(ctx context.Context, texts []string, use embed.Use) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.local == nil {
		opened, err := local.Open(m.file, &local.Options{Workers: 1})
		if err != nil {
			return nil, err
		}
		m.local = opened
	}
	return m.local.Embed(ctx, texts, use)
}

func (m *model) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.local == nil {
		return nil
	}
	return m.local.Close()
}

// openVectors gives Yiku's own vectors, kept in a folder as `yiku eval` keeps
// them, so that all peers share one pass of the model.
func openVectors(dir, file string) (v embed.Embedder, end func() error, err error) {
	m := &model{file: file}
	kept, err := eval.KeepVectors(m, dir)
	if err != nil {
		return nil, nil, err
	}
	return kept, func() error { return errors.Join(kept.Close(), m.close()) }, nil
}
