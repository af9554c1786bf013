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

// The actions that the journal and the audit log call by the same names.
const (
	actionForget        = "forget"
	actionDeleteMemory  = "delete_memory"
	actionDeleteSession = "delete_session"
)

// settleTimeout bounds what follows a deletion that is done, also where the
// caller has gone.
const settleTimeout = 10 * time.Second

// delete runs a deletion in one transaction of the owner: what do does, a
// higher epoch, so that nothing derived before can be written after, and the
// audit entry that do gives. The answer waits until the journal has it.
func (c *call) delete(ctx context.Context, owner yiku.Owner, action string, do func(store.Tx) (store.AuditEntry, error)) error {
	if err := c.settlePending(ctx, owner); err != nil {
		return err
	}
	note := store.Forget{Owner: owner, Deletion: store.Deletion{Action: action}, Actor: c.actor(), At: c.now}
	err := c.store.Update(ctx, owner, store.Request, func(tx store.Tx) error {
		note.Key = 0 // a function of an update may run more than once
		entry, err := do(tx)
		if err != nil {
			return err
		}
		if note.Epoch, err = tx.RaiseEpoch(); err != nil {
			return err
		}
		entry.Action, note.Deletion.Ref = action, entry.Ref
		if _, err := c.audit(tx, owner, entry); err != nil || c.journal == nil {
			return err
		}
		return tx.PutForget(&note)
	})
	if err != nil || c.journal == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return c.settle(ctx, note)
}

// settle writes a deletion into the journal and deletes the note of it. It
// may be called again, and by several at once.
func (c *call) settle(ctx context.Context, f store.Forget) error {
	if err := c.record(ctx, f, nil); err != nil {
		return err
	}
	err := c.store.Update(ctx, f.Owner, store.Request, func(tx store.Tx) error { return tx.EndForget(f.Key) })
	if errors.Is(err, yiku.ErrNotFound) {
		return nil
	}
	return err
}

// record writes a forget into the journal: what it suppresses, where the owner
// stands, and the receipt without its words; no receipt for a deletion. What
// other forgets of the owner that run at once have suppressed so far goes with
// it: this one may have found nothing because they took it.
func (c *call) record(ctx context.Context, f store.Forget, receipt *yiku.Receipt) error {
	if c.journal == nil {
		return nil
	}
	entry := journal.Entry{At: c.now, Action: f.Deletion.Action, Ref: f.Deletion.Ref, Owner: c.store.OwnerMark(f.Owner)}
	if receipt != nil {
		r := *receipt
		r.UserID, r.Reason = "", ""
		entry.Action, entry.Ref, entry.Receipt = actionForget, f.Receipt, &r
	}
	covered, err := c.pendingOf(ctx, f.Owner)
	if err != nil {
		return err
	}
	covered = append(slices.DeleteFunc(covered, func(o store.Forget) bool { return o.Key == f.Key }), f)
	err = c.store.View(ctx, func(r store.Reader) error {
		state, err := r.Owner(f.Owner)
		if err != nil {
			return err
		}
		entry.Epoch, entry.Seq, entry.Withdrawn = state.Epoch, state.Seq, state.ConsentWithdrawn
		for _, o := range covered {
			marks, err := r.Suppressions(f.Owner, o.At)
			if err != nil {
				return err
			}
			for _, m := range marks {
				entry.Marks = append(entry.Marks, m.Mark...)
			}
			s := o.Request.Selector
			entry.Working = entry.Working || o.Request.Mode == yiku.ForgetPurge && (s.All || s.Keyword != "")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.journal.Append(ctx, &entry); err != nil {
		return c.unjournaled(err)
	}
	return nil
}

// tendJournal drops entries that are older than every backup.
func (e *Engine) tendJournal(ctx context.Context) error {
	if e.journal == nil {
		return nil
	}
	_, err := e.journal.Compact(ctx, e.now().Add(-e.settings.BackupKeep))
	return err
}

// checkJournal reads through the journal and looks for what the audit log says
// was forgotten: refs with the times of their entries. What it lacks is a
// fault, but for what is older than the journal or pending, which it counts.
func (c *call) checkJournal(ctx context.Context, refs map[string]time.Time, res *yiku.VerifyAuditResponse) error {
	since := c.journal.Since()
	res.Journal, res.JournalSince = c.journal.Position().N, &since
	pending, err := c.store.Forgets(ctx)
	if err != nil {
		return err
	}
	res.JournalPending = len(pending)
	err = c.journal.Each(ctx, func(e journal.Entry) error {
		delete(refs, e.Ref)
		return nil
	})
	if errors.Is(err, yiku.ErrUnavailable) {
		res.Fault = err.Error()
		return nil
	}
	for _, f := range pending {
		delete(refs, f.Receipt)
		delete(refs, f.Deletion.Ref)
	}
	for ref, at := range refs {
		if at.Before(since) {
			res.JournalBefore++
		} else {
			res.Fault = "the forget journal lacks an entry of the audit log: " + ref
		}
	}
	return err
}
