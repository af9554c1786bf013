// Package sample is a conversation of a few days, written for this project: one
// bilingual user, preferences that change, a correction, a prohibition, a
// project with its parameters, something to be forgotten, and small talk. What is
// worth keeping is for the extraction to find; of an agent's own work it comes
// with the save_memory call, and with questions that show what memory is good for. It is plain data; whoever plays it in gives the time.
package sample

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/yiku-ai/yiku"
)

//go:embed conversation.json
var document []byte

// Conversation is the whole sample.
type Conversation struct {
	UserID    string     `json:"user_id"`
	AgentID   string     `json:"agent_id"`
	Sessions  []Session  `json:"sessions"`
	Questions []Question `json:"questions"`
}

// Session is one conversation of a day.
type Session struct {
	ID       string `json:"session_id"`
	Project  string `json:"project_id"`
	HoursAgo int    `json:"hours_ago"`
	Steps    []Step `json:"steps"`
}

// Step is a message, or a memory that the agent saves after the messages
// before it. LeftOut says why nothing of a user's message was kept.
type Step struct {
	Role       yiku.Role               `json:"role"`
	Text       string                  `json:"text"`
	ToolCalls  []yiku.ToolCall         `json:"tool_calls"`
	ToolCallID string                  `json:"tool_call_id"`
	LeftOut    Reason                  `json:"left_out"`
	Save       *yiku.SaveMemoryRequest `json:"save"`
}

// Reason says why nothing of a message was kept.
type Reason string

// The reasons.
const (
	SmallTalk Reason = "small_talk"
	JustOnce  Reason = "just_once"
	Guess     Reason = "guess"
	Mood      Reason = "mood"
	Forgotten Reason = "forgotten" // it was kept, until the user asked to forget it
)

// Question is asked in a new session, when all conversations are over.
type Question struct {
	Query   string `json:"query"`
	Project string `json:"project_id"`
	Unknown bool   `json:"unknown"` // nobody ever said it: nothing may be recalled
}

// Load reads the sample.
func Load() (Conversation, error) {
	var c Conversation
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Conversation{}, fmt.Errorf("read sample: %w", err)
	}
	return c, nil
}

// Request is one call that plays a part of the sample in. Exactly one is set.
type Request struct {
	Create *yiku.CreateSessionRequest
	Append *yiku.AppendMessagesRequest
	Save   *yiku.SaveMemoryRequest
	End    *yiku.EndSessionRequest
}

// AnchorKey is the metadata key under which the first session keeps the
// anchor, so that playing in again makes the same requests.
const AnchorKey = "sample_anchor"

// pace is the time between two messages.
const pace = 40 * time.Second

// Requests returns the calls that play the sample in, in order. Times lie the
// given hours before the anchor. Ids and idempotency keys are fixed, and the
// anchor stands in the sessions' metadata: the same anchor gives the same requests.
func (c Conversation) Requests(anchor time.Time) []Request {
	anchor = anchor.UTC().Truncate(time.Second)
	var all []Request
	for _, s := range c.Sessions {
		all = append(all, Request{Create: &yiku.CreateSessionRequest{
			UserID: c.UserID, SessionID: s.ID, ProjectID: s.Project, AgentID: c.AgentID,
			Metadata: yiku.Metadata{AnchorKey: anchor.Format(time.RFC3339)},
		}})
		all = append(all, c.steps(s, anchor.Add(-time.Duration(s.HoursAgo)*time.Hour))...)
		all = append(all, Request{End: &yiku.EndSessionRequest{
			Idempotent: key(s.ID, "end", 0), SessionID: s.ID, UserID: c.UserID, Reason: yiku.EndUserLeft, Wait: true,
		}})
	}
	return all
}

func key(session, what string, n int) yiku.Idempotent {
	return yiku.Idempotent{IdempotencyKey: fmt.Sprintf("%s-%s-%d", session, what, n)}
}

// steps groups messages up to the next save into one append.
func (c Conversation) steps(s Session, at time.Time) []Request {
	var all []Request
	var open *yiku.AppendMessagesRequest
	for n, step := range s.Steps {
		if step.Save != nil {
			open = nil
			save := *step.Save
			save.Idempotent = key(s.ID, "save", n)
			save.UserID, save.SessionID, save.AgentID, save.ValidFrom = c.UserID, s.ID, c.AgentID, at
			all = append(all, Request{Save: &save})
			continue
		}
		at = at.Add(pace)
		if open == nil {
			open = &yiku.AppendMessagesRequest{
				Idempotent: key(s.ID, "append", n), SessionID: s.ID, UserID: c.UserID, ProjectID: s.Project, AgentID: c.AgentID,
			}
			all = append(all, Request{Append: open})
		}
		open.Messages = append(open.Messages, yiku.Message{
			ID: fmt.Sprintf("%s-%d", s.ID, n), Role: step.Role, Content: yiku.Text(step.Text),
			ToolCalls: step.ToolCalls, ToolCallID: step.ToolCallID, CreatedAt: at,
		})
	}
	return all
}
