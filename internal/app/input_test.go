package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/wire"
)

// leastCases is how many bad values a field must have.
const leastCases = 4

// bytesOf gives the database as it lies on the disk: its file and its log.
func (w *world) bytesOf(t testing.TB) []byte {
	t.Helper()
	var all []byte
	for _, name := range []string{"yiku.db", "yiku.db-wal"} {
		b, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// ask is one request of the suite.
type ask struct {
	name   string
	field  string // the field that must be named; a place below it will do
	above  bool   // so will one above it, and the body
	status int    // 400 where it is 0
	make   func() *http.Request
}

// asksOf are the bad requests around one field.
func asksOf(s spot) []ask {
	var all []ask
	v := valuesOf(s.param)
	for i, value := range v.bad {
		all = append(all, ask{name: fmt.Sprintf("value %d, %.60q", i, value), field: s.path, above: false, make: func() *http.Request { return s.ask(value) }})
	}
	for i, value := range v.broken {
		all = append(all, ask{name: fmt.Sprintf("text %d, %.60q", i, value), field: s.path, above: true, make: func() *http.Request { return s.ask(value) }})
	}
	if s.member == nil {
		return all
	}
	above := strings.TrimSuffix(s.path, s.param.Name)
	with := func(name, text, field string) {
		all = append(all, ask{name: name, field: above + field, make: func() *http.Request { return s.member(text) }})
	}
	name, value := s.param.Name, append(v.good, "{}")[0]
	with("twice", member(name, value)+","+member(name, value), name)
	with("in other case", member(strings.ToUpper(name), value), strings.ToUpper(name))
	with("with a blank", member(name+" ", value), name+" ")
	with("unknown beside it", member(name, value)+`,"no_such_field":1`, "no_such_field")
	return all
}

// fault says what is wrong with the answer to a bad request: it must be 400,
// invalid, and name the field. Empty: nothing.
func (a ask) fault(rec *httptest.ResponseRecorder) string {
	p := problemOf(rec)
	if rec.Code != cmp.Or(a.status, http.StatusBadRequest) || p.Code != "invalid" {
		return fmt.Sprintf("answered %d: %.300s", rec.Code, rec.Body)
	}
	for _, e := range p.Errors {
		if e.Message != "" && (isAt(e.Field, a.field) || a.above && (e.Field == "body" || isAt(a.field, e.Field))) {
			return ""
		}
	}
	return fmt.Sprintf("names %v, want %s", p.Errors, a.field)
}

func problemOf(rec *httptest.ResponseRecorder) wire.Problem {
	var p wire.Problem
	if json.Unmarshal(rec.Body.Bytes(), &p) != nil {
		return wire.Problem{}
	}
	return p
}

// isAt reports whether a field is a place or lies below it.
func isAt(field, place string) bool {
	rest, ok := strings.CutPrefix(field, place)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// badInput sends bad requests about one thing and returns what is wrong with
// the answers, and whether a byte of the database changed.
func (w *world) badInput(t testing.TB, bearer, about string, asks []ask) (faults []string) {
	t.Helper()
	if err := w.core.Engine.Tend(t.Context()); err != nil { // what is counted behind requests is counted now
		t.Fatal(err)
	}
	before := w.bytesOf(t)
	for _, a := range asks {
		if f := a.fault(w.send(a.make(), bearer)); f != "" {
			faults = append(faults, fmt.Sprintf("%s, %s: %s", about, a.name, f))
		}
	}
	if !bytes.Equal(before, w.bytesOf(t)) {
		faults = append(faults, about+": something was written")
	}
	return faults
}

// late are refusals of what is right in itself and wrong beside what is stored.
func late() []string {
	return []string{"the session has no such message", "there is no such memory", "there is no such field", "must stay of the kind semantic", "must be after valid_from",
		"there is no such slot or preference", "must be a JSON object", "has a field that the tool does not take", "is required"}
}

// TestI4_LimitsPass: what lies at a limit, and what only looks odd, is not
// refused. Beside TestI4_BadInput it says that each limit is where it is said
// to be.
func TestI4_LimitsPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, c := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	asked := 0
	for _, s := range w.spots(t) {
		for i, value := range valuesOf(s.param).good {
			asked++
			rec := w.send(s.ask(value), c.bearer)
			p := problemOf(rec)
			refused := p.Code == "invalid" && slices.ContainsFunc(p.Errors, func(e yiku.FieldError) bool { return isAt(e.Field, s.path) && !slices.Contains(late(), e.Message) })
			if refused || rec.Code == http.StatusRequestEntityTooLarge || rec.Code >= 500 && rec.Code != http.StatusNotImplemented {
				t.Errorf("%s, %s, value %d, %.60q: %d %.300s", s.op.ID, s.path, i, value, rec.Code, rec.Body)
			}
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "I4", Part: "limits", Trials: asked, What: "values at a limit were refused"})
}

// TestI4_BadInput: every bad value in every field of every operation is
// refused with its status and names the field, and not a byte of the database
// changes. What is asked is made from the table of operations and the limits in
// the tags, so a new field is covered by its type; one of a type that has no
// bad values fails here.
func TestI4_BadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, c := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	fields, asked := 0, 0
	for _, s := range w.spots(t) {
		if n := len(valuesOf(s.param).bad); n < leastCases {
			t.Errorf("%s, %s: %d bad values for its type %s", s.op.ID, s.path, n, s.param.Type)
		}
		asks := asksOf(s)
		for _, f := range w.badInput(t, c.bearer, s.op.ID+", "+s.path, asks) {
			t.Error(f)
		}
		fields, asked = fields+1, asked+len(asks)
	}
	boardtest.Report(t, boardtest.Row{ID: "I4", Part: "fields", Trials: asked, What: "bad requests were taken, named another field, or left a byte in the database",
		Note: fmt.Sprintf("%d fields of %d operations", fields, len(wire.Operations()))})
}

// requestAsks are the bad requests that are about no field of an operation:
// what its query, its headers and its body hold beside the fields.
func (w *world) requestAsks(op wire.Operation) []ask {
	base := rules()[op.ID]
	id := w.seed(base.id)
	var all []ask
	add := func(name, field string, status int, change func(*http.Request) *http.Request) {
		all = append(all, ask{name: name, field: field, status: status, make: func() *http.Request { return change(base.request(op, "ann", id)) }})
	}
	query := func(name, field, raw string) {
		add("query "+name, field, 0, func(r *http.Request) *http.Request {
			r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&"+raw, "&")
			return r
		})
	}
	query("unknown", "no_such", "no_such=1")
	query("in other case", "USER_ID", "USER_ID=ann")
	query("malformed", "query", "a=%zz")
	for _, p := range wire.Params(op.Request, op.Method) {
		switch p.In {
		case wire.InQuery:
			query(p.Name+" twice", p.Name, p.Name+"=a&"+p.Name+"=b")
		case wire.InHeader:
			if p.Header != "If-Match" { // a list, which may be cut into several lines
				add(p.Header+" twice", p.Name, 0, func(r *http.Request) *http.Request {
					r.Header[p.Header] = []string{"a", "b"}
					return r
				})
			}
		}
	}
	if op.Method == http.MethodGet || op.Method == http.MethodDelete {
		add("a body", "body", 0, func(r *http.Request) *http.Request { return withBody(r, "{}") })
		return all
	}
	for _, body := range []string{"null", "5", `"a"`, "[]", "[{}]", "user_id=ann", "\ufeff{}", "\xff", "\x00", `{`, `{"`, `{}{}`, `{} x`, `{}]`, "<a/>", nested(70), "{'a':1}", "{/**/}"} {
		add(fmt.Sprintf("body %.20q", body), "body", 0, func(r *http.Request) *http.Request { return withBody(r, body) })
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=gbk"} {
		add("content type "+kind, "Content-Type", http.StatusUnsupportedMediaType, func(r *http.Request) *http.Request {
			r.Header.Set("Content-Type", kind)
			return r
		})
	}
	add("compressed", "Content-Encoding", http.StatusUnsupportedMediaType, func(r *http.Request) *http.Request {
		r.Header.Set("Content-Encoding", "gzip")
		return r
	})
	return all
}

// TestI4_BadRequests is TestI4_BadInput for what stands beside the fields.
func TestI4_BadRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, c := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	asked := 0
	for _, op := range wire.Operations() {
		asks := w.requestAsks(op)
		for _, f := range w.badInput(t, c.bearer, op.ID, asks) {
			t.Error(f)
		}
		asked += len(asks)
	}
	boardtest.Report(t, boardtest.Row{ID: "I4", Part: "requests", Trials: asked, What: "requests that were bad beside their fields were taken, named another place, or left a byte in the database"})
}

