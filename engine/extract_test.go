package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

func utter(t *testing.T, s yiku.Service, session string, texts ...string) yiku.AppendMessagesResponse {
	t.Helper()
	req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: session}
	for _, text := range texts {
		req.Messages = append(req.Messages, yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(text)})
	}
	res, err := s.AppendMessages(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// contents lists the memories of a status, newest first.
func contents(t *testing.T, s yiku.Service, status yiku.Status) []string {
	t.Helper()
	page, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "ann", Status: status})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, m := range page.Items {
		out = append(out, m.Content)
	}
	return out
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, " | ") != strings.Join(want, " | ") {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// modelBench is a bench whose engine asks a scripted model.
func modelBench(t *testing.T, steps ...llmtest.Step) (bench, *llmtest.Script) {
	t.Helper()
	script := llmtest.NewScript(steps...)
	return newBenchWith(t, engine.Options{Model: script}), script
}

func answering(operations string) llmtest.Step {
	return llmtest.Step{Text: `{"operations":[` + operations + `]}`, Usage: llm.Usage{In: 100, Out: 20}}
}

// TestC3_ReadWhenItPauses: a conversation is read when it pauses, in both
// languages, and small talk leaves nothing; each range has its record.
func TestC3_ReadWhenItPauses(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	utter(t, s, "s", "Hi! I live in Bergen.", "Nice weather, isn't it?", "我喜欢爬山。")
	run := func() {
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	run()
	want(t, "while it goes on", contents(t, s, ""))
	b.clock.Advance(6 * time.Minute)
	run()
	want(t, "after a pause", contents(t, s, ""), "我喜欢爬山", "I live in Bergen")
	b.clock.Advance(time.Hour)
	utter(t, s, "s", "Thanks!")
	b.clock.Advance(time.Hour)
	run()
	page, err := s.ListExtractions(t.Context(), yiku.ListExtractionsRequest{UserID: "ann"})
	if err != nil || len(page.Items) != 2 || page.Items[0].Status != yiku.ExtractionNothing || page.Items[1].Status != yiku.ExtractionStored || page.Items[1].Messages != 3 {
		t.Errorf("records: %+v, %v", page.Items, err)
	}
	m, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	sources, err := s.MemorySources(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: m.Items[1].ID})
	if err != nil || len(sources.Messages) != 1 || sources.Messages[0].Content.Text != "Hi! I live in Bergen." {
		t.Errorf("sources: %+v, %v", sources, err)
	}
}

// TestC3_ManyTokens: much unread text is read without a pause, and the end of
// a session is not waited for longer than the call.
func TestC3_ManyTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	utter(t, s, "s", "I live in Bergen.")
	for range 5 {
		utter(t, s, "s", strings.Repeat("Nothing of weight here, only talk and talk. ", 100))
	}
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "read without a pause", contents(t, s, ""), "I live in Bergen")
	utter(t, s, "t", "I love sailing.")
	res, err := s.EndSession(t.Context(), yiku.EndSessionRequest{UserID: "ann", SessionID: "t", Reason: yiku.EndUserLeft, Wait: true})
	if err != nil || res.ExtractionReport == nil || res.Status != yiku.ExtractionStored || res.Operations[0].Content != "I love sailing" {
		t.Errorf("end and wait: %+v, %v", res, err)
	}
}

// TestC3_WhatCannotWait: what is asked to be remembered, prohibitions,
// corrections and wishes to forget are done in the append, once.
func TestC3_WhatCannotWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	res := utter(t, s, "s", "Please remember that my locker is number 42.", "以后不要再发短信。", "I like tea.")
	if len(res.Applied) != 2 || res.Applied[0].Op != "create" || res.Applied[0].Content == "" {
		t.Fatalf("applied: %+v", res.Applied)
	}
	want(t, "at once", contents(t, s, ""), "以后不要再发短信", "My locker is number 42")
	save(t, s, yiku.SaveMemoryRequest{Content: "Orchid uses MySQL", Subject: "Orchid", Attribute: "database", Value: "MySQL"})
	res = utter(t, s, "s", "It is not MySQL, we use PostgreSQL.")
	if len(res.Applied) != 1 || res.Applied[0].Op != "update" || len(res.Applied[0].Superseded) != 1 {
		t.Fatalf("correction: %+v", res.Applied)
	}
	b.clock.Advance(time.Hour)
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "after the extraction", contents(t, s, ""), "I like tea", "It is not MySQL, we use PostgreSQL", "以后不要再发短信", "My locker is number 42")
	utter(t, s, "s", "Forget what I said about my locker.")
	want(t, "asked to forget", contents(t, s, yiku.StatusArchived), "My locker is number 42")
}

