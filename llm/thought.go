package llm

import "strings"

// unthought is an answer without what a model thought before it: some servers
// leave thoughts in the text, between marks, and some prompts of models hold the
// opening mark themselves, so that only the closing one comes. An answer that
// is JSON may speak of the marks.
func unthought(text string) string {
	rest := strings.TrimSpace(text)
	for _, mark := range []string{"think", "thinking"} {
		begin, end := "<"+mark+">", "</"+mark+">"
		_, after, closed := strings.Cut(rest, end)
		switch {
		case strings.HasPrefix(rest, begin) && !closed:
			return "" // it was cut while it thought
		case closed && (strings.HasPrefix(rest, begin) || !strings.Contains(rest[:len(rest)-len(after)], begin) && !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "[") && !strings.HasPrefix(rest, "```")):
			return strings.TrimSpace(after)
		}
	}
	return text
}
