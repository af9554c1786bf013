package window_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/form"
	"github.com/yiku-ai/yiku/internal/token"
	"github.com/yiku-ai/yiku/internal/window"
)

// texts draws what people and machines say: short and huge, Chinese, English,
// emoji, small talk, nothing.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		base := rapid.SampledFrom([]string{
			"", "  ", "好的", "你好！", "Sure, no problem.", "请把数据库换成 MySQL。", "What is the plan for tomorrow?", "😀👍🏽", "订单号是 A-1029，金额 3,200 元。",
			"The answer is 42.", "龘靐齉", "line\r\n \n\tline",
		}).Draw(t, "text")
		times := 1
		switch rapid.IntRange(0, 11).Draw(t, "size") {
		case 0:
			times = 200
		case 1, 2:
			times = 12
		}
		return strings.Repeat(base, times)
	})
}

func contents(t *rapid.T) yiku.Content {
	text := texts().Draw(t, "content")
	if rapid.IntRange(0, 9).Draw(t, "parts") > 0 {
		return yiku.Text(text)
	}
	var c yiku.Content
	raw := `[{"type":"text","text":` + quote(text) + `},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"text","text":"图"}]`
	if rapid.Bool().Draw(t, "text only") {
		raw = `[{"type":"text","text":` + quote(text) + `},{"type":"text","text":"再说一次 again"}]`
	}
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// histories draws a session. Calls have no, some or all of their results,
// directly behind, in another order, or late; some results answer nothing.
func histories(t *rapid.T) []yiku.Message {
	var out []yiku.Message
	add := func(m yiku.Message) {
		m.ID = fmt.Sprintf("m%d", len(out))
		m.Pinned = rapid.IntRange(0, 13).Draw(t, "pin") == 0
		out = append(out, m)
	}
	var waiting []string // calls without a result
	result := func(id string) { add(yiku.Message{Role: yiku.RoleTool, ToolCallID: id, Content: contents(t)}) }
	for range rapid.IntRange(0, 14).Draw(t, "steps") {
		switch rapid.IntRange(0, 12).Draw(t, "step") {
		case 0, 1, 2, 3:
			add(yiku.Message{Role: yiku.RoleUser, Content: contents(t)})
		case 4, 5, 6:
			add(yiku.Message{Role: yiku.RoleAssistant, Content: contents(t)})
		case 7:
			add(yiku.Message{Role: yiku.RoleSystem, Content: contents(t)})
		case 8:
			if len(waiting) > 0 {
				result(waiting[0])
				waiting = waiting[1:]
			} else {
				result("nobody")
			}
		default:
			var calls []yiku.ToolCall
			for n := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprintf("call_%d_%d", rapid.IntRange(0, 8).Draw(t, "id"), n)
				calls = append(calls, yiku.ToolCall{ID: id, Type: "function", Function: yiku.ToolFunction{Name: "查询", Arguments: `{"q":"天气 weather"}`}})
			}
			add(yiku.Message{Role: yiku.RoleAssistant, ToolCalls: calls, Content: contents(t)})
			for _, c := range rapid.Permutation(calls).Draw(t, "order") {
				if rapid.IntRange(0, 5).Draw(t, "answered") > 0 {
					result(c.ID)
				} else {
					waiting = append(waiting, c.ID)
				}
			}
		}
	}
	return out
}

// ledger counts with a real counter and sees whether a message is counted twice.
type ledger struct {
	*token.Counter
	seen  map[string]int
	bytes int
}

func (l *ledger) Message(m yiku.Message) int {
	if l.seen != nil {
		l.seen[m.ID+"\x00"+m.Content.PlainText()]++
	}
	return l.Counter.Message(m)
}

func (l *ledger) Text(s string) int { l.bytes += len(s); return l.Counter.Text(s) }

func inputs(t *rapid.T, r *token.Registry) window.Input {
	in := window.Input{
		Messages: histories(t),
		Count:    r.For(rapid.SampledFrom([]string{"gpt-4o", "gpt-4", "claude-3"}).Draw(t, "model")),
		Turns:    rapid.SampledFrom([]int{window.AllTurns, 0, 1, 2, 3, 10, 10, 10}).Draw(t, "turns"),
		Format:   rapid.SampledFrom([]yiku.MessageForm{yiku.FormOpenAI, yiku.FormAnthropic}).Draw(t, "format"),
	}
	cost := in.Count.Reply()
	for _, m := range in.Messages {
		cost += in.Count.Message(m)
	}
	// The budgets that decide something lie between the least and the whole.
	system, pinned, rest := leastCost(in)
	low := system + pinned + rest + in.Count.Message(window.Opener())
	switch rapid.IntRange(0, 7).Draw(t, "budget") {
	case 0:
		in.Budget = rapid.IntRange(-1, low).Draw(t, "tokens")
	case 1:
		in.Budget = cost + 10
	default:
		in.Budget = rapid.IntRange(low, max(low, cost)).Draw(t, "tokens")
	}
	return in
}

