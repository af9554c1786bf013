package store

import (
	"time"

	"github.com/yiku-ai/yiku"
)

// Summary is the rolling summary of one session: what it says of the messages
// up to one of them. It goes with any message that it covers.
type Summary struct {
	Key        int64 // set by the store; it stays as long as the session has a summary
	SessionKey int64
	From, To   int64 // keys of messages, both inclusive
	Messages   int   // how many it was made from
	Epoch      int64 // of the owner when its sources were read
	CreatedAt  time.Time
	Path       string // llm, or extractive
	Model      string // and version of the prompt; "" for none
	Dropped    int    // sentences of the model that were not taken
	Degraded   bool   // what the model said could not be used
	Lines      []SummaryLine
}

// SummaryLine is one sentence of a summary.
type SummaryLine struct {
	Text    string
	Role    yiku.Role // who said it; "" where a model wrote it
	Name    string
	At      time.Time
	Message int64 // the key of the message that says it; 0 where a model wrote it
	Score   float64
}

// SummaryReader is what a Reader adds for summaries.
type SummaryReader interface {
	// Summary returns the summary of a session.
	Summary(owner yiku.Owner, sessionKey int64) (Summary, error)
}

// SummaryWriter is what a Tx adds for it. Summaries are outside the sequence.
type SummaryWriter interface {
	// PutSummary adds the summary of a session or replaces it, and sets its
	// Key. A session that is not there is ErrNotFound. The messages of From
	// and To need not exist any more.
	PutSummary(s *Summary) error
}
