package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// world is a handler over a stub that validates like the engine does.
type world struct {
	handler http.Handler
	logs    *bytes.Buffer
	seen    *any
}

type settings struct {
	answer   any
	err      error
	panics   bool
	loopback bool
	access   yiku.Access
	maxBody  int64
}

func newWorld(t *testing.T, s settings) world {
	t.Helper()
	w := world{logs: &bytes.Buffer{}, seen: new(any)}
	checker := check.New()
	stub := servicetest.Stub{Handle: func(_ context.Context, _ string, req any) (any, error) {
		*w.seen = req
		if s.panics {
			panic("CANARY " + strings.Repeat("x", 3))
		}
		if err := checker.Request(req); err != nil {
			return nil, err
		}
		return s.answer, s.err
	}}
	if s.access == "" {
		s.access = yiku.AccessAdmin
	}
	w.handler = httpapi.New(httpapi.Options{
		Authenticate: func(r *http.Request) (yiku.Principal, error) {
			if r.Header.Get("Authorization") == "Bearer wrong" {
				return yiku.Principal{}, yiku.ErrUnauthorized
			}
			return yiku.Principal{Tenant: "t", Access: s.access}, nil
		},
		Service:      func(yiku.Principal) yiku.Service { return stub },
		Loopback:     s.loopback,
		Log:          slog.New(slog.NewJSONHandler(w.logs, nil)),
		NewID:        func() string { return "req-1" },
		MaxBodyBytes: s.maxBody,
	})
	return w
}

// send makes a request; headers are pairs.
func (w world) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	} else {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}

// problem reads a problem document and checks its fixed members.
func problem(t *testing.T, rec *httptest.ResponseRecorder) wire.Problem {
	t.Helper()
	var p wire.Problem
	if got := rec.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("content type %q, body %s", got, rec.Body)
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &p); err != nil {
		t.Fatalf("problem %s: %v", rec.Body, err)
	}
	if p.Status != rec.Code || p.Code == "" || p.Title == "" || p.Detail == "" || p.RequestID == "" || p.Errors == nil ||
		p.RequestID != rec.Header().Get("X-Request-ID") {
		t.Errorf("incomplete problem %+v", p)
	}
	return p
}

// refused asserts an invalid request that names a field.
func refused(t *testing.T, rec *httptest.ResponseRecorder, status int, field string) {
	t.Helper()
	p := problem(t, rec)
	if p.Code != "invalid" || rec.Code != status {
		t.Errorf("code %s, status %d; want invalid, %d", p.Code, rec.Code, status)
	}
	for _, e := range p.Errors {
		if e.Field == field && e.Message != "" {
			return
		}
	}
	t.Errorf("errors %v do not name %q", p.Errors, field)
}

// TestF1_OpenAPI keeps the committed document in step with the table.
func TestF1_OpenAPI(t *testing.T) {
	t.Parallel()
	doc, err := httpapi.Document("")
	if err != nil {
		t.Fatal(err)
	}
	again, err := httpapi.Document("")
	if err != nil || !bytes.Equal(doc, again) {
		t.Fatal("two documents differ")
	}
	doc = append(doc, '\n')
	file := filepath.Join("..", "..", "docs", "openapi.json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, doc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(doc)); diff != "" {
		t.Errorf("docs/openapi.json is not that of the table; run the test with -update (-file +table):\n%s", diff)
	}
}