func TestA2_A3_A4_WhateverTheHistory(t *testing.T) {
	t.Parallel()
	r := token.New()
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		in := inputs(t, r)
		before := clone(t, in.Messages)
		got, err := window.Fit(in)
		if diff := cmp.Diff(before, in.Messages, cmp.AllowUnexported(yiku.Part{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the input was changed: %s", diff)
		}
		if err != nil {
			seen["refused"]++
			if fault := faultRefused(in, err); fault != "" {
				t.Fatalf("refusal: %s", fault)
			}
			return
		}
		note(seen, in, got)
		for name, check := range checks() {
			if fault := check(in, got); fault != "" {
				t.Fatalf("%s: %s", name, fault)
			}
		}
	})
	for _, what := range []string{"refused", "whole", "trimmed", "cut", "opener"} {
		if seen[what] == 0 && !testing.Short() {
			t.Errorf("no history was %s: the generator misses the case (%v)", what, seen)
		}
	}
}

func checks() map[string]func(window.Input, window.Result) string {
	return map[string]func(window.Input, window.Result) string{
		"fits": faultFits, "valid": faultValid, "kept": faultKept, "sequence": faultSequence, "order": faultOrder,
	}
}

func note(seen map[string]int, in window.Input, r window.Result) {
	if r.Trimmed == 0 && len(r.Cut) == 0 && len(in.Messages) > 0 {
		seen["whole"]++
	}
	if r.Trimmed > 0 && in.Turns == window.AllTurns {
		seen["trimmed"]++
	}
	if len(r.Cut) > 0 {
		seen["cut"]++
	}
	if len(r.Messages) > 0 && r.Messages[0].ID == "" {
		seen["opener"]++
	}
}

func clone(t *rapid.T, messages []yiku.Message) []yiku.Message {
	out := make([]yiku.Message, len(messages))
	for i, m := range messages {
		out[i] = m
		out[i].ToolCalls = append([]yiku.ToolCall(nil), m.ToolCalls...)
		out[i].Content.Parts = append([]yiku.Part(nil), m.Content.Parts...)
	}
	return out
}

func TestA3_EachMessageIsCountedOnce(t *testing.T) {
	t.Parallel()
	r := token.New()
	rapid.Check(t, func(t *rapid.T) {
		in := inputs(t, r)
		l := &ledger{Counter: r.For("gpt-4o"), seen: map[string]int{}}
		in.Count = l
		whole := map[string]bool{}
		for _, m := range in.Messages {
			if text := m.Content.PlainText(); strings.TrimSpace(text) != "" {
				whole[m.ID+"\x00"+text] = true
			}
		}
		_, _ = window.Fit(in)
		for key, n := range l.seen {
			if whole[key] && n > 1 {
				t.Fatalf("%.4s was counted %d times", key, n)
			}
		}
	})
}

func say(role yiku.Role, texts ...string) []yiku.Message {
	var out []yiku.Message
	for _, text := range texts {
		out = append(out, yiku.Message{Role: role, Content: yiku.Text(text)})
	}
	return out
}

// talk is one conversation with everything in it; ids are m0, m1, …
func talk() []yiku.Message {
	call := yiku.ToolCall{ID: "c1", Type: "function", Function: yiku.ToolFunction{Name: "look_up", Arguments: `{"order":"A-1029"}`}}
	list := []yiku.Message{
		{Role: yiku.RoleSystem, Content: yiku.Text("你是客服。 You are a clerk.")},
		{Role: yiku.RoleUser, Content: yiku.Text("你好")},
		{Role: yiku.RoleAssistant, Content: yiku.Text("您好！请问有什么可以帮您？")},
		{Role: yiku.RoleUser, Content: yiku.Text("Where is my order A-1029?")},
		{Role: yiku.RoleAssistant, ToolCalls: []yiku.ToolCall{call}},
		{Role: yiku.RoleTool, ToolCallID: "c1", Content: yiku.Text(`{"state":"已发货"}`)},
		{Role: yiku.RoleAssistant, Content: yiku.Text("It was sent on Monday and comes on Friday.")},
		{Role: yiku.RoleUser, Content: yiku.Text("以后不要给我发短信"), Pinned: true},
		{Role: yiku.RoleAssistant, Content: yiku.Text("好的，记住了。")},
		{Role: yiku.RoleUser, Content: yiku.Text("谢谢。周五几点到？")},
	}
	for i := range list {
		list[i].ID = fmt.Sprintf("m%d", i)
	}
	return list
}

