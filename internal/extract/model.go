package extract

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/llm"
)

//go:embed prompts/extract.en.md
var promptEnglish string

//go:embed prompts/extract.zh.md
var promptChinese string

//go:embed prompts/schema.json
var answerSchema []byte

// maxAnswerTokens bounds a model's answer to one window.
const maxAnswerTokens = 4096

// Model extracts with a language model (C4). A window that does not fit into
// the model's, or whose answer was cut, is asked about in two halves, as long as
// it has two messages.
type Model struct {
	model llm.Model
}

// NewModel returns the model path.
func NewModel(model llm.Model) *Model { return &Model{model} }

// again asks for an answer that can be read, in place of one that could not.
const again = "That is not the JSON object that was asked for. Answer with that object alone. 请只输出要求的 JSON 对象，不要输出其他内容。"

// Extract asks the model about a window, and once more where nothing of the
// answer can be read. Its error is the model's.
func (m *Model) Extract(ctx context.Context, w Window) (Result, error) {
	prompt, version := promptFor(w)
	req := llm.Request{System: prompt, Messages: []llm.Message{{Role: llm.User, Content: describe(w)}},
		Schema: &llm.Schema{Name: "memory_operations", JSON: answerSchema}, MaxTokens: maxAnswerTokens}
	out := Result{Path: PathModel, Model: m.model.Name() + " " + version}
	truncated, text, err := m.ask(ctx, req, w, &out)
	if err == nil && out.Unusable() && !truncated {
		if text = strings.TrimSpace(clip(text)); text != "" { // endpoints refuse an empty turn
			req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Content: text})
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.User, Content: again})
		truncated, _, err = m.ask(ctx, req, w, &out)
	}
	tooLong := errors.Is(err, llm.ErrTooLong)
	if err != nil && !tooLong {
		return Result{}, err
	}
	if truncated || tooLong {
		if halves, ok := split(w); ok {
			return m.halves(ctx, w, halves, out)
		}
	}
	if err != nil {
		return Result{}, err
	}
	out.Candidates = settled(out.Candidates, w)
	return out, nil
}

// settled are the candidates of a window, each with where it came from, without echoes.
func settled(candidates []Candidate, w Window) []Candidate {
	for i := range candidates {
		ground(&candidates[i], w)
	}
	return slices.DeleteFunc(candidates, func(c Candidate) bool { return Echoes(c, w) })
}

// ask runs one exchange and reads the answer into out, in place of what was read before.
func (m *Model) ask(ctx context.Context, req llm.Request, w Window, out *Result) (truncated bool, text string, err error) {
	res, err := m.model.Complete(ctx, req)
	if err != nil {
		return false, "", err
	}
	out.TokensIn, out.TokensOut = out.TokensIn+res.Usage.In, out.TokensOut+res.Usage.Out
	out.Candidates, out.Parked = ParseAnswer(res.Text, len(w.Messages), len(w.Neighbours))
	return res.Truncated || slices.ContainsFunc(out.Parked, func(p Parked) bool { return p.Reason == Truncated }), res.Text, nil
}

// halves asks about both halves of a window whose answer did not fit. Where the
// halves leave something unread, what that answer held counts as well.
func (m *Model) halves(ctx context.Context, w Window, halves [2]Window, spent Result) (Result, error) {
	whole, unread := spent.Candidates, spent.Parked
	spent.Candidates, spent.Parked = nil, nil
	for i, half := range halves {
		res, err := m.Extract(ctx, half)
		if err != nil {
			return Result{}, err
		}
		for _, c := range res.Candidates {
			if i == 1 { // numbers of the second half's messages are those of the whole
				for k := range c.Messages {
					c.Messages[k] += len(halves[0].Messages)
				}
			}
			spent.Candidates = append(spent.Candidates, c)
		}
		spent.Parked = append(spent.Parked, res.Parked...)
		spent.TokensIn, spent.TokensOut = spent.TokensIn+res.TokensIn, spent.TokensOut+res.TokensOut
	}
	if len(spent.Parked) > 0 {
		spent.Parked = append(spent.Parked, unread...)
		for _, c := range settled(whole, w) {
			if !slices.ContainsFunc(spent.Candidates, func(had Candidate) bool { return had.Content == c.Content }) {
				spent.Candidates = append(spent.Candidates, c)
			}
		}
	}
	return spent, nil
}

// split cuts a window in the middle of its new messages.
func split(w Window) ([2]Window, bool) {
	first := slices.IndexFunc(w.Messages, func(m Message) bool { return !m.Context })
	if first < 0 || len(w.Messages)-first < 2 {
		return [2]Window{}, false
	}
	middle := first + (len(w.Messages)-first)/2
	a, b := w, w
	a.Messages, b.Messages = w.Messages[:middle], w.Messages[middle:]
	return [2]Window{a, b}, true
}

// ground completes a candidate from the messages that it came from: when it
// began to be true, and that it came from all new ones where it names none.
func ground(c *Candidate, w Window) {
	if len(c.Messages) == 0 {
		for i, m := range w.Messages {
			if !m.Context {
				c.Messages = append(c.Messages, i+1)
			}
		}
	}
	if c.ValidFrom.IsZero() && len(c.Messages) > 0 {
		c.ValidFrom = w.Messages[slices.Max(c.Messages)-1].At
	}
}

// promptFor returns the prompt in the language that the user speaks, without
// its version.
func promptFor(w Window) (prompt, version string) {
	var said strings.Builder
	for _, m := range w.Messages {
		if userSpeaks(m) {
			said.WriteString(Own(m.Content) + "\n")
		}
	}
	text := promptEnglish
	if lang.ScriptOf(said.String()) == lang.Chinese {
		text = promptChinese
	}
	head, body, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(body), strings.TrimPrefix(head, "version: ")
}

// describe writes a window for a model: every piece of foreign text is one JSON
// string on one line, so that none can pass for a mark or another message.
func describe(w Window) string {
	var b strings.Builder
	zone := w.Zone
	if zone == nil {
		zone = time.UTC
	}
	b.WriteString("<memories>\n")
	for i, n := range w.Neighbours {
		fmt.Fprintf(&b, "%d. %s\n", i+1, quote(n.Content))
	}
	b.WriteString("</memories>\n<messages>\n")
	for i, m := range w.Messages {
		fmt.Fprintf(&b, "%d. %s %s", i+1, m.At.In(zone).Format("2006-01-02 Mon 15:04 -0700"), m.Role)
		if m.Name != "" {
			b.WriteString(" " + quote(m.Name))
		}
		if m.Context {
			b.WriteString(" (read before)")
		}
		b.WriteString(": " + quote(Unfenced(m.Content)) + "\n")
	}
	b.WriteString("</messages>")
	if w.Project != "" {
		b.WriteString("\nproject: " + quote(w.Project))
	}
	return b.String()
}

// quote writes text as a JSON string on one line without angle brackets.
func quote(text string) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(text); err != nil { // escapes <, > and &
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Instruct returns the text for an agent's prompt by which it may give memory
// commands in its replies (C11): see [Commands].
func Instruct(language string) (string, error) {
	switch language {
	case "en":
		return instructEnglish, nil
	case "zh":
		return instructChinese, nil
	}
	return "", yiku.Invalid("lang", "must be zh or en")
}

//go:embed prompts/instruct.en.md
var instructEnglish string

//go:embed prompts/instruct.zh.md
var instructChinese string
