package engine

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// found is a memory's row with the owner that it belongs to.
type found struct {
	store.Memory
	owner yiku.Owner
}

// findMemory reads a memory by id: the user's, or else one that all users of
// the tenant share. Somebody else's is not found, as if it did not exist.
func (c *call) findMemory(r store.Reader, user yiku.Owner, id string) (found, error) {
	row, err := r.Memory(user, id)
	if !errors.Is(err, yiku.ErrNotFound) {
		return found{row, user}, err
	}
	shared, err := yiku.SharedOwner(user.Tenant())
	if err != nil {
		return found{}, err
	}
	row, err = r.Memory(shared, id)
	return found{row, shared}, err
}

// ownerOfMemory says whose update a change of the memory must be, and refuses
// a change of a shared one by anybody but operators.
func (c *call) ownerOfMemory(ctx context.Context, userID, id string) (yiku.Owner, error) {
	user, err := c.owner(userID)
	if err != nil {
		return yiku.Owner{}, err
	}
	c.event.MemoryIDs = []string{id}
	owner := user
	err = c.store.View(ctx, func(r store.Reader) error {
		f, err := c.findMemory(r, user, id)
		owner = f.owner
		return err
	})
	if err == nil && owner.IsShared() {
		_, err = c.ownerOfLevel(user, yiku.LevelShared)
	}
	return owner, err
}

// answered reads a memory for the answer of a write. made is what the write read
// in its own transaction, so that the answer shows what it did and not what
// somebody else has done since; it is nil at a replay, which gives what there is.
func (c *call) answered(ctx context.Context, owner yiku.Owner, id string, made *store.Memory) (yiku.Memory, error) {
	if made != nil {
		return made.Memory, nil
	}
	var out yiku.Memory
	err := c.store.View(ctx, func(r store.Reader) error {
		row, err := r.Memory(owner, id)
		out = row.Memory
		return err
	})
	return out, err
}

func (c *call) getMemory(ctx context.Context, req yiku.MemoryRequest) (yiku.Memory, error) {
	user, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Memory{}, err
	}
	c.event.MemoryIDs = []string{req.ID}
	var out yiku.Memory
	err = c.store.View(ctx, func(r store.Reader) error {
		f, err := c.findMemory(r, user, req.ID)
		out = f.Memory.Memory
		return err
	})
	return out, err
}

func (c *call) listMemories(ctx context.Context, req yiku.ListMemoriesRequest) (yiku.Page[yiku.Memory], error) {
	var page yiku.Page[yiku.Memory]
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	if req.Level == yiku.LevelShared {
		if owner, err = yiku.SharedOwner(owner.Tenant()); err != nil {
			return page, err
		}
	}
	scope := req
	scope.Paging = yiku.Paging{}
	query := c.memoryQuery(req)
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &query.Before, scope); err != nil {
			return page, err
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		rows, err := r.Memories(owner, query)
		if err != nil {
			return err
		}
		rows, page.NextCursor, err = cut(c, rows, limitOf(req.Paging), scope, func(m store.Memory) any { return m.Key })
		if err != nil {
			return err
		}
		page.Items = memoriesOf(rows)
		switch total := len(rows); {
		case req.Cursor != "":
		case page.NextCursor == "": // they are all on this page
			page.Total = &total
		default:
			total, err = r.CountMemories(owner, query)
			page.Total = &total
		}
		return err
	})
	c.count("items", len(page.Items))
	return page, err
}

func (c *call) memoryQuery(req yiku.ListMemoriesRequest) store.MemoryQuery {
	q := store.MemoryQuery{ProjectID: req.ProjectID, TaskID: req.TaskID, Topic: req.Topic, Limit: limitOf(req.Paging) + 1,
		Statuses: []yiku.Status{yiku.StatusActive}}
	if req.Status != "" {
		q.Statuses = []yiku.Status{req.Status}
	}
	if req.Type != "" {
		q.Types = []yiku.Type{req.Type}
	}
	if req.Kind != "" {
		q.Kinds = []yiku.Kind{req.Kind}
	}
	if req.Level != "" && req.Level != yiku.LevelShared {
		q.Levels = []yiku.Level{req.Level}
	}
	if req.Subject != "" {
		q.SubjectNorm = reconcile.SubjectKey(req.Subject)
	}
	if req.Attribute != "" {
		q.AttributeNorm = c.vocabulary.Canonical(req.Attribute)
	}
	if q.Statuses[0] == yiku.StatusActive { // what is over is not active, also before a sweep has come by
		q.Filter = activeAt(c.now)
	}
	return q
}

