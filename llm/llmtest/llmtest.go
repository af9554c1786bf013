// Package llmtest is a language model for tests: a script of answers, good and
// bad, given in process or over the wire in the form of each protocol that a
// driver speaks, and the suite that every driver passes.
package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
)

// Step is one answer of a script.
type Step struct {
	Text      string
	Truncated bool
	Usage     llm.Usage
	Err       error // given instead, by Script

	// What only Serve does.
	Status     int    // instead of 200
	RetryAfter string // the header
	Raw        string // instead of a body in the protocol's form
	Break      bool   // the connection breaks off within the body
	Hang       bool   // nothing comes until the client goes
}

// Script is a model that gives the answers of its steps, one after the other
// and the last one for ever. It keeps what it was asked.
type Script struct {
	mu    sync.Mutex
	steps []Step
	asked []llm.Request
}

// NewScript returns a model that follows the steps.
func NewScript(steps ...Step) *Script { return &Script{steps: steps} }

// Name is "script".
func (s *Script) Name() string { return "script" }

// Complete gives the next answer.
func (s *Script) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	step := s.next(req)
	if step.Hang {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	if step.Err != nil {
		return llm.Response{}, step.Err
	}
	return llm.Response{Text: step.Text, Model: "script", Truncated: step.Truncated, Usage: step.Usage}, nil
}

// Asked returns the requests so far.
func (s *Script) Asked() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.asked...)
}

func (s *Script) next(req llm.Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.asked), len(s.steps)-1)
	s.asked = append(s.asked, req)
	if n < 0 {
		return Step{Text: `{"operations":[]}`}
	}
	return s.steps[n]
}

// Form is a protocol: how a driver's request is read and how it is answered.
type Form struct {
	Path   string
	Header string // that carries the key, and Prefix before it; "" none
	Prefix string
	Read   func(body []byte) (llm.Request, error)
	Write  func(Step) any
}

// Server is an endpoint that speaks a protocol and follows a script.
type Server struct {
	*Script
	URL  string
	keys []string
}

// Keys returns the keys that came with the requests.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.keys...)
}

// Serve starts a server for the test.
func Serve(t testing.TB, form Form, steps ...Step) *Server {
	t.Helper()
	s := &Server{Script: NewScript(steps...)}
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != form.Path || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, "no such thing", http.StatusNotFound)
			return
		}
		req, err := form.Read(body)
		if err != nil {
			http.Error(w, "cannot read", http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.keys = append(s.keys, r.Header.Get(form.Header))
		s.mu.Unlock()
		answer(w, r, form, s.next(req), gone)
	}))
	t.Cleanup(func() { close(gone); server.Close() })
	s.URL = server.URL
	return s
}

func answer(w http.ResponseWriter, r *http.Request, form Form, step Step, gone <-chan struct{}) {
	if step.Hang {
		select {
		case <-r.Context().Done():
		case <-gone:
		}
		return
	}
	body, err := json.Marshal(form.Write(step))
	if err != nil {
		http.Error(w, "cannot write", http.StatusInternalServerError)
		return
	}
	if step.Raw != "" {
		body = []byte(step.Raw)
	}
	if step.RetryAfter != "" {
		w.Header().Set("Retry-After", step.RetryAfter)
	}
	if step.Break {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
	}
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	w.Write(body) //nolint:errcheck // the client may be gone
}

// Driver is what the suite needs of a driver.
type Driver struct {
	Form Form
	Open func(url, key string) llm.Model
}

// Run is the suite.
func Run(t *testing.T, driver Driver) {
	t.Run("exchange", func(t *testing.T) { exchange(t, driver) })
	t.Run("errors", func(t *testing.T) { failures(t, driver) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, driver) })
}

func exchange(t *testing.T, driver Driver) {
	s := Serve(t, driver.Form, Step{Text: `{"operations":[]} 好`, Usage: llm.Usage{In: 12, Out: 3}}, Step{Text: "cut", Truncated: true})
	m := driver.Open(s.URL, "key-1")
	want := llm.Request{System: "You judge. 判断。", Messages: []llm.Message{{Role: llm.User, Content: "a"}, {Role: llm.Assistant, Content: "b"}, {Role: llm.User, Content: "你好 \"c\""}},
		Schema: &llm.Schema{Name: "ops", JSON: json.RawMessage(`{"type":"object"}`)}, MaxTokens: 77}
	res, err := m.Complete(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if res.Text != `{"operations":[]} 好` || res.Truncated || res.Usage != (llm.Usage{In: 12, Out: 3}) {
		t.Errorf("answer %+v", res)
	}
	got := s.Asked()[0]
	if got.System != want.System || len(got.Messages) != 3 || got.Messages[1] != want.Messages[1] || got.Messages[2] != want.Messages[2] || got.MaxTokens != 77 {
		t.Errorf("asked %+v", got)
	}
	if got.Schema == nil || string(got.Schema.JSON) != `{"type":"object"}` {
		t.Errorf("schema %+v", got.Schema)
	}
	if driver.Form.Header != "" && s.Keys()[0] != driver.Form.Prefix+"key-1" {
		t.Error("the key did not come over")
	}
	res, err = m.Complete(t.Context(), llm.Request{Messages: want.Messages[:1]})
	if err != nil || !res.Truncated {
		t.Errorf("truncated answer: %+v, %v", res, err)
	}
}

func failures(t *testing.T, driver Driver) {
	for _, test := range []struct {
		name string
		step Step
		want error
	}{
		{"busy", Step{Status: 429, RetryAfter: "7"}, yiku.ErrLimited},
		{"broken", Step{Status: 500}, yiku.ErrUnavailable},
		{"overloaded", Step{Status: 529}, yiku.ErrUnavailable},
		{"key", Step{Status: 401}, yiku.ErrUnauthorized},
		{"refused", Step{Status: 400}, yiku.ErrInvalid},
		{"not JSON", Step{Raw: "<html>secret"}, yiku.ErrUnavailable},
		{"another form", Step{Raw: "[1]"}, yiku.ErrUnavailable},
		{"breaks off", Step{Text: "x", Break: true}, yiku.ErrUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Serve(t, driver.Form, test.step)
			_, err := driver.Open(s.URL, "key-2").Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "secret"}}})
			check(t, err, test.want)
			var e *yiku.Error
			if test.step.RetryAfter != "" && (!errors.As(err, &e) || e.RetryAfter.Seconds() != 7) {
				t.Errorf("retry after: %v", err)
			}
		})
	}
	_, err := driver.Open("http://127.0.0.1:1", "key-2").Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "secret"}}})
	check(t, err, yiku.ErrUnavailable)
}

func cancelled(t *testing.T, driver Driver) {
	s := Serve(t, driver.Form, Step{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := driver.Open(s.URL, "").Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}})
		done <- err
	}()
	cancel()
	check(t, <-done, context.Canceled)
}
