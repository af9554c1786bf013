package summary

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yiku-ai/yiku/internal/lang"
)

// Kind says what an exact datum is.
type Kind string

// The kinds.
const (
	URL    Kind = "url"
	Email  Kind = "email"
	Path   Kind = "path"
	Phone  Kind = "phone"
	Date   Kind = "date"
	Clock  Kind = "time"
	Amount Kind = "amount"
	ID     Kind = "id"
	Number Kind = "number"
)

// Datum is a piece of text whose every character counts (B2).
type Datum struct {
	Kind       Kind
	Text       string // word for word
	Start, End int    // its bytes in the text
	// Means are what it says, in one form for all ways of writing it: the
	// whole first, then what may be said of it alone (the year of a date).
	Means []string
	// Day is the day that a relative date means, as YYYY-MM-DD.
	Day string
}

// finder is one form of exact data. means reads a match; not ok is no datum.
type finder struct {
	kind  Kind
	form  *regexp.Regexp
	means func(match string, at time.Time) (means []string, ok bool)
}

// finders stand in the order in which they take pieces of a text: the longer
// forms before those that would take a part of them.
var finders = [...]finder{
	{URL, regexp.MustCompile(`(?i)\b(?:https?|ftp|wss?|ssh|git)://[^\s<>"'“”‘’，。；！？、（）【】「」《》]+|\bwww\.[^\s<>"'“”‘’，。；！？、（）【】「」《》]+`), verbatim},
	{Email, regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`), verbatim},
	{Path, regexp.MustCompile(`\b[A-Za-z]:\\[^\s<>"|?*，。；、）]+|(?:~|\.{1,2})(?:/[\p{Han}A-Za-z0-9_@.+-]+)+/?|(?:/[\p{Han}A-Za-z0-9_@.+-]+){2,}/?|(?:[A-Za-z0-9_@+-]+/)+[A-Za-z0-9_@+-]+\.[A-Za-z0-9]{1,5}\b`), verbatim},
	{Path, regexp.MustCompile(`(?i)\b[\w-]+(?:\.[\w-]+)*\.(?:go|py|jsx?|tsx?|java|cc?|cpp|h|rs|rb|php|cs|sh|sql|md|txt|csv|tsv|json|ya?ml|toml|ini|conf|env|log|xml|html?|css|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp[34]|zip|gz|tar|exe|jar|lock|mod|ipynb)\b`), verbatim},
	{Date, regexp.MustCompile(`\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b`), numericDate},
	{Date, regexp.MustCompile(`(?:\d{4}|[〇零一二三四五六七八九]{4}|\b\d{2})年(?:` + zhSmall + `月(?:份|` + zhSmall + `[日号])?)?|` + zhSmall + `月` + zhSmall + `[日号]`), chineseDate},
	{Clock, regexp.MustCompile(`(?i)\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?(?:a\.?m|p\.?m)\b\.?|(?:凌晨|早上|上午|中午|下午|傍晚|晚上)` + zhSmall + `[点时](?:` + zhSmall + `分?|半|一刻|三刻|整)?|\d{1,2}点(?:\d{1,2}分?|半|一刻|三刻|整)?`), clock},
	{Phone, regexp.MustCompile(`(?:\+\d{1,3}[ -]?)?(?:\(\d{2,4}\)[ -]?)?\b\d{2,4}(?:[ -]\d{2,4}){2,4}\b|\+?\b\d{0,3}1[3-9]\d{9}\b|\b\d{3,4}-\d{7,8}\b|\(\d{2,4}\) ?\d{3,4}[- ]?\d{4}\b|\b\d{3}-\d{4}\b`), phone},
	{ID, regexp.MustCompile(`\bv?\d+(?:\.\d+){2,}(?:[-+.\w]*\w)?\b`), verbatim},
	{Amount, regexp.MustCompile(`(?i)(?:us\$|[$¥€£]|\b(?:usd|rmb|cny|eur|gbp) ?)\s?` + arabic + `(?:\s?(?:` + scales + `))?`), amount},
	{Amount, regexp.MustCompile(`(?i)(?:` + arabic + `(?:\s?(?:` + scales + `))?|` + zhNumeral + `)\s?(?:元|块钱|块|美元|美金|欧元|英镑|港币|港元|人民币|日元|dollars?\b|bucks\b|euros?\b|pounds?\b|yuan\b|usd\b|rmb\b|cny\b|eur\b|gbp\b)`), amount},
	{ID, regexp.MustCompile(`#?\b[A-Za-z0-9]+(?:[-_./#:][A-Za-z0-9]+)*\b`), identifier},
	{Number, regexp.MustCompile(`百分之(?:` + zhNumeral + `|\d+(?:\.\d+)?)|` + zhNumeral + `(?:分之` + zhNumeral + `)?`), chineseNumber},
	{Number, regexp.MustCompile(`(?i)[+-]?` + arabic + `\s?(?:%|‰|percent\b|(?:` + scales + `))?`), number},
	{Number, regexp.MustCompile(`(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|dozen)\b`), englishNumber},
}

const (
	arabic    = `\d+(?:,\d{3})*(?:\.\d+)?`
	scales    = `百万|千万|万|亿|千|百|hundred\b|thousand\b|million\b|billion\b|bn\b|k\b|m\b`
	zhNumeral = `[〇零一二两三四五六七八九十百千万亿]+(?:点[〇零一二三四五六七八九]+)?`
	zhSmall   = `(?:\d{1,2}|[一二两三四五六七八九十]{1,3})`
)

// Find returns the exact data of a text in its order. at is when it was said,
// in the zone of who said it: relative dates mean days by it.
func Find(text string, at time.Time) []Datum {
	plain, offset := narrow(text)
	var found []Datum
	taken := make([]bool, len(plain))
	free := func(start, end int) bool { return !slices.Contains(taken[start:end], true) }
	add := func(kind Kind, start, end int, means []string, day string) {
		for i := start; i < end; i++ {
			taken[i] = true
		}
		found = append(found, Datum{Kind: kind, Text: text[offset[start]:offset[end]], Start: start, End: end, Means: means, Day: day})
	}
	relative := lang.Times(plain, at)
	for i, f := range finders {
		for _, m := range f.form.FindAllStringIndex(plain, -1) {
			start, end := m[0], m[0]+len(strings.TrimRight(trimEnd(f.kind, plain[m[0]:m[1]]), " \t\r\n"))
			if start == end || !free(start, end) || f.kind == Path && joined(plain, start) {
				continue
			}
			if means, ok := f.means(plain[start:end], at); ok {
				add(f.kind, start, end, means, "")
			}
		}
		if f.kind == Date && finders[i+1].kind != Date { // what words say of days, before numbers are taken out of them
			for _, w := range relative {
				if free(w.Start, w.End) {
					means, day := whenMeans(plain, w)
					add(Date, w.Start, w.End, means, day)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b Datum) int { return a.Start - b.Start })
	for i := range found {
		found[i].Start, found[i].End = offset[found[i].Start], offset[found[i].End]
	}
	return found
}

// narrow writes the full-width forms of ASCII narrow, and tells for each byte
// of the result, and for its end, where it stands in the text.
func narrow(text string) (string, []int) {
	var b strings.Builder
	offset := make([]int, 0, len(text)+1)
	for i, r := range text {
		switch {
		case r >= 0xff01 && r <= 0xff5e && !strings.ContainsRune("，。；！？（）：", r):
			r = r - 0xff01 + '!'
		case r == '￥':
			r = '¥'
		case r == 0x3000:
			r = ' '
		}
		n := b.Len()
		b.WriteRune(r)
		for ; n < b.Len(); n++ {
			offset = append(offset, i)
		}
	}
	return b.String(), append(offset, len(text))
}

// trimEnd takes the marks of the sentence off an address.
func trimEnd(kind Kind, s string) string {
	switch kind {
	case URL, Path:
		return strings.TrimRight(s, ".,;:!?)]}")
	case Email:
		return strings.TrimRight(s, ".-")
	}
	return s
}

// joined reports whether a path would begin in the middle of a word.
func joined(text string, start int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:start])
	return r < utf8.RuneSelf && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') && start > 0
}

// whenMeans is what a time expression of lang.Times means.
func whenMeans(text string, w lang.When) (means []string, day string) {
	if w.Relative {
		means = append(means, strings.ToLower(text[w.Start:w.End]))
	}
	switch {
	case w.From.AddDate(0, 0, 1).Equal(w.To):
		if w.Relative {
			day = w.From.Format(time.DateOnly)
		}
		means = append(means, dayMeans(w.From)...)
	case w.From.AddDate(0, 1, 0).Equal(w.To):
		means = append(means, w.From.Format("2006-01"), w.From.Format("--01"), w.From.Format("2006"))
	default:
		means = append(means, w.From.Format("2006-01-02/")+w.To.Format(time.DateOnly), w.From.Format("2006"))
	}
	return means, day
}

// dayMeans is a day and what may be said of it alone.
func dayMeans(t time.Time) []string {
	return []string{t.Format(time.DateOnly), t.Format("--01-02"), t.Format("2006-01"), t.Format("--01"), t.Format("2006")}
}

// Known is the exact data of some sources.
type Known map[string]bool

// Add adds the data of a text.
func (k Known) Add(text string, at time.Time) {
	for _, d := range Find(text, at) {
		for _, m := range d.Means {
			k[m] = true
		}
	}
}

// Holds reports whether all exact data of a text stand in the sources. What is
// said of a day by its words must be said by the same words.
func (k Known) Holds(text string, at time.Time) bool {
	return !slices.ContainsFunc(Find(text, at), func(d Datum) bool { return !k[d.Means[0]] })
}
