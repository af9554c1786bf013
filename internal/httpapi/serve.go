package httpapi

import (
	"context"
	"errors"
	"net/http"
	"path"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/wire"
)

type principalKey struct{}

func principalOf(ctx context.Context) yiku.Principal {
	p, _ := ctx.Value(principalKey{}).(yiku.Principal)
	return p
}

// isClosed reports whether nobody gets there without a credential. What is
// open tells nothing of what is stored: that the process lives and can serve,
// the document of the API, and the panel's page.
func isClosed(path string) bool {
	return path == "/v1" || strings.HasPrefix(path, "/v1/") || path == "/metrics"
}

// ServeHTTP gives the request its id and trace, keeps strangers out, and hands
// it to its route. Everything below /v1 is authenticated before anything but
// its headers is looked at, whether such a route exists or not, and goes through
// the limits before its body is; see stay.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &recorder{ResponseWriter: w}
	r = s.trace(out, r)
	defer s.recover(out, r)
	if s.Loopback() {
		if err := fromThisMachine(r); err != nil {
			s.fail(out, r, err)
			return
		}
	}
	if isClosed(r.URL.Path) {
		who, err := s.Authenticate(r)
		if err != nil {
			s.fail(out, r, err)
			return
		}
		here, ok := s.admit(out, r, who)
		if !ok {
			return
		}
		defer here.end()
		r = r.WithContext(context.WithValue(context.WithValue(r.Context(), principalKey{}, who), stayKey{}, here))
	}
	s.route(out, r)
}

// trace gives the request an id, the caller's own where it is a sane one, and
// continues the caller's trace.
func (s *server) trace(w http.ResponseWriter, r *http.Request) *http.Request {
	t := wire.ParseTraceparent(r.Header.Get("traceparent"))
	t.RequestID = r.Header.Get("X-Request-ID")
	if !wire.ValidRequestID(t.RequestID) {
		t.RequestID = s.NewID()
	}
	w.Header().Set("X-Request-ID", t.RequestID)
	return r.WithContext(observe.WithRequest(wire.WithTrace(r.Context(), t), t.RequestID, t.TraceID))
}

// route serves the request, and answers in problem documents where the mux
// would answer in plain text or by redirecting to another spelling of the path.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	escaped := r.URL.EscapedPath()
	if clean := path.Clean("/" + escaped); clean != escaped {
		s.fail(w, r, yiku.Errorf(yiku.ErrNotFound, "there is no such path"))
		return
	}
	h, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	probe := &probe{header: http.Header{}}
	h.ServeHTTP(probe, r)
	if allow := probe.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		s.failWith(w, r, yiku.Errorf(yiku.ErrInvalid, "the path does not take this method"), http.StatusMethodNotAllowed)
		return
	}
	s.fail(w, r, yiku.Errorf(yiku.ErrNotFound, "there is no such path"))
}

// probe takes what the mux says about a path without a route.
type probe struct{ header http.Header }

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(int)             {}

// recover turns a panic into a problem, and into a log entry with the stack.
// The panic's value is not logged but for runtime errors: it could hold
// content. The connection stays usable.
func (s *server) recover(w *recorder, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v)
	}
	cause := "panic"
	if err, ok := v.(runtime.Error); ok {
		cause = err.Error()
	}
	s.Log.ErrorContext(r.Context(), "request panicked", "cause", cause, "stack", string(debug.Stack()),
		"request_id", wire.TraceFrom(r.Context()).RequestID)
	if w.wrote {
		panic(http.ErrAbortHandler)
	}
	s.fail(w, r, errPanic{})
}

// errPanic is an error without a sentinel: code internal.
type errPanic struct{}

func (errPanic) Error() string { return "panic" }

// recorder remembers whether an answer has begun.
type recorder struct {
	http.ResponseWriter
	wrote bool
}

// WriteHeader notes that the answer has begun.
func (w *recorder) WriteHeader(status int) {
	w.wrote = true
	w.ResponseWriter.WriteHeader(status)
}

// Write notes that the answer has begun.
func (w *recorder) Write(b []byte) (int, error) {
	w.wrote = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
