// Package ollama asks models of a local Ollama over its own chat endpoint.
package ollama

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is where Ollama listens.
const DefaultURL = "http://127.0.0.1:11434"

// Options are what need not be given.
type Options struct {
	URL    string // "" is DefaultURL
	Client *http.Client
	Window int // tokens of context that Ollama is asked for; 0: its own default, which is small
}

// Model is one model of an Ollama.
type Model struct {
	name    string
	options Options
}

// New returns the model of that name.
func New(name string, options *Options) *Model {
	m := &Model{name: name}
	if options != nil {
		m.options = *options
	}
	if m.options.URL == "" {
		m.options.URL = DefaultURL
	}
	if m.options.Client == nil {
		m.options.Client = http.DefaultClient
	}
	return m
}

// Name returns ollama/ and the model's name.
func (m *Model) Name() string { return "ollama/" + m.name }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type parameters struct {
	Temperature float64 `json:"temperature"`
	MaxTokens   int     `json:"num_predict,omitempty"`
	Window      int     `json:"num_ctx,omitempty"`
}

type request struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  parameters      `json:"options"`
}

type answer struct {
	Model      string  `json:"model"`
	Message    message `json:"message"`
	DoneReason string  `json:"done_reason"`
	In         int     `json:"prompt_eval_count"`
	Out        int     `json:"eval_count"`
}

// Complete runs one exchange.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	body := request{Model: m.name, Options: parameters{MaxTokens: req.MaxTokens, Window: m.options.Window}}
	if req.System != "" {
		body.Messages = append(body.Messages, message{"system", req.System})
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, message{string(msg.Role), msg.Content})
	}
	if req.Schema != nil {
		body.Format = req.Schema.JSON
	}
	var a answer
	if err := llm.Exchange(ctx, m.options.Client, strings.TrimSuffix(m.options.URL, "/")+"/api/chat", http.Header{}, body, &a); err != nil {
		return llm.Response{}, err
	}
	return llm.Response{Text: a.Message.Content, Model: a.Model, Truncated: a.DoneReason == "length", Usage: llm.Usage{In: a.In, Out: a.Out}}, nil
}
