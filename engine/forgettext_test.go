package engine_test

import (
	"testing"

	"github.com/yiku-ai/yiku"
)

// call is an assistant's message that does nothing but call a tool.
func callTool(id, arguments string) yiku.Message {
	return yiku.Message{ID: id, Role: yiku.RoleAssistant, ToolCalls: []yiku.ToolCall{{ID: "c1", Type: "function", Function: yiku.ToolFunction{Name: "look", Arguments: arguments}}}}
}

// TestE1_KeywordInEveryForm: a keyword is found in numbers and booleans, in
// JSON that escapes it, and however a reader's eye is deceived. Control: the
// other message, the other memory and the other session's data stay.
func TestE1_KeywordInEveryForm(t *testing.T) {
	t.Parallel()
	result := func(text string) yiku.Message {
		return yiku.Message{Role: yiku.RoleTool, ToolCallID: "c1", Content: yiku.Text(text)}
	}
	said := func(text string) yiku.Message {
		return yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(text)}
	}
	noted := func(v any) yiku.Message {
		return yiku.Message{Role: yiku.RoleUser, Content: yiku.Text("noted 记下"), Metadata: yiku.Metadata{"v": v}}
	}
	for name, test := range map[string]struct {
		keyword string
		message yiku.Message
		other   yiku.Message
	}{
		"number":                    {"13800138000", noted(13800138000), noted(13800138001)},
		"number in a list, 数字":      {"4711", noted([]any{map[string]any{"锁": 4711.5}}), noted(48)},
		"number beyond an exponent": {"1000000000000000000000", noted(1e21), noted(1e19)},
		"boolean":                   {"true", noted(true), noted(false)},
		"arguments":                 {"张三丰", callTool("", `{"n":"\u5f20\u4e09\u4e30"}`), callTool("", `{"n":"\u5f20\u4e09"}`)},
		"arguments, English":        {"pear", callTool("", `{"n":"\u0070ear`), callTool("", `{"n":"\u0062ear`)},
		"JSON in JSON":              {"张三丰", callTool("", `{"n":"{\"m\":\"\\u5f20\\u4e09\\u4e30\"}"}`), callTool("", `{"n":1}`)},
		"a tool's result":           {"张三丰", result(`{"n":"\u5f20\u4e09\u4e30"}`), result(`{"n":"\u5f20"}`)},
		"an accent behind nothing":  {"café", said("the cafe\u200b\u0301"), said("the cafe")},
		"Greek":                     {"ΣΟΦΟΣ", said("ο σοφος"), said("ο σοφη")},
		"German":                    {"STRASSE", said("Lange Straße"), said("Lange Strase")},
		"中文":                        {"张三丰", said("见到张\u200b三\ufeff丰了"), said("见到张三了")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			_, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{test.message, test.other}})
			if err != nil {
				t.Fatal(err)
			}
			res := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: test.keyword}})
			if res.Removed.Messages != 1 {
				t.Errorf("removed %+v", res.Removed)
			}
			proven(t, s, res)
		})
	}
}

// TestE1_KeywordInNumbersKept: numbers in memories and working memory, but not
// the versions and times that the service itself writes beside them.
func TestE1_KeywordInNumbersKept(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "Has a phone 有电话", Metadata: yiku.Metadata{"phone": 13800138000}})
	for session, n := range map[string]int{"one": 13800138000, "two": 7} {
		if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: session, DataSlots: map[string]any{"电话": n}}); err != nil {
			t.Fatal(err)
		}
	}
	for keyword, want := range map[string]yiku.Removed{"2026": {}, "version": {}, "138001": {Memories: 1, Working: 1}} {
		got := forget(t, s, yiku.ForgetRequest{DryRun: true, Selector: yiku.Selector{Keyword: keyword}}).Removed
		if got.Memories != want.Memories || got.Working != want.Working {
			t.Errorf("%s would remove %+v", keyword, got)
		}
	}
	if got := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "138001"}}).Removed; got.Memories != 1 || got.Working != 1 {
		t.Errorf("removed %+v", got)
	}
}
