package sqlite

import (
	"context"
	"encoding/binary"
	"encoding/json"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlAddForget  = `INSERT INTO forgets (epoch, created_at, body, key, owner) VALUES (?, ?, ?, ?, ?)`
	sqlPutForget  = `UPDATE forgets SET epoch = ?, created_at = ?, body = ? WHERE key = ? AND owner = ?`
	sqlDropForget = `DELETE FROM forgets WHERE key = ?`
	sqlForgets    = `SELECT f.key, f.epoch, f.created_at, f.body, o.number, o.body, o.wrapped
	FROM forgets f JOIN owners o ON o.number = f.owner ORDER BY f.created_at, f.key`
)

// forgetBody is the JSON inside the envelope of a forget in progress.
type forgetBody struct {
	UpTo     int64
	Receipt  string
	Actor    string
	Request  yiku.ForgetRequest
	Removed  yiku.Removed
	IDs      []string
	Deletion store.Deletion
}

// packItems writes items as pairs of varints: kind, and key less the key
// before. Neighbours take two to four bytes each.
func packItems(items []store.Item) []byte {
	var buf []byte
	var last int64
	for _, item := range items {
		buf = binary.AppendVarint(buf, int64(item.Kind))
		buf = binary.AppendVarint(buf, item.Key-last)
		last = item.Key
	}
	return buf
}

func unpackItems(buf []byte) ([]store.Item, error) {
	var items []store.Item
	var last int64
	for len(buf) > 0 {
		kind, n := binary.Varint(buf)
		if n <= 0 {
			return nil, unreadable()
		}
		delta, m := binary.Varint(buf[n:])
		if m <= 0 {
			return nil, unreadable()
		}
		buf = buf[n+m:]
		last += delta
		items = append(items, store.Item{Kind: store.ItemKind(kind), Key: last})
	}
	return items, nil
}

// PutForget adds or replaces a forget in progress; see store.Forgetting.
func (t *tx) PutForget(f *store.Forget) error {
	row := *f
	micro(&row.At)
	row.Owner = t.own.owner
	plain, err := json.Marshal(forgetBody{UpTo: row.UpTo, Receipt: row.Receipt, Deletion: row.Deletion, Actor: row.Actor, Request: row.Request,
		Removed: row.Removed, IDs: row.IDs})
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the request cannot be written as JSON")
	}
	return t.atomic("write forget", func() error {
		sql := sqlPutForget
		if row.Key == 0 {
			sql, row.Key = sqlAddForget, t.nextOutside()
		}
		body, err := t.seal(t.own, t.c.forgetPlace(&row), plain)
		if err != nil {
			return err
		}
		n := 0
		if err := t.c.count(&n, sql, row.Epoch, row.At.UnixMicro(), body, row.Key, t.own.number); err != nil {
			return err
		}
		if n == 0 {
			return notFound("forget")
		}
		*f = row
		return nil
	})
}

// EndForget deletes a forget in progress; see store.Forgetting.
func (t *tx) EndForget(key int64) error {
	return t.atomic("end forget", func() error {
		n := 0
		if t.own.has(key) {
			if err := t.c.count(&n, sqlDropForget, key); err != nil {
				return err
			}
		}
		if n == 0 {
			return notFound("forget")
		}
		return nil
	})
}

// Forgets lists the forgets in progress of all owners; see store.Store.
func (s *Store) Forgets(ctx context.Context) ([]store.Forget, error) {
	var list []store.Forget
	err := s.View(ctx, func(r store.Reader) error {
		own := r.(*reader)
		err := own.c.each(sqlForgets, func(st *sqlite3.Stmt) error {
			f, err := own.readForgetOf(st)
			list = append(list, f)
			return err
		})
		return foreign("list forgets", err)
	})
	return list, err
}

// readForgetOf reads a forget with its owner.
func (r *reader) readForgetOf(st *sqlite3.Stmt) (f store.Forget, err error) {
	o, err := r.readOwnerAt(st, 4)
	if err != nil {
		return f, err
	}
	return r.readForget(o, st)
}

