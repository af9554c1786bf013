package engine

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/compose"
	"github.com/yiku-ai/yiku/internal/window"
	"github.com/yiku-ai/yiku/store"
)

// pagesKept is how many entries of a session's page log are kept.
const pagesKept = 1000

// pageIn notes what a tool brought back into a session's context. Where the
// session is not there yet, or something went meanwhile, there is nothing to note.
func (c *call) pageIn(ctx context.Context, owner yiku.Owner, sessionID string, pages []*store.Page) error {
	if len(pages) == 0 {
		return nil
	}
	err := c.store.Update(ctx, owner, store.Request, func(tx store.Tx) error {
		session, err := tx.Session(owner, sessionID)
		if err != nil {
			return err
		}
		return c.addPages(tx, owner, session, pages)
	})
	return unlessGone(err)
}

// addPages adds entries to a session's page log, but for what is not there any more.
func (c *call) addPages(tx store.Tx, owner yiku.Owner, session store.Session, pages []*store.Page) error {
	var there []*store.Page
	for _, p := range pages {
		p.CreatedAt = c.now
		if p.Memory != 0 {
			rows, err := tx.MemoriesByKey(owner, []int64{p.Memory})
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				continue
			}
		} else if rows, err := tx.MessagesByKey(owner, []int64{p.From}); err != nil {
			return err
		} else if len(rows) == 0 {
			continue
		}
		there = append(there, p)
	}
	if len(there) == 0 {
		return nil
	}
	return tx.AddPages(session.Key, there, pagesKept)
}

// called is something that a query called for: it is paged in where it is shown.
type called struct {
	name string // of a message as messageKey has it, or of a memory
	page *store.Page
}

// contextPages are what a context paged: out what left its window since the
// last time, in what was recalled. Constraints, profile, core blocks and pinned
// messages are in every context and never paged.
func (d *desk) contextPages(fit window.Result, text compose.Output) []*store.Page {
	var pages []*store.Page
	if d.session.Key == 0 {
		return nil
	}
	shown := map[string]bool{}
	for _, m := range append(fit.Messages, fit.System...) {
		shown[m.ID] = true
	}
	out := store.Page{Direction: yiku.PageOut, Reason: yiku.PageWindow}
	for _, m := range d.messages {
		row, ok := d.rows[m.ID]
		if !ok || !summarized(m) {
			continue
		}
		if shown[m.ID] {
			break
		}
		if row.Key > d.pagedOut {
			if out.From == 0 {
				out.From = row.Key
			}
			out.To = row.Key
		}
	}
	if out.From != 0 {
		pages = append(pages, &out)
	}
	recalled := map[string]bool{}
	for _, e := range text.Episodes {
		recalled[e.SessionID+"\x00"+e.ID] = true
	}
	for _, m := range text.Memories {
		recalled[m.ID] = true
	}
	for _, item := range d.recalls {
		if recalled[item.name] {
			pages = append(pages, item.page)
		}
	}
	return pages
}

// listPages lists the page log of a session, newest first (B6).
func (c *call) listPages(ctx context.Context, req yiku.ListPagesRequest) (yiku.Page[yiku.PageEntry], error) {
	page := yiku.Page[yiku.PageEntry]{}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	c.event.Session = req.SessionID
	scope := []string{req.UserID, req.SessionID}
	query := store.PageQuery{Limit: limitOf(req.Paging) + 1}
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &query.Before, scope); err != nil {
			return page, err
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		session, err := r.Session(owner, req.SessionID)
		if err != nil {
			return err
		}
		query.SessionKey = session.Key
		rows, err := r.Pages(owner, query)
		if err != nil {
			return err
		}
		if rows, page.NextCursor, err = cut(c, rows, limitOf(req.Paging), scope, func(p store.Page) any { return p.Key }); err != nil {
			return err
		}
		if page.Items, err = pageEntries(r, owner, rows); err != nil {
			return err
		}
		if req.Cursor == "" {
			total, err := r.CountPages(owner, store.PageQuery{SessionKey: session.Key})
			page.Total = &total
			return err
		}
		return nil
	})
	return page, err
}

// pageEntries names the messages and memories of entries as callers know them.
func pageEntries(r store.Reader, owner yiku.Owner, rows []store.Page) ([]yiku.PageEntry, error) {
	out := make([]yiku.PageEntry, len(rows))
	for i, p := range rows {
		out[i] = yiku.PageEntry{Direction: p.Direction, Reason: p.Reason, At: p.CreatedAt}
		if p.Memory != 0 {
			memories, err := r.MemoriesByKey(owner, []int64{p.Memory})
			if err != nil {
				return nil, err
			}
			for _, m := range memories {
				out[i].MemoryID = m.ID
			}
			continue
		}
		messages, err := r.MessagesByKey(owner, []int64{p.From, p.To})
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			out[i].SessionID = m.SessionID
			if m.Key == p.From {
				out[i].FromID = m.ID
			}
			if m.Key == p.To {
				out[i].ToID = m.ID
			}
		}
	}
	return out, nil
}

// lastPagedOut is the key of the last message that is noted as out of the window.
func lastPagedOut(r store.Reader, owner yiku.Owner, session int64) (int64, error) {
	rows, err := r.Pages(owner, store.PageQuery{SessionKey: session, Reason: yiku.PageWindow, Limit: 1})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0].To, nil
}

// keepPages notes what a context paged where no snapshot is kept to do it with.
func (c *call) keepPages(ctx context.Context, p plan, d desk) error {
	if len(d.pages) == 0 {
		return nil
	}
	err := c.store.Update(ctx, p.owner, store.Request, func(tx store.Tx) error {
		state, err := tx.Owner(p.owner)
		if err != nil {
			return err
		}
		if state.Epoch != d.epoch {
			return errEpoch
		}
		if state.ConsentWithdrawn {
			return nil
		}
		return c.addPages(tx, p.owner, d.session, d.pages)
	})
	if errors.Is(err, yiku.ErrUnavailable) { // a context is better without its note than not at all
		return nil
	}
	return err
}
