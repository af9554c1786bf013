package usage

import (
	"math"
	"testing"
)

func TestG6_TheSumOfTheRequirement(t *testing.T) {
	t.Parallel()
	got := DefaultPlan().Compare()
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	near("history a month", got.History.USDMonth, 10800)
	near("context a month", got.Context.USDMonth, 360)
	near("history a day", got.History.USDDay, 360)
	near("saved", got.SavedUSD, 10440)
	near("share", got.Share, 1-1.0/30)
	if got.History.TokensDay != 2_400_000_000 || got.Context.TokensMonth != 2_400_000_000 {
		t.Errorf("tokens: %+v", got)
	}
}

func TestCompareWithNothing(t *testing.T) {
	t.Parallel()
	if got := (Plan{ContextTokens: 5, Calls: 1, Tasks: 1, Days: 1, Price: 1e6}).Compare(); got.Share != 0 || got.SavedUSD != -5 {
		t.Errorf("got %+v", got)
	}
}
