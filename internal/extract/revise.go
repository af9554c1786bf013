package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// revise lets the candidates from a number on take the place of what earlier
// messages or one memory say of the same matter, where their own clause or the
// sentence says that something changed. A sentence that says so and gave no
// candidate stands for itself.
func (r *reading) revise(g *grammar, from int, s string) {
	whole := r.is(g, g.correct, s)
	bare := len(trim(g.correct.ReplaceAllString(g.revises.ReplaceAllString(s, ""), ""))) < 8
	if len(r.found) == from && len(s) < 240 && !bare && (whole || r.is(g, g.revises, weakly.ReplaceAllString(s, ""))) && g.stands(s, thing, s, rule{}) && !r.is(g, g.hedge, s) {
		c := Candidate{Op: OpCreate, Content: trim(s), Type: yiku.TypeCorrection, Importance: 0.6}
		if r.relatedMemory(c) > 0 || r.relatedFound(from, c) >= 0 {
			r.add(c)
		}
	}
	for i := from; i < len(r.found); i++ {
		c := r.found[i]
		if c.Op != OpCreate || !whole && !r.correcting && !r.is(g, g.revises, c.Content) {
			continue
		}
		if len(r.found) == from+1 && len(s) < 120 {
			c.Content = s // a short sentence with one statement is of one matter
		}
		if at := r.relatedFound(from, c); at >= 0 {
			r.found = slices.Delete(r.found, at, at+1)
			from, i = from-1, i-1
		} else if n := r.relatedMemory(c); n > 0 {
			now := &r.found[i]
			now.Op, now.Target, now.Type, now.Urgent = OpUpdate, n, yiku.TypeCorrection, true
		}
	}
}

// relatedFound is the last candidate of an earlier message, before a number, that
// is of the same matter as a candidate; -1 for none.
func (r *reading) relatedFound(before int, c Candidate) int {
	for i := before - 1; i >= 0; i-- {
		if was := r.found[i]; was.Op == OpCreate && !slices.Contains(was.Messages, r.at) && r.sameMatter(was.Subject, was.Attribute, was.Content, c) {
			return i
		}
	}
	return -1
}

// relatedMemory is the number of the one neighbour that is of the same matter
// as a candidate; 0 for none and for several.
func (r *reading) relatedMemory(c Candidate) int {
	found := 0
	for i, n := range r.window.Neighbours {
		if lang.Fold(n.Content) == lang.Fold(c.Content) || !r.sameMatter(n.Subject, n.Attribute, n.Content, c) {
			continue
		}
		if found > 0 {
			return 0
		}
		found = i + 1
	}
	return found
}

// sameMatter reports whether a candidate is of the matter of an older statement:
// nobody else is meant, and either the attribute is the same or they share a
// word that names a matter.
func (r *reading) sameMatter(subject, attribute, content string, c Candidate) bool {
	if subject != c.Subject && others.covers(subject) && others.covers(c.Subject) && subject != "" && c.Subject != "" && !strings.Contains(content, c.Subject) {
		return false
	}
	if soft[attribute] && !ended.MatchString(c.Content) {
		return false // one taste more is no other taste
	}
	v := r.rules.vocabulary
	if attribute != "" && c.Attribute != "" && v.Canonical(attribute) != v.Canonical(c.Attribute) && v.Knows(attribute) && v.Knows(c.Attribute) {
		return false
	}
	if attribute != "" && subject == c.Subject && v.Canonical(attribute) == v.Canonical(c.Attribute) && (v.Single(attribute) || attribute == tongue) {
		return true
	}
	return related(content, c.Content)
}

