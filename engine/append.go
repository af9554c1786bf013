package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/store"
)

// appendMessages takes messages in (A1): they are durable when it returns.
func (c *call) appendMessages(ctx context.Context, req yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.AppendMessagesResponse{}, err
	}
	c.event.Session = req.SessionID
	c.count("messages", len(req.Messages))
	commands := c.takeCommands(req.Messages)
	ref, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (appendRef, []store.Item, error) {
		session, err := c.openSession(tx, owner, req)
		if err != nil {
			return appendRef{}, nil, err
		}
		if err := c.touchTask(tx, owner, session, req.TaskID); err != nil {
			return appendRef{}, nil, err
		}
		refs, added, err := c.addMessages(tx, owner, &session, req.TaskID, req.Messages)
		if err != nil {
			return appendRef{}, nil, err
		}
		makes := make([]store.Item, len(added))
		for i, m := range added {
			makes[i] = store.Item{Kind: store.ItemMessage, Key: m.Key}
		}
		out := appendRef{Messages: refs}
		if out.Applied, err = c.applyUrgent(tx, owner, session, added); err != nil {
			return appendRef{}, nil, err
		}
		out.Commands, err = c.applyCommands(tx, owner, session, rowsByID(refs, added, commands))
		return out, makes, err
	})
	if err != nil {
		return yiku.AppendMessagesResponse{}, err
	}
	return c.appended(ctx, owner, ref)
}

// openSession returns the session to append to; it makes it where it is new.
func (c *call) openSession(tx store.Tx, owner yiku.Owner, req yiku.AppendMessagesRequest) (store.Session, error) {
	session, err := tx.Session(owner, req.SessionID)
	if errors.Is(err, yiku.ErrNotFound) {
		session = store.Session{Session: yiku.Session{ID: req.SessionID, ProjectID: req.ProjectID, AgentID: req.AgentID, CreatedAt: c.now}}
		return session, tx.PutSession(&session)
	}
	if err != nil {
		return session, err
	}
	if req.ProjectID != "" && req.ProjectID != session.ProjectID {
		return session, conflictOn("project_id", "the session belongs to another project")
	}
	if req.AgentID != "" && req.AgentID != session.AgentID {
		return session, conflictOn("agent_id", "the session belongs to another agent")
	}
	return session, nil
}

// addMessages writes those messages that the session does not have yet, and
// moves the session's state with them. It returns a reference for each message
// given and the rows that were added.
func (c *call) addMessages(tx store.Tx, owner yiku.Owner, session *store.Session, task string, given []yiku.Message) ([]yiku.MessageRef, []*store.Message, error) {
	refs := make([]yiku.MessageRef, len(given))
	rows := make([]*store.Message, 0, len(given))
	at := make([]int, 0, len(given)) // rows[i] is given[at[i]]
	forgotten, err := c.suppressed(tx, owner, session.ID, given)
	if err != nil {
		return nil, nil, err
	}
	inBatch := map[string]int{}
	for i := range given {
		refs[i].ID = given[i].ID
		if given[i].ID != "" && forgotten[i] {
			refs[i].Forgotten = true
			continue
		}
		if _, offset := given[i].CreatedAt.Zone(); offset != 0 {
			session.Offset = offset
		}
		m := c.completed(given[i], session.ID, task)
		if given[i].ID != "" {
			if first, ok := inBatch[m.ID]; ok {
				if !sameMessage(given[first], given[i]) {
					return nil, nil, conflictOn(fmt.Sprintf("messages[%d].id", i), "stands twice in the request, with other content")
				}
				continue
			}
			inBatch[m.ID] = i
			known, err := tx.MessageByID(owner, session.Key, m.ID)
			if err == nil {
				if !sameMessage(known.Message, given[i]) {
					return nil, nil, conflictOn(fmt.Sprintf("messages[%d].id", i), "the session has a message with this id and other content")
				}
				refs[i].Seq = known.Seq
				continue
			}
			if !errors.Is(err, yiku.ErrNotFound) {
				return nil, nil, err
			}
		}
		rows, at = append(rows, &store.Message{Message: m, SessionKey: session.Key, RecordedAt: c.now}), append(at, i)
	}
	if len(rows) > 0 {
		if err := c.extend(tx, owner, session, rows); err != nil {
			return nil, nil, err
		}
	}
	for i, row := range rows {
		refs[at[i]] = yiku.MessageRef{ID: row.ID, Seq: row.Seq}
	}
	for i := range given { // a message that stood twice has its first place's number
		if first, ok := inBatch[given[i].ID]; ok && first != i {
			refs[i] = refs[first]
		}
	}
	return refs, rows, nil
}

