package recall

import (
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// MessageText returns what a message is found by: its speaker's name, its
// text, and the words of its date.
func MessageText(m yiku.Message) string {
	var b strings.Builder
	add(&b, m.Name)
	add(&b, m.Content.PlainText())
	for _, call := range m.ToolCalls {
		add(&b, call.Function.Name)
		add(&b, call.Function.Arguments)
	}
	add(&b, lang.DateWords(m.CreatedAt))
	return visible(b.String())
}

// MemoryText returns what a memory is found by: its content, what it says of
// whom, its topics, and, for what happened at some time, the words of that
// date.
func MemoryText(m yiku.Memory) string {
	var b strings.Builder
	add(&b, m.Content)
	for _, s := range []string{m.Subject, m.Attribute, m.Value} {
		if s != "" && !strings.Contains(m.Content, s) {
			add(&b, s)
		}
	}
	for _, topic := range m.Topics {
		add(&b, topic)
	}
	if m.Type.Kind() == yiku.KindEpisodic {
		add(&b, lang.DateWords(m.ValidFrom))
	}
	return visible(b.String())
}

func add(b *strings.Builder, s string) {
	if s == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(s)
}

// visible takes the invisible characters out (I3): they could hide a word
// from search or split it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if lang.Invisible(r) {
			return -1
		}
		return r
	}, s)
}
