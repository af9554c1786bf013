package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

const (
	// forgetBatch is how many rows one transaction of a forget looks at: small
	// enough that other people's appends hardly wait.
	forgetBatch  = 64
	maxForgetIDs = 1000 // memory ids that an answer names
)

// forget forgets what a selector names (E1, E2). The owner's epoch rises first,
// so that nothing derived before can be written after. Then the owner's rows
// are worked through in small transactions that note how far they came, so that
// a crash only interrupts it. A second scan proves it, and the receipt says so.
func (c *call) forget(ctx context.Context, req yiku.ForgetRequest) (yiku.ForgetResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.ForgetResponse{}, err
	}
	if err := c.checkForget(&req); err != nil {
		return yiku.ForgetResponse{}, err
	}
	if req.DryRun {
		return c.previewForget(ctx, owner, req)
	}
	if err := c.settlePending(ctx, owner); err != nil {
		return yiku.ForgetResponse{}, err
	}
	id := c.newID()
	var again bool
	receipt, err := c.forgets.run(ctx, id, func(own context.Context) (store.Receipt, error) {
		f, done, err := c.beginForget(ctx, owner, req, id)
		switch {
		case err != nil && ctx.Err() != nil: // it may have begun all the same
			return c.goOn(own, owner, id)
		case err != nil:
			return store.Receipt{}, err
		case done != nil:
			again = true
			return *done, nil
		}
		return c.carryOut(own, f)
	})
	if err != nil {
		return yiku.ForgetResponse{}, err
	}
	res := forgetResponse(receipt)
	if again {
		return res, nil
	}
	c.event.MemoryIDs = res.IDs[:min(len(res.IDs), maxEventIDs)]
	c.count("removed_memories", receipt.Removed.Memories)
	c.count("removed_messages", receipt.Removed.Messages)
	return res, nil
}

func forgetResponse(r store.Receipt) yiku.ForgetResponse {
	return yiku.ForgetResponse{ReceiptID: r.ID, Removed: r.Removed, IDs: append([]string{}, r.IDs...), Verified: r.Verified}
}

// checkForget fills in the defaults and checks that exactly one way of
// selecting is used.
func (c *call) checkForget(req *yiku.ForgetRequest) error {
	if req.Sources == "" {
		req.Sources = yiku.SourcesDelete
	}
	if req.Mode == "" {
		req.Mode = yiku.ForgetPurge
	}
	if req.Trigger == "" {
		req.Trigger = yiku.TriggerUser
	}
	s := req.Selector
	if ways := waysOf(s); len(ways) != 1 {
		return yiku.Invalid("selector", "must have exactly one of all, keyword, query, ids, filter, from/to, source")
	}
	switch {
	case s.Query != "":
		return &yiku.Error{Sentinel: yiku.ErrUnsupported, Fields: []yiku.FieldError{{Field: "selector.query", Message: "forgetting by meaning is not in this version"}}}
	case s.MinRelevance != nil:
		return yiku.Invalid("selector.min_relevance", "stands beside query only")
	case s.Keyword != "" && reconcile.ContentKey(s.Keyword) == "":
		return yiku.Invalid("selector.keyword", "says nothing")
	case s.Source != nil && s.Source.MessageID != "" && s.Source.SessionID == "":
		return yiku.Invalid("selector.source.session_id", "a message is named within its session")
	case s.Source != nil && (s.Source.Origin == "") == (s.Source.SessionID == ""):
		return yiku.Invalid("selector.source", "must have either origin or session_id")
	case req.Mode == yiku.ForgetArchive && s.All:
		return yiku.Invalid("mode", "everything cannot be archived, only forgotten")
	}
	if err := checkRange(s.From, s.To); err != nil {
		return yiku.Invalid("selector.to", "must be after from")
	}
	for i, id := range s.IDs {
		if err := yiku.CheckID("selector.ids", id); err != nil {
			return yiku.Invalid("selector.ids", "number %d is not an id", i+1)
		}
	}
	return nil
}

