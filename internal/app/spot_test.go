package app

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// spot is one field of one operation, however deep it lies, with the way to
// send a request that is right but for what stands there.
type spot struct {
	op    wire.Operation
	path  string // as an error names it, such as messages[0].role
	param wire.Param
	// ask makes the request with a value: JSON for a field of the body, the
	// text itself for the others.
	ask func(value string) *http.Request
	// member makes the request with a whole member, "name":value; nil outside
	// of the body. It stands in the place of the members with those names.
	member func(text string) *http.Request
}

// spots walks the table of operations: each field of each request, and each
// field of what it holds. What is added to a request is found here.
func (w *world) spots(t testing.TB) []spot {
	t.Helper()
	var all []spot
	for _, op := range wire.Operations() {
		all = append(all, w.spotsOf(op)...)
	}
	return all
}

func (w *world) spotsOf(op wire.Operation) []spot {
	var all []spot
	base := rules()[op.ID]
	id := w.seed(base.id)
	for _, p := range wire.Params(op.Request, op.Method) {
		s := spot{op: op, path: p.Name, param: p}
		switch p.In {
		case wire.InPath:
			s.ask = func(value string) *http.Request { return base.request(op, "ann", value) }
		case wire.InQuery:
			s.ask = func(value string) *http.Request {
				r := base.request(op, "ann", id)
				query := r.URL.Query()
				query.Set(p.Name, value)
				r.URL.RawQuery = query.Encode()
				return r
			}
		case wire.InHeader:
			s.ask = func(value string) *http.Request {
				r := base.request(op, "ann", id)
				r.Header[p.Header] = []string{value}
				return r
			}
		default:
			all = append(all, bodySpots(op, p, func(members string, names ...string) *http.Request {
				r := base.request(op, "ann", id)
				return withBody(r, object(bodyOf(r), members, names...))
			}, "", nil)...)
			continue
		}
		all = append(all, s)
	}
	return all
}

// put makes the request whose object holds these members, without those that it
// would have under these names.
type put func(members string, names ...string) *http.Request

// bodySpots are a field of an object in the body and the fields below it.
// within are the types around it: a filter in a filter is looked at once.
func bodySpots(op wire.Operation, p wire.Param, in put, path string, within []reflect.Type) []spot {
	name := p.Name
	if path != "" {
		path += "."
	}
	s := spot{op: op, path: path + name, param: p}
	s.member = func(text string) *http.Request { return in(text, name) }
	s.ask = func(value string) *http.Request { return in(member(name, value), name) }
	all := []spot{s}
	t, before, after, below := inner(p.Type)
	if t == nil || slices.Contains(within, t) {
		return all
	}
	for _, q := range wire.Fields(t) {
		if q.ReadOnly {
			continue
		}
		all = append(all, bodySpots(op, q, func(members string, names ...string) *http.Request {
			return in(member(name, before+object(sample(t, q.Name), members, names...)+after), name)
		}, s.path+below, append(slices.Clone(within), t))...)
	}
	return all
}

func member(name, value string) string {
	quoted, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	return string(quoted) + ":" + value
}

// inner is the struct that a field holds, with what stands around it in JSON
// and in paths; nil where it holds none.
func inner(t reflect.Type) (in reflect.Type, before, after, below string) {
	if elem, ok := wire.OptOf(t); ok {
		return inner(elem)
	}
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[yiku.Content](), reflect.TypeFor[yiku.RawJSON]():
		return nil, "", "", ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return inner(t.Elem())
	case reflect.Struct:
		return t, "", "", ""
	case reflect.Slice:
		in, before, after, below = inner(t.Elem())
		return in, "[" + before, after + "]", "[0]" + below
	case reflect.Map:
		in, before, after, below = inner(t.Elem())
		return in, `{"k":` + before, after + "}", ".*" + below
	}
	return nil, "", "", ""
}

// sample is a right object of a type, as far as it needs to be there beside a
// field.
func sample(t reflect.Type, beside string) string {
	switch t {
	case reflect.TypeFor[yiku.Message]():
		return `{"role":"assistant","content":"好 ok"}`
	case reflect.TypeFor[yiku.ToolCall]():
		return `{"id":"c","function":{"name":"f"}}`
	case reflect.TypeFor[yiku.ToolFunction]():
		return `{"name":"f"}`
	case reflect.TypeFor[yiku.Filter]():
		if slices.Contains([]string{"field", "op", "value"}, beside) {
			return `{"field":"subject","op":"eq","value":"茶"}`
		}
	case reflect.TypeFor[yiku.SourceSelector]():
		if beside == "message_id" {
			return `{"session_id":"s"}`
		}
	case reflect.TypeFor[yiku.Selector]():
		if beside == "min_relevance" {
			return `{"query":"茶"}`
		}
	}
	return `{}`
}

// object writes an object with these members last, and without those of
// these names.
func object(base, members string, without ...string) string {
	d := json.NewDecoder(strings.NewReader(base))
	var parts []string
	for _, err := d.Token(); err == nil && d.More(); {
		var name any
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err == nil && !slices.Contains(without, name.(string)) {
			parts = append(parts, member(name.(string), string(value)))
		}
	}
	if members != "" {
		parts = append(parts, members)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// bodyOf gives the body of a request that was made with httptest.
func bodyOf(r *http.Request) string {
	var b bytes.Buffer
	if r.Body != nil {
		if _, err := b.ReadFrom(r.Body); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// withBody is the request with another body.
func withBody(r *http.Request, body string) *http.Request {
	out := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(body))
	out.Header = r.Header
	return out
}
