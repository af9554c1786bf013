package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// promoteAt is in how many places a preference must have been stated to hold
// one level wider: in three tasks of a project for the project, in three
// projects for the user (C16). What constrains one project never is, nor what
// is less trusted than an agent's word.
const promoteAt = 3

// wider is the level above a memory's, and the place it was stated in, by which
// evidence is counted.
func wider(m yiku.Memory) (level yiku.Level, project, place string) {
	switch {
	case m.Level == yiku.LevelTask && m.ProjectID != "":
		return yiku.LevelProject, m.ProjectID, m.TaskID
	case m.Level == yiku.LevelTask:
		return yiku.LevelUser, "", m.TaskID
	case m.Level == yiku.LevelProject:
		return yiku.LevelUser, "", m.ProjectID
	}
	return "", "", ""
}

// promote makes a preference hold one level wider where it has been stated in
// enough places. What was demoted, or is no more, comes back on new evidence
// only: places that it does not rest on already.
func (c *call) promote(tx store.Tx, owner yiku.Owner, m store.Memory) error {
	level, project, _ := wider(m.Memory)
	if level == "" || m.Type != yiku.TypePreference || m.Status != yiku.StatusActive || m.Trust < trusted || m.Confidence < firm {
		return nil
	}
	wide := m
	wide.Memory = yiku.Memory{ID: c.newID(), Content: m.Content, Kind: m.Kind, Type: m.Type, Level: level, ProjectID: project, Subject: m.Subject, Attribute: m.Attribute,
		Value: m.Value, Single: m.Single, Topics: m.Topics, Status: yiku.StatusActive, Importance: m.Importance, Confidence: m.Confidence, Origin: m.Origin, Trust: m.Trust,
		ValidFrom: c.now, ConfirmedAt: c.now, CreatedAt: c.now, UpdatedAt: c.now}
	wide.Key, wide.Reason = 0, "promoted"
	wide = c.keyed(wide)
	evidence, err := c.evidence(tx, owner, m, wide)
	if err != nil || len(evidence) < promoteAt {
		return err
	}
	known, held, err := c.heldWider(tx, owner, wide)
	if err != nil || held {
		return err
	}
	old := map[string]bool{}
	for _, k := range known {
		items, err := tx.Sources(owner, store.Item{Kind: store.ItemMemory, Key: k.Key})
		if err != nil {
			return err
		}
		if k.Status == yiku.StatusActive {
			return tx.AddLineage(store.Item{Kind: store.ItemMemory, Key: k.Key}, itemsOf(evidence))
		}
		rows, err := tx.MemoriesByKey(owner, keysOf(items))
		if err != nil {
			return err
		}
		for _, row := range rows {
			_, _, place := wider(row.Memory)
			old[place] = true
		}
	}
	fresh := map[string]bool{}
	for _, row := range evidence {
		if _, _, place := wider(row.Memory); !old[place] {
			fresh[place] = true
		}
		wide.Importance, wide.Confidence = max(wide.Importance, row.Importance), min(wide.Confidence, row.Confidence)
		if row.Trust < wide.Trust {
			wide.Trust, wide.Origin = row.Trust, row.Origin
		}
		wide.DerivedFrom = append(wide.DerivedFrom, row.ID)
	}
	if len(fresh) < promoteAt {
		return nil
	}
	_, err = c.add(tx, wide, itemsOf(evidence), saved{})
	return err
}

// evidence are the active memories that state the same at a memory's level, its
// own among them: of a task those of its project. What was forgotten in its
// wider form counts from then on.
func (c *call) evidence(tx store.Tx, owner yiku.Owner, m, wide store.Memory) ([]store.Memory, error) {
	at, err := tx.SuppressedAt(c.blind(owner, c.memoryMarks(wide)))
	if err != nil {
		return nil, err
	}
	forgotten := slices.MaxFunc(append(at, time.Time{}), time.Time.Compare)
	query := store.MemoryQuery{Types: []yiku.Type{m.Type}, Statuses: []yiku.Status{yiku.StatusActive}, Levels: []yiku.Level{m.Level}}
	if m.Level == yiku.LevelTask {
		query.ProjectID = m.ProjectID
	}
	rows, err := tx.Memories(owner, query)
	return slices.DeleteFunc(rows, func(row store.Memory) bool {
		return !c.states(row.Memory, m.Memory) || row.Trust < trusted || row.Confidence < firm || c.over(row.Memory) ||
			!forgotten.IsZero() && !row.CreatedAt.After(forgotten) || m.Level == yiku.LevelTask && row.ProjectID != m.ProjectID
	}), err
}

