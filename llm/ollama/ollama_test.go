package ollama_test

import (
	"encoding/json"
	"testing"

	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
	"github.com/yiku-ai/yiku/llm/ollama"
)

// form is the protocol as Ollama's reference describes it.
func form() llmtest.Form {
	return llmtest.Form{Path: "/api/chat",
		Read: func(body []byte) (llm.Request, error) {
			var in struct {
				Messages []struct{ Role, Content string }
				Format   json.RawMessage
				Options  struct {
					Max int `json:"num_predict"`
				}
			}
			if err := json.Unmarshal(body, &in); err != nil {
				return llm.Request{}, err
			}
			req := llm.Request{MaxTokens: in.Options.Max}
			for _, m := range in.Messages {
				if m.Role == "system" {
					req.System = m.Content
					continue
				}
				req.Messages = append(req.Messages, llm.Message{Role: llm.Role(m.Role), Content: m.Content})
			}
			if in.Format != nil {
				req.Schema = &llm.Schema{JSON: in.Format}
			}
			return req, nil
		},
		Write: func(s llmtest.Step) any {
			reason := "stop"
			if s.Truncated {
				reason = "length"
			}
			return map[string]any{"model": "m-1", "message": map[string]any{"role": "assistant", "content": s.Text}, "done": true, "done_reason": reason,
				"prompt_eval_count": s.Usage.In, "eval_count": s.Usage.Out}
		},
	}
}

// TestC4_Ollama runs the suite of models over Ollama's chat.
func TestC4_Ollama(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llmtest.Driver{Form: form(), Open: func(url, _ string) llm.Model {
		return ollama.New("m", &llm.Options{URL: url})
	}})
}
