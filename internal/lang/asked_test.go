package lang_test

import (
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku/internal/lang"
)

// TestD9_Asked reads the times of questions against a clock: Wednesday, 4 March
// 2026, in Shanghai. A time without a year is written with that of its first span.
func TestD9_Asked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 23, 30, 0, 0, time.FixedZone("CST", 8*3600))
	for _, test := range []struct{ text, from, to string }{
		{"上周二我说了什么？", "2026-02-24", "2026-02-25"}, {"三个月前", "2025-12-01", "2026-01-01"}, {"去年国庆我们去了哪里", "2025-10-01", "2025-10-09"},
		{"1月中旬去了哪儿", "2027-01-11", "2027-01-21"}, {"十一月底的计划", "2027-11-21", "2027-12-01"}, {"去年五月上旬", "2025-05-01", "2025-05-11"}, {"2024年12月", "2024-12-01", "2025-01-01"},
		{"2023年发生了什么", "2023-01-01", "2024-01-01"}, {"2023年第二季度", "2023-04-01", "2023-07-01"}, {"去年下半年", "2025-07-01", "2026-01-01"}, {"2024年夏天", "2024-06-01", "2024-09-01"},
		{"从三月到五月", "2027-03-01", "2027-06-01"}, {"2024年3月至2024年5月", "2024-03-01", "2024-06-01"}, {"六月以前", "", "2025-06-01"}, {"2022年以来", "2022-01-01", ""},
		{"最近三天吃了什么", "2026-03-01", "2026-03-05"}, {"最近怎么样", "2026-02-05", "2026-03-05"}, {"过去两周", "2026-02-18", "2026-03-05"}, {"上个月底", "2026-02-21", "2026-03-01"},
		{"what did I do last Tuesday?", "2026-03-03", "2026-03-04"}, {"where were we last spring", "2025-03-01", "2025-06-01"}, {"in March", "2027-03-01", "2027-04-01"}, {"What happened in 2023?", "2023-01-01", "2024-01-01"},
		{"since 2022", "2022-01-01", ""}, {"before June 2024", "", "2024-06-01"}, {"after May 3rd, 2025", "2025-05-04", ""}, {"until January", "", "2026-02-01"}, {"since October", "2025-10-01", ""},
		{"from May to June", "2027-05-01", "2027-07-01"}, {"in early July 2023", "2023-07-01", "2023-07-11"}, {"mid-October", "2027-10-11", "2027-10-21"}, {"at the end of March", "2027-03-21", "2027-04-01"},
		{"the summer of 2023", "2023-06-01", "2023-09-01"}, {"Q2 2024", "2024-04-01", "2024-07-01"}, {"last Christmas", "2025-12-24", "2025-12-27"}, {"Thanksgiving 2024", "2024-11-28", "2024-12-02"}, {"Easter 2024", "2024-03-29", "2024-04-02"},
		{"What did she read recently?", "2026-02-05", "2026-03-05"}, {"in the last two weeks", "2026-02-18", "2026-03-05"}, {"In December, who called?", "2027-12-01", "2028-01-01"},
	} {
		spans := lang.Asked(test.text, now).Times
		if len(spans) == 0 || len(spans) > 1 && len(spans) != 12 {
			t.Errorf("%q: %d spans", test.text, len(spans))
			continue
		}
		day := func(at time.Time) string { return strings.TrimPrefix(at.Format(time.DateOnly), "0001-01-01") }
		if f, to := day(spans[0].From), day(spans[0].To); f != test.from || to != test.to {
			t.Errorf("%q asks about %s to %s, want %s to %s", test.text, f, to, test.from, test.to)
		}
	}
	for _, text := range []string{"", "Where does Ada live?", "她对什么过敏？", "may I go?", "a march of 5 km", "12个月", "月光", "version 2023", "我每天喝咖啡"} {
		if spans := lang.Asked(text, now).Times; len(spans) != 0 {
			t.Errorf("%q asks about %v", text, spans)
		}
	}
	long := strings.Repeat("很长的话。", 300) + "上周二在 2019 年以前的钓鱼"
	if q := lang.Asked(long, now); len(q.Times) != 2 || q.Words != strings.Repeat("很长的话。", 300)+"上周二在  以前的钓鱼" || strings.Contains(q.Rest, "上周二") {
		t.Errorf("a long question: %v, words %q, rest %q", q.Times, q.Words[len(q.Words)-60:], q.Rest[len(q.Rest)-60:])
	}
}