// waysOf names the ways of selecting that a selector uses.
func waysOf(s yiku.Selector) []string {
	var ways []string
	for _, w := range []struct {
		name string
		used bool
	}{{"all", s.All}, {"keyword", s.Keyword != ""}, {"query", s.Query != ""}, {"ids", len(s.IDs) > 0}, {"filter", s.Filter != nil},
		{"time", !s.From.IsZero() || !s.To.IsZero()}, {"source", s.Source != nil}} {
		if w.used {
			ways = append(ways, w.name)
		}
	}
	return ways
}

// receiptRef is what the record of a forget keeps.
type receiptRef struct {
	Receipt string `json:"receipt"`
}

// beginForget raises the epoch and notes the forget as in progress, in one
// transaction. A replay gives the receipt that there is, or goes on with what
// was interrupted.
func (c *call) beginForget(ctx context.Context, owner yiku.Owner, req yiku.ForgetRequest, id string) (store.Forget, *store.Receipt, error) {
	f := store.Forget{Owner: owner, Receipt: id, Actor: c.actor(), At: c.now, Request: req}
	ref, err := onceAlways(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (receiptRef, []store.Item, error) {
		if err := c.checkForgetIDs(tx, owner, req); err != nil {
			return receiptRef{}, nil, err
		}
		state, err := tx.Owner(owner)
		if err != nil {
			return receiptRef{}, nil, err
		}
		f.UpTo = state.Seq
		if f.Epoch, err = tx.RaiseEpoch(); err != nil {
			return receiptRef{}, nil, err
		}
		return receiptRef{f.Receipt}, nil, tx.PutForget(&f)
	})
	if err != nil {
		return f, nil, err
	}
	if ref.Receipt == f.Receipt {
		return f, nil, nil
	}
	done, err := c.readReceipt(ctx, owner, ref.Receipt)
	if errors.Is(err, yiku.ErrNotFound) {
		done, err = c.resume(ctx, owner, ref.Receipt)
	}
	return f, &done, err
}

// checkForgetIDs refuses ids that name nothing of the user, before anything changes.
func (c *call) checkForgetIDs(r store.Reader, owner yiku.Owner, req yiku.ForgetRequest) error {
	for _, id := range req.Selector.IDs {
		if _, err := r.Memory(owner, id); err != nil {
			return err
		}
	}
	if s := req.Selector.Source; s != nil && s.SessionID != "" {
		session, err := r.Session(owner, s.SessionID)
		if s.MessageID == "" && errors.Is(err, yiku.ErrNotFound) {
			var traced bool
			if traced, err = c.traced(r, owner, s.SessionID); err == nil && !traced {
				err = yiku.ErrNotFound
			}
		}
		if err != nil || s.MessageID == "" {
			return err
		}
		_, err = r.MessageByID(owner, session.Key, s.MessageID)
		return err
	}
	return nil
}

// carryOut works through a forget that has begun, proves it and writes the
// receipt. It may be called again after any interruption.
func (c *call) carryOut(ctx context.Context, f store.Forget) (store.Receipt, error) {
	sel, err := c.selection(ctx, f)
	if err != nil {
		return store.Receipt{}, goesOn(err)
	}
	for _, step := range []func(context.Context, *store.Forget, selection) error{c.forgetMemories, c.forgetMessages, c.forgetSessions, c.forgetCopies} {
		if err := step(ctx, &f, sel); err != nil {
			return store.Receipt{}, goesOn(err)
		}
	}
	receipt := c.receiptOf(f)
	if err := c.record(ctx, f, &receipt.Receipt); err != nil {
		return store.Receipt{}, err
	}
	if err := c.endForget(ctx, f, &receipt); err != nil {
		return store.Receipt{}, goesOn(err)
	}
	c.scrub(ctx)
	return receipt, nil
}

