package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestF6_ChatWithAModel: the model gets the composed prompt and the
// conversation, its answer stands beside what was recalled and is kept; where it
// fails the conversation goes on.
func TestF6_ChatWithAModel(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role, Content string } `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header.Get("Authorization") != "Bearer k" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		prompt, _ := json.Marshal(in.Messages)
		if !strings.Contains(in.Messages[0].Content, "You are short.") { // an extraction
			_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"{\"operations\":[]}"}}]}`))
			return
		}
		mu.Lock()
		asked = append(asked, string(prompt))
		mu.Unlock()
		if strings.Contains(in.Messages[len(in.Messages)-1].Content, "broken") {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"In 杭州."}}]}`))
	}))
	defer server.Close()
	var out, stderr strings.Builder
	env := Env{Args: []string{"chat", "--user", "lin", "--data", t.TempDir() + "/d", "--lang", "en", "--session", "s", "--system", "You are short.",
		"--set", "model.driver=openai", "--set", "model.name=m", "--set", "model.url=" + server.URL, "--set", "model.key=k"},
		Stdin:  strings.NewReader("remember that I live in Hangzhou\nwhere do I live?\nthis is broken\nand now?\n/session\n"),
		Stdout: &out, Stderr: &stderr, Now: time.Now, Version: "test"}
	if code := Run(t.Context(), env); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 4 {
		t.Fatalf("asked %d times: %s", len(asked), out.String())
	}
	if !strings.Contains(asked[1], "I live in Hangzhou") || !strings.Contains(asked[1], `"Role":"assistant","Content":"In 杭州."`) || !strings.Contains(asked[1], `"Role":"user","Content":"where do I live?"`) {
		t.Errorf("prompt: %s", asked[1])
	}
	got := out.String()
	for _, want := range []string{"In 杭州.\n  [1] I live in Hangzhou", "! ", "the model gave no answer", "s  7 messages"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "this would stand in the prompt") {
		t.Error("the prompt was shown beside an answer")
	}
}
