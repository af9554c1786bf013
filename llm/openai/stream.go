package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
)

// isStream reports whether an answer is a stream of events: some models are
// served in no other way, and some servers stream unasked.
func isStream(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	for _, begin := range []string{"data:", "event:", "id:", ":"} {
		if bytes.HasPrefix(body, []byte(begin)) {
			return true
		}
	}
	return false
}

// readStream puts the answer together that came in events. One that ends
// before the model said why it stopped has broken off.
func readStream(body []byte) (llm.Response, error) {
	var all answer
	var said, refusal strings.Builder
	ended := ""
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		var a answer
		if err := json.Unmarshal(data, &a); err != nil {
			return llm.Response{}, llm.Unreadable()
		}
		if len(a.Error) > 0 && string(a.Error) != "null" {
			return llm.Response{}, llm.Refused(data)
		}
		if a.Model != "" {
			all.Model = a.Model
		}
		if a.Usage != nil { // with the last choice or behind it, of all
			all.Usage = a.Usage
		}
		if len(a.Choices) == 0 {
			continue
		}
		said.WriteString(text(a.Choices[0].Delta.Content))
		refusal.WriteString(a.Choices[0].Delta.Refusal)
		if a.Choices[0].FinishReason != "" {
			ended = a.Choices[0].FinishReason
		}
	}
	if ended == "" {
		return llm.Response{}, yiku.Errorf(yiku.ErrUnavailable, "the model's answer broke off")
	}
	all.Choices = []choice{{FinishReason: ended}}
	return respond(all, said.String(), refusal.String())
}
