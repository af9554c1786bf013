// Package ollama asks models of a local Ollama over its own chat endpoint.
package ollama

import (
	"encoding/json"
	"net/http"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
)

// DefaultURL is where Ollama listens.
const DefaultURL = "http://127.0.0.1:11434"

const (
	leastWindow  = 8192 // tokens that a model is loaded with at least
	answerTokens = 4096 // are kept for an answer whose length is left open
	tokenBytes   = 3    // of a text: no fewer in the languages that are spoken here
)

// New returns the model of that name; the base of its URL ends before /api/chat.
func New(name string, options *llm.Options) *llm.Driver {
	return llm.NewDriver(llm.Dialect{Driver: "ollama", URL: DefaultURL, Path: "/api/chat", Header: header, Write: write, Read: read}, name, options)
}

// header carries a key for a gateway before Ollama; it has none itself.
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

type parameters struct {
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"num_predict,omitempty"`
	Window      int      `json:"num_ctx"`
}

type request struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  parameters      `json:"options"`
}

func write(model string, req llm.Request, m llm.Manner) any {
	body := request{Model: model, Options: parameters{Window: window(req)}}
	if req.System != "" {
		body.Messages = append(body.Messages, message{"system", req.System})
	}
	for _, msg := range req.Messages {
		body.Messages = append(body.Messages, message{string(msg.Role), msg.Content})
	}
	if m.Limit != llm.NoLimit {
		body.Options.MaxTokens = req.MaxTokens
	}
	if !m.Warm {
		body.Options.Temperature = new(float64)
	}
	switch {
	case req.Schema == nil || m.Structured == llm.AsText:
	case m.Structured == llm.AsObject:
		body.Format = json.RawMessage(`"json"`)
	default:
		body.Format = req.Schema.JSON
	}
	return body
}

// window is the tokens of context that a request needs: Ollama cuts the
// beginning of a longer prompt off and says nothing. It is a power of two,
// because another size loads the model anew.
func window(req llm.Request) int {
	need := len(req.System)
	for _, m := range req.Messages {
		need += len(m.Content)
	}
	need /= tokenBytes
	if req.MaxTokens > 0 {
		need += req.MaxTokens
	} else {
		need += answerTokens
	}
	n := leastWindow
	for n < need {
		n *= 2
	}
	return n
}

type answer struct {
	Model      string    `json:"model"`
	Message    message   `json:"message"`
	DoneReason string    `json:"done_reason"`
	In         llm.Tally `json:"prompt_eval_count"`
	Out        llm.Tally `json:"eval_count"`
	Error      string    `json:"error"`
}

func read(body []byte) (llm.Response, error) {
	var a answer
	switch err := json.Unmarshal(body, &a); {
	case err != nil:
		return llm.Response{}, llm.Unreadable()
	case a.Error != "":
		return llm.Response{}, llm.Refused(body)
	case a.DoneReason == "load" || a.DoneReason == "unload":
		return llm.Response{}, yiku.Errorf(yiku.ErrUnavailable, "the model was loaded and gave no answer")
	}
	return llm.Response{Text: a.Message.Content, Model: a.Model, Truncated: a.DoneReason == "length", Usage: llm.Usage{In: int(a.In), Out: int(a.Out)}}, nil
}
