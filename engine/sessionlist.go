package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// sessionCursor is a place in the list of sessions as it was when the walk
// began: at the owner's number At.
type sessionCursor struct {
	At    int64
	Place store.SessionPlace
}

// listSessions lists sessions, last activity first. The order is that of the
// moment when the first page was read: a session that moves while the list is
// walked is neither skipped nor given twice.
func (c *call) listSessions(ctx context.Context, req yiku.ListSessionsRequest) (yiku.Page[yiku.Session], error) {
	var page yiku.Page[yiku.Session]
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	scope := []string{req.UserID, req.ProjectID, req.AgentID}
	query := store.SessionQuery{ProjectID: req.ProjectID, AgentID: req.AgentID, Limit: limitOf(req.Paging) + 1}
	var from sessionCursor
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &from, scope); err != nil {
			return page, err
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		rows, at, err := c.sessionsAt(r, owner, query, from)
		if err != nil {
			return err
		}
		rows, page.NextCursor, err = cut(c, rows, limitOf(req.Paging), scope, func(p placed) any { return sessionCursor{at, p.place} })
		if err != nil {
			return err
		}
		for _, row := range rows {
			s, err := c.withTasks(r, owner, row.Session)
			if err != nil {
				return err
			}
			page.Items = append(page.Items, s)
		}
		if req.Cursor == "" {
			total, err := r.CountSessions(owner, query)
			page.Total = &total
			return err
		}
		return nil
	})
	return page, err
}

// placed is a session with its place in the list.
type placed struct {
	store.Session
	place store.SessionPlace
}

// sessionsAt reads a page of the list as it was at the cursor's number, or as
// it is where there is no cursor, and tells the number.
func (c *call) sessionsAt(r store.Reader, owner yiku.Owner, query store.SessionQuery, from sessionCursor) (rows []placed, at int64, err error) {
	still := query
	still.After, still.ChangedUpTo = from.Place, from.At
	list, err := r.Sessions(owner, still)
	if err != nil {
		return nil, 0, err
	}
	for _, s := range list {
		rows = append(rows, placed{s, s.Place()})
	}
	if from.At == 0 {
		state, err := r.Owner(owner)
		return rows, state.Seq, err
	}
	moved := query
	moved.Limit, moved.ChangedAfter = 0, from.At
	if list, err = r.Sessions(owner, moved); err != nil {
		return nil, 0, err
	}
	for _, s := range list {
		place, err := placeAt(r, owner, s, from.At)
		if errors.Is(err, yiku.ErrNotFound) {
			continue // it began after the walk
		}
		if err != nil {
			return nil, 0, err
		}
		if inPlace(from.Place, place) < 0 {
			rows = append(rows, placed{s, place})
		}
	}
	slices.SortFunc(rows, func(a, b placed) int { return inPlace(a.place, b.place) })
	return rows[:min(len(rows), query.Limit)], from.At, nil
}

// inPlace compares two places: last activity first, then the newest.
func inPlace(a, b store.SessionPlace) int {
	return cmp.Or(b.LastActivity.Compare(a.LastActivity), cmp.Compare(b.Key, a.Key))
}

// placeAt is the place that a session had at a number of the owner's sequence:
// by the last message that it held then. ErrNotFound where it was not there.
func placeAt(r store.Reader, owner yiku.Owner, s store.Session, at int64) (store.SessionPlace, error) {
	if s.Key&seqMask > at {
		return store.SessionPlace{}, yiku.ErrNotFound
	}
	s.LastMessageAt = yiku.Session{}.LastMessageAt
	last, err := r.Messages(owner, store.MessageQuery{SessionKey: s.Key, UpTo: s.Key&^seqMask | at, Last: true, Limit: 1})
	if len(last) > 0 {
		s.LastMessageAt = last[0].RecordedAt
	}
	return s.Place(), err
}
