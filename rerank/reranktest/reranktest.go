// Package reranktest is a reranker for tests: a script of answers, good and
// bad, in process or over the wire in the form of each protocol that a driver
// speaks, and the suite that every driver passes.
package reranktest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/rerank"
)

// Asked is one request as it came.
type Asked struct {
	Query     string
	Documents []string
	Key       string // the Authorization header
}

// Step is one answer of a script. Without Raw, Err or Status the documents are
// scored by Score.
type Step struct {
	Status int    // instead of 200
	Raw    string // a body instead of the protocol's
	Break  bool   // the connection breaks off within the body
	Hang   bool   // nothing comes until the caller goes
	Err    error  // given instead, by Script
	Scores []float64
}

// Score is what the test reranker thinks of a document: how often the query
// stands in it, less a little for its length.
func Score(query, document string) float64 {
	return float64(strings.Count(document, query)) - float64(len(document))/1e6
}

// Script is a reranker that follows its steps, the last one for ever.
type Script struct {
	mu    sync.Mutex
	steps []Step
	asked []Asked
}

// NewScript returns a reranker that follows the steps.
func NewScript(steps ...Step) *Script { return &Script{steps: steps} }

// Name is "script".
func (s *Script) Name() string { return "script" }

// Asked returns the requests so far.
func (s *Script) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

func (s *Script) next(a Asked) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
	if len(s.steps) == 0 {
		return Step{}
	}
	return s.steps[min(len(s.asked), len(s.steps))-1]
}

// Rerank gives the next answer.
func (s *Script) Rerank(ctx context.Context, query string, documents []string) (rerank.Response, error) {
	step := s.next(Asked{Query: query, Documents: documents})
	if step.Hang {
		<-ctx.Done()
	}
	if err := errors.Join(ctx.Err(), step.Err); err != nil {
		return rerank.Response{}, err
	}
	return rerank.Response{Scores: scoresOf(step, query, documents), Tokens: rerank.Tokens{In: 10 * len(documents)}}, nil
}

func scoresOf(step Step, query string, documents []string) []float64 {
	if step.Scores != nil {
		return step.Scores
	}
	scores := make([]float64, len(documents))
	for i, d := range documents {
		scores[i] = Score(query, d)
	}
	return scores
}

// Form is a protocol: how a request is read and an answer written. Write gets
// the scores in the order of the documents and may give them in any.
type Form struct {
	Path  string
	Read  func(body []byte) (query string, documents []string, err error)
	Write func(scores []float64) string
}

// Serve starts an endpoint that speaks a protocol and follows the steps.
func Serve(t testing.TB, form Form, steps ...Step) (*Script, string) {
	t.Helper()
	s := NewScript(steps...)
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != form.Path {
			http.Error(w, "no such thing", http.StatusNotFound)
			return
		}
		query, documents, err := form.Read(body)
		if err != nil {
			http.Error(w, "cannot read", http.StatusUnprocessableEntity)
			return
		}
		step := s.next(Asked{query, documents, r.Header.Get("Authorization")})
		if step.Hang {
			select {
			case <-r.Context().Done():
			case <-gone:
			}
			return
		}
		out := step.Raw
		if out == "" {
			out = form.Write(scoresOf(step, query, documents))
		}
		if step.Break {
			w.Header().Set("Content-Length", strconv.Itoa(len(out)+1))
		}
		if step.Status != 0 {
			w.WriteHeader(step.Status)
		}
		io.WriteString(w, out) //nolint:errcheck // the client may be gone
	}))
	t.Cleanup(func() { close(gone); server.Close() })
	return s, server.URL
}

// Driver is what the suite needs of a driver.
type Driver struct {
	Form Form
	Open func(url, key string) rerank.Reranker
	// Bad are bodies in the protocol's form for three documents that no order
	// can be read from, by what is wrong with them.
	Bad map[string]string
}

// Run is the suite.
func Run(t *testing.T, driver Driver) {
	t.Run("exchange", func(t *testing.T) { exchange(t, driver) })
	t.Run("errors", func(t *testing.T) { failures(t, driver) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, driver) })
}

func documents() []string {
	return []string{"nothing", "the secret 杭州 and 杭州 again", "杭州 \"once\""}
}

func exchange(t *testing.T, driver Driver) {
	script, url := Serve(t, driver.Form, Step{})
	r := driver.Open(url, "key-1")
	res, err := r.Rerank(t.Context(), "杭州", documents())
	if err != nil {
		t.Fatal(err)
	}
	if s := res.Scores; len(s) != 3 || !(s[1] > s[2] && s[2] > s[0]) {
		t.Errorf("scores %v", s)
	}
	asked := script.Asked()
	if len(asked) != 1 || asked[0].Query != "杭州" || strings.Join(asked[0].Documents, "|") != strings.Join(documents(), "|") || asked[0].Key != "Bearer key-1" {
		t.Errorf("asked %+v", asked)
	}
	if res, err := r.Rerank(t.Context(), "q", nil); err != nil || len(res.Scores) != 0 || len(script.Asked()) != 1 {
		t.Errorf("nothing to rerank: %+v, %v", res, err)
	}
	if _, err := driver.Open(url, "").Rerank(t.Context(), "q", documents()); err != nil || script.Asked()[1].Key != "" {
		t.Errorf("without a key: %v", err)
	}
}

func failures(t *testing.T, driver Driver) {
	try := func(name string, step Step, want error) {
		t.Run(name, func(t *testing.T) {
			_, url := Serve(t, driver.Form, step)
			_, err := driver.Open(url, "key-2").Rerank(t.Context(), "secret", documents())
			if !errors.Is(err, want) {
				t.Fatalf("error %v, want %v", err, want)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "key-2") {
				t.Errorf("the error tells too much: %v", err)
			}
		})
	}
	try("busy", Step{Status: 429}, yiku.ErrLimited)
	try("broken", Step{Status: 503}, yiku.ErrUnavailable)
	try("key", Step{Status: 401}, yiku.ErrUnauthorized)
	try("refused", Step{Status: 422}, yiku.ErrInvalid)
	try("not JSON", Step{Raw: "<html>secret"}, yiku.ErrUnavailable)
	try("another form", Step{Raw: `"secret"`}, yiku.ErrUnavailable)
	try("breaks off", Step{Break: true}, yiku.ErrUnavailable)
	for name, body := range driver.Bad {
		try(name, Step{Raw: body}, yiku.ErrUnavailable)
	}
}

func cancelled(t *testing.T, driver Driver) {
	_, url := Serve(t, driver.Form, Step{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := driver.Open(url, "").Rerank(ctx, "x", documents())
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
