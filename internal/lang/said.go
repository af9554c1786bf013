package lang

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// Caseless returns text as a keyword of a forget is looked for in it. It brings
// more together than Fold does, since nothing that says the keyword may stay:
// invisible characters go before the accents they stand in front of are
// composed, and case is folded in full (ß is ss, ς is σ).
func Caseless(text string) string {
	if isASCII(text) {
		return Fold(text)
	}
	seen := strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return r
	}, text)
	return Unify(cases.Fold().String(normal(seen)))
}

// Unescape returns text with its JSON escapes resolved, wherever they stand:
// text that a model wrote as JSON need not be whole. Those of characters
// without ink become blanks.
func Unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := escape(text[i:])
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// escape reads the escape that text begins with, and its length: 0 for none.
func escape(text string) (r rune, length int) {
	if len(text) < 2 || text[0] != '\\' {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2
	case 'n', 'r', 't':
		return ' ', 2
	case 'u':
		r, ok := unit(text)
		if !ok {
			return 0, 0
		}
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		low, _ := unit(text[6:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return 0, 0
}

// unit reads \uXXXX.
func unit(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