// readOwnerAt reads an owner's number, body and key from the columns at n.
func (r *reader) readOwnerAt(st *sqlite3.Stmt, n int) (*ownerRef, error) {
	o := &ownerRef{number: st.ColumnInt64(n)}
	var err error
	if o.owner, err = r.readOwner(o.number, st.ColumnRawBlob(n+1)); err != nil {
		return nil, err
	}
	o.key, err = r.unwrap(o.number, st.ColumnRawBlob(n+2))
	return o, err
}

func (r *reader) readForget(o *ownerRef, st *sqlite3.Stmt) (f store.Forget, err error) {
	f.Owner = o.owner
	f.Key, f.Epoch, f.At = st.ColumnInt64(0), st.ColumnInt64(1), instant(st.ColumnInt64(2))
	plain, err := r.open(o, r.c.forgetPlace(&f), st.ColumnRawBlob(3))
	if err != nil {
		return f, err
	}
	var b forgetBody
	if err := fromJSON(string(plain), &b); err != nil {
		return f, err
	}
	f.Deletion = b.Deletion
	f.UpTo, f.Receipt, f.Actor, f.Request, f.Removed, f.IDs = b.UpTo, b.Receipt, b.Actor, b.Request, b.Removed, b.IDs
	return f, nil
}

// counted is atomic for a write that counts what it removes: removed changes
// only where the write stands. It may be nil.
func (t *tx) counted(op string, removed *yiku.Removed, write func(*yiku.Removed) error) error {
	var count yiku.Removed
	if removed != nil {
		count = *removed
	}
	err := t.atomic(op, func() error { return write(&count) })
	if err == nil && removed != nil {
		*removed = count
	}
	return err
}

// Purge deletes memories and messages and counts what went; see store.Forgetting.
func (t *tx) Purge(memories, messages []int64, removed *yiku.Removed) error {
	return t.counted("purge", removed, func(removed *yiku.Removed) error {
		if err := t.dropMemories(memories, removed); err != nil {
			return err
		}
		return t.dropMessages(messages, removed)
	})
}

// PurgeSession deletes a session that holds no messages; see store.Forgetting.
func (t *tx) PurgeSession(key int64, removed *yiku.Removed) error {
	return t.counted("purge session", removed, func(removed *yiku.Removed) error {
		messages, err := t.sessionMessages(key)
		if err != nil {
			return err
		}
		if len(messages) > 0 {
			return yiku.Errorf(yiku.ErrConflict, "the session still holds messages")
		}
		return t.dropSession(key, removed)
	})
}