// scrub makes the store let go of the bytes of what was deleted, where it keeps
// them in a log for a while. What a long reader keeps it from it does later.
func (e *Engine) scrub(ctx context.Context) {
	if s, ok := e.store.(interface{ Checkpoint(context.Context) error }); ok {
		if err := s.Checkpoint(ctx); err != nil {
			e.log.Warn("log not cut after a forget", "error", err)
		}
	}
}

// forgetMemories goes through the owner's memories in the order of their keys.
func (c *call) forgetMemories(ctx context.Context, f *store.Forget, sel selection) error {
	for after, more := int64(0), true; more; {
		err := c.step(ctx, f, sel, func(tx store.Tx, next *store.Forget) error {
			rows, err := tx.OwnerMemories(f.Owner, after, f.UpTo, forgetBatch)
			if err != nil {
				return err
			}
			if more = len(rows) == forgetBatch; more {
				after = rows[len(rows)-1].Key
			}
			h := newHaul(sel)
			for _, row := range rows {
				takes, err := sel.takes(tx, f.Owner, row)
				switch {
				case err != nil:
				case !takes:
				case f.Request.Mode == yiku.ForgetArchive:
					err = c.archive(tx, next, row)
				default:
					err = c.haulMemory(tx, f, h, row)
				}
				if err != nil {
					return err
				}
			}
			return c.purge(tx, next, h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetMessages goes through the owner's messages; what was derived from one
// goes with it.
func (c *call) forgetMessages(ctx context.Context, f *store.Forget, sel selection) error {
	if !sel.messages {
		return nil
	}
	for after, more := int64(0), true; more; {
		err := c.step(ctx, f, sel, func(tx store.Tx, next *store.Forget) error {
			rows, err := tx.OwnerMessages(f.Owner, after, f.UpTo, forgetBatch)
			if err != nil {
				return err
			}
			if more = len(rows) == forgetBatch; more {
				after = rows[len(rows)-1].Key
			}
			h := newHaul(sel)
			for _, row := range rows {
				if !sel.message(row) {
					continue
				}
				if err := c.haulMessage(tx, f, h, row); err != nil {
					return err
				}
			}
			return c.purge(tx, next, h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// step runs one transaction of a forget. What it did and the note of it are
// committed together; where it fails, neither is.
func (c *call) step(ctx context.Context, f *store.Forget, sel selection, do func(store.Tx, *store.Forget) error) error {
	var next store.Forget
	err := sel.update(ctx, func(tx store.Tx) error {
		next = *f
		next.IDs = slices.Clip(f.IDs)
		if err := do(tx, &next); err != nil {
			return err
		}
		return tx.PutForget(&next)
	})
	if err == nil {
		*f = next
	}
	return err
}

// haul is what one transaction of a forget deletes, each row once.
type haul struct {
	replayed bool // by the journal, which names each row that went
	forks    map[string][]store.Session
	selects  func(store.Message) bool // what the selector names itself
	seen     map[store.Item]bool
	memories []store.Memory
	messages []store.Message
}

func newHaul(sel selection) *haul {
	h := &haul{replayed: sel.replayed, forks: sel.forks, selects: sel.message, seen: map[store.Item]bool{}}
	if !sel.messages || h.selects == nil {
		h.selects = func(store.Message) bool { return false }
	}
	return h
}

func (h *haul) addMessages(rows []store.Message) {
	for _, row := range rows {
		if item := (store.Item{Kind: store.ItemMessage, Key: row.Key}); !h.seen[item] {
			h.seen[item], h.messages = true, append(h.messages, row)
		}
	}
}

// haulMemory adds a memory, behind what was derived from it, and, where the
// request says so, the messages that it came from.
func (c *call) haulMemory(r store.Reader, f *store.Forget, h *haul, row store.Memory) error {
	item := store.Item{Kind: store.ItemMemory, Key: row.Key}
	if h.seen[item] {
		return nil
	}
	h.seen[item] = true
	if err := c.haulDerived(r, f, h, item); err != nil {
		return err
	}
	h.memories = append(h.memories, row)
	if f.Request.Sources != yiku.SourcesDelete {
		return nil
	}
	sources, err := r.Sources(f.Owner, item)
	if err != nil {
		return err
	}
	var keys []int64
	for _, s := range sources {
		if s.Kind == store.ItemMessage {
			keys = append(keys, s.Key)
		}
	}
	messages, err := r.MessagesByKey(f.Owner, keys)
	if err == nil {
		messages, err = c.withCopies(r, f.Owner, h, messages)
	}
	h.addMessages(messages)
	for _, m := range messages { // one that is named itself takes what else was learnt from it, as it would if it were met first
		if err == nil && h.selects(m) {
			err = c.haulDerived(r, f, h, store.Item{Kind: store.ItemMessage, Key: m.Key})
		}
	}
	return err
}

// haulMessage adds a message and the copies that forks have of it, and what
// was derived from them.
func (c *call) haulMessage(r store.Reader, f *store.Forget, h *haul, row store.Message) error {
	rows, err := c.withCopies(r, f.Owner, h, []store.Message{row})
	if err != nil {
		return err
	}
	h.addMessages(rows)
	for _, row := range rows {
		if err := c.haulDerived(r, f, h, store.Item{Kind: store.ItemMessage, Key: row.Key}); err != nil {
			return err
		}
	}
	return nil
}

// haulDerived adds the memories that were derived from an item, and those
// derived from them.
func (c *call) haulDerived(r store.Reader, f *store.Forget, h *haul, item store.Item) error {
	if h.replayed {
		return nil
	}
	derived, err := r.Derived(f.Owner, item)
	if err != nil {
		return err
	}
	var keys []int64
	for _, d := range derived {
		if d.Kind == store.ItemMemory {
			keys = append(keys, d.Key)
		}
	}
	rows, err := r.MemoriesByKey(f.Owner, keys)
	if err != nil {
		return err
	}
	for _, row := range rows { // none where it went by another way already
		if err := c.haulMemory(r, f, h, row); err != nil {
			return err
		}
	}
	return nil
}

// purge deletes a haul, and puts what it said on the suppression list.
func (c *call) purge(tx store.Tx, f *store.Forget, h *haul) error {
	if len(h.seen) == 0 {
		return nil
	}
	var memories, messages []int64
	var names []string
	for _, row := range h.memories {
		memories, names = append(memories, row.Key), append(names, c.memoryMarks(row)...)
		if len(f.IDs) < maxForgetIDs {
			f.IDs = append(f.IDs, row.ID)
		}
	}
	for _, row := range h.messages {
		messages, names = append(messages, row.Key), append(names, messageMark(row.SessionID, row.Message))
	}
	if err := c.suppress(tx, f.Owner, f.At, names...); err != nil {
		return err
	}
	if h.replayed { // what was derived and is not named itself became stale
		gone := map[int64]bool{}
		for _, key := range memories {
			gone[key] = true
		}
		for _, key := range memories {
			if err := c.stale(tx, f.Owner, key, gone); err != nil {
				return err
			}
		}
	}
	return tx.Purge(memories, messages, &f.Removed)
}

func archivable(row store.Memory) bool {
	return row.Status == yiku.StatusActive || row.Status == yiku.StatusStale
}

func (c *call) archive(tx store.Tx, f *store.Forget, row store.Memory) error {
	if !archivable(row) {
		return nil
	}
	f.Removed.Archived++
	if len(f.IDs) < maxForgetIDs {
		f.IDs = append(f.IDs, row.ID)
	}
	if err := c.suppress(tx, f.Owner, f.At, archivedMark(row)); err != nil {
		return err
	}
	return c.withdraw(tx, f.Owner, row, yiku.StatusArchived, "archived")
}

// forgetSessions deletes the sessions that a selector takes whole, once their
// messages are gone, and the working memory that says what is forgotten.
func (c *call) forgetSessions(ctx context.Context, f *store.Forget, sel selection) error {
	if f.Request.Mode == yiku.ForgetArchive {
		return nil
	}
	return c.step(ctx, f, sel, func(tx store.Tx, next *store.Forget) error {
		err := c.eachSession(tx, f, sel, func(row store.Session) error { return c.purgeSession(tx, next, row) })
		if err != nil {
			return err
		}
		if err := errors.Join(c.clearMetadata(tx, next, sel.metadata), c.disown(tx, f, sel)); err != nil {
			return err
		}
		if err := c.purgeTasks(tx, next, sel.tasks); err != nil {
			return err
		}
		if sel.working == nil && !f.Request.Selector.All {
			return nil
		}
		if source := f.Request.Selector.Source; source != nil {
			if err := c.suppress(tx, f.Owner, f.At, workingMark(source.SessionID), carriedMark(source.SessionID)); err != nil {
				return err
			}
		}
		return c.purgeWorking(tx, next, sel.working)
	})
}

// eachSession calls do for the sessions that a selector takes whole.
func (c *call) eachSession(r store.Reader, f *store.Forget, sel selection, do func(store.Session) error) error {
	if sel.sessions == nil {
		return nil
	}
	query := store.SessionQuery{Limit: forgetBatch}
	for {
		rows, err := r.Sessions(f.Owner, query)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Key&seqMask <= f.UpTo && sel.sessions(row) {
				if err := do(row); err != nil {
					return err
				}
			}
		}
		if len(rows) < forgetBatch {
			return nil
		}
		query.After = rows[len(rows)-1].Place()
	}
}

// seqMask takes the owner's sequence number out of a row's key.
const seqMask = 1<<40 - 1

// purgeSession deletes a session's row where no later message holds it.
func (c *call) purgeSession(tx store.Tx, f *store.Forget, row store.Session) error {
	n, err := tx.CountMessages(f.Owner, row.Key)
	if err != nil || n > 0 {
		return err
	}
	if err := c.suppress(tx, f.Owner, f.At, sessionMark(row.ID)); err != nil {
		return err
	}
	return tx.PurgeSession(row.Key, &f.Removed)
}

// forgetCopies deletes what holds copies of content for a while.
func (c *call) forgetCopies(ctx context.Context, f *store.Forget, sel selection) error {
	if f.Request.Mode == yiku.ForgetArchive {
		return nil
	}
	if drop, some := sel.copies(f); some {
		err := c.step(ctx, f, sel, func(tx store.Tx, next *store.Forget) error { return tx.PurgeCopies(drop, &next.Removed) })
		if err != nil {
			return err
		}
	}
	_, err := c.finder.sync(ctx, f.Owner)
	return err
}

// endForget scans again, writes the receipt and the audit entry, and deletes
// the note, in one transaction.
func (c *call) endForget(ctx context.Context, f store.Forget, receipt *store.Receipt) error {
	return c.store.Update(ctx, f.Owner, store.Request, func(tx store.Tx) error {
		if err := prove(tx, f, receipt); err != nil {
			return err
		}
		if err := c.proveMetadata(tx, f, receipt); err != nil {
			return err
		}
		var err error
		receipt.Audit, err = c.audit(tx, f.Owner, store.AuditEntry{Actor: f.Actor, Action: actionForget, Trigger: string(f.Request.Trigger), Ref: f.Receipt, Counts: counts(f.Removed)})
		if err != nil {
			return err
		}
		if err := tx.PutReceipt(receipt); err != nil {
			return err
		}
		if err := c.rebuildSummaries(tx, f); err != nil {
			return err
		}
		return tx.EndForget(f.Key)
	})
}

// audit appends an entry to the audit log, in the transaction of what it
// tells of, and returns its number (E8).
func (c *call) audit(tx store.Tx, owner yiku.Owner, e store.AuditEntry) (int64, error) {
	e.At, e.Subject = c.now, c.chain.Subject(owner)
	if e.Actor == "" {
		e.Actor = c.actor()
	}
	err := tx.Audit(&e, c.chain.Seal)
	return e.N, err
}
