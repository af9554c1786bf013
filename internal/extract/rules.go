package extract

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

// Rules extracts without a model (C5): what a user states about themselves,
// the people around them and their projects, in sentences of the usual forms of
// Chinese and English. It would rather miss a thing than keep a wrong one:
// questions, requests, guesses, moods, one-offs and what others said yield
// nothing, and what matches no form yields nothing unless the user asked that
// it be remembered. Only the user's own words are read. Contents are clauses
// as they were written, but for English contractions.
type Rules struct {
	vocabulary *reconcile.Vocabulary
}

// NewRules reads with a vocabulary of attributes.
func NewRules(vocabulary *reconcile.Vocabulary) *Rules { return &Rules{vocabulary: vocabulary} }

// Extract reads a window; it never fails.
func (r *Rules) Extract(_ context.Context, w Window) (Result, error) {
	reading := reading{rules: r, window: w}
	for i, m := range w.Messages {
		if !m.Context && userSpeaks(m) {
			reading.message(i + 1)
		}
	}
	return Result{Candidates: reading.found, Path: PathRules}, nil
}

func userSpeaks(m Message) bool {
	return m.Role == yiku.RoleUser && (m.Origin == "" || m.Origin == yiku.OriginUser || m.Origin == yiku.OriginImport)
}

// grammar is what the rules know of one language. Its expressions read the
// plain form of a sentence.
type grammar struct {
	plain     func(string) string   // blanks and contractions unified; nothing that a reader would miss
	clauses   func(string) []string // what says something by itself, each with its subject
	task      *pattern              // asks for work on a text that follows, which is data
	question  *pattern
	request   *pattern // asks for something now
	once      *pattern // one-offs and conditions: nothing of the sentence holds
	idle      *pattern // moods, wishes, plans without a decision: not the clause
	reported  *pattern // says what others say
	hedge     *pattern
	secret    *pattern
	remember  *pattern // leads in what is to be remembered: group 1
	noted     *pattern // follows what is to be remembered: group 1
	alone     *pattern // asks that what was said before be remembered
	joke      *pattern // takes back what was said as no more than a joke
	listing   *pattern // leads in a list of what is to be remembered
	reminder  *pattern // looks like it and is a thing to do
	erase     *pattern // asks to forget a matter that is named: groups w, x
	forget    *pattern // asks to forget: one of the groups is what, empty for what was said last
	durable   *pattern // an instruction that holds from now on
	telling   *pattern // looks like it and orders nothing
	replaced  []*pattern
	correct   *pattern // takes back what was said
	changes   []change // say that something is so no more
	current   *pattern // says that something is so now
	more      *pattern // says that something is so beside what was so
	mind      *pattern // takes back what was asked for last
	frame     func(clause string) (frame, value string)
	lead      *regexp.Regexp // leads over to a statement and says nothing
	bare      *pattern       // a correction that gives the value alone: group v
	milestone *pattern       // happens once or seldom in a life, and its day matters
	passing   *pattern       // what a general form must not say
	person    *pattern       // a person of the user, as they are named
	pronoun   *pattern       // stands at the start of a clause for that person
	object    *pattern       // begins a clause about a thing: group 1
	neuter    *pattern       // stands at the start of a clause for that thing
	follows   *pattern       // begins what follows from the clause before
	comma     string         // joins clauses
	own       *pattern       // a clause about the user or an order, which is added to no other
	subject   func(clause string) (subject, rest string)
	judges    func(clause string) bool                           // says how somebody finds a thing
	stands    func(clause, subject, rest string, rule rule) bool // see englishStands
	rules     []rule
	filter    *filter
}

// rule recognises a kind of statement by what follows its subject. Its groups:
// v the value, a the attribute, o the old value.
type rule struct {
	form       *pattern
	kind       yiku.Type
	about      about
	attribute  string // of the vocabulary; "" none, or group a
	single     bool   // one value at a time, whatever the vocabulary says
	importance float64
	known      bool // only where the vocabulary knows the attribute
	general    bool // says less of what it matches: not where passing does
	changed    bool // takes the place of what was so before, in group o
}

