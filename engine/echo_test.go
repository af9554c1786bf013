package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/llm"
)

// echoFact is a memory and what an agent makes of it when it tells it again.
type echoFact struct{ known, again string }

func echoFacts() []echoFact {
	return []echoFact{
		{"I like green tea without sugar", "the user likes green tea without sugar"},
		{"我住在杭州西湖边", "用户住在杭州西湖边"},
		{"My cat is called Niangao", "your cat is called Niangao"},
		{"周五下午从不发布新版本", "周五下午从不发布新版本"},
		{"The deadline of Orchid is 2026-12-01", "the deadline of Orchid is 2026-12-01"},
		{"我对花生过敏", "您对花生过敏"},
		{"Orchid runs on PostgreSQL 17", "Orchid runs on PostgreSQL 17"},
		{"女儿叫小雨，今年上三年级", "用户的女儿叫小雨，今年上三年级"},
		{"I work as a nurse in Bergen", "you work as a nurse in Bergen"},
		{"会议纪要用中文写", "会议纪要用中文写"},
	}
}

// eager is a model that finds a memory in everything that it is shown, above
// all in what the agent and its tools said, and is not careful about where.
type eager struct{ found int }

func (m *eager) Name() string { return "eager" }

func (m *eager) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	_, messages, _ := strings.Cut(req.Messages[0].Content, "<messages>")
	var ops []string
	user := ""
	for line := range strings.Lines(messages) {
		number, said, ok := strings.Cut(line, ". ")
		if !ok || strings.Contains(said, "(read before)") {
			continue
		}
		if strings.Contains(said, " user: ") {
			user = number
		}
		for i, f := range echoFacts() {
			if !strings.Contains(said, f.known) && !strings.Contains(said, f.again) {
				continue
			}
			m.found++
			from := []string{number, "", number + "," + user}[m.found%3]
			content := []string{f.known, f.again, "The user said that " + f.again}[m.found%3]
			if i%2 == 1 {
				content = []string{f.known, f.again, "用户提到过" + f.again}[m.found%3]
			}
			ops = append(ops, fmt.Sprintf(`{"op":"create","content":"%s","messages":[%s]}`, content, strings.Trim(from, ",")))
		}
	}
	return llm.Response{Text: `{"operations":[` + strings.Join(ops, ",") + `]}`}, nil
}

// restating is a chat of many turns in which the agent tells again what it
// recalled: the context stands in the system prompt, a near copy in the reply,
// and what the tools returned beside it.
func restating(t *testing.T, b bench, turns int) {
	t.Helper()
	s := b.operator()
	asked := []string{"What do you know about me?", "我喜欢什么？", "Which database does Orchid use, and until when?", "帮我写一份会议纪要", "And the weather?", "周末有什么安排？"}
	shells := []string{"As you told me, %s. Shall I go on?", "我记得%s，还需要别的吗？", "Based on memory: %s.", "根据记忆，%s。", "%s"}
	for turn := range turns {
		f := echoFacts()[turn%len(echoFacts())]
		question := asked[turn%len(asked)]
		res, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: "ann", SessionID: "ask", Query: question})
		if err != nil {
			t.Fatal(err)
		}
		messages := []yiku.Message{
			{Role: yiku.RoleSystem, Content: yiku.Text("You are a careful assistant. 你是一个助手。\n" + res.System)},
			{Role: yiku.RoleUser, Content: yiku.Text(question)},
			{Role: yiku.RoleAssistant, Content: yiku.Text(fmt.Sprintf(shells[turn%len(shells)], f.again))},
		}
		if turn%4 == 0 {
			messages = append(messages, yiku.Message{Role: yiku.RoleTool, ToolCallID: "c", Content: yiku.Text(`{"tool":"memory_search","status":"ok","results":[{"score":0.93,"content":"` + f.known + `"}]}`)})
		}
		if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: messages}); err != nil {
			t.Fatal(err)
		}
		if turn%20 == 19 {
			b.clock.Advance(time.Hour)
			if err := b.RunJobs(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestC10_TwoHundredTurnsOfEchoes: the agent keeps restating what it recalled,
// in Chinese and English, and the memories stay what they were, whatever the
// model makes of it (L27, L43). What nobody had told is not among the echoes:
// then the same chat adds memories, which is the control.
func TestC10_TwoHundredTurnsOfEchoes(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		model := &eager{}
		b := newBenchWith(t, engine.Options{Model: model})
		turns := 200
		if known {
			for _, f := range echoFacts() {
				save(t, b.operator(), yiku.SaveMemoryRequest{Content: f.known})
			}
		} else {
			turns = 40
		}
		before := stored(t, b)
		restating(t, b, turns)
		after := stored(t, b)
		switch {
		case model.found < turns/2:
			t.Errorf("the model found %d memories in %d turns: it proves nothing", model.found, turns)
		case known && !slices.Equal(before, after):
			t.Errorf("before %q\nafter %q", before, after)
		case !known && len(after) < len(echoFacts())/2:
			t.Errorf("control: what is no echo is not stored: %q", after)
		}
	}
}

// stored are the contents of all memories of ann's, of every status, in order.
func stored(t *testing.T, b bench) []string {
	t.Helper()
	all, err := everything(t.Context(), b.operator(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range all {
		texts = append(texts, string(m.Status)+": "+m.Content)
	}
	slices.Sort(texts)
	return texts
}

// TestC10_WhatIsNoEcho: what an agent or tool says that differs from what is
// known in a number, a name or a denial is news, and so is what the user says.
func TestC10_WhatIsNoEcho(t *testing.T) {
	t.Parallel()
	for known, news := range map[string]string{
		"The deadline of Orchid is 2026-12-01": "The deadline of Orchid is 2026-12-08",
		"我喜欢喝绿茶不加糖":                            "我喜欢喝绿茶加糖",
		"The user likes green tea":             "The user no longer likes green tea",
	} {
		b, _ := modelBench(t, answering(`{"op":"create","content":"`+news+`","messages":[1]}`))
		save(t, b.operator(), yiku.SaveMemoryRequest{Content: known})
		if _, err := b.operator().AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s",
			Messages: []yiku.Message{{Role: yiku.RoleAssistant, Content: yiku.Text(news)}}}); err != nil {
			t.Fatal(err)
		}
		report, err := b.operator().ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"})
		if err != nil || report.Status != yiku.ExtractionStored {
			t.Errorf("%q beside %q: %+v, %v", news, known, report, err)
		}
	}
}
