package recall

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"

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
	text = lang.Fold(text[:min(len(text), maxCompared)])
	var f fingerprint
	last := uint64(0)
	word := func(w string) {
		h := maphash.String(seed, w)
		if strings.ContainsFunc(w, unicode.IsDigit) {
			f.numbers = append(f.numbers, h)
		}
		f.pairs = append(f.pairs, h^last*0x9e3779b97f4a7c15)
		last = h
	}
	start := -1
	for i, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
		alone := unicode.Is(unicode.Han, r)
		if start >= 0 && (!letter || alone) {
			word(text[start:i])
			start = -1
		}
		if alone {
			word(string(r))
		} else if letter && start < 0 {
			start = i
		}
	}
	if start >= 0 {
		word(text[start:])
	}
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
	if len(f.pairs) == 0 || !slices.Equal(f.numbers, o.numbers) {
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

// MatchedTerms returns the terms of the query that a text holds, each once, in
// the order of the query.
func MatchedTerms(query, text string) []string {
	a := lang.NewAnalyzer(nil)
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