// about says what a rule's subjects are.
type about uint8

const (
	anyone about = iota
	persons
	things
	speakers // the user and what they call we
	others   // persons but the user
	teams    // what they call we
)

// reading is one pass over a window.
type reading struct {
	rules  *Rules
	window Window
	found  []Candidate
	at     int // number of the message being read

	person     string // who was last named
	thing      string // what was last spoken of in this message
	previous   string // the sentence before, of the same message
	correcting bool   // the message takes something back
	explicit   bool   // the sentence asks that it be remembered
	listing    bool   // what follows is a list that is to be remembered
	seen       [4]glance
}

// maxSentence is the longest sentence in bytes that is read as a statement.
const maxSentence = 1000

func (r *reading) message(n int) {
	r.at, r.correcting, r.previous, r.thing = n, false, "", ""
	own := Own(r.window.Messages[n-1].Content)
	if offRecord.MatchString(own) {
		defer r.keepNothingOf(n, own)
	}
	for _, s := range sentences(r.skills(unspoken(own))) {
		g := grammarOf(s)
		if len(s) > maxSentence || isCode(s) || elsewhere(s) {
			continue
		}
		s = g.plain(s)
		if r.is(g, g.task, s) {
			return
		}
		item := bullet.FindString(s)
		if r.listing = r.listing && item != ""; r.listing {
			r.listed(g, s[len(item):])
			continue
		}
		if at := pastedAt(s); at != nil {
			r.sentence(g, s[:at[0]])
			return // what follows is somebody's text
		}
		r.sentence(g, s)
	}
}

// listed keeps a line of a list that the user asked to be remembered.
func (r *reading) listed(g *grammar, s string) {
	if !r.is(g, g.secret, s) && !r.is(g, g.question, s) {
		r.add(Candidate{Content: trim(s), Type: yiku.TypeFact, Subject: user, Importance: 0.8, Urgent: true})
	}
}

// sentence reads one sentence.
func (r *reading) sentence(g *grammar, s string) {
	if m := r.match(g, g.forget, s); m != nil && !didIt.MatchString(s) {
		r.forget(strings.Join(m[1:], ""))
		return
	}
	if r.is(g, g.joke, s) {
		r.forget("")
		return
	}
	if r.is(g, g.reminder, s) || r.erased(g, s) {
		return
	}
	if r.is(g, g.listing, s) {
		r.listing = true
		return
	}
	explicit, private := false, r.is(g, g.secret, s)
	if r.previous != "" && r.is(g, g.alone, s) {
		explicit, s, g = true, r.previous, grammarOf(r.previous)
		private = r.is(g, g.secret, s)
		r.found = slices.DeleteFunc(r.found, func(c Candidate) bool { return slices.Contains(c.Messages, r.at) && strings.Contains(s, c.Content) })
	} else if m := r.match(g, g.remember, s); m != nil {
		explicit, s = true, capital(m[1])
	} else if m := r.match(g.other(), g.other().remember, s); m != nil && mixed.MatchString(s) {
		explicit, s, g = true, m[1], grammarOf(m[1])
		private = r.is(g, g.secret, s)
	} else if m := r.match(g, g.noted, s); m != nil && !promised.MatchString(m[1]) {
		explicit, s = true, capital(trim(m[1]))
	}
	if explicit && asSaid.MatchString(s) {
		if s = r.previous; s == "" {
			return // it is of another message
		}
	}
	follows := r.previous != "" && len(r.found) > 0 && slices.Contains(r.found[len(r.found)-1].Messages, r.at) && g.follows.MatchString(s)
	r.previous, r.explicit = s, explicit
	if strings.Contains(s, omitted) || !explicit && r.is(g, g.once, s) {
		return
	}
	if last := len(r.found) - 1; follows && r.conclusion(g, s) && len(r.found[last].Content)+len(s) < 300 {
		r.found[last].Content += g.comma + trim(s) // it falls with what it follows from
		return
	}
	hedged := r.is(g, g.hedge, s)
	r.correcting = r.correcting || r.is(g, g.correct, s)
	before := len(r.found)
	told := !explicit && r.told(g, s)
	if private || told || !r.replace(g, s) && !r.instruct(g, s) {
		r.clauses(g, g.clauses(s), explicit)
	}
	if explicit && !private && len(r.found) == before && !r.is(g, g.question, s) && !pronoun.MatchString(s) && !g.judges(s) {
		r.add(Candidate{Content: trim(s), Type: yiku.TypeFact, Importance: 0.8})
	}
	for i := before; i < len(r.found); i++ {
		c := &r.found[i]
		c.From = r.restsOn(s, c.Content)
		c.Urgent = c.Urgent || explicit
		if explicit {
			c.Importance = max(c.Importance, 0.8)
		}
		if hedged && explicit {
			c.Confidence = 0.4
		}
		if r.is(g, g.correct, s) && c.Attribute != "" {
			c.Type, c.Urgent = yiku.TypeCorrection, true
		}
	}
	if !told && !private && before <= len(r.found) && (!r.is(g, g.question, s) || r.is(g, g.mind, s)) {
		r.revise(g, before, s)
	}
}

