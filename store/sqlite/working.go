package sqlite

import (
	"encoding/json"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const workingColumns = `open, version, coalesce(updated_at, -62135596800000000), body, place_mark`

const (
	sqlWorking = `SELECT ` + workingColumns + ` FROM working WHERE owner = ? AND place_mark = ? AND body IS NOT NULL`
	sqlOpen    = `SELECT ` + workingColumns + ` FROM working WHERE owner = ? AND project_mark = ? AND open = 1`
	sqlOpenOf  = ` AND agent_mark = ?`
	sqlNewest  = ` ORDER BY written DESC LIMIT 1`
)

// workingBody is the JSON inside the envelope of a working memory.
type workingBody struct {
	Working   yiku.WorkingMemory
	Project   string
	SessionID string
	AgentID   string
	Origins   []string               `json:",omitempty"`
	Found     map[string]store.Found `json:",omitempty"`
}

// placeMark stands for the task or session that a working memory belongs to.
func (r *reader) placeMark(o *ownerRef, project, task, sessionID string) []byte {
	if task != "" {
		return r.mark(o, "working.task", project, task)
	}
	return r.mark(o, "working.session", sessionID, "")
}

// Working returns the working memory of a task or a session; see store.Reader.
func (r *reader) Working(owner yiku.Owner, project, task, sessionID string) (store.Working, error) {
	o, err := r.must(owner, "working memory")
	if err != nil {
		return store.Working{}, err
	}
	return r.oneWorking(o, sqlWorking, o.number, r.placeMark(o, project, task, sessionID))
}

// OpenWorking returns the open working memory written last; see store.Reader.
func (r *reader) OpenWorking(owner yiku.Owner, project, agent string) (store.Working, error) {
	o, err := r.must(owner, "working memory")
	if err != nil {
		return store.Working{}, err
	}
	sql, args := sqlOpen, []any{o.number, r.mark(o, "project", project)}
	if agent != "" {
		sql += sqlOpenOf
		args = append(args, r.mark(o, "agent", agent))
	}
	return r.oneWorking(o, sql+sqlNewest, args...)
}

func (r *reader) oneWorking(o *ownerRef, sql string, args ...any) (w store.Working, err error) {
	found, err := r.c.one(sql, func(st *sqlite3.Stmt) error {
		w, err = r.readWorking(o, st)
		return err
	}, args...)
	if err == nil && !found {
		return store.Working{}, notFound("working memory")
	}
	return w, foreign("read working memory", err)
}

func (r *reader) readWorking(o *ownerRef, st *sqlite3.Stmt) (w store.Working, err error) {
	row := store.Working{Open: st.ColumnBool(0)}
	row.Version, row.UpdatedAt = st.ColumnInt64(1), instant(st.ColumnInt64(2))
	plain, err := r.open(o, r.c.workingPlace(o, st.ColumnBlob(4, nil), &row), st.ColumnRawBlob(3))
	if err != nil {
		return w, err
	}
	var b workingBody
	if err := fromJSON(string(plain), &b); err != nil {
		return w, err
	}
	w = store.Working{WorkingMemory: b.Working, Project: b.Project, SessionID: b.SessionID, AgentID: b.AgentID, Origins: b.Origins, Found: b.Found}
	exactWorking(&w)
	w.Open, w.Version, w.UpdatedAt = row.Open, row.Version, row.UpdatedAt
	return w, nil
}

func exactWorking(w *store.Working) {
	for _, m := range []map[string]any{w.TaskState, w.DataSlots, w.Preferences} {
		for k, v := range m {
			m[k] = plainNumbers(v)
		}
	}
	for i, v := range w.Todos {
		w.Todos[i] = plainNumbers(v)
	}
}

const (
	sqlWorkingVersion = `SELECT version FROM working WHERE owner = ? AND place_mark = ?`
	sqlPutWorking     = `INSERT INTO working (owner, place_mark, project_mark, agent_mark, session_mark, open, written, version, updated_at, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (owner, place_mark) DO UPDATE SET project_mark = excluded.project_mark, agent_mark = excluded.agent_mark,
	open = excluded.open, written = excluded.written, version = excluded.version, updated_at = excluded.updated_at, body = excluded.body`
	sqlClearWorking = `UPDATE working SET open = 0, updated_at = NULL, body = NULL WHERE owner = ? AND place_mark = ?`
)

// PutWorking replaces a working memory; see store.Tx.
func (t *tx) PutWorking(w *store.Working) error {
	if w.TaskID == "" && w.SessionID == "" {
		return yiku.Invalid("session_id", "must not be empty")
	}
	row := *w
	micro(&row.UpdatedAt)
	mark := t.placeMark(t.own, row.Project, row.TaskID, row.SessionID)
	session := []byte{}
	if row.TaskID == "" {
		session = t.mark(t.own, "session", row.SessionID)
	}
	plain, err := json.Marshal(workingBody{Working: row.WorkingMemory, Project: row.Project, SessionID: row.SessionID, AgentID: row.AgentID, Origins: row.Origins, Found: row.Found})
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the working memory cannot be written as JSON")
	}
	have, err := t.c.number(sqlWorkingVersion, t.own.number, mark)
	if err != nil {
		return foreign("write working memory", err)
	}
	row.Version = max(have, row.Version) + 1
	body, err := t.seal(t.own, t.c.workingPlace(t.own, mark, &row), plain)
	if err != nil {
		return err
	}
	if err := t.putFound(mark, row.Found); err != nil {
		return foreign("write working memory", err)
	}
	err = t.c.run(sqlPutWorking, t.own.number, mark, t.mark(t.own, "project", row.Project),
		t.mark(t.own, "agent", row.AgentID), session, row.Open, seq(t.nextOutside()), row.Version, row.UpdatedAt, body)
	if err != nil {
		return foreign("write working memory", err)
	}
	*w = row
	return nil
}

// DeleteWorking clears a working memory; see store.Tx. Its row stays, without
// a body, for the version.
func (t *tx) DeleteWorking(project, task, sessionID string) error {
	mark := t.placeMark(t.own, project, task, sessionID)
	if err := t.putFound(mark, nil); err != nil {
		return foreign("clear working memory", err)
	}
	return foreign("clear working memory", t.c.run(sqlClearWorking, t.own.number, mark))
}
