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

// A statement retires an older one only where it says so (C8): it names what is
// so no more, or says that a matter changed and gives a value of the same kind,
// or repeats the older one but for the value and says that this is so now. The
// older one must be the only one of which that is true. That two statements
// share words retires nothing.

// change is a form in which a sentence says that something changed. Its groups:
// o what is so no more; t the matter whose value changed, with v the value of
// now where it is said; p what somebody does no more.
type change struct {
	form *pattern
	gone bool // o is somebody's or something's that is gone: it must be what the older statement is of
}

// revise lets what a sentence says take the place of the one older statement
// that it takes back, if there is one. A sentence that takes one back is kept as
// a whole: without what it says of the old nobody would understand it.
func (r *reading) revise(g *grammar, from int, s string) {
	if len(s) >= 300 || r.is(g, g.hedge, s) || r.is(g, g.once, s) {
		return
	}
	subject := ""
	for _, c := range r.found[from:] {
		if c.Op != OpCreate {
			return
		}
		subject = c.Subject
	}
	if subject == "" {
		subject, _ = g.subject(s)
	}
	at := r.older(from, r.takesBack(g, s), subject)
	if at == nil && r.is(g, g.mind, s) {
		at = r.asked(from)
	}
	if at == nil {
		return
	}
	c := Candidate{Content: trim(g.lead.ReplaceAllString(s, "")), Type: yiku.TypeCorrection, Subject: at.Subject, Importance: 0.8, Urgent: true}
	for _, f := range r.found[from:] {
		if f.Attribute != "" && f.Subject == at.Subject {
			c.Attribute, c.Value, c.Single, c.Importance = f.Attribute, f.Value, f.Single, f.Importance
		}
	}
	r.found = r.found[:from]
	r.retire(at, &c)
	r.add(c)
}

// asked is the one instruction of the user's message before this one; nil for
// none and for several.
func (r *reading) asked(before int) *past {
	var only *past
	for _, was := range r.pasts(before) {
		if was.found < 0 || was.Type != yiku.TypeConstraint || was.Subject != "" || !slices.Contains(r.found[was.found].Messages, r.before()) {
			continue
		}
		if only != nil {
			return nil
		}
		only = &was
	}
	return only
}

// past is an older statement: of an earlier message, or a memory.
type past struct {
	Neighbour
	found  int // its place among the candidates; -1 where it is a memory
	number int // of the memory; 0 where there is none yet
}

// retire marks a candidate as what takes the place of an older statement.
func (r *reading) retire(was *past, c *Candidate) {
	if was.found >= 0 {
		r.found = slices.Delete(r.found, was.found, was.found+1)
	}
	if was.number > 0 {
		c.Op, c.Target = OpUpdate, was.number
	}
}

// older is the one older statement that a test is true of and that is of nobody
// else; nil for none and for several.
func (r *reading) older(before int, is func(was string) bool, subject string) *past {
	if is == nil {
		return nil
	}
	var only *past
	for _, was := range r.pasts(before) {
		if !sameSubject(was, subject) || !is(was.Content) {
			continue
		}
		if only != nil {
			return nil
		}
		only = &was
	}
	return only
}

// pasts are the statements of earlier messages among the candidates before a
// number, and the memories that say something else.
func (r *reading) pasts(before int) []past {
	var list []past
	for i, c := range r.found[:before] {
		if c.Op != OpDelete && !slices.Contains(c.Messages, r.at) {
			number := 1 + slices.IndexFunc(r.window.Neighbours, func(n Neighbour) bool { return lang.Fold(n.Content) == lang.Fold(c.Content) })
			list = append(list, past{Neighbour{c.Content, c.Subject, c.Attribute, c.Value, c.Type}, i, number})
		}
	}
	for i, n := range r.window.Neighbours {
		if !slices.ContainsFunc(list, func(p past) bool { return lang.Fold(p.Content) == lang.Fold(n.Content) }) {
			list = append(list, past{n, -1, i + 1})
		}
	}
	return list
}