// extend writes new rows and moves the session: its last activity, and the
// start of its recent list after a long silence (A5). An ended session goes on.
func (c *call) extend(tx store.Tx, owner yiku.Owner, session *store.Session, rows []*store.Message) error {
	if err := tx.AddMessages(session.Key, rows); err != nil {
		return err
	}
	anew := false
	asked := slices.ContainsFunc(rows, func(m *store.Message) bool { return m.Role == yiku.RoleUser })
	if asked && !session.LastMessageAt.IsZero() && c.now.Sub(session.LastMessageAt) > c.settings.RecentIdle {
		session.RecentFrom, anew = rows[0].Key, true // a late answer to an old question goes on with the old list
	}
	session.LastMessageAt = c.now
	session.EndedAt, session.EndReason = time.Time{}, ""
	before := session.Unread
	for _, m := range rows {
		tokens := 1 + extract.Estimate(m.Content.PlainText())
		session.Unread += tokens
		countRaw(session, m.Message, tokens)
	}
	if err := tx.PutSession(session); err != nil {
		return err
	}
	if err := c.promiseSummary(tx, owner, *session, anew); err != nil {
		return err
	}
	return c.promiseReading(tx, owner, *session, before)
}

// completed fills in what the caller left out.
func (c *call) completed(m yiku.Message, session, task string) yiku.Message {
	m.SessionID, m.TaskID, m.Seq = session, task, 0
	if m.ID == "" {
		m.ID = c.newID()
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = c.now
	}
	m.CreatedAt = m.CreatedAt.UTC().Truncate(time.Microsecond)
	if m.Origin == "" {
		m.Origin = originOf(m.Role)
	}
	return m
}

func originOf(role yiku.Role) yiku.Origin {
	switch role {
	case yiku.RoleAssistant:
		return yiku.OriginAgent
	case yiku.RoleTool:
		return yiku.OriginTool
	default:
		return yiku.OriginUser
	}
}

// sameMessage reports whether a message sent again says what is stored. What
// the caller leaves out does not differ.
func sameMessage(stored, sent yiku.Message) bool {
	if sent.Origin == "" {
		sent.Origin = originOf(sent.Role)
	}
	if stored.Origin == "" {
		stored.Origin = originOf(stored.Role)
	}
	if !sent.CreatedAt.IsZero() && !stored.CreatedAt.IsZero() &&
		!sent.CreatedAt.UTC().Truncate(time.Microsecond).Equal(stored.CreatedAt.UTC().Truncate(time.Microsecond)) {
		return false
	}
	if stored.Content.Text != sent.Content.Text {
		return false
	}
	sent.Content.Text, stored.Content.Text = "", "" // a megabyte need not be written as JSON twice
	sent.CreatedAt, stored.CreatedAt = time.Time{}, time.Time{}
	for _, m := range []*yiku.Message{&sent, &stored} {
		m.SessionID, m.TaskID, m.Seq = "", "", 0
	}
	a, errA := json.Marshal(stored)
	b, errB := json.Marshal(sent)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// conflictOn is an ErrConflict that names the field.
func conflictOn(field, message string) error {
	return &yiku.Error{Sentinel: yiku.ErrConflict, Fields: []yiku.FieldError{{Field: field, Message: message}}}
}
