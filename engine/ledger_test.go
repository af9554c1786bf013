package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

func statsOf(t *testing.T, s yiku.Service) yiku.Stats {
	t.Helper()
	stats, err := s.GetStats(t.Context(), yiku.GetStatsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestG6_Ledger: every attempt at the model is in the ledger with the tokens
// that the endpoint reports, also where the answer could not be used; what it
// does not report is counted by us and said to be. A forget takes nothing of it.
func TestG6_Ledger(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.Prices = "script=1000000/2000000"
	script := llmtest.NewScript(answering(`{"op":"create","content":"lives in Bergen"}`),
		llmtest.Step{Err: yiku.Errorf(yiku.ErrInvalid, "no")}, llmtest.Step{Text: `{"operations":[]} 好的`}, llmtest.Step{Text: `{"operations":[]}`, Usage: llm.Usage{In: 7, Out: 3}})
	b := newBenchWith(t, engine.Options{Model: script, Settings: &settings})
	s := b.operator()
	read := func(session string) error {
		utter(t, s, session, "I live in Bergen, since "+session)
		_, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: session})
		return err
	}
	if err := read("a"); err != nil {
		t.Fatal(err)
	}
	got := statsOf(t, s).Models
	cost := 140.0
	want := []yiku.ModelStats{{Operation: "extract", Model: "script", Path: "llm", Calls: 1, TokensIn: 100, TokensOut: 20, CostUSD: &cost}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("reported by the endpoint (-want +got):", diff)
	}
	if err := read("b"); !errors.Is(err, yiku.ErrInvalid) {
		t.Fatal(err)
	}
	if m := statsOf(t, s).Models[0]; m.Calls != 2 || m.Failures != 1 || m.TokensIn != 100 || m.TokensOut != 20 {
		t.Errorf("after a call that failed: %+v", m)
	}
	if err := read("c"); err != nil {
		t.Fatal(err)
	}
	m := statsOf(t, s).Models[0]
	if m.Calls != 3 || m.Estimated == 0 || m.TokensIn+m.TokensOut != 120+m.Estimated || m.TokensOut == 20 {
		t.Errorf("what the endpoint did not count: %+v", m)
	}
	b.clock.Advance(24 * time.Hour)
	if err := read("d"); err != nil {
		t.Fatal(err)
	}
	before := statsOf(t, s)
	if _, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Selector: yiku.Selector{All: true}, Reason: "x"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, statsOf(t, s)); diff != "" || before.Models[0].Calls != 4 {
		t.Errorf("a forget changed the ledger: %s", diff)
	}
	one, err := s.GetStats(t.Context(), yiku.GetStatsRequest{From: b.clock.Now()})
	if err != nil || len(one.Models) != 1 || one.Models[0].Calls != 1 || one.Models[0].TokensIn != 7 {
		t.Errorf("today alone: %+v, %v", one, err)
	}
}

// TestG6_DaysAndBudgets: the ledger is told by day, with what is left of each
// budget; a day with a model without a price has no cost, and what has no bound
// is not told.
func TestG6_DaysAndBudgets(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.Prices = "script=1000000/2000000"
	settings.Budget = usage.Budget{DayCalls: 2, MonthTokens: 5_000_000}
	b, _ := modelBenchWith(t, &settings, answering(""))
	s := b.operator()
	for _, session := range []string{"a", "b"} {
		utter(t, s, session, "I live in Bergen, since "+session)
		extractNow(t, s, session)
		b.clock.Advance(24 * time.Hour)
	}
	got := statsOf(t, s)
	cost := 140.0
	want := []yiku.DayStats{
		{Day: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Calls: 1, TokensIn: 100, TokensOut: 20, CostUSD: &cost},
		{Day: time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC), Calls: 1, TokensIn: 100, TokensOut: 20, CostUSD: &cost},
	}
	if diff := cmp.Diff(want, got.Days); diff != "" || got.Tenant != "acme" {
		t.Errorf("tenant %q, days (-want +got):\n%s", got.Tenant, diff)
	}
	left := yiku.BudgetStats{DayCalls: &yiku.BudgetLeft{Limit: 2, Left: 2}, MonthTokens: &yiku.BudgetLeft{Limit: 5_000_000, Used: 240, Left: 4_999_760}}
	if diff := cmp.Diff(left, got.Budgets); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
}

