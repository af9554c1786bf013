package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/anthropic"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

// form is the protocol as Anthropic's reference describes it.
func form() llmtest.Form {
	return llmtest.Form{Path: "/v1/messages", Header: "X-Api-Key",
		Read: func(body []byte) (llm.Request, error) {
			var in struct {
				System   string
				Messages []struct{ Role, Content string }
				Max      int `json:"max_tokens"`
				Tools    []struct {
					Name   string
					Schema json.RawMessage `json:"input_schema"`
				}
			}
			if err := json.Unmarshal(body, &in); err != nil {
				return llm.Request{}, err
			}
			req := llm.Request{System: in.System, MaxTokens: in.Max}
			for _, m := range in.Messages {
				req.Messages = append(req.Messages, llm.Message{Role: llm.Role(m.Role), Content: m.Content})
			}
			if len(in.Tools) > 0 {
				req.Schema = &llm.Schema{Name: in.Tools[0].Name, JSON: in.Tools[0].Schema}
			}
			return req, nil
		},
		Write: func(s llmtest.Step) any {
			reason := "end_turn"
			if s.Truncated {
				reason = "max_tokens"
			}
			return map[string]any{"model": "m-1", "content": []any{map[string]any{"type": "text", "text": s.Text}}, "stop_reason": reason,
				"usage": map[string]any{"input_tokens": s.Usage.In, "output_tokens": s.Usage.Out}}
		},
	}
}

func open(url, key string) llm.Model {
	return anthropic.New("m", &llm.Options{URL: url, Key: key})
}

// TestC4_Anthropic runs the suite of models over messages.
func TestC4_Anthropic(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llmtest.Driver{Form: form(), Open: open})
}

// TestC4_ToolInputIsTheAnswer: where a tool carries the schema, its input is
// the answer, not the talk beside it.
func TestC4_ToolInputIsTheAnswer(t *testing.T) {
	t.Parallel()
	s := llmtest.Serve(t, form(), llmtest.Step{Raw: `{"content":[{"type":"text","text":"Let me see."},{"type":"tool_use","name":"n","input":{"operations":[]}}],"stop_reason":"tool_use"}`})
	res, err := open(s.URL, "").Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}, Schema: &llm.Schema{Name: "n", JSON: json.RawMessage(`{}`)}})
	if err != nil || res.Text != `{"operations":[]}` {
		t.Errorf("%q, %v", res.Text, err)
	}
}
