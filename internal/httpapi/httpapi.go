// Package httpapi serves yiku.Service over HTTP. It holds no memory logic: an
// operation's path, parameters, status and types come from internal/wire, its
// validation from the engine, and what stands here is the strict reading of
// requests, the writing of answers and problems, and who may come in.
package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/limit"
	"github.com/yiku-ai/yiku/internal/wire"
)

// DefaultMaxBodyBytes is the largest body that is read where
// [Options.MaxBodyBytes] is 0.
const DefaultMaxBodyBytes = 16 << 20

// MaxNesting is how deep a body's arrays and objects may nest.
const MaxNesting = 64

// Options are what a handler is made of. Authenticate and Service are
// required.
type Options struct {
	// Authenticate tells who calls. It sees a request of which nothing but the
	// headers has been read, and fails with ErrUnauthorized.
	Authenticate func(*http.Request) (yiku.Principal, error)
	// Service gives the service as one caller may use it.
	Service func(yiku.Principal) yiku.Service

	Limits       *limit.Limiter              // what may be served now; anything where nil
	Loopback     func() bool                 // no keys yet: answer to programs and pages of this machine only; never where nil
	Ready        func(context.Context) error // for /readyz; always ready where nil
	Metrics      http.Handler                // for /metrics, which an admin of a tenant may see; absent where nil
	Index        http.Handler                // for /; absent where nil
	Log          *slog.Logger                // nowhere where nil
	NewID        func() string               // request ids; random where nil
	MaxBodyBytes int64                       // DefaultMaxBodyBytes where 0
	ReadTimeout  time.Duration               // the server's for a request; 0: none
	WriteTimeout time.Duration               // the server's for an answer; 0: none
	Version      string                      // of the program, for the OpenAPI document
}

// server is the handler that New makes.
type server struct {
	Options
	mux      *http.ServeMux
	encoding json.Options
}

// New returns the handler of the whole API.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if o.Loopback == nil {
		o.Loopback = func() bool { return false }
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	s := &server{Options: o, mux: http.NewServeMux(), encoding: encodeOptions()}
	for _, op := range wire.Operations() {
		s.mux.Handle(op.Method+" "+op.Path, s.operation(op))
	}
	s.mux.HandleFunc("GET /healthz", s.healthz)
	s.mux.HandleFunc("GET /readyz", s.readyz)
	s.mux.HandleFunc("GET /openapi.json", s.openapi())
	if o.Metrics != nil {
		s.mux.HandleFunc("GET /metrics", s.metrics)
	}
	if o.Index != nil {
		s.mux.Handle("GET /{$}", o.Index)
	}
	return s
}

// operation returns the handler of one entry of the table. It reads as the
// life of a request: role, parameters, body, place, call, answer.
func (s *server) operation(op wire.Operation) http.HandlerFunc {
	in := newReader(op, s.MaxBodyBytes)
	return func(w http.ResponseWriter, r *http.Request) {
		who := principalOf(r.Context())
		if err := op.Permits(who); err != nil {
			s.fail(w, r, err)
			return
		}
		here := stayOf(r.Context())
		here.reads = op.Access == yiku.AccessRead
		if in.body != nil {
			r = s.receive(w, r, here)
		}
		req, err := in.read(w, r)
		if err == nil && in.body != nil {
			arrived(w)
		}
		if err == nil && here.refusal == nil {
			here.enter(r.Context())
		}
		switch {
		case here.refusal != nil:
			s.refuse(w, r, here.refusal)
			return
		case err != nil:
			s.fail(w, r, err)
			return
		}
		res, err := op.Call(r.Context(), s.Service(who), req)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.answer(w, r, op.StatusOf(res), res)
	}
}

func (s *server) healthz(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, http.StatusOK, map[string]string{"status": "ok"})
}

// metrics shows numbers of all tenants together; a credential that speaks for
// one user may not see them.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	who := principalOf(r.Context())
	if !who.Access.Allows(yiku.AccessAdmin) || who.User != "" {
		s.fail(w, r, yiku.Errorf(yiku.ErrForbidden, "this needs the role %s", yiku.AccessAdmin))
		return
	}
	s.Metrics.ServeHTTP(w, r)
}

func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	if err := s.Ready(r.Context()); err != nil {
		s.Log.WarnContext(r.Context(), "not ready", "code", wire.Code(err), "request_id", wire.TraceFrom(r.Context()).RequestID)
		detail := "the service is not ready"
		if e := (*yiku.Error)(nil); errors.As(err, &e) && e.Detail != "" { // what is to be done
			detail = e.Detail
		}
		s.fail(w, r, yiku.Errorf(yiku.ErrUnavailable, "%s", detail))
		return
	}
	s.answer(w, r, http.StatusOK, map[string]string{"status": "ready"})
}
