// Package rewrite makes a query clear before it is searched for (D11): a
// language model says what "the cheaper one" and "那个" stand for in the running
// conversation. What it answers is checked, and whatever is wrong with it is an
// error, for which the caller has the query as it was.
package rewrite

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/internal/summary"
	"github.com/yiku-ai/yiku/llm"
)

//go:embed prompts/rewrite.en.md
var promptEnglish string

//go:embed prompts/rewrite.zh.md
var promptChinese string

const schema = `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`

const (
	// Messages are the most messages of the conversation that the model is shown.
	Messages = 6

	maxMessage = 600 // characters of each
	maxQuery   = 500 // characters of the query, before and after
	maxTokens  = 300 // of the answer
)

// Query asks the model for a clearer query, given what was said before, oldest
// first. A query that is long says what it means and comes back as it is. An
// answer that cannot be used is yiku.ErrUnavailable.
func Query(ctx context.Context, model llm.Model, query string, said []yiku.Message, now time.Time) (string, error) {
	if utf8.RuneCountInString(query) > maxQuery {
		return query, nil
	}
	prompt := promptEnglish
	if lang.ScriptOf(query) == lang.Chinese {
		prompt = promptChinese
	}
	_, prompt, _ = strings.Cut(prompt, "\n\n")
	res, err := model.Complete(ctx, llm.Request{System: prompt, Messages: []llm.Message{{Role: llm.User, Content: describe(query, said)}},
		Schema: &llm.Schema{Name: "query", JSON: json.RawMessage(schema)}, MaxTokens: maxTokens})
	if err != nil {
		return "", err
	}
	return read(res.Text, query, said, now)
}

func describe(query string, said []yiku.Message) string {
	var b strings.Builder
	b.WriteString("<conversation>\n")
	for _, m := range said[max(0, len(said)-Messages):] {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, unfenced(shortened(m.Content.PlainText())))
	}
	fmt.Fprintf(&b, "</conversation>\n<question>%s</question>", unfenced(query))
	return b.String()
}

// unfenced is a text that cannot end what stands around it.
func unfenced(text string) string { return strings.ReplaceAll(text, "<", "‹") }

func shortened(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxMessage {
			return text[:i] + "…"
		}
	}
	return text
}

// read takes the query out of an answer that may have a fence or prose around
// it. It must keep every exact datum of the query before and bring none that
// nobody has named.
func read(text, query string, said []yiku.Message, now time.Time) (string, error) {
	var answer struct {
		Query string `json:"query"`
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from || json.Unmarshal([]byte(text[from:to+1]), &answer) != nil {
		return "", yiku.Errorf(yiku.ErrUnavailable, "the model's answer holds no query")
	}
	out := strings.TrimSpace(answer.Query)
	switch {
	case out == "" || !strings.ContainsFunc(out, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return "", yiku.Errorf(yiku.ErrUnavailable, "the model's query is empty")
	case utf8.RuneCountInString(out) > maxQuery || strings.ContainsFunc(out, unicode.IsControl):
		return "", yiku.Errorf(yiku.ErrUnavailable, "the model's query is no line of text")
	}
	before, after := summary.Known{}, summary.Known{}
	before.Add(query, now)
	for _, m := range said {
		before.Add(m.Content.PlainText(), now)
	}
	after.Add(out, now)
	if !before.Holds(out, now) || !after.Holds(query, now) {
		return "", yiku.Errorf(yiku.ErrUnavailable, "the model's query has other numbers or names of things than were asked about")
	}
	return out, nil
}
