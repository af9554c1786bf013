package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// fence is the text that Yiku puts into prompts, closed or broken off: whoever
// sends a prompt back sends it with the fence (see internal/compose).
var fence = regexp.MustCompile(`(?s)<yiku-memory>.*?(</yiku-memory>|$)`)

// Unfenced returns a text without what Yiku itself put into it.
func Unfenced(text string) string { return fence.ReplaceAllString(text, "\n") }

const (
	near = 0.8 // share of a candidate's terms that one memory must hold for the candidate to say nothing beyond it
	own  = 0.5 // share of them that a message must hold for the candidate to have come from it
)

// Echoes reports whether a candidate only repeats a memory that exists (C10): no
// user's message that it came from says it, and one neighbour does. What the user
// says again is no echo: it confirms. What the system prompt says is nobody's fact.
func Echoes(c Candidate, w Window) bool {
	if Spoken(c, w) {
		return false
	}
	system := len(c.Messages) > 0
	for _, n := range c.Messages {
		system = system && w.Messages[n-1].Role == yiku.RoleSystem
	}
	return system || slices.ContainsFunc(w.Neighbours, func(n Neighbour) bool { return Repeats(c.Content, n.Content) })
}

// Spoken reports whether a user said what a candidate says, in one of the
// messages that it came from. Where it is written in another language, it must
// have come from users alone.
func Spoken(c Candidate, w Window) bool {
	if c.Op == OpDelete {
		return true
	}
	others := slices.ContainsFunc(c.Messages, func(n int) bool { return !userSpeaks(w.Messages[n-1]) })
	return slices.ContainsFunc(c.Messages, func(n int) bool {
		m := w.Messages[n-1]
		if !userSpeaks(m) {
			return false
		}
		text := Own(m.Content)
		return !others && lang.ScriptOf(text) != lang.ScriptOf(c.Content) || overlap(bareWords(c.Content), text) >= own
	})
}

// Repeats reports whether a text says nothing beyond a memory: it has the
// memory's terms, no other number, and denies no more and no less.
func Repeats(text, memory string) bool {
	for _, number := range numeral.FindAllString(text, -1) {
		if !strings.Contains(memory, number) {
			return false
		}
	}
	return len(denial.FindAllString(text, -1)) == len(denial.FindAllString(memory, -1)) && overlap(bareWords(text), memory) >= near
}

var (
	numeral = regexp.MustCompile(`\d+`)
	denial  = regexp.MustCompile(`(?i)\b(not|no|never|without|stopped)\b|n['’]t\b|不|没|无|别|未`)

	// lead is what is put around a fact when it is told again.
	lead = regexp.MustCompile(`(?i)\b(the user(['’]s)?|users?|you(['’](re|ve))?|your|he|she|they|i|my|as|told|said|mentioned|remembers?|recall(ed)?|memory|according|based|known?|that|also|indeed|earlier|already|currently)\b|用户|您|你|我|说过|提到过?|提过|记得|记忆|根据|显示|目前|现在|已经|之前|曾经?`)
)

// bareWords is a text without what is put around a fact; all of it where that is all.
func bareWords(text string) string {
	if bare := lead.ReplaceAllString(text, " "); strings.ContainsFunc(bare, unicode.IsLetter) {
		return bare
	}
	return text
}

// overlap is the share of a's distinct terms that b has.
func overlap(a, b string) float64 {
	analyzer := terms()
	has := map[uint64]bool{}
	for _, h := range analyzer.Append(nil, b) {
		has[h] = true
	}
	seen := map[uint64]bool{}
	shared := 0
	for _, h := range analyzer.Append(nil, a) {
		if !seen[h] && has[h] {
			shared++
		}
		seen[h] = true
	}
	if len(seen) == 0 {
		return 0
	}
	return float64(shared) / float64(len(seen))
}

var terms = sync.OnceValue(func() *lang.Analyzer { return lang.NewAnalyzer(nil) })
