package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/eval"
)

// scripted answers each question with the turns written down for it.
type scripted struct {
	appended []yiku.AppendMessagesRequest
	answers  map[string][]string // by question, without a threshold
	recalled map[string]int      // how many of them pass the service's own
	closed   bool
	fail     error
}

func (s *scripted) AppendMessages(_ context.Context, r yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	s.appended = append(s.appended, r)
	return yiku.AppendMessagesResponse{}, s.fail
}

func (s *scripted) SearchMemory(_ context.Context, r yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	if !r.IncludeMessages {
		return yiku.SearchMemoryResponse{}, errors.New("messages are not asked for")
	}
	turns := s.answers[r.UserID+"|"+r.Query]
	if *r.MinRelevance > 0 {
		turns = turns[:s.recalled[r.UserID+"|"+r.Query]]
	}
	var out yiku.SearchMemoryResponse
	for _, id := range turns {
		out.Items = append(out.Items, yiku.SearchItem{Message: &yiku.Message{ID: id}})
	}
	return out, nil
}

func (s *scripted) Close() error { s.closed = true; return nil }

func sample(t *testing.T) *eval.Set {
	t.Helper()
	set, err := eval.Load("testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func script() *scripted {
	return &scripted{
		answers: map[string][]string{
			"ada|Where does Ada's sister live?":  {"2", "1", "3"},
			"ada|What do we know of the flat?":   {"3", "4", "2"},
			"ada|What is the name of Ada's dog?": {"2"},
			"小林|周末要去哪里？":                         {"sms:0"},
			"ada|周末要去哪里？":                        {"1"},
		},
		recalled: map[string]int{"ada|Where does Ada's sister live?": 1, "小林|周末要去哪里？": 1, "ada|周末要去哪里？": 1},
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	s := script()
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var progress []string
	report, err := eval.Run(context.Background(), []*eval.Set{sample(t)}, func() (eval.Searcher, error) { return s, nil }, &eval.Options{
		Now:      func() time.Time { clock = clock.Add(time.Millisecond); return clock },
		Progress: func(set string, done, of int) { progress = append(progress, set) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !s.closed || len(progress) != 3 {
		t.Errorf("closed %v, progress %v", s.closed, progress)
	}
	// Tokens: turn 1 (3+36+10)/4 = 12.25, 2 (3+33+10)/4 = 11.5, 3 (3+32+10)/4 = 11.25,
	// 4 (9+38+10)/4 = 14.25, sms:0 (2+13+10)/4 = 6.25, note:1 (4+9)/4 = 3.25.
	got := report.Sets[0]
	third := 1.0 / 3
	want := eval.Metrics{
		Questions: 3,
		Recall:    [4]float64{(0 + .5 + 1) * third, (1 + .5 + 1) * third, (1 + .5 + 1) * third, (1 + .5 + 1) * third},
		Hit:       [4]float64{2 * third, 1, 1, 1},
		Injected:  [4]float64{(11.5 + 11.25 + 6.25) * third, (35 + 37 + 6.25) * third, (35 + 37 + 6.25) * third, (35 + 37 + 6.25) * third},
		NDCG:      (1/math.Log2(3) + 1/(1+1/math.Log2(3)) + 1) * third,
		MRR:       (.5 + 1 + 1) * third,
		Within:    [3]float64{2.5 * third, 2.5 * third, 2.5 * third},
		Recalled:  (0 + 0 + 1) * third, Silent: third,
		Unanswered: 1, Abstained: 1,
	}
	if diff := cmp.Diff(want, got.All, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	if got.Turns != 6 || got.Conversations != 2 || len(got.Categories) != 3 || got.P50 != 1 {
		t.Errorf("%d turns, %d conversations, %d categories, p50 %v ms", got.Turns, got.Conversations, len(got.Categories), got.P50)
	}
	if history := (3*49.25 + 9.5) / 4; got.HistoryTokens != history {
		t.Errorf("history %v, want %v", got.HistoryTokens, history)
	}
	if got.Foreign != 4 || got.ForeignSilent != .75 {
		t.Errorf("%d questions of others, silent %v; want 4, .75", got.Foreign, got.ForeignSilent)
	}
}

// TestRunBudget: an item that does not fit is skipped whole, smaller ones follow.
func TestRunBudget(t *testing.T) {
	t.Parallel()
	set := &eval.Set{Name: "budget", Conversations: []eval.Conversation{{ID: "c", Turns: []eval.Turn{
		{ID: "a", Session: "s", Text: strings.Repeat("x", 4*500)}, {ID: "b", Session: "s", Text: strings.Repeat("长", 4*20)}, {ID: "c", Session: "s", Text: "four"},
	}}}, Questions: []eval.Question{{Conversation: "c", Category: "q", Text: "q", Evidence: []string{"b", "c"}}}}
	s := &scripted{answers: map[string][]string{"c|q": {"a", "b", "c"}}}
	report, err := eval.Run(context.Background(), []*eval.Set{set}, func() (eval.Searcher, error) { return s, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([3]float64{.5, 1, 1}, report.Sets[0].All.Within); diff != "" {
		t.Errorf("evidence within 512, 1024, 2048 (-want +got):\n%s", diff)
	}
}

func TestRunAppends(t *testing.T) {
	t.Parallel()
	s := script()
	if _, err := eval.Run(context.Background(), []*eval.Set{sample(t)}, func() (eval.Searcher, error) { return s, nil }, &eval.Options{Batch: 2}); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, r := range s.appended {
		sizes = append(sizes, len(r.Messages))
	}
	if diff := cmp.Diff([]int{2, 1, 1, 2}, sizes); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	first, assistant := s.appended[0], s.appended[2].Messages[0]
	if first.UserID != "ada" || first.SessionID != "s1" || first.Messages[0].Name != "Ada" || first.Messages[0].Role != yiku.RoleUser || first.Messages[0].CreatedAt.IsZero() {
		t.Errorf("first batch: user %q, session %q, message %+v", first.UserID, first.SessionID, first.Messages[0])
	}
	if assistant.Role != yiku.RoleAssistant || assistant.Name != "" {
		t.Errorf("an assistant's message: role %q, name %q", assistant.Role, assistant.Name)
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	s := script()
	s.fail = yiku.ErrUnavailable
	_, err := eval.Run(context.Background(), []*eval.Set{sample(t)}, func() (eval.Searcher, error) { return s, nil }, nil)
	if !errors.Is(err, yiku.ErrUnavailable) || !s.closed {
		t.Errorf("Run = %v, closed %v", err, s.closed)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	s := script()
	report, err := eval.Run(context.Background(), []*eval.Set{sample(t)}, func() (eval.Searcher, error) { return s, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	var table, text bytes.Buffer
	if err := errors.Join(report.WriteTable(&table), report.WriteJSON(&text)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"sample", "· single", "R@10", "1.00 of 1", "questions of other conversations"} {
		if !strings.Contains(table.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, table.String())
		}
	}
	var back eval.Report
	if err := json.Unmarshal(text.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*report, back); diff != "" {
		t.Errorf("JSON and back (-want +got):\n%s", diff)
	}
}
