package app

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// draft is a request that is being made.
type draft struct {
	op     wire.Operation
	path   map[string]string
	query  url.Values
	header http.Header
	body   map[string]any // nil: without one
}

// newDraft makes a right request of an operation for a user, with an id in its path.
func newDraft(op wire.Operation, user, id string) *draft {
	d := &draft{op: op, path: map[string]string{"id": id, "session_id": id, "task_id": id}, query: url.Values{}, header: http.Header{}}
	for _, p := range wire.Params(op.Request, op.Method) {
		if p.Name == "user_id" && p.In == wire.InQuery {
			d.query.Set("user_id", user)
		}
	}
	if op.Method == http.MethodGet || op.Method == http.MethodDelete {
		return d
	}
	d.body = map[string]any{}
	if text := rules()[op.ID].body; text != "" {
		if err := json.Unmarshal([]byte("{"+text+"}"), &d.body); err != nil {
			panic(err)
		}
	}
	for _, p := range wire.Params(op.Request, op.Method) {
		if p.Name == "user_id" && p.In == wire.InBody {
			d.body["user_id"] = user
		}
	}
	return d
}

func (d *draft) request() *http.Request {
	path := d.op.Path
	for name, value := range d.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if len(d.query) > 0 {
		path += "?" + d.query.Encode()
	}
	var body io.Reader
	if d.body != nil {
		text, err := json.Marshal(d.body)
		if err != nil {
			panic(err)
		}
		body = bytes.NewReader(text)
	}
	u, err := url.ParseRequestURI(path)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(d.op.Method, "/", body)
	r.URL, r.RequestURI = u, path
	if d.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(r.Header, d.header)
	return r
}

// leaf is one place of a request that a caller's text can stand in.
type leaf struct {
	name string
	put  func(d *draft, payload string)
}

// leaves are all places of an operation's request: every field down to every
// text in it, every key, and the headers. A new field is among them by itself.
func leaves(op wire.Operation) []leaf {
	var all []leaf
	add := func(name string, put func(*draft, string)) { all = append(all, leaf{op.ID + " " + name, put}) }
	for _, p := range wire.Params(op.Request, op.Method) {
		switch p.In {
		case wire.InPath:
			add("path "+p.Name, func(d *draft, s string) { d.path[p.Name] = s })
		case wire.InQuery:
			add("query "+p.Name, func(d *draft, s string) { d.query.Set(p.Name, s) })
		case wire.InHeader:
			add("header "+p.Header, func(d *draft, s string) { d.header.Set(p.Header, s) })
		default:
			for _, part := range parts(p.Type, 0) {
				add(p.Name+part.name, func(d *draft, s string) { d.body[p.Name] = part.value(s) })
			}
		}
	}
	add("query key", func(d *draft, s string) { d.query.Set(s, "x") })
	if op.Method != http.MethodGet && op.Method != http.MethodDelete {
		add("body key", func(d *draft, s string) { d.body[s] = "x" })
	}
	for _, h := range []string{"Authorization", "X-Request-Id", "Traceparent", "Content-Type", "Accept"} {
		add("header "+h, func(d *draft, s string) { d.header.Set(h, s) })
	}
	return all
}

// part is a place within a value, and the value with a text in that place.
type part struct {
	name  string
	value func(string) any
}

func text(s string) any { return s }

func keyed(s string) any { return map[string]any{s: "x"} }

// parts are the places within a value of a type.
func parts(t reflect.Type, depth int) []part {
	if elem, ok := wire.OptOf(t); ok {
		return parts(elem, depth)
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return []part{{"", text}}
	case reflect.TypeFor[yiku.Content]():
		return []part{{"", text}, {"[0].text", func(s string) any { return []any{map[string]any{"type": "text", "text": s}} }},
			{"[0].{key}", func(s string) any { return []any{map[string]any{"type": "text", "text": "x", s: "v"}} }}}
	case reflect.TypeFor[yiku.RawJSON]():
		message := func(s string) any { return map[string]any{"role": "user", "content": s, "id": "m"} }
		return []part{{"", text}, {".{key}", keyed}, {"[0].content", func(s string) any { return []any{message(s)} }},
			{"[0].{key}", func(s string) any { return []any{map[string]any{"role": "user", "content": "x", s: "v"}} }},
			{"[0].name", func(s string) any { return []any{map[string]any{"role": "user", "content": "x", "name": s}} }}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return parts(t.Elem(), depth)
	case reflect.Slice:
		return within(parts(t.Elem(), depth), "[0]", func(v any) any { return []any{v} })
	case reflect.Map:
		key := part{".{key}", func(s string) any { return map[string]any{s: exemplar(t.Elem())} }}
		return append(within(parts(t.Elem(), depth+1), ".k", func(v any) any { return map[string]any{"k": v} }), key)
	case reflect.Interface:
		if depth > 3 {
			return []part{{"", text}}
		}
		return []part{{"", text}, {".{key}", keyed}, {"[0]", func(s string) any { return []any{s} }}}
	case reflect.Struct:
		return structParts(t, depth)
	}
	return []part{{"", text}}
}

func structParts(t reflect.Type, depth int) []part {
	all := []part{{".{key}", func(s string) any {
		v := exemplar(t).(map[string]any)
		v[s] = "x"
		return v
	}}}
	for _, f := range wire.Fields(t) {
		if f.ReadOnly || depth > 2 && f.Type.Kind() != reflect.String {
			continue
		}
		all = append(all, within(parts(f.Type, depth+1), "."+f.Name, func(inner any) any {
			v := exemplar(t).(map[string]any)
			if t == reflect.TypeFor[yiku.Filter]() && f.Name != "field" && f.Name != "op" && f.Name != "value" {
				clear(v) // one condition at a time
			}
			v[f.Name] = inner
			return v
		})...)
	}
	return all
}

// within puts places of an inner value below an outer one.
func within(inner []part, name string, outer func(any) any) []part {
	all := make([]part, len(inner))
	for i, p := range inner {
		all[i] = part{name + p.name, func(s string) any { return outer(p.value(s)) }}
	}
	return all
}

// exemplar is a small right value of a type.
func exemplar(t reflect.Type) any {
	if elem, ok := wire.OptOf(t); ok {
		return exemplar(elem)
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return "2026-01-02T03:04:05Z"
	case reflect.TypeFor[yiku.Message]():
		return map[string]any{"role": "user", "content": "x"}
	case reflect.TypeFor[yiku.Filter]():
		return map[string]any{"field": "content", "op": "eq", "value": "x"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return exemplar(t.Elem())
	case reflect.Struct:
		v := map[string]any{}
		for _, f := range wire.Fields(t) {
			switch {
			case f.ReadOnly || !f.Required:
			case f.Enum != nil:
				v[f.Name] = f.Enum[0]
			default:
				v[f.Name] = exemplar(f.Type)
			}
		}
		return v
	case reflect.Slice:
		return []any{}
	case reflect.Map:
		return map[string]any{}
	case reflect.Bool:
		return true
	case reflect.Int, reflect.Int64, reflect.Float64:
		return 1
	}
	return "x"
}
