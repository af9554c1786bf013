package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// columns is the width that outputs keep to.
const columns = 80

// clean escapes what could move the cursor or turn the direction of text in a
// terminal; newlines and tabs stay.
func clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// wide tells whether a character takes two columns: the East Asian wide and
// full-width ranges of Unicode's East Asian Width (UAX #11), and emoji.
func wide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return true
	}
	return false
}

// width is the number of columns that a text takes.
func width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// pad fills a text with blanks up to a width.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }

// right fills a text with blanks before it.
func right(s string, to int) string { return strings.Repeat(" ", max(0, to-width(s))) + s }

// cut shortens a text to a width, with a mark where something is missing.
func cut(s string, to int) string {
	s = strings.Join(strings.Fields(s), " ")
	if width(s) <= to {
		return s
	}
	n := 0
	for i, r := range s {
		w := width(string(r))
		if n+w > to-1 {
			return s[:i] + "…"
		}
		n += w
	}
	return s
}

// wrap breaks a text into lines of at most to columns: at blanks where there
// are any, else between wide characters, else anywhere. A closing mark of
// Chinese does not begin a line.
func wrap(s string, to int) []string {
	var lines []string
	for _, paragraph := range strings.Split(s, "\n") {
		lines = append(lines, wrapLine([]rune(paragraph), to)...)
	}
	return lines
}

func wrapLine(rest []rune, to int) []string {
	var lines []string
	for {
		n, w := 0, 0
		for n < len(rest) && w+width(string(rest[n])) <= to {
			w += width(string(rest[n]))
			n++
		}
		if n == len(rest) {
			return append(lines, string(rest))
		}
		n = breakAt(rest, max(n, 1))
		lines = append(lines, strings.TrimRight(string(rest[:n]), " "))
		rest = []rune(strings.TrimLeft(string(rest[n:]), " "))
	}
}

// breakAt moves the end of a line back to where a line may end.
func breakAt(line []rune, n int) int {
	for i := n; i > n/2 && i > 0; i-- {
		before, after := line[i-1], line[i]
		if strings.ContainsRune("，。、；：？！）”’》」』,.;:?!)", after) {
			continue
		}
		if before == ' ' || after == ' ' || wide(before) || wide(after) {
			return i
		}
	}
	return n
}

// indent writes a text with a prefix before each line, wrapped to the width.
func indent(w io.Writer, prefix, text string) {
	for _, line := range wrap(clean(text), columns-width(prefix)) {
		fmt.Fprintln(w, strings.TrimRight(prefix+line, " "))
	}
}

// indentFirst writes a prefix before the first line and blanks before the others.
func indentFirst(w io.Writer, prefix, text string) {
	for i, line := range wrap(clean(text), columns-width(prefix)) {
		if i == 1 {
			prefix = strings.Repeat(" ", width(prefix))
		}
		fmt.Fprintln(w, strings.TrimRight(prefix+line, " "))
	}
}

// thousands writes a whole number with commas.
func thousands[N int | int64](n N) string {
	digits := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// money writes an amount of USD with cents where they matter.
func money(x float64) string {
	whole := int64(x)
	if x == float64(whole) || x >= 1000 || x <= -1000 {
		return thousands(int64(x + half(x)))
	}
	return fmt.Sprintf("%.2f", x)
}

func half(x float64) float64 {
	if x < 0 {
		return -0.5
	}
	return 0.5
}