// TestI4_BodyOf16MiB: a body of the longest length passes, one byte more is
// refused, whatever it holds.
func TestI4_BodyOf16MiB(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, c := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	op := operations(t)["append_messages"]
	base := rules()[op.ID]
	send := func(size int) *httptest.ResponseRecorder {
		body := bodyOf(base.request(op, "ann", "s"))
		return w.send(withBody(base.request(op, "ann", "s"), body+strings.Repeat(" ", size-len(body))), c.bearer)
	}
	if rec := send(httpapi.DefaultMaxBodyBytes); rec.Code != op.Status {
		t.Errorf("at the limit: %d %.300s", rec.Code, rec.Body)
	}
	before := w.bytesOf(t)
	if rec := send(httpapi.DefaultMaxBodyBytes + 1); rec.Code != http.StatusRequestEntityTooLarge || problemOf(rec).Code != "too_large" {
		t.Errorf("over the limit: %d %.300s", rec.Code, rec.Body)
	}
	if !bytes.Equal(before, w.bytesOf(t)) {
		t.Error("something was written")
	}
}

// TestI4_ControlBadInputIsSeen: a server that takes a field unseen, one that
// names another field, and one that writes before it refuses are each found.
func TestI4_ControlBadInputIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, c := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	genuine := w.handler
	spots := w.spotsOf(operations(t)["save_memory"])
	at := slices.IndexFunc(spots, func(s spot) bool { return s.path == "importance" })
	asks := asksOf(spots[at])
	for name, handler := range map[string]http.HandlerFunc{
		"takes it": func(rw http.ResponseWriter, r *http.Request) {
			genuine.ServeHTTP(rw, withBody(r, object(bodyOf(r), "", "importance")))
		},
		"names another": func(rw http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			genuine.ServeHTTP(rec, r)
			rw.WriteHeader(rec.Code)
			_, _ = rw.Write(bytes.ReplaceAll(rec.Body.Bytes(), []byte(`"importance"`), []byte(`"confidence"`)))
		},
		"writes first": func(rw http.ResponseWriter, r *http.Request) {
			w.seed("memory")
			genuine.ServeHTTP(rw, r)
		},
	} {
		w.handler = handler
		if len(w.badInput(t, c.bearer, name, asks)) == 0 {
			t.Errorf("a server that %s is not found", name)
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "I4", Part: "control", Hits: 3, Trials: 3, What: "faulty servers were found"})
	w.handler = genuine
	if faults := w.badInput(t, c.bearer, "as it is", asks); len(faults) > 0 {
		t.Error(faults)
	}
}

