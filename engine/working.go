package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// bench is where a call's working memory lives: a task's, or a session's own.
type bench struct {
	project, task, session, agent string
	since                         time.Time // when the session began: what was written later is not carried into it
}

// benchOf finds the place that the session and task of a request name. A
// session that is not there yet has a bench too: it begins now.
func (c *call) benchOf(r store.Reader, owner yiku.Owner, sessionID, task string) (bench, error) {
	b := bench{task: task, session: sessionID, since: c.now}
	session, err := r.Session(owner, sessionID)
	if errors.Is(err, yiku.ErrNotFound) {
		return b, nil
	}
	b.project, b.agent, b.since = session.ProjectID, session.AgentID, session.CreatedAt
	return b, err
}

// working reads what a bench holds: its own, or else the open work of the same
// project that was left before the session began (B5). It returns the row as
// stored beside the memory as seen; the row's zero value where there is none.
func (c *call) working(r store.Reader, owner yiku.Owner, b bench) (store.Working, error) {
	row, err := r.Working(owner, b.project, b.task, sessionKeyOf(b))
	if err == nil || !errors.Is(err, yiku.ErrNotFound) {
		return row, err
	}
	if b.task != "" {
		return store.Working{}, nil
	}
	row, err = r.OpenWorking(owner, b.project, b.agent)
	if errors.Is(err, yiku.ErrNotFound) {
		return store.Working{}, nil
	}
	if err != nil || !row.UpdatedAt.Before(b.since) && row.TaskID == "" {
		return store.Working{}, err
	}
	if row.SessionID != b.session {
		row.CarriedFrom = row.SessionID
		row.Preferences = nil // temporary: they ended with their session
	}
	return row, nil
}

func sessionKeyOf(b bench) string {
	if b.task != "" {
		return ""
	}
	return b.session
}

func (c *call) getWorking(ctx context.Context, req yiku.GetWorkingRequest) (yiku.WorkingMemory, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.WorkingMemory{}, err
	}
	c.event.Session = req.SessionID
	var out yiku.WorkingMemory
	err = c.store.View(ctx, func(r store.Reader) error {
		b, err := c.benchOf(r, owner, req.SessionID, req.TaskID)
		if err != nil {
			return err
		}
		row, err := c.working(r, owner, b)
		out = shown(row.WorkingMemory)
		return err
	})
	return out, err
}

// shown fills empty objects in, so that callers need not test for null.
func shown(w yiku.WorkingMemory) yiku.WorkingMemory {
	for _, m := range []*map[string]any{&w.TaskState, &w.DataSlots, &w.Preferences} {
		if *m == nil {
			*m = map[string]any{}
		}
	}
	if w.Todos == nil {
		w.Todos = []any{}
	}
	if w.Blocks == nil {
		w.Blocks = map[string]yiku.Block{}
	}
	return w
}

func (c *call) putWorking(ctx context.Context, req yiku.PutWorkingRequest) (yiku.WorkingMemory, error) {
	return c.changeWorking(ctx, req.UserID, req.SessionID, req.TaskID, req.IfMatch, func(w *yiku.WorkingMemory) error {
		w.TaskState, w.DataSlots, w.Preferences, w.Todos = req.TaskState, req.DataSlots, req.Preferences, req.Todos
		w.Blocks = req.Blocks
		return nil
	})
}

func (c *call) patchWorking(ctx context.Context, req yiku.PatchWorkingRequest) (yiku.WorkingMemory, error) {
	return c.changeWorking(ctx, req.UserID, req.SessionID, req.TaskID, req.IfMatch, func(w *yiku.WorkingMemory) error {
		w.TaskState = mergeObject(w.TaskState, req.TaskState)
		w.DataSlots = mergeObject(w.DataSlots, req.DataSlots)
		w.Preferences = mergeObject(w.Preferences, req.Preferences)
		if req.Todos.Present {
			w.Todos = req.Todos.Value
		}
		return patchBlocks(w, req.Blocks)
	})
}

// changeWorking reads, changes and writes a working memory in one transaction.
func (c *call) changeWorking(ctx context.Context, user, sessionID, task, match string, change func(*yiku.WorkingMemory) error) (yiku.WorkingMemory, error) {
	owner, err := c.owner(user)
	if err != nil {
		return yiku.WorkingMemory{}, err
	}
	c.event.Session = sessionID
	var out yiku.WorkingMemory
	err = c.update(ctx, owner, func(tx store.Tx) error {
		put, err := c.changeBench(tx, owner, sessionID, task, match, func(w *store.Working) error {
			before := w.DataSlots
			err := change(&w.WorkingMemory)
			keepFound(w, before)
			return err
		})
		out = shown(put.WorkingMemory)
		return err
	})
	return out, err
}

