package summary

import (
	"context"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Line is one sentence of a summary.
type Line struct {
	Text  string
	Role  yiku.Role // who said it; "" where a model wrote it
	Name  string
	At    time.Time // when it was said; of a model's, when the newest of its sources was
	From  int64     // the key of the message that says it; 0 where a model wrote it
	Score float64   // how much it is worth against others, as Extract counts
}

// Message is one message that is to be summarised.
type Message struct {
	Key     int64
	Role    yiku.Role
	Name    string
	Content string
	At      time.Time
}

// Batch is what a summary is made from: the summary that there is, and the
// messages that are to be covered next. Never more than that (B1).
type Batch struct {
	Present  []Line
	Messages []Message
	Zone     *time.Location // of the speakers
	Tokens   int            // the most that the summary may have, as extract.Estimate counts
}

// The ways of making a summary.
const (
	PathModel      = "llm"
	PathExtractive = "extractive"
)

// Result is a new summary of all that a batch holds.
type Result struct {
	Lines     []Line
	Path      string
	Model     string // and version of the prompt, for PathModel
	TokensIn  int
	TokensOut int
	Dropped   int  // sentences of the model that held exact data which the sources do not
	Degraded  bool // a model was asked and what it said could not be used
}

// Summarizer makes summaries. Its methods may be called at once.
type Summarizer interface {
	// Summarize returns the new summary. An error says that nothing was made
	// and the batch is to be tried again.
	Summarize(ctx context.Context, batch Batch) (Result, error)
}

// Extractive makes summaries without a model (B3).
type Extractive struct{}

// Summarize chooses sentences; it cannot fail.
func (Extractive) Summarize(_ context.Context, b Batch) (Result, error) {
	return Result{Lines: Extract(b), Path: PathExtractive}, nil
}

// Text is a summary as one text.
func Text(lines []Line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	return strings.Join(texts, "\n")
}

// cost is what a line costs of Batch.Tokens.
func cost(l Line) int { return extract.Estimate(l.Text) + lineTokens }

// lineTokens is what stands around a line: its date and who said it.
const lineTokens = 8

func zoneOf(z *time.Location) *time.Location {
	if z == nil {
		return time.UTC
	}
	return z
}

// scriptOf is the language of what is summarised.
func scriptOf(b Batch) lang.Script {
	var text strings.Builder
	for _, m := range b.Messages {
		text.WriteString(extract.Own(m.Content) + "\n")
	}
	return lang.ScriptOf(text.String())
}
