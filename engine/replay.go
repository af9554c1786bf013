package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/journal"
	"github.com/yiku-ai/yiku/store"
)

// Replayed counts what replaying a journal did.
type Replayed struct {
	Entries int // of the journal
	Owners  int // who had something to forget again
	Held    int // who are not known and keep their place
	Removed yiku.Removed
}

// replay is what the journal says of one owner.
type replay struct {
	mark      []byte
	state     store.OwnerState
	marks     map[string]time.Time // what went, and when
	purged    bool
	working   bool
	receipts  []yiku.Receipt
	deletions int
}

// Replay forgets again what a journal holds, in a store that was restored from
// before: rows that were deleted then are deleted, what was archived is
// archived, the marks stand in the suppression list, epochs and numbers do not
// go back, and receipts are there again, without reason. Owners whom the store
// does not know keep what the journal says of them. An entry in the audit log,
// of a tenant, says that the backup with the id backup was restored. Replay
// runs before the engine serves and may be run again.
func (e *Engine) Replay(ctx context.Context, tenant, backup string, each func(func(journal.Entry) error) error) (out Replayed, err error) {
	byOwner := map[string]*replay{}
	err = each(func(entry journal.Entry) error {
		out.Entries++
		r := byOwner[string(entry.Owner)]
		if r == nil {
			r = &replay{mark: entry.Owner, marks: map[string]time.Time{}}
			byOwner[string(entry.Owner)] = r
		}
		return r.add(entry)
	})
	if err != nil {
		return out, err
	}
	if err := e.replayOwners(ctx, byOwner, &out); err != nil {
		return out, err
	}
	for _, r := range byOwner { // those who are left are not known
		out.Held++
		h := store.HeldOwner{Mark: r.mark, State: r.state}
		for mark, at := range r.marks {
			h.Marks = append(h.Marks, store.Suppression{Mark: mark, At: at})
		}
		if err := e.store.HoldOwner(ctx, h); err != nil {
			return out, err
		}
	}
	return out, e.auditRestore(ctx, tenant, backup, out)
}

// replayOwners replays what is said of the owners whom the store knows, and
// takes them out of the map.
func (e *Engine) replayOwners(ctx context.Context, byOwner map[string]*replay, out *Replayed) error {
	var last yiku.Owner
	for {
		owners, err := e.store.Owners(ctx, last, tendOwners)
		if err != nil || len(owners) == 0 {
			return err
		}
		for _, owner := range owners {
			mark := string(e.store.OwnerMark(owner))
			r := byOwner[mark]
			if r == nil {
				continue
			}
			delete(byOwner, mark)
			out.Owners++
			if err := e.ownCall(owner).replay(ctx, owner, r, &out.Removed); err != nil {
				return err
			}
		}
		last = owners[len(owners)-1]
	}
}

// auditRestore says in the audit log what was restored.
func (e *Engine) auditRestore(ctx context.Context, tenant, backup string, done Replayed) error {
	shared, err := yiku.SharedOwner(tenant)
	if err != nil {
		return err
	}
	counted := counts(done.Removed)
	counted["entries"], counted["owners"], counted["held"] = done.Entries, done.Owners, done.Held
	return e.store.Update(ctx, shared, store.Request, func(tx store.Tx) error {
		_, err := e.ownCall(shared).audit(tx, shared, store.AuditEntry{Actor: "restore", Action: "restore", Trigger: string(yiku.TriggerOperator), Ref: backup, Counts: counted})
		return err
	})
}

// AuditBackup says in the audit log, of a tenant, that a backup was made.
func (e *Engine) AuditBackup(ctx context.Context, tenant, backup string) error {
	shared, err := yiku.SharedOwner(tenant)
	if err != nil {
		return err
	}
	return e.store.Update(ctx, shared, store.Request, func(tx store.Tx) error {
		_, err := e.ownCall(shared).audit(tx, shared, store.AuditEntry{Actor: "backup", Action: "backup", Trigger: string(yiku.TriggerOperator), Ref: backup})
		return err
	})
}

func (r *replay) add(entry journal.Entry) error {
	if len(entry.Marks)%journal.MarkSize != 0 {
		return yiku.Errorf(yiku.ErrUnavailable, "entry %d of the forget journal has half a mark", entry.N)
	}
	r.state.Epoch, r.state.Seq = max(r.state.Epoch, entry.Epoch), max(r.state.Seq, entry.Seq)
	r.state.ConsentWithdrawn = r.state.ConsentWithdrawn || entry.Withdrawn
	r.working = r.working || entry.Working
	for m := entry.Marks; len(m) > 0; m = m[journal.MarkSize:] {
		if _, stands := r.marks[string(m[:journal.MarkSize])]; !stands {
			r.marks[string(m[:journal.MarkSize])] = entry.At
		}
	}
	if entry.Receipt == nil {
		r.deletions++
		r.purged = true
		return nil
	}
	r.purged = r.purged || entry.Receipt.Mode == yiku.ForgetPurge
	r.receipts = append(r.receipts, *entry.Receipt)
	return nil
}

