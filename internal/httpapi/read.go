package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"sort"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// reader reads the requests of one operation into its flat request struct. It
// is strict: what it does not know, or finds twice, it refuses by name.
type reader struct {
	op       wire.Operation
	path     []wire.Param
	query    map[string]wire.Param
	header   []wire.Param
	body     *bodyDecoder // nil where the operation takes no body
	maxBytes int64
}

func newReader(op wire.Operation, maxBytes int64) *reader {
	in := &reader{op: op, query: map[string]wire.Param{}, maxBytes: maxBytes}
	params := wire.Params(op.Request, op.Method)
	for _, p := range params {
		switch p.In {
		case wire.InPath:
			in.path = append(in.path, p)
		case wire.InQuery:
			in.query[p.Name] = p
		case wire.InHeader:
			in.header = append(in.header, p)
		}
	}
	if op.Method != http.MethodGet && op.Method != http.MethodDelete {
		in.body = newBodyDecoder(params)
	}
	return in
}

// read returns a pointer to the request, or a *yiku.Error that names every
// parameter at fault, or the first fault of the body.
func (in *reader) read(w http.ResponseWriter, r *http.Request) (any, error) {
	req := reflect.New(in.op.Request)
	faults := in.readPath(r, req.Elem())
	faults = append(faults, in.readHeaders(r.Header, req.Elem())...)
	faults = append(faults, in.readQuery(r.URL.RawQuery, req.Elem())...)
	if len(faults) > 0 {
		return nil, &yiku.Error{Sentinel: yiku.ErrInvalid, Fields: faults}
	}
	if in.body == nil {
		if r.ContentLength != 0 {
			return nil, yiku.Invalid("body", "this operation takes no body")
		}
		return req.Interface(), nil
	}
	raw, err := in.readBody(w, r)
	if err != nil {
		return nil, err
	}
	if err := in.body.decode(raw, req.Elem()); err != nil {
		return nil, err
	}
	return req.Interface(), nil
}

func (in *reader) readPath(r *http.Request, req reflect.Value) []yiku.FieldError {
	var faults []yiku.FieldError
	for _, p := range in.path {
		faults = set(p, r.PathValue(p.Name), req, faults)
	}
	return faults
}

// set parses a parameter into its field, or adds what is wrong with it.
func set(p wire.Param, s string, req reflect.Value, faults []yiku.FieldError) []yiku.FieldError {
	v, fault := p.Parse(s)
	if fault != "" {
		return append(faults, yiku.FieldError{Field: p.Name, Message: fault})
	}
	req.FieldByIndex(p.Index).Set(v)
	return faults
}

func (in *reader) readHeaders(h http.Header, req reflect.Value) []yiku.FieldError {
	var faults []yiku.FieldError
	conditional := false
	for _, p := range in.header {
		conditional = conditional || p.Header == "If-Match"
		values := h.Values(p.Header)
		switch {
		case len(values) == 0:
		case p.Header == "If-Match": // a list may be cut into several lines
			faults = set(p, strings.Join(values, ", "), req, faults)
		case len(values) > 1:
			faults = append(faults, yiku.FieldError{Field: p.Name, Message: "stands more than once"})
		default:
			faults = set(p, values[0], req, faults)
		}
	}
	if !conditional && in.op.Method != http.MethodGet && len(h.Values("If-Match")) > 0 {
		faults = append(faults, yiku.FieldError{Field: "if_match", Message: "this operation is not conditional"})
	}
	return faults
}

// readQuery reads the query. Unknown and repeated parameters are refused by
// name, and so is an empty value.
func (in *reader) readQuery(raw string, req reflect.Value) []yiku.FieldError {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return []yiku.FieldError{{Field: "query", Message: "is not a valid query string"}}
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	var faults []yiku.FieldError
	for _, name := range names {
		p, known := in.query[name]
		switch {
		case len(faults) >= 32:
			return faults
		case !known:
			faults = append(faults, yiku.FieldError{Field: safeName(name), Message: "there is no such query parameter"})
		case len(values[name]) > 1:
			faults = append(faults, yiku.FieldError{Field: name, Message: "stands more than once"})
		default:
			faults = set(p, values[name][0], req, faults)
		}
	}
	return faults
}

// safeName returns the name of a field that there is not as it can be shown: a
// short plain word as it is, and anything else, which may be a text that
// slipped into the place of a name, as a star.
func safeName(s string) string {
	const longest = 40
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	word := strings.Trim(s, " ") // a blank beside a name is a common slip
	if word == "" || len(s) > longest || strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return "*"
	}
	return s
}

// readBody returns the whole body, at most as long as it may be. A longer one
// is not read to its end.
func (in *reader) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := in.checkContentType(r.Header); err != nil {
		return nil, err
	}
	if r.ContentLength > in.maxBytes {
		w.Header().Set("Connection", "close")
		return nil, tooLarge()
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, in.maxBytes))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge()
	case err != nil && r.Context().Err() != nil:
		return nil, r.Context().Err()
	case err != nil:
		return nil, yiku.Invalid("body", "could not be read to its end")
	}
	return raw, nil
}

// statusError is an error with a status other than its sentinel's.
type statusError struct {
	error
	status int
}

// Unwrap returns the error itself, so that its details are found.
func (e statusError) Unwrap() error { return e.error }

func tooLarge() error {
	return statusError{yiku.Errorf(yiku.ErrTooLarge, "the body is over its limit"), http.StatusRequestEntityTooLarge}
}

func (in *reader) checkContentType(h http.Header) error {
	refuse := func(field, message string) error {
		return statusError{yiku.Invalid(field, "%s", message), http.StatusUnsupportedMediaType}
	}
	if len(h.Values("Content-Encoding")) > 0 {
		return refuse("Content-Encoding", "must be absent: bodies are not compressed")
	}
	want := "must be application/json"
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	merge := in.op.Method == http.MethodPatch && media == "application/merge-patch+json"
	if err != nil || len(h.Values("Content-Type")) != 1 || (media != "application/json" && !merge) {
		return refuse("Content-Type", want)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return refuse("Content-Type", "must be in UTF-8")
	}
	return nil
}