func ids(messages []yiku.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

func TestA4_Order(t *testing.T) {
	t.Parallel()
	c := token.New().For("gpt-4o")
	in := window.Input{Messages: talk(), Count: c, Turns: window.AllTurns, Format: yiku.FormOpenAI}
	in.Budget = c.Reply()
	for _, m := range in.Messages {
		in.Budget += c.Message(m)
	}
	var got []string
	for ; ; in.Budget-- {
		r, err := window.Fit(in)
		if err != nil {
			break
		}
		if now := ids(r.Messages); len(got) == 0 || got[len(got)-1] != now {
			got = append(got, now)
		}
	}
	want := []string{
		"m0 m1 m2 m3 m4 m5 m6 m7 m8 m9",
		"m0 m1 m3 m4 m5 m6 m7 m8 m9", // small talk, the oldest first
		"m0 m1 m3 m4 m5 m6 m7 m9",
		"m0 m1 m3 m6 m7 m9", // a call with its result
		"m0 m1 m3 m7 m9",
		"m0 m3 m7 m9", // then the user
		"m0 m7 m9",    // system, pinned and the newest stay
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestA2_Turns(t *testing.T) {
	t.Parallel()
	in := window.Input{Messages: talk(), Count: token.New().For(""), Budget: 10_000, Format: yiku.FormOpenAI}
	for turns, want := range map[int]string{
		0: "m0 m7", 1: "m0 m7 m9", 2: "m0 m7 m8 m9", 3: "m0 m3 m4 m5 m6 m7 m8 m9",
		4: "m0 m1 m2 m3 m4 m5 m6 m7 m8 m9", window.AllTurns: "m0 m1 m2 m3 m4 m5 m6 m7 m8 m9",
	} {
		in.Turns = turns
		r, err := window.Fit(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(r.Messages); got != want {
			t.Errorf("%d turns: %s, want %s", turns, got, want)
		}
	}
	in.Format, in.Turns = yiku.FormAnthropic, 2
	r, err := window.Fit(in)
	if err != nil || ids(r.System) != "m0" || ids(r.Messages) != "m7 m8 m9" {
		t.Errorf("anthropic: %s and %s, %v", ids(r.System), ids(r.Messages), err)
	}
}

func TestA4_OneHugeMessageIsCut(t *testing.T) {
	t.Parallel()
	c := token.New().For("gpt-4o")
	for marker, text := range map[string]string{"…[已省略 ": "今天的日志很长，", " characters cut]…": "a very long log line, "} {
		list := append(talk(), say(yiku.RoleUser, strings.Repeat(text, 20_000))...)
		list[len(list)-1].ID = "m10"
		for _, pasted := range [][]yiku.Message{list, append(list[:len(list):len(list)], yiku.Message{ID: "m11", Role: yiku.RoleUser, Content: yiku.Text("所以呢？ So?")})} {
			in := window.Input{Messages: pasted, Count: c, Budget: 500, Turns: 10, Format: yiku.FormOpenAI}
			r, err := window.Fit(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"m10"}, r.Cut); diff != "" {
				t.Fatal(diff)
			}
			for name, check := range checks() {
				if fault := check(in, r); fault != "" {
					t.Errorf("%s: %s", name, fault)
				}
			}
			for _, m := range r.Messages {
				if m.ID == "m10" && !strings.Contains(m.Content.Text, marker) {
					t.Error("no marker")
				}
			}
			if r.Tokens < 250 {
				t.Errorf("%d tokens: too much was cut", r.Tokens)
			}
		}
	}
}

func TestA4_ToolResultsAreCutBeforeWords(t *testing.T) {
	t.Parallel()
	question := strings.Repeat("请解释 explain ", 60)
	list := []yiku.Message{
		{ID: "m0", Role: yiku.RoleUser, Content: yiku.Text(question)},
		{ID: "m1", Role: yiku.RoleAssistant, ToolCalls: []yiku.ToolCall{{ID: "a", Function: yiku.ToolFunction{Name: "f"}}, {ID: "b", Function: yiku.ToolFunction{Name: "g"}}}},
		{ID: "m2", Role: yiku.RoleTool, ToolCallID: "b", Content: yiku.Text(strings.Repeat("结果 result ", 2_000))},
		{ID: "m3", Role: yiku.RoleTool, ToolCallID: "a", Content: yiku.Text("ok")},
	}
	in := window.Input{Messages: list, Count: token.New().For(""), Budget: 800, Turns: 10, Format: yiku.FormAnthropic}
	r, err := window.Fit(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m2"}, r.Cut); diff != "" || ids(r.Messages) != "m0 m1 m2 m3" || r.Tokens < 750 {
		t.Error(diff, ids(r.Messages), r.Tokens)
	}
}

func TestA4_LateResultsJoinTheirCall(t *testing.T) {
	t.Parallel()
	list := []yiku.Message{
		{ID: "m0", Role: yiku.RoleUser, Content: yiku.Text("查一下天气")},
		{ID: "m1", Role: yiku.RoleAssistant, ToolCalls: []yiku.ToolCall{{ID: "a", Function: yiku.ToolFunction{Name: "f"}}}},
		{ID: "m2", Role: yiku.RoleUser, Content: yiku.Text("hurry")},
		{ID: "m3", Role: yiku.RoleTool, ToolCallID: "a", Content: yiku.Text("晴")},
		{ID: "m4", Role: yiku.RoleTool, ToolCallID: "gone", Content: yiku.Text("?")},
	}
	for _, format := range []yiku.MessageForm{yiku.FormOpenAI, yiku.FormAnthropic} {
		r, err := window.Fit(window.Input{Messages: list, Count: token.New().For(""), Budget: 1000, Turns: 10, Format: format})
		if err != nil || ids(r.Messages) != "m0 m1 m3 m2" || r.Trimmed != 1 {
			t.Errorf("%s: %s %d %v", format, ids(r.Messages), r.Trimmed, err)
		}
		if err := form.Valid(format, r.Messages); err != nil {
			t.Error(err)
		}
	}
}

func TestA4_ErrorNamesThePart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("不能删 keep ", 100)
	for want, first := range map[string]yiku.Message{
		"system":   {ID: "m0", Role: yiku.RoleSystem, Content: yiku.Text(long)},
		"pinned":   {ID: "m0", Role: yiku.RoleUser, Content: yiku.Text(long), Pinned: true},
		"messages": {ID: "m0", Role: yiku.RoleAssistant, Content: yiku.Text("x")},
	} {
		in := window.Input{Messages: append([]yiku.Message{first}, talk()[9]), Count: token.New().For(""), Budget: 100, Turns: 10, Format: yiku.FormOpenAI}
		in.Messages[1].ID = "m1"
		if want == "messages" {
			in.Budget = 8
		}
		_, err := window.Fit(in)
		if fault := faultRefused(in, err); fault != "" || !strings.Contains(err.Error(), want+":") {
			t.Errorf("%s: %s (%v)", want, fault, err)
		}
		if strings.Contains(fmt.Sprint(err), "不能删") {
			t.Error("the error holds text")
		}
	}
}

func TestA4_AThousandMessagesOfAMegabyte(t *testing.T) {
	t.Parallel()
	var list []yiku.Message
	for i := range 1000 {
		role := []yiku.Role{yiku.RoleUser, yiku.RoleAssistant}[i%2]
		list = append(list, yiku.Message{ID: fmt.Sprintf("m%d", i), Role: role, Content: yiku.Text(strings.Repeat("你好 words 1 ", 62))})
	}
	l := &ledger{Counter: token.New().For(""), seen: map[string]int{}}
	r, err := window.Fit(window.Input{Messages: list, Count: l, Budget: 8000, Turns: window.AllTurns, Format: yiku.FormOpenAI})
	if err != nil || r.Tokens > 8000 || r.Tokens < 7000 {
		t.Fatal(r.Tokens, err)
	}
	if len(l.seen) > len(r.Messages)+1 || l.bytes > 0 { // what fits, and the first that does not
		t.Errorf("%d messages and %d bytes were counted", len(l.seen), l.bytes)
	}
	// One turn of a thousand messages: all of them must stay, so all are cut.
	for i := range list[1:] {
		list[i+1].Role = yiku.RoleAssistant
	}
	r, err = window.Fit(window.Input{Messages: list, Count: l, Budget: 40_000, Turns: 10, Format: yiku.FormAnthropic})
	if err != nil || len(r.Messages) != 1000 || r.Tokens > 40_000 || r.Tokens < 30_000 {
		t.Fatal(len(r.Messages), r.Tokens, err)
	}
	if l.bytes > 20<<20 {
		t.Errorf("%d bytes were counted to cut 1 MB", l.bytes)
	}
}
