package lang

import (
	"fmt"
	"time"
)

// DateWords returns the words by which people of both languages ask for the
// day of t, in t's zone: the year, the month by name and number, the day and
// the weekday. It is empty for the zero time. Append it to a text that is to be
// found by its date.
func DateWords(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	weekday := [...]string{"日", "一", "二", "三", "四", "五", "六"}[t.Weekday()]
	return fmt.Sprintf("%s %s %d, %d %04d-%02d-%02d %d年%d月%d日 星期%s",
		t.Weekday(), t.Month(), t.Day(), t.Year(), t.Year(), int(t.Month()), t.Day(),
		t.Year(), int(t.Month()), t.Day(), weekday)
}
