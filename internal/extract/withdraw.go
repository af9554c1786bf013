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
