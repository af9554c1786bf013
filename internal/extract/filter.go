package extract

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// pattern is an expression that knows what a text must have in it to match:
// of every set in needs at least one string. A text is looked through once for
// the strings of all patterns of a language, and only those patterns are tried
// that may match; what matches is the same as without.
type pattern struct {
	*regexp.Regexp
	needs [][]int // numbers of strings in the filter
}

// may reports whether a text in which some strings were found may match.
func (p *pattern) may(in found) bool {
	for _, set := range p.needs {
		if !slices.ContainsFunc(set, in.has) {
			return false
		}
	}
	return true
}

// pat compiles an expression.
func pat(expression string) *pattern { return &pattern{Regexp: regexp.MustCompile(expression)} }

// filtered gives a grammar the filter of its expressions.
func filtered(g *grammar) *grammar {
	g.filter = newFilter(g.patterns())
	return g
}

// patterns are the expressions of a grammar.
func (g *grammar) patterns() []*pattern {
	all := slices.Concat([]*pattern{
		g.task, g.question, g.request, g.once, g.idle, g.reported, g.hedge, g.secret, g.remember, g.noted, g.alone, g.joke, g.listing, g.reminder, g.erase,
		g.forget, g.durable, g.telling, g.correct, g.current, g.more, g.mind, g.bare, g.milestone, g.passing, g.person, g.pronoun, g.object, g.neuter, g.follows, g.own,
	}, g.replaced)
	for _, change := range g.changes {
		all = append(all, change.form)
	}
	for _, rule := range g.rules {
		all = append(all, rule.form)
	}
	return slices.DeleteFunc(all, func(p *pattern) bool { return p == nil })
}

// glance is what was found in a text.
type glance struct {
	text string
	in   found
	by   *filter
}

// look returns what a text has, and remembers it for the texts looked at last.
func (r *reading) look(g *grammar, text string) found {
	at := &r.seen[len(text)%len(r.seen)]
	if at.by != g.filter || at.text != text {
		*at = glance{text, g.filter.look(text), g.filter}
	}
	return at.in
}

// found are the numbers of the strings that a text has.
type found []uint64

func (f found) has(n int) bool { return f[n/64]&(1<<(n%64)) != 0 }

// filter finds which of many strings a text has, in one pass: the automaton of
// Aho and Corasick over bytes of folded text.
type filter struct {
	number map[string]int
	words  []string
	class  [256]uint8 // of a byte; 0 is in no string
	width  int
	next   []int32 // by state and class
	ends   [][]int // by state: the strings that end there
}

// newFilter returns the filter of some patterns, and tells each what it needs.
func newFilter(patterns []*pattern) *filter {
	f := &filter{number: map[string]int{}}
	for _, p := range patterns {
		tree, err := syntax.Parse(p.String(), syntax.Perl)
		if err != nil {
			continue // it compiled, so this cannot be; without needs it is always tried
		}
		for _, set := range needs(tree.Simplify()) {
			numbers := make([]int, len(set))
			for i, word := range set {
				numbers[i] = f.add(word)
			}
			p.needs = append(p.needs, numbers)
		}
	}
	f.build()
	return f
}

func (f *filter) add(word string) int {
	n, ok := f.number[word]
	if !ok {
		n = len(f.words)
		f.number[word], f.words = n, append(f.words, word)
	}
	return n
}

// build makes the automaton: a tree of the strings, then for every state and
// byte the state of the longest suffix that the tree has.
func (f *filter) build() {
	f.width, f.class, f.next, f.ends = 1, [256]uint8{}, nil, nil
	for _, word := range f.words {
		for _, b := range []byte(word) {
			if f.class[b] == 0 {
				f.class[b] = uint8(f.width)
				f.width++
			}
		}
	}
	grow := func() int32 {
		f.next = append(f.next, make([]int32, f.width)...)
		f.ends = append(f.ends, nil)
		return int32(len(f.ends) - 1)
	}
	grow()
	for n, word := range f.words {
		state := int32(0)
		for _, b := range []byte(word) {
			at := int(state)*f.width + int(f.class[b])
			if f.next[at] == 0 {
				made := grow() // moves f.next
				f.next[at] = made
			}
			state = f.next[at]
		}
		f.ends[state] = append(f.ends[state], n)
	}
	f.link()
}