// TestI4_ForeignIDsChangeNothing: an id of another user, of another tenant,
// and of a user whom nobody knows is answered 404 by every operation that names
// one, and not a byte of the database changes.
func TestI4_ForeignIDsChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, own := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	_, other := w.key("globex", yiku.CreateKeyRequest{Access: admin})
	w.seedFor("acme", "bob")
	w.seedFor("globex", "ann")
	for _, op := range wire.Operations() {
		r := rules()[op.ID]
		if r.foreign == 0 {
			continue
		}
		id := w.seed(r.id)
		if err := w.core.Engine.Tend(t.Context()); err != nil { // accesses are counted behind the reads
			t.Fatal(err)
		}
		before := w.bytesOf(t)
		for name, c := range map[string]struct{ bearer, user string }{
			"another tenant": {other.bearer, "ann"}, "another user": {own.bearer, "bob"}, "an unknown user": {own.bearer, "谁也不认识"},
		} {
			if r.tenant && c.bearer == own.bearer { // one tenant's keys are all its admin's
				continue
			}
			if rec := w.send(r.request(op, c.user, id), c.bearer); rec.Code != r.foreign || problemOf(rec).Code != "not_found" {
				t.Errorf("%s as %s: %d %.300s", op.ID, name, rec.Code, rec.Body)
			}
		}
		if !bytes.Equal(before, w.bytesOf(t)) {
			t.Errorf("%s: something was written", op.ID)
		}
	}
}
