package graph

import (
	"strings"
	"unicode"

	"github.com/yiku-ai/yiku/internal/lang"
)

const (
	mostRead     = 200 // bytes of a question that are read for names: its end
	longestRun   = 3   // words of a name in a question
	longestHan   = 4   // Han characters of one
	longestOwned = 6   // words, or characters, of a place: "my sister's husband"
)

// MayName lists what a question may name: the places in it, such as "my
// sister's husband" and 我老婆, and every run of words or characters that
// somebody could be called by. Who has one of them is for the caller to look up.
func (r Reader) MayName(question string) (places, names []Node) {
	if len(question) > mostRead {
		question = strings.ToValidUTF8(question[len(question)-mostRead:], "")
	}
	seen := map[string]bool{}
	add := func(list *[]Node, n Node) {
		if n.Name != "" && n.Name != Self().Name && !seen[n.Name] {
			seen[n.Name] = true
			*list = append(*list, n)
		}
	}
	for _, words := range runsOf(lang.Simplify(lang.Unify(question))) {
		between, longest := " ", longestRun
		if unicode.Is(unicode.Han, []rune(words[0])[0]) {
			between, longest = "", longestHan
		}
		for i := range words {
			for n := min(longestOwned, len(words)-i); n > 1; n-- {
				if m, ok := r.placeIn(strings.Join(words[i:i+n], between)); ok {
					add(&places, m)
					break
				}
			}
			for n := 1; n <= min(longest, len(words)-i); n++ {
				if between == "" && n == 1 {
					continue // one character is nobody's name
				}
				add(&names, plain(strings.TrimSuffix(strings.TrimSuffix(strings.Join(words[i:i+n], between), "'s"), "’s")))
			}
		}
	}
	return places, names
}

// placeIn reads a place of the user's own circle: a relation of theirs that the
// vocabulary knows, or of somebody in such a place.
func (r Reader) placeIn(text string) (Node, bool) {
	lower := strings.ToLower(text)
	if !strings.HasPrefix(lower, "my ") && !strings.HasPrefix(lower, "我") {
		return Node{}, false
	}
	m := r.Name(strings.TrimSuffix(strings.TrimSuffix(text, "'s"), "’s"))
	for at := m.Node; ; {
		owner, role, ok := ofPlace(at)
		if !ok || r.vocabulary.Of(role) == "" {
			return Node{}, false
		}
		if owner == Self().Name {
			return m.Node, true
		}
		at = Node{Name: owner}
	}
}

// runsOf cuts a text into stretches of one script without punctuation: words,
// or single Han characters.
func runsOf(text string) (out [][]string) {
	var run []string
	var word strings.Builder
	han := false
	endWord := func() {
		if word.Len() > 0 {
			run = append(run, word.String())
			word.Reset()
		}
	}
	end := func() {
		endWord()
		if len(run) > 0 {
			out = append(out, run)
		}
		run = nil
	}
	for _, c := range text {
		letter := unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("'’-&", c)
		if isHan := unicode.Is(unicode.Han, c); letter && isHan != han {
			end()
			han = isHan
		}
		switch {
		case letter && han:
			run = append(run, string(c))
		case letter:
			word.WriteRune(c)
		case c == ' ':
			endWord()
		default:
			end()
		}
	}
	end()
	return out
}