const (
	sqlAllWorking     = `SELECT ` + workingColumns + ` FROM working WHERE owner = ? AND body IS NOT NULL`
	sqlDropWorking    = `DELETE FROM working WHERE owner = ? AND place_mark = ?`
	sqlDropTask       = `DELETE FROM tasks WHERE owner = ? AND project_mark = ? AND id_mark = ?`
	sqlDropAllWorking = `DELETE FROM working WHERE owner = ? AND body IS NOT NULL`
	sqlDropCleared    = `DELETE FROM working WHERE owner = ?`
	sqlDropAllTasks   = `DELETE FROM tasks WHERE owner = ?`
	sqlAllTasks       = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.owner = ?`
	sqlDropTasks      = `DELETE FROM tasks WHERE key IN` + goneKeys
)

// PurgeWorking deletes working memories and tasks; see store.Forgetting.
func (t *tx) PurgeWorking(drop func(store.Working) bool, removed *yiku.Removed) error {
	return t.countedTasks("purge working memory", removed, func(removed *yiku.Removed) error { return t.purgeWorking(drop, removed) })
}

// PurgeTasks deletes tasks; see store.Forgetting.
func (t *tx) PurgeTasks(drop func(store.Task) bool, removed *yiku.Removed) error {
	return t.countedTasks("purge tasks", removed, func(removed *yiku.Removed) error {
		var keys []int64
		err := t.c.each(sqlAllTasks, func(st *sqlite3.Stmt) error {
			task, err := t.readTask(t.own, st)
			if err == nil && drop(task) {
				keys = append(keys, task.Key)
			}
			return err
		}, t.own.number)
		if err != nil {
			return err
		}
		return t.c.count(&removed.Tasks, sqlDropTasks, keyList(keys))
	})
}

// countedTasks is counted for a write that deletes tasks: each takes a number
// of the sequence.
func (t *tx) countedTasks(op string, removed *yiku.Removed, write func(*yiku.Removed) error) error {
	return t.counted(op, removed, func(removed *yiku.Removed) error {
		before := removed.Tasks
		err := write(removed)
		t.state.Seq += int64(removed.Tasks - before)
		t.dirty = true
		return err
	})
}

func (t *tx) purgeWorking(drop func(store.Working) bool, removed *yiku.Removed) error {
	if drop == nil {
		if err := t.c.count(&removed.Working, sqlDropAllWorking, t.own.number); err != nil {
			return err
		}
		if err := t.c.run(sqlDropCleared, t.own.number); err != nil {
			return err
		}
		return t.c.count(&removed.Tasks, sqlDropAllTasks, t.own.number)
	}
	var all []store.Working
	err := t.c.each(sqlAllWorking, func(st *sqlite3.Stmt) error {
		w, err := t.readWorking(t.own, st)
		all = append(all, w)
		return err
	}, t.own.number)
	if err != nil {
		return err
	}
	for _, w := range all {
		if !drop(w) {
			continue
		}
		if err := t.c.count(&removed.Working, sqlDropWorking, t.own.number, t.placeMark(t.own, w.Project, w.TaskID, w.SessionID)); err != nil {
			return err
		}
		if w.TaskID == "" {
			continue
		}
		if err := t.c.count(&removed.Tasks, sqlDropTask, t.own.number, t.mark(t.own, "project", w.Project), t.mark(t.own, "task", w.TaskID)); err != nil {
			return err
		}
	}
	return nil
}

const (
	sqlAllSnapshots  = `SELECT key, coalesce(expires_at, -62135596800000000), body FROM snapshots WHERE key BETWEEN ? AND ?`
	sqlDropSnapshot  = `DELETE FROM snapshots WHERE key = ?`
	sqlDropSnapshots = `DELETE FROM snapshots WHERE key BETWEEN ? AND ?`
	sqlDropReports   = `DELETE FROM extractions WHERE key BETWEEN ? AND ?`
	sqlDropReport    = `DELETE FROM extractions WHERE key = ?`
	sqlDropBatches   = `DELETE FROM batches WHERE key BETWEEN ? AND ?`
)

// PurgeCopies deletes what holds copies of content; see store.Forgetting. Jobs
// stay: they name what is to be read, and read what is there then.
func (t *tx) PurgeCopies(drop *store.Copies, removed *yiku.Removed) error {
	return t.counted("purge copies", removed, func(removed *yiku.Removed) error {
		if drop != nil {
			return t.purgeCopies(drop, removed)
		}
		for _, d := range []struct {
			sql  string
			into *int
		}{
			{sqlDropSnapshots, &removed.Snapshots}, {sqlDropReports, nil}, {sqlDropBatches, nil},
		} {
			if err := t.c.count(d.into, d.sql, t.own.first(), t.own.last()); err != nil {
				return err
			}
		}
		return nil
	})
}

// purgeCopies deletes the copies for which drop says so, and undo images, into
// which it cannot look.
func (t *tx) purgeCopies(drop *store.Copies, removed *yiku.Removed) error {
	var snapshots, reports []int64
	err := t.c.each(sqlAllSnapshots, func(st *sqlite3.Stmt) error {
		s, err := t.readSnapshot(t.own, st)
		if err == nil && drop.Snapshot(s) {
			snapshots = append(snapshots, st.ColumnInt64(0))
		}
		return err
	}, t.own.first(), t.own.last())
	if err != nil {
		return err
	}
	err = t.c.each(sqlExtractions, func(st *sqlite3.Stmt) error {
		e, err := t.readExtraction(t.own, st)
		if err == nil && drop.Extraction(e) {
			reports = append(reports, e.Key)
		}
		return err
	}, t.own.number, 0, 0, limit(0))
	if err != nil {
		return err
	}
	for _, d := range []struct {
		sql  string
		keys []int64
		into *int
	}{{sqlDropSnapshot, snapshots, &removed.Snapshots}, {sqlDropReport, reports, nil}} {
		for _, key := range d.keys {
			if err := t.c.count(d.into, d.sql, key); err != nil {
				return err
			}
		}
	}
	return t.c.run(sqlDropBatches, t.own.first(), t.own.last())
}
