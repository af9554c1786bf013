package drivers

import (
	"context"
	"maps"
	"slices"

	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/local"
	"github.com/yiku-ai/yiku/embed/ollama"
	"github.com/yiku-ai/yiku/embed/openai"
	"github.com/yiku-ai/yiku/embed/remote"
)

// EmbedOptions are what an embedder is opened with; each driver takes what
// concerns it.
type EmbedOptions struct {
	Path    string // of a model's file
	Workers int

	Model  string // at an endpoint
	URL    string // "" is the driver's own
	Key    string
	Base64 bool
	remote.Options
}

// Embedder is an embedder that is closed when nobody needs it any more.
type Embedder interface {
	embed.Embedder
	Close() error
}

func embedders() map[string]func(context.Context, EmbedOptions) (Embedder, error) {
	return map[string]func(context.Context, EmbedOptions) (Embedder, error){
		"local": func(_ context.Context, o EmbedOptions) (Embedder, error) {
			return local.Open(o.Path, &local.Options{Workers: o.Workers, MaxTokens: o.MaxTokens})
		},
		"openai": func(ctx context.Context, o EmbedOptions) (Embedder, error) {
			return openai.Open(ctx, o.Model, &openai.Options{Options: o.Options, URL: o.URL, Key: o.Key, Base64: o.Base64})
		},
		"ollama": func(ctx context.Context, o EmbedOptions) (Embedder, error) {
			return ollama.Open(ctx, o.Model, &ollama.Options{Options: o.Options, URL: o.URL})
		},
	}
}

// OpenEmbedder opens the embedder of that driver; an unknown driver is
// ErrUnsupported.
func OpenEmbedder(ctx context.Context, driver string, opts EmbedOptions) (Embedder, error) {
	open, ok := embedders()[driver]
	if !ok {
		return nil, unknown("embed driver", driver, slices.Sorted(maps.Keys(embedders())))
	}
	return open(ctx, opts)
}
