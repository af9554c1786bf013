package extract

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku/internal/lang"
)

// dated writes the date behind every expression that means another one on
// another day: "next Friday (2026-03-13)".
func (r *reading) dated(text string) string {
	zone := r.window.Zone
	if zone == nil {
		zone = time.UTC
	}
	var b strings.Builder
	last := 0
	for _, w := range lang.Times(text, r.window.Messages[r.at-1].At.In(zone)) {
		if !w.Relative {
			continue
		}
		b.WriteString(text[last:w.End])
		last = w.End
		open, closing := " (", ")"
		if r, _ := utf8.DecodeLastRuneInString(text[:w.End]); unicode.Is(unicode.Han, r) {
			open, closing = "（", "）"
		}
		b.WriteString(open + span(w) + closing)
	}
	return b.String() + text[last:]
}

// untimed is a value without the time at its end that says when it began; a
// value that is a time stays.
func untimed(value string, now time.Time) string {
	times := lang.Times(value, now)
	if n := len(times); n > 0 && times[n-1].End == len(value) && times[n-1].Start > 0 {
		return trim(value[:times[n-1].Start])
	}
	return value
}

// span is a time as it is written behind an expression: a day, or the first and
// the last.
func span(w lang.When) string {
	from, last := w.From.Format(time.DateOnly), w.To.AddDate(0, 0, -1).Format(time.DateOnly)
	if from == last {
		return from
	}
	return from + "…" + last
}
