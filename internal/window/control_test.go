package window_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/token"
	"github.com/yiku-ai/yiku/internal/window"
)

// TestA4_ChecksSeeFaults is the control of the property tests: each check must
// refuse a result that a broken Fit could give.
func TestA4_ChecksSeeFaults(t *testing.T) {
	t.Parallel()
	c := token.New().For("gpt-4o")
	in := window.Input{Messages: talk(), Count: c, Budget: 90, Turns: window.AllTurns, Format: yiku.FormOpenAI}
	good, err := window.Fit(in)
	if err != nil || ids(good.Messages) != "m0 m1 m3 m6 m7 m9" {
		t.Fatal(ids(good.Messages), good.Tokens, err)
	}
	for name, check := range checks() {
		if fault := check(in, good); fault != "" {
			t.Fatalf("%s refuses a good result: %s", name, fault)
		}
	}
	drop := func(r window.Result, id string) window.Result {
		r.Messages = slices.DeleteFunc(slices.Clone(r.Messages), func(m yiku.Message) bool { return m.ID == id })
		r.Trimmed++
		return r
	}
	with := func(r window.Result, at int, m yiku.Message) window.Result {
		r.Messages = slices.Insert(slices.Clone(r.Messages), at, m)
		r.Trimmed--
		return r
	}
	list := in.Messages
	for _, bad := range []struct {
		check, what string
		result      window.Result
	}{
		{"fits", "a wrong sum", func() window.Result { r := good; r.Tokens--; return r }()},
		{"fits", "over the budget", func() window.Result {
			r := with(with(good, 3, list[4]), 4, list[5])
			r.Tokens += c.Message(list[4]) + c.Message(list[5])
			return r
		}()},
		{"valid", "a call without its result", with(good, 3, list[4])},
		{"valid", "a result without its call", with(good, 3, list[5])},
		{"kept", "no system message", drop(good, "m0")},
		{"kept", "no pinned message", drop(good, "m7")},
		{"kept", "no newest message", drop(good, "m9")},
		{"kept", "a pinned message cut", func() window.Result { r := good; r.Cut = []string{"m7"}; return r }()},
		{"kept", "a cut without a marker", func() window.Result { r := good; r.Cut = []string{"m3"}; return r }()},
		{"sequence", "another order", func() window.Result {
			r := good
			r.Messages = slices.Clone(r.Messages)
			slices.Reverse(r.Messages)
			return r
		}()},
		{"sequence", "another text", func() window.Result {
			r := good
			r.Messages = slices.Clone(r.Messages)
			r.Messages[1].Content.Text += "!"
			return r
		}()},
		{"sequence", "a message twice", with(good, 1, list[1])},
		{"sequence", "an invented message", with(good, 0, window.Opener())},
		{"sequence", "a wrong number", func() window.Result { r := good; r.Trimmed++; return r }()},
		{"order", "small talk stayed", with(good, 2, list[2])},
		{"order", "a newer user message went first", drop(good, "m3")},
		{"order", "the user went before the assistant", drop(good, "m1")},
	} {
		if checks()[bad.check](in, bad.result) == "" {
			t.Errorf("%s does not see: %s", bad.check, bad.what)
		}
	}
	wide := in
	wide.Budget = 10_000
	if faultOrder(wide, good) == "" {
		t.Error("order does not see that something went without need")
	}
	narrow := in
	narrow.Turns = 1
	if faultOrder(narrow, good) == "" {
		t.Error("order does not see a message outside of the last turns")
	}
	controlRefusals(t, wide)
}

// controlRefusals: an error without need, or one that names another part.
func controlRefusals(t *testing.T, in window.Input) {
	t.Helper()
	refusal := func(part string) error {
		return &yiku.Error{Sentinel: yiku.ErrTooLarge, Fields: []yiku.FieldError{{Field: part, Message: "needs more"}}}
	}
	if faultRefused(in, refusal("messages")) == "" {
		t.Error("a refusal without need is not seen")
	}
	in.Budget = 4
	if faultRefused(in, refusal("messages")) == "" || faultRefused(in, refusal("system")) != "" {
		t.Error("a refusal that names the wrong part is not seen")
	}
	if faultRefused(in, yiku.Invalid("system", "is wrong")) == "" {
		t.Error("another sentinel is not seen")
	}
}

func TestA4_SmallTalk(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"你好！": true, "您好！请问有什么可以帮您？": true, "好的，明白了。": true, "不客气😊": true, "谢谢，祝您周末愉快！": true,
		"Hi there! How can I help you today?": true, "You’re welcome!": true, "OK.": true, "Got it, thanks": true, "Great! Is there anything else?": true,
		"好的，订单号是 1029。": false, "数据库用 MySQL。": false, "好的，我已经把会议改到周五。": false, "Sure, the port is 8080.": false,
		"I understand the deadline is Friday.": false, "": false, "42": false, strings.Repeat("好的，", 200): false,
	} {
		if got := window.SmallTalk(yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text(text)}); got != want {
			t.Errorf("SmallTalk(%.40q) = %v", text, got)
		}
	}
	hi := yiku.Message{Role: yiku.RoleUser, Content: yiku.Text("hi")}
	call := yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text("ok"), ToolCalls: []yiku.ToolCall{{ID: "a"}}}
	if window.SmallTalk(hi) || window.SmallTalk(call) {
		t.Error("only the assistant's words alone are small talk")
	}
}
