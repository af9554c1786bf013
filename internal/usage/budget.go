package usage

import "time"

// Budget bounds what the model calls of one tenant may take in a day and in a
// month, both of UTC; 0 is no bound. Tokens are those of prompts and answers.
type Budget struct {
	DayCalls    int64
	DayTokens   int64
	MonthCalls  int64
	MonthTokens int64
}

// None reports whether nothing is bounded.
func (b Budget) None() bool { return b == Budget{} }

// Amount is what calls take.
type Amount struct {
	Calls  int64
	Tokens int64
}

// Exceeded names the bound that need would go beyond, given what the day and
// the month have taken, and when it begins anew; "" where need fits. Of several
// bounds it is the one that lasts longest.
func (b Budget) Exceeded(day, month, need Amount, now time.Time) (bound string, again time.Time) {
	over := func(most, used, more int64) bool { return most > 0 && used+more > most }
	switch {
	case over(b.MonthCalls, month.Calls, need.Calls):
		bound = "month_calls"
	case over(b.MonthTokens, month.Tokens, need.Tokens):
		bound = "month_tokens"
	case over(b.DayCalls, day.Calls, need.Calls):
		return "day_calls", Day(now).AddDate(0, 0, 1)
	case over(b.DayTokens, day.Tokens, need.Tokens):
		return "day_tokens", Day(now).AddDate(0, 0, 1)
	default:
		return "", time.Time{}
	}
	return bound, Month(now).AddDate(0, 1, 0)
}

// Day is the beginning of a time's day in UTC.
func Day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// Month is the beginning of a time's month in UTC.
func Month(t time.Time) time.Time {
	y, m, _ := t.UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}
