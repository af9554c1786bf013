package compose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// The fence around recalled text. Within it every piece of recalled text is a
// JSON string on one line, with < and > escaped: so it holds no line break to
// forge a label with, and no tag to close the fence with.
const (
	fenceOpen  = "<yiku-memory>"
	fenceClose = "</yiku-memory>"
	labelMark  = "## "
	lineMark   = "- "
)

// Line is one recalled text as it stands behind the fence.
type Line struct {
	Date string // YYYY-MM-DD, or empty
	Who  string // an origin or a role: one lower-case word
	Name string // the speaker's name, or empty
	Text string
}

// Section is a label with what stands below it: lines, or one JSON value.
type Section struct {
	Label string
	Lines []Line
	JSON  json.RawMessage // a value on one line, as quote writes it; nil: none
}

// Document is everything behind the fence.
type Document struct {
	Preamble string // one line of ours
	Sections []Section
}

// Render writes a document. Texts are written without their invisible
// characters (see Visible); nothing else of them is lost: Parse gives them back.
func Render(d Document) string {
	var b strings.Builder
	b.WriteString(fenceOpen + "\n" + d.Preamble + "\n")
	for _, s := range d.Sections {
		b.WriteString(labelMark + s.Label + "\n")
		for _, l := range s.Lines {
			b.WriteString(renderLine(l) + "\n")
		}
		if s.JSON != nil {
			b.WriteString(string(s.JSON) + "\n")
		}
	}
	b.WriteString(fenceClose)
	return b.String()
}

func renderLine(l Line) string {
	var head []string
	if l.Date != "" {
		head = append(head, l.Date)
	}
	if l.Who != "" {
		head = append(head, l.Who)
	}
	if l.Name != "" {
		head = append(head, quote(l.Name))
	}
	return lineMark + strings.Join(head, " ") + ": " + quote(l.Text)
}

// quote writes recalled text as a JSON string that holds no line break and no
// angle bracket.
func quote(text string) string { return string(encode(Visible(text))) }

// encode writes a JSON value on one line without angle brackets and invisible
// characters.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null") // only values that JSON itself has come here
	}
	out := noBrackets.Replace(strings.TrimSuffix(b.String(), "\n"))
	return json.RawMessage(Visible(out))
}

var noBrackets = strings.NewReplacer("<", `\u003c`, ">", `\u003e`)

// Parse reads what Render wrote.
func Parse(text string) (Document, error) {
	var d Document
	lines := strings.Split(text, "\n")
	if len(lines) < 3 || lines[0] != fenceOpen || lines[len(lines)-1] != fenceClose {
		return d, fmt.Errorf("parse memory: no fence")
	}
	d.Preamble = lines[1]
	for _, line := range lines[2 : len(lines)-1] {
		if label, ok := strings.CutPrefix(line, labelMark); ok {
			d.Sections = append(d.Sections, Section{Label: label})
			continue
		}
		if len(d.Sections) == 0 {
			return d, fmt.Errorf("parse memory: a line before the first label")
		}
		s := &d.Sections[len(d.Sections)-1]
		if rest, ok := strings.CutPrefix(line, lineMark); ok {
			l, err := parseLine(rest)
			if err != nil {
				return d, err
			}
			s.Lines = append(s.Lines, l)
			continue
		}
		if !json.Valid([]byte(line)) {
			return d, fmt.Errorf("parse memory: neither a label, a line nor JSON")
		}
		s.JSON = json.RawMessage(line)
	}
	return d, nil
}

// parseLine reads [date] [word] ["name"]: "text".
func parseLine(s string) (Line, error) {
	var l Line
	for s != "" && s[0] != ':' {
		if s[0] == '"' {
			rest, err := unquote(s, &l.Name)
			if err != nil {
				return l, err
			}
			s = strings.TrimPrefix(rest, " ")
			continue
		}
		end := strings.IndexAny(s, " :")
		if end <= 0 {
			return l, fmt.Errorf("parse memory: a line without text")
		}
		if word := s[:end]; word[0] >= '0' && word[0] <= '9' {
			l.Date = word
		} else {
			l.Who = word
		}
		s = strings.TrimPrefix(s[end:], " ")
	}
	rest, ok := strings.CutPrefix(s, ": ")
	if !ok {
		return l, fmt.Errorf("parse memory: a line without text")
	}
	rest, err := unquote(rest, &l.Text)
	if err == nil && rest != "" {
		err = fmt.Errorf("parse memory: something after the text")
	}
	return l, err
}

func unquote(s string, to *string) (rest string, err error) {
	d := json.NewDecoder(strings.NewReader(s))
	if err := d.Decode(to); err != nil {
		return "", fmt.Errorf("parse memory: not a string")
	}
	return s[d.InputOffset():], nil
}

// Visible returns text without the characters that a reader cannot see and a
// model can: bidirectional controls, tags, zero-width blanks, soft hyphens and
// the like. Joiners and variation selectors, which emoji and some scripts need,
// stay where they stand after a visible character.
func Visible(text string) string {
	clean := true
	for _, r := range text {
		if hidden(r) || joins(r) {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var b strings.Builder
	afterVisible := false
	for _, r := range text {
		switch {
		case hidden(r):
			continue
		case joins(r):
			if afterVisible {
				b.WriteRune(r)
			}
			afterVisible = false
			continue
		}
		b.WriteRune(r)
		afterVisible = !unicode.IsSpace(r)
	}
	return b.String()
}

// joins reports characters that shape their neighbours: the zero-width joiner
// and non-joiner, and the two variation selectors in use.
func joins(r rune) bool { return r == 0x200c || r == 0x200d || r == 0xfe0e || r == 0xfe0f }

func hidden(r rune) bool {
	switch {
	case joins(r):
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0x2028, r == 0x2029:
		return true
	case r >= 0xfe00 && r <= 0xfe0d, r >= 0x180b && r <= 0x180f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r) || r >= 0x7f && r < 0xa0
}
