package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku/internal/lang"
)

// valued reports whether a statement gives a matter a value of the kind of
// another. A value that is a name must follow the matter.
func valued(was, topic, next string) bool {
	if next == "" || !holds(was, topic) {
		return false
	}
	kind := valueKind(next)
	if kind != "" {
		return hasKind(was, kind)
	}
	words := contentWords(topic)
	m := copular.FindStringSubmatch(was)
	return m != nil && holds(m[1], strings.Join(words, " ")) && valueKind(m[2]) == "" && capitalised(m[2]) == capitalised(next) && lang.Fold(m[2]) != lang.Fold(next)
}

func capitalised(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first)
}

// copular is a statement that something is something: groups the matter and the
// value.
var copular = regexp.MustCompile(`(?i)^(?:我们?的?|my |our |the )?(.{2,40}?)(?: (?:is|are|runs on|is called|is on|is at|is in) | ?[=:：] ?|的?(?:用的?是|是|叫|为|定在|在|用))(.{1,60})$`)

// valueKinds are the kinds of values that are told by their form.
var valueKinds = []struct {
	kind string
	form *regexp.Regexp
}{
	{"time", regexp.MustCompile(`(?i)\d{1,2}[:：]\d{2}|\b\d{1,2} ?[ap]\.?m\b|[\d一二三四五六七八九十两]{1,3}点`)},
	{"date", regexp.MustCompile(`(?i)\d+月|\d+[号日]|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b|\d{4}-\d{2}-\d{2}|国庆|元旦|春节|五一|月底|年底`)},
	{"weekday", regexp.MustCompile(`(?i)(?:周|星期|礼拜)[一二三四五六日天末]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b`)},
	{"rhythm", regexp.MustCompile(`(?i)\b(?:hourly|daily|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annually)\b|每(?:天|日|周|个?月|季度?|年)`)},
	{"percent", regexp.MustCompile(`\d[\d.]* ?(?:%|％|percent)`)},
	{"money", regexp.MustCompile(`[$€£¥] ?\d[\d,.]*|\d[\d,.]* ?(?:元|块|万|亿|[kK]\b)`)},
	{"number", regexp.MustCompile(`\d`)},
}

// valueKind is the kind of a value; "" where its form tells none.
func valueKind(v string) string {
	for _, k := range valueKinds {
		if k.form.MatchString(v) {
			return k.kind
		}
	}
	return ""
}

func hasKind(text, kind string) bool {
	for _, k := range valueKinds {
		if k.kind == kind {
			return k.form.MatchString(text)
		}
	}
	return false
}

// namesValue reports whether a sentence names the value of an older statement,
// and another of the same kind.
func namesValue(was, s string) bool {
	for _, k := range valueKinds {
		if k.kind == "number" {
			break
		}
		old, said := k.form.FindAllString(was, -1), k.form.FindAllString(s, -1)
		if len(old) == 1 && len(said) > 1 && slices.Contains(said, old[0]) && slices.ContainsFunc(said, func(v string) bool { return v != old[0] }) {
			return true
		}
	}
	return false
}

// sameFrame reports whether one clause of a sentence says what one of an older
// statement says, but for the value.
func (r *reading) sameFrame(g *grammar, was, s string) bool {
	for _, clause := range g.clauses(s) {
		f, v := g.frame(clause)
		for _, old := range g.clauses(was) {
			if of, ov := g.frame(old); f != "" && f == of && v != ov {
				return true
			}
		}
	}
	return false
}

var (
	// value of a frame: figures with what belongs to them.
	zhFigures = regexp.MustCompile(`[A-Za-z]*\d[\w.:：%％-]*|[零一二三四五六七八九十百千万两半]+(?:点半?|岁|年级|号|月|个|人|万|次|块|元)`)
	zhFiller  = regexp.MustCompile(`现在|目前|已经|今年|如今|以后|改|成|到|都|才|就|每天|我们|我|咱们?|的|了|是|为|在|应该|其实|，|（[^）]*）`)
	zhCopular = regexp.MustCompile(`^(.{2,12}?)(?:叫|是|住在?|定在|在|用的?是?|为)([^，,]{1,30})$`)
	// dates that were written behind what means them.
	written = regexp.MustCompile(` ?[(（]\d{4}-\d{2}-\d{2}(?:…\d{4}-\d{2}-\d{2})?[)）]`)
)

// chineseFrame parts a clause into what stays and the value.
func chineseFrame(s string) (frame, value string) {
	s = trim(written.ReplaceAllString(s, ""))
	if v := zhFigures.FindAllString(s, -1); len(v) == 1 {
		frame = zhFiller.ReplaceAllString(strings.Replace(s, v[0], "#"+valueKind(v[0]), 1), "")
		if utf8.RuneCountInString(frame) > 2 && !strings.HasPrefix(frame, "#") || strings.HasPrefix(frame, "#time") && len(frame) > 5 {
			return frame, v[0]
		}
		return "", ""
	}
	m := zhCopular.FindStringSubmatch(s)
	if m == nil || zhFiller.ReplaceAllString(m[1], "") == "" {
		return "", ""
	}
	return zhFiller.ReplaceAllString(m[1], "") + "#", m[2]
}

// englishFrame parts a clause into what stays and the value.
func englishFrame(s string) (frame, value string) {
	var stays, values []string
	named := false
	for _, t := range englishTokens(written.ReplaceAllString(s, "")) {
		kind := valueKind(t.word)
		switch {
		case lexicon().fillers[t.word]:
			continue
		case t.exact || t.capital && !(kind == "" && len(stays) == 0) || kind != "":
			values = append(values, t.word)
			if !named {
				stays = append(stays, "#")
			}
			named = true
			continue
		case (t.word == "am" || t.word == "pm") && named:
			values = append(values, t.word)
			continue
		}
		named = false
		stays = append(stays, t.word)
	}
	if !slices.Contains(stays, "#") || len(stays) < 2 || stays[0] == "#" || len(contentWords(strings.Join(stays, " ")))+len(stays) < 3 {
		return "", ""
	}
	return strings.Join(stays, " "), strings.Join(values, " ")
}
