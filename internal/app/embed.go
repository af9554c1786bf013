package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/remote"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/internal/kernel"
	"github.com/yiku-ai/yiku/internal/weights"
	"github.com/yiku-ai/yiku/llm"
)

// openEmbedder opens the embedder that is configured; nil where none is, or
// where auto finds no model.
func (c *Core) openEmbedder(ctx context.Context, e config.Embed, log *slog.Logger) (embed.Embedder, error) {
	opts := drivers.EmbedOptions{Workers: e.Workers, Model: e.Model, URL: e.URL, Key: e.Key, Base64: e.Encoding == "base64", Options: remote.Options{
		Dimensions: e.Dimensions, Batch: e.Batch, MaxTokens: e.MaxTokens, Query: e.Query, Passage: e.Passage, Patience: &llm.Patience{Timeout: e.Timeout},
	}}
	driver := e.Driver
	switch driver {
	case "none":
		return nil, nil
	case "auto", "local":
		dir, err := e.Directory()
		if err != nil {
			return nil, err
		}
		opts.Path = weights.Path(dir, e.Model)
		if _, err := os.Stat(opts.Path); errors.Is(err, fs.ErrNotExist) && driver == "auto" {
			log.Info("no model to embed with: words alone find; yiku model pull fetches one", "model", e.Model)
			return nil, nil
		}
		driver = "local"
	}
	embedder, err := drivers.OpenEmbedder(ctx, driver, opts)
	if err != nil {
		return nil, err
	}
	c.closers = append(c.closers, closer{"embedder", embedder.Close})
	m := embedder.Model()
	log.Info("texts are embedded", "model", m.Name, "dimensions", m.Dimensions, "kernels", kernel.Path())
	return embedder, nil
}
