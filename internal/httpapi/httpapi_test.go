package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
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
	user     string // the one that the credential speaks for
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
			return yiku.Principal{Tenant: "t", Access: s.access, User: s.user}, nil
		},
		Service:      func(yiku.Principal) yiku.Service { return stub },
		Loopback:     func() bool { return s.loopback },
		Metrics:      http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
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
		"user_id=u&a%0D%0Ab=1":          "*",
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
// Lessons: L113.
func TestI4_S6_Body(t *testing.T) {
	t.Parallel()
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
		{"empty id below", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","content":"a"},{"id":"","role":"user","content":"b"}]}`, "messages[1].id"},
		{"empty enum below", "/v1/context", `{"user_id":"u","options":{"format":""}}`, "options.format"},
		{"empty operator", "/v1/memories/search", `{"user_id":"u","query":"q","filter":{"or":[{"not":{"field":"type","op":"","value":"x"}}]}}`, "filter.or[0].not.op"},
		{"zero time", "/v1/memories", `{"user_id":"u","content":"c","valid_from":"0001-01-01T08:00:00+08:00"}`, "valid_from"},
		{"zero time below", "/v1/context", `{"user_id":"u","options":{"as_of":"0001-01-01T00:00:00Z"}}`, "options.as_of"},
		{"misspelt filter", "/v1/memories/search", `{"user_id":"u","query":"q","filter":{"and":[{"field":"type","op":"eq","val":"x"}]}}`, "filter.and[0].val"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rec := newWorld(t, settings{}).send("POST", c.path, c.body)
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
