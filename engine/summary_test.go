package engine_test

import (
	"context"
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

// turns appends n turns; each says something of its own in either language.
func chatTurns(t *testing.T, s yiku.Service, session string, from, n int) {
	t.Helper()
	req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: session}
	for i := from; i < from+n; i++ {
		say := fmt.Sprintf("The harbour crane number %d is painted with colour %d.", i, 100+i)
		if i%2 == 1 {
			say = fmt.Sprintf("第 %d 号仓库存放第 %d 批茶叶。", i, 100+i)
		}
		req.Messages = append(req.Messages, yiku.Message{ID: fmt.Sprintf("u%d", i), Role: yiku.RoleUser, Content: yiku.Text(say)},
			yiku.Message{ID: fmt.Sprintf("a%d", i), Role: yiku.RoleAssistant, Content: yiku.Text("Noted, thank you.")})
	}
	if _, err := s.AppendMessages(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func summaryOf(t *testing.T, s yiku.Service, session string) yiku.SessionSummary {
	t.Helper()
	got, err := s.GetSummary(t.Context(), yiku.GetSummaryRequest{UserID: "ann", SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func runJobs(t *testing.T, b bench) {
	t.Helper()
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func idsOf(messages []yiku.Message) string {
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return strings.Join(ids, " ")
}

// TestB1_RollingSummary: over twelve turns the oldest half is summarised in the
// background, by sentences that were said; the context shows them between
// working memory and history, counted, and where the layer is off it does not;
// from the summary one comes to its messages (D8).
func TestB1_RollingSummary(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	chatTurns(t, s, "s", 0, 12)
	runJobs(t, b)
	if got := summaryOf(t, s, "s"); got.Covers != nil || got.Uncovered != 24 {
		t.Fatalf("within the limit: %+v", got)
	}
	chatTurns(t, s, "s", 12, 1)
	runJobs(t, b)
	got := summaryOf(t, s, "s")
	if got.Covers == nil || got.Covers.FromID != "u0" || got.Covers.ToID != "a5" || got.Covers.Messages != 12 || got.Uncovered != 14 || got.Path != "extractive" || len(got.Lines) == 0 {
		t.Fatalf("the oldest half: %+v", got)
	}
	for _, l := range got.Lines {
		page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: "s", From: l.MessageID, To: l.MessageID})
		if err != nil || len(page.Items) != 1 || !strings.Contains(page.Items[0].Content.Text, l.Text) {
			t.Errorf("%q does not stand in its message %s: %+v, %v", l.Text, l.MessageID, page.Items, err)
		}
	}
	page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: "s", From: got.Covers.FromID, To: got.Covers.ToID})
	if err != nil || len(page.Items) != 12 || page.Items[11].ID != "a5" {
		t.Errorf("what it covers: %s, %v", idsOf(page.Items), err)
	}
	res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "nothing of this"})
	if !strings.Contains(res.System, "## Summary\n") || !strings.Contains(res.System, got.Lines[0].Text) || res.Budget.Summary == 0 || len(res.Messages) != 20 {
		t.Errorf("context: %d messages, budget %+v\n%s", len(res.Messages), res.Budget, res.System)
	}
	res = contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "nothing of this", Options: yiku.ContextOptions{Layers: yiku.Layers{Summary: yiku.Some(false)}}})
	if strings.Contains(res.System, "## Summary") || res.Budget.Summary != 0 {
		t.Errorf("without the layer: %s", res.System)
	}
}

// TestB1_BoundedSteps: whatever the length of a session, a model is shown the
// summary so far and the oldest half of the raw zone, and is asked as often at
// the end as at the start.
func TestB1_BoundedSteps(t *testing.T) {
	t.Parallel()
	b, script := modelBench(t, llmtest.Step{Text: `{"sentences":["The user keeps cranes and tea in a harbour."]}`})
	s := b.operator()
	var asked []int
	for i := range 60 {
		chatTurns(t, s, "s", i, 1)
		runJobs(t, b)
		asked = append(asked, len(script.Asked()))
	}
	for i, req := range script.Asked() {
		if lines := strings.Count(req.Messages[0].Content, "\n"); lines > 20 || len(req.Messages[0].Content) > 2000 {
			t.Errorf("request %d has %d lines", i, lines)
		}
	}
	if early, late := asked[30]-asked[10], asked[59]-asked[39]; early == 0 || late > early+1 {
		t.Errorf("asked %d times in 20 early turns, %d times in 20 late ones", early, late)
	}
	if got := summaryOf(t, s, "s"); got.Path != "llm" || got.Model == "" || got.Covers.FromID != "u0" || got.Uncovered > 24 {
		t.Errorf("%+v", got)
	}
	chatTurns(t, s, "long", 0, 300)
	before := len(script.Asked())
	runJobs(t, b)
	for _, req := range script.Asked()[before:] {
		if n := strings.Count(req.Messages[0].Content, "\n"); n > 204 {
			t.Errorf("the whole of a long session was shown at once: %d lines", n)
		}
	}
	if got := summaryOf(t, s, "long"); got.Uncovered > 24 || got.Covers.Messages < 576 {
		t.Errorf("a session that came at once: %+v", got)
	}
}