// clauses reads the clauses of a sentence. A clause that asks, wishes or guesses
// says nothing, and a guess that stands alone takes the clause before it along.
// What follows a secret may tell it, and what follows "he said" may be what he said.
func (r *reading) clauses(g *grammar, clauses []string, explicit bool) {
	open := false // whether the clause before is kept, and what is added to it with it
	for i, clause := range clauses {
		r.notice(g, clause)
		if r.is(g, g.secret, clause) || !explicit && r.told(g, clause) {
			r.corrected(g, heard.ReplaceAllString(clause, ""))
			return
		}
		said := g.follows.ReplaceAllString(clause, "")
		if r.is(g, g.question, said) || !explicit && (r.is(g, g.idle, said) || r.is(g, g.hedge, said) || r.is(g, g.request, said)) || i+1 < len(clauses) && !explicit && r.guess(g, clauses[i+1]) {
			open = false
			continue
		}
		before := len(r.found)
		if open && said != clause {
			r.found[before-1].Content += g.comma + clause // it falls with what it follows from
			continue
		}
		r.clause(g, r.resolved(g, said))
		if said != clause && i > 0 && len(r.found) == before+1 && !r.is(g, g.request, clauses[i-1]) && !r.is(g, g.question, clauses[i-1]) {
			r.found[before].Content = clauses[i-1] + g.comma + clause // it falls with what it follows from
		}
		if len(r.found) == before && open && !explicit && g.judges(clause) {
			continue
		}
		if len(r.found) == before && open && !r.is(g, g.passing, clause) && !r.is(g, g.own, clause) && len(r.found[before-1].Content) < 300 {
			r.found[before-1].Content += g.comma + clause
			continue
		}
		open = len(r.found) > before
	}
}

// told reports whether a text is what others say. What users say that they said
// is theirs.
func (r *reading) told(g *grammar, s string) bool {
	return r.is(g, g.reported, s) && g.reported.MatchString(retold.ReplaceAllString(s, ""))
}

// retold is how users refer to what they said.
var retold = regexp.MustCompile(`(?i)\bi(?: have)?(?: just| already)? (?:told|said|mentioned|wrote)\b(?: you)?|\b(?:sla|contract|lease|policy|law|spec|rules?|agreement|regulations?|warranty|visa|permit|syllabus)\b[^,.]{0,30}? says\b|我(?:刚才?|之前|上次)?(?:说|提到|讲)过?(?:的|了)?`)