// change reads a memory, lets fn change it, writes it with the reason where fn
// says so, and gives it as it is then.
func (c *call) change(ctx context.Context, owner yiku.Owner, id, match string, fn func(store.Tx, *store.Memory) (reason string, err error)) (yiku.Memory, error) {
	var out yiku.Memory
	err := c.update(ctx, owner, func(tx store.Tx) error {
		row, err := tx.Memory(owner, id)
		if err != nil {
			return err
		}
		if err := ifMatch(match, row.ETag()); err != nil {
			return err
		}
		if err := c.changeRow(tx, row, fn); err != nil {
			return err
		}
		row, err = tx.Memory(owner, id)
		out = row.Memory
		return err
	})
	if err != nil {
		return yiku.Memory{}, err
	}
	return out, nil
}

func (c *call) changeRow(tx store.Tx, row store.Memory, fn func(store.Tx, *store.Memory) (string, error)) error {
	before := row
	reason, err := fn(tx, &row)
	if err != nil || reason == "" || reflect.DeepEqual(row.Memory, before.Memory) {
		return err
	}
	row.UpdatedAt = c.now
	c.renorm(&row, before)
	return tx.UpdateMemory(&row, reason)
}

func (c *call) patchMemory(ctx context.Context, req yiku.PatchMemoryRequest) (yiku.Memory, error) {
	owner, err := c.ownerOfMemory(ctx, req.UserID, req.ID)
	if err != nil {
		return yiku.Memory{}, err
	}
	return c.change(ctx, owner, req.ID, req.IfMatch, func(tx store.Tx, m *store.Memory) (string, error) {
		before := *m
		if err := c.patch(m, req); err != nil {
			return "", err
		}
		if err := c.checkPlace(tx, owner, before, m); err != nil {
			return "", err
		}
		if before.Content != m.Content || before.Value != m.Value || before.Subject != m.Subject || before.Attribute != m.Attribute ||
			m.Status == yiku.StatusArchived && before.Status != m.Status {
			if err := c.stale(tx, owner, m.Key, map[int64]bool{m.Key: true}); err != nil {
				return "", err
			}
		}
		return "patched", nil
	})
}

// patch applies a merge patch to a memory.
func (c *call) patch(m *store.Memory, req yiku.PatchMemoryRequest) error {
	if req.Content.Present {
		if req.Content.Null || reconcile.ContentKey(req.Content.Value) == "" {
			return yiku.Invalid("content", "must say something")
		}
		if m.Skill != nil && m.Content != req.Content.Value {
			m.Skill = rewritten(*m.Skill, req.Content.Value)
		}
		m.Content = req.Content.Value
	}
	if req.Type.Present {
		if req.Type.Null {
			return yiku.Invalid("type", "must not be null")
		}
		if m.Kind != req.Type.Value.Kind() {
			return yiku.Invalid("type", "must stay of the kind %s", m.Kind)
		}
		m.Type = req.Type.Value
	}
	if req.Status.Present {
		if req.Status.Null {
			return yiku.Invalid("status", "must not be null")
		}
		if m.Status != yiku.StatusActive && m.Status != yiku.StatusArchived {
			return yiku.Invalid("status", "that of a %s memory is changed by restore, confirm or review", m.Status)
		}
		m.Status = req.Status.Value
	}
	set(&m.Subject, req.Subject)
	set(&m.Attribute, req.Attribute)
	set(&m.Value, req.Value)
	set(&m.Topics, req.Topics)
	set(&m.Pinned, req.Pinned)
	set(&m.ValidTo, req.ValidTo)
	set(&m.ExpiresAt, req.ExpiresAt)
	setOr(&m.Importance, req.Importance, defaultImportance)
	setOr(&m.Confidence, req.Confidence, defaultConfidence)
	setOr(&m.ValidFrom, req.ValidFrom, m.CreatedAt)
	if req.Metadata.Present {
		m.Metadata = mergeObject(m.Metadata, yiku.Opt[map[string]any]{Present: true, Null: req.Metadata.Null, Value: req.Metadata.Value})
	}
	if req.Attribute.Present {
		m.Single = m.Attribute != "" && c.vocabulary.Single(m.Attribute)
	}
	switch {
	case m.Attribute != "" && m.Subject == "":
		return yiku.Invalid("subject", "an attribute needs a subject")
	case m.Value != "" && m.Attribute == "":
		return yiku.Invalid("attribute", "a value needs an attribute")
	case req.ExpiresAt.Present && !req.ExpiresAt.Null && !req.ExpiresAt.Value.After(c.now):
		return yiku.Invalid("expires_at", "is past")
	}
	return checkInterval(m.ValidFrom, m.ValidTo)
}

func set[T any](to *T, opt yiku.Opt[T]) {
	var zero T
	setOr(to, opt, zero)
}

func setOr[T any](to *T, opt yiku.Opt[T], null T) {
	switch {
	case opt.Null:
		*to = null
	case opt.Present:
		*to = opt.Value
	}
}

