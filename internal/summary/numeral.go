package summary

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// verbatim is what data mean that have one way of being written.
func verbatim(s string, _ time.Time) ([]string, bool) { return []string{s}, true }

func numericDate(s string, _ time.Time) ([]string, bool) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) })
	year, _ := strconv.Atoi(parts[0])
	month, _ := strconv.Atoi(parts[1])
	day, _ := strconv.Atoi(parts[2])
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if int(t.Month()) != month || t.Day() != day {
		return []string{s}, true
	}
	return dayMeans(t), true
}

var dateParts = regexp.MustCompile(`^(?:(.+)年)?(?:(.+?)月(?:份|(.+)[日号])?)?$`)

// chineseDate reads 2026年3月4日 and its parts, in either kind of digits. A day
// without a year is one of the year in which it is said, too.
func chineseDate(s string, at time.Time) ([]string, bool) {
	m := dateParts.FindStringSubmatch(s)
	if m == nil {
		return nil, false
	}
	year, month, day := whole(m[1]), whole(m[2]), whole(m[3])
	switch {
	case m[1] != "" && year < 100:
		year += 2000
	case m[1] == "":
		year = at.Year()
	}
	if month < 0 || month > 12 || day > 31 {
		return []string{s}, true
	}
	t := time.Date(max(year, 1), time.Month(max(month, 1)), max(day, 1), 0, 0, 0, 0, time.UTC)
	switch {
	case m[3] != "" && m[1] != "":
		return dayMeans(t), true
	case m[3] != "":
		return []string{t.Format("--01-02"), t.Format(time.DateOnly), t.Format("--01")}, true
	case m[2] != "":
		return []string{t.Format("2006-01"), t.Format("--01"), t.Format("2006")}, true
	}
	return []string{strconv.Itoa(year)}, true
}

var clockParts = regexp.MustCompile(`(?i)^(凌晨|早上|上午|中午|下午|傍晚|晚上)?(\d{1,2}|[一二两三四五六七八九十]{1,3})(?:[:点时](?:(\d{1,2}|[一二两三四五六七八九十]{1,3})分?|(半)|(一刻)|(三刻)|整)?)?(?::\d{2})?\s?([ap])?\.?m?\.?$`)

// clock reads a time of day; it means hours and minutes.
func clock(s string, _ time.Time) ([]string, bool) {
	m := clockParts.FindStringSubmatch(s)
	if m == nil {
		return []string{strings.ToLower(s)}, true
	}
	hour, minute := whole(m[2]), whole(m[3])
	switch {
	case m[4] != "":
		minute = 30
	case m[5] != "":
		minute = 15
	case m[6] != "":
		minute = 45
	}
	late := m[1] == "下午" || m[1] == "傍晚" || m[1] == "晚上" || strings.EqualFold(m[7], "p")
	if late && hour < 12 {
		hour += 12
	}
	if strings.EqualFold(m[7], "a") && hour == 12 {
		hour = 0
	}
	return []string{strconv.Itoa(hour) + ":" + strconv.Itoa(minute), strconv.Itoa(whole(m[2])) + ":" + strconv.Itoa(minute)}, true
}

// phone takes seven to fifteen digits.
func phone(s string, _ time.Time) ([]string, bool) {
	digits := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
	return []string{digits}, len(digits) >= 7 && len(digits) <= 15
}

var (
	unitNumber = regexp.MustCompile(`(?i)^(\d+(?:\.\d+)?)(%|st|nd|rd|th|s|k|m|g|b|kb|mb|gb|tb|kg|mg|ml|km|cm|mm|ms|min|mins|h|hr|hrs|am|pm|x|px|l|lbs?|oz|ft|in|mph|fps|hz|khz|mhz|ghz|w|kw|v|a|mah|d|bn|years?|days?|hours?|week|weeks|month|months)$`)
)

// identifier takes a word that has letters and digits, or a number behind a
// number sign; a number with its unit is a number.
func identifier(s string, at time.Time) ([]string, bool) {
	letters := strings.ContainsFunc(s, unicode.IsLetter)
	digits := strings.ContainsFunc(s, unicode.IsDigit)
	if !digits || !letters && s[0] != '#' && !strings.ContainsAny(s, "-_/#:") {
		return nil, false
	}
	if m := unitNumber.FindStringSubmatch(s); m != nil {
		if strings.EqualFold(m[2], "k") || strings.EqualFold(m[2], "m") || strings.EqualFold(m[2], "bn") {
			return number(s, at)
		}
		return number(m[1], at)
	}
	return []string{s}, true
}

var scaleOf = map[string]float64{"百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "hundred": 1e2, "thousand": 1e3, "k": 1e3,
	"million": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9}

var numberParts = regexp.MustCompile(`(?i)^([+-]?)(\d+(?:,\d{3})*(?:\.\d+)?)\s?(%|‰|percent|\S*)$`)

