// Package token counts text and messages in a model's tokens (A3), without a
// network.
//
// Models of OpenAI are counted with their own vocabulary, o200k_base or
// cl100k_base. No other vendor publishes a vocabulary that could be carried
// along, so for every other model a bound stands in, which is meant to be too
// high rather than too low (see [Registry.For]).
//
// A [Registry] loads a vocabulary on first use (some 50 ms and 13 MB each) and
// keeps it. Its counters are safe for concurrent use. Measured with
//
//	go test ./internal/token -run xxx -bench Text
//
// on two busy cores: 2–5 MB/s for mixed text, not below .9 MB/s for one
// repeated character or white space, and the bound at half of that, because it
// counts with both vocabularies.
package token

import (
	"math"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// The names that [Counter.Name] gives.
const (
	NameO200k  = "o200k_base"
	NameCL100k = "cl100k_base"
	NameBound  = "bound"       // a model of which nothing is known
	NameFamily = "bound_known" // a family whose vocabulary is known to hold Chinese
)

// boundMargin is how many more tokens than OpenAI's worse vocabulary a known
// other vocabulary needs for English and code: Anthropic states up to 1.35 for
// its newest models.
const boundMargin = 1.35

// Registry hands out counters and holds the vocabularies that they share.
type Registry struct {
	o200k, cl100k func() tokenizer.Codec
}

// New returns a registry that has loaded nothing yet. One a process is enough.
func New() *Registry {
	load := func(e tokenizer.Encoding) func() tokenizer.Codec {
		return sync.OnceValue(func() tokenizer.Codec {
			c, err := tokenizer.Get(e)
			if err != nil {
				return nil // not reached: both encodings are compiled in
			}
			return c
		})
	}
	return &Registry{o200k: load(tokenizer.O200kBase), cl100k: load(tokenizer.Cl100kBase)}
}

// For returns the counter of a model. It never fails:
//
//   - gpt-4o, gpt-4.1, gpt-4.5, gpt-5, gpt-oss, o1, o3, o4 and no model at
//     all: o200k_base, exact;
//   - gpt-4, gpt-3.5, text-embedding: cl100k_base, exact;
//   - claude, gemini, qwen, deepseek and other families whose vocabularies
//     have tokens for Chinese: the larger of 1.35 times the worse of both
//     counts above, and two tokens for every character outside of ASCII plus
//     one for four bytes inside. (Of the 20,992 characters of the block of
//     unified ideographs, cl100k_base, an English vocabulary, needs one or two
//     tokens for 12,945 and three for the rare rest, for which the first of
//     the two counts stands.)
//   - any other model: the same, with the UTF-8 length for every character
//     outside of ASCII. A tokenizer that works on bytes or falls back to them
//     cannot need more, so Chinese is never counted too low.
//
// A vendor's prefix ("openai/gpt-4o", "ft:gpt-4o:…", "us.anthropic.claude-…")
// and case do not matter.
func (r *Registry) For(model string) *Counter {
	switch familyOf(model) {
	case familyO200k:
		return &Counter{name: NameO200k, count: func(s string) int { return exact(r.o200k(), s) }}
	case familyCL100k:
		return &Counter{name: NameCL100k, count: func(s string) int { return exact(r.cl100k(), s) }}
	case familyKnown:
		return &Counter{name: NameFamily, count: func(s string) int { return r.bound(s, 2) }}
	default:
		return &Counter{name: NameBound, count: func(s string) int { return r.bound(s, utf8.UTFMax) }}
	}
}

// Counter counts in the tokens of one model, or in a bound of them.
type Counter struct {
	name  string
	count func(string) int
}

// Name says what counts: one of the Name constants.
func (c *Counter) Name() string { return c.name }

// Text counts a text alone. Words that stand for a vocabulary's special
// tokens are counted as the text they are.
func (c *Counter) Text(s string) int {
	if s == "" {
		return 0
	}
	return c.count(s)
}

// bound is the count described at [Registry.For]; wide is the most that a
// character outside of ASCII is taken to cost.
func (r *Registry) bound(s string, wide int) int {
	ascii, floor := 0, 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			ascii++
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		floor += min(n, wide)
		i += n
	}
	floor += (ascii + 3) / 4
	known := max(exact(r.o200k(), s), exact(r.cl100k(), s))
	return max(floor, int(math.Ceil(float64(known)*boundMargin)))
}

// exact counts with a vocabulary. Runs of white space that mix line ends with
// other white space are counted in pieces of [maxMixedSpace] bytes, because
// the vocabularies' splitting takes quadratic time on them; that can only
// differ from the reference for such runs, by about one token a piece. An
// error of the codec (none is known) gives the length in bytes, which no
// byte-level vocabulary exceeds.
func exact(c tokenizer.Codec, s string) int {
	total := 0
	for len(s) > 0 {
		n := mixedSpaceCut(s)
		k, err := c.Count(s[:n])
		if err != nil {
			k = n
		}
		total += k
		s = s[n:]
	}
	return total
}

// maxMixedSpace is the longest run of mixed white space, in bytes, that goes
// to the codec in one piece.
const maxMixedSpace = 256

// mixedSpaceCut returns how many bytes of s may be counted at once: all, or
// up to the place where a run of mixed white space has become too long.
func mixedSpaceCut(s string) int {
	run, ends, others := 0, false, false
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		i += n
		switch {
		case r == '\n' || r == '\r':
			ends = true
		case isSpace(r):
			others = true
		default:
			run, ends, others = 0, false, false
			continue
		}
		if run += n; run >= maxMixedSpace && ends && others {
			return i
		}
	}
	return len(s)
}

// isSpace is unicode.IsSpace without line ends, quick for the common case.
func isSpace(r rune) bool {
	switch {
	case r == ' ', r == '\t', r == '\v', r == '\f', r == 0x85, r == 0xA0, r == 0x1680, r == 0x3000:
		return true
	case r < 0x2000:
		return false
	}
	return r <= 0x200A || r == 0x2028 || r == 0x2029 || r == 0x202F || r == 0x205F
}
