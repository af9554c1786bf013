package remote

import (
	"unicode/utf8"
)

// beginning is as much of a text as has about that many tokens: three letters
// of ASCII make one, and any other character is one, which is more than the
// usual vocabularies need. What an endpoint counts is its own affair: where it
// refuses a text, a shorter beginning is tried.
func beginning(text string, tokens int) string {
	if len(text) <= tokens { // no character is more than one of its bytes
		return text
	}
	thirds := 0
	for i, r := range text {
		if thirds++; r >= utf8.RuneSelf {
			thirds += 2
		}
		if thirds > 3*tokens {
			return text[:i]
		}
	}
	return text
}

// boundary is the end of the last whole character before a place.
func boundary(text string, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