// TestF1_OpenAPIIsComplete asserts that every operation of the table stands in
// the document under its id, and that every reference leads somewhere.
func TestF1_OpenAPIIsComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	rec := w.send("GET", "/openapi.json", "")
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("version %q", doc.OpenAPI)
	}
	for _, op := range wire.Operations() {
		if got := doc.Paths[op.Path][strings.ToLower(op.Method)].OperationID; got != op.ID {
			t.Errorf("%s %s has the operationId %q; want %q", op.Method, op.Path, got, op.ID)
		}
	}
	for _, ref := range strings.Split(rec.Body.String(), `"$ref": "#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		if doc.Components.Schemas[name] == nil {
			t.Errorf("the reference %q leads nowhere", name)
		}
	}
}

func TestF1_Manners(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("CST", 8*3600))
	session := yiku.Session{ID: "s", UserID: "小明", CreatedAt: day, Version: 3, Metadata: yiku.Metadata{"n": json.Number("9007199254740993")}}
	w := newWorld(t, settings{answer: session})

	rec := w.send("POST", "/v1/sessions", `{"user_id":"小明","metadata":{"n":9007199254740993,"f":1.5}}`,
		"X-Request-ID", "abc-1", "Idempotency-Key", "键-1")
	if rec.Code != 201 || rec.Header().Get("ETag") != `"3"` || rec.Header().Get("X-Request-ID") != "abc-1" {
		t.Errorf("status %d, headers %v", rec.Code, rec.Header())
	}
	want := yiku.CreateSessionRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "键-1"}, UserID: "小明",
		Metadata: yiku.Metadata{"n": json.Number("9007199254740993"), "f": 1.5}}
	if diff := cmp.Diff(any(want), *w.seen); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	const body = `{"session_id":"s","user_id":"小明","metadata":{"n":9007199254740993},"created_at":"2026-05-01T04:00:00Z","message_count":0,"version":3}`
	if diff := cmp.Diff(body, rec.Body.String()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}

	rec = w.send("GET", "/v1/sessions/s?user_id=u", "", "If-None-Match", `W/"3"`, "X-Request-ID", "bad id\t")
	if rec.Code != 304 || rec.Body.Len() != 0 || rec.Header().Get("X-Request-ID") != "req-1" {
		t.Errorf("If-None-Match: status %d, headers %v, body %s", rec.Code, rec.Header(), rec.Body)
	}
	if rec = w.send("DELETE", "/v1/sessions/s?user_id=u", "", "If-Match", `"3", "4"`); rec.Code != 204 || rec.Body.Len() != 0 {
		t.Errorf("delete: status %d, body %s", rec.Code, rec.Body)
	}
	got := (*w.seen).(yiku.DeleteSessionRequest)
	if got.IfMatch != `"3", "4"` || got.SessionID != "s" {
		t.Errorf("delete request %+v", got)
	}
}

// TestF1_NullFree asserts that no list of an answer is null.
func TestF1_NullFree(t *testing.T) {
	t.Parallel()
	for id, answer := range map[string]any{
		"/v1/memories?user_id=u":           yiku.Page[yiku.Memory]{},
		"/v1/sessions/s/working?user_id=u": yiku.WorkingMemory{},
		"/v1/memories/m/sources?user_id=u": yiku.MemorySources{},
		"/v1/snapshots/m?user_id=u":        yiku.Snapshot{},
	} {
		w := newWorld(t, settings{answer: answer})
		if rec := w.send("GET", id, ""); rec.Code != 200 || strings.Contains(rec.Body.String(), "null") {
			t.Errorf("%s: %d %s", id, rec.Code, rec.Body)
		}
	}
}

// TestF1_Shapes asserts that the members which the API promises are there even
// where they hold nothing: callers need not test for them.
func TestF1_Shapes(t *testing.T) {
	t.Parallel()
	for target, c := range map[string]struct {
		answer any
		want   string
	}{
		"GET /v1/memories/m?user_id=u":         {yiku.Memory{}, "access_count confidence content created_at id importance kind level metadata origin pinned sources status topics trust type updated_at version"},
		"GET /v1/memories?user_id=u":           {yiku.Page[yiku.Memory]{}, "items"},
		"POST /v1/memories":                    {yiku.SaveMemoryResponse{}, "id memory outcome"},
		"POST /v1/memories/search":             {yiku.SearchMemoryResponse{}, "degraded items"},
		"POST /v1/context":                     {yiku.GetContextResponse{}, "budget degraded episodes memories messages system"},
		"GET /v1/sessions/s/working?user_id=u": {yiku.WorkingMemory{}, "blocks data_slots preferences task_state todos version"},
		"POST /v1/sessions/s/messages":         {yiku.AppendMessagesResponse{}, "messages"},
	} {
		method, path, _ := strings.Cut(target, " ")
		w := newWorld(t, settings{answer: c.answer})
		body := ""
		switch path {
		case "/v1/memories", "/v1/memories/search":
			body = `{"user_id":"u","content":"c"}`
			if strings.HasSuffix(path, "search") {
				body = `{"user_id":"u","query":"q"}`
			}
		case "/v1/context":
			body = `{"user_id":"u"}`
		case "/v1/sessions/s/messages":
			body = `{"user_id":"u","messages":[{"role":"user","content":"c"}]}`
		}
		rec := w.send(method, path, body)
		var got map[string]any
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || rec.Code >= 300 {
			t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
			continue
		}
		if keys := strings.Join(slices.Sorted(maps.Keys(got)), " "); keys != c.want {
			t.Errorf("%s: %s; want %s", target, keys, c.want)
		}
	}
}

func TestF1_Paths(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	for _, id := range []string{"a%2Fb", "%2E%2E", "%E4%BC%9A%E8%AF%9D", "a%2F%2Fb", "a%25b", "a%20b"} {
		if rec := w.send("GET", "/v1/sessions/"+id+"?user_id=u", ""); rec.Code != 200 {
			t.Errorf("%s: %d %s", id, rec.Code, rec.Body)
		}
	}
	for _, path := range []string{"/v1/nothing", "/v1", "/nothing", "/v1/sessions//messages", "/v1/sessions/../x", "//v1/sessions", "/v1/sessions/"} {
		if p := problem(t, w.send("GET", path, "")); p.Code != "not_found" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	rec := w.send("PUT", "/v1/sessions", "{}")
	if p := problem(t, rec); p.Status != 405 || rec.Header().Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("%+v, Allow %q", p, rec.Header().Get("Allow"))
	}
}

// TestI4_Query asserts that a parameter which is unknown, repeated, empty or
// of the wrong type is refused by name.
func TestI4_Query(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	for query, field := range map[string]string{
		"user_id=u&User_ID=x":           "User_ID",
		"user_id=u&color=red":           "color",
		"user_id=u&user_id=u":           "user_id",
		"user_id=u&limit=":              "limit",
		"user_id=u&limit=0":             "limit",
		"user_id=u&limit=501":           "limit",
		"user_id=u&limit=ten":           "limit",
		"user_id=u&limit=1.0":           "limit",
		"user_id=u&project_id=":         "project_id",
		"user_id=":                      "user_id",
		"":                              "user_id",
		"user_id=u&type=thing":          "type",
		"user_id=u&topic=%00":           "topic",
		"user_id=u&topic=%ff":           "topic",
		"user_id=%20u":                  "user_id",
		"user_id=u;limit=1":             "query",
		"user_id=u&topic=%zz":           "query",
		"user_id=u&a%0D%0Ab=1":          "a??b",
		"user_id=u&content=x":           "content",
		"user_id=u&id=x":                "id",
		"user_id=u&subject=" + str(513): "subject",
	} {
		t.Run(field, func(t *testing.T) { refused(t, w.send("GET", "/v1/memories?"+query, ""), 400, field) })
	}
}

func str(n int) string { return strings.Repeat("x", n) }

// TestI4_S6_Body is the list of JSON quirks, each of which is refused with a
// field, and never the last one wins.
func TestI4_S6_Body(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ name, path, body, field string }{
		{"duplicate", "/v1/memories", `{"user_id":"u","user_id":"v","content":"c"}`, "user_id"},
		{"duplicate escaped", "/v1/memories", `{"user_id":"u","user\u005fid":"v","content":"c"}`, "user_id"},
		{"duplicate nested", "/v1/memories", `{"user_id":"u","content":"c","metadata":{"a":{"b":1,"b":2}}}`, "metadata"},
		{"duplicate in a message", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","role":"tool","content":"c"}]}`, "messages[0].role"},
		{"duplicate in a part", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}`, "messages[0].content"},
		{"duplicate in a document", "/v1/sessions/import", `{"user_id":"u","document":{"messages":[],"messages":[]}}`, "document"},
		{"duplicate in a filter", "/v1/memories/search", `{"user_id":"u","query":"q","filter":{"field":"type","op":"eq","value":1,"value":2}}`, "filter.value"},
		{"other case", "/v1/memories", `{"USER_ID":"u","content":"c"}`, "USER_ID"},
		{"other case in a message", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"Role":"user","content":"c"}]}`, "messages[0].Role"},
		{"other case in a filter", "/v1/memories/search", `{"user_id":"u","query":"q","filter":{"FIELD":"type","op":"eq","value":"x"}}`, "filter.FIELD"},
		{"unknown", "/v1/memories", `{"user_id":"u","content":"c","colour":"red"}`, "colour"},
		{"unknown in options", "/v1/context", `{"user_id":"u","options":{"layers":{"all":true}}}`, "options.layers.all"},
		{"path field in the body", "/v1/sessions/s/messages", `{"user_id":"u","session_id":"x","messages":[{"role":"user","content":"c"}]}`, "session_id"},
		{"header field in the body", "/v1/memories", `{"user_id":"u","content":"c","idempotency_key":"k"}`, "idempotency_key"},
		{"NUL", "/v1/memories", `{"user_id":"u","content":"a\u0000b"}`, "content"},
		{"NUL in an id", "/v1/memories", `{"user_id":"a\u0000b","content":"c"}`, "user_id"},
		{"NUL in a key", "/v1/memories", `{"user_id":"u","content":"c","metadata":{"a\u0000":1}}`, "metadata"},
		{"NUL in a document", "/v1/sessions/import", `{"user_id":"u","document":[{"role":"user","content":"\u0000"}]}`, "document"},
		{"NUL in a part", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","content":[{"type":"image_url","image_url":"\u0000"}]}]}`, "messages[0].content[0]"},
		{"lone surrogate", "/v1/memories", `{"user_id":"u","content":"\ud800"}`, "content"},
		{"lone surrogate in a key", "/v1/memories", `{"user_id":"u","content":"c","metadata":{"\udc00":1}}`, "metadata"},
		{"reversed surrogates", "/v1/memories", `{"user_id":"u","content":"\ude00\ud83d"}`, "content"},
		{"invalid UTF-8", "/v1/memories", "{\"user_id\":\"u\",\"content\":\"\xff\"}", "content"},
		{"overlong UTF-8", "/v1/memories", "{\"user_id\":\"u\",\"content\":\"\xc0\x80\"}", "content"},
		{"control character", "/v1/memories", "{\"user_id\":\"u\",\"content\":\"a\nb\"}", "content"},
		{"trailing garbage", "/v1/memories", `{"user_id":"u","content":"c"}x`, "body"},
		{"two documents", "/v1/memories", `{"user_id":"u","content":"c"}{}`, "body"},
		{"BOM", "/v1/memories", "\ufeff" + `{"user_id":"u","content":"c"}`, "body"},
		{"10k nesting", "/v1/memories", `{"user_id":"u","content":"c","metadata":{"a":` + deep(10000) + `}}`, "body"},
		{"10k nesting, cut", "/v1/memories", strings.Repeat("[", 10000), "body"},
		{"33 nesting", "/v1/memories", `{"user_id":"u","content":"c","metadata":{"a":` + deep(33) + `}}`, "metadata"},
		{"1e400", "/v1/memories", `{"user_id":"u","content":"c","importance":1e400}`, "importance"},
		{"1e400 in metadata", "/v1/memories", `{"user_id":"u","content":"c","metadata":{"a":[1e400]}}`, "metadata"},
		{"1e400 in a filter", "/v1/memories/search", `{"user_id":"u","query":"q","filter":{"field":"importance","op":"eq","value":1e400}}`, "filter.value"},
		{"big integer", "/v1/memories", `{"user_id":"u","content":"c","ttl_seconds":9223372036854775808}`, "ttl_seconds"},
		{"fraction for integer", "/v1/memories", `{"user_id":"u","content":"c","ttl_seconds":1.5}`, "ttl_seconds"},
		{"NaN", "/v1/memories", `{"user_id":"u","content":"c","importance":NaN}`, "importance"},
		{"number for text", "/v1/memories", `{"user_id":"u","content":5}`, "content"},
		{"text for number", "/v1/memories", `{"user_id":"u","content":"c","importance":"0.5"}`, "importance"},
		{"text for list", "/v1/memories", `{"user_id":"u","content":"c","topics":"a"}`, "topics"},
		{"no zone", "/v1/memories", `{"user_id":"u","content":"c","valid_from":"2026-01-01T00:00:00"}`, "valid_from"},
		{"array", "/v1/memories", `[]`, "body"},
		{"null", "/v1/memories", `null`, "body"},
		{"string", "/v1/memories", `"x"`, "body"},
		{"blank", "/v1/memories", ` `, "body"},
		{"cut", "/v1/memories", `{"user_id":"u"`, "body"},
		{"comment", "/v1/memories", `{/* */"user_id":"u"}`, "body"},
		{"trailing comma", "/v1/memories", `{"user_id":"u","content":"c",}`, "body"},
		{"empty project", "/v1/memories", `{"user_id":"u","content":"c","project_id":""}`, "project_id"},
		{"empty user", "/v1/memories", `{"user_id":"","content":"c"}`, "user_id"},
		{"null user", "/v1/memories", `{"user_id":null,"content":"c"}`, "user_id"},
		{"empty level", "/v1/memories", `{"user_id":"u","content":"c","level":""}`, "level"},
		{"zero limit", "/v1/memories/search", `{"user_id":"u","query":"q","limit":0}`, "limit"},
		{"zero ttl", "/v1/memories", `{"user_id":"u","content":"c","ttl_seconds":0}`, "ttl_seconds"},
		{"content of an object", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","content":{}}]}`, "messages[0].content"},
		{"part without type", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","content":[{"text":"a"}]}]}`, "messages[0].content"},
		{"misspelt filter", "/v1/memories/search", `{"user_id":"u","query":"q","filter":{"and":[{"field":"type","op":"eq","val":"x"}]}}`, "filter.and[0].val"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rec := w.send("POST", c.path, c.body)
			refused(t, rec, 400, c.field)
		})
	}
}

