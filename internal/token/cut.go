package token

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Texts counts a text's tokens; [Counter] is one.
type Texts interface{ Text(string) int }

// tries bounds how often a cut is counted. Each try counts about as much text
// as the result holds, never the whole.
const tries = 16

// firstBytes is how many bytes a token is taken to hold at first.
const firstBytes = 4

// Truncate returns the longest beginning of text, nearly, that counts at most
// limit tokens. It ends between characters. A text that fits comes back whole.
func Truncate(c Texts, text string, limit int) string {
	return longest(c, len(text), limit, func(size int) string { return head(text, size) })
}

// Middle cuts text in its middle so that it counts at most limit tokens, and
// says in it how many characters went: "…[已省略 N 字]…" in a text that is
// Chinese, "…[N characters cut]…" in any other. A text that fits comes back
// whole. Where not even the marker fits, the result is "".
func Middle(c Texts, text string, limit int) string {
	if len(text) <= 4*firstBytes*limit && c.Text(text) <= limit {
		return text // also where the marker alone would be longer
	}
	chinese := isChinese(text)
	return longest(c, len(text), limit, func(size int) string { return middle(text, size, chinese) })
}

// Marker returns what [Middle] leaves of a text where there is room for the
// marker alone.
func Marker(text string) string { return middle(text, 0, isChinese(text)) }

// longest searches for the largest size, up to all, at which make(size)
// counts at most limit. It follows the ratio of tokens to size, which settles
// in a few steps on ordinary text, and halves where that does not help.
func longest(c Texts, all, limit int, cut func(size int) string) string {
	if limit <= 0 {
		return ""
	}
	fits, low, high := "", 0, all+1
	if text := cut(0); c.Text(text) <= limit {
		fits = text
	} else {
		return ""
	}
	size := min(all, limit*firstBytes)
	for i := 0; i < tries && low+1 < high; i++ {
		text := cut(size)
		n := c.Text(text)
		if n <= limit {
			fits, low = text, size
			if n >= limit-limit/50 || size == all {
				break
			}
		} else {
			high = size
		}
		size = int(float64(size) * float64(limit) / float64(max(n, 1)))
		if size <= low || size >= high || i > tries/2 {
			size = low + (high-low)/2
		}
		size = min(size, low*4+64*firstBytes, all)
		if size <= low {
			break
		}
	}
	return fits
}

// middle keeps about size bytes of text, a little more of its beginning than
// of its end, with a marker between.
func middle(text string, size int, chinese bool) string {
	if size >= len(text) {
		return text
	}
	front := head(text, size-size/3)
	back := tail(text[len(front):], size/3)
	gone := utf8.RuneCountInString(text[len(front) : len(text)-len(back)])
	if gone == 0 {
		return text
	}
	if chinese {
		return fmt.Sprintf("%s…[已省略 %d 字]…%s", front, gone, back)
	}
	return fmt.Sprintf("%s…[%d characters cut]…%s", front, gone, back)
}

// head returns at most size bytes of the beginning, whole characters.
func head(text string, size int) string {
	if size >= len(text) {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	for range 16 { // keep what combines with the character before it
		r, _ := utf8.DecodeRuneInString(text[size:])
		if size == 0 || !joins(r) {
			break
		}
		_, n := utf8.DecodeLastRuneInString(text[:size])
		size -= n
	}
	return text[:size]
}

// tail returns at most size bytes of the end, whole characters.
func tail(text string, size int) string {
	if size >= len(text) {
		return text
	}
	from := len(text) - size
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	for range 16 {
		r, n := utf8.DecodeRuneInString(text[from:])
		if from == len(text) || !joins(r) {
			break
		}
		from += n
	}
	return text[from:]
}

// joins reports whether r combines with the character before it: marks, the
// zero-width joiner, variation selectors and skin tones.
func joins(r rune) bool {
	return r >= 0x300 && (unicode.In(r, unicode.Mn, unicode.Me) || r == 0x200D || r >= 0x1F3FB && r <= 0x1F3FF)
}

// isChinese reports whether a text holds more ideographs than Latin words, as
// its first and last 4,096 bytes show.
func isChinese(text string) bool {
	const sample = 4096
	if len(text) > 2*sample {
		text = text[:sample] + " " + text[len(text)-sample:]
	}
	han, words, inWord := 0, 0, false
	for _, r := range text {
		latin := r < 0x250 && unicode.IsLetter(r)
		if latin && !inWord {
			words++
		}
		inWord = latin
		if unicode.Is(unicode.Han, r) {
			han++
		}
	}
	return han > words
}
