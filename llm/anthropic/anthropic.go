// Package anthropic asks models over Anthropic's messages, as Anthropic and
// gateways to other models serve them.
package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is Anthropic's own endpoint.
const DefaultURL = "https://api.anthropic.com"

// defaultMaxTokens stands where a request has none: the endpoint needs one.
const defaultMaxTokens = 4096

// New returns the model of that name; the base of its URL ends before
// /v1/messages.
func New(name string, options *llm.Options) *llm.Driver {
	return llm.NewDriver(llm.Dialect{Driver: "anthropic", URL: DefaultURL, Path: "/v1/messages", Header: header, Write: write, Read: read}, name, options)
}

func header(key string) http.Header {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	return h
}

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
	Name string `json:"name,omitempty"`
}

type request struct {
	Model       string    `json:"model"`
	System      string    `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature *float64  `json:"temperature,omitempty"`
	Tools       []tool    `json:"tools,omitempty"`
	Choice      *choice   `json:"tool_choice,omitempty"`
}

func write(model string, req llm.Request, m llm.Manner) any {
	body := request{Model: model, System: req.System, MaxTokens: req.MaxTokens}
	if body.MaxTokens == 0 || m.Limit == llm.NoLimit {
		body.MaxTokens = defaultMaxTokens
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, message{string(msg.Role), msg.Content})
	}
	if !m.Warm {
		body.Temperature = new(float64)
	}
	if req.Schema != nil && m.Structured != llm.AsText {
		body.Tools = []tool{{req.Schema.Name, req.Schema.JSON}}
		body.Choice = &choice{Type: "tool", Name: req.Schema.Name}
		if m.Structured == llm.AsObject { // models that think may not be made to call
			body.Choice = &choice{Type: "auto"}
		}
	}
	return body
}

type answer struct {
	Type    string `json:"type"`
	Model   string `json:"model"`
	Content []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Input json.RawMessage `json:"input"`
	} `json:"content"`
	StopReason string `json:"stop_reason"`
	Usage      struct {
		In      llm.Tally `json:"input_tokens"` // without what was cached or read from there
		Written llm.Tally `json:"cache_creation_input_tokens"`
		Cached  llm.Tally `json:"cache_read_input_tokens"`
		Out     llm.Tally `json:"output_tokens"`
	} `json:"usage"`
}

// read reads an answer. Where a tool carries the schema, the answer's text is
// its input; texts beside it are left out, and so are thoughts.
func read(body []byte) (llm.Response, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return llm.Response{}, llm.Unreadable()
	}
	if a.Type == "error" {
		return llm.Response{}, llm.Refused(body)
	}
	var texts, inputs []string
	for _, part := range a.Content {
		switch part.Type {
		case "tool_use":
			inputs = append(inputs, string(part.Input))
		case "text":
			texts = append(texts, part.Text)
		}
	}
	if len(inputs) > 0 {
		texts = inputs
	}
	res := llm.Response{Text: strings.Join(texts, "\n"), Model: a.Model, Usage: llm.Usage{In: int(a.Usage.In + a.Usage.Written + a.Usage.Cached), Out: int(a.Usage.Out)}}
	switch a.StopReason {
	case "refusal":
		return llm.Response{}, llm.Withheld()
	case "max_tokens", "model_context_window_exceeded":
		res.Truncated = true
	}
	return res, nil
}
