package engine

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/form"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/store"
)

// secretStore has a secret and nothing else.
type secretStore struct{ store.Store }

func (secretStore) Meta() store.Meta { return store.Meta{Secret: []byte("a store's secret")} }

// bareCall is a call of an operation that needs no store.
func bareCall(operation string) *call {
	return &call{
		Engine:    &Engine{store: secretStore{}, checker: check.New()},
		principal: yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin},
		event:     &observe.Event{Operation: operation},
	}
}

// names fails unless an error is invalid and its fields lie at a place.
func names(t *testing.T, err error, place string) {
	t.Helper()
	var e *yiku.Error
	if !errors.Is(err, yiku.ErrInvalid) || !errors.As(err, &e) || len(e.Fields) == 0 {
		t.Fatalf("%v is not invalid, or names nothing", err)
	}
	for _, f := range e.Fields {
		if rest, ok := strings.CutPrefix(f.Field, place); !ok || rest != "" && rest[0] != '.' && rest[0] != '[' || f.Message == "" {
			t.Errorf("%+v is not at %s", f, place)
		}
	}
}

// FuzzCursor (R15): a cursor comes back as the place that it was made of, for
// its own list alone; and whatever else comes as one is refused by name, unless
// it is, letter by letter, what this list would give.
func FuzzCursor(f *testing.F) {
	c := bareCall("list_memories")
	for _, place := range []string{"", "01a22c93-9a3e-780f-8312-669b9ce7d275", "会话-1", "a\x00b", strings.Repeat("茶", 256)} {
		sealed, err := c.cursorOf(place, "小明")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(place, sealed)
		f.Add(place, sealed[:len(sealed)-1])
		f.Add(place, sealed+"\n")
	}
	number, err := c.cursorOf(5, "小明") // genuine, and of another kind of list
	if err != nil {
		f.Fatal(err)
	}
	f.Add("茶", number)
	f.Add("tea", "eyJhIjoxfQ")
	f.Add("茶", "=")
	f.Fuzz(func(t *testing.T, place, text string) {
		place = strings.ToValidUTF8(place, "?")
		sealed, err := c.cursorOf(place, "小明")
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := c.openCursor(sealed, &got, "小明"); err != nil || got != place {
			t.Fatalf("%q came back as %q, %v", place, got, err)
		}
		for _, other := range []struct {
			list  *call
			scope string
		}{{c, "小红"}, {c, ""}, {bareCall("list_sessions"), "小明"}} {
			names(t, other.list.openCursor(sealed, &got, other.scope), "cursor")
		}
		if err := c.openCursor(text, &got, "小明"); err != nil {
			names(t, err, "cursor")
		} else if again, err := c.cursorOf(got, "小明"); err != nil || again != text {
			t.Errorf("%q is taken, and this list gives %q, %v", text, again, err)
		}
	})
}

// FuzzImport (R15, A6): whatever document comes in, it becomes messages that an
// append would take, or is refused with a place in the document. What is taken
// can be exported and comes back the same.
func FuzzImport(f *testing.F) {
	for _, document := range []string{
		`[{"role":"user","content":"杭州天气？"},{"role":"assistant","content":"晴"}]`,
		`{"messages":[{"role":"user","content":"weather?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"晴"}]}`,
		`{"system":"你是助手","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"w","input":{"城":"杭州"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"晴"}]}]}`,
		`{"format":"yiku.session.v1","session":{"session_id":"会话","user_id":"小明","metadata":{"k":[1,{"b":null}]},"created_at":"2026-05-01T12:00:00Z","message_count":1,"version":3},"messages":[{"id":"m","role":"user","content":"hi","pinned":true,"created_at":"2026-05-01T12:00:00+08:00"}]}`,
		`{"format":"yiku.session.v1","session":{"session_id":" "},"messages":[{"role":"user","content":"hi"}]}`,
		`[{"role":"user","content":"a\u0000"}]`, `[{"role":"robot","content":"a"}]`, `[]`, `{}`, `null`, `[null]`, `{"messages":[{}]}`,
	} {
		f.Add("", document)
		f.Add("yiku", document)
		f.Add("openai", document)
		f.Add("anthropic", document)
	}
	c := bareCall("import_session")
	f.Fuzz(func(t *testing.T, kind, document string) {
		req := yiku.ImportSessionRequest{UserID: "小明", Format: yiku.MessageForm(kind), Document: yiku.RawJSON(document)}
		if c.checker.Request(req) != nil {
			return // refused before: its own tests say how
		}
		session, _, messages, err := c.readDocument(req)
		if err != nil {
			names(t, err, "document")
			return
		}
		if err := c.checkMessages(messages); err != nil || len(messages) == 0 {
			t.Fatalf("%d messages, of which an append says %v", len(messages), err)
		}
		exported, err := form.Write(yiku.FormYiku, "", messages)
		if err != nil {
			t.Fatal(err)
		}
		again := req
		again.Format, again.Document = yiku.FormYiku, exported
		_, _, back, err := c.readDocument(again)
		if err != nil {
			t.Fatalf("an export cannot be imported: %v", err)
		}
		if before, after := written(t, messages), written(t, back); before != after {
			t.Errorf("an export comes back different:\n%s\n%s", before, after)
		}
		for _, id := range []string{session.ID, session.ProjectID, session.AgentID} {
			if id != "" && yiku.CheckID("id", id) != nil {
				t.Errorf("the id %q is taken", id)
			}
		}
	})
}

// written is what is written of messages, which is how they are compared.
func written(t *testing.T, messages []yiku.Message) string {
	t.Helper()
	raw, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// FuzzIdempotencyKey (R15): a key is taken where it is an id, and then a
// request under it has one fingerprint, which another request does not have.
func FuzzIdempotencyKey(f *testing.F) {
	for _, key := range []string{"order-1", "订单-1", "", " ", "a\tb", "a\x00", "\xff", "a\u200b", strings.Repeat("键", 256), strings.Repeat("键", 257)} {
		f.Add(key, "喜欢 tea")
	}
	c := bareCall("save_memory")
	f.Fuzz(func(t *testing.T, key, content string) {
		req := yiku.SaveMemoryRequest{UserID: "u", Content: "茶", Idempotent: yiku.Idempotent{IdempotencyKey: key}}
		err := c.checker.Request(req)
		if good := key == "" || yiku.CheckID("", key) == nil; good != (err == nil) {
			t.Fatalf("the key %q: %v", key, err)
		}
		if err != nil {
			names(t, err, "idempotency_key")
			return
		}
		if n := utf8.RuneCountInString(key); n > yiku.MaxIDRunes || strings.ContainsAny(key, "\r\n\x00") {
			t.Fatalf("the key %q is taken", key)
		}
		first, err1 := c.fingerprint(req)
		second, err2 := c.fingerprint(req)
		if err1 != nil || err2 != nil || string(first) != string(second) {
			t.Fatalf("two fingerprints of one request: %v, %v", err1, err2)
		}
		other := req
		if other.Content = strings.ToValidUTF8(content, "?"); other.Content != req.Content {
			if third, err := c.fingerprint(other); err != nil || string(third) == string(first) {
				t.Errorf("one fingerprint of two requests: %v", err)
			}
		}
	})
}
