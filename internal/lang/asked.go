package lang

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Span is the time from From until To; a side without a bound is zero.
type Span struct{ From, To time.Time }

// Question is a question with the times that it asks about.
type Question struct {
	Times []Span
	Words string // without what bounds a time: "before 2019" is not about 2019
	Rest  string // without any time
}

// mostAsked is how much of a question, in bytes, is read for times: its end.
const mostAsked = 600

// years around now that a time without a year may be of.
const (
	yearsBack  = 10
	yearsAhead = 1
)

// Asked returns the times that a question asks about, by the parser of [Times],
// which reads more in a question than in what is told: a bare month, a season, a
// holiday, "recently", the first ten days of a month. Two times may bound one
// ("from May to June", 三月到五月), and one may be a bound ("since 2022", 六月以前).
// A time without a year is that of any year near now; as a bound, of the last.
// Of a long question the end is read.
func Asked(question string, now time.Time) Question {
	before := ""
	if len(question) > mostAsked {
		at := len(question) - mostAsked
		for !utf8.RuneStart(question[at]) {
			at++
		}
		before, question = question[:at], question[at:]
	}
	found := times(question, now, expressions[:], askedExpressions[:])
	q := Question{Words: before, Rest: before}
	end := 0
	say := func(to int, words string) {
		q.Words, q.Rest = q.Words+question[end:to]+words, q.Rest+question[end:to]+" "
	}
	for i := 0; i < len(found); i++ {
		w := found[i]
		if i+1 < len(found) && joins.MatchString(question[w.End:found[i+1].Start]) {
			last := found[i+1]
			q.Times = append(q.Times, near(Span{w.From, last.To}, w.Yearless && last.Yearless, func(years int) (Span, bool) {
				from, ok1 := w.in(years)
				to, ok2 := last.in(years)
				return Span{from.From, to.To}, ok1 && ok2
			})...)
			say(w.Start, question[w.Start:last.End])
			end = last.End
			i++
			continue
		}
		bound, open := bounded(w.When, question)
		words := question[w.Start:w.End]
		switch {
		case open:
			if last, ok := w.in(-1); ok && w.Yearless && w.From.After(now) { // the last that has begun
				w.From, w.To = last.From, last.To
				bound, _ = bounded(w.When, question)
			}
			q.Times, words = append(q.Times, bound), " "
		default:
			q.Times = append(q.Times, near(bound, w.Yearless, w.in)...)
		}
		say(w.Start, words)
		end = w.End
	}
	say(len(question), "")
	q.Times = slices.DeleteFunc(q.Times, func(s Span) bool { return !s.From.IsZero() && !s.To.IsZero() && !s.To.After(s.From) })
	return q
}

var (
	joins    = regexp.MustCompile(`(?i)^\s*(?:to|until|till|through|and|-|–|—|~|～|到|至|和|与)\s*(?:the )?$`)
	beforeIt = regexp.MustCompile(`(?i)\b(since|after|before|until|till|by|prior to)(?: the)? $`)
	within   = regexp.MustCompile(`(?i)^(since|after|before|until|till|by) `)
	behindIt = regexp.MustCompile(`^\s*(之前|以前|前|之后|以后|后|以来|起)`)
)

// bounded reads the words around a time that make it a bound.
func bounded(w When, text string) (s Span, open bool) {
	s = Span{w.From, w.To}
	word := ""
	if m := beforeIt.FindStringSubmatch(text[:w.Start]); m != nil {
		word = strings.ToLower(m[1])
	} else if m := within.FindStringSubmatch(text[w.Start:w.End]); m != nil {
		word = strings.ToLower(m[1])
	} else if m := behindIt.FindStringSubmatch(text[w.End:]); m != nil {
		word = m[1]
	}
	switch word {
	case "before", "prior to", "之前", "以前", "前":
		return Span{To: w.From}, true
	case "until", "till", "by":
		return Span{To: w.To}, true
	case "after", "之后", "以后", "后":
		return Span{From: w.To}, true
	case "since", "以来", "起":
		return Span{From: w.From}, true
	}
	return s, false
}

// near gives a span of this year also in the years around it where no year is said.
func near(s Span, yearless bool, in func(years int) (Span, bool)) []Span {
	if !yearless {
		return []Span{s}
	}
	out := make([]Span, 0, yearsBack+yearsAhead+1)
	for y := yearsAhead; y >= -yearsBack; y-- {
		if s, ok := in(y); ok {
			out = append(out, s)
		}
	}
	return out
}