// heldWider finds what states the same at the wider level, whatever became of
// it; held says that another value of the attribute holds there.
func (c *call) heldWider(tx store.Tx, owner yiku.Owner, wide store.Memory) (known []store.Memory, held bool, err error) {
	rows, err := tx.Memories(owner, store.MemoryQuery{Types: []yiku.Type{wide.Type}, Levels: []yiku.Level{wide.Level}, ProjectID: wide.ProjectID})
	if err != nil {
		return nil, false, err
	}
	known = slices.DeleteFunc(rows, func(row store.Memory) bool {
		return !sameScope(row.Memory, wide.Memory) || !c.states(row.Memory, wide.Memory)
	})
	twin, same, err := c.neighbours(tx, owner, &wide)
	if twin != nil && len(known) == 0 { // said there as something else
		return nil, true, err
	}
	held = slices.ContainsFunc(same, func(row store.Memory) bool { return (row.Single || wide.Single) && !c.states(row.Memory, wide.Memory) })
	return known, held, err
}

// states reports whether two memories state the same: by their words, or by
// subject, attribute and value.
func (c *call) states(a, b yiku.Memory) bool {
	if reconcile.ContentKey(a.Content) == reconcile.ContentKey(b.Content) {
		return true
	}
	place := c.place(store.Memory{Memory: a})
	return place != "" && a.Value != "" && place == c.place(store.Memory{Memory: b}) && reconcile.ContentKey(a.Value) == reconcile.ContentKey(b.Value)
}

func itemsOf(rows []store.Memory) []store.Item {
	items := make([]store.Item, len(rows))
	for i, row := range rows {
		items[i] = store.Item{Kind: store.ItemMemory, Key: row.Key}
	}
	return items
}

func keysOf(items []store.Item) []int64 {
	var keys []int64
	for _, item := range items {
		if item.Kind == store.ItemMemory {
			keys = append(keys, item.Key)
		}
	}
	return keys
}

// demoteMemory takes a promotion back: the wider memory is archived, and what it
// was promoted from holds where it was stated. The same places do not promote
// it again.
func (c *call) demoteMemory(ctx context.Context, req yiku.DemoteMemoryRequest) (yiku.Memory, error) {
	return c.revive(ctx, req.UserID, req.ID, req.IdempotencyKey, req, func(tx store.Tx, owner yiku.Owner, m *store.Memory) (string, error) {
		first := m.Reason
		versions, err := tx.Versions(owner, m.Key)
		if err != nil {
			return "", err
		}
		if len(versions) > 0 {
			first = versions[len(versions)-1].Reason
		}
		if first != "promoted" || m.Status != yiku.StatusActive {
			return "", conflictOn("id", "it is no active memory that was promoted")
		}
		if err := c.stale(tx, owner, m.Key, map[int64]bool{m.Key: true}); err != nil {
			return "", err
		}
		m.Status = yiku.StatusArchived
		return "demoted", nil
	})
}

// keepOfTask keeps what of a task's working memory is worth it (B5): what the
// caller names, where the task was; and its temporary preferences as its own,
// so that those which come back task after task are promoted.
func (c *call) keepOfTask(tx store.Tx, owner yiku.Owner, req yiku.CompleteTaskRequest) ([]store.Memory, error) {
	row, err := tx.Working(owner, req.ProjectID, req.TaskID, "")
	if err != nil && !errors.Is(err, yiku.ErrNotFound) {
		return nil, err
	}
	var kept []store.Memory
	keep := func(m yiku.SaveMemoryRequest) error {
		if c.checkProposal(m) != nil {
			return nil // too long to be a memory, or it says nothing
		}
		s, err := c.save(tx, owner, m, nil)
		if errors.Is(err, yiku.ErrConflict) {
			return nil
		}
		kept = append(kept, s.memory)
		return err
	}
	for i, name := range req.Keep {
		slot, isSlot := row.DataSlots[name]
		value, isPreference := row.Preferences[name]
		switch {
		case isPreference:
			err = keep(c.slotMemory(req, yiku.TypePreference, false, name, value))
		case isSlot:
			err = keep(c.slotMemory(req, yiku.TypeFact, false, name, slot))
		default:
			return nil, yiku.Invalid(fmt.Sprintf("keep[%d]", i), "there is no such slot or preference")
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(row.Preferences)) {
		if !slices.Contains(req.Keep, name) {
			if err := keep(c.slotMemory(req, yiku.TypePreference, true, name, row.Preferences[name])); err != nil {
				return nil, err
			}
		}
	}
	return kept, nil
}

// slotMemory is a slot or preference of a task's working memory as a memory: of
// the task alone, or of where the task was.
func (c *call) slotMemory(req yiku.CompleteTaskRequest, kind yiku.Type, ofTask bool, name string, value any) yiku.SaveMemoryRequest {
	text, ok := value.(string)
	if !ok {
		if raw, err := json.Marshal(value); err == nil { // it came out of JSON
			text = string(raw)
		}
	}
	m := yiku.SaveMemoryRequest{UserID: req.UserID, ProjectID: req.ProjectID, SessionID: req.SessionID, Content: name + ": " + text, Type: kind,
		Subject: "user", Attribute: name, Value: text, Level: yiku.LevelUser, Origin: yiku.OriginAgent}
	if kind != yiku.TypePreference {
		m.Subject = "project"
	}
	switch {
	case ofTask:
		m.Level, m.TaskID = yiku.LevelTask, req.TaskID
	case req.ProjectID != "":
		m.Level = yiku.LevelProject
	}
	return m
}
