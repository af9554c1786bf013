package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// receiptOf is the receipt of a forget, as long as nothing has been proven.
func (c *call) receiptOf(f store.Forget) store.Receipt {
	r := store.Receipt{IDs: f.IDs, Receipt: yiku.Receipt{ID: f.Receipt, UserID: f.Owner.User(), CreatedAt: f.At, Selector: waysOf(f.Request.Selector)[0],
		Mode: f.Request.Mode, Sources: f.Request.Sources, Trigger: f.Request.Trigger, Reason: f.Request.Reason, Epoch: f.Epoch, Removed: f.Removed}}
	if r.Mode == yiku.ForgetPurge {
		r.BackupsUntil = f.At.Add(c.settings.BackupKeep)
	}
	return r
}

// counts are what an entry of the audit log says of what went.
func counts(r yiku.Removed) map[string]int {
	return map[string]int{"memories": r.Memories, "messages": r.Messages, "sessions": r.Sessions,
		"archived": r.Archived, "working": r.Working, "slots": r.Slots, "snapshots": r.Snapshots,
		"entities": r.Entities, "relations": r.Relations}
}

// prove notes in a receipt what went since a forget began, and whether a scan
// finds it gone.
func prove(tx store.Tx, f store.Forget, receipt *store.Receipt) (err error) {
	if receipt.Gone, err = gone(tx, f); err != nil {
		return err
	}
	left, err := tx.Residue(f.Owner, receipt.Gone)
	receipt.Verified = true
	for _, n := range left {
		receipt.Verified = receipt.Verified && n == 0
	}
	return err
}

// gone lists what was deleted since a forget began. What others deleted
// meanwhile is among it: that is gone too.
func gone(r store.Reader, f store.Forget) (items []store.Item, err error) {
	changes, err := r.Changes(f.Owner, f.UpTo, 0)
	for _, ch := range changes {
		if ch.Deleted {
			items = append(items, ch.Item)
		}
	}
	return items, err
}

func (c *call) readReceipt(ctx context.Context, owner yiku.Owner, id string) (out store.Receipt, err error) {
	err = c.store.View(ctx, func(r store.Reader) (err error) {
		out, err = r.Receipt(owner, id)
		return err
	})
	return out, err
}

func (c *call) getReceipt(ctx context.Context, req yiku.ReceiptRequest) (yiku.Receipt, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Receipt{}, err
	}
	row, err := c.readReceipt(ctx, owner, req.ID)
	return row.Receipt, err
}

// verifyReceipt looks again for everything that a receipt says is gone, in
// every place of the store that could name it, and in the index.
func (c *call) verifyReceipt(ctx context.Context, req yiku.VerifyReceiptRequest) (yiku.VerifyReceiptResponse, error) {
	res := yiku.VerifyReceiptResponse{LookedAt: map[string]int{}, Found: map[string]int{}}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return res, err
	}
	if _, err := c.finder.sync(ctx, owner); err != nil {
		return res, err
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		row, err := r.Receipt(owner, req.ID)
		if err != nil {
			return err
		}
		left, err := r.Residue(owner, row.Gone)
		for place, n := range left {
			res.LookedAt[place] = len(row.Gone)
			if n > 0 {
				res.Found[place] = n
			}
		}
		if err != nil {
			return err
		}
		return c.verifyMetadata(r, owner, row.CreatedAt, &res)
	})
	res.Clean = len(res.Found) == 0
	return res, err
}

func (c *call) forgetLog(ctx context.Context, req yiku.ForgetLogRequest) (yiku.Page[yiku.Receipt], error) {
	var page yiku.Page[yiku.Receipt]
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	before := ""
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &before, req.UserID); err != nil {
			return page, err
		}
	}
	limit := limitOf(req.Paging)
	err = c.store.View(ctx, func(r store.Reader) error {
		rows, err := r.Receipts(owner, before, limit+1)
		if err != nil {
			return err
		}
		rows, page.NextCursor, err = cut(c, rows, limit, req.UserID, func(r store.Receipt) any { return r.ID })
		if err != nil {
			return err
		}
		for _, row := range rows {
			page.Items = append(page.Items, row.Receipt)
		}
		return nil
	})
	return page, err
}

// auditPage is how many entries of the audit log are read at a time.
const auditPage = 1000

// verifyAudit checks the whole chain (E8), and the forget journal with it.
func (c *call) verifyAudit(ctx context.Context, _ yiku.VerifyAuditRequest) (yiku.VerifyAuditResponse, error) {
	v := c.chain.Verifier()
	refs := map[string]time.Time{}
	for after := int64(0); ; {
		var entries []store.AuditEntry
		err := c.store.View(ctx, func(r store.Reader) (err error) {
			entries, err = r.AuditEntries(after, auditPage)
			return err
		})
		if err != nil {
			return yiku.VerifyAuditResponse{}, err
		}
		for _, e := range entries {
			if fault := v.Next(e); fault != "" {
				return yiku.VerifyAuditResponse{Entries: v.Entries(), Fault: fmt.Sprintf("entry %d: %s", e.N, fault)}, nil
			}
			switch e.Action {
			case actionForget, actionDeleteMemory, actionDeleteSession:
				refs[e.Ref] = e.At
			}
			after = e.N
		}
		if len(entries) < auditPage {
			break
		}
	}
	res := yiku.VerifyAuditResponse{Entries: v.Entries(), Head: v.Head(), Fault: v.End()}
	if c.journal != nil && res.Fault == "" {
		if err := c.checkJournal(ctx, refs, &res); err != nil {
			return res, err
		}
	}
	res.Valid = res.Fault == ""
	return res, nil
}