// sameSubject reports whether an older statement may be of whom a new one is: of
// two persons of whom one is not the user, both must be the same.
func sameSubject(was past, subject string) bool {
	person := func(s string) bool { return s != "" && others.covers(s) }
	if lang.Fold(was.Subject) == lang.Fold(subject) || !person(was.Subject) && !person(subject) {
		return true
	}
	return person(subject) && says("", was.Content, strings.TrimPrefix(subject, theirs)) || person(was.Subject) && !person(subject) && inanimate(subject)
}

// sameAttribute reports whether a memory is of the attribute of a candidate, and
// of whom it is.
func (r *reading) sameAttribute(n Neighbour, c Candidate) bool {
	v := r.rules.vocabulary
	return sameSubject(past{Neighbour: n}, c.Subject) && !origin.MatchString(n.Content) && (c.Attribute == "" || v.Canonical(n.Attribute) == v.Canonical(c.Attribute))
}

// takesBack is the test of what a sentence takes back; nil where it takes back
// nothing.
func (r *reading) takesBack(g *grammar, s string) func(was string) bool {
	var tests []func(string) bool
	more := r.is(g, g.more, s)
	for _, change := range g.changes {
		m := r.match(g, change.form, s)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if i := change.form.SubexpIndex(name); i >= 0 {
				return trim(m[i])
			}
			return ""
		}
		old, topic, next, denied := thingIn(group("o")), thingIn(group("t")), group("v"), group("p")
		if matterless(old+topic+denied) || topic != "" && r.is(g, g.person, topic) {
			continue
		}
		tests = append(tests, func(was string) bool {
			switch {
			case denied != "":
				return !denial.MatchString(was) && holds(was, denied)
			case old != "":
				return (change.gone || !denial.MatchString(was)) && !origin.MatchString(was) && (change.gone && owns(was, old) || !change.gone && says("", was, old))
			}
			return !more && valued(was, topic, next)
		})
	}
	if r.correcting || r.is(g, g.correct, s) {
		tests = append(tests, func(was string) bool { return namesValue(was, s) })
	}
	if !more && (r.correcting || r.is(g, g.correct, s) || r.is(g, g.current, s)) {
		tests = append(tests, func(was string) bool { return r.sameFrame(g, was, s) })
	}
	if tests == nil {
		return nil
	}
	return func(was string) bool {
		return slices.ContainsFunc(tests, func(is func(string) bool) bool { return is(was) })
	}
}

// thingIn is what of some words is no person and points nowhere.
func thingIn(words string) string { return trim(whose.ReplaceAllString(words, "")) }

var whose = regexp.MustCompile(`^(?:(?:我们?|咱们?)(?:的|家的?)?|把|这个|那个|之前的?|原来的?|以前的?|上次说?的?|现在的?|` + kin + `)+`)

// matterless reports whether words name no matter: a pronoun, or what may be
// said of everything.
func matterless(words string) bool {
	if words == "" || pronoun.MatchString(words) || speaker.MatchString(words) {
		return true
	}
	return len(contentWords(words)) == 0
}

// contentWords are the words of a text that name a matter, as their roots; runs of
// Chinese as they stand.
func contentWords(text string) []string {
	var out []string
	for _, w := range matter.FindAllString(usual.ReplaceAllString(lang.Fold(text), " "), -1) {
		if first, _ := utf8.DecodeRuneInString(w); unicode.Is(unicode.Han, first) {
			out = append(out, w)
		} else if !general(w) {
			out = append(out, root(w))
		}
	}
	return out
}

// holds reports whether a text has all the words of another that name a matter.
func holds(text, words string) bool {
	has := contentWords(text)
	need := contentWords(words)
	for _, w := range need {
		first, _ := utf8.DecodeRuneInString(w)
		if !slices.ContainsFunc(has, func(h string) bool { return akin(h, w) }) && !(unicode.Is(unicode.Han, first) && strings.Contains(lang.Fold(text), w)) {
			return false
		}
	}
	return len(need) > 0
}