const (
	zhMonth   = `(十[一二]|[一二三四五六七八九十]|1[0-2]|0?[1-9])\s*月(?:份)?`
	enSeason  = `(spring|summer|autumn|fall|winter)`
	zhHoliday = `(元旦|情人节|妇女节|清明|劳动节|五一|儿童节|六一|国庆|十一假期|双十一|圣诞|平安夜|跨年|春节|过年|除夕|年三十|大年初一|元宵|端午|七夕|中秋|重阳|腊八)节?`
	enHoliday = `(christmas|(?:chinese|lunar) new year(?:'?s eve)?|spring festival|lantern festival|dragon boat festival|mid-autumn festival|moon festival|new year'?s(?: day| eve)?|halloween|valentine'?s day|thanksgiving|independence day|(?:the )?fourth of july|easter|labor day)`
)

var zhHolidayHints = []string{"元旦", "节", "清明", "一", "国庆", "圣诞", "平安夜", "跨年", "过年", "除夕", "三十", "元宵", "端午", "七夕", "中秋", "重阳", "腊八"}

// askedExpressions are the forms that a question is read for beside those of Times.
var askedExpressions = [...]expression{
	{[]string{"年"}, regexp.MustCompile(`(\d{4})\s*年`), wholeYear, year},
	{[]string{"19", "20"}, regexp.MustCompile(`(?i)\b(?:in|of|during|since|before|after|by|until|from|to|and|year) (?:the year )?((?:19|20)\d\d)\b`), wholeYear, year},
	{[]string{"年"}, regexp.MustCompile(`(\d{4})\s*年\s*的?(?:` + zhMonth + `)\s*的?(初|上旬|中旬|下旬|底|末)?`), partOfMonth(1, 2, 3), year},
	{[]string{"年"}, regexp.MustCompile(`(去年|今年|明年|前年|后年)\s*的?(?:` + zhMonth + `)\s*的?(初|上旬|中旬|下旬|底|末)?`), partOfMonth(1, 2, 3), relative},
	{[]string{"月"}, regexp.MustCompile(zhMonth + `\s*的?(初|上旬|中旬|下旬|底|末)?`), partOfMonth(0, 1, 2), noYear},
	{[]string{"月"}, regexp.MustCompile(`(上上|上|这|本|下)个?月的?(初|上旬|中旬|下旬|底|末)`), partOfNearMonth, relative},
	{[]string{"年", "季"}, regexp.MustCompile(`(\d{4})\s*年的?(年初|年中|年底|年末|上半年|下半年|春天|春季|夏天|夏季|秋天|秋季|冬天|冬季|第?[一二三四1-4]季度)`), partOfYear, year},
	{[]string{"年", "季"}, regexp.MustCompile(`(去年|今年|明年|前年|后年)的?(年初|年中|年底|年末|上半年|下半年|春天|春季|夏天|夏季|秋天|秋季|冬天|冬季|第?[一二三四1-4]季度)`), partOfYear, relative},
	{[]string{"年", "季"}, regexp.MustCompile(`()(年初|年中|年底|年末|上半年|下半年|春天|春季|夏天|夏季|秋天|秋季|冬天|冬季|第?[一二三四1-4]季度)`), partOfYear, noYear},
	{zhHolidayHints, regexp.MustCompile(`(\d{4})\s*年的?` + zhHoliday), holiday, year},
	{zhHolidayHints, regexp.MustCompile(`(去年|今年|明年|前年|后年)的?` + zhHoliday), holiday, relative},
	{zhHolidayHints, regexp.MustCompile(`()` + zhHoliday), holiday, noYear},
	{[]string{"近", "过去"}, regexp.MustCompile(`(?:最近|过去|近)的?(?:这)?` + zhNumber + `个?(天|日|周|星期|礼拜|月|年)(?:里|内)?`), lately, relative},
	{[]string{"近", "几天", "些天"}, regexp.MustCompile(`最近|近来|近期|近日|前几天|前些天|这几天|这些天`), lately, relative},

	{monthHints, regexp.MustCompile(`(?i)\b(early|mid|late|(?:the )?(?:start|beginning|middle|end) of)[ -]` + enMonth + `,? (\d{4})\b`), partOfEnglishMonth, year},
	{monthHints, regexp.MustCompile(`(?i)\b(early|mid|late|(?:the )?(?:start|beginning|middle|end) of)[ -]` + enMonth + `\b()`), partOfEnglishMonth, noYear},
	{monthHints, regexp.MustCompile(`\b(January|February|April|June|July|August|September|October|November|December)\b`), monthOf(0, 1), noYear},
	{monthHints, regexp.MustCompile(`(?i)\b(?:in|of|during|since|until|before|after|by|from|to|and|around|between) (march|may)\b`), monthOf(0, 1), noYear},
	{seasonHints, regexp.MustCompile(`(?i)\b` + enSeason + `(?: of)? (\d{4})\b`), partOfEnglishYear, year},
	{seasonHints, regexp.MustCompile(`(?i)\b(?:in|during|over|since|before|after|until) (?:the |that )?` + enSeason + `\b()`), partOfEnglishYear, noYear},
	{[]string{"q", "quarter"}, regexp.MustCompile(`(?i)\b(?:the )?(q[1-4]|(?:first|second|third|fourth) quarter)(?: of)? (\d{4})\b`), partOfEnglishYear, year},
	{[]string{"q", "quarter"}, regexp.MustCompile(`(?i)\b(?:the )?(q[1-4]|(?:first|second|third|fourth) quarter)\b()`), partOfEnglishYear, noYear},
	{holidayHints, regexp.MustCompile(`(?i)\b()` + enHoliday + `(?: of|,)? (\d{4})\b`), englishHoliday, year},
	{holidayHints, regexp.MustCompile(`(?i)\b(last|this|next) ` + enHoliday + `\b()`), englishHoliday, relative},
	{holidayHints, regexp.MustCompile(`(?i)\b()` + enHoliday + `\b()`), englishHoliday, noYear},
	{unitHints, regexp.MustCompile(`(?i)\b(?:in|over|during|within) the (?:past|last) (?:` + enNumber + ` )?(day|week|month|year)s?\b`), lately, relative},
	{[]string{"recent", "lately", "other day", "these days"}, regexp.MustCompile(`(?i)\b(?:recently|lately|the other day|these days)\b`), lately, relative},
}

