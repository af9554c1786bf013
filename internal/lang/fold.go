package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns text as it is compared: compatibility forms and widths unified
// (NFKC), lower case, invisible characters out, runs of blanks made one, none
// at the ends. Two texts that a reader would call the same fold to the same.
func Fold(text string) string { return unify(text, unicode.ToLower) }

// Unify is Fold without the case.
func Unify(text string) string { return unify(text, func(r rune) rune { return r }) }

func unify(text string, letter func(rune) rune) string {
	text = normal(text)
	var b strings.Builder
	b.Grow(len(text))
	blank := false
	for _, r := range text {
		switch {
		case Invisible(r):
			continue
		case unicode.IsSpace(r):
			blank = true
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(letter(r))
	}
	return b.String()
}

// Invisible reports whether a character has no ink and no width of its own and
// can hide or split words: zero-width and bidirectional controls, soft
// hyphens, variation selectors, tags, and control characters other than blanks.
func Invisible(r rune) bool {
	if r < 0x80 {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\v' && r != '\f' || r == 0x7f
	}
	if r >= 0x3165 && r <= 0xa000 || r >= 0x3001 && r < 0x3164 { // most Chinese and Japanese text
		return false
	}
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0x180b && r <= 0x180f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return r != 0x85 && (unicode.Is(unicode.Cf, r) || unicode.IsControl(r))
}

// normal returns text in NFKC; ASCII, which is most English text, is returned
// as it is.
func normal(text string) string {
	if isASCII(text) || norm.NFKC.IsNormalString(text) {
		return text
	}
	return norm.NFKC.String(text)
}

func isASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// comparable is normal for the analyzer. Text of ASCII, the main Han block and
// the usual Chinese punctuation, which only sets words apart, is returned as it
// is: normalising would cost more than cutting it.
func comparable(text string) string {
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf, r >= hanFirst && r <= hanLast, r >= 0x3001 && r <= 0x3011:
		case r >= 0x2013 && r <= 0x201d, r == '…', r == '！', r == '，', r == '：', r == '；', r == '？', r == '（', r == '）':
		default:
			return normal(text)
		}
	}
	return text
}

// bare returns a Latin letter without its accents, other characters as they are.
func bare(r rune) rune {
	if r < 0xc0 || r > 0x24f && r < 0x1e00 || r > 0x1eff {
		return r
	}
	d := norm.NFD.PropertiesString(string(r)).Decomposition()
	if len(d) == 0 {
		return r
	}
	base, _ := utf8.DecodeRune(d)
	return base
}
