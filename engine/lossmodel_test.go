package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

// TestL1_AnswersThatLostTheFacts: answers on which others lost facts without a
// word, in both languages, from the append to the memory: JSON behind prose that
// has braces (L1), lone surrogates among Chinese (L2), nothing at all (L4), prose
// or the marks of a tool where JSON was asked for (L6), and an answer that never
// ends (L17). What can be read is stored; where nothing can, rules read in its
// place, the report says so, and the answer is parked with its reason, which is
// another thing than nothing to remember: the control.
func TestL1_AnswersThatLostTheFacts(t *testing.T) {
	t.Parallel()
	const tea, oslo = `{"op":"create","content":"爱喝绿茶","messages":[1]}`, `{"op":"create","content":"Lives in Oslo","messages":[1]}`
	for _, c := range []struct {
		name   string
		answer llmtest.Step
		want   []string
		path   string
		status yiku.ExtractionStatus
	}{
		{"L1, prose with braces", llmtest.Step{Text: "The form is {op, content}, so {\"a\": 1}. Here: {\"operations\":[" + oslo + "]} {done}"}, []string{"Lives in Oslo"}, "llm", yiku.ExtractionStored},
		{"L1，带花括号的说明", llmtest.Step{Text: "格式是 {操作, 内容}。结果：\n```json\n{\"operations\":[" + tea + "]}\n```\n以上{完}"}, []string{"爱喝绿茶"}, "llm", yiku.ExtractionStored},
		{"L2, a lone surrogate", llmtest.Step{Text: `{"operations":[{"op":"create","content":"爱喝\ud83d绿茶 and tea","messages":[1]},` + oslo + `]}`}, []string{"Lives in Oslo", "爱喝\ufffd绿茶 and tea"}, "llm", yiku.ExtractionStored},
		{"L4, nothing", llmtest.Step{}, []string{"我爱喝绿茶"}, "rules", yiku.ExtractionStored},
		{"L6, prose", llmtest.Step{Text: "I have stored what the user said. 已经记下了。"}, []string{"我爱喝绿茶"}, "rules", yiku.ExtractionStored},
		{"L6, a tool", llmtest.Step{Text: "<tool_call>remember(text=...)</tool_call>"}, []string{"我爱喝绿茶"}, "rules", yiku.ExtractionStored},
		{"L17, without an end", llmtest.Step{Text: `{"operations":[` + oslo + `,{"op":"create","content":"` + strings.Repeat("and so on ", 1<<16), Truncated: true}, []string{"Lives in Oslo"}, "llm", yiku.ExtractionStored},
		{"the control: nothing to remember", answering(""), nil, "llm", yiku.ExtractionNothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, script := modelBench(t, c.answer)
			s := b.operator()
			utter(t, s, "s", "我爱喝绿茶。")
			report := extractNow(t, s, "s")
			want(t, "memories", contents(t, s, ""), c.want...)
			if report.Status != c.status || report.Path != c.path || c.path == "rules" && (len(report.Parked) != 1 || len(report.Degraded) != 1) {
				t.Errorf("report %+v", report)
			}
			if n := len(script.Asked()); n > 2 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestL7_WhatAModelPassesOverIsFound: a small model that finds nothing in plain
// facts loses none: the words are found, and another session's context has them.
func TestL7_WhatAModelPassesOverIsFound(t *testing.T) {
	t.Parallel()
	for fact, query := range map[string]string{"我家的猫叫年糕，今年三岁了": "我家的猫叫什么名字，几岁了", "My sister Ada plays the cello in Bergen": "What does my sister play?"} {
		b, script := modelBench(t, answering(""))
		s := b.operator()
		utter(t, s, "s", "How far is it to the harbour? 去港口怎么走？", fact, "What is the weather like today? 今天天气如何？", "Thanks for the list of books. 书单收到了。")
		if report := extractNow(t, s, "s"); report.Status != yiku.ExtractionNothing || len(script.Asked()) != 1 {
			t.Errorf("report %+v", report)
		}
		res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: query, IncludeMessages: true})
		if err != nil || len(res.Items) == 0 || res.Items[0].Message == nil || res.Items[0].Message.Content.Text != fact {
			t.Errorf("%q: %+v, %v", query, res.Items, err)
		}
		got, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: "ann", SessionID: "another", Query: query})
		if err != nil || !strings.Contains(got.System, fact) {
			t.Errorf("%q: the context lacks it, %v: %s", query, err, got.System)
		}
	}
}

// TestL13_ResentContextIsReadOnce: a caller that sends the whole conversation
// again with each of forty turns has each message read by the model once.
// Whatever a caller does, a tenant's budget ends it: TestG6_BudgetHoldsAtOnce.
func TestL13_ResentContextIsReadOnce(t *testing.T) {
	t.Parallel()
	b, script := modelBench(t, answering(""))
	s := b.operator()
	var all []yiku.Message
	for i := range 40 {
		all = append(all, yiku.Message{ID: fmt.Sprint("m", i), Role: yiku.RoleUser, Content: yiku.Text(fmt.Sprintf("Question %03d 第几个问题：那份报告写得怎么样了？", i)), CreatedAt: b.clock.Now()})
		if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: all}); err != nil {
			t.Fatal(err)
		}
		if i%8 == 7 {
			b.clock.Advance(time.Hour)
		}
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reads := map[string]int{}
	calls := 0
	for _, req := range script.Asked() {
		if req.Schema == nil || req.Schema.Name != "memory_operations" {
			continue
		}
		calls++
		for line := range strings.Lines(req.Messages[0].Content) {
			if _, text, ok := strings.Cut(line, "Question "); ok && !strings.Contains(line, "(read before)") {
				reads[text[:3]]++
			}
		}
	}
	if len(reads) != 40 || calls > 10 {
		t.Errorf("%d messages were read in %d calls", len(reads), calls)
	}
	for text, n := range reads {
		if n != 1 {
			t.Errorf("question %s was read %d times", text, n)
		}
	}
}

// TestG6_CallsOfAHundredTurns counts what a hundred turns of a conversation
// cost in model calls, by what for, and prints it (G6, C3).
func TestG6_CallsOfAHundredTurns(t *testing.T) {
	t.Parallel()
	b, _ := modelBench(t, llmtest.Step{Text: `{"operations":[],"sentences":[]}`, Usage: llm.Usage{In: 1000, Out: 50}})
	s := b.operator()
	for i := range 100 {
		if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{
			{Role: yiku.RoleUser, Content: yiku.Text(fmt.Sprintf("Turn %d: 我们下周要把仓库 %d 的盘点做完，who takes the north side of it?", i, i))},
			{Role: yiku.RoleAssistant, Content: yiku.Text(fmt.Sprintf("Ada takes the north side of warehouse %d, 北区由她负责；the lists are printed on Monday morning.", i))},
		}}); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(20 * time.Second)
		if i%20 == 19 { // a pause
			b.clock.Advance(time.Hour)
		}
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	calls := map[string]int64{}
	var all int64
	for _, m := range statsOf(t, s).Models {
		if m.Path == "llm" {
			calls[m.Operation] += m.Calls
			all += m.Calls
		}
	}
	t.Logf("model calls per 100 turns: %d %v", all, calls)
	if calls["extract"] == 0 || calls["summarize"]+calls["summary"] == 0 || all > 40 {
		t.Errorf("calls %v", calls)
	}
}
