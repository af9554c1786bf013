package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/form"
	"github.com/yiku-ai/yiku/store"
)

// forkSession copies a session's messages, up to one of them, into a new session (A7).
func (c *call) forkSession(ctx context.Context, req yiku.ForkSessionRequest) (yiku.Session, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Session{}, err
	}
	c.event.Session = req.SessionID
	var ref sessionRef
	for err = errStale; errors.Is(err, errStale); { // what is being forgotten is not copied
		var epoch int64
		if epoch, err = c.unforgetting(ctx, owner); err == nil {
			ref, err = c.fork(ctx, owner, req, epoch)
		}
	}
	if err != nil {
		return yiku.Session{}, err
	}
	return c.readSession(ctx, owner, ref.ID, req.IdempotencyKey != "")
}

// fork makes a fork as long as nothing more of the owner's is forgotten;
// errStale otherwise.
func (c *call) fork(ctx context.Context, owner yiku.Owner, req yiku.ForkSessionRequest, epoch int64) (sessionRef, error) {
	return once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (sessionRef, []store.Item, error) {
		from, err := tx.Session(owner, req.SessionID)
		if err != nil {
			return sessionRef{}, nil, err
		}
		query := store.MessageQuery{SessionKey: from.Key}
		if req.UpTo != "" {
			last, err := tx.MessageByID(owner, from.Key, req.UpTo)
			if errors.Is(err, yiku.ErrNotFound) {
				return sessionRef{}, nil, yiku.Invalid("up_to", "the session has no such message")
			}
			if err != nil {
				return sessionRef{}, nil, err
			}
			query.UpTo = last.Key
		}
		query.Limit = maxTransfer + 1
		rows, err := tx.Messages(owner, query)
		if err != nil {
			return sessionRef{}, nil, err
		}
		if len(rows) > maxTransfer {
			return sessionRef{}, nil, transferTooLarge("up_to")
		}
		if state, err := tx.Owner(owner); err != nil || state.Epoch != epoch {
			return sessionRef{}, nil, cmp.Or(err, errStale)
		}
		session := from
		session.ID, session.ForkedFrom, session.Origins = req.NewSessionID, from.ID, withOrigin(originsOf(from), from.ID)
		return c.newSession(tx, owner, session, messagesOf(rows), "new_session_id")
	})
}

// newSession writes a session that must not exist yet, with its messages.
// field names the request's field that holds its id.
func (c *call) newSession(tx store.Tx, owner yiku.Owner, s store.Session, messages []yiku.Message, field string) (sessionRef, []store.Item, error) {
	if s.ID == "" {
		s.ID = c.newID()
	}
	if _, err := tx.Session(owner, s.ID); err == nil {
		return sessionRef{}, nil, conflictOn(field, "the session exists")
	} else if !errors.Is(err, yiku.ErrNotFound) {
		return sessionRef{}, nil, err
	}
	session := store.Session{Session: yiku.Session{ID: s.ID, ProjectID: s.ProjectID, AgentID: s.AgentID, Metadata: s.Metadata, ForkedFrom: s.ForkedFrom, CreatedAt: c.now}, Origins: s.Origins}
	if err := tx.PutSession(&session); err != nil {
		return sessionRef{}, nil, err
	}
	for start := 0; start < len(messages); { // one task at a time, since addMessages writes one task's
		end := start
		for end < len(messages) && messages[end].TaskID == messages[start].TaskID {
			end++
		}
		if err := c.touchTask(tx, owner, session, messages[start].TaskID); err != nil {
			return sessionRef{}, nil, err
		}
		if _, _, err := c.addMessages(tx, owner, &session, messages[start].TaskID, messages[start:end]); err != nil {
			return sessionRef{}, nil, err
		}
		start = end
	}
	return sessionRef{s.ID}, []store.Item{{Kind: store.ItemSession, Key: session.Key}}, nil
}

func messagesOf(rows []store.Message) []yiku.Message {
	out := make([]yiku.Message, len(rows))
	for i := range rows {
		out[i] = rows[i].Message
	}
	return out
}

// exportSession gives a session as one document (A6).
func (c *call) exportSession(ctx context.Context, req yiku.ExportSessionRequest) (yiku.SessionExport, error) {
	out := yiku.SessionExport{Format: yiku.SessionExportFormat}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return out, err
	}
	c.event.Session = req.SessionID
	err = c.store.View(ctx, func(r store.Reader) error {
		row, err := r.Session(owner, req.SessionID)
		if err != nil {
			return err
		}
		if out.Session, err = c.withTasks(r, owner, row); err != nil {
			return err
		}
		rows, err := r.Messages(owner, store.MessageQuery{SessionKey: row.Key})
		out.Messages = messagesOf(rows)
		return err
	})
	return out, err
}

