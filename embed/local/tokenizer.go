package local

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// space stands for a space within the pieces of a SentencePiece vocabulary.
const space = '▁'

// tokenizer cuts a text into the pieces of a unigram vocabulary: of all ways
// to write the text with its pieces, the one whose scores have the largest sum
// (Kudo 2018, "Subword Regularization"; Viterbi's algorithm finds it). What no
// piece writes becomes the unknown piece, once for each run.
type tokenizer struct {
	pieces  []byte
	offsets []uint32
	scores  []float32
	unknown int
	penalty float32 // of an unknown character: 10 below the worst score
	longest int     // bytes of the longest piece
	table   []int32 // open addressing by FNV-1a of the bytes: piece + 1, or 0
}

func newTokenizer(pieces []byte, offsets []uint32, scores []float32, c Config) (*tokenizer, error) {
	if len(offsets) != len(scores)+1 || len(scores) == 0 || int(offsets[len(scores)]) > len(pieces) {
		return nil, fmt.Errorf("vocabulary: %d offsets, %d scores, %d bytes do not fit", len(offsets), len(scores), len(pieces))
	}
	t := &tokenizer{pieces: pieces, offsets: offsets, scores: scores, unknown: c.Unknown}
	size := 1
	for size < 2*len(scores) {
		size *= 2
	}
	t.table = make([]int32, size)
	worst := float32(math.Inf(1))
	for i := range scores {
		if offsets[i] > offsets[i+1] {
			return nil, fmt.Errorf("vocabulary: piece %d ends before it begins", i)
		}
		worst = min(worst, scores[i])
		if !c.special(i) && offsets[i] < offsets[i+1] {
			t.put(i)
		}
	}
	t.penalty = worst - 10
	return t, nil
}

func (t *tokenizer) piece(i int) []byte { return t.pieces[t.offsets[i]:t.offsets[i+1]] }

func (t *tokenizer) put(i int) {
	p := t.piece(i)
	t.longest = max(t.longest, len(p))
	at := hash(fnvOffset, p) & uint64(len(t.table)-1)
	for t.table[at] != 0 {
		at = (at + 1) & uint64(len(t.table)-1)
	}
	t.table[at] = int32(i + 1)
}

// find is the piece with these bytes, whose hash is given, or -1.
func (t *tokenizer) find(b []byte, h uint64) int {
	for at := h & uint64(len(t.table)-1); ; at = (at + 1) & uint64(len(t.table)-1) {
		i := int(t.table[at]) - 1
		if i < 0 || string(t.piece(i)) == string(b) {
			return i
		}
	}
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hash goes on with an FNV-1a hash over more bytes.
func hash(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

// step is the best way to a place in the text.
type step struct {
	score float32
	piece int
	from  int
}

// cut gives the numbers of the text's pieces.
func (t *tokenizer) cut(text string) []int {
	b := []byte(plain(text))
	if len(b) == 0 {
		return nil
	}
	best := make([]step, len(b)+1)
	for i := range best {
		best[i].score = float32(math.Inf(-1))
	}
	best[0].score = 0
	for i := 0; i < len(b); {
		_, n := utf8.DecodeRune(b[i:])
		if here := best[i].score; !math.IsInf(float64(here), -1) {
			t.reach(best, b, i, n, here)
		}
		i += n
	}
	return t.trace(best)
}

// reach goes from a place to the end of every piece that begins there.
func (t *tokenizer) reach(best []step, b []byte, from, char int, here float32) {
	if s := here + t.penalty; s > best[from+char].score {
		best[from+char] = step{s, t.unknown, from}
	}
	h := uint64(fnvOffset)
	for end := from; end < len(b); {
		_, n := utf8.DecodeRune(b[end:])
		if end+n-from > t.longest {
			return
		}
		h = hash(h, b[end:end+n])
		end += n
		if i := t.find(b[from:end], h); i >= 0 {
			if s := here + t.scores[i]; s > best[end].score {
				best[end] = step{s, i, from}
			}
		}
	}
}

// trace reads the best way from its end.
func (t *tokenizer) trace(best []step) []int {
	var out []int
	for i := len(best) - 1; i > 0; i = best[i].from {
		if n := len(out); best[i].piece == t.unknown && n > 0 && out[n-1] == t.unknown {
			continue
		}
		out = append(out, best[i].piece)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// plain is a text as SentencePiece's nmt_nfkc prepares it: compatibility forms
// folded, controls dropped, every white space a space, runs of them one, none
// at the end, and one before the beginning.
func plain(text string) string {
	text = norm.NFKC.String(strings.Map(tidy, text))
	var out strings.Builder
	out.Grow(len(text) + 8)
	before := true
	for _, r := range text {
		if r == ' ' {
			before = true
			continue
		}
		if before {
			out.WriteRune(space)
			before = false
		}
		out.WriteRune(r)
	}
	return out.String()
}

// tidy drops a control and turns what separates into a space.
func tidy(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\f' || r == '\r':
		return ' '
	case r < ' ' || r == 0x7f || r == 0x8f || r == 0x9f:
		return -1
	case r == 0x1680 || r >= 0x200b && r <= 0x200f || r == 0x2028 || r == 0x2029 || r == space || r == 0xfeff || r == utf8.RuneError:
		return ' '
	}
	return r
}