// corrected reads the value alone that takes the place of the one said last in
// an earlier message.
func (r *reading) corrected(g *grammar, s string) bool {
	m := r.match(g, g.bare, s)
	if m == nil || !r.correcting && number.FindStringIndex(s) == nil {
		return false
	}
	next := value(strings.Join(m[1:], ""))
	for i := len(r.found) - 1; i >= 0 && next != "" && !pronoun.MatchString(next); i-- {
		was := r.found[i]
		if was.Value == "" || !r.correcting {
			was.Value = framed(was.Content, next)
		}
		if was.Op == OpDelete || was.Value == "" || slices.Contains(was.Messages, r.at) || !strings.Contains(was.Content, was.Value) {
			continue
		}
		r.found = slices.Delete(r.found, i, i+1)
		r.add(Candidate{Content: strings.Replace(was.Content, was.Value, next, 1), Type: yiku.TypeCorrection, Subject: was.Subject, Attribute: was.Attribute, Single: was.Single, Value: next, Importance: max(was.Importance, 0.8), Urgent: true})
		return true
	}
	return false
}

// framed is what of a text stands in the frame of a value with a number: the
// same words around another number of as many digits; "" where nothing does.
func framed(text, value string) string {
	at := number.FindStringIndex(value)
	if at == nil {
		return ""
	}
	frame, err := regexp.Compile(`(?i)(^|\D)(` + regexp.QuoteMeta(value[:at[0]]) + `\d[\d.:]{` + strconv.Itoa(at[1]-at[0]-1) + `}` + regexp.QuoteMeta(value[at[1]:]) + `)(?:\D|$)`)
	if err != nil {
		return ""
	}
	found := frame.FindAllStringSubmatch(text, -1)
	if len(found) != 1 || found[0][2] == value {
		return ""
	}
	return found[0][2]
}

// heard is who said what follows.
var heard = regexp.MustCompile(`(?i)^.{2,40}?\b(?:told me|said|says)(?: that)? |^.{1,12}?(?:告诉我|跟我说|说)[，,：:]?`)

var number = regexp.MustCompile(`\d+(?:[.:]\d+)*`)

// related reports whether two texts share a word that names a matter: one of
// four letters or two characters, but the usual ones.
func related(a, b string) bool {
	a, b = usual.ReplaceAllString(lang.Fold(a), " "), usual.ReplaceAllString(lang.Fold(b), " ")
	for _, w := range matter.FindAllString(a, -1) {
		if r, size := utf8.DecodeRuneInString(w); !unicode.Is(unicode.Han, r) {
			if !general(w) && slices.ContainsFunc(matter.FindAllString(b, -1), func(v string) bool { return !general(v) && root(v) == root(w) }) {
				return true
			}
			continue
		} else if runes := []rune(w); size > 0 {
			for i := 0; i+1 < len(runes); i++ {
				if strings.Contains(b, string(runes[i:i+2])) {
					return true
				}
			}
		}
	}
	return false
}

// general reports whether an English word names no matter.
func general(w string) bool {
	return lexicon().common[w] || lexicon().articles[w] || lexicon().adverbs[w] || lexicon().periods[w] || lexicon().verdicts[w] || lexicon().degree[w] || lexicon().dangling[w] || lexicon().fleeting[w] || lexicon().finites[w] || lexicon().vague[w]
}

// root is what a word and its usual forms share.
func root(word string) string { return word[:min(len(word), 5)] }

var (
	// weakly says that something changed, of anything: alone it retires nothing.
	weakly = regexp.MustCompile(`(?i)\b(?:actually|used to|(?:has |have )?changed|stopped)\b`)
	// ended says that a taste is one no more.
	ended = regexp.MustCompile(`(?i)\b(?:no longer|any ?more|not|stopped|gave up|quit|went off|gone off|changed my mind|instead|hate)\b|不再|不喜欢|不爱|戒|换|改|不\p{Han}了`)
	// speaker is who said something wrong, not what.
	speaker = regexp.MustCompile(`^(?:我|你|刚|之前|前面|上面|i|you)(?:刚才?|们|上次)?$`)
	usual   = regexp.MustCompile(`我们|喜欢|一个|最近|什么|觉得|感觉|知道|自己|没有|可以|需要|时候|公司|团队|现在|以后|每天|项目|已经|应该|其实|不过|\b(?:with|from|that|this|have|will|they|them|their|your|about|longer|more|actually|instead|always|never|called?|name)\b|\d{4}-\d{2}-\d{2}`)
	matter  = regexp.MustCompile(`\p{Han}{2,}|[a-z0-9][a-z0-9:./-]{2,}`)
)