// TestB1_NothingIsLostWhileItFails: while no summary can be made the context
// says what the window leaves out in the messages' own sentences; when the
// model is given up, sentences are chosen.
func TestB1_NothingIsLostWhileItFails(t *testing.T) {
	t.Parallel()
	b, _ := modelBench(t, llmtest.Step{Err: yiku.Errorf(yiku.ErrUnavailable, "down")}, llmtest.Step{Err: yiku.Errorf(yiku.ErrInvalid, "refused")})
	s := b.operator()
	chatTurns(t, s, "s", 0, 14)
	runJobs(t, b)
	if got := summaryOf(t, s, "s"); got.Covers != nil {
		t.Fatalf("a summary without a model: %+v", got)
	}
	res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "x"})
	for _, hidden := range []string{"crane number 0 ", "第 1 号仓库", "crane number 2 ", "第 3 号仓库"} {
		if !strings.Contains(res.System, hidden) {
			t.Errorf("%q is out of view:\n%s", hidden, res.System)
		}
	}
	if strings.Contains(res.System, "crane number 6 ") {
		t.Errorf("what the window shows is shown twice:\n%s", res.System)
	}
	b.clock.Advance(time.Hour)
	runJobs(t, b)
	if got := summaryOf(t, s, "s"); got.Covers == nil || got.Path != "extractive" {
		t.Errorf("after the model was given up: %+v", got)
	}
}

// TestB2_ModelThatManglesNumbers: a sentence with a datum that was not said is
// dropped, its neighbours stay; an answer of nothing else is not used.
func TestB2_ModelThatManglesNumbers(t *testing.T) {
	t.Parallel()
	b, _ := modelBench(t, llmtest.Step{Text: `{"sentences":["Crane number 2 has colour 102.","Crane number 4 has colour 140.","The user keeps tea."]}`},
		llmtest.Step{Text: "```json\n{\"sentences\":[\"第 1 号仓库存放第 999 批茶叶。\"]}\n```"})
	s := b.operator()
	chatTurns(t, s, "s", 0, 13)
	runJobs(t, b)
	got := summaryOf(t, s, "s")
	if got.Path != "llm" || got.DroppedSentences != 1 || got.Text != "Crane number 2 has colour 102.\nThe user keeps tea." {
		t.Errorf("%+v", got)
	}
	chatTurns(t, s, "s", 13, 7)
	runJobs(t, b)
	if got = summaryOf(t, s, "s"); got.Path != "extractive" || len(got.Degraded) != 1 || strings.Contains(got.Text, "999") || got.Text == "" {
		t.Errorf("an answer of nothing but mangled data: %+v", got)
	}
}

// TestE2_SummaryIsRebuiltWithoutWhatIsForgotten: a forget of one message takes
// the summary and the snapshots that show it, counts and proves it, and a new
// summary is made without the message.
func TestE2_SummaryIsRebuiltWithoutWhatIsForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	chatTurns(t, s, "s", 0, 14)
	runJobs(t, b)
	before := summaryOf(t, s, "s")
	gone := before.Lines[0]
	snapshot := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "x"}).SnapshotID
	res, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "test",
		Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s", MessageID: gone.MessageID}}})
	if err != nil || res.Removed.Summaries != 1 || res.Removed.Messages != 1 || !res.Verified {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := summaryOf(t, s, "s"); got.Covers != nil {
		t.Errorf("the summary is still there: %+v", got)
	}
	_, err = s.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{ID: snapshot, UserID: "ann"})
	if !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("a snapshot that shows it: %v", err)
	}
	runJobs(t, b)
	got := summaryOf(t, s, "s")
	if got.Covers == nil || len(got.Lines) == 0 || strings.Contains(got.Text, gone.Text) {
		t.Errorf("rebuilt: %+v", got)
	}
	proof, err := s.VerifyReceipt(t.Context(), yiku.VerifyReceiptRequest{ID: res.ReceiptID, UserID: "ann"})
	if err != nil || !proof.Clean {
		t.Errorf("%+v, %v", proof, err)
	}
}

// meddler is a model during whose answer something else happens.
type meddler struct {
	llm.Model
	do func()
}

func (m *meddler) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Model.Complete(ctx, req)
}

// TestE2_SummaryOfForgottenSourcesIsNotWritten: what a model was told before a
// forget is not written after it.
func TestE2_SummaryOfForgottenSourcesIsNotWritten(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(llmtest.Step{Text: `{"sentences":["Crane number 2 is old."]}`}, llmtest.Step{Text: `{"sentences":["The user keeps tea."]}`})
	model := &meddler{Model: script}
	b := newBenchWith(t, engine.Options{Model: model})
	s := b.operator()
	chatTurns(t, s, "s", 0, 14)
	model.do = func() {
		_, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "test", Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s", MessageID: "u2"}}})
		if err != nil {
			t.Error(err)
		}
	}
	runJobs(t, b)
	if got := summaryOf(t, s, "s"); got.Text != "The user keeps tea." || len(script.Asked()) != 2 || strings.Contains(script.Asked()[1].Messages[0].Content, "number 2 ") {
		t.Errorf("%+v", got)
	}
}

// TestB6_PinnedIsNeverSummarised: pinned and system messages stay in the window
// and never become part of a summary.
func TestB6_PinnedIsNeverSummarised(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	_, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{
		{Role: yiku.RoleSystem, Content: yiku.Text("You must always decide for the blue harbour plan.")},
		{Role: yiku.RoleUser, Pinned: true, Content: yiku.Text("We decided that the deadline is never moved, and must not be.")}}})
	if err != nil {
		t.Fatal(err)
	}
	chatTurns(t, s, "s", 0, 16)
	runJobs(t, b)
	got := summaryOf(t, s, "s")
	res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "x"})
	if got.Covers == nil || strings.Contains(got.Text, "deadline") || strings.Contains(got.Text, "blue harbour") || !strings.Contains(strings.Join(texts(res.Messages), "\n"), "deadline is never moved") {
		t.Errorf("%+v", got)
	}
}