// number reads a number with its scale. Long ones mean their digits.
func number(s string, _ time.Time) ([]string, bool) {
	m := numberParts.FindStringSubmatch(s)
	if m == nil {
		return []string{s}, true
	}
	digits, unit := strings.ReplaceAll(m[2], ",", ""), strings.ToLower(m[3])
	sign := strings.TrimPrefix(m[1], "+")
	if len(digits) > 15 || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return []string{sign + digits + unit}, true
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return []string{s}, true
	}
	if unit == "percent" {
		unit = "%"
	}
	if scale, ok := scaleOf[unit]; ok {
		value, unit = value*scale, ""
	}
	plain := strconv.FormatFloat(value, 'f', -1, 64)
	if unit != "" {
		return []string{sign + plain + unit, plain}, true
	}
	return []string{sign + plain, plain}, true
}

var currencies = [...]struct{ code, words string }{
	{"USD", "us$ $ usd 美元 美金 dollar dollars bucks"}, {"CNY", "¥ rmb cny 元 块 块钱 人民币 yuan"}, {"EUR", "€ eur 欧元 euro euros"},
	{"GBP", "£ gbp 英镑 pound pounds"}, {"HKD", "港币 港元"}, {"JPY", "日元"},
}

var amountNumber = regexp.MustCompile(`(?i)` + arabic + `(?:\s?(?:` + scales + `))?|` + zhNumeral)

// amount reads a sum of money: its currency and its number.
func amount(s string, at time.Time) ([]string, bool) {
	at0 := amountNumber.FindStringIndex(s)
	if at0 == nil {
		return nil, false
	}
	text := s[at0[0]:at0[1]]
	word := strings.ToLower(strings.TrimSpace(s[:at0[0]] + s[at0[1]:]))
	var means []string
	var ok bool
	if text[0] < '0' || text[0] > '9' {
		if means, ok = chineseNumber(text, at); !ok && (text == "一" || text == "十") {
			means, ok = []string{strconv.Itoa(whole(text))}, true
		}
	} else {
		means, ok = number(strings.TrimSpace(text), at)
	}
	if !ok {
		return nil, false
	}
	for _, c := range currencies {
		for _, w := range strings.Fields(c.words) {
			if w == word {
				return append([]string{c.code + " " + means[0]}, means...), true
			}
		}
	}
	return means, true
}

// idioms are words that are made of numerals and say no number.
var idioms = map[string]bool{"万一": true, "千万": true, "一一": true, "三三两两": true, "万万": true, "一二": true, "百千": true, "千百": true}

// chineseNumber reads a number in Han numerals of two characters or more, or
// of one from two on (一 says "a" more often than one).
func chineseNumber(s string, at time.Time) ([]string, bool) {
	if rest, ok := strings.CutPrefix(s, "百分之"); ok {
		means, ok := numeralMeans(rest, at)
		if !ok {
			return nil, false
		}
		return append([]string{means[0] + "%"}, means...), true
	}
	if below, above, ok := strings.Cut(s, "分之"); ok {
		return []string{strconv.Itoa(whole(above)) + "/" + strconv.Itoa(whole(below))}, true
	}
	if idioms[s] || strings.Trim(s, "百千万亿零〇") == "" || s == "一" {
		return nil, false
	}
	return numeralMeans(s, at)
}

func numeralMeans(s string, at time.Time) ([]string, bool) {
	if s[0] >= '0' && s[0] <= '9' {
		return number(s, at)
	}
	head, tail, point := strings.Cut(s, "点")
	text := strconv.Itoa(whole(head))
	if !strings.ContainsAny(head, "十百千万亿") && len([]rune(head)) > 2 { // read digit by digit, as years and numbers of rooms are
		text = strings.Map(func(r rune) rune { return rune('0' + numeral[r]) }, head)
	}
	if point {
		text += "." + strings.Map(func(r rune) rune { return rune('0' + numeral[r]) }, tail)
	}
	return []string{text}, true
}

var (
	numeral = map[rune]int{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	places  = map[rune]int{'十': 10, '百': 100, '千': 1000, '万': 10000, '亿': 100000000}
)

// whole reads a whole number in Arabic digits or Han numerals; 0 for nothing.
func whole(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	total, section, digit, plain := 0, 0, 0, 0
	places10 := false
	for _, r := range s {
		if d, ok := numeral[r]; ok {
			digit, plain = d, plain*10+d
			continue
		}
		p, ok := places[r]
		if !ok {
			return 0
		}
		places10 = true
		if p >= 10000 {
			total += max(section+digit, 1) * p
			section = 0
		} else {
			section += max(digit, 1) * p
		}
		digit = 0
	}
	if !places10 {
		return plain
	}
	return total + section + digit
}

var englishWords = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "dozen": 12,
	"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}

func englishNumber(s string, _ time.Time) ([]string, bool) {
	return []string{strconv.Itoa(englishWords[strings.ToLower(s)])}, true
}