// conclusion reports whether a sentence says what follows from the one before.
func (r *reading) conclusion(g *grammar, s string) bool {
	return !r.is(g, g.question, s) && !r.is(g, g.idle, s) && !r.is(g, g.hedge, s) && !r.is(g, g.secret, s) && !r.told(g, s) && !g.judges(s)
}

// resolved is a clause with the person in the place of the pronoun it begins with.
func (r *reading) resolved(g *grammar, clause string) string {
	if at := g.pronoun.FindStringIndex(clause); at != nil && r.person != "" {
		return capital(r.person) + clause[at[1]:]
	}
	if at := g.neuter.FindStringIndex(clause); at != nil && r.thing != "" {
		return capital(r.thing) + clause[at[1]:]
	}
	return clause
}

// notice keeps in mind who and what was last named.
func (r *reading) notice(g *grammar, clause string) {
	if p := g.person.FindString(clause); p != "" && g.pronoun.FindStringIndex(clause) == nil {
		r.person = p
	}
	if m := g.object.FindStringSubmatch(clause); m != nil && !r.is(g, g.person, m[1]) {
		r.thing = m[1]
	}
}

// guess reports whether a clause does nothing but to make a guess of another.
func (r *reading) guess(g *grammar, clause string) bool {
	return len(g.hedge.ReplaceAllString(clause, "")) <= 9 && r.is(g, g.hedge, clause)
}

// instruct reads an instruction that holds from now on; all of the sentence
// belongs to it.
func (r *reading) instruct(g *grammar, s string) bool {
	if !r.is(g, g.durable, s) || r.is(g, g.question, s) || len(s) < 16 || !r.explicit && r.is(g, g.telling, s) {
		return false
	}
	c := Candidate{Content: trim(s), Type: yiku.TypeConstraint, Importance: 0.9, Urgent: true}
	if m := spokenIn.FindStringSubmatch(s); m != nil {
		single := true
		c.Attribute, c.Value, c.Single = tongue, strings.Join(m[1:], ""), &single
	}
	r.add(c)
	return true
}

// tongue is the attribute of the language of answers.
const tongue = "reply_language"

var spokenIn = regexp.MustCompile(`(?i)\b(?:in|to) (english|chinese|french|german|spanish|portuguese|italian|dutch|japanese|korean|russian|arabic|turkish|polish|hindi|mandarin|cantonese)\b|(?:用|说|讲|写|换成|改成|换回)(中文|英文|英语|汉语|普通话|粤语|日语|日文|法语|法文|德语|韩语|西班牙语|俄语)`)

// replace reads "not old but new": the new takes the place of what says the
// old, among what was just said or is known.
func (r *reading) replace(g *grammar, s string) bool {
	if !hasAny(s, "not ", "instead", "rather", "不", "错", "没", "非") {
		return false
	}
	for _, form := range g.replaced {
		m := r.match(g, form, s)
		if m == nil {
			continue
		}
		old, next := trim(m[form.SubexpIndex("o")]), value(m[form.SubexpIndex("v")])
		if old == "" || next == "" || speaker.MatchString(old) || len(contentWords(next)) == 0 && valueKind(next) == "" || lang.Fold(old) == lang.Fold(next) {
			continue
		}
		c := Candidate{Content: trim(s), Type: yiku.TypeCorrection, Importance: 0.8, Urgent: true}
		if i := r.said(old); i >= 0 {
			was := r.found[i]
			c.Subject, c.Attribute, c.Single, c.Level = was.Subject, was.Attribute, was.Single, was.Level
			r.found = slices.Delete(r.found, i, i+1)
		} else if n := r.known(old); n > 0 {
			was := r.window.Neighbours[n-1]
			c.Op, c.Target, c.Subject, c.Attribute = OpUpdate, n, was.Subject, was.Attribute
		} else if !r.is(g, g.correct, s) {
			continue
		}
		if c.Attribute != "" {
			c.Value = next
		}
		r.add(c)
		return true
	}
	return false
}

