package extract

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// lenient reads JSON as models write it: with trailing or missing commas,
// comments, single or curly quotes, bare words, line breaks in strings, lone
// surrogates, and broken off at the end. It builds maps, slices, strings,
// float64, bool and nil.
type lenient struct {
	text  string
	at    int
	depth int
	cut   bool // the text ended within a value
}

// maxDepth bounds nesting, so that a megabyte of brackets costs nothing.
const maxDepth = 32

// partial is what there is of a value that broke off.
type partial string

// source is the member of every object that holds the text it was read from.
// What an answer calls so is lost to it.
const source = "\x00"

// doubled is the member of an object of which one has two values.
const doubled = "\x00\x00"

// broken is an element of a list that could not be read, as it stood.
type broken string

// value reads one value at the present place; ok is false where none stands there.
func (l *lenient) value() (v any, ok bool) {
	l.blank()
	if l.at >= len(l.text) {
		l.cut = true
		return partial(""), true
	}
	switch r, _ := utf8.DecodeRuneInString(l.text[l.at:]); {
	case r == '{':
		return l.nested(l.object)
	case r == '[':
		return l.nested(l.list)
	case closing(r) != 0:
		return l.quoted(closing(r))
	default:
		return l.bare()
	}
}

func (l *lenient) nested(read func() (any, bool)) (any, bool) {
	if l.depth >= maxDepth {
		return nil, false
	}
	l.depth++
	defer func() { l.depth-- }()
	start := l.at
	l.at++
	v, ok := read()
	if m, isObject := v.(map[string]any); isObject {
		m[source] = l.text[start:l.at]
	}
	return v, ok
}

// object reads members up to the closing brace. Of a member that broke off the
// value is partial.
func (l *lenient) object() (any, bool) {
	out := map[string]any{}
	for {
		l.separators()
		if l.at >= len(l.text) {
			l.cut = true
			return out, true
		}
		if l.text[l.at] == '}' {
			l.at++
			return out, true
		}
		key, ok := l.key()
		if !ok {
			return nil, false
		}
		l.blank()
		if l.at >= len(l.text) {
			l.cut = true
			return out, true
		}
		if !l.take(":") && !l.take("：") {
			return nil, false
		}
		v, ok := l.value()
		if !ok {
			return nil, false
		}
		switch had, twice := out[key]; {
		case !twice:
			out[key] = v
		case !l.join(out, key, had, v) && str(had) != str(v):
			out[doubled] = true
		}
	}
}

// join makes two lists under one name one.
func (l *lenient) join(out map[string]any, key string, had, more any) bool {
	a, one := had.([]any)
	b, two := more.([]any)
	if one && two {
		out[key] = append(a, b...)
	}
	return one && two
}

func (l *lenient) key() (string, bool) {
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	if end := closing(r); end != 0 {
		v, ok := l.quoted(end)
		s, isString := v.(string)
		return s, ok && (isString || l.cut)
	}
	start := l.at
	for l.at < len(l.text) && (isWord(l.text[l.at]) || l.text[l.at] == '-') {
		l.at++
	}
	return l.text[start:l.at], l.at > start
}

func (l *lenient) list() (any, bool) {
	out := []any{}
	for {
		l.separators()
		if l.at >= len(l.text) {
			l.cut = true
			return out, true
		}
		if l.text[l.at] == ']' {
			l.at++
			return out, true
		}
		start := l.at
		v, ok := l.value()
		if !ok {
			v = l.resume(start)
		}
		out = append(out, v)
	}
}

// resume passes over an element that cannot be read, to behind the next
// closing brace, so that those after it are not lost.
func (l *lenient) resume(start int) broken {
	from := max(l.at, start+1)
	if i := strings.IndexByte(l.text[min(from, len(l.text)):], '}'); i >= 0 {
		l.at = from + i + 1
	} else {
		l.at, l.cut = len(l.text), true
	}
	return broken(l.text[start:l.at])
}

