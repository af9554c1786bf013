package httpapi

import (
	stdjson "encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// encodeOptions write what the root's tags say (omitempty as encoding/json
// understands it), empty lists and objects instead of null, times in UTC and
// numbers as they are.
func encodeOptions() json.Options {
	return json.JoinOptions(
		jsonv1.OmitEmptyWithLegacySemantics(true),
		json.Deterministic(true),
		json.WithMarshalers(json.JoinMarshalers(
			json.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
				return e.WriteToken(jsontext.String(t.UTC().Format(time.RFC3339Nano)))
			}),
			json.MarshalToFunc(func(e *jsontext.Encoder, n stdjson.Number) error {
				return e.WriteValue(jsontext.Value(n))
			}),
		)),
	)
}

// tagged is an answer with a version.
type tagged interface{ ETag() string }

// answer writes a success. Nothing is written before all of it is encoded, so
// that a fault can still become a problem.
func (s *server) answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	if t, ok := v.(tagged); ok {
		w.Header().Set("ETag", t.ETag())
		header := strings.Join(r.Header.Values("If-None-Match"), ",")
		if isRead(r) && header != "" && wire.MatchWeakETag(header, t.ETag()) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if _, ok := v.(yiku.Empty); ok || status == http.StatusNoContent {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := json.Marshal(v, s.encoding)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	here := stayOf(r.Context())
	if here.depart(len(body)); here.refusal != nil {
		w.Header().Del("ETag")
		s.refuse(w, r, here.refusal)
		return
	}
	s.write(w, status, "application/json", body)
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func (s *server) write(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	s.hasten(w, len(body))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller has gone where this fails
}

// fail writes the problem document of an error.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := wire.Status(err)
	var special statusError
	if errors.As(err, &special) {
		status = special.status
	}
	s.failWith(w, r, err, status)
}

// failWith is fail with a status of its own. An error without a sentinel is a
// fault of the server: its type is logged, never its text.
func (s *server) failWith(w http.ResponseWriter, r *http.Request, err error, status int) {
	id := wire.TraceFrom(r.Context()).RequestID
	p := wire.NewProblem(err, id)
	p.Status = status
	if _, panicked := err.(errPanic); p.Code == wire.CodeInternal && !panicked {
		s.Log.ErrorContext(r.Context(), "request failed", "error_type", reflect.TypeOf(err).String(), "request_id", id)
	}
	if d := wire.RetryAfter(err); d > 0 {
		w.Header().Set("Retry-After", wire.FormatRetryAfter(d))
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="yiku"`)
	}
	w.Header().Del("ETag")
	body, err := json.Marshal(p, s.encoding)
	if err != nil {
		body = []byte(`{"status":500,"code":"internal"}`)
	}
	s.write(w, status, "application/problem+json", body)
}
