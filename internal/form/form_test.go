package form_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/form"
)

func same(a, b []yiku.Message) string {
	return cmp.Diff(a, b, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b yiku.Part) bool {
		x, err1 := json.Marshal(a)
		y, err2 := json.Marshal(b)
		return err1 == nil && err2 == nil && string(x) == string(y)
	}))
}

func content(t testing.TB, raw string) yiku.Content {
	t.Helper()
	var c yiku.Content
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	image    = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`
	imageURL = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`
)

const openAIDoc = `{"model":"gpt-4o","messages":[
 {"role":"developer","content":"你是助手"},
 {"role":"user","name":"小明","content":[{"type":"text","text":"看图"},` + imageURL + `]},
 {"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"天气","arguments":"{\"城市\":\"北京\"}"}}]},
 {"role":"tool","tool_call_id":"call_1","content":"晴"},
 {"role":"assistant","content":"今天晴。"}]}`

const anthropicDoc = `{"model":"claude","max_tokens":9,"system":"你是助手","messages":[
 {"role":"user","content":[{"type":"text","text":"看图"},` + image + `]},
 {"role":"assistant","content":[{"type":"text","text":"我查一下"},{"type":"tool_use","id":"call_1","name":"weather","input":{"城市": "北京"}},{"type":"tool_use","id":"call_2","name":"time","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"晴"},{"type":"tool_result","tool_use_id":"call_2","is_error":true,"content":[{"type":"text","text":"no clock"}]},{"type":"text","text":"快点"}]},
 {"role":"assistant","content":"Sunny today."}]}`

