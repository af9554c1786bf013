// Package anthropic asks models over Anthropic's messages.
package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is Anthropic's own endpoint.
const DefaultURL = "https://api.anthropic.com"

// defaultMaxTokens stands where a request has none: the endpoint needs one.
const defaultMaxTokens = 4096

// Options are what need not be given.
type Options struct {
	URL    string // the base, to which /v1/messages is added; "" is DefaultURL
	Key    string
	Client *http.Client
}

// Model is one model behind an endpoint.
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

// Name returns anthropic/ and the model's name.
func (m *Model) Name() string { return "anthropic/" + m.name }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// tool carries a schema: the model is made to call it, and its input is the answer.
type tool struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"input_schema"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type request struct {
	Model       string    `json:"model"`
	System      string    `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature float64   `json:"temperature"`
	Tools       []tool    `json:"tools,omitempty"`
	Choice      *choice   `json:"tool_choice,omitempty"`
}

type answer struct {
	Model   string `json:"model"`
	Content []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Input json.RawMessage `json:"input"`
	} `json:"content"`
	StopReason string `json:"stop_reason"`
	Usage      struct {
		In  int `json:"input_tokens"`
		Out int `json:"output_tokens"`
	} `json:"usage"`
}

// Complete runs one exchange. Where a schema is given, the answer's text is
// the input of the tool that carries it; texts beside it are left out.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	body := request{Model: m.name, System: req.System, MaxTokens: req.MaxTokens}
	if body.MaxTokens == 0 {
		body.MaxTokens = defaultMaxTokens
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, message{string(msg.Role), msg.Content})
	}
	if req.Schema != nil {
		body.Tools = []tool{{req.Schema.Name, req.Schema.JSON}}
		body.Choice = &choice{"tool", req.Schema.Name}
	}
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if m.options.Key != "" {
		header.Set("X-Api-Key", m.options.Key)
	}
	var a answer
	if err := llm.Exchange(ctx, m.options.Client, strings.TrimSuffix(m.options.URL, "/")+"/v1/messages", header, body, &a); err != nil {
		return llm.Response{}, err
	}
	var texts, inputs []string
	for _, part := range a.Content {
		if part.Type == "tool_use" {
			inputs = append(inputs, string(part.Input))
		} else if part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	if len(inputs) > 0 {
		texts = inputs
	}
	return llm.Response{Text: strings.Join(texts, "\n"), Model: a.Model, Truncated: a.StopReason == "max_tokens", Usage: llm.Usage(a.Usage)}, nil
}
