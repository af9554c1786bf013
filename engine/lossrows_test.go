package engine_test

import (
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
)

func extractNow(t *testing.T, s yiku.Service, session string) yiku.ExtractionReport {
	t.Helper()
	report, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestL15_WhatWasProcessedIsFound: what a report calls stored, and what was
// saved by hand (L25), is found at once by its id, in the list and by every word
// of its own; results have distinct ids (L37).
func TestL15_WhatWasProcessedIsFound(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	utter(t, s, "s", "I live in Zyxwville.", "我喜欢铁观音茶。", "I like tea. I like green tea. I like black tea. I like tea with milk.")
	report := extractNow(t, s, "s")
	if report.Status != yiku.ExtractionStored || len(report.Operations) < 3 {
		t.Fatalf("report %+v", report)
	}
	for _, o := range report.Operations {
		if m, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: o.MemoryID}); err != nil || m.Content != o.Content {
			t.Errorf("%q: %+v, %v", o.Content, m, err)
		}
	}
	saved := save(t, s, yiku.SaveMemoryRequest{Content: "暗号是 qpqzx-77"})
	for query, id := range map[string]string{"Zyxwville": "", "铁观音": "", "qpqzx-77": saved.ID} {
		found, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: query})
		if err != nil || len(found.Items) == 0 || id != "" && found.Items[0].Memory.ID != id {
			t.Errorf("%q: %+v, %v", query, found.Items, err)
		}
	}
	found, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "tea 茶"})
	seen := map[string]bool{}
	for _, item := range found.Items {
		if seen[item.Memory.ID] {
			t.Errorf("%q stands twice", item.Memory.Content)
		}
		seen[item.Memory.ID] = true
	}
	if err != nil || len(seen) < 2 {
		t.Errorf("%d results, %v", len(seen), err)
	}
}

// TestL19_OversizedTextIsKept: a text of many windows is kept byte for byte, is
// read to its end, and has one record.
func TestL19_OversizedTextIsKept(t *testing.T) {
	t.Parallel()
	for _, filler := range []string{"Nothing of weight is said in this line. ", "这一行没有说什么要紧的事。"} {
		b := newBench(t, nil)
		text := "I live in Bergen. 我叫安。" + strings.Repeat(filler, 6000/len(filler)*20) + "I love sailing. 我喜欢爬山。"
		utter(t, b.operator(), "s", text)
		report := extractNow(t, b.operator(), "s")
		page, err := b.operator().ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: "s"})
		if err != nil || len(page.Items) != 1 || page.Items[0].Content.Text != text {
			t.Errorf("the text is another, %v", err)
		}
		all := strings.Join(contents(t, b.operator(), ""), "|")
		if report.Status != yiku.ExtractionStored || !strings.Contains(all, "sailing") || !strings.Contains(all, "爬山") {
			t.Errorf("its end is not read: %s", all)
		}
		if records, err := ranges(t.Context(), b, "ann", "s"); err != nil || len(records) != 1 {
			t.Errorf("%d records, %v", len(records), err)
		}
	}
}

// TestL30_NothingIsKnownOfNothing: where no memory is shown, the model's word
// that a fact is known already does not keep it out.
func TestL30_NothingIsKnownOfNothing(t *testing.T) {
	t.Parallel()
	b, _ := modelBench(t, answering(`{"op":"none","target":1,"content":"Lives in Bergen","messages":[1]},{"op":"none","target":2,"content":"爱喝绿茶","messages":[1]},{"op":"none"}`))
	utter(t, b.operator(), "s", "I live in Bergen，爱喝绿茶")
	if report := extractNow(t, b.operator(), "s"); report.Status != yiku.ExtractionStored || len(report.Operations) != 2 {
		t.Errorf("report %+v", report)
	}
}

// TestL35_NoiseIsNoMemory: what programs say to keep themselves going, and
// system prompts, leave nothing, neither by rules nor where a model finds
// something in a system prompt.
func TestL35_NoiseIsNoMemory(t *testing.T) {
	t.Parallel()
	noise := []string{"HEARTBEAT_OK", "NO_REPLY", "[system] session started at 2026-03-02T09:00:00Z", "<|im_end|>", "ping", "系统启动完成", "会话已重置", "Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK.", "(no output)", "你好，我是你的智能助手，请问有什么可以帮您？"}
	b := newBench(t, nil)
	var all []yiku.Message
	for _, role := range []yiku.Role{yiku.RoleUser, yiku.RoleAssistant, yiku.RoleSystem} {
		for _, text := range noise {
			all = append(all, yiku.Message{Role: role, Content: yiku.Text(text)})
		}
	}
	if _, err := b.operator().AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: all}); err != nil {
		t.Fatal(err)
	}
	if report := extractNow(t, b.operator(), "s"); report.Status != yiku.ExtractionNothing {
		t.Errorf("by rules: %+v", report)
	}
	m, _ := modelBench(t, answering(`{"op":"create","content":"The assistant is careful and answers in Chinese","messages":[1]}`))
	if _, err := m.operator().AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s",
		Messages: []yiku.Message{{Role: yiku.RoleSystem, Content: yiku.Text("You are a careful assistant. 用中文回答。")}}}); err != nil {
		t.Fatal(err)
	}
	if report := extractNow(t, m.operator(), "s"); report.Status != yiku.ExtractionNothing {
		t.Errorf("by a model: %+v", report)
	}
}

// TestL38_OneWayOfWriting: what was saved by hand is known to the extraction and
// to what is done in an append, and the other way round.
func TestL38_OneWayOfWriting(t *testing.T) {
	t.Parallel()
	for lead, text := range map[string]string{"Please remember: ": "I live in Bergen", "请记住：": "我喜欢爬山"} {
		b := newBench(t, nil)
		s := b.operator()
		save(t, s, yiku.SaveMemoryRequest{Content: text})
		utter(t, s, "s", text+".", lead+text)
		extractNow(t, s, "s")
		again := save(t, s, yiku.SaveMemoryRequest{Content: text + "。"})
		if got := contents(t, s, ""); len(got) != 1 || again.Outcome != yiku.OutcomeReinforced {
			t.Errorf("%q: %q, %s", text, got, again.Outcome)
		}
	}
}
