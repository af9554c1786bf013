package lang

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// When is a time that a text speaks of: the bytes [Start, End) of the text and
// the time [From, To) that they mean.
type When struct {
	Start, End int
	From, To   time.Time
	Relative   bool // it means something else on another day
	Yearless   bool // it says no year: From and To are those of this one
}

// Times finds the time expressions of a text, Chinese and English, in the order
// of the text. now is when it was said, in the zone of who said it; weeks begin
// on Monday. Expressions on which people disagree (a bare weekday, "3/5") are
// left out, but "last Tuesday" is the Tuesday before, and "next Tuesday" that of
// the coming week.
func Times(text string, now time.Time) []When {
	var out []When
	for _, r := range times(text, now, expressions[:]) {
		out = append(out, r.When)
	}
	return out
}

// reading is a time as it was read, which can be read again in another year.
type reading struct {
	When
	in func(years int) (Span, bool) // the same so many years later; not ok where there is no such day then
}

// times finds the expressions of some tables.
func times(text string, now time.Time, tables ...[]expression) []reading {
	var found []reading
	lower := strings.ToLower(text)
	for _, table := range tables {
		for _, e := range table {
			if !slices.ContainsFunc(e.hints, func(h string) bool { return strings.Contains(lower, h) }) {
				continue
			}
			for _, m := range e.form.FindAllStringSubmatchIndex(text, -1) {
				group := func(i int) string {
					if 2*i+1 >= len(m) || m[2*i] < 0 {
						return ""
					}
					return strings.ToLower(text[m[2*i]:m[2*i+1]])
				}
				in := func(years int) (Span, bool) {
					from, to, ok := e.mean(now.AddDate(years, 0, 0), group)
					return Span{from, to}, ok
				}
				if s, ok := in(0); ok {
					w := When{Start: m[0], End: m[1], From: s.From, To: s.To, Relative: e.says != year, Yearless: e.says == noYear}
					found = append(found, reading{w, in})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b reading) int { return (b.End - b.Start) - (a.End - a.Start) })
	var kept []reading
	for _, w := range found { // of those that overlap, the longest says most
		if !slices.ContainsFunc(kept, func(k reading) bool { return w.Start < k.End && k.Start < w.End }) {
			kept = append(kept, w)
		}
	}
	slices.SortFunc(kept, func(a, b reading) int { return a.Start - b.Start })
	return kept
}

// expression is one form of saying a time. group gives its groups, in lower case.
type expression struct {
	hints []string // the form holds one of these, in lower case
	form  *regexp.Regexp
	mean  meaning
	says  says
}

type meaning func(now time.Time, group func(int) string) (from, to time.Time, ok bool)

// says is what an expression says of the year.
type says int

const (
	relative says = iota // it counts from the day on which it is said
	year                 // it names the year
	noYear               // it leaves the year open
)

const (
	enMonth   = `(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)`
	enWeekday = `(monday|tuesday|wednesday|thursday|friday|saturday|sunday)`
	enNumber  = `(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few)`
	zhNumber  = `(\d{1,3}|[一二两三四五六七八九十]{1,3}|半)`
)

var (
	monthHints   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdayHints = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	unitHints    = []string{"day", "week", "month", "year"}
	seasonHints  = []string{"spring", "summer", "autumn", "fall", "winter"}
	holidayHints = []string{"christmas", "new year", "halloween", "valentine", "thanksgiving", "independence", "fourth of", "easter", "labor day",
		"spring festival", "lantern", "dragon boat", "autumn festival", "moon festival"}
)

var expressions = [...]expression{
	{[]string{"-"}, regexp.MustCompile(`\b(\d{4})-(\d{1,2})-(\d{1,2})\b`), dayOf(1, 2, 3), year},
	{[]string{"月"}, regexp.MustCompile(`(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]`), dayOf(1, 2, 3), year},
	{monthHints, regexp.MustCompile(`(?i)\b` + enMonth + `\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b`), dayOf(3, 1, 2), year},
	{monthHints, regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ` + enMonth + `\.?,? (\d{4})\b`), dayOf(3, 2, 1), year},
	{[]string{"月"}, regexp.MustCompile(`(\d{4})\s*年\s*(\d{1,2})\s*月`), monthOf(1, 2), year},
	{monthHints, regexp.MustCompile(`(?i)\b(?:in |of )?` + enMonth + ` (\d{4})\b`), monthOf(2, 1), year},
	{[]string{"月"}, regexp.MustCompile(`(去年|今年|明年|前年|后年)\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]`), dayOf(1, 2, 3), relative},
	{[]string{"月"}, regexp.MustCompile(`(去年|今年|明年|前年|后年)\s*(\d{1,2})\s*月`), monthOf(1, 2), relative},
	{[]string{"月"}, regexp.MustCompile(`(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]`), dayOf(0, 1, 2), noYear},
	{monthHints, regexp.MustCompile(`(?i)\b(?:on )?(?:the )?` + enMonth + `\.? (\d{1,2})(?:st|nd|rd|th)?\b`), dayOf(0, 1, 2), noYear},
	{monthHints, regexp.MustCompile(`(?i)\b(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)? ` + enMonth + `\b`), dayOf(0, 2, 1), noYear},
	{monthHints, regexp.MustCompile(`(?i)\b(?:last|this|next) ` + enMonth + `\b`), monthNear, relative},
	{monthHints, regexp.MustCompile(`(?i)\bin ` + enMonth + `\b`), monthOf(0, 1), noYear},
	{[]string{"月"}, regexp.MustCompile(`(?:在|到|从)?(\d{1,2})\s*月份`), monthOf(0, 1), noYear},

	{[]string{"天", "日", "今", "昨", "明"}, regexp.MustCompile(`大前天|前天|昨天|昨日|昨晚|今天|今日|今晚|今早|今晨|明天|明日|明早|明晚|大后天|后天`), dayWord, relative},
	{[]string{"day", "night", "tomorrow", "morning", "afternoon", "evening"}, regexp.MustCompile(`(?i)\b(?:the day before yesterday|the day after tomorrow|yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening)|last night)\b`), dayWord, relative},
	{[]string{"周", "星期", "礼拜"}, regexp.MustCompile(`(上上|上|这|本|下下|下)个?(?:周|星期|礼拜)([一二三四五六日天末])`), weekday, relative},
	{[]string{"周", "星期", "礼拜"}, regexp.MustCompile(`(上上|上|这|本|下下|下)个?(?:周|星期|礼拜)`), weekOrLonger, relative},
	{weekdayHints, regexp.MustCompile(`(?i)\b(last|this|next) ` + enWeekday + `\b`), weekday, relative},
	{unitHints, regexp.MustCompile(`(?i)\b(last|this|next) (week|weekend|month|year)\b`), weekOrLonger, relative},
	{[]string{"月"}, regexp.MustCompile(`(上上|上|这|本|下下|下)个月(\d{1,2})[日号]`), monthDay, relative},
	{[]string{"月"}, regexp.MustCompile(`(上上|上|这|本|下下|下)个?(月)`), weekOrLonger, relative},
	{[]string{"年", "季"}, regexp.MustCompile(`(前年|去年|今年|明年|后年)(春天|夏天|秋天|冬天|年初|年底|年末)?`), yearWord, relative},
	{seasonHints, regexp.MustCompile(`(?i)\b(last|this|next) (spring|summer|autumn|fall|winter)\b`), season, relative},
	{[]string{"前", "后"}, regexp.MustCompile(zhNumber + `(?:个?(天|日|周|星期|礼拜|年)|个(月))(以前|之前|前|以后|之后|后)`), agoHan, relative},
	{unitHints, regexp.MustCompile(`(?i)\b` + enNumber + ` (day|week|month|year)s? (ago|from now|earlier|later)\b`), ago, relative},
	{unitHints, regexp.MustCompile(`(?i)\bin ` + enNumber + ` (day|week|month|year)s?\b()`), ago, relative},
}

// date is the start of a day in now's zone; what does not exist is not ok.
func date(now time.Time, year, month, day int) (time.Time, bool) {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, now.Location())
	return t, t.Month() == time.Month(month) && t.Day() == day && year > 0
}

func dayOf(year, month, day int) meaning {
	return func(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
		y := yearNamed(now, year, group)
		m, d := monthNumber(group(month)), number(group(day))
		from, ok = date(now, y, m, d)
		return from, from.AddDate(0, 0, 1), ok && m > 0
	}
}

func monthOf(year, month int) meaning {
	return func(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
		m := monthNumber(group(month))
		from, ok = date(now, yearNamed(now, year, group), m, 1)
		return from, from.AddDate(0, 1, 0), ok && m > 0
	}
}

// yearNamed is the year of a group; this one where there is none, or it is empty.
func yearNamed(now time.Time, at int, group func(int) string) int {
	if at == 0 || group(at) == "" {
		return now.Year()
	}
	switch name := group(at); name {
	case "前年":
		return now.Year() - 2
	case "去年":
		return now.Year() - 1
	case "今年":
		return now.Year()
	case "明年":
		return now.Year() + 1
	case "后年":
		return now.Year() + 2
	default:
		return number(name)
	}
}

// monthNear is a month by its name alone: the last one with "last", the next one
// with "next", else that of this year.
func monthNear(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	m := monthNumber(group(1))
	from, ok = date(now, now.Year(), m, 1)
	switch word := strings.Fields(group(0))[0]; {
	case word == "last" && !from.Before(monthStart(now)):
		from = from.AddDate(-1, 0, 0)
	case word == "next" && !from.After(monthStart(now)):
		from = from.AddDate(1, 0, 0)
	}
	return from, from.AddDate(0, 1, 0), ok && m > 0
}

func dayStart(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

func monthStart(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location())
}

// weekStart is the Monday of t's week.
func weekStart(t time.Time) time.Time {
	return dayStart(t).AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

func dayWord(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	word := group(0)
	offset := 0
	switch {
	case word == "大前天":
		offset = -3
	case word == "前天", word == "the day before yesterday":
		offset = -2
	case strings.HasPrefix(word, "昨"), word == "yesterday", word == "last night":
		offset = -1
	case strings.HasPrefix(word, "明"), word == "tomorrow":
		offset = 1
	case word == "后天", word == "the day after tomorrow":
		offset = 2
	case word == "大后天":
		offset = 3
	}
	from = dayStart(now).AddDate(0, 0, offset)
	return from, from.AddDate(0, 0, 1), true
}

// step is how many units a word goes back or ahead.
func step(word string) int {
	switch word {
	case "上上":
		return -2
	case "上", "last":
		return -1
	case "下", "next":
		return 1
	case "下下":
		return 2
	}
	return 0
}

func weekday(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	day := group(2)
	if day == "末" {
		from = weekStart(now).AddDate(0, 0, 7*step(group(1))+5)
		return from, from.AddDate(0, 0, 2), true
	}
	n := slices.Index([]string{"一", "二", "三", "四", "五", "六", "日"}, strings.Replace(day, "天", "日", 1))
	if n < 0 {
		n = slices.Index([]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}, day)
	}
	if group(1) == "last" { // the one before today
		from = weekStart(now).AddDate(0, 0, n)
		if !from.Before(dayStart(now)) {
			from = from.AddDate(0, 0, -7)
		}
	} else {
		from = weekStart(now).AddDate(0, 0, 7*step(group(1))+n)
	}
	return from, from.AddDate(0, 0, 1), n >= 0
}

func weekOrLonger(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	n := step(group(1))
	switch group(2) {
	case "", "week":
		from = weekStart(now).AddDate(0, 0, 7*n)
		return from, from.AddDate(0, 0, 7), true
	case "weekend":
		from = weekStart(now).AddDate(0, 0, 7*n+5)
		return from, from.AddDate(0, 0, 2), true
	case "year":
		from = time.Date(now.Year()+n, 1, 1, 0, 0, 0, 0, now.Location())
		return from, from.AddDate(1, 0, 0), true
	}
	from = monthStart(now).AddDate(0, n, 0)
	return from, from.AddDate(0, 1, 0), true
}

func monthDay(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	month := monthStart(now).AddDate(0, step(group(1)), 0)
	from, ok = date(now, month.Year(), int(month.Month()), number(group(2)))
	return from, from.AddDate(0, 0, 1), ok
}

func yearWord(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	from = time.Date(yearNamed(now, 1, group), 1, 1, 0, 0, 0, 0, now.Location())
	switch group(2) {
	case "":
		return from, from.AddDate(1, 0, 0), true
	case "年初":
		return from, from.AddDate(0, 2, 0), true
	case "年底", "年末":
		return from.AddDate(0, 10, 0), from.AddDate(1, 0, 0), true
	}
	from, to = seasonOf(from, slices.Index([]string{"春天", "夏天", "秋天", "冬天"}, group(2)))
	return from, to, true
}

// season: "last" is the one that is over, "next" the one that has not begun.
func season(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	n := slices.Index([]string{"spring", "summer", "autumn", "winter"}, strings.Replace(group(2), "fall", "autumn", 1))
	from, to = seasonOf(time.Date(now.Year(), 1, 1, 0, 0, 0, 0, now.Location()), n)
	switch {
	case group(1) == "last" && to.After(now):
		from, to = from.AddDate(-1, 0, 0), to.AddDate(-1, 0, 0)
	case group(1) == "next" && !from.After(now):
		from, to = from.AddDate(1, 0, 0), to.AddDate(1, 0, 0)
	}
	return from, to, n >= 0
}

// seasonOf counts seasons as they are in the north, from March on.
func seasonOf(year time.Time, n int) (from, to time.Time) {
	from = year.AddDate(0, 2+3*n, 0)
	return from, from.AddDate(0, 3, 0)
}

// agoHan is ago where the unit stands in one of two groups: "三月前" is before
// March, "三个月前" three months ago.
func agoHan(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	return ago(now, func(i int) string {
		switch i {
		case 2:
			return group(2) + group(3)
		case 3:
			return group(4)
		}
		return group(i)
	})
}

func ago(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	half := group(1) == "半"
	n := number(group(1))
	if !half && n == 0 {
		return from, to, false
	}
	if strings.HasSuffix(group(3), "前") || group(3) == "ago" || group(3) == "earlier" {
		n = -n
	}
	day := dayStart(now)
	switch group(2) {
	case "天", "日", "day":
		from = day.AddDate(0, 0, n)
		return from, from.AddDate(0, 0, 1), !half
	case "周", "星期", "礼拜", "week":
		from = day.AddDate(0, 0, 7*n)
		return from.AddDate(0, 0, -1), from.AddDate(0, 0, 2), !half
	case "月", "month":
		if half {
			sign := 1
			if strings.HasSuffix(group(3), "前") {
				sign = -1
			}
			from = day.AddDate(0, 0, 15*sign)
			return from.AddDate(0, 0, -2), from.AddDate(0, 0, 3), true
		}
		from = monthStart(now).AddDate(0, n, 0)
		return from, from.AddDate(0, 1, 0), true
	}
	if half {
		sign := 1
		if strings.HasSuffix(group(3), "前") {
			sign = -1
		}
		from = monthStart(now).AddDate(0, 6*sign, 0)
		return from, from.AddDate(0, 1, 0), true
	}
	from = time.Date(now.Year()+n, 1, 1, 0, 0, 0, 0, now.Location())
	return from, from.AddDate(1, 0, 0), true
}

// number reads a number up to 99 in digits, Chinese or English words; 0 where
// it is none. A few are three, a couple are two.
func number(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	if i := slices.Index([]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}, s); i >= 0 {
		return i + 1
	}
	switch s {
	case "a", "an":
		return 1
	case "a couple of":
		return 2
	case "a few":
		return 3
	}
	return hanNumber(s)
}

func hanNumber(s string) int {
	digit := func(r string) int {
		if r == "两" {
			return 2
		}
		return slices.Index([]string{"", "一", "二", "三", "四", "五", "六", "七", "八", "九"}, r)
	}
	tens, ones, split := strings.Cut(s, "十")
	if !split {
		return max(digit(s), 0)
	}
	n := 10
	if tens != "" {
		n = 10 * digit(tens)
	}
	return max(n+digit(ones), 0)
}

func monthNumber(s string) int {
	if n := number(s); n > 0 {
		return n
	}
	if len(s) < 3 {
		return 0
	}
	i := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", s[:3])
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}
