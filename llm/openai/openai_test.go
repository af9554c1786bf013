package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
	"github.com/yiku-ai/yiku/llm/openai"
)

// form is the protocol as OpenAI's reference describes it.
func form() llmtest.Form {
	return llmtest.Form{Path: "/v1/chat/completions", Header: "Authorization", Prefix: "Bearer ",
		Read: func(body []byte) (llm.Request, error) {
			var in struct {
				Model    string `json:"model"`
				Messages []struct{ Role, Content string }
				Max      int `json:"max_tokens"`
				Format   *struct {
					Type   string
					Schema struct {
						Name   string
						Schema json.RawMessage
					} `json:"json_schema"`
				} `json:"response_format"`
			}
			if err := json.Unmarshal(body, &in); err != nil {
				return llm.Request{}, err
			}
			req := llm.Request{MaxTokens: in.Max}
			for _, m := range in.Messages {
				if m.Role == "system" {
					req.System = m.Content
					continue
				}
				req.Messages = append(req.Messages, llm.Message{Role: llm.Role(m.Role), Content: m.Content})
			}
			if in.Format != nil && in.Format.Type == "json_schema" {
				req.Schema = &llm.Schema{Name: in.Format.Schema.Name, JSON: in.Format.Schema.Schema}
			}
			return req, nil
		},
		Write: func(s llmtest.Step) any {
			reason := "stop"
			if s.Truncated {
				reason = "length"
			}
			return map[string]any{"model": "m-1", "choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": s.Text}, "finish_reason": reason}},
				"usage": map[string]any{"prompt_tokens": s.Usage.In, "completion_tokens": s.Usage.Out, "total_tokens": s.Usage.Total()}}
		},
	}
}

// TestC4_OpenAI runs the suite of models over chat completions.
func TestC4_OpenAI(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llmtest.Driver{Form: form(), Open: func(url, key string) llm.Model {
		return openai.New("m", &llm.Options{URL: url + "/v1", Key: key})
	}})
}

// TestC4_StructuredIsAWish: endpoints that refuse schemas are asked without.
func TestC4_StructuredIsAWish(t *testing.T) {
	t.Parallel()
	for _, structured := range []string{"json_object", "none"} {
		s := llmtest.Serve(t, form(), llmtest.Step{Text: "{}"})
		m := openai.New("m", &llm.Options{URL: s.URL + "/v1", Structured: structured})
		if _, err := m.Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}, Schema: &llm.Schema{Name: "n", JSON: json.RawMessage(`{}`)}}); err != nil {
			t.Fatal(err)
		}
		if s.Asked()[0].Schema != nil {
			t.Errorf("%s: the schema was sent", structured)
		}
	}
}