// TestI4_S6_Taken asserts that strictness refuses nothing that is right.
func TestI4_S6_Taken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/memories", `{"user_id":"u","content":"😀 \ud83d\ude00 \u200b 张三"}`},
		{"POST", "/v1/memories", ` {"user_id":"u","content":"\\u0000","importance":0,"single":false,"subject":"","project_id":null} ` + "\n"},
		{"POST", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":""}]}`},
		{"POST", "/v1/memories/search", `{"user_id":"u","query":"q","kinds":["semantic"],"filter":{"and":[{"field":"metadata.n","op":"eq","value":9007199254740993},{"not":{"field":"type","op":"in","value":["fact"]}}]}}`},
		{"POST", "/v1/context", `{"user_id":"u","turns":0,"options":{"layers":{"session":false},"timezone":"Asia/Shanghai"}}`},
		{"POST", "/v1/sessions/import", `{"user_id":"u","document":{"anything":[1,"\\u0000"]}}`},
	} {
		w := newWorld(t, settings{})
		if rec := w.send(c.method, c.path, c.body); rec.Code >= 300 {
			t.Errorf("%s: %d %s", c.body, rec.Code, rec.Body)
		}
	}
}

// TestF1_MergePatch asserts that absent, null and values are told apart.
func TestF1_MergePatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	rec := w.send("PATCH", "/v1/memories/m?user_id=u", `{"subject":null,"value":"","importance":0,"topics":[],"metadata":{"n":9007199254740993,"x":null}}`,
		"Content-Type", "application/merge-patch+json; charset=UTF-8", "If-Match", "*")
	if rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	want := yiku.PatchMemoryRequest{
		Conditional: yiku.Conditional{IfMatch: "*"}, ID: "m", UserID: "u",
		Subject: yiku.Null[string](), Value: yiku.Some(""), Importance: yiku.Some(0.0), Topics: yiku.Some([]string{}),
		Metadata: yiku.Some(yiku.Metadata{"n": json.Number("9007199254740993"), "x": nil}),
	}
	if diff := cmp.Diff(any(want), *w.seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for body, field := range map[string]string{
		`{"user_id":"u"}`:            "user_id",
		`{"importance":2}`:           "importance",
		`{"importance":"high"}`:      "importance",
		`{"status":"superseded"}`:    "status",
		`{"metadata":{"a":1,"a":2}}`: "metadata",
		`{"content":"a\u0000"}`:      "content",
		`{"valid_from":"tomorrow"}`:  "valid_from",
		`{"topics":["a",""]}`:        "topics[1]",
		`{"topics":[1]}`:             "topics[0]",
	} {
		refused(t, w.send("PATCH", "/v1/memories/m?user_id=u", body), 400, field)
	}
}

