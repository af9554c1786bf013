// Package openai asks models over OpenAI's chat completions, as OpenAI,
// DeepSeek, Qwen, vLLM, llama.cpp and many others serve them.
package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is OpenAI's own endpoint.
const DefaultURL = "https://api.openai.com/v1"

// Options are what need not be given.
type Options struct {
	URL    string // the base, to which /chat/completions is added; "" is DefaultURL
	Key    string // bearer; "" sends none
	Client *http.Client
	// Structured says how the schema is asked for: "json_schema" where the
	// endpoint keeps schemas, "json_object" where it only keeps JSON, "none"
	// where it refuses both; "" is json_schema.
	Structured string
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

// Name returns openai/ and the model's name.
func (m *Model) Name() string { return "openai/" + m.name }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type format struct {
	Type   string  `json:"type"`
	Schema *schema `json:"json_schema,omitempty"`
}

type schema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

type request struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Temperature float64   `json:"temperature"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	Format      *format   `json:"response_format,omitempty"`
}

type answer struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		In  int `json:"prompt_tokens"`
		Out int `json:"completion_tokens"`
	} `json:"usage"`
}

// Complete runs one exchange.
func (m *Model) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	body := request{Model: m.name, MaxTokens: req.MaxTokens, Format: m.format(req.Schema)}
	if req.System != "" {
		body.Messages = append(body.Messages, message{"system", req.System})
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, message{string(msg.Role), msg.Content})
	}
	header := http.Header{}
	if m.options.Key != "" {
		header.Set("Authorization", "Bearer "+m.options.Key)
	}
	var a answer
	if err := llm.Exchange(ctx, m.options.Client, strings.TrimSuffix(m.options.URL, "/")+"/chat/completions", header, body, &a); err != nil {
		return llm.Response{}, err
	}
	if len(a.Choices) == 0 {
		return llm.Response{}, yiku.Errorf(yiku.ErrUnavailable, "the model gave no choice")
	}
	return llm.Response{Text: a.Choices[0].Message.Content, Model: a.Model, Truncated: a.Choices[0].FinishReason == "length", Usage: llm.Usage(a.Usage)}, nil
}

func (m *Model) format(s *llm.Schema) *format {
	switch {
	case s == nil || m.options.Structured == "none":
		return nil
	case m.options.Structured == "json_object":
		return &format{Type: "json_object"}
	}
	return &format{Type: "json_schema", Schema: &schema{s.Name, s.JSON}}
}
