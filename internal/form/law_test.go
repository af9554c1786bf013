package form_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/form"
)

func words(t *rapid.T) string {
	return rapid.OneOf(rapid.SampledFrom([]string{"你好，世界", "a <b> & c", "😀\u2028", "\\\"", "订单 A-1"}), rapid.StringN(1, 12, -1)).
		Filter(func(s string) bool { return !form.Empty(yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(s)}) }).Draw(t, "words")
}

// conversations draws valid ones: user and assistant in turns, each assistant
// with or without calls, each call with its result.
func conversations(t *rapid.T) []yiku.Message {
	var out []yiku.Message
	if rapid.Bool().Draw(t, "system") {
		out = append(out, yiku.Message{Role: yiku.RoleSystem, Content: yiku.Text(words(t))})
	}
	for turn := range rapid.IntRange(0, 5).Draw(t, "turns") {
		user := yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(words(t))}
		if rapid.Bool().Draw(t, "parts") {
			user.Content = yiku.Content{Parts: []yiku.Part{{Type: "text", Text: words(t)}, {Type: "text", Text: words(t)}}}
		}
		out = append(out, user)
		for round := range rapid.IntRange(0, 2).Draw(t, "rounds") {
			call := yiku.Message{Role: yiku.RoleAssistant}
			if rapid.Bool().Draw(t, "says") {
				call.Content = yiku.Text(words(t))
			}
			var results []yiku.Message
			for n := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprintf("call_%d_%d_%d", turn, round, n)
				call.ToolCalls = append(call.ToolCalls, yiku.ToolCall{ID: id, Type: "function", Function: yiku.ToolFunction{Name: "find", Arguments: `{"q":"天气"}`}})
				results = append(results, yiku.Message{Role: yiku.RoleTool, ToolCallID: id, Content: yiku.Text(words(t))})
			}
			out = append(append(out, call), rapid.Permutation(results).Draw(t, "order")...)
		}
		out = append(out, yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text(words(t))})
	}
	return out
}

func TestA6_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := conversations(t)
		for _, kind := range []yiku.MessageForm{yiku.FormOpenAI, yiku.FormAnthropic, yiku.FormYiku} {
			document, err := form.Write(kind, "", list)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := form.Read(kind, document)
			if err != nil {
				t.Fatal(err)
			}
			if diff := same(list, got); diff != "" {
				t.Fatalf("%s: %s\n%s", kind, diff, document)
			}
			again, err := form.Write(kind, "", got)
			if err != nil || string(again) != string(document) {
				t.Fatalf("%s is written otherwise the second time: %v", kind, err)
			}
		}
		if err := form.Valid(yiku.FormOpenAI, list); err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 && list[0].Role == yiku.RoleSystem {
			list = list[1:]
		}
		if err := form.Valid(yiku.FormAnthropic, list); err != nil {
			t.Fatal(err)
		}
	})
}

// A broken copy is seen: the control of the round trip.
func TestA6_RoundTripSeesFaults(t *testing.T) {
	t.Parallel()
	list := []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Content{Parts: []yiku.Part{{Type: "text", Text: "你好"}}}}}
	for _, bad := range [][]yiku.Message{nil, {{Role: yiku.RoleUser, Content: yiku.Text("你好")}}, {{Role: yiku.RoleAssistant, Content: list[0].Content}}} {
		if same(list, bad) == "" {
			t.Errorf("%v passes for %v", bad, list)
		}
	}
}

func TestA6_ExportRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 2, 3, 4, 0, time.UTC)
	list := []yiku.Message{{ID: "a", Role: yiku.RoleUser, Content: yiku.Text("记住"), CreatedAt: at, Pinned: true, Metadata: yiku.Metadata{"来源": "x"}, Origin: yiku.OriginUser, SessionID: "s", Seq: 4}}
	document, err := form.Write(yiku.FormYiku, "", list)
	if err != nil {
		t.Fatal(err)
	}
	got, export, err := form.Read(yiku.FormYiku, document)
	if err != nil || export == nil || export.Format != yiku.SessionExportFormat {
		t.Fatal(export, err)
	}
	if diff := same(list, got); diff != "" {
		t.Error(diff)
	}
	if kind, err := form.Detect(document); err != nil || kind != yiku.FormYiku {
		t.Error(kind, err)
	}
}

