package extract

import (
	"regexp"
	"slices"
	"strings"
)

// erased drops what is known of the matter that a sentence asks to forget;
// false where it does not ask, or nothing is known.
func (r *reading) erased(g *grammar, s string) bool {
	m := r.match(g, g.erase, s)
	if m == nil || r.is(g, g.question, s) {
		return false
	}
	what := strings.Join(m[1:], "")
	if !slices.ContainsFunc(r.pasts(len(r.found)), func(was past) bool { return holds(was.Content, what) }) {
		return false
	}
	r.forget(what)
	return true
}

// forget takes back what was just said, or marks for deletion what is known
// of a matter.
func (r *reading) forget(what string) {
	what = trim(part.Split(what, 2)[0])
	if what == "" || pronoun.MatchString(what) {
		r.found = slices.DeleteFunc(r.found, func(c Candidate) bool {
			return slices.Contains(c.Messages, r.at) || slices.Contains(c.Messages, r.before())
		})
		return
	}
	before := len(r.found)
	r.found = slices.DeleteFunc(r.found, func(c Candidate) bool { return says(c.Value, c.Content, what) })
	gone := len(r.found) < before
	for i, n := range r.window.Neighbours {
		if says(n.Value, n.Content, what) {
			gone = true
			r.add(Candidate{Op: OpDelete, Target: i + 1, Content: n.Content, Urgent: true})
		}
	}
	if gone {
		return
	}
	was := r.older(len(r.found), func(was string) bool { return holds(was, what) }, thing)
	switch {
	case was != nil && was.found >= 0:
		r.found = slices.Delete(r.found, was.found, was.found+1)
	case was != nil:
		r.add(Candidate{Op: OpDelete, Target: was.number, Content: was.Content, Urgent: true})
	}
}

// elsewhere reports a sentence that takes something out of another thing than
// memory ("from the shopping list"), or lets a topic rest: nothing is forgotten.
func elsewhere(s string) bool {
	return taking.MatchString(s) && aside.MatchString(s) && !ofMemory.MatchString(s)
}

var (
	taking   = regexp.MustCompile(`(?i)^(?:(?:please|ok|okay|no|and|so|now|actually|can you|could you),? )*(?:forget|remove|drop|delete|erase|wipe)\b`)
	aside    = regexp.MustCompile(`(?i)\bfrom (?:the|my|our|this|that|an?) |\bfor (?:now|today|the moment|a (?:moment|while))\b|, *(?:what|how) about\b|, *(?:let us|let's|let me|can we|shall we)\b`)
	ofMemory = regexp.MustCompile(`(?i)\b(?:memor(?:y|ies)|notes?|records?|profile|what you (?:know|have|remember))\b`)
)

// keepNothingOf drops what a message told that is not to be kept: wherever in it
// that is said, the speaker means the message.
func (r *reading) keepNothingOf(n int) {
	r.found = slices.DeleteFunc(r.found, func(c Candidate) bool { return c.Op != OpDelete && slices.Contains(c.Messages, n) })
}

// offRecord matches an order not to keep what is being said, with nothing named
// behind "this": "I do not remember that" is none, nor is "never save this file",
// nor 别忘了.
var offRecord = regexp.MustCompile(`(?i)(?:^|[.,;:!?(—–-]\s*|\b(?:please|but|so|and|you (?:should|must))\s+)(?:please\s+)?(?:do not|don['’]?t|not|never)\s+(?:store|save|keep|record|remember|note|memori[sz]e|write)\s+(?:this|that|it|any of (?:this|that|it))(?:\s+(?:down|anywhere|please))?\s*(?:[.,;:!?)—–-]|$)|\boff the record\b` +
	`|(?:这个|这些|这条|这事|这点|上面的|此事)?(?:先|就|都)?(?:别|不要|不用|不必|不许|勿|别再)(?:把(?:这个|这些|这条|这事|它))?(?:记住|记录|记下来?|保存|存下来?|存起来|存|记)(?:这个|这些|这条|这事|它|了|啊|哦|哈)?\s*(?:[，,。.！!）);；：:]|$)`)

// part ends what is to be forgotten.
var part = regexp.MustCompile(`(?i),| from (?:your|the|whatever|all|any|memory)\b`)

// before is the number of the user's message before this one, 0 for none.
func (r *reading) before() int {
	for n := r.at - 1; n > 0; n-- {
		if userSpeaks(r.window.Messages[n-1]) {
			return n
		}
	}
	return 0
}
