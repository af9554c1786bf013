package embedtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku/embed"
)

// Form is the protocol of an endpoint: how a request is read and how vectors
// are written.
type Form struct {
	Path  string
	Read  func(body []byte) (Asked, error)
	Write func(vectors [][]float32, asked Asked) any
}

// Asked is what came with a request.
type Asked struct {
	Model      string
	Texts      []string
	Encoding   string
	Dimensions int
	Key        string // of the header Authorization
}

// Server is an endpoint that speaks a protocol and embeds with another
// embedder. It refuses what is beyond its limits as endpoints do.
type Server struct {
	URL   string
	Batch int           // texts of a request at most; 0: any number
	Long  int           // characters of a text at most; 0: any number
	Fault func(int) Raw // what is answered instead, by the number of the request from 0; nil: nothing

	with  embed.Embedder
	form  Form
	mu    sync.Mutex
	asked []Asked // guarded by mu
}

// Raw is an answer in place of vectors; the zero value is none.
type Raw struct {
	Status     int
	RetryAfter string
	Body       string
}

// Serve starts an endpoint for the test.
func Serve(t testing.TB, form Form, with embed.Embedder) *Server {
	t.Helper()
	s := &Server{form: form, with: with}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Asked returns the requests so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != s.form.Path || r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "no such thing", http.StatusNotFound)
		return
	}
	asked, err := s.form.Read(body)
	if err != nil {
		http.Error(w, "cannot read", http.StatusBadRequest)
		return
	}
	asked.Key = r.Header.Get("Authorization")
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, asked)
	s.mu.Unlock()
	if s.Fault != nil {
		if raw := s.Fault(n); raw != (Raw{}) {
			w.Header().Set("Retry-After", raw.RetryAfter)
			w.WriteHeader(max(raw.Status, http.StatusOK))
			io.WriteString(w, raw.Body) //nolint:errcheck // the client may be gone
			return
		}
	}
	if s.refuses(asked.Texts) {
		http.Error(w, "too much", http.StatusRequestEntityTooLarge)
		return
	}
	vectors, err := s.with.Embed(r.Context(), asked.Texts, embed.Passage)
	if err != nil {
		http.Error(w, "cannot embed", http.StatusInternalServerError)
		return
	}
	json.NewEncoder(w).Encode(s.form.Write(vectors, asked)) //nolint:errcheck // the client may be gone
}

func (s *Server) refuses(texts []string) bool {
	return len(texts) == 0 || s.Batch > 0 && len(texts) > s.Batch || slices.ContainsFunc(texts, func(text string) bool {
		return text == "" || s.Long > 0 && len([]rune(text)) > s.Long || strings.ContainsRune(text, '\uFFFD')
	})
}