// replay forgets again what the journal says of an owner, as forgets that name
// each row.
func (c *call) replay(ctx context.Context, owner yiku.Owner, r *replay, removed *yiku.Removed) error {
	had := func(name string) bool { _, ok := r.marks[c.blind(owner, []string{name})[0]]; return ok }
	f, err := c.beginReplay(ctx, owner, r)
	if err != nil {
		return err
	}
	sel := selection{replayed: true, messages: true,
		update: func(ctx context.Context, fn func(store.Tx) error) error {
			return c.store.Update(ctx, owner, store.Request, fn)
		},
		memory: func(m store.Memory) bool { return had(rowMark(m)) },
		message: func(m store.Message) bool {
			return had(messageMark(m.SessionID, m.Message)) || had(textMark(m.SessionID, m.Message)) // as old journals have it
		},
		sessions: func(s store.Session) bool { return had(sessionMark(s.ID)) },
		metadata: func(s store.Session, key string, value any) bool { return had(metadataMark(s.ID, key, value)) },
		tasks:    func(t store.Task) bool { return had(taskMark(t)) },
		working: func(w store.Working) bool {
			return r.working || had(workingMark(w.SessionID)) || slices.ContainsFunc(w.Origins, func(id string) bool { return had(carriedMark(id)) })
		},
	}
	steps := []func(context.Context, *store.Forget, selection) error{c.forgetMemories, c.forgetMessages, c.forgetSessions}
	if r.purged {
		steps = append(steps, c.forgetCopies)
	}
	for _, step := range steps {
		if err := step(ctx, &f, sel); err != nil {
			return err
		}
	}
	f.Request.Mode = yiku.ForgetArchive
	sel.memory = func(m store.Memory) bool { return had(archivedMark(m)) }
	if err := c.forgetMemories(ctx, &f, sel); err != nil {
		return err
	}
	if err := c.endReplay(ctx, owner, r, f); err != nil {
		return err
	}
	addRemoved(removed, f.Removed)
	return nil
}

// beginReplay moves the owner on and writes its marks, and notes the forget.
// The marks keep the times of their forgets: beside them nothing has f.At.
func (c *call) beginReplay(ctx context.Context, owner yiku.Owner, r *replay) (store.Forget, error) {
	f := store.Forget{Owner: owner, Receipt: c.newID(), Actor: "restore", At: c.now,
		Request: yiku.ForgetRequest{UserID: owner.User(), Mode: yiku.ForgetPurge, Sources: yiku.SourcesKeep, Trigger: yiku.TriggerOperator}}
	byTime := map[time.Time][]string{}
	for mark, at := range r.marks {
		byTime[at] = append(byTime[at], mark)
	}
	err := c.store.Update(ctx, owner, store.Request, func(tx store.Tx) error {
		f.Key = 0
		state, err := tx.Owner(owner)
		if err != nil {
			return err
		}
		f.UpTo = state.Seq
		if err := tx.Advance(r.state); err != nil {
			return err
		}
		if f.Epoch, err = tx.RaiseEpoch(); err != nil {
			return err
		}
		for at, marks := range byTime {
			if err := tx.Suppress(marks, at); err != nil {
				return err
			}
		}
		return tx.PutForget(&f)
	})
	return f, err
}

// endReplay writes the receipts that the backup did not have, with a proof of
// what went now, and an entry in the owner's audit log.
func (c *call) endReplay(ctx context.Context, owner yiku.Owner, r *replay, f store.Forget) error {
	return c.store.Update(ctx, owner, store.Request, func(tx store.Tx) error {
		counted := counts(f.Removed)
		counted["forgets"], counted["deletions"] = len(r.receipts), r.deletions
		if _, err := c.audit(tx, owner, store.AuditEntry{Actor: f.Actor, Action: "forget_again", Trigger: string(f.Request.Trigger), Ref: f.Receipt, Counts: counted}); err != nil {
			return err
		}
		for _, before := range r.receipts {
			receipt := store.Receipt{Receipt: before}
			receipt.UserID = owner.User()
			_, err := tx.Receipt(owner, before.ID)
			switch {
			case err == nil:
				continue
			case !errors.Is(err, yiku.ErrNotFound):
				return err
			}
			if err := errors.Join(prove(tx, f, &receipt), tx.PutReceipt(&receipt)); err != nil {
				return err
			}
		}
		return tx.EndForget(f.Key)
	})
}

func addRemoved(to *yiku.Removed, r yiku.Removed) {
	to.Memories += r.Memories
	to.Archived += r.Archived
	to.Messages += r.Messages
	to.Sessions += r.Sessions
	to.Working += r.Working
	to.Snapshots += r.Snapshots
	to.Entities += r.Entities
	to.Relations += r.Relations
}
