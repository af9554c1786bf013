package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

// readAll ends a session and runs the jobs.
func readAll(t *testing.T, b bench, s yiku.Service, session string) yiku.ExtractionReport {
	t.Helper()
	if _, err := s.EndSession(t.Context(), yiku.EndSessionRequest{UserID: "ann", SessionID: session, Reason: yiku.EndOther}); err != nil {
		t.Fatal(err)
	}
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := s.ListExtractions(t.Context(), yiku.ListExtractionsRequest{UserID: "ann", SessionID: session})
	if err != nil || len(page.Items) == 0 {
		t.Fatalf("extractions of %s: %+v, %v", session, page, err)
	}
	return page.Items[0]
}

// TestG6_SpentBudget: where a tenant's budget has no room, rules read what was
// said at once and say why, a parked job keeps the range for the model, and
// whoever asks for the model by call is told when to come again. The next day,
// or with a larger budget of the tenant's own, the model reads it.
func TestG6_SpentBudget(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.Budget.DayCalls, settings.AtOnce = 1, false
	b, script := modelBenchWith(t, &settings, answering(`{"op":"create","content":"of the model"}`), answering(`{"op":"create","content":"of the model again"}`))
	s := b.operator()
	utter(t, s, "a", "I live in Bergen.")
	if r := readAll(t, b, s, "a"); r.Path != "llm" || len(r.Degraded) > 0 {
		t.Fatalf("within the budget: %+v", r)
	}
	utter(t, s, "b", "我喜欢爬山。")
	r := readAll(t, b, s, "b")
	if r.Path != "rules" || !slices.Equal(r.Degraded, []string{"llm", "budget"}) || r.Status != yiku.ExtractionStored {
		t.Errorf("beyond it: %+v", r)
	}
	want(t, "memories", contents(t, s, ""), "我喜欢爬山", "of the model")
	page, err := s.ListJobs(t.Context(), yiku.ListJobsRequest{State: yiku.JobParked})
	if err != nil || len(page.Items) != 1 || !strings.Contains(page.Items[0].Problem, "budget.day_calls") {
		t.Fatalf("parked: %+v, %v", page, err)
	}
	utter(t, s, "b", "Thanks!")
	var e *yiku.Error
	if _, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "b"}); !errors.Is(err, yiku.ErrLimited) || !errors.As(err, &e) || e.RetryAfter != 15*time.Hour {
		t.Errorf("by call: %v", err)
	}
	if n := len(script.Asked()); n != 1 {
		t.Errorf("%d calls of a budget of one", n)
	}
	if m := statsOf(t, s).Models; len(m) != 2 || m[0].Calls+m[1].Calls != 2 || m[0].Path == m[1].Path {
		t.Errorf("ledger: %+v", m)
	}
	if _, err := s.PatchSettings(t.Context(), yiku.PatchSettingsRequest{Budgets: yiku.Some(yiku.Budgets{DayCalls: yiku.Some(2)})}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReplayJob(t.Context(), yiku.ReplayJobRequest{ID: page.Items[0].ID}); err != nil {
		t.Fatal(err)
	}
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, s, ""); !slices.Contains(got, "of the model again") || len(script.Asked()) != 2 {
		t.Errorf("with a larger budget: %q after %d calls", got, len(script.Asked()))
	}
}

// TestG6_SpoiledCalls: a tenant for which answer after answer cannot be used is
// left alone, so that its budget is not burnt; rules read meanwhile, and after
// a while the model is tried again. Another tenant is not held back.
func TestG6_SpoiledCalls(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.SpoiledCalls, settings.AtOnce = 3, false
	b, script := modelBenchWith(t, &settings, llmtest.Step{Text: "I would rather talk about something else."})
	s := b.operator()
	for i := range 8 {
		session := fmt.Sprint("s", i)
		utter(t, s, session, fmt.Sprintf("My locker number is %d.", i))
		if r := readAll(t, b, s, session); r.Path != "rules" || !slices.Contains(r.Degraded, "llm") {
			t.Errorf("%s: %+v", session, r)
		}
	}
	if n := len(script.Asked()); n != 6 {
		t.Errorf("%d calls, want 6: three answers, each asked for once more", n)
	}
	if m := statsOf(t, s).Models; len(m) != 2 || m[1].Calls != 6 || m[1].Failures != 3 || m[0].Calls != 5 {
		t.Errorf("ledger: %+v", m)
	}
	other := b.As(yiku.Principal{Tenant: "globex", Access: yiku.AccessAdmin})
	utter(t, other, "s", "I live in Oslo.")
	if _, err := other.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"}); err != nil || len(script.Asked()) != 8 {
		t.Errorf("another tenant: %v after %d calls", err, len(script.Asked()))
	}
	b.clock.Advance(2 * time.Minute)
	utter(t, s, "late", "I live in Bergen.")
	readAll(t, b, s, "late")
	if n := len(script.Asked()); n != 10 {
		t.Errorf("%d calls after the pause, want 10", n)
	}
}

func modelBenchWith(t *testing.T, settings *engine.Settings, steps ...llmtest.Step) (bench, *llmtest.Script) {
	t.Helper()
	script := llmtest.NewScript(steps...)
	return newBenchWith(t, engine.Options{Model: script, Settings: settings}), script
}
