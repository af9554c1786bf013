package usage_test

import (
	"testing"
	"time"

	"github.com/yiku-ai/yiku/internal/usage"
)

// TestG6_Budget: each bound is named when it would be exceeded, never before,
// with the time at which it begins anew; a month lasts longer than a day.
func TestG6_Budget(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 31, 23, 30, 0, 0, time.FixedZone("", -3600)) // 00:30 of the next year in UTC
	tomorrow, next := time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)
	all := usage.Budget{DayCalls: 10, DayTokens: 1000, MonthCalls: 100, MonthTokens: 10000}
	for _, test := range []struct {
		name       string
		budget     usage.Budget
		day, month usage.Amount
		bound      string
		again      time.Time
	}{
		{"nothing bounded", usage.Budget{}, usage.Amount{Calls: 1 << 40, Tokens: 1 << 50}, usage.Amount{}, "", time.Time{}},
		{"the last that fits", all, usage.Amount{Calls: 9, Tokens: 900}, usage.Amount{Calls: 99, Tokens: 9900}, "", time.Time{}},
		{"calls of the day", all, usage.Amount{Calls: 10}, usage.Amount{Calls: 10}, "day_calls", tomorrow},
		{"tokens of the day", all, usage.Amount{Tokens: 901}, usage.Amount{Tokens: 901}, "day_tokens", tomorrow},
		{"calls of the month", all, usage.Amount{}, usage.Amount{Calls: 100}, "month_calls", next},
		{"tokens of the month", all, usage.Amount{}, usage.Amount{Tokens: 9901}, "month_tokens", next},
		{"both", all, usage.Amount{Calls: 10}, usage.Amount{Calls: 100}, "month_calls", next},
	} {
		bound, again := test.budget.Exceeded(test.day, test.month, usage.Amount{Calls: 1, Tokens: 100}, now)
		if bound != test.bound || !again.Equal(test.again) {
			t.Errorf("%s: %q %s, want %q %s", test.name, bound, again, test.bound, test.again)
		}
	}
}

// TestG6_Prices: a rate is found by the model's name, with its driver or
// without, or by the star; what is no list of prices is refused.
func TestG6_Prices(t *testing.T) {
	t.Parallel()
	p, err := usage.ParsePrices(" gpt-4o-mini = 0.15 / 0.6 , org/m=1/2,*=3/4")
	if err != nil || p != "gpt-4o-mini=0.15/0.6,org/m=1/2,*=3/4" {
		t.Fatal(p, err)
	}
	for model, want := range map[string]usage.Rate{
		"openai/gpt-4o-mini": {In: .15, Out: .6}, "gpt-4o-mini": {In: .15, Out: .6}, "openai/org/m": {In: 1, Out: 2},
		"openai/gpt-4o-mini-2": {In: 3, Out: 4}, "": {In: 3, Out: 4},
	} {
		if r, ok := p.Of(model); !ok || r != want {
			t.Errorf("%q: %+v, %v", model, r, ok)
		}
	}
	if _, ok := usage.Prices("a=1/2").Of("b"); ok {
		t.Error("a price for a model that has none")
	}
	if empty, err := usage.ParsePrices(""); err != nil || empty != "" {
		t.Error(empty, err)
	}
	if _, ok := usage.Prices("").Of("b"); ok {
		t.Error("a price without prices")
	}
	if cost := (usage.Rate{In: .15, Out: .6}).Cost(2_000_000, 500_000); cost != .6 {
		t.Errorf("cost %v", cost)
	}
	for _, bad := range []string{"a", "a=1", "=1/2", "a=1/x", "a=-1/2", "a=1/2,,b=1/2", "a=1/Inf", "a=1/NaN", ","} {
		if _, err := usage.ParsePrices(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
