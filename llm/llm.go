// Package llm is the contract of language models: a prompt and a schema go in,
// an answer comes out. What the answer says is the caller's to judge: a schema
// is a wish that many endpoints do not keep.
//
// Drivers do one exchange each and are thin; waiting, trying again and opening
// the breaker are [Steady]'s, for all of them alike.
package llm

import (
	"context"
	"encoding/json"
	"errors"
)

// Model answers prompts. All methods may be called at once.
//
// # Errors
//
// yiku.ErrLimited where the endpoint asks to come later (with RetryAfter where
// it says when) or its account has no balance; yiku.ErrUnavailable where it
// could not be reached, broke off or failed; yiku.ErrUnauthorized where it
// refuses the key; yiku.ErrInvalid where it refuses the request or withholds
// its answer, which will not get better by trying again, with ErrTooLong where
// the prompt does not fit. A cancelled context gives its error, wrapped. No
// error holds a prompt, an answer or a key.
type Model interface {
	// Complete runs one exchange. An answer that was cut at MaxTokens is no
	// error: Response.Truncated says so. What the model thought before it
	// answered is not part of the answer.
	Complete(ctx context.Context, req Request) (Response, error)

	// Name tells which model this is, for records: driver and model.
	Name() string
}

// ErrBudget says that a budget of the caller's own kept a call back: nobody
// was asked. It comes with yiku.ErrLimited, is not tried again, and is no
// failure of the model.
var ErrBudget = errors.New("the budget of model calls is spent")

// ErrTooLong says that a prompt is longer than the model's window. It comes
// with yiku.ErrInvalid; a shorter prompt may be answered.
var ErrTooLong = errors.New("the prompt does not fit into the model's window")

// Request is one exchange.
type Request struct {
	System    string
	Messages  []Message // at least one; the last is the user's
	Schema    *Schema   // the form that the answer is to have; nil: free text
	MaxTokens int       // of the answer; 0: the endpoint's own limit
}

// Message is one turn of the prompt.
type Message struct {
	Role    Role
	Content string
}

// Role says whose turn a message is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Schema is a JSON schema with its name (letters, digits and _).
type Schema struct {
	Name string
	JSON json.RawMessage
}

// Response is what came back.
type Response struct {
	Text      string
	Model     string // as the endpoint names it
	Truncated bool   // it stopped at a limit of length
	Usage     Usage
}

// Usage counts tokens, as the endpoint does; zero where it does not.
type Usage struct {
	In  int // of the prompt, those too that the endpoint had kept from before
	Out int // of the answer, and of what was thought before it
}

// Total is all tokens.
func (u Usage) Total() int { return u.In + u.Out }
