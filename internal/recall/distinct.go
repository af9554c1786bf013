package recall

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku/internal/lang"
)

// Two texts say the same where they share at least sameShare of their pairs of
// neighbouring words (Jaccard) and hold the same numbers: "my budget is 500" and
// "my budget is 600" are two things.
const sameShare = 0.9

// maxCompared is how much of a text, in bytes, is compared.
const maxCompared = 1024

// distinct walks down the ranked items and keeps the first of those that say
// the same, until limit are kept; what is left out behind them up to there is
// counted.
func distinct(ranked []Ranked, limit int) []Ranked {
	kept := make([]Ranked, 0, min(limit, len(ranked)))
	prints := make([]fingerprint, 0, cap(kept))
	seed := maphash.MakeSeed()
	for _, r := range ranked {
		if len(kept) >= limit {
			break
		}
		p := print(seed, r.Text)
		if i := slices.IndexFunc(prints, p.same); i >= 0 {
			kept[i].Same++
			continue
		}
		kept, prints = append(kept, r), append(prints, p)
	}
	return kept
}

// fingerprint is what two texts are compared by.
type fingerprint struct {
	pairs   []uint64 // hashes of neighbouring words, ascending, each once
	numbers []uint64
}

func print(seed maphash.Seed, text string) fingerprint {
	text = text[:min(len(text), maxCompared)]
	f := fingerprint{pairs: make([]uint64, 0, len(text)/3)}
	word := make([]byte, 0, 64)
	number := false
	last := uint64(0)
	end := func() {
		if len(word) == 0 {
			return
		}
		h := maphash.Bytes(seed, word)
		if number {
			f.numbers = append(f.numbers, h)
		}
		f.pairs = append(f.pairs, h^last*0x9e3779b97f4a7c15)
		last, number, word = h, false, word[:0]
	}
	for _, r := range text {
		if r >= 0x4e00 && r <= 0x9fff { // a Han character is a word
			end()
			word = utf8.AppendRune(word, r)
			end()
			continue
		}
		switch {
		case r >= '0' && r <= '9' || unicode.IsDigit(r):
			number = true
		case !unicode.IsLetter(r) && !unicode.Is(unicode.M, r):
			if !lang.Invisible(r) {
				end()
			}
			continue
		}
		word = utf8.AppendRune(word, unicode.ToLower(r))
	}
	end()
	f.pairs, f.numbers = set(f.pairs), set(f.numbers)
	return f
}

func set(hashes []uint64) []uint64 {
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// same reports whether two texts say the same. Texts without a word are
// different from everything.
func (f fingerprint) same(o fingerprint) bool {
	short, long := min(len(f.pairs), len(o.pairs)), max(len(f.pairs), len(o.pairs))
	if short == 0 || float64(short) < sameShare*float64(long) || !slices.Equal(f.numbers, o.numbers) {
		return false
	}
	common, i, j := 0, 0, 0
	for i < len(f.pairs) && j < len(o.pairs) {
		switch a, b := f.pairs[i], o.pairs[j]; {
		case a == b:
			common++
			i++
			j++
		case a < b:
			i++
		default:
			j++
		}
	}
	return float64(common) >= sameShare*float64(len(f.pairs)+len(o.pairs)-common)
}

// maxMatched is how much of a text, in bytes, is looked at for the terms of an
// explanation.
const maxMatched = 4096

// MatchedTerms returns the terms of the query that a text holds, each once, in
// the order of the query. Of a long text the beginning is looked at.
func MatchedTerms(a *lang.Analyzer, query, text string) []string {
	if len(text) > maxMatched {
		text = strings.ToValidUTF8(text[:maxMatched], "")
	}
	held := make(map[uint64]bool)
	for _, h := range a.Append(nil, text) {
		held[h] = true
	}
	var out []string
	for _, t := range a.Terms(query) {
		if held[t.Hash] {
			out = append(out, t.Text)
			held[t.Hash] = false
		}
	}
	return out
}
