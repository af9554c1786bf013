package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// exactWithin is how many of the first results say the exact data of the
	// query between them (B2).
	exactWithin = 3
	// mostExact is how many data of a query are looked for.
	mostExact = 8
)

// raiseExact brings what says the query's exact data among the first three. To
// words a datum is one term of many, so that long texts of the same words stand
// before the one that says it; but who names a number, an id or a path wants
// the text that says that one. The rarest datum comes first; a text that is
// raised takes the place of the last one that says none of them, and scores no
// less than what it has passed.
func raiseExact(ranked []Ranked, exact []string) []Ranked {
	type datum struct {
		text  string
		said  int // by how many
		first int // the best of them
	}
	var data []datum
	for _, text := range exact[:min(len(exact), mostExact)] {
		d := datum{text: text, first: -1}
		for i, r := range ranked {
			if !says(r.Text, text) {
				continue
			}
			if d.said++; d.first < 0 {
				d.first = i
			}
		}
		if d.said > 0 {
			data = append(data, d)
		}
	}
	slices.SortStableFunc(data, func(a, b datum) int { return a.said - b.said })
	top := slices.Clone(ranked[:min(exactWithin, len(ranked))])
	needed := make([]bool, len(top))
	for _, d := range data {
		if at := slices.IndexFunc(top, func(r Ranked) bool { return says(r.Text, d.text) }); at >= 0 {
			needed[at] = true
			continue
		}
		free := len(top) - 1
		for free >= 0 && needed[free] {
			free--
		}
		if free < 0 {
			break
		}
		top[free], needed[free] = ranked[d.first], true
		top[free].Says = d.text
	}
	rest := slices.DeleteFunc(slices.Clone(ranked), func(r Ranked) bool {
		return slices.ContainsFunc(top, func(t Ranked) bool { return t.Shared == r.Shared && t.Candidate.Ref == r.Candidate.Ref })
	})
	for i := len(top) - 1; i >= 0 && len(rest) > 0; i-- { // the first of the rest may have stood before them
		top[i].Score = max(top[i].Score, rest[0].Score)
	}
	return append(top, rest...)
}

// says reports whether a text holds a datum, and not only a longer one of which
// it is a part.
func says(text, datum string) bool {
	first, _ := utf8.DecodeRuneInString(datum)
	last, _ := utf8.DecodeLastRuneInString(datum)
	for from := 0; ; {
		at := strings.Index(text[from:], datum)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(datum):])
		if !goesOn(before, first) && !goesOn(last, after) {
			return true
		}
		from = at + len(datum)
	}
}

// goesOn reports whether two characters stand in one word: between Han
// characters no word is known to end.
func goesOn(a, b rune) bool {
	word := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.Is(unicode.Han, r)
	}
	return word(a) && word(b)
}
