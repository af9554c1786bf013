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
