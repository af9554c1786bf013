// Package ollama embeds with models of a local Ollama over its own endpoint.
package ollama

import (
	"context"
	"net/http"

	"github.com/yiku-ai/yiku/embed/remote"
	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is where Ollama listens.
const DefaultURL = "http://127.0.0.1:11434"

// Options are what need not be given.
type Options struct {
	remote.Options
	URL    string // "" is DefaultURL
	Client *http.Client
}

// Open is the embedder of that model. Where Dimensions are given Ollama is asked
// for vectors of so many values, which only some models can shorten to.
func Open(ctx context.Context, model string, options *Options) (*remote.Embedder, error) {
	e := endpoint{model: model}
	if options != nil {
		e.Options = *options
	}
	return remote.Open(ctx, "ollama/"+model, e.ask, e.Options.Options)
}

type endpoint struct {
	Options
	model string
}

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"` // what is still too long for the model's window
	Dimensions int      `json:"dimensions,omitempty"`
}

type answer struct {
	Embeddings [][]float32 `json:"embeddings"`
}

// ask runs one exchange.
func (e endpoint) ask(ctx context.Context, texts []string) ([][]float32, error) {
	var a answer
	err := llm.Endpoint{URL: e.URL, Client: e.Client}.Exchange(ctx, DefaultURL, "/api/embed", request{e.model, texts, true, e.Dimensions}, &a)
	return a.Embeddings, err
}