// wholeYear is a year by its number.
func wholeYear(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	from, ok = date(now, number(group(1)), 1, 1)
	return from, from.AddDate(1, 0, 0), ok
}

// partOfMonth is a month, or a third of it.
func partOfMonth(year, month, part int) meaning {
	return func(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
		from, ok = date(now, yearNamed(now, year, group), number(group(month)), 1)
		from, to = third(from, group(part))
		return from, to, ok
	}
}

func partOfNearMonth(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	from, to = third(monthStart(now).AddDate(0, step(group(1)), 0), group(2))
	return from, to, true
}

func partOfEnglishMonth(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	from, ok = date(now, yearNamed(now, 3, group), monthNumber(group(2)), 1)
	part := "下旬"
	switch word := strings.TrimPrefix(group(1), "the "); {
	case strings.HasPrefix(word, "early"), strings.HasPrefix(word, "start"), strings.HasPrefix(word, "beginning"):
		part = "上旬"
	case strings.HasPrefix(word, "mid"):
		part = "中旬"
	}
	from, to = third(from, part)
	return from, to, ok
}

// third is a third of the month that begins then; the whole for no part.
func third(month time.Time, part string) (from, to time.Time) {
	end := month.AddDate(0, 1, 0)
	switch part {
	case "初", "上旬":
		return month, month.AddDate(0, 0, 10)
	case "中旬":
		return month.AddDate(0, 0, 10), month.AddDate(0, 0, 20)
	case "下旬", "底", "末":
		return month.AddDate(0, 0, 20), end
	}
	return month, end
}

// partOfYear is a season, a half, a quarter or an end of a year.
func partOfYear(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	start, ok := date(now, yearNamed(now, 1, group), 1, 1)
	months := func(first, n int) (time.Time, time.Time, bool) {
		return start.AddDate(0, first, 0), start.AddDate(0, first+n, 0), ok
	}
	switch word := []rune(group(2)); {
	case string(word) == "年初":
		return months(0, 2)
	case string(word) == "年中":
		return months(5, 2)
	case string(word) == "年底", string(word) == "年末":
		return months(10, 2)
	case string(word) == "上半年":
		return months(0, 6)
	case string(word) == "下半年":
		return months(6, 6)
	case strings.HasSuffix(string(word), "季度"):
		return months(3*(number(strings.Trim(string(word), "第季度"))-1), 3)
	default:
		return months(2+3*slices.Index([]rune("春夏秋冬"), word[0]), 3)
	}
}