// changeBench changes the working memory that a session sees; open work that
// it goes on with becomes its own.
func (c *call) changeBench(tx store.Tx, owner yiku.Owner, sessionID, task, match string, change func(*store.Working) error) (store.Working, error) {
	b, err := c.benchOf(tx, owner, sessionID, task)
	if err != nil {
		return store.Working{}, err
	}
	row, err := c.working(tx, owner, b)
	if err != nil {
		return row, err
	}
	if err := ifMatch(match, row.ETag()); err != nil {
		return row, err
	}
	if row.CarriedFrom != "" && row.TaskID == "" { // a session's own work moves into the session that goes on with it
		if err := clearWorking(tx, owner, row.Project, "", row.CarriedFrom); err != nil {
			return row, err
		}
	}
	put := store.Working{WorkingMemory: shown(clone(row.WorkingMemory)), Project: b.project, SessionID: sessionID, AgentID: b.agent,
		Found: maps.Clone(row.Found), Origins: withOrigin(row.Origins, row.SessionID)}
	if err := change(&put); err != nil {
		return row, err
	}
	next := &put.WorkingMemory
	if err := limitWorking(next); err != nil {
		return row, err
	}
	next.TaskID, next.CarriedFrom, next.UpdatedAt = cmp.Or(task, row.TaskID), "", c.now
	put.Open = len(next.TaskState)+len(next.Todos) > 0
	if put.TaskID != "" {
		if err := c.touchWorkingTask(tx, owner, b, put.TaskID); err != nil {
			return row, err
		}
	}
	return put, tx.PutWorking(&put)
}

// touchWorkingTask makes the task that a working memory is the first to name.
func (c *call) touchWorkingTask(tx store.Tx, owner yiku.Owner, b bench, id string) error {
	session, err := tx.Session(owner, b.session)
	if err != nil && !errors.Is(err, yiku.ErrNotFound) {
		return err
	}
	if err == nil {
		return c.touchTask(tx, owner, session, id)
	}
	if _, err := tx.Task(owner, b.project, id); !errors.Is(err, yiku.ErrNotFound) {
		return err
	}
	return tx.PutTask(&store.Task{Task: yiku.Task{ID: id, ProjectID: b.project, SessionID: b.session, StartedAt: c.now}})
}

func (c *call) deleteWorking(ctx context.Context, req yiku.DeleteWorkingRequest) (yiku.Empty, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.Empty{}, err
	}
	c.event.Session = req.SessionID
	return yiku.Empty{}, c.store.Update(ctx, owner, store.Request, func(tx store.Tx) error {
		b, err := c.benchOf(tx, owner, req.SessionID, req.TaskID)
		if err != nil {
			return err
		}
		row, err := c.working(tx, owner, b)
		if err != nil {
			return err
		}
		if err := ifMatch(req.IfMatch, row.ETag()); err != nil {
			return err
		}
		if row.Version == 0 {
			return nil
		}
		place := placeOf(row)
		if err := tx.DropShowing(place); err != nil {
			return err
		}
		if _, err := tx.RaiseEpoch(); err != nil { // a context that holds it is composed again
			return err
		}
		return clearWorking(tx, owner, place.Project, place.Task, place.Session)
	})
}

// placeOf names the working memory that a row was read from.
func placeOf(row store.Working) store.WorkingPlace {
	if row.TaskID != "" {
		return store.WorkingPlace{Project: row.Project, Task: row.TaskID}
	}
	return store.WorkingPlace{Session: cmp.Or(row.CarriedFrom, row.SessionID)}
}

// clearWorking deletes a working memory; one that is not there is no error.
func clearWorking(tx store.Tx, owner yiku.Owner, project, task, session string) error {
	if task != "" {
		session = ""
	} else if s, err := tx.Session(owner, session); err == nil {
		project = s.ProjectID
	}
	err := tx.DeleteWorking(project, task, session)
	if errors.Is(err, yiku.ErrNotFound) {
		return nil
	}
	return err
}