// Whatever bytes come in, reading ends in messages or in an error of ours.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"messages":{}}`, `{"messages":null}`, `5`, `{"format":5,"messages":[]}`, `{"system":5,"messages":[{"role":"user","content":"茶"}]}`, `[{"role":5,"content":"a"}]`, `[{"role":"user","content":5}]`, `[{"role":"robot","content":"好"}]`,
		`[{"role":"user","content":"a","created_at":1777636800.5}]`, `[{"role":"user","content":"a","created_at":"2026-05-01T12:00:00+08:00"}]`, `[{"role":"user","content":"a","created_at":"gestern"}]`, `[{"role":"user","content":"a","created_at":1e999}]`,
		`[{"role":"assistant","function_call":{"name":"查","arguments":"{}"}},{"role":"function","name":"查","content":"晴"}]`, `[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"not json"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]`,
		`[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"[1]"}},{"id":"c","function":{"name":"f"}}]}]`, `[{"role":"assistant","tool_calls":5}]`, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"text","text":"图"}]}]`,
		`[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}]`, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"错"}],"is_error":true}]}]`, `[{"role":"assistant","content":[{"type":"tool_use","id":5,"name":"w"}]}]`,
		`{"format":"yiku.session.v1","session":5,"messages":[]}`, `{"format":"yiku.session.v1","session":{},"messages":[{"role":"user","content":5}]}`, `{"format":"yiku.session.v1","session":{},"messages":[{"role":5}]}`, `{"format":"yiku.session.v1","messages":[{"content":"a"}]}`,
		`[{"role":"assistant","refusal":"不行"}]`, `[{"role":"developer","content":"简短"}]`,
		openAIDoc, anthropicDoc, `[]`, `{}`, `[{"role":"user"}]`, `{"format":"yiku.session.v1","messages":[null]}`, `[null]`, `{"messages":[{"role":"user","content":[null]}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		_, _ = form.Detect(document)
		for _, kind := range []yiku.MessageForm{yiku.FormOpenAI, yiku.FormAnthropic, yiku.FormPlain, yiku.FormYiku} {
			list, _, err := form.Read(kind, document)
			if err != nil {
				continue
			}
			for _, to := range []yiku.MessageForm{yiku.FormOpenAI, yiku.FormAnthropic, yiku.FormPlain, yiku.FormYiku} {
				if _, err := form.Write(to, "", list); err != nil {
					t.Errorf("what %s read cannot be written as %s: %v", kind, to, err)
				}
			}
		}
	})
}

func TestA4_Valid(t *testing.T) {
	t.Parallel()
	user, says, system := yiku.Message{Role: "user", Content: yiku.Text("问")}, yiku.Message{Role: "assistant", Content: yiku.Text("hi")}, yiku.Message{Role: "system"}
	call := yiku.Message{Role: "assistant", ToolCalls: []yiku.ToolCall{{ID: "a", Function: yiku.ToolFunction{Name: "f"}}, {ID: "b", Function: yiku.ToolFunction{Name: "f"}}}}
	a, b := yiku.Message{Role: "tool", ToolCallID: "a"}, yiku.Message{Role: "tool", ToolCallID: "b"}
	twice, nameless := call, call
	twice.ToolCalls = []yiku.ToolCall{call.ToolCalls[0], call.ToolCalls[0]}
	nameless.ToolCalls = []yiku.ToolCall{{ID: "a"}}
	for _, c := range []struct {
		what              string
		list              []yiku.Message
		openAI, anthropic string // the field at fault
	}{
		{"nothing", nil, "", ""},
		{"talk", []yiku.Message{user, says, user}, "", ""},
		{"results in another order", []yiku.Message{user, call, b, a, says}, "", ""},
		{"neighbours of one role", []yiku.Message{user, user, says, says}, "", ""},
		{"results still to come", []yiku.Message{user, call, a}, "", ""},
		{"the assistant first", []yiku.Message{says, user}, "", "messages[0].role"},
		{"system inside", []yiku.Message{user, system, says}, "", "messages[1].role"},
		{"a result missing", []yiku.Message{user, call, a, says}, "messages[3]", "messages[3]"},
		{"a result of nothing", []yiku.Message{user, a}, "messages[1].tool_call_id", "messages[1].tool_call_id"},
		{"a result twice", []yiku.Message{user, call, a, a}, "messages[3].tool_call_id", "messages[3].tool_call_id"},
		{"a late result", []yiku.Message{user, call, a, user, b}, "messages[3]", "messages[3]"},
		{"an id twice", []yiku.Message{user, twice}, "messages[1].tool_calls[1].id", "messages[1].tool_calls[1].id"},
		{"no name", []yiku.Message{user, nameless}, "messages[1].tool_calls[0].function.name", "messages[1].tool_calls[0].function.name"},
		{"the user calls", []yiku.Message{{Role: "user", ToolCalls: call.ToolCalls}}, "messages[0].tool_calls", "messages[0].tool_calls"},
		{"no role", []yiku.Message{{}}, "messages[0].role", "messages[0].role"},
	} {
		for kind, want := range map[yiku.MessageForm]string{yiku.FormOpenAI: c.openAI, yiku.FormAnthropic: c.anthropic} {
			err := form.Valid(kind, c.list)
			got := ""
			if e, ok := err.(*yiku.Error); ok {
				got = e.Fields[0].Field
			}
			if got != want {
				t.Errorf("%s as %s: %v; want %q", c.what, kind, err, want)
			}
		}
	}
}
