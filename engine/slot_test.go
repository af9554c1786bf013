package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

func slotsOf(t *testing.T, s yiku.Service, session, task string) map[string]any {
	t.Helper()
	w, err := s.GetWorking(t.Context(), yiku.GetWorkingRequest{UserID: "ann", SessionID: session, TaskID: task})
	if err != nil {
		t.Fatal(err)
	}
	return w.DataSlots
}

func toTask(t *testing.T, s yiku.Service, session, task string, texts ...string) {
	t.Helper()
	req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: session, ProjectID: "p", TaskID: task}
	for i, text := range texts {
		req.Messages = append(req.Messages, yiku.Message{ID: fmt.Sprintf("%s%d", task, i), Role: yiku.RoleUser, Content: yiku.Text(text)})
	}
	if _, err := s.AppendMessages(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// TestB2_ExactDataOfTheTask: what users say of a task goes to its slots word for
// word before a summary covers it; a later value takes the place of the earlier
// one, what callers have set stays, and what is forgotten goes.
func TestB2_ExactDataOfTheTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	toTask(t, s, "s", "move", "我的电话是 138-0013-8000。", "The order number is A-20931, the deadline is March 4, 2026.", "看 https://a.example/x 和 /srv/移动/计划.md 。",
		"预算是 3.5 万元。", "The deadline is March 9, 2026 now.", "Good.", "Fine so far.", "Go on please.", "还有什么要做的吗", "继续吧")
	if _, err := s.PatchWorking(t.Context(), yiku.PatchWorkingRequest{UserID: "ann", SessionID: "s", TaskID: "move", DataSlots: yiku.Some(map[string]any{"预算": "caller's own"})}); err != nil {
		t.Fatal(err)
	}
	toTask(t, s, "s", "rest", "a b c", "d e f", "g h i", "j k l")
	runJobs(t, b)
	want := map[string]any{"电话": "138-0013-8000", "order": "A-20931", "deadline": "March 9, 2026", "看": "https://a.example/x", "path": "/srv/移动/计划.md", "预算": "caller's own", "预算 2": "3.5 万元"}
	if diff := cmp.Diff(want, slotsOf(t, s, "s", "move")); diff != "" {
		t.Error(diff)
	}
	res, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "test", Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s", MessageID: "move0"}}})
	if err != nil || res.Removed.Slots != 1 || res.Removed.Working != 0 || !res.Verified {
		t.Errorf("%+v, %v", res, err)
	}
	runJobs(t, b)
	delete(want, "电话")
	if diff := cmp.Diff(want, slotsOf(t, s, "s", "move")); diff != "" {
		t.Error("after a forget:", diff)
	}
	if _, err := s.CompleteTask(t.Context(), yiku.CompleteTaskRequest{UserID: "ann", ProjectID: "p", TaskID: "move", Outcome: yiku.TaskSuccess}); err != nil {
		t.Fatal(err)
	}
	if got := slotsOf(t, s, "s", "move"); len(got) != 0 {
		t.Errorf("after completion: %v", got)
	}
}

// TestB2_NewestAndMostUsed: found slots are at most 64, those that are said
// often and the newest; what callers set is never pushed out.
func TestB2_NewestAndMostUsed(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "s", DataSlots: map[string]any{"mine": 1.0}}); err != nil {
		t.Fatal(err)
	}
	for i := range 90 {
		utter(t, s, "s", fmt.Sprintf("Ticket AB-%d and ticket ZZ-1 came in.", 1000+i))
		b.clock.Advance(1e9)
	}
	runJobs(t, b)
	got := slotsOf(t, s, "s", "")
	text := fmt.Sprint(got)
	if len(got) != yiku.MaxDataSlots || got["mine"] != 1.0 || !strings.Contains(text, "ZZ-1 ") && !strings.Contains(text, "ZZ-1]") || strings.Contains(text, "AB-1000") {
		t.Errorf("%d slots: %v", len(got), got)
	}
}

// TestB2_RestIsFoundWordForWord: what an agent said stays out of the slots as
// long as a search brings it back; what a search does not find goes there.
func TestB2_RestIsFoundWordForWord(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	say(t, s, "s", "Where is the spare key?", "The spare key hangs in cabinet 4711.", "And then?", "4712", "ok", "4713")
	chatTurns(t, s, "s", 0, 14)
	runJobs(t, b)
	text := fmt.Sprint(slotsOf(t, s, "s", ""))
	if strings.Contains(text, "4711") || !strings.Contains(text, "4712") || !strings.Contains(text, "4713") {
		t.Errorf("%s", text)
	}
	found, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "where does the spare key hang", Limit: 3, IncludeMessages: true})
	if err != nil || !strings.Contains(fmt.Sprint(found.Items), "") {
		t.Fatal(err)
	}
	hit := false
	for _, item := range found.Items {
		hit = hit || item.Message != nil && strings.Contains(item.Message.Content.Text, "cabinet 4711")
	}
	if !hit {
		t.Errorf("not found: %+v", found.Items)
	}
}

// TestB2_SlotsGiveWay: in a window that is too small for the slots that were
// found, what callers have set is still shown.
func TestB2_SlotsGiveWay(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	for i := range 70 {
		utter(t, s, "s", fmt.Sprintf("Ticket AB-%d came in.", 1000+i))
	}
	if _, err := s.PatchWorking(t.Context(), yiku.PatchWorkingRequest{UserID: "ann", SessionID: "s", TaskState: yiku.Some(map[string]any{"step": "two"})}); err != nil {
		t.Fatal(err)
	}
	runJobs(t, b)
	res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", WindowTokens: 500, Query: "x"})
	if !strings.Contains(res.System, `"step":"two"`) || strings.Contains(res.System, "data_slots") {
		t.Errorf("%v: %s", res.Degraded, res.System)
	}
	if _, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: "ann", SessionID: "s", WindowTokens: 20}); err != nil && !errors.Is(err, yiku.ErrTooLarge) {
		t.Error(err)
	}
}
