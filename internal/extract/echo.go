package extract

import (
	"regexp"
	"sync"

	"github.com/yiku-ai/yiku/internal/lang"
)

// fence is the text that Yiku puts into prompts, closed or broken off: whoever
// sends a prompt back sends it with the fence (see internal/compose).
var fence = regexp.MustCompile(`(?s)<yiku-memory>.*?(</yiku-memory>|$)`)

// Unfenced returns a text without what Yiku itself put into it.
func Unfenced(text string) string { return fence.ReplaceAllString(text, "\n") }

// near is the share of a candidate's terms that one memory must hold for the
// candidate to say nothing beyond it.
const near = 0.8

// Echoes reports whether a candidate only repeats a memory that exists (C10):
// it came from nobody but the agent or its tools, and what it says stands in one
// neighbour. What the user says again is no echo: it confirms.
func Echoes(c Candidate, w Window) bool {
	if c.Op == OpDelete || len(c.Messages) == 0 {
		return false
	}
	for _, n := range c.Messages {
		if userSpeaks(w.Messages[n-1]) {
			return false
		}
	}
	for _, n := range w.Neighbours {
		if overlap(c.Content, n.Content) >= near {
			return true
		}
	}
	return false
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