// importSession makes a new session from a document in any of the forms (A6).
func (c *call) importSession(ctx context.Context, req yiku.ImportSessionRequest) (yiku.Session, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Session{}, err
	}
	session, from, messages, err := c.readDocument(req)
	if err != nil {
		return yiku.Session{}, err
	}
	c.event.Session = session.ID
	c.count("messages", len(messages))
	ref, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (sessionRef, []store.Item, error) {
		session, messages, err := c.unforgotten(tx, owner, from, session, messages)
		if err != nil {
			return sessionRef{}, nil, err
		}
		return c.newSession(tx, owner, store.Session{Session: session}, messages, "session_id")
	})
	if err != nil {
		return yiku.Session{}, err
	}
	return c.readSession(ctx, owner, ref.ID, req.IdempotencyKey != "")
}

// unforgotten returns what a document holds that was not forgotten of the
// session that it comes from, under whichever id it is imported. A session that
// was forgotten whole leaves no metadata.
func (c *call) unforgotten(tx store.Tx, owner yiku.Owner, from string, session yiku.Session, messages []yiku.Message) (yiku.Session, []yiku.Message, error) {
	gone, err := tx.Suppressed(c.blind(owner, []string{sessionMark(from), sessionMark(session.ID)}))
	if err != nil {
		return session, nil, err
	}
	if slices.Contains(gone, true) {
		session.Metadata = nil
	}
	if session.Metadata, err = c.remembered(tx, owner, session.Metadata, from, session.ID); err != nil {
		return session, nil, err
	}
	forgotten, err := c.suppressed(tx, owner, from, messages)
	if err != nil {
		return session, nil, err
	}
	var kept []yiku.Message
	for i, m := range messages {
		if m.ID == "" || !forgotten[i] {
			kept = append(kept, m)
		}
	}
	return session, kept, nil
}

// readDocument reads an import and checks every message as an append would. It
// gives the session to make, and the id of the one that the document is of.
func (c *call) readDocument(req yiku.ImportSessionRequest) (session yiku.Session, from string, messages []yiku.Message, err error) {
	kind := req.Format
	if kind == "" {
		if kind, err = form.Detect(req.Document); err != nil {
			return session, "", nil, belowDocument(err)
		}
	}
	messages, export, err := form.Read(kind, req.Document)
	if err != nil {
		return session, "", nil, belowDocument(err)
	}
	if len(messages) == 0 {
		return session, "", nil, yiku.Invalid("document", "holds no messages")
	}
	if err := c.checkMessages(messages); err != nil {
		return session, "", nil, belowDocument(err)
	}
	if export != nil {
		session, from = export.Session, export.Session.ID
	}
	if from == "" {
		from = messages[0].SessionID
	}
	for _, s := range []struct{ to, from *string }{{&session.ID, &req.SessionID}, {&session.ProjectID, &req.ProjectID}, {&session.AgentID, &req.AgentID}} {
		if *s.from != "" {
			*s.to = *s.from
		}
	}
	head := yiku.CreateSessionRequest{UserID: req.UserID, SessionID: session.ID, ProjectID: session.ProjectID, AgentID: session.AgentID, Metadata: session.Metadata}
	if err := c.checker.Request(head); err != nil {
		return session, "", nil, below("document.session", err)
	}
	session.ForkedFrom = ""
	return session, from, messages, nil
}

// maxTransfer is how many messages a session may be made with: they are
// written in one transaction, for which everybody's writes wait.
const maxTransfer = 5_000

func transferTooLarge(field string) error {
	return &yiku.Error{Sentinel: yiku.ErrTooLarge, Fields: []yiku.FieldError{{Field: field, Message: fmt.Sprintf("must name at most %d messages", maxTransfer)}}}
}

const maxAppend = 1000 // messages of one append request

// checkMessages checks messages as appends of them would, each by its place.
func (c *call) checkMessages(messages []yiku.Message) error {
	if len(messages) > maxTransfer {
		return transferTooLarge("document")
	}
	for start := 0; start < len(messages); start += maxAppend {
		part := messages[start:min(start+maxAppend, len(messages))]
		err := c.checker.Request(yiku.AppendMessagesRequest{UserID: "u", SessionID: "document", Messages: part})
		var e *yiku.Error
		if !errors.As(err, &e) {
			continue
		}
		for i, f := range e.Fields {
			var n int
			if _, err := fmt.Sscanf(f.Field, "messages[%d]", &n); err == nil {
				rest := strings.TrimPrefix(f.Field, fmt.Sprintf("messages[%d]", n))
				e.Fields[i].Field = fmt.Sprintf("messages[%d]%s", start+n, rest)
			}
		}
		return e
	}
	return nil
}

// belowDocument puts the fields of an error below the request's document.
func belowDocument(err error) error { return below("document", err) }

// below puts the fields of an error below a place, those that are not there.
func below(place string, err error) error {
	var e *yiku.Error
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	moved.Fields = append([]yiku.FieldError(nil), e.Fields...)
	for i := range moved.Fields {
		if f := moved.Fields[i].Field; f != place && !strings.HasPrefix(f, place+".") {
			moved.Fields[i].Field = place + "." + f
		}
	}
	return &moved
}