// TestC11_CommandsInReplies: commands are taken out of the visible text and
// done, or only logged; a replay does nothing twice.
func TestC11_CommandsInReplies(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	old := save(t, s, yiku.SaveMemoryRequest{Content: "Drinks coffee"})
	req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{{ID: "1", Role: yiku.RoleAssistant,
		Content: yiku.Text("好的。\n<memory_commands>[{\"op\":\"create\",\"content\":\"爱喝绿茶\",\"type\":\"preference\"},{\"op\":\"delete\",\"id\":\"" + old.ID + "\"}]</memory_commands>")}}}
	for range 2 {
		if _, err := s.AppendMessages(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "active", contents(t, s, ""), "爱喝绿茶")
	want(t, "archived", contents(t, s, yiku.StatusArchived), "Drinks coffee")
	page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: "s"})
	if err != nil || len(page.Items) != 1 || page.Items[0].Content.Text != "好的。" {
		t.Errorf("messages: %+v, %v", page.Items, err)
	}
	for _, lang := range []string{"zh", "en"} {
		if text, err := s.Instructions(t.Context(), yiku.InstructionsRequest{Lang: lang}); err != nil || !strings.Contains(text.Text, "memory_commands") {
			t.Errorf("instructions: %v", err)
		}
	}
}

// TestC12_DryRunAndReview: a dry run writes its report and nothing else; what
// is hedged or comes from a tool waits for a person.
func TestC12_DryRunAndReview(t *testing.T) {
	t.Parallel()
	b, _ := modelBench(t, answering(`{"op":"create","content":"Lives in Bergen","messages":[1]},{"op":"create","content":"Perhaps moves to Oslo","confidence":"hedged","messages":[1]}`))
	s := b.operator()
	utter(t, s, "s", "I live in Bergen, maybe I will move to Oslo")
	dry, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s", DryRun: true})
	if err != nil || !dry.DryRun || len(dry.Operations) != 2 || dry.Tokens.In != 100 {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	want(t, "after a dry run", contents(t, s, ""))
	if _, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	want(t, "active", contents(t, s, ""), "Lives in Bergen")
	waiting, err := s.ListReview(t.Context(), yiku.ListReviewRequest{UserID: "ann"})
	if err != nil || len(waiting.Items) != 1 {
		t.Fatalf("review: %+v, %v", waiting.Items, err)
	}
	id := waiting.Items[0].ID
	res, err := s.Review(t.Context(), yiku.ReviewRequest{UserID: "ann", ID: id, Decision: yiku.ReviewApprove, Content: "Moves to Oslo in May"})
	if err != nil || res.Memory.Status != yiku.StatusActive || res.Memory.Content != "Moves to Oslo in May" {
		t.Errorf("approve: %+v, %v", res, err)
	}
	if _, err := s.Review(t.Context(), yiku.ReviewRequest{UserID: "ann", ID: id, Decision: yiku.ReviewReject}); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("decide twice: %v", err)
	}
	page, err := s.ListExtractions(t.Context(), yiku.ListExtractionsRequest{UserID: "ann", SessionID: "s"})
	if err != nil || len(page.Items) != 2 || !page.Items[1].DryRun {
		t.Errorf("reports: %+v, %v", page.Items, err)
	}
}