func TestA6_ReadsOpenAI(t *testing.T) {
	t.Parallel()
	got, export, err := form.Read(yiku.FormOpenAI, []byte(openAIDoc))
	if err != nil || export != nil {
		t.Fatal(err)
	}
	want := []yiku.Message{
		{Role: "system", Content: yiku.Text("你是助手")},
		{Role: "user", Name: "小明", Content: content(t, `[{"type":"text","text":"看图"},`+imageURL+`]`)},
		{Role: "assistant", ToolCalls: []yiku.ToolCall{{ID: "call_1", Type: "function", Function: yiku.ToolFunction{Name: "天气", Arguments: `{"城市":"北京"}`}}}},
		{Role: "tool", ToolCallID: "call_1", Content: yiku.Text("晴")},
		{Role: "assistant", Content: yiku.Text("今天晴。")},
	}
	if diff := same(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestA6_ReadsOldFunctionCallsIdsAndTimes(t *testing.T) {
	t.Parallel()
	got, _, err := form.Read(yiku.FormOpenAI, []byte(`[
	 {"id":"a","role":"user","content":"hi","created_at":1767366245,"metadata":{"k":1},"pinned":true},
	 {"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
	 {"role":"function","name":"f","content":"1"},
	 {"role":"assistant","content":null,"refusal":"I cannot","created_at":"2026-01-02T23:04:05+08:00"}]`))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	want := []yiku.Message{
		{ID: "a", Role: "user", Content: yiku.Text("hi"), CreatedAt: at, Metadata: yiku.Metadata{"k": 1.0}, Pinned: true},
		{Role: "assistant", ToolCalls: []yiku.ToolCall{{ID: "call_1", Type: "function", Function: yiku.ToolFunction{Name: "f", Arguments: "{}"}}}},
		{Role: "tool", Name: "f", ToolCallID: "call_1", Content: yiku.Text("1")},
		{Role: "assistant", Content: yiku.Text("I cannot"), CreatedAt: at},
	}
	if diff := same(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestA6_ReadsAnthropic(t *testing.T) {
	t.Parallel()
	got, _, err := form.Read(yiku.FormAnthropic, []byte(anthropicDoc))
	if err != nil {
		t.Fatal(err)
	}
	want := []yiku.Message{
		{Role: "system", Content: yiku.Text("你是助手")},
		{Role: "user", Content: content(t, `[{"type":"text","text":"看图"},`+image+`]`)},
		{Role: "assistant", Content: yiku.Text("我查一下"), ToolCalls: []yiku.ToolCall{
			{ID: "call_1", Type: "function", Function: yiku.ToolFunction{Name: "weather", Arguments: `{"城市":"北京"}`}},
			{ID: "call_2", Type: "function", Function: yiku.ToolFunction{Name: "time", Arguments: `{}`}},
		}},
		{Role: "tool", ToolCallID: "call_1", Content: yiku.Text("晴")},
		{Role: "tool", ToolCallID: "call_2", Content: content(t, `[{"type":"text","text":"no clock"}]`), Metadata: yiku.Metadata{"is_error": true}},
		{Role: "user", Content: yiku.Text("快点")},
		{Role: "assistant", Content: yiku.Text("Sunny today.")},
	}
	if diff := same(want, got); diff != "" {
		t.Error(diff)
	}
	written, err := form.Write(yiku.FormAnthropic, "", got)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := form.Read(yiku.FormAnthropic, written)
	if diff := same(want, again); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestA6_WritesForEachAPI(t *testing.T) {
	t.Parallel()
	list, _, err := form.Read(yiku.FormAnthropic, []byte(anthropicDoc))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[yiku.MessageForm]string{
		yiku.FormOpenAI: `{"messages":[{"role":"system","content":"记忆 <m>"},{"role":"system","content":"你是助手"},{"role":"user","content":[{"type":"text","text":"看图"},` + imageURL + `]},` +
			`{"role":"assistant","content":"我查一下","tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"城市\":\"北京\"}"}},{"id":"call_2","type":"function","function":{"name":"time","arguments":"{}"}}]},` +
			`{"role":"tool","content":"晴","tool_call_id":"call_1"},{"role":"tool","content":[{"type":"text","text":"no clock"}],"tool_call_id":"call_2"},{"role":"user","content":"快点"},{"role":"assistant","content":"Sunny today."}]}`,
		yiku.FormAnthropic: `{"system":"记忆 <m>\n\n你是助手","messages":[{"role":"user","content":[{"type":"text","text":"看图"},` + image + `]},` +
			`{"role":"assistant","content":[{"type":"text","text":"我查一下"},{"type":"tool_use","id":"call_1","name":"weather","input":{"城市":"北京"}},{"type":"tool_use","id":"call_2","name":"time","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"晴"},{"type":"tool_result","tool_use_id":"call_2","content":[{"type":"text","text":"no clock"}],"is_error":true},{"type":"text","text":"快点"}]},{"role":"assistant","content":"Sunny today."}]}`,
		yiku.FormPlain: `[{"role":"system","content":"记忆 <m>"},{"role":"system","content":"你是助手"},{"role":"user","content":"看图"},{"role":"assistant","content":"我查一下"},{"role":"tool","content":"晴"},{"role":"tool","content":"no clock"},{"role":"user","content":"快点"},{"role":"assistant","content":"Sunny today."}]`,
	} {
		got, err := form.Write(kind, "记忆 <m>", list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

// What Anthropic's API refuses is written otherwise: repeated and odd ids,
// arguments that are no object, blank text.
func TestA6_WritesWhatAnthropicTakes(t *testing.T) {
	t.Parallel()
	call := func(arguments string) yiku.Message {
		return yiku.Message{Role: "assistant", ToolCalls: []yiku.ToolCall{{ID: "调用 1", Function: yiku.ToolFunction{Name: "f", Arguments: arguments}}}}
	}
	result := yiku.Message{Role: "tool", ToolCallID: "调用 1"}
	got, err := form.Write(yiku.FormAnthropic, "", []yiku.Message{{Role: "user", Content: yiku.Text(" \n")}, call(""), result, call("no json"), result})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"role":"user","content":"…"},{"role":"assistant","content":[{"type":"tool_use","id":"___1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"___1"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"___1_2","name":"f","input":{"arguments":"no json"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"___1_2"}]}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestA6_Detect(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]yiku.MessageForm{
		`{"format":"yiku.session.v1","session":{},"messages":[]}`: yiku.FormYiku,
		openAIDoc:    yiku.FormOpenAI,
		anthropicDoc: yiku.FormAnthropic,
		`[{"role":"user","content":"你好"},{"role":"assistant","content":"hi"}]`: yiku.FormPlain,
		` {"messages":[{"role":"user","content":"你好"}]}`:                       yiku.FormPlain,
		`[{"role":"user","content":[` + image + `]}]`:                          yiku.FormAnthropic,
		`[{"role":"user","content":[` + imageURL + `]}]`:                       yiku.FormOpenAI,
		`[{"role":"tool","tool_call_id":"a","content":"x"}]`:                   yiku.FormOpenAI,
	} {
		if got, err := form.Detect([]byte(document)); err != nil || got != want {
			t.Errorf("%.50s: %s, %v; want %s", document, got, err, want)
		}
	}
}

func TestA6_ErrorsNameTheField(t *testing.T) {
	t.Parallel()
	const secret = "机密"
	for _, c := range []struct {
		form            yiku.MessageForm
		document, field string
	}{
		{yiku.FormOpenAI, secret, "document"}, {yiku.FormOpenAI, ``, "document"}, {yiku.FormPlain, `"机密"`, "document"},
		{yiku.FormPlain, `{"text":"机密"}`, "messages"}, {yiku.FormOpenAI, `{"messages":"机密"}`, "messages"},
		{yiku.FormOpenAI, `[{"role":"user","content":"a"},"机密"]`, "messages[1]"},
		{yiku.FormOpenAI, `[{"role":"机密","content":"a"}]`, "messages[0].role"}, {yiku.FormPlain, `[{"content":"机密"}]`, "messages[0].role"},
		{yiku.FormPlain, `[{"role":"user","content":"a"},{"role":"user","content":"a"},{"role":"user","content":"a"},{"role":"user","content":7}]`, "messages[3].content"},
		{yiku.FormOpenAI, `[{"role":"user","content":[{"text":"机密"}]}]`, "messages[0].content[0]"},
		{yiku.FormOpenAI, `[{"role":"user","content":"","name":["机密"]}]`, "messages[0].name"},
		{yiku.FormOpenAI, `[{"role":"user","content":"","created_at":"机密"}]`, "messages[0].created_at"},
		{yiku.FormOpenAI, `[{"role":"assistant","tool_calls":[{"id":1}]}]`, "messages[0].tool_calls.id"},
		{yiku.FormAnthropic, `{"system":5,"messages":[]}`, "system"},
		{yiku.FormAnthropic, `[{"role":"assistant","content":[{"type":"tool_use","name":"机密"}]}]`, "messages[0].content[0].id"},
		{yiku.FormAnthropic, `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","content":"机密"}]}]`, "messages[0].content[1].tool_use_id"},
		{yiku.FormYiku, `{"messages":[]}`, "format"}, {yiku.FormYiku, `{"format":"yiku.session.v1","messages":[{"role":"user","content":{}}]}`, "messages[0].content"},
		{yiku.FormYiku, `{"format":"yiku.session.v1","messages":[{"role":"user","pinned":"机密"}]}`, "messages[0].pinned"},
		{"机密", `[]`, "format"},
	} {
		_, _, err := form.Read(c.form, []byte(c.document))
		var e *yiku.Error
		if !errors.As(err, &e) || !errors.Is(err, yiku.ErrInvalid) || len(e.Fields) != 1 || e.Fields[0].Field != c.field {
			t.Errorf("%s %s: %v; want %s", c.form, c.document, err, c.field)
		}
		if strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("the error holds the value: %v", err)
		}
	}
	if _, err := form.Detect([]byte(`{"format":"yiku.session.v9","messages":[]}`)); !errors.Is(err, yiku.ErrInvalid) {
		t.Error(err)
	}
}
