package cli

import "fmt"

// phrase is a text in both languages. Where the order of the arguments differs
// the Chinese one numbers them (%[2]s).
type phrase struct{ en, zh string }

// say gives a phrase in the tool's language.
func (t *tool) say(p phrase, args ...any) string {
	text := p.en
	if t.lang == "zh" {
		text = p.zh
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// noun is what can be counted: in English one and many, in Chinese with its
// measure word.
type noun struct{ one, many, zh string }

// The nouns that more than one command counts.
func memories() noun { return noun{"memory", "memories", "条记忆"} }
func messages() noun { return noun{"message", "messages", "条消息"} }
func entries() noun  { return noun{"entry", "entries", "条"} }

// count says how many there are of something.
func (t *tool) count(n int, of noun) string {
	switch {
	case t.lang == "zh":
		return thousands(n) + " " + of.zh
	case n == 1:
		return "1 " + of.one
	}
	return thousands(n) + " " + of.many
}