// checkPlace refuses a change that would put a memory into a place that another
// one holds: the same content, the same single-valued attribute, or its time.
func (c *call) checkPlace(tx store.Tx, owner yiku.Owner, before store.Memory, m *store.Memory) error {
	if m.Status != yiku.StatusActive && m.Status != yiku.StatusSuperseded {
		return nil
	}
	moved := before.Status != m.Status || before.Attribute != m.Attribute || before.Subject != m.Subject
	if m.Status == yiku.StatusActive {
		probe := c.keyed(*m)
		twin, same, err := c.neighbours(tx, owner, &probe)
		if err != nil {
			return err
		}
		if twin != nil && twin.Key != m.Key {
			return conflictOn("content", "another memory says this already")
		}
		for _, other := range same {
			if moved && (other.Single || m.Single) {
				return conflictOn("attribute", "another memory holds this attribute's value; save the new value or restore the old one")
			}
		}
	}
	if !moved && before.ValidFrom.Equal(m.ValidFrom) && before.ValidTo.Equal(m.ValidTo) {
		return nil
	}
	taken, err := c.overlaps(tx, owner, *m)
	if err != nil || !taken {
		return err
	}
	if before.ValidTo.Equal(m.ValidTo) {
		return conflictOn("valid_from", "another value of this attribute holds in that time")
	}
	return conflictOn("valid_to", "another value of this attribute holds in that time")
}

// deleteMemory deletes one memory for good. The epoch rises, so that nothing
// derived from it before can be written after.
func (c *call) deleteMemory(ctx context.Context, req yiku.DeleteMemoryRequest) (yiku.Empty, error) {
	owner, err := c.ownerOfMemory(ctx, req.UserID, req.ID)
	if err != nil {
		return yiku.Empty{}, err
	}
	return yiku.Empty{}, c.delete(ctx, owner, actionDeleteMemory, func(tx store.Tx) (store.AuditEntry, error) {
		row, err := tx.Memory(owner, req.ID)
		if err == nil {
			err = ifMatch(req.IfMatch, row.ETag())
		}
		if err == nil {
			err = c.stale(tx, owner, row.Key, map[int64]bool{row.Key: true})
		}
		if err == nil {
			err = c.suppress(tx, owner, c.now, c.memoryMarks(row)...)
		}
		if err == nil {
			err = tx.DeleteMemory(row.Key)
		}
		return store.AuditEntry{Ref: row.ID}, err
	})
}

// memoryHistory gives what a memory is and was, newest first, and then the same
// of the memories whose place it took.
func (c *call) memoryHistory(ctx context.Context, req yiku.MemoryHistoryRequest) (yiku.Page[yiku.MemoryVersion], error) {
	var page yiku.Page[yiku.MemoryVersion]
	user, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	c.event.MemoryIDs = []string{req.ID}
	scope, skip := []string{req.UserID, req.ID}, 0
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &skip, scope); err != nil {
			return page, err
		}
	}
	var all []yiku.MemoryVersion
	err = c.store.View(ctx, func(r store.Reader) (err error) {
		all, err = c.history(r, user, req.ID)
		return err
	})
	if err != nil {
		return page, err
	}
	if req.Cursor == "" {
		total := len(all)
		page.Total = &total
	}
	end := min(skip+limitOf(req.Paging), len(all))
	page.Items = slices.Clone(all[min(skip, end):end])
	if end < len(all) {
		page.NextCursor, err = c.cursorOf(end, scope)
	}
	return page, err
}

func (c *call) history(r store.Reader, user yiku.Owner, id string) ([]yiku.MemoryVersion, error) {
	var all []yiku.MemoryVersion
	seen := map[string]bool{}
	for first := true; id != "" && !seen[id]; first = false {
		seen[id] = true
		f, err := c.findMemory(r, user, id)
		if errors.Is(err, yiku.ErrNotFound) && !first {
			return all, nil // a predecessor that was deleted since
		}
		if err != nil {
			return nil, err
		}
		all = append(all, yiku.MemoryVersion{Memory: f.Memory.Memory, Reason: f.Reason})
		versions, err := r.Versions(f.owner, f.Key)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			all = append(all, yiku.MemoryVersion(v))
		}
		id = f.Supersedes
	}
	return all, nil
}

