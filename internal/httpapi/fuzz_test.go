package httpapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/wire"
)

// FuzzBody: whatever a body holds, the answer is a success or a complete
// problem, never a fault of the server; and what is taken is one JSON object
// that encoding/json reads to the same content.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"user_id":"u","content":"c"}`, `{"user_id":"u","content":"c","metadata":{"a":[1,{"b":null}]},"importance":0.5}`,
		`{"user_id":"u","user_id":"v","content":"c"}`, `{"USER_ID":"u"}`, `{"user_id":"u","content":"\u0000"}`, `{"user_id":"u","content":"\ud800"}`,
		`{"user_id":"u","content":"c"}x`, strings.Repeat("[", 70), `{"user_id":"u","content":"c","importance":1e400}`, "\ufeff{}", "null", "",
	} {
		f.Add("/v1/memories", s)
	}
	f.Add("/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`)
	f.Add("/v1/sessions/s/messages", `{"user_id":"小明","messages":[{"id":"","role":"user","content":"茶","created_at":"2026-05-01T12:00:00+08:00"},{"role":"user","origin":"","content":null}]}`)
	f.Add("/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"assistant","content":"好","created_at":"0001-01-01T00:00:00Z","tool_calls":[{"id":"c","function":{"name":"","arguments":5}}]}]}`)
	for _, s := range []string{
		`{"user_id":"u","content":"c","valid_from":"0001-01-01T00:00:00Z"}`, `{"user_id":"u","content":"c","valid_from":"now"}`, `{"user_id":"u","content":"茶","ttl_seconds":0,"project_id":"","level":""}`,
		`{"user_id":"u","content":"c","ttl_seconds":-0}`, `{"user_id":"u","content":"c","topics":["a","",5],"single":"yes"}`, `{"id":"u"}`, `{"user_id":"u","content":"c","metadata":{"键":{"a":1e999}}}`, `{"user_id":"u","content":"c","if_match":"3"}`,
		`{"user_id":"u","content":"c","idempotency_key":"k"}`, `{"user_id":"u","content":"c","metadata":{"a":"\udc00"}}`, `{"user_id":"u","content":"c\u0000","\u202e":1}`, `{"user_id":"u","content":"\u200b"}`,
	} {
		f.Add("/v1/memories", s)
	}
	f.Add("/v1/memories/search", `{"user_id":"u","query":"q","filter":{"and":[{"field":"type","op":"eq","value":"fact"}]}}`)
	f.Add("/v1/memories/m?user_id=u", `{"topics":null,"metadata":{"a":1e3}}`)
	f.Add("/v1/sessions/import", `{"user_id":"u","document":{"messages":[]}}`)
	f.Fuzz(func(t *testing.T, target, body string) {
		method := "POST"
		switch {
		case strings.HasPrefix(target, "/v1/memories/m?"):
			method, target = "PATCH", "/v1/memories/m?user_id=u"
		case strings.HasPrefix(target, "/v1/sessions/s/"):
			target = "/v1/sessions/s/messages"
		case target != "/v1/memories/search" && target != "/v1/sessions/import":
			target = "/v1/memories"
		}
		w := newWorld(t, settings{})
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code >= 500 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		if rec.Code >= 300 {
			problem(t, rec)
			return
		}
		var got struct {
			Content *string `json:"content"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil && target == "/v1/memories" {
			t.Fatalf("taken, and no JSON: %v", err)
		}
		if saved, ok := (*w.seen).(yiku.SaveMemoryRequest); ok && (got.Content == nil || *got.Content != saved.Content) {
			t.Errorf("taken as %q", saved.Content)
		}
	})
}

// FuzzQuery: a query is taken or refused, never a fault, and what is taken has
// each of its parameters once.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"user_id=u", "user_id=u&limit=5&type=fact", "user_id=u&user_id=v", "limit=", "user_id=u;a=b", "user_id=%zz", "user_id=%00", "USER_ID=u", "user_id=u&topic=%E8%8C%B6"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		w := newWorld(t, settings{answer: yiku.Page[yiku.Memory]{}})
		r := httptest.NewRequest("GET", "/v1/memories", nil)
		r.URL.RawQuery = query
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code >= 300 {
			if p := problem(t, rec); p.Code != "invalid" || len(p.Errors) == 0 {
				t.Errorf("%+v", p)
			}
			return
		}
		values, err := url.ParseQuery(query)
		if err != nil || len(values["user_id"]) != 1 || values["user_id"][0] != (*w.seen).(yiku.ListMemoriesRequest).UserID {
			t.Errorf("%q was taken as %+v", query, *w.seen)
		}
		for name, v := range values {
			if len(v) != 1 || v[0] == "" {
				t.Errorf("%q was taken with %s", query, name)
			}
		}
	})
}

// TestR31_Canaries puts a word into every place of every request, right and
// wrong, and asserts that neither a problem nor a log entry shows it.
func TestR31_Canaries(t *testing.T) {
	t.Parallel()
	const canary = "CANARY7f3a"
	trials := 0
	bodies := []string{
		`{"user_id":"CANARY7f3a","content":"CANARY7f3a","subject":5}`,
		`{"user_id":"CANARY7f3a\u0000","content":"CANARY7f3a\u0000","type":"CANARY7f3a","level":"CANARY7f3a"}`,
		`{"user_id":"u","content":"c","metadata":{"CANARY7f3a":1,"CANARY7f3a":2}}`,
		`{"user_id":"u","content":"c","metadata":{"CANARY7f3a":"\ud800"}}`,
		`{"user_id":"u","content":"c","metadata":{"CANARY7f3a":1e999}}`,
		`{"user_id":"u","content":"CANARY7f3a`, `CANARY7f3a`, `{"user_id":"u"}CANARY7f3a`, `{"user_id":CANARY7f3a}`, `["CANARY7f3a"]`,
		`{"user_id":"u","content":"c","valid_from":"CANARY7f3a","importance":"CANARY7f3a"}`,
		`{"user_id":"u","content":"c","valid_from":"CANARY7f3a"}`, `{"user_id":"u","content":"c","topics":{"CANARY7f3a":1}}`,
		`{"user_id":"u","messages":[{"role":"CANARY7f3a","content":"CANARY7f3a"}]}`, `{"user_id":"u","messages":[{"role":"user","content":{"CANARY7f3a":"CANARY7f3a"}}]}`,
		`{"user_id":"u","messages":[{"role":"user","content":[{"type":"text","text":["CANARY7f3a"]}]}]}`,
		`{"user_id":"u","query":"CANARY7f3a","filter":{"field":"CANARY7f3a","op":"CANARY7f3a","value":"CANARY7f3a"}}`,
		`{"user_id":"u","options":{"timezone":"CANARY7f3a","format":"CANARY7f3a"}}`,
		`{"user_id":"u","document":"CANARY7f3a","format":"CANARY7f3a"}`,
		`{"data_slots":{"CANARY7f3a":"CANARY7f3a\u0000"},"blocks":{"CANARY7f3a":{"limit":-1,"value":5}}}`,
	}
	for _, s := range []settings{
		{}, {panics: true},
		{err: &foreign{canary}},
		{err: &yiku.Error{Sentinel: yiku.ErrConflict, Detail: "the id is in use"}},
	} {
		w := newWorld(t, s)
		for _, op := range wire.Operations() {
			path := strings.NewReplacer("{session_id}", canary, "{task_id}", canary, "{id}", canary+"%00").Replace(op.Path)
			for _, query := range []string{"", "?user_id=" + canary, "?user_id=" + canary + "&limit=" + canary + "&type=" + canary, "?user_id=%00" + canary} {
				for _, body := range bodies {
					if op.Method == "GET" || op.Method == "DELETE" {
						body = ""
					}
					trials++
					rec := w.send(op.Method, path+query, body, "Idempotency-Key", canary+"\x7f", "If-Match", canary, "X-Request-ID", canary+" ")
					if rec.Code >= 400 && strings.Contains(rec.Body.String(), canary) {
						t.Errorf("%s %s %s: %s", op.ID, query, body, rec.Body)
					}
				}
			}
		}
		if strings.Contains(w.logs.String(), canary) {
			t.Errorf("the log holds the canary")
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R31", Part: "http", Trials: trials, What: "requests were answered or logged with a value of theirs"})
}

// foreign is an error of a driver whose text holds what was stored.
type foreign struct{ text string }

func (f *foreign) Error() string { return "constraint failed: " + f.text }

// FuzzParameters: an id in the path and the headers of a write are taken as
// they are, or refused by name; nothing is cut, trimmed or read as something
// else on the way.
func FuzzParameters(f *testing.F) {
	for _, id := range []string{"m-1", "记忆/一?#%2F", "a b", " a", "a\x00", "\xff", "..", ".", "a\u200b", strings.Repeat("键", 256), strings.Repeat("键", 257)} {
		f.Add(id, id, `"3"`)
	}
	f.Add("m", "order-1", `W/"3", "4"`)
	f.Add("m", "订单", "*")
	f.Add("m", "k", `"3`)
	f.Fuzz(func(t *testing.T, id, key, match string) {
		if id == "" || id == "." || id == ".." {
			return // another path
		}
		w := newWorld(t, settings{answer: yiku.Memory{}})
		r := httptest.NewRequest("POST", "/v1/memories/"+url.PathEscape(id)+"/confirm", strings.NewReader(`{"user_id":"小明"}`))
		r.Header["Content-Type"], r.Header["Idempotency-Key"] = []string{"application/json"}, []string{key}
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		good := yiku.CheckID("", id) == nil && yiku.CheckID("", key) == nil
		if good != (rec.Code == 200) {
			t.Fatalf("the id %q and the key %q: %d %s", id, key, rec.Code, rec.Body)
		}
		if got, ok := (*w.seen).(yiku.ConfirmMemoryRequest); good && (!ok || got.ID != id || got.IdempotencyKey != key) {
			t.Errorf("the id %q and the key %q came as %+v", id, key, *w.seen)
		}
		r = httptest.NewRequest("DELETE", "/v1/memories/m?user_id=u", nil)
		r.Header["If-Match"] = []string{match}
		rec = httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code == 204 {
			if got := (*w.seen).(yiku.DeleteMemoryRequest).IfMatch; got != match {
				t.Errorf("the condition %q came as %q", match, got)
			}
		} else {
			refused(t, rec, 400, "if_match")
		}
	})
}