// hasAny reports whether a text has one of some words: without them the longer
// expressions need not be tried.
func hasAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// said returns the last candidate that says a value, -1 where none does.
func (r *reading) said(text string) int {
	for i := len(r.found) - 1; i >= 0; i-- {
		if c := r.found[i]; c.Op != OpDelete && says(c.Value, c.Content, text) {
			return i
		}
	}
	return -1
}

// known returns the number of the one neighbour that says a value; of several
// the one whose own value it is. 0 where none or no single one does.
func (r *reading) known(text string) int {
	var exact, within []int
	for i, n := range r.window.Neighbours {
		switch {
		case n.Value != "" && lang.Fold(n.Value) == lang.Fold(text):
			exact = append(exact, i+1)
		case says(n.Value, n.Content, text):
			within = append(within, i+1)
		}
	}
	for _, some := range [][]int{exact, within} {
		if len(some) == 1 {
			return some[0]
		}
		if len(some) > 1 {
			return 0
		}
	}
	return 0
}

func says(value, content, text string) bool {
	text = lang.Fold(text)
	return strings.Contains(lang.Fold(value), text) || strings.Contains(lang.Fold(content), text)
}

// clause reads one clause by the first rule whose form it has.
func (r *reading) clause(g *grammar, s string) {
	subject, rest := g.subject(s)
	if rest == "" || r.corrected(g, s) {
		return
	}
	for _, rule := range g.rules {
		m := r.match(g, rule.form, rest)
		if m == nil || !rule.about.covers(subject) || rule.about == speakers && len(rest) == len(s) || rule.general && (r.is(g, g.passing, rest) || r.is(g, g.passing, s)) {
			continue
		}
		s, ok := r.standing(g, s, subject, rest, rule)
		if !ok {
			continue
		}
		if is := idiom[rule.attribute]; is != nil && is(r, value(m[max(0, rule.form.SubexpIndex("v"))])) {
			return
		}
		if c, ok := r.stated(rule, m, subject); ok {
			c.Content = trim(s)
			r.add(c)
			return
		}
	}
	if at := strings.LastIndex(s, "，"); at > 0 && g.comma == "，" {
		r.clause(g, s[:at]) // what was added to it is in its way
		return
	}
	if !r.is(g, g.passing, s) && !r.is(g, g.passing, rest) && (r.explicit || g.stands(s, subject, rest, rule{})) && r.appointed(g, s) {
		r.add(Candidate{Content: trim(s), Type: yiku.TypeFact, Subject: subject, Importance: 0.6})
	}
}

// standing is what of a clause stands by itself: all of it, or what comes before
// a part that does not.
func (r *reading) standing(g *grammar, s, subject, rest string, rule rule) (string, bool) {
	for {
		if r.explicit || g.stands(s, subject, rest, rule) {
			return s, true
		}
		at := strings.LastIndex(s, g.comma)
		if at < 0 || len(rest)-(len(s)-at) < 6 {
			return "", false
		}
		s, rest = s[:at], rest[:len(rest)-(len(s)-at)]
		if !rule.form.MatchString(rest) {
			return "", false
		}
	}
}

// repeats reports whether a candidate says less of what a memory says.
func (r *reading) repeats(c Candidate) bool {
	return slices.ContainsFunc(r.window.Neighbours, func(n Neighbour) bool {
		return n.Value != "" && lang.Fold(n.Value) != lang.Fold(c.Value) && strings.Contains(lang.Fold(n.Value), lang.Fold(c.Value)) &&
			r.rules.vocabulary.Canonical(n.Attribute) == r.rules.vocabulary.Canonical(c.Attribute)
	})
}

