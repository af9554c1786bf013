package summary

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/llm"
)

//go:embed prompts/summarize.en.md
var promptEnglish string

//go:embed prompts/summarize.zh.md
var promptChinese string

//go:embed prompts/schema.json
var answerSchema []byte

// Model makes summaries with a language model. What it answers is checked; where
// nothing of it can be used, sentences are chosen instead.
type Model struct {
	model   llm.Model
	trusted bool
}

// NewModel returns the model path.
func NewModel(model llm.Model) *Model { return &Model{model: model} }

// Unguarded returns the model path without the guard of exact data. It is the
// control by which the guard is measured, and nothing else uses it.
func Unguarded(model llm.Model) *Model { return &Model{model: model, trusted: true} }

// Summarize asks the model. Its error is the model's; what does not fit into
// the model's window is summarised without it.
func (m *Model) Summarize(ctx context.Context, b Batch) (Result, error) {
	if len(b.Messages) == 0 { // nothing but small talk
		return Extractive{}.Summarize(ctx, b)
	}
	script := scriptOf(b)
	prompt, version := promptFor(script, b.Tokens)
	res, err := m.model.Complete(ctx, llm.Request{System: prompt, Messages: []llm.Message{{Role: llm.User, Content: describe(b)}},
		Schema: &llm.Schema{Name: "summary", JSON: answerSchema}, MaxTokens: 2*b.Tokens + 200})
	if errors.Is(err, llm.ErrTooLong) {
		return Result{Lines: Extract(b), Path: PathExtractive, Degraded: true}, nil
	}
	if err != nil {
		return Result{}, err
	}
	out := Result{Path: PathModel, Model: m.model.Name() + " " + version, TokensIn: res.Usage.In, TokensOut: res.Usage.Out}
	sentences := readAnswer(res.Text)
	if res.Truncated && len(sentences) > 0 { // the last one broke off
		sentences = sentences[:len(sentences)-1]
	}
	out.Lines, out.Dropped = m.lines(b, sentences)
	if len(out.Lines) == 0 || foreign(b, out.Lines) {
		out.Lines, out.Path, out.Degraded = Extract(b), PathExtractive, true
	}
	return out, nil
}

// lines makes lines of the sentences that hold no exact datum but of their
// sources, as many as there is room for; the others are dropped whole (B2).
func (m *Model) lines(b Batch, sentences []string) (lines []Line, dropped int) {
	known, last := sourcesOf(b)
	left := b.Tokens
	for _, s := range sentences {
		l := Line{Text: s, At: last, Score: modelScore}
		switch {
		case !m.trusted && !known.Holds(s, last):
			dropped++
		case cost(l) <= left:
			left -= cost(l)
			lines = append(lines, l)
		}
	}
	return lines, dropped
}

// modelScore is what a model's sentence is worth where sentences are chosen
// next time.
const modelScore = 2

// sourcesOf is the exact data of a batch, and the time of its newest message.
func sourcesOf(b Batch) (Known, time.Time) {
	known, last := Known{}, time.Time{}
	zone := zoneOf(b.Zone)
	for _, l := range b.Present {
		known.Add(l.Text, l.At.In(zone))
		last = later(last, l.At)
	}
	for _, m := range b.Messages {
		known.Add(m.Content, m.At.In(zone))
		known.Add(m.Name, m.At.In(zone))
		last = later(last, m.At)
	}
	return known, last.In(zone)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// foreign reports whether lines are in a language in which nobody spoke (C13).
func foreign(b Batch, lines []Line) bool {
	got := lang.ScriptOf(Text(lines))
	if got == lang.Other {
		return false
	}
	return !slices.ContainsFunc(b.Messages, func(m Message) bool { return lang.ScriptOf(extract.Own(m.Content)) == got })
}

// promptFor returns the prompt of a language, without its version.
func promptFor(script lang.Script, tokens int) (prompt, version string) {
	text, words := promptEnglish, float64(tokens)*0.7
	if script == lang.Chinese {
		text, words = promptChinese, float64(tokens)
	}
	head, body, _ := strings.Cut(text, "\n")
	limit := strconv.Itoa(int(math.Max(math.Round(words/10)*10, 10)))
	return strings.ReplaceAll(strings.TrimSpace(body), "{limit}", limit), strings.TrimPrefix(head, "version: ")
}

// maxShown is how much of one message a model is shown, in bytes: its two ends.
const maxShown = 8 << 10

// describe writes a batch for a model: every piece of foreign text is one JSON
// string on one line, so that none can pass for a mark or another message.
func describe(b Batch) string {
	var w strings.Builder
	zone := zoneOf(b.Zone)
	w.WriteString("<summary>\n")
	for _, l := range b.Present {
		w.WriteString(quote(l.Text) + "\n")
	}
	w.WriteString("</summary>\n<messages>\n")
	for i, m := range b.Messages {
		fmt.Fprintf(&w, "%d. %s %s", i+1, m.At.In(zone).Format("2006-01-02 Mon 15:04 -0700"), m.Role)
		if m.Name != "" {
			w.WriteString(" " + quote(m.Name))
		}
		w.WriteString(": " + quote(ends(extract.Unfenced(m.Content))) + "\n")
	}
	w.WriteString("</messages>")
	return w.String()
}

// ends are both ends of a text that is too long to be shown whole.
func ends(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown/2], "") + " … " + strings.ToValidUTF8(text[len(text)-maxShown/2:], "")
}

// quote writes text as a JSON string on one line without angle brackets.
func quote(text string) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(text); err != nil { // escapes <, > and &
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// listMark matches what models put before the items of a list.
var listMark = regexp.MustCompile(`^(?:[-*•]|\d{1,2}[.)、])\s*`)

// maxTries is at how many places of an answer JSON is looked for.
const maxTries = 32

// readAnswer reads the sentences of an answer: of the JSON that was asked for,
// wherever it stands in the text, or of the text itself where there is none.
func readAnswer(text string) []string {
	text = strings.ToValidUTF8(text, "")
	var answer struct {
		Sentences []string `json:"sentences"`
	}
	var list []string
	tries := maxTries
	for at := 0; at < len(text) && tries > 0; at++ {
		if text[at] != '{' && text[at] != '[' {
			continue
		}
		tries--
		d := json.NewDecoder(strings.NewReader(text[at:]))
		if text[at] == '{' && d.Decode(&answer) == nil && answer.Sentences != nil {
			return split(answer.Sentences)
		}
		if text[at] == '[' && d.Decode(&list) == nil && len(list) > 0 {
			return split(list)
		}
	}
	if strings.ContainsAny(text, "{}") { // JSON that cannot be read is no text
		return nil
	}
	return split(strings.Split(text, "\n"))
}

// split makes single sentences: a guard that drops one must not drop others with it.
func split(texts []string) []string {
	var out []string
	for _, t := range texts {
		t = listMark.ReplaceAllString(strings.TrimSpace(t), "")
		if strings.HasPrefix(t, "```") {
			continue
		}
		out = append(out, extract.Sentences(t)...)
	}
	return out
}
