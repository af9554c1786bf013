package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
	"github.com/yiku-ai/yiku/store"
)

// sessionRef is what the record of a session's making keeps.
type sessionRef struct {
	ID string `json:"id"`
}

func (c *call) createSession(ctx context.Context, req yiku.CreateSessionRequest) (yiku.Session, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Session{}, err
	}
	ref, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (sessionRef, []store.Item, error) {
		id := req.SessionID
		if id == "" {
			id = c.newID()
		}
		known, err := tx.Session(owner, id)
		if err == nil {
			was := req
			if was.Metadata, err = c.remembered(tx, owner, req.Metadata, id); err != nil {
				return sessionRef{}, nil, err
			}
			if !sameSession(known.Session, req) && !sameSession(known.Session, was) {
				return sessionRef{}, nil, conflictOn("session_id", "the session exists with other fields")
			}
			return sessionRef{id}, []store.Item{{Kind: store.ItemSession, Key: known.Key}}, nil
		}
		if !errors.Is(err, yiku.ErrNotFound) {
			return sessionRef{}, nil, err
		}
		session := store.Session{Session: yiku.Session{ID: id, ProjectID: req.ProjectID, AgentID: req.AgentID, Metadata: req.Metadata, CreatedAt: c.now}}
		if err := tx.PutSession(&session); err != nil {
			return sessionRef{}, nil, err
		}
		return sessionRef{id}, []store.Item{{Kind: store.ItemSession, Key: session.Key}}, nil
	})
	if err != nil {
		return yiku.Session{}, err
	}
	return c.readSession(ctx, owner, ref.ID, req.IdempotencyKey != "")
}

func sameSession(have yiku.Session, req yiku.CreateSessionRequest) bool {
	a, errA := json.Marshal(have.Metadata)
	b, errB := json.Marshal(req.Metadata)
	return errA == nil && errB == nil && have.ProjectID == req.ProjectID && have.AgentID == req.AgentID &&
		(bytes.Equal(a, b) || len(have.Metadata)+len(req.Metadata) == 0)
}

// readSession reads a session with its tasks. After a replay a missing one was forgotten.
func (c *call) readSession(ctx context.Context, owner yiku.Owner, id string, replay bool) (yiku.Session, error) {
	var out yiku.Session
	err := c.store.View(ctx, func(r store.Reader) error {
		row, err := r.Session(owner, id)
		if err != nil {
			return err
		}
		out, err = c.withTasks(r, owner, row)
		return err
	})
	if replay {
		err = forgottenOn(err)
	}
	return out, err
}

func (c *call) withTasks(r store.Reader, owner yiku.Owner, row store.Session) (yiku.Session, error) {
	s := row.Session
	s.UserID = owner.User()
	tasks, err := r.SessionTasks(owner, row.Key)
	for _, t := range tasks {
		s.Tasks = append(s.Tasks, t.Task)
	}
	return s, err
}

func (c *call) getSession(ctx context.Context, req yiku.GetSessionRequest) (yiku.Session, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Session{}, err
	}
	c.event.Session = req.SessionID
	return c.readSession(ctx, owner, req.SessionID, false)
}

func (c *call) deleteSession(ctx context.Context, req yiku.DeleteSessionRequest) (yiku.Empty, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Empty{}, err
	}
	c.event.Session = req.SessionID
	return yiku.Empty{}, c.delete(ctx, owner, actionDeleteSession, func(tx store.Tx) (store.AuditEntry, error) {
		entry := store.AuditEntry{Ref: c.newID()} // session ids are words of the caller's
		session, err := tx.Session(owner, req.SessionID)
		if err == nil {
			err = ifMatch(req.IfMatch, session.ETag())
		}
		if err != nil {
			return entry, err
		}
		messages, err := tx.Messages(owner, store.MessageQuery{SessionKey: session.Key})
		if err != nil {
			return entry, err
		}
		names := []string{sessionMark(session.ID)}
		for _, m := range messages {
			names = append(names, messageMark(session.ID, m.Message))
		}
		if err := c.suppress(tx, owner, c.now, names...); err != nil {
			return entry, err
		}
		entry.Counts = map[string]int{"messages": len(messages)}
		return entry, tx.DeleteSession(session.Key)
	})
}