// limitWorking applies the limits of B4: newest to-dos, data slots, block sizes.
// A block's name is the caller's text and stands in no error.
func limitWorking(w *yiku.WorkingMemory) error {
	for i, todo := range w.Todos {
		switch todo.(type) {
		case string, map[string]any:
		default:
			return yiku.Invalid(fmt.Sprintf("todos[%d]", i), "must be a string or an object")
		}
	}
	if n := len(w.Todos); n > yiku.MaxTodos {
		w.Todos = w.Todos[n-yiku.MaxTodos:]
	}
	if raw, err := json.Marshal(w); err != nil || len(raw) > yiku.MaxWorkingBytes {
		return yiku.Invalid("data_slots", "all working memory together must have at most %d bytes of JSON", yiku.MaxWorkingBytes)
	}
	if len(w.DataSlots) > yiku.MaxDataSlots {
		return yiku.Invalid("data_slots", "at most %d slots", yiku.MaxDataSlots)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Blocks)) {
		b := w.Blocks[name]
		if b.Limit == 0 {
			b.Limit = yiku.DefaultBlockLimit
		}
		if n := utf8.RuneCountInString(b.Value); n > b.Limit {
			return yiku.Invalid("blocks.*.value", "has %d characters; its limit is %d", n, b.Limit)
		}
		w.Blocks[name] = b
	}
	return nil
}

// mergeObject applies an RFC 7396 merge patch to one object of working memory.
func mergeObject(have map[string]any, patch yiku.Opt[map[string]any]) map[string]any {
	switch {
	case !patch.Present:
		return have
	case patch.Null:
		return nil
	}
	merged, _ := mergePatch(any(have), any(patch.Value)).(map[string]any)
	return merged
}

// mergePatch is RFC 7396, section 2. What it is given stays as it is: a change
// is told by comparing the two.
func mergePatch(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if t = maps.Clone(t); !ok || t == nil {
		t = map[string]any{}
	}
	for name, value := range p {
		if value == nil {
			delete(t, name)
		} else {
			t[name] = mergePatch(t[name], value)
		}
	}
	return t
}

// patchBlocks merges a patch into the blocks; read-only ones cannot be patched.
func patchBlocks(w *yiku.WorkingMemory, patch yiku.Opt[map[string]any]) error {
	if !patch.Present {
		return nil
	}
	have := map[string]any{}
	touched := slices.Sorted(maps.Keys(patch.Value))
	if patch.Null {
		touched = slices.Sorted(maps.Keys(w.Blocks))
	}
	for _, name := range touched {
		if w.Blocks[name].ReadOnly {
			return &yiku.Error{Sentinel: yiku.ErrForbidden, Fields: []yiku.FieldError{{Field: "blocks.*", Message: "one is read-only"}}}
		}
		if patch.Null || patch.Value[name] == nil {
			delete(w.Blocks, name)
			continue
		}
		old, isObject := map[string]any{}, false
		if b, ok := w.Blocks[name]; ok {
			old = map[string]any{"value": b.Value, "limit": float64(b.Limit), "read_only": b.ReadOnly}
		}
		if _, isObject = patch.Value[name].(map[string]any); !isObject {
			return yiku.Invalid("blocks.*", "must be an object or null")
		}
		have[name] = mergePatch(old, patch.Value[name])
		block, err := blockOf(have[name])
		if err != nil {
			return yiku.Invalid("blocks.*", "%v", err)
		}
		w.Blocks[name] = block
	}
	return nil
}

func blockOf(v any) (yiku.Block, error) {
	var b yiku.Block
	raw, err := json.Marshal(v)
	if err != nil {
		return b, errors.New("is not valid")
	}
	for name := range v.(map[string]any) {
		if name != "value" && name != "limit" && name != "read_only" {
			return b, errors.New("has a member that is none of value, limit, read_only")
		}
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return b, errors.New("value must be a string, limit an integer, read_only true or false")
	}
	if b.Limit < 0 || b.Limit > 100000 {
		return b, errors.New("limit must be 1 to 100,000")
	}
	return b, nil
}

// clone copies a working memory deeply enough to be changed.
func clone(w yiku.WorkingMemory) yiku.WorkingMemory {
	raw, err := json.Marshal(w)
	if err != nil {
		return w
	}
	var out yiku.WorkingMemory
	if json.Unmarshal(raw, &out) != nil {
		return w
	}
	return out
}
