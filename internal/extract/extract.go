package extract

import (
	"context"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
)

// Extractor reads one window of a conversation. Its methods may be called at once.
type Extractor interface {
	// Extract returns the candidates of a window. An error says that nothing
	// was read and the window is to be tried again: the model was out of reach
	// or its budget is spent. An answer that nobody can read is no error but
	// parked.
	Extract(ctx context.Context, window Window) (Result, error)
}

// Window is a piece of a conversation with what is known of its matter.
type Window struct {
	Messages   []Message   // numbered from 1 in this order
	Neighbours []Neighbour // the nearest memories, numbered from 1 in this order
	Zone       *time.Location
	Project    string // the project that the session belongs to; "" none
}

// Message is one message of a window.
type Message struct {
	Role    yiku.Role
	Name    string
	Content string
	At      time.Time
	Origin  yiku.Origin
	Context bool // was read before: it helps to understand and yields nothing
}

// Neighbour is a memory that exists. Models see it under its number, never
// under its id.
type Neighbour struct {
	Content, Subject, Attribute, Value string
	Type                               yiku.Type
}

// Path says which way a result was found.
type Path string

// The paths.
const (
	PathModel Path = "llm"
	PathRules Path = "rules"
)

// Result is what a window held.
type Result struct {
	Candidates []Candidate
	Parked     []Parked
	Path       Path
	Model      string // and version of the prompt, for PathModel
	TokensIn   int
	TokensOut  int
	Degraded   []string // llm: rules stood in for a model
}

// Add adds what a further window held.
func (r *Result) Add(o Result) {
	r.Candidates, r.Parked = append(r.Candidates, o.Candidates...), append(r.Parked, o.Parked...)
	r.TokensIn, r.TokensOut = r.TokensIn+o.TokensIn, r.TokensOut+o.TokensOut
	for _, d := range o.Degraded {
		if !slices.Contains(r.Degraded, d) {
			r.Degraded, r.Path = append(r.Degraded, d), o.Path
		}
	}
}

// Unusable reports that a model's answer held nothing that could be read.
func (r *Result) Unusable() bool {
	return r.Path == PathModel && len(r.Candidates) == 0 && slices.ContainsFunc(r.Parked, func(p Parked) bool { return p.Reason == NoJSON })
}

// Op is what a candidate asks for.
type Op string

// The operations.
const (
	OpCreate Op = "create"
	OpUpdate Op = "update" // Target says it, otherwise
	OpDelete Op = "delete" // Target is no longer wanted
	OpNone   Op = "none"
)

// Candidate is one thing that may be worth keeping, or is to go.
type Candidate struct {
	Op         Op
	Target     int // number of a neighbour; 0 none
	Content    string
	Type       yiku.Type
	Subject    string
	Attribute  string
	Value      string
	Single     *bool
	Importance float64 // 0–1
	Confidence float64 // 0–1; below one half it is hedged
	Level      yiku.Level
	Topics     []string
	ValidFrom  time.Time
	ValidTo    time.Time
	Messages   []int         // numbers of the messages that it came from
	From       []int         // numbers of the neighbours that it rests on (C9)
	Skill      *yiku.Skill   // of type skill: its name, situation and steps
	Episode    *yiku.Episode // of what happened: when, with whom, with which outcome
	Relations  []Relation
	Reason     string
	Urgent     bool // cannot wait: asked for, a correction, a prohibition, or to be forgotten (C3)
}

// Parked is a piece of an answer that could not be applied. Raw is the piece
// as it came, cut to maxRaw bytes.
type Parked struct {
	Reason Reason
	Raw    string
}

// Reason says why a piece was parked.
type Reason string

// The reasons.
const (
	NoJSON        Reason = "no_json"        // nothing in the answer is a list of operations
	Truncated     Reason = "truncated"      // the answer broke off within this operation
	Unreadable    Reason = "unreadable"     // an operation that is no object, or cannot be read as one
	UnknownOp     Reason = "unknown_op"     // neither create, update, delete nor none
	NoContent     Reason = "no_content"     // a create or update that says nothing
	UnknownTarget Reason = "unknown_target" // a delete of what was not shown
	TooLong       Reason = "too_long"       // a content above the limit of a memory
	TooMany       Reason = "too_many"       // beyond the limit of one answer
	Replaced      Reason = "replaced"       // another list of the same answer stands in its place
	BadRelation   Reason = "bad_relation"   // a relation without both ends or a type, or an entity without a name; the fact is kept
	Rejected      Reason = "rejected"       // the store refused it
	Quota         Reason = "quota"          // the owner has as many memories as may be
)

// maxRaw is how much of a parked piece is kept, in bytes.
const maxRaw = 16 << 10