// TestD9_Festivals reads the holidays of the Chinese calendar, whose days differ
// from year to year, with the days off around them. The days are those of the
// Hong Kong Observatory's tables; 2033 is the year that simple tables get wrong.
func TestD9_Festivals(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CST", 8*3600)
	now := time.Date(2026, 3, 4, 23, 30, 0, 0, zone)
	for _, test := range []struct{ text, from, to string }{
		{"2020年春节在哪里过的", "2020-01-24", "2020-02-01"}, {"2033年春节", "2033-01-30", "2033-02-07"}, {"Chinese New Year 2025", "2025-01-28", "2025-02-05"},
		{"去年过年我们吃了什么", "2025-01-28", "2025-02-05"}, {"今年除夕", "2026-02-16", "2026-02-17"}, {"lunar new year's eve 2024", "2024-02-09", "2024-02-10"}, {"last Spring Festival", "2026-02-16", "2026-02-24"},
		{"New Year's Eve 2024", "2024-12-31", "2025-01-01"}, {"New Year's Day 2024", "2024-01-01", "2024-01-02"}, {"Chinese New Year's Eve 2024", "2024-02-09", "2024-02-10"},
		{"2024年元宵节", "2024-02-24", "2024-02-25"}, {"去年端午", "2025-05-30", "2025-06-02"}, {"the Dragon Boat Festival 2023", "2023-06-21", "2023-06-24"}, {"2025年七夕", "2025-08-29", "2025-08-30"},
		{"2025年中秋节", "2025-10-05", "2025-10-08"}, {"next mid-autumn festival", "2026-09-24", "2026-09-27"}, {"2033年中秋", "2033-09-07", "2033-09-10"}, {"2025年重阳", "2025-10-29", "2025-10-30"},
		{"2025年腊八节", "2025-01-07", "2025-01-08"}, {"中秋以前", "", "2025-10-05"}, {"春节以后", "2026-02-24", ""}, {"从2026年春节到2026年元宵", "2026-02-16", "2026-03-04"},
	} {
		spans := lang.Asked(test.text, now).Times
		day := func(at time.Time) string { return strings.TrimPrefix(at.Format(time.DateOnly), "0001-01-01") }
		if len(spans) != 1 || day(spans[0].From) != test.from || day(spans[0].To) != test.to {
			t.Errorf("%q asks about %v, want %s to %s", test.text, spans, test.from, test.to)
		}
	}
	// Without a year it is that of any year, each on its own day.
	for text, days := range map[string][]string{
		"中秋那天我们去了哪里？":                    {"2027-09-14", "2026-09-24", "2025-10-05", "2024-09-16"},
		"what did we do on Thanksgiving": {"2027-11-25", "2026-11-26", "2025-11-27", "2024-11-28"},
	} {
		spans := lang.Asked(text, now).Times
		for i, want := range days {
			if len(spans) != 12 || spans[i].From.Format(time.DateOnly) != want {
				t.Errorf("%q: %d spans, want one from %s: %v", text, len(spans), want, spans)
				break
			}
		}
	}
}

// FuzzAsked holds that spans are not empty, whatever is asked.
func FuzzAsked(f *testing.F) {
	for _, s := range []string{"since March", "从三月到五月", "before Easter 2024", "六月以前", "Q4 9999", "9999年中秋", "0001年腊八", "2月29日"} {
		f.Add(s)
	}
	now := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range lang.Asked(text, now).Times {
			if !s.From.IsZero() && !s.To.IsZero() && !s.To.After(s.From) {
				t.Errorf("%v in %q", s, text)
			}
		}
	})
}

func BenchmarkAsked(b *testing.B) {
	now := time.Date(2026, 3, 4, 23, 30, 0, 0, time.UTC)
	for b.Loop() {
		lang.Asked("What did Caroline tell Melanie about her plans for the summer of 2023 in Portugal?", now)
	}
}