// owns reports whether a statement is of a thing: it has all its words, and the
// last of them is no part of the name of another thing.
func owns(was, what string) bool {
	if !holds(was, what) {
		return false
	}
	words := contentWords(what)
	last := words[len(words)-1]
	if first, _ := utf8.DecodeRuneInString(last); unicode.Is(unicode.Han, first) {
		return true
	}
	tokens := englishTokens(lang.Fold(was))
	for i, t := range tokens {
		if next := at(tokens, i+1).word; root(t.word) == last && (next == "" || general(next) || lexicon().parting[next] || strings.Contains(lang.Fold(was), t.word+",") || strings.ContainsAny(next, "0123456789")) {
			return true
		}
	}
	return false
}

// corrected reads the value alone that takes the place of one in an older
// statement: of the one in which another number stands in the same frame, or of
// what the message before said that something is.
func (r *reading) corrected(g *grammar, s string) bool {
	m := r.match(g, g.bare, s)
	if m == nil || !r.correcting && number.FindStringIndex(s) == nil {
		return false
	}
	next := value(strings.Join(m[1:], ""))
	if next == "" || pronoun.MatchString(next) {
		return false
	}
	was := r.older(len(r.found), func(was string) bool { return framed(was, next) != "" }, thing)
	if was != nil {
		was.Value = framed(was.Content, next)
	} else if was = r.saidBefore(); was == nil || !r.correcting || valueKind(was.Value) != valueKind(next) {
		return false
	}
	c := Candidate{Content: strings.Replace(was.Content, was.Value, next, 1), Type: yiku.TypeCorrection, Subject: was.Subject, Attribute: was.Attribute, Importance: 0.8, Urgent: true}
	if c.Attribute != "" {
		c.Value = next
	}
	if was.found >= 0 {
		c.Single = r.found[was.found].Single
	}
	r.retire(was, &c)
	r.add(c)
	return true
}

// saidBefore is the one statement of the user's message before this one that
// says what something is, with that as its value; nil for none and for several.
func (r *reading) saidBefore() *past {
	var only *past
	for _, was := range r.pasts(len(r.found)) {
		if was.found < 0 || !slices.Contains(r.found[was.found].Messages, r.before()) {
			continue
		}
		if m := copular.FindStringSubmatch(was.Content); was.Value == "" && m != nil {
			was.Value = trim(m[2])
		}
		if was.Value == "" || !strings.Contains(was.Content, was.Value) {
			continue
		}
		if only != nil {
			return nil
		}
		only = &was
	}
	return only
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

// general reports whether an English word names no matter.
func general(w string) bool {
	return lexicon().common[w] || lexicon().articles[w] || lexicon().adverbs[w] || lexicon().periods[w] || lexicon().verdicts[w] || lexicon().degree[w] || lexicon().dangling[w] || lexicon().fleeting[w] || lexicon().finites[w] || lexicon().vague[w]
}

// root is a word without its usual endings.
func root(word string) string {
	for _, end := range []string{"ing", "ed", "es", "s", "e"} {
		if bare, ok := strings.CutSuffix(word, end); ok && len(bare) >= 3 {
			return bare
		}
	}
	return word
}

// akin reports whether two roots are of one word: weigh and weight.
func akin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 5 && len(b)-len(a) <= 2 && strings.HasPrefix(b, a)
}

var (
	// origin is what stays so, whatever changes.
	origin = regexp.MustCompile(`(?i)\b(?:born|originally|grew up|raised|hometown|studied|graduated|used to)\b|出生|老家|籍贯|来自|毕业|以前|曾经`)
	// speaker is who said something wrong, not what.
	speaker = regexp.MustCompile(`^(?:我|你|刚|之前|前面|上面|i|you)(?:刚才?|们|上次)?$`)
	usual   = regexp.MustCompile(`我们|喜欢|一个|最近|什么|觉得|感觉|知道|自己|没有|可以|需要|时候|团队|现在|以后|每天|已经|应该|其实|不过|那个|这个|数字|\b(?:with|from|that|this|have|will|they|them|their|your|about|longer|more|actually|instead|always|never|called?|name|figure|number|amount|details?|info|information|data|idea|plan|account)\b|\d{4}-\d{2}-\d{2}`)
	matter  = regexp.MustCompile(`\p{Han}{2,}|[a-z0-9][a-z0-9:./-]{1,}`)
)