func (c *call) memorySources(ctx context.Context, req yiku.MemoryRequest) (yiku.MemorySources, error) {
	var out yiku.MemorySources
	user, err := c.owner(req.UserID)
	if err != nil {
		return out, err
	}
	c.event.MemoryIDs = []string{req.ID}
	err = c.store.View(ctx, func(r store.Reader) error {
		f, err := c.findMemory(r, user, req.ID)
		if err != nil {
			return err
		}
		items, err := r.Sources(f.owner, store.Item{Kind: store.ItemMemory, Key: f.Key})
		if err != nil {
			return err
		}
		keys := map[store.ItemKind][]int64{}
		for _, item := range items {
			keys[item.Kind] = append(keys[item.Kind], item.Key)
		}
		messages, err := r.MessagesByKey(f.owner, keys[store.ItemMessage])
		if err != nil {
			return err
		}
		memories, err := r.MemoriesByKey(f.owner, keys[store.ItemMemory])
		out = yiku.MemorySources{Messages: messagesOf(messages), Memories: memoriesOf(memories)}
		return err
	})
	return out, err
}

// restoreMemory makes a memory active again. Where it is single-valued, what
// holds its place now becomes history.
func (c *call) restoreMemory(ctx context.Context, req yiku.RestoreMemoryRequest) (yiku.Memory, error) {
	return c.revive(ctx, req.UserID, req.ID, req.IdempotencyKey, req, func(tx store.Tx, owner yiku.Owner, m *store.Memory) (string, error) {
		switch m.Status {
		case yiku.StatusActive:
			if !c.over(m.Memory) {
				return "", nil
			}
		case yiku.StatusQuarantined:
			return "", conflictOn("id", "it waits for review")
		}
		probe := c.keyed(*m)
		twin, same, err := c.neighbours(tx, owner, &probe)
		if err != nil {
			return "", err
		}
		if twin != nil {
			return "", conflictOn("id", "another active memory says this already")
		}
		for _, other := range same {
			if m.Single || other.Single {
				if other.Trust > m.Trust {
					return "", conflictOn("id", "a more trusted memory holds this attribute's value")
				}
				if err := c.retire(tx, owner, other, c.now); err != nil {
					return "", err
				}
				m.Supersedes = other.ID
			}
		}
		c.unexpire(m)
		taken, err := c.overlaps(tx, owner, *m)
		if err != nil {
			return "", err
		}
		if taken || m.Status == yiku.StatusSuperseded {
			m.ValidFrom = c.now // it holds again from now; when it held before stands in its versions
		}
		m.Status, m.ConfirmedAt = yiku.StatusActive, c.now
		return "restored", nil
	})
}

// unexpire takes away an end that has passed.
func (c *call) unexpire(m *store.Memory) {
	if !m.ValidTo.After(c.now) {
		m.ValidTo = yiku.Memory{}.ValidTo
	}
	if !m.ExpiresAt.After(c.now) {
		m.ExpiresAt = yiku.Memory{}.ExpiresAt
	}
}

// confirmMemory says that a memory is still true.
func (c *call) confirmMemory(ctx context.Context, req yiku.ConfirmMemoryRequest) (yiku.Memory, error) {
	return c.revive(ctx, req.UserID, req.ID, req.IdempotencyKey, req, func(tx store.Tx, owner yiku.Owner, m *store.Memory) (string, error) {
		if m.Status != yiku.StatusActive && m.Status != yiku.StatusStale {
			return "", conflictOn("id", "only an active or stale memory can be confirmed; restore it first")
		}
		if c.over(m.Memory) {
			return "", conflictOn("id", "its time is over; restore it")
		}
		if m.Status == yiku.StatusStale {
			if taken, err := c.overlaps(tx, owner, *m); err != nil {
				return "", err
			} else if taken {
				return "", conflictOn("id", "another value of this attribute holds since; restore it")
			}
		}
		if life := m.ExpiresAt.Sub(m.ConfirmedAt); !m.ExpiresAt.IsZero() && life > 0 {
			m.ExpiresAt = c.now.Add(life)
		}
		m.Status, m.ConfirmedAt = yiku.StatusActive, c.now
		return "confirmed", nil
	})
}

// revive runs a change of one memory under an idempotency key and reads it back.
func (c *call) revive(ctx context.Context, userID, id, key string, req any, fn func(store.Tx, yiku.Owner, *store.Memory) (string, error)) (yiku.Memory, error) {
	owner, err := c.ownerOfMemory(ctx, userID, id)
	if err != nil {
		return yiku.Memory{}, err
	}
	var made *store.Memory
	_, err = once(ctx, c, owner, key, req, func(tx store.Tx) (saveRef, []store.Item, error) {
		row, err := tx.Memory(owner, id)
		if err != nil {
			return saveRef{}, nil, err
		}
		if err := c.changeRow(tx, row, func(tx store.Tx, m *store.Memory) (string, error) { return fn(tx, owner, m) }); err != nil {
			return saveRef{}, nil, err
		}
		row, err = tx.Memory(owner, id)
		made = &row
		return saveRef{ID: id}, []store.Item{{Kind: store.ItemMemory, Key: row.Key}}, err
	})
	if err != nil {
		return yiku.Memory{}, err
	}
	return c.answered(ctx, owner, id, made)
}
