package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const taskColumns = `t.key, t.session, t.started_at, coalesce(t.completed_at, -62135596800000000), t.outcome, t.body`

const (
	sqlTask         = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.owner = ? AND t.project_mark = ? AND t.id_mark = ?`
	sqlSessionTasks = `SELECT ` + taskColumns + ` FROM sessions s JOIN tasks t ON t.owner = s.owner AND t.project_mark = s.project_mark
	WHERE s.key = ? AND t.id_mark IN (SELECT m.task_mark FROM messages m WHERE m.session = s.key AND m.task_mark <> x'')
	ORDER BY t.started_at, t.key`
	sqlAddTask = `INSERT INTO tasks (project_mark, id_mark, session, started_at, completed_at, outcome, body, key, owner)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateTask = `UPDATE tasks SET project_mark = ?, id_mark = ?, session = ?, started_at = ?, completed_at = ?, outcome = ?, body = ?
	WHERE key = ? AND owner = ?`
)

// Task returns a task; see store.Reader.
func (r *reader) Task(owner yiku.Owner, project, id string) (t store.Task, err error) {
	o, err := r.must(owner, "task")
	if err != nil {
		return t, err
	}
	found, err := r.c.one(sqlTask, func(st *sqlite3.Stmt) error {
		t, err = r.readTask(o, st)
		return err
	}, o.number, r.mark(o, "project", project), r.mark(o, "task", id))
	if err == nil && !found {
		return store.Task{}, notFound("task")
	}
	return t, foreign("read task", err)
}

// SessionTasks lists the tasks that a session's messages name; see store.Reader.
func (r *reader) SessionTasks(owner yiku.Owner, sessionKey int64) ([]store.Task, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || !o.has(sessionKey) {
		return nil, err
	}
	var list []store.Task
	err = r.c.each(sqlSessionTasks, func(st *sqlite3.Stmt) error {
		t, err := r.readTask(o, st)
		list = append(list, t)
		return err
	}, sessionKey)
	return list, foreign("list tasks", err)
}

func (r *reader) readTask(o *ownerRef, st *sqlite3.Stmt) (t store.Task, err error) {
	t.Key, t.SessionKey = st.ColumnInt64(0), st.ColumnInt64(1)
	t.StartedAt, t.CompletedAt = instant(st.ColumnInt64(2)), instant(st.ColumnInt64(3))
	t.Outcome = yiku.TaskOutcome(st.ColumnText(4))
	plain, err := r.open(o, r.c.taskPlace(&t), st.ColumnRawBlob(5))
	if err != nil {
		return t, err
	}
	u := unpack(plain)
	t.ProjectID, t.ID, t.SessionID = u.next(), u.next(), u.next()
	return t, u.err()
}

// PutTask adds or replaces a task; see store.Tx.
func (t *tx) PutTask(task *store.Task) error {
	if task.ID == "" {
		return yiku.Invalid("task_id", "must not be empty")
	}
	row := *task
	micro(&row.StartedAt, &row.CompletedAt)
	if row.Key != 0 && !t.own.has(row.Key) {
		return notFound("task")
	}
	return t.single("write task", func() error {
		sql, n := sqlUpdateTask, t.next()
		if row.Key == 0 {
			sql, row.Key = sqlAddTask, n
		}
		body, err := t.seal(t.own, t.c.taskPlace(&row), pack(row.ProjectID, row.ID, row.SessionID))
		if err != nil {
			return err
		}
		err = t.c.run(sql, t.mark(t.own, "project", row.ProjectID), t.mark(t.own, "task", row.ID), row.SessionKey,
			row.StartedAt.UnixMicro(), row.CompletedAt, string(row.Outcome), body, row.Key, t.own.number)
		if err != nil {
			return err
		}
		if t.c.db.Changes() == 0 {
			return notFound("task")
		}
		*task = row
		return nil
	})
}

const sqlTasksOf = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.session = ? AND t.session <> 0`

// leaveTasks takes the name of a session out of the tasks that it touched last.
func (t *tx) leaveTasks(session int64) error {
	var list []store.Task
	err := t.c.each(sqlTasksOf, func(st *sqlite3.Stmt) error {
		row, err := t.readTask(t.own, st)
		list = append(list, row)
		return err
	}, session)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].SessionKey, list[i].SessionID = 0, ""
		if err := t.PutTask(&list[i]); err != nil {
			return err
		}
	}
	return nil
}