// TestC4_ModelSeesNumbers: the model sees memories under numbers; an update by
// number supersedes, an unknown number does not lose the fact (L29).
func TestC4_ModelSeesNumbers(t *testing.T) {
	t.Parallel()
	b, script := modelBench(t, answering(`{"op":"update","target":1,"content":"The user lives in Oslo","messages":[1]},{"op":"update","target":77,"content":"Works at a school","messages":[1]}`))
	s := b.operator()
	home := save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in Bergen", Subject: "user", Attribute: "residence", Value: "Bergen"})
	utter(t, s, "s", "I live in Oslo now, not in Bergen, and work at a school")
	want(t, "in the append", contents(t, s, ""), "I live in Oslo now, not in Bergen, and work at a school")
	if _, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	asked := script.Asked()[0].Messages[0].Content
	if strings.Contains(asked, home.ID) {
		t.Error("the model sees an id")
	}
	if got := contents(t, s, ""); len(got) != 2 || got[0] != "Works at a school" {
		t.Errorf("active: %q", got)
	}
}

// TestC6_FailuresAreParked: a model that fails for good leaves a parked job, and
// rules read the range meanwhile; replayed, the model is asked again.
func TestC6_FailuresAreParked(t *testing.T) {
	t.Parallel()
	down := llmtest.Step{Err: yiku.Errorf(yiku.ErrUnavailable, "down")}
	var steps []llmtest.Step
	for range 8 {
		steps = append(steps, down)
	}
	b, script := modelBench(t, append(steps, answering(`{"op":"create","content":"Lives in Bergen by the sea","messages":[1]}`))...)
	s := b.operator()
	utter(t, s, "s", "I live in Bergen.")
	for range 12 {
		b.clock.Advance(2 * time.Hour)
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(script.Asked()); n != 8 {
		t.Errorf("asked %d times, want 8", n)
	}
	want(t, "by rules", contents(t, s, ""), "I live in Bergen")
	page, err := s.ListExtractions(t.Context(), yiku.ListExtractionsRequest{UserID: "ann"})
	if err != nil || len(page.Items) != 1 || page.Items[0].Path != "rules" || len(page.Items[0].Degraded) != 1 {
		t.Errorf("records: %+v, %v", page.Items, err)
	}
	list, err := s.ListJobs(t.Context(), yiku.ListJobsRequest{State: yiku.JobParked})
	if err != nil || len(list.Items) != 1 || list.Items[0].Problem == "" || list.Items[0].UserID != "ann" {
		t.Fatalf("jobs: %+v, %v", list.Items, err)
	}
	if _, err := s.ReplayJob(t.Context(), yiku.ReplayJobRequest{ID: list.Items[0].ID}); err != nil {
		t.Fatal(err)
	}
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, s, ""); len(got) != 2 || got[0] != "Lives in Bergen by the sea" {
		t.Errorf("after the replay: %q", got)
	}
	if list, err = s.ListJobs(t.Context(), yiku.ListJobsRequest{}); err != nil || len(list.Items) != 0 {
		t.Errorf("jobs left: %+v, %v", list.Items, err)
	}
}

// TestE2_ForgottenIsNotLearntAgain: a memory that was forgotten with its
// messages kept is not learnt from them again; said anew, it is.
func TestE2_ForgottenIsNotLearntAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	utter(t, s, "s", "I live in Bergen.")
	extract := func(session string) {
		t.Helper()
		if _, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: session}); err != nil {
			t.Fatal(err)
		}
	}
	extract("s")
	b.clock.Advance(time.Minute)
	if _, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Selector: yiku.Selector{Keyword: "Bergen"}, Sources: yiku.SourcesKeep, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Minute)
	if _, err := s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "ann", SessionID: "s", NewSessionID: "f"}); err != nil {
		t.Fatal(err)
	}
	want(t, "forgotten", contents(t, s, ""))
	b.clock.Advance(time.Minute)
	utter(t, s, "t", "I live in Bergen.")
	extract("t")
	want(t, "said anew", contents(t, s, ""), "I live in Bergen")
}

// TestC7_TheSameAThousandTimes: the same content a thousand times is one row
// and one version; the cost of a turn does not grow.
func TestC7_TheSameAThousandTimes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	for i := range 100 {
		var texts []string
		for range 10 {
			texts = append(texts, "I live in Bergen.")
		}
		utter(t, s, fmt.Sprint("s", i), texts...)
		if _, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: fmt.Sprint("s", i)}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "ann"})
	if err != nil || len(page.Items) != 1 || page.Items[0].Version != 1 {
		t.Errorf("%d rows, version %d, %v", len(page.Items), page.Items[0].Version, err)
	}
}
