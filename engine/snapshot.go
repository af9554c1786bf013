package engine

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// keepSnapshot stores what the prompt held (G1). A context is better without
// its snapshot than not at all: where the store cannot write, the answer says so.
// A user of whom nothing is stored has none: to read makes no user, and so uses
// up no place of a tenant's users.
func (c *call) keepSnapshot(ctx context.Context, p plan, d desk, res *yiku.GetContextResponse) error {
	if c.settings.SnapshotKeep == 0 || !d.known {
		return c.keepPages(ctx, p, d)
	}
	kept := *res
	kept.SnapshotID, kept.Explain = c.newID(), nil // a trace names memories that the snapshot does not cite
	var cites []store.Item
	kept.Messages, cites = citeMessages(d, res.Messages)
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
		row := store.Snapshot{Cites: append(cites, d.cites...), ExpiresAt: c.now.Add(c.settings.SnapshotKeep), Snapshot: yiku.Snapshot{
			ID: kept.SnapshotID, UserID: p.owner.User(), SessionID: d.session.ID, CreatedAt: c.now, Request: p.req, Response: kept}}
		if d.working != nil {
			row.Working = &d.shows
		}
		if len(d.lines) > 0 {
			row.Summary = d.summary.Key
		}
		err = tx.PutSnapshot(&row)
		if errors.Is(err, yiku.ErrNotFound) { // a shared memory that went meanwhile; its epoch is another's
			return errEpoch
		}
		if err != nil {
			return err
		}
		if len(d.pages) > 0 {
			if err := c.addPages(tx, p.owner, d.session, d.pages); err != nil {
				return err
			}
		}
		if n := c.settings.snapshotsADrop(); n > 1 && rand.IntN(n) > 0 {
			return nil
		}
		return tx.KeepSnapshots(c.settings.Snapshots, c.settings.SnapshotBytes)
	})
	switch {
	case err == nil:
		res.SnapshotID = kept.SnapshotID
	case errors.Is(err, yiku.ErrUnavailable), errors.Is(err, yiku.ErrLimited):
		res.Degraded = append(res.Degraded, "snapshot")
	default:
		return err
	}
	return nil
}

// snapshotsADrop is after how many new snapshots of an owner, on average, those
// beyond the bound are dropped: finding them reads the sizes of all. A bound on
// many may be passed by one in thirty; a low one is kept to the row.
func (s Settings) snapshotsADrop() int { return s.Snapshots / 32 }

// citeMessages returns the messages as a snapshot keeps them: those that stand
// in the prompt as they are stored are kept as references, and read again from
// their rows; only what was cut keeps its text.
func citeMessages(d desk, messages []yiku.Message) ([]yiku.Message, []store.Item) {
	out := make([]yiku.Message, len(messages))
	cites := make([]store.Item, 0, len(messages))
	for i, m := range messages {
		out[i] = m
		row, ok := d.rows[m.ID]
		if !ok {
			continue
		}
		cites = append(cites, store.Item{Kind: store.ItemMessage, Key: row.Key})
		if sameMessage(row.Message, m) {
			out[i] = yiku.Message{ID: m.ID, SessionID: m.SessionID, Seq: m.Seq}
		}
	}
	return out, cites
}

func (c *call) getSnapshot(ctx context.Context, req yiku.GetSnapshotRequest) (yiku.Snapshot, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Snapshot{}, err
	}
	var out yiku.Snapshot
	err = c.store.View(ctx, func(r store.Reader) error {
		row, err := r.Snapshot(owner, req.ID, c.now)
		if err != nil {
			return err
		}
		out = row.Snapshot
		for i, m := range out.Response.Messages {
			if m.Role != "" { // it was cut: its text is its own
				continue
			}
			session, err := r.Session(owner, m.SessionID)
			if err != nil {
				return err
			}
			full, err := r.MessageByID(owner, session.Key, m.ID)
			if err != nil {
				return err
			}
			out.Response.Messages[i] = full.Message
		}
		return nil
	})
	return out, err
}