// TestS12_ContentType asserts that nothing which a form can send is read.
func TestS12_ContentType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	const body = `{"user_id":"u","content":"c"}`
	for _, ct := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/merge-patch+json", "application/json; charset=gbk", "application/jsonp", "application/json, text/plain", ";"} {
		refused(t, w.send("POST", "/v1/memories", body, "Content-Type", ct), 415, "Content-Type")
	}
	refused(t, w.send("POST", "/v1/memories", body, "Content-Encoding", "gzip"), 415, "Content-Encoding")
	refused(t, w.send("GET", "/v1/memories?user_id=u", body), 400, "body")
	refused(t, w.send("POST", "/v1/memories", body, "If-Match", `"1"`), 400, "if_match")
	refused(t, w.send("DELETE", "/v1/memories/m?user_id=u", "", "If-Match", `1`), 400, "if_match")
	refused(t, w.send("POST", "/v1/memories", body, "Idempotency-Key", " "), 400, "idempotency_key")
}

// TestS12_Loopback asserts that without keys no web page can call.
func TestS12_Loopback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{loopback: true})
	call := func(host string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/memories", strings.NewReader(`{"user_id":"u","content":"c"}`))
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		return rec
	}
	for _, host := range []string{"localhost", "LOCALHOST:7421", "127.0.0.1:7421", "127.0.0.1", "[::1]:7421", "[::1]"} {
		if rec := call(host); rec.Code != 201 {
			t.Errorf("host %q: %d", host, rec.Code)
		}
	}
	for _, host := range []string{"", "evil.example", "evil.example:7421", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:", "127.0.0.1:x",
		"::1", "0.0.0.0", "127.0.0.2:7421", "localhost:80:80", "user@localhost", "[::1", "localhost."} {
		if p := problem(t, call(host)); p.Code != "forbidden" {
			t.Errorf("host %q: %+v", host, p)
		}
	}
	const host = "127.0.0.1:7421"
	for _, origin := range []string{"null", "", "http://evil.example", "http://localhost:7421", "http://127.0.0.1:3000", "http://127.0.0.1",
		"https://127.0.0.1:7421.evil.example", "file://127.0.0.1:7421", "http://x@127.0.0.1:7421", "http://127.0.0.1:7421/"} {
		if p := problem(t, call(host, "Origin", origin)); p.Code != "forbidden" {
			t.Errorf("origin %q: %+v", origin, p)
		}
	}
	if p := problem(t, call(host, "Origin", "http://"+host, "Origin", "http://evil.example")); p.Code != "forbidden" {
		t.Errorf("two origins: %+v", p)
	}
	for _, site := range []string{"cross-site", "same-site", "other"} {
		if p := problem(t, call(host, "Sec-Fetch-Site", site)); p.Code != "forbidden" {
			t.Errorf("site %q: %+v", site, p)
		}
	}
	for dest, want := range map[string]int{"document": 404, "iframe": 403} { // there is no panel here; the guard is what is asked
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		r.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {dest}}
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("a visit in a %s: %d", dest, rec.Code)
		}
	}
	if rec := call(host, "Origin", "http://"+host, "Sec-Fetch-Site", "same-origin"); rec.Code != 201 {
		t.Errorf("the panel: %d %s", rec.Code, rec.Body)
	}
}

