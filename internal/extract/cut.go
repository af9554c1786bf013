package extract

import (
	"strings"
	"unicode/utf8"
)

// Cut says how a conversation is cut into windows, in tokens.
type Cut struct {
	Window  int // of one window's new messages
	Overlap int // of the messages before them that are shown again, to be understood by
	Count   func(text string) int
}

// Span is one window over a list of messages: those from New up to End are to
// be read, those from Begin up to New were read before.
type Span struct {
	Begin, New, End int
}

// Spans cuts messages into windows in their order. Every message is new in
// exactly one window; one that is larger than a window is alone in it: see
// [Cut.Pieces].
func (c Cut) Spans(texts []string) []Span {
	var spans []Span
	size := make([]int, len(texts))
	for i, t := range texts {
		size[i] = c.Count(t)
	}
	for at := 0; at < len(texts); {
		end, used := at, 0
		for end < len(texts) && (end == at || used+size[end] <= c.Window) {
			used += size[end]
			end++
		}
		begin, shown := at, 0
		for begin > 0 && shown+size[begin-1] <= c.Overlap {
			begin--
			shown += size[begin]
		}
		spans = append(spans, Span{begin, at, end})
		at = end
	}
	return spans
}

// Pieces cuts one text that is larger than a window into pieces that fit, at
// the ends of lines or sentences where there are any. Joined they are the text.
func (c Cut) Pieces(text string) []string {
	var pieces []string
	for text != "" {
		n := len(text)
		for n > utf8.UTFMax && c.Count(text[:n]) > c.Window {
			n = boundary(text, max(n*c.Window/max(c.Count(text[:n]), 1), utf8.UTFMax))
		}
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

// boundary is the end of a line or sentence at or before n, in the second half
// of what comes before n; else the start of the character at n.
func boundary(text string, n int) int {
	n = min(n, len(text)-1)
	for n > 1 && !utf8.RuneStart(text[n]) {
		n--
	}
	head := text[:n]
	for _, end := range []string{"\n", "。", "！", "？", ". ", "! ", "? ", "；", "，", " "} {
		if i := strings.LastIndex(head, end); i >= n/2 {
			return i + len(end)
		}
	}
	return n
}

// Estimate is about how many tokens a text has: a quarter of its ASCII letters
// and three quarters of its other characters. It is never far below what
// tokenizers count, and costs next to nothing.
func Estimate(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii + 3*other + 3) / 4
}
