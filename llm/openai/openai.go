// Package openai asks models over OpenAI's chat completions, as OpenAI,
// DeepSeek, Qwen, Kimi, GLM, vLLM, llama.cpp and many others serve them.
package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is OpenAI's own endpoint.
const DefaultURL = "https://api.openai.com/v1"

// New returns the model of that name; the base of its URL ends before
// /chat/completions.
func New(name string, options *llm.Options) *llm.Driver {
	return llm.NewDriver(llm.Dialect{Driver: "openai", URL: DefaultURL, Path: "/chat/completions", Header: header, Write: write, Read: read}, name, options)
}

func header(key string) http.Header {
	if key == "" {
		return http.Header{}
	}
	return http.Header{"Authorization": {"Bearer " + key}}
}

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
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Temperature         *float64       `json:"temperature,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Format              *format        `json:"response_format,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	Usage bool `json:"include_usage"`
}

func write(model string, req llm.Request, m llm.Manner) any {
	body := request{Model: model, Format: formatOf(req.Schema, m.Structured)}
	if body.Format != nil && body.Format.Type == "json_object" && !saysJSON(req) { // endpoints want the word
		req.System = strings.TrimSpace(req.System + "\nAnswer in JSON.")
	}
	if req.System != "" {
		body.Messages = append(body.Messages, message{"system", req.System})
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, message{string(msg.Role), msg.Content})
	}
	if !m.Warm {
		body.Temperature = new(float64)
	}
	switch m.Limit {
	case llm.MaxTokens:
		body.MaxTokens = req.MaxTokens
	case llm.MaxCompletionTokens:
		body.MaxCompletionTokens = req.MaxTokens
	}
	if m.Stream {
		body.Stream, body.StreamOptions = true, &streamOptions{Usage: true}
	}
	return body
}

func formatOf(s *llm.Schema, structured llm.Structure) *format {
	switch {
	case s == nil || structured == llm.AsText:
		return nil
	case structured == llm.AsObject:
		return &format{Type: "json_object"}
	}
	return &format{Type: "json_schema", Schema: &schema{s.Name, s.JSON}}
}

// saysJSON reports whether a prompt holds the word: OpenAI, DeepSeek and Qwen
// refuse to answer in JSON where it does not.
func saysJSON(req llm.Request) bool {
	for _, m := range append([]llm.Message{{Content: req.System}}, req.Messages...) {
		if strings.Contains(strings.ToLower(m.Content), "json") {
			return true
		}
	}
	return false
}

type answer struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Message      said   `json:"message"`
	Delta        said   `json:"delta"` // of a stream, in place of the message
	FinishReason string `json:"finish_reason"`
}

type said struct {
	Content json.RawMessage `json:"content"`
	Refusal string          `json:"refusal"`
}

// usage counts the prompt with what of it was cached. Some endpoints count what
// was thought in the total only.
type usage struct {
	In    llm.Tally `json:"prompt_tokens"`
	Out   llm.Tally `json:"completion_tokens"`
	Total llm.Tally `json:"total_tokens"`
}

func read(body []byte) (llm.Response, error) {
	if isStream(body) {
		return readStream(body)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return llm.Response{}, llm.Unreadable()
	}
	if len(a.Choices) == 0 {
		if len(a.Error) > 0 && string(a.Error) != "null" {
			return llm.Response{}, llm.Refused(body)
		}
		return llm.Response{}, yiku.Errorf(yiku.ErrUnavailable, "the model gave no choice")
	}
	return respond(a, text(a.Choices[0].Message.Content), a.Choices[0].Message.Refusal)
}

// respond makes the response of an answer whose text was put together.
func respond(a answer, text, refusal string) (llm.Response, error) {
	res := llm.Response{Text: text, Model: a.Model}
	if a.Usage != nil {
		res.Usage = llm.Usage{In: int(a.Usage.In), Out: int(max(a.Usage.Out, a.Usage.Total-a.Usage.In))}
	}
	switch a.Choices[0].FinishReason {
	case "length":
		res.Truncated = true
	case "content_filter", "sensitive":
		return llm.Response{}, llm.Withheld()
	case "insufficient_system_resource", "network_error", "error":
		return llm.Response{}, yiku.Errorf(yiku.ErrUnavailable, "the model's answer broke off")
	}
	if refusal != "" && text == "" {
		return llm.Response{}, llm.Withheld()
	}
	return res, nil
}

// text is a content as text: a string, or parts, of which some are thoughts.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		if p.Type == "text" {
			s += p.Text
		}
	}
	return s
}