func (f *filter) link() {
	suffix := make([]int32, len(f.ends))
	queue := []int32{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := 1; c < f.width; c++ {
			at := int(state)*f.width + c
			after := int32(0)
			if state != 0 {
				after = f.next[int(suffix[state])*f.width+c]
			}
			if to := f.next[at]; to != 0 {
				suffix[to] = after
				f.ends[to] = append(f.ends[to], f.ends[after]...)
				queue = append(queue, to)
			} else {
				f.next[at] = after
			}
		}
	}
}

// look returns which strings a text has.
func (f *filter) look(text string) found {
	in := make(found, (len(f.words)+63)/64)
	state := int32(0)
	for _, b := range []byte(folded(text)) {
		state = f.next[int(state)*f.width+int(f.class[b])]
		for _, n := range f.ends[state] {
			in[n/64] |= 1 << (n % 64)
		}
	}
	return in
}

// folded is a text with every letter as the first of those that differ from it
// by case only, as expressions fold.
func folded(text string) string { return strings.Map(least, text) }

func least(r rune) rune {
	if r < 0x80 && r != 'k' && r != 's' && r != 'K' && r != 'S' {
		return unicode.ToUpper(r)
	}
	low := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		low = min(low, next)
	}
	return low
}

const (
	maxExact = 48  // strings that one part may stand for
	maxNeeds = 400 // strings of one need
)

// needs are sets of strings such that what an expression matches has one of
// each.
func needs(re *syntax.Regexp) [][]string {
	if set, ok := exactly(re); ok {
		return need(set)
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needs(re.Sub[0])
		}
	case syntax.OpConcat:
		return needsOfAll(re.Sub)
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			sets := needs(sub)
			if len(sets) == 0 {
				return nil
			}
			all = append(all, slices.MaxFunc(sets, better)...)
		}
		return need(all)
	}
	return nil
}

// better orders needs by how much they tell.
func better(a, b []string) int {
	if d := shortest(a) - shortest(b); d != 0 {
		return d
	}
	return len(b) - len(a)
}

func shortest(set []string) int {
	n := 1 << 10
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// need is a set as a need; nothing where it tells nothing.
func need(set []string) [][]string {
	slices.Sort(set)
	set = slices.Compact(set)
	if len(set) == 0 || len(set) > maxNeeds || shortest(set) == 0 {
		return nil
	}
	return [][]string{set}
}

// needsOfAll joins what stands side by side, as long as it can be told exactly.
func needsOfAll(parts []*syntax.Regexp) [][]string {
	var all [][]string
	run := []string{""}
	flush := func() {
		all = append(all, need(run)...)
		run = []string{""}
	}
	for _, part := range parts {
		set, ok := exactly(part)
		if !ok {
			flush()
			all = append(all, needs(part)...)
			continue
		}
		if len(run)*len(set) > maxExact {
			flush()
		}
		run = product(run, set)
	}
	flush()
	return all
}

func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// exactly returns the strings, folded, that an expression may match, where they
// are few.
func exactly(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{folded(string(re.Rune))}, true
	case syntax.OpCharClass:
		return ofClass(re.Rune)
	case syntax.OpCapture:
		return exactly(re.Sub[0])
	case syntax.OpQuest:
		set, ok := exactly(re.Sub[0])
		return append([]string{""}, set...), ok && len(set) < maxExact
	case syntax.OpConcat:
		set := []string{""}
		for _, sub := range re.Sub {
			more, ok := exactly(sub)
			if !ok || len(set)*len(more) > maxExact {
				return nil, false
			}
			set = product(set, more)
		}
		return set, true
	case syntax.OpAlternate:
		var set []string
		for _, sub := range re.Sub {
			more, ok := exactly(sub)
			if !ok || len(set)+len(more) > maxExact {
				return nil, false
			}
			set = append(set, more...)
		}
		return set, true
	}
	return nil, false
}

func ofClass(ranges []rune) ([]string, bool) {
	var set []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if set = append(set, string(least(r))); len(set) > 12 {
				return nil, false
			}
		}
	}
	slices.Sort(set)
	return slices.Compact(set), len(set) > 0
}

// is reports whether a text has a form.
func (r *reading) is(g *grammar, p *pattern, text string) bool {
	return p.may(r.look(g, text)) && p.MatchString(text)
}

// match returns the groups of a form that a text has, nil where it has it not.
func (r *reading) match(g *grammar, p *pattern, text string) []string {
	if !p.may(r.look(g, text)) {
		return nil
	}
	return p.FindStringSubmatch(text)
}
