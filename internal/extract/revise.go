package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// revise lets the candidates from a number on take the place of what earlier
// messages or one memory say of the same matter. first is how the sentence
// begins: it stands for the candidates where there are none.
func (r *reading) revise(from int, first string) {
	if len(r.found) == from {
		c := Candidate{Op: OpCreate, Content: trim(first), Type: yiku.TypeCorrection, Importance: 0.6}
		if n := r.relatedMemory(c.Content); n > 0 || r.relatedFound(from, c.Content) >= 0 {
			r.add(c)
		}
	}
	anew := slices.Clone(r.found[from:])
	for i, c := range anew {
		if c.Op != OpCreate {
			continue
		}
		if at := r.relatedFound(from, c.Content); at >= 0 {
			r.found = slices.Delete(r.found, at, at+1)
			from--
		} else if n := r.relatedMemory(c.Content); n > 0 {
			now := &r.found[from+i]
			now.Op, now.Target, now.Type, now.Urgent = OpUpdate, n, yiku.TypeCorrection, true
		}
	}
}

// relatedFound is the last candidate of an earlier message, before a number, that
// is of the same matter as a text; -1 for none.
func (r *reading) relatedFound(before int, text string) int {
	for i := before - 1; i >= 0; i-- {
		if was := r.found[i]; was.Op == OpCreate && !slices.Contains(was.Messages, r.at) && related(was.Content, text) {
			return i
		}
	}
	return -1
}

// relatedMemory is the number of the one neighbour that is of the same matter
// as a text; 0 for none and for several.
func (r *reading) relatedMemory(text string) int {
	found := 0
	for i, n := range r.window.Neighbours {
		if !related(n.Content, text) || lang.Fold(n.Content) == lang.Fold(text) {
			continue
		}
		if found > 0 {
			return 0
		}
		found = i + 1
	}
	return found
}

// related reports whether two texts share a word that names a matter: one of
// four letters or two characters, but the usual ones.
func related(a, b string) bool {
	a, b = usual.ReplaceAllString(lang.Fold(a), " "), usual.ReplaceAllString(lang.Fold(b), " ")
	for _, w := range matter.FindAllString(a, -1) {
		if r, size := utf8.DecodeRuneInString(w); !unicode.Is(unicode.Han, r) {
			if slices.ContainsFunc(matter.FindAllString(b, -1), func(v string) bool { return root(v) == root(w) }) {
				return true
			}
			continue
		} else if runes := []rune(w); size > 0 {
			for i := 0; i+1 < len(runes); i++ {
				if strings.Contains(b, string(runes[i:i+2])) {
					return true
				}
			}
		}
	}
	return false
}

// root is what a word and its usual forms share.
func root(word string) string { return word[:min(len(word), 5)] }

var (
	// speaker is who said something wrong, not what.
	speaker = regexp.MustCompile(`^(?:我|你|刚|之前|前面|上面|i|you)(?:刚才?|们|上次)?$`)
	usual   = regexp.MustCompile(`我们|公司|团队|现在|以后|每天|项目|已经|应该|其实|不过|\b(?:with|from|that|this|have|will|they|them|their|your|about|longer|more|actually|instead|always|never|called?|name)\b|\d{4}-\d{2}-\d{2}`)
	matter  = regexp.MustCompile(`\p{Han}{2,}|[a-z][a-z-]{3,}`)
)