// TestF3_EveryRouteNeedsACredential walks the route table.
func TestF3_EveryRouteNeedsACredential(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	reader := newWorld(t, settings{access: yiku.AccessRead})
	for _, op := range wire.Operations() {
		rec := w.send(op.Method, op.Path, "{}", "Authorization", "Bearer wrong")
		if p := problem(t, rec); p.Code != "unauthorized" || rec.Header().Get("WWW-Authenticate") == "" || *w.seen != nil {
			t.Errorf("%s without a key: %+v", op.ID, p)
		}
		if op.Access != yiku.AccessRead {
			if p := problem(t, reader.send(op.Method, op.Path, "{}")); p.Code != "forbidden" || *reader.seen != nil {
				t.Errorf("%s with a reader's key: %+v", op.ID, p)
			}
		}
	}
	if p := problem(t, w.send("GET", "/v1/no-such", "", "Authorization", "Bearer wrong")); p.Code != "unauthorized" {
		t.Errorf("an unknown path without a key: %+v", p)
	}
}

// TestI4_BodyLimit asserts that a body of exactly the limit is read, and that
// of a longer one nothing more than the limit is.
func TestI4_BodyLimit(t *testing.T) {
	t.Parallel()
	const limit = 4096
	w := newWorld(t, settings{maxBody: limit})
	body := func(n int) string {
		frame := `{"user_id":"u","content":""}`
		return strings.Replace(frame, `""`, `"`+str(n-len(frame))+`"`, 1)
	}
	if rec := w.send("POST", "/v1/memories", body(limit)); rec.Code != 201 {
		t.Errorf("exactly the limit: %d %s", rec.Code, rec.Body)
	}
	for _, known := range []bool{true, false} {
		r := httptest.NewRequest("POST", "/v1/memories", nil)
		source := &counter{r: strings.NewReader(str(100 * limit))}
		r.Body, r.ContentLength = io.NopCloser(source), -1
		if known {
			r.ContentLength = 100 * limit
		}
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if p := problem(t, rec); p.Code != "too_large" || rec.Code != 413 {
			t.Errorf("over the limit: %+v", p)
		}
		if source.n > limit+1 {
			t.Errorf("read %d bytes of a body over its limit", source.n)
		}
	}
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += n
	return n, err
}

// TestI4_Panic asserts that a panic is a problem and a log entry without the
// panic's text, and that the connection serves the next request.
func TestI4_Panic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{panics: true})
	srv := httptest.NewServer(w.handler)
	defer srv.Close()
	for range 2 {
		resp, err := srv.Client().Get(srv.URL + "/v1/memories?user_id=u")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 500 || !strings.Contains(string(body), `"code":"internal"`) || strings.Contains(string(body), "CANARY") || resp.Close {
			t.Errorf("%d %s, close %v", resp.StatusCode, body, resp.Close)
		}
	}
	if logs := w.logs.String(); !strings.Contains(logs, "request panicked") || !strings.Contains(logs, "stack") || strings.Contains(logs, "CANARY") {
		t.Errorf("logs %s", logs)
	}
}
