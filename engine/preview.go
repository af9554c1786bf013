package engine

import (
	"context"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// previewSlice is how many rows one read transaction of a preview looks at:
// some ten milliseconds.
const previewSlice = 1000

// errPreview ends the transaction of a dry run: nothing of it stays.
var errPreview = errors.New("a dry run changes nothing")

// preview is a dry run of a forget.
type preview struct {
	*haul
	sel       selection
	f         store.Forget
	items     []store.Item  // that would go
	inSession map[int64]int // messages among them, by session
}

// previewForget says what a forget would take: it looks through the owner's
// rows as the forget would, in slices that only read, and then counts what
// would go with what was found.
func (c *call) previewForget(ctx context.Context, owner yiku.Owner, req yiku.ForgetRequest) (yiku.ForgetResponse, error) {
	p := preview{haul: newHaul(selection{}), f: store.Forget{Owner: owner, Request: req}, inSession: map[int64]int{}}
	err := c.store.View(ctx, func(r store.Reader) error {
		state, err := r.Owner(owner)
		p.f.UpTo = state.Seq
		if err != nil {
			return err
		}
		return c.checkForgetIDs(r, owner, req)
	})
	if err != nil {
		return yiku.ForgetResponse{}, err
	}
	if p.sel, err = c.selection(ctx, p.f); err != nil {
		return yiku.ForgetResponse{}, err
	}
	p.haul = newHaul(p.sel)
	for _, step := range []func(context.Context, *preview) error{c.previewMemories, c.previewMessages, c.previewRest} {
		if err := step(ctx, &p); err != nil {
			return yiku.ForgetResponse{}, err
		}
	}
	return yiku.ForgetResponse{DryRun: true, Removed: p.f.Removed, IDs: append([]string{}, p.f.IDs...)}, nil
}

// slices calls one for slices of an owner's rows until it says that there are
// no more. one returns the key to go on after.
func (c *call) slices(ctx context.Context, one func(r store.Reader, after int64) (last int64, more bool, err error)) error {
	for after, more := int64(0), true; more; {
		err := c.store.View(ctx, func(r store.Reader) (err error) {
			after, more, err = one(r, after)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *call) previewMemories(ctx context.Context, p *preview) error {
	return c.slices(ctx, func(r store.Reader, after int64) (int64, bool, error) {
		rows, err := r.OwnerMemories(p.f.Owner, after, p.f.UpTo, previewSlice)
		if err != nil || len(rows) == 0 {
			return 0, false, err
		}
		for _, row := range rows {
			takes, err := p.sel.takes(r, p.f.Owner, row)
			switch {
			case err != nil:
			case !takes:
			case p.f.Request.Mode == yiku.ForgetArchive:
				if archivable(row) {
					p.f.Removed.Archived++
					p.note(row.ID)
				}
			default:
				err = c.haulMemory(r, &p.f, p.haul, row)
			}
			if err != nil {
				return 0, false, err
			}
		}
		p.drain()
		return rows[len(rows)-1].Key, len(rows) == previewSlice, nil
	})
}

func (c *call) previewMessages(ctx context.Context, p *preview) error {
	if !p.sel.messages {
		return nil
	}
	return c.slices(ctx, func(r store.Reader, after int64) (int64, bool, error) {
		rows, err := r.OwnerMessages(p.f.Owner, after, p.f.UpTo, previewSlice)
		if err != nil || len(rows) == 0 {
			return 0, false, err
		}
		for _, row := range rows {
			if p.sel.message(row) {
				if err := c.haulMessage(r, &p.f, p.haul, row); err != nil {
					return 0, false, err
				}
			}
		}
		p.drain()
		return rows[len(rows)-1].Key, len(rows) == previewSlice, nil
	})
}

func (p *preview) note(id string) {
	if len(p.f.IDs) < maxForgetIDs {
		p.f.IDs = append(p.f.IDs, id)
	}
}

// drain keeps the keys of what was hauled and lets the rows go.
func (p *preview) drain() {
	for _, row := range p.memories {
		p.note(row.ID)
		p.items = append(p.items, store.Item{Kind: store.ItemMemory, Key: row.Key})
	}
	for _, row := range p.messages {
		p.inSession[row.SessionKey]++
		p.items = append(p.items, store.Item{Kind: store.ItemMessage, Key: row.Key})
	}
	p.memories, p.messages = nil, nil
}

// previewRest finds the sessions that would be empty then, and counts what goes
// with everything. Working memory and copies, of which there are few, are
// deleted and brought back.
func (c *call) previewRest(ctx context.Context, p *preview) error {
	if p.f.Request.Mode == yiku.ForgetArchive {
		return nil
	}
	whole := map[int64]bool{}
	err := c.store.View(ctx, func(r store.Reader) error {
		err := c.eachSession(r, &p.f, p.sel, func(row store.Session) error {
			n, err := r.CountMessages(p.f.Owner, row.Key)
			if n == p.inSession[row.Key] {
				whole[row.Key] = true
				p.items = append(p.items, store.Item{Kind: store.ItemSession, Key: row.Key})
			}
			return err
		})
		if err != nil {
			return err
		}
		if p.f.Removed, err = r.Weight(p.f.Owner, p.items); err != nil {
			return err
		}
		return c.eachSaying(r, &p.f, p.sel.metadata, func(s store.Session, _ []string) error {
			if !whole[s.Key] {
				p.f.Removed.Sessions++
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	removed := p.f.Removed
	err = p.sel.update(ctx, func(tx store.Tx) error {
		p.f.Removed = removed
		if err := c.purgeTasks(tx, &p.f, p.sel.tasks); err != nil {
			return err
		}
		if p.sel.working != nil || p.f.Request.Selector.All {
			if err := tx.PurgeWorking(p.sel.working, &p.f.Removed); err != nil {
				return err
			}
		}
		drop, some := p.sel.copies(&p.f)
		if !some {
			return errPreview
		}
		return errors.Join(tx.PurgeCopies(drop, &p.f.Removed), errPreview)
	})
	if !errors.Is(err, errPreview) {
		return err
	}
	return nil
}
