package engine

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// givenSession begins the id of a session that holds what was given to be read
// and is no conversation of the caller's.
const givenSession = "extract."

// extract reads messages that belong to no session of the caller's: they are
// kept as a session of their own, and read by a job as all others are (C3).
func (c *call) extract(ctx context.Context, req yiku.ExtractRequest) (yiku.JobResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.JobResponse{}, err
	}
	c.count("messages", len(req.Messages))
	if req.DryRun {
		report, err := c.tryMessages(ctx, owner, req)
		return yiku.JobResponse{ExtractionReport: &report}, err
	}
	type ref struct {
		Session string `json:"session"`
		Job     string `json:"job"`
	}
	done, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (ref, []store.Item, error) {
		session := c.sessionOfGiven(req)
		if err := tx.PutSession(&session); err != nil {
			return ref{}, nil, err
		}
		_, rows, err := c.addMessages(tx, owner, &session, "", req.Messages)
		if err != nil {
			return ref{}, nil, err
		}
		session.EndedAt, session.EndReason, session.EndedUpTo = c.now, yiku.EndOther, rows[len(rows)-1].Key
		if err := tx.PutSession(&session); err != nil {
			return ref{}, nil, err
		}
		job, err := c.promiseExtraction(tx, owner, session, true)
		return ref{session.ID, job}, []store.Item{{Kind: store.ItemSession, Key: session.Key}}, err
	})
	res := yiku.JobResponse{JobID: done.Job}
	if err == nil && req.Wait {
		res.ExtractionReport, err = c.waitFor(ctx, owner, done.Session, done.Job)
	}
	return res, err
}

func (c *call) sessionOfGiven(req yiku.ExtractRequest) store.Session {
	return store.Session{Session: yiku.Session{ID: givenSession + c.newID(), UserID: req.UserID, ProjectID: req.ProjectID, AgentID: req.AgentID, CreatedAt: c.now}}
}

// tryMessages reads given messages and keeps nothing but the report, window by
// window.
func (c *call) tryMessages(ctx context.Context, owner yiku.Owner, req yiku.ExtractRequest) (yiku.ExtractionReport, error) {
	report := yiku.ExtractionReport{Status: yiku.ExtractionNothing, Operations: []yiku.Operation{}, Parked: []yiku.ParkedOperation{}, DryRun: true, CreatedAt: c.now}
	session := c.sessionOfGiven(req)
	rest := make([]store.Message, len(req.Messages))
	for i, m := range req.Messages {
		rest[i] = store.Message{Message: c.completed(m, session.ID, ""), RecordedAt: c.now}
		if _, offset := m.CreatedAt.Zone(); offset != 0 {
			session.Offset = offset
		}
	}
	for len(rest) > 0 {
		x := excerpt{session: session, messages: rest, given: true}
		err := c.store.View(ctx, func(r store.Reader) error {
			state, err := r.Owner(owner)
			x.epoch = state.Epoch
			return err
		})
		if err != nil {
			return report, err
		}
		if err := c.surround(ctx, owner, &x); err != nil {
			return report, err
		}
		found, err := c.extractWindows(ctx, owner, c.extractorFor(owner), x)
		if err != nil {
			return report, err
		}
		part, err := c.applyExcerpt(ctx, owner, x, found, true, nil)
		if errors.Is(err, errStale) { // something was forgotten meanwhile
			continue
		}
		if err != nil {
			return report, err
		}
		part.SessionID = ""
		merge(&report, part)
		rest = rest[len(x.messages):]
	}
	return report, nil
}

// sessionIn is the session of an excerpt as it stands in a transaction. That of
// given messages is written there with them: the transaction will be undone, so
// that what is tried is done as it would be.
func (x *excerpt) sessionIn(tx store.Tx, owner yiku.Owner) (store.Session, error) {
	if !x.given {
		return tx.SessionByKey(owner, x.session.Key)
	}
	session := x.session
	if err := tx.PutSession(&session); err != nil {
		return session, err
	}
	rows := make([]*store.Message, len(x.messages))
	for i := range x.messages {
		row := x.messages[i]
		rows[i] = &row
	}
	if err := tx.AddMessages(session.Key, rows); err != nil {
		return session, err
	}
	x.messages = make([]store.Message, len(rows))
	for i, row := range rows {
		x.messages[i] = *row
	}
	return session, nil
}