// quoted reads a string up to its closing quote. A quote that is followed by
// neither a separator nor an end stands for itself.
func (l *lenient) quoted(end rune) (any, bool) {
	_, size := utf8.DecodeRuneInString(l.text[l.at:])
	l.at += size
	var b strings.Builder
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		switch {
		case r == '\\':
			l.escape(&b)
			continue
		case r == end && l.ends(l.at+size):
			l.at += size
			return b.String(), true
		}
		b.WriteRune(r) // a bad byte becomes the replacement character
		l.at += size
	}
	l.cut = true
	return partial(b.String()), true
}

// ends reports whether a string may be over at a place: what follows is a
// separator, a closing bracket, the end, or a new line.
func (l *lenient) ends(at int) bool {
	for at < len(l.text) {
		switch l.text[at] {
		case ' ', '\t':
			at++
			continue
		case ',', ':', '}', ']', '\n', '\r', '/', '#':
			return true
		}
		return strings.HasPrefix(l.text[at:], "，") || strings.HasPrefix(l.text[at:], "：")
	}
	return true
}

// escape reads one escape sequence. A surrogate without its other half becomes
// U+FFFD; an unknown escape stands for its letter.
func (l *lenient) escape(b *strings.Builder) {
	l.at++
	if l.at >= len(l.text) {
		return
	}
	c := l.text[l.at]
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b', 'f':
		b.WriteByte(' ')
	case 'u':
		l.unicode(b)
		return
	default:
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		b.WriteRune(r)
		l.at += size
		return
	}
	l.at++
}

func (l *lenient) unicode(b *strings.Builder) {
	r, ok := l.hex(l.at + 1)
	if !ok {
		b.WriteByte('u')
		l.at++
		return
	}
	l.at += 5
	if utf16.IsSurrogate(r) {
		low, ok := l.hex(l.at + 2)
		if ok && strings.HasPrefix(l.text[l.at:], `\u`) && utf16.DecodeRune(r, low) != utf8.RuneError {
			r = utf16.DecodeRune(r, low)
			l.at += 6
		} else {
			r = utf8.RuneError
		}
	}
	if r != 0 {
		b.WriteRune(r)
	}
}

func (l *lenient) hex(at int) (rune, bool) {
	if at+4 > len(l.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(l.text[at:at+4], 16, 32)
	return rune(n), err == nil
}

// bare reads a number, a literal or a bare word.
func (l *lenient) bare() (any, bool) {
	start := l.at
	for l.at < len(l.text) && (isWord(l.text[l.at]) || strings.IndexByte("+-.", l.text[l.at]) >= 0) {
		l.at++
	}
	word := l.text[start:l.at]
	switch strings.ToLower(word) {
	case "":
		return nil, false
	case "null", "none", "undefined", "nan":
		return nil, true
	case "true":
		return true, true
	case "false":
		return false, true
	}
	if n, err := strconv.ParseFloat(word, 64); err == nil {
		return n, true
	}
	return word, true
}

// separators passes over blanks, comments and any number of commas.
func (l *lenient) separators() {
	for {
		l.blank()
		if !l.take(",") && !l.take(";") && !l.take("，") {
			return
		}
	}
}

// blank passes over white space and comments.
func (l *lenient) blank() {
	for l.at < len(l.text) {
		switch {
		case strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0:
			l.at++
		case strings.HasPrefix(l.text[l.at:], "//"), l.text[l.at] == '#':
			l.skipTo("\n")
		case strings.HasPrefix(l.text[l.at:], "/*"):
			l.skipTo("*/")
		default:
			return
		}
	}
}

func (l *lenient) skipTo(end string) {
	i := strings.Index(l.text[l.at:], end)
	if i < 0 {
		l.at = len(l.text)
		return
	}
	l.at += i + len(end)
}

func (l *lenient) take(token string) bool {
	if strings.HasPrefix(l.text[l.at:], token) {
		l.at += len(token)
		return true
	}
	return false
}

// closing returns the quote that closes the one given, 0 where it is none.
func closing(r rune) rune {
	switch r {
	case '"', '\'':
		return r
	case '“', '”':
		return '”'
	case '‘', '’':
		return '’'
	}
	return 0
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}