// appointed reports whether a clause says what is to come on a later day, or on
// what day a milestone of a life was.
func (r *reading) appointed(g *grammar, s string) bool {
	if !hasAny(s, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "ay", "week", "month", "year", "morrow", "next ", "Next ", " in ", "天", "日", "周", "星期", "礼拜", "月", "年") {
		return false
	}
	now := r.window.Messages[r.at-1].At
	if r.window.Zone != nil {
		now = now.In(r.window.Zone)
	}
	milestone := r.is(g, g.milestone, s)
	for _, w := range lang.Times(s, now) {
		if milestone || w.From.After(now) {
			return len(s) > w.End-w.Start+8
		}
	}
	return false
}

// stated is the candidate that a rule makes of its match.
func (r *reading) stated(rule rule, match []string, subject string) (Candidate, bool) {
	group := func(name string) string {
		if i := rule.form.SubexpIndex(name); i >= 0 {
			return match[i]
		}
		return ""
	}
	c := Candidate{Type: rule.kind, Importance: rule.importance, Subject: subject, Attribute: rule.attribute, Value: value(group("v"))}
	if c.Attribute == "" {
		c.Attribute = trim(group("a"))
	}
	if rule.form.SubexpIndex("v") >= 0 && (c.Value == "" || pronoun.MatchString(c.Value)) || rule.known && !r.rules.vocabulary.Knows(c.Attribute) {
		return c, false
	}
	if rule.single && c.Attribute != "" {
		c.Single = &rule.single
	}
	if c.Attribute != "" && c.Value != "" && r.repeats(c) {
		c.Attribute, c.Value, c.Single = "", "", nil // it is no other value
		return c, true
	}
	c.Value = untimed(c.Value, r.window.Messages[r.at-1].At)
	if rule.general && rule.known {
		many := false
		c.Single = &many // whose it is, is not sure
	}
	if c.Attribute == "" || c.Value == "" {
		c.Attribute, c.Value, c.Single = "", "", nil
	}
	if old := value(group("o")); rule.changed && old != "" {
		if n := r.known(old); n > 0 && r.sameAttribute(r.window.Neighbours[n-1], c) {
			c.Op, c.Target, c.Type, c.Urgent = OpUpdate, n, yiku.TypeCorrection, true
		}
	}
	return c, true
}

// add completes a candidate and keeps it.
func (r *reading) add(c Candidate) {
	if c.Op == "" {
		c.Op = OpCreate
	}
	if c.Op != OpDelete && len([]rune(c.Content)) < 3 {
		return
	}
	c.Messages = []int{r.at}
	c.Confidence = 1
	c.ValidFrom = r.window.Messages[r.at-1].At
	if c.Op != OpDelete {
		c.Relations = belonging(c.Content)
		c.Content, c.Value = r.dated(c.Content), r.dated(c.Value)
	}
	r.found = append(r.found, c)
}

// user is the subject of what users say about themselves.
const user = "user"

// covers reports whether a subject is of those that a rule is about.
func (a about) covers(subject string) bool {
	switch a {
	case persons:
		return personal(subject)
	case things:
		return inanimate(subject)
	case speakers:
		return subject == user || subject == project
	case teams:
		return subject == project
	case others:
		return subject != user && subject != project && !strings.HasPrefix(subject, thing)
	}
	return true
}

// personal reports whether a subject is a person: the user, or one of theirs.
func personal(subject string) bool { return subject != project && !strings.HasPrefix(subject, thing) }

// inanimate reports whether a subject may be a thing: all but the user and theirs.
func inanimate(subject string) bool { return subject != user && !strings.HasPrefix(subject, theirs) }

// project is the subject of what is said of "we" or "the project"; thing
// begins the subjects that are things, theirs the people of the user.
const (
	project = "project"
	thing   = "the "
	theirs  = "my "
)

// mixed is a text in two scripts: one that is asked for in one language may be
// said in the other.
var mixed = regexp.MustCompile(`[A-Za-z]{3}.*\p{Han}|\p{Han}.*[A-Za-z]{3}`)

// other is the grammar of the other language.
func (g *grammar) other() *grammar {
	if g == english() {
		return chinese()
	}
	return english()
}