func partOfEnglishYear(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	start, ok := date(now, yearNamed(now, 2, group), 1, 1)
	word := group(1)
	if i := slices.Index([]string{"spring", "summer", "autumn", "winter"}, strings.Replace(word, "fall", "autumn", 1)); i >= 0 {
		from, to = seasonOf(start, i)
		return from, to, ok
	}
	i := slices.Index([]string{"first", "second", "third", "fourth"}, strings.TrimSuffix(word, " quarter"))
	if i < 0 {
		i = number(word[1:]) - 1
	}
	return start.AddDate(0, 3*i, 0), start.AddDate(0, 3*i+3, 0), ok
}

// holiday is a holiday of the common or of the Chinese calendar, with the days
// off around it.
func holiday(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	if f, is := festivals[group(2)]; is {
		return f.in(yearNamed(now, 1, group), now.Location())
	}
	month, day, days := 0, 0, 1
	switch group(2) {
	case "元旦":
		month, day, days = 1, 1, 3
	case "情人节":
		month, day = 2, 14
	case "妇女节":
		month, day = 3, 8
	case "清明":
		month, day, days = 4, 4, 3
	case "劳动节", "五一":
		month, day, days = 5, 1, 5
	case "儿童节", "六一":
		month, day = 6, 1
	case "国庆", "十一假期":
		month, day, days = 10, 1, 8
	case "双十一":
		month, day = 11, 11
	case "圣诞", "平安夜":
		month, day, days = 12, 24, 2
	case "跨年":
		month, day, days = 12, 31, 2
	}
	from, ok = date(now, yearNamed(now, 1, group), month, day)
	return from, from.AddDate(0, 0, days), ok
}

func englishHoliday(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	y := yearNamed(now, 3, group)
	from, to, ok = holidayOf(now, y, group(2))
	switch {
	case group(1) == "last" && !from.Before(dayStart(now)):
		from, to, ok = holidayOf(now, y-1, group(2))
	case group(1) == "next" && !from.After(now):
		from, to, ok = holidayOf(now, y+1, group(2))
	}
	return from, to, ok
}

func holidayOf(now time.Time, y int, name string) (from, to time.Time, ok bool) {
	day := func(month time.Month, d, days int) (time.Time, time.Time, bool) {
		from := time.Date(y, month, d, 0, 0, 0, 0, now.Location())
		return from, from.AddDate(0, 0, days), true
	}
	// nth is the day of the n-th weekday of a month.
	nth := func(month time.Month, weekday time.Weekday, n int) int {
		first := time.Date(y, month, 1, 0, 0, 0, 0, time.UTC).Weekday()
		return 1 + (int(weekday)-int(first)+7)%7 + 7*(n-1)
	}
	name = strings.ReplaceAll(name, "'", "")
	if f, is := festivals[name]; is {
		return f.in(y, now.Location())
	}
	switch {
	case name == "christmas":
		return day(time.December, 24, 3)
	case name == "new years eve":
		return day(time.December, 31, 1)
	case strings.HasPrefix(name, "new year"):
		return day(time.January, 1, 1)
	case name == "halloween":
		return day(time.October, 31, 1)
	case strings.HasPrefix(name, "valentine"):
		return day(time.February, 14, 1)
	case name == "thanksgiving":
		return day(time.November, nth(time.November, time.Thursday, 4), 4)
	case name == "labor day":
		return day(time.September, nth(time.September, time.Monday, 1), 1)
	case name == "easter":
		month, d := easter(y)
		from, to, ok = day(month, d, 2)
		return from.AddDate(0, 0, -2), to, ok
	}
	return day(time.July, 4, 1)
}

// easter is the Sunday by the anonymous Gregorian algorithm (Nature, 1876).
func easter(y int) (time.Month, int) {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Month(n / 31), n%31 + 1
}

// lately is the time until now: as long as is said, else a month.
func lately(now time.Time, group func(int) string) (from, to time.Time, ok bool) {
	to = dayStart(now).AddDate(0, 0, 1)
	n := max(number(group(1)), 1)
	switch group(2) {
	case "天", "日", "day":
		return to.AddDate(0, 0, -n-1), to, true
	case "周", "星期", "礼拜", "week":
		return to.AddDate(0, 0, -7*n-1), to, true
	case "年", "year":
		return to.AddDate(-n, 0, 0), to, true
	case "月", "month":
		if group(1) == "半" {
			return to.AddDate(0, 0, -15), to, true
		}
		return to.AddDate(0, -n, 0), to, true
	}
	return to.AddDate(0, -1, 0), to, true
}
