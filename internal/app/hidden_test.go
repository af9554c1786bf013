package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// TestI4_HiddenIsKeptAndNotShown: invisible and bidirectional characters come
// back from what is stored as they were sent; in what is rendered for a model
// there are none, and they hide no word from a search (I3). Chinese and
// English alike.
func TestI4_HiddenIsKeptAndNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, c := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	do := func(method, path, body string) string {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		if body == "" {
			r = httptest.NewRequest(method, path, nil)
		} else {
			r.Header.Set("Content-Type", "application/json")
		}
		rec := w.send(r, c.bearer)
		if rec.Code >= http.StatusMultipleChoices {
			t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
		return rec.Body.String()
	}
	// What is saved and said, and a word of both as a person reads it.
	texts := []struct{ text, message, word string }{
		{"she drinks jas\u200bmine\u202e tea\u2066 every mor\u00adning", "is there jasm\u2060ine rice for dinner\u200b?", "jasmine"},
		{"她每天早上喝茉\u200b莉\ufeff花\u202e茶\U000e0041", "晚饭后想买茉\u2060莉花\u200b茶吗？", "茉莉花茶"},
	}
	for _, each := range texts {
		text, word := each.text, each.word
		quoted, message := quotedText(t, text), quotedText(t, each.message)
		saved := do("POST", "/v1/memories", `{"user_id":"ann","type":"constraint","content":`+quoted+`}`)
		var res yiku.SaveMemoryResponse
		if err := json.Unmarshal([]byte(saved), &res); err != nil || res.Memory.Content != text {
			t.Errorf("saved as %q, %v", res.Memory.Content, err)
		}
		var got yiku.Memory
		if err := json.Unmarshal([]byte(do("GET", "/v1/memories/"+res.ID+"?user_id=ann", "")), &got); err != nil || got.Content != text {
			t.Errorf("read as %q, %v", got.Content, err)
		}
		do("POST", "/v1/sessions/s/messages", `{"user_id":"ann","messages":[{"role":"user","content":`+message+`}]}`)
		search := do("POST", "/v1/memories/search", `{"user_id":"ann","query":"`+word+`","include_messages":true}`)
		if !strings.Contains(search, quoted) || !strings.Contains(search, message) {
			t.Errorf("%s does not find the memory and the message: %s", word, search)
		}
		do("PATCH", "/v1/sessions/s/working?user_id=ann", `{"data_slots":{"`+word+`":`+quoted+`}}`)
		var context yiku.GetContextResponse
		if err := json.Unmarshal([]byte(do("POST", "/v1/context", `{"user_id":"ann","session_id":"s","query":"`+word+`"}`)), &context); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(context.System, word) {
			t.Errorf("%q is not in the context:\n%s", word, context.System)
		}
		if i := strings.IndexFunc(context.System, lang.Invisible); i >= 0 {
			t.Errorf("a hidden character at byte %d of the context: %q", i, context.System)
		}
	}
	if n := strings.Count(do("GET", "/v1/sessions/s/messages?user_id=ann", ""), "\u200b"); n != len(texts) {
		t.Errorf("%d of %d messages keep what was sent", n, len(texts))
	}
}

func quotedText(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) // which escapes none of these characters
}