// TestG6_EveryAttemptCounts: what the patience around a model tries again is in
// the ledger, attempt by attempt.
func TestG6_EveryAttemptCounts(t *testing.T) {
	t.Parallel()
	busy := yiku.Errorf(yiku.ErrLimited, "busy")
	script := llmtest.NewScript(llmtest.Step{Err: busy}, llmtest.Step{Err: busy}, answering(`{"op":"create","content":"lives in Bergen"}`))
	b := newBenchWith(t, engine.Options{Model: llm.NewSteady(script, &llm.Patience{Delay: time.Nanosecond, MaxDelay: time.Microsecond})})
	s := b.operator()
	utter(t, s, "a", "I live in Bergen.")
	if _, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "a"}); err != nil {
		t.Fatal(err)
	}
	if m := statsOf(t, s).Models; len(m) != 1 || m[0].Calls != 3 || m[0].Failures != 2 || m[0].TokensIn != 100 {
		t.Errorf("three attempts: %+v", m)
	}
}

// TestG6_Saved: contexts of a session are compared with its whole history;
// those that stand for no history are not.
func TestG6_Saved(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.ContextPrice, settings.Turns = 0.15, 2
	b := newBench(t, &settings)
	s := b.operator()
	var said []string
	for range 20 {
		said = append(said, "Today we went on talking about the long road to Bergen and what may wait there. 我们又谈了很久。")
	}
	utter(t, s, "s", said...)
	var sum, history int64
	for _, session := range []string{"s", "s", ""} {
		res, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: "ann", SessionID: session, Query: "Bergen"})
		if err != nil {
			t.Fatal(err)
		}
		if session != "" {
			sum, history = sum+int64(res.Budget.Total), history+int64(res.Budget.FullHistory)
		}
	}
	if err := b.Close(); err != nil { // writes what waits
		t.Fatal(err)
	}
	got := statsOf(t, s).Contexts
	if got.Contexts != 2 || got.Tokens != sum || got.HistoryTokens != history || got.SavedTokens != history-sum || got.SavedTokens <= 0 || got.SavedShare < .5 {
		t.Errorf("contexts: %+v, want %d of %d", got, sum, history)
	}
	if got.SavedUSD == nil || *got.HistoryCostUSD-*got.CostUSD != *got.SavedUSD || *got.HistoryCostUSD != float64(history)*.15/1e6 {
		t.Errorf("costs: %+v", got)
	}
}

// gate is a model that answers when it is opened, and says when it is asked.
type gate struct {
	llm.Model
	asked  func()
	opened chan struct{}
}

func (g gate) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	g.asked()
	<-g.opened
	return g.Model.Complete(ctx, req)
}

// TestG6_BudgetHoldsAtOnce: 64 jobs at once do not go beyond a budget together:
// what a call may take is reserved before it is made. The control: without a
// budget all are made.
func TestG6_BudgetHoldsAtOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		calls int64
		want  int
	}{{10, 10}, {0, 64}} {
		settings := engine.DefaultSettings()
		settings.Budget.DayCalls, settings.AtOnce = test.calls, false
		script := llmtest.NewScript(answering(""))
		var decided, all sync.WaitGroup
		decided.Add(64)
		opened := make(chan struct{})
		b := newBenchWith(t, engine.Options{Settings: &settings, Model: gate{script, decided.Done, opened}})
		s := b.operator()
		for i := range 64 {
			session := fmt.Sprint("s", i)
			utter(t, s, session, "I live in Bergen.")
			all.Go(func() {
				_, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: session})
				if err == nil {
					return
				}
				decided.Done()
				var e *yiku.Error
				if !errors.Is(err, yiku.ErrLimited) || !errors.As(err, &e) || e.RetryAfter != 15*time.Hour || !strings.Contains(e.Error(), "budget.day_calls") {
					t.Errorf("session %s: %v", session, err)
				}
			})
		}
		decided.Wait()
		close(opened)
		all.Wait()
		if n := len(script.Asked()); n != test.want {
			t.Errorf("%d calls, want %d", n, test.want)
		}
		if m := statsOf(t, s).Models[0]; m.Calls != int64(test.want) || m.TokensIn != 100*m.Calls {
			t.Errorf("ledger: %+v", m)
		}
	}
}
