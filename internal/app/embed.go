package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/remote"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/internal/kernel"
	"github.com/yiku-ai/yiku/internal/weights"
	"github.com/yiku-ai/yiku/llm"
)

// openEmbedders opens the embedder and the one before, and says where the
// vectors that there are, are another model's.
func (c *Core) openEmbedders(ctx context.Context, cfg config.Config, log *slog.Logger) (present, former embed.Embedder, err error) {
	if present, err = c.openEmbedder(ctx, cfg.Embed, log); err != nil || present == nil {
		return nil, nil, err
	}
	if former, err = c.openEmbedder(ctx, cfg.Former, log); err != nil {
		return nil, nil, fmt.Errorf("the former one: %w", err)
	}
	before, now := c.store.Meta().Model, engine.ModelID(present.Model())
	if before == now {
		return present, former, nil
	}
	if before != "" {
		log.Warn("the model of vectors has changed: everything is embedded anew, in the background", "before", before, "now", now, "former", former != nil)
	}
	return present, former, c.store.KeepModel(ctx, now)
}

// dimensionsOf are those of a model that a store remembers; 0 where it is
// another one.
func dimensionsOf(remembered, name string) (n int) {
	if digits, ok := strings.CutPrefix(remembered, name+"/"); ok {
		n, _ = strconv.Atoi(digits) // 0 where it is no number
	}
	return n
}

// openEmbedder opens the embedder that is configured; nil where none is, or
// where auto finds no model.
func (c *Core) openEmbedder(ctx context.Context, e config.Embed, log *slog.Logger) (embed.Embedder, error) {
	opts := drivers.EmbedOptions{Workers: e.Workers, Model: e.Model, URL: e.URL, Key: e.Key, Base64: e.Encoding == "base64", Options: remote.Options{
		Dimensions: e.Dimensions, Batch: e.Batch, MaxTokens: e.MaxTokens, Query: e.Query, Passage: e.Passage, Patience: &llm.Patience{Timeout: e.Timeout}, QueryTimeout: e.Waited,
		Known: func(name string) int { return dimensionsOf(c.store.Meta().Model, name) },
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