// ifMatch compares an If-Match header with the present entity tag.
func ifMatch(header, etag string) error {
	if header != "" && !wire.MatchETag(header, etag) {
		return yiku.Errorf(yiku.ErrPreconditionFailed, "the present version is %s", etag)
	}
	return nil
}

func (c *call) listMessages(ctx context.Context, req yiku.ListMessagesRequest) (yiku.Page[yiku.Message], error) {
	var page yiku.Page[yiku.Message]
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	c.event.Session = req.SessionID
	scope := []string{req.UserID, req.SessionID, req.From, req.To}
	query := store.MessageQuery{Limit: limitOf(req.Paging) + 1}
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &query.After, scope); err != nil {
			return page, err
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		session, err := r.Session(owner, req.SessionID)
		if err != nil {
			return err
		}
		query.SessionKey = session.Key
		if err := withinRange(r, owner, req, &query); err != nil {
			return err
		}
		rows, err := r.Messages(owner, query)
		if err != nil {
			return err
		}
		rows, page.NextCursor, err = cut(c, rows, limitOf(req.Paging), scope, func(m store.Message) any { return m.Key })
		if err != nil {
			return err
		}
		for _, row := range rows {
			page.Items = append(page.Items, row.Message)
		}
		if req.Cursor == "" && req.From+req.To == "" {
			page.Total = &session.MessageCount
		}
		return nil
	})
	return page, err
}

// withinRange narrows a list to the messages from one to another: what a
// summary covers is read so (D8).
func withinRange(r store.Reader, owner yiku.Owner, req yiku.ListMessagesRequest, query *store.MessageQuery) error {
	for _, end := range []struct {
		field, id string
		narrow    func(key int64)
	}{
		{"from", req.From, func(key int64) { query.After = max(query.After, key-1) }},
		{"to", req.To, func(key int64) { query.UpTo = key }},
	} {
		if end.id == "" {
			continue
		}
		m, err := r.MessageByID(owner, query.SessionKey, end.id)
		if errors.Is(err, yiku.ErrNotFound) {
			return yiku.Invalid(end.field, "the session has no such message")
		}
		if err != nil {
			return err
		}
		end.narrow(m.Key)
	}
	return nil
}

// endSession ends a session and promises its extraction as a job, durably.
func (c *call) endSession(ctx context.Context, req yiku.EndSessionRequest) (yiku.JobResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.JobResponse{}, err
	}
	c.event.Session = req.SessionID
	res, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (yiku.JobResponse, []store.Item, error) {
		session, err := tx.Session(owner, req.SessionID)
		if err != nil {
			return yiku.JobResponse{}, nil, err
		}
		session.EndedAt, session.EndReason = c.now, req.Reason
		last, err := tx.Messages(owner, store.MessageQuery{SessionKey: session.Key, Last: true, Limit: 1})
		if err != nil {
			return yiku.JobResponse{}, nil, err
		}
		if len(last) > 0 {
			session.EndedUpTo = last[0].Key
		}
		if err := tx.PutSession(&session); err != nil {
			return yiku.JobResponse{}, nil, err
		}
		if req.Reason == yiku.EndTaskCompleted { // its own workbench is done with; tasks have their own completion call
			if err := clearWorking(tx, owner, "", "", session.ID); err != nil {
				return yiku.JobResponse{}, nil, err
			}
		}
		job, err := c.promiseExtraction(tx, owner, session, true)
		return yiku.JobResponse{JobID: job}, []store.Item{{Kind: store.ItemSession, Key: session.Key}}, err
	})
	if err == nil && req.Wait {
		res.ExtractionReport, err = c.waitFor(ctx, owner, req.SessionID, res.JobID)
	}
	return res, err
}
