package sqlite

import (
	"encoding/json"
	"math"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlSnapshot = `SELECT key, coalesce(expires_at, -62135596800000000), body FROM snapshots
	WHERE owner = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)`
	sqlCites       = `SELECT item FROM snapshot_items WHERE snapshot = ? ORDER BY item`
	sqlAddSnapshot = `INSERT INTO snapshots (key, owner, id, session_mark, created_at, expires_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlAddCite     = `INSERT INTO snapshot_items (item, snapshot) VALUES (?, ?) ON CONFLICT DO NOTHING`

	sqlDropOldSnapshots = `DELETE FROM snapshots WHERE key IN
	(SELECT key FROM snapshots WHERE owner = ? AND expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?)`
	// Keys outside the sequence rise, so that the newest has the greatest.
	sqlDropMoreSnapshots = `DELETE FROM snapshots WHERE key IN (SELECT key FROM (
	SELECT key, row_number() OVER newest AS n, sum(length(body)) OVER newest AS total
	FROM snapshots WHERE key BETWEEN ?1 AND ?2 WINDOW newest AS (ORDER BY key DESC)) WHERE n > 1 AND (n > ?3 OR total > ?4))`
	sqlDropOldRecords = `DELETE FROM idempotency WHERE key IN
	(SELECT key FROM idempotency WHERE owner = ? AND expires_at <= ? ORDER BY expires_at LIMIT ?)`
)

// snapshotBody is the JSON inside the envelope of a snapshot.
type snapshotBody struct {
	Snapshot yiku.Snapshot
	Cites    []store.Item
	Working  *store.WorkingPlace `json:",omitempty"`
	Summary  int64               `json:",omitempty"`
}

// Snapshot returns a stored context; see store.Reader.
func (r *reader) Snapshot(owner yiku.Owner, id string, now time.Time) (s store.Snapshot, err error) {
	o, err := r.must(owner, "snapshot")
	if err != nil {
		return s, err
	}
	found, err := r.c.one(sqlSnapshot, func(st *sqlite3.Stmt) error {
		s, err = r.readSnapshot(o, st)
		return err
	}, o.number, id, now.UnixMicro())
	if err == nil && !found {
		return store.Snapshot{}, notFound("snapshot")
	}
	return s, foreign("read snapshot", err)
}

func (r *reader) readSnapshot(o *ownerRef, st *sqlite3.Stmt) (s store.Snapshot, err error) {
	s.ExpiresAt = instant(st.ColumnInt64(1))
	plain, err := r.open(o, r.c.snapshotPlace(st.ColumnInt64(0), &s), st.ColumnRawBlob(2))
	if err != nil {
		return s, err
	}
	var b snapshotBody
	if err := json.Unmarshal(plain, &b); err != nil {
		return s, unreadable()
	}
	s.Snapshot, s.Cites, s.Working, s.Summary = b.Snapshot, b.Cites, b.Working, b.Summary
	return s, nil
}

// PutSnapshot stores a context; see store.Tx.
func (t *tx) PutSnapshot(s *store.Snapshot) error {
	if s.ID == "" {
		return yiku.Invalid("snapshot_id", "must not be empty")
	}
	row := *s
	micro(&row.CreatedAt, &row.ExpiresAt)
	row.UserID = t.own.owner.User()
	plain, err := json.Marshal(snapshotBody{Snapshot: row.Snapshot, Cites: row.Cites, Working: row.Working, Summary: row.Summary})
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the snapshot cannot be written as JSON")
	}
	return t.atomic("write snapshot", func() error {
		key := t.nextOutside()
		body, err := t.seal(t.own, t.c.snapshotPlace(key, &row), plain)
		if err != nil {
			return err
		}
		err = t.c.run(sqlAddSnapshot, key, t.own.number, row.ID, t.mark(t.own, "session", row.SessionID),
			row.CreatedAt.UnixMicro(), row.ExpiresAt, body)
		if err != nil {
			return err
		}
		for _, item := range row.Cites {
			if err := t.mayCite(item); err != nil {
				return err
			}
			if err := t.c.run(sqlAddCite, item.Key, key); err != nil {
				return err
			}
		}
		if row.Working != nil {
			if err := t.c.run(sqlAddCite, t.workingCite(*row.Working), key); err != nil {
				return err
			}
		}
		if row.Summary != 0 {
			if err := t.c.run(sqlAddCite, -row.Summary, key); err != nil { // unlike any key of an item
				return err
			}
		}
		*s = row
		return nil
	})
}

// KeepSnapshots deletes the oldest snapshots beyond a bound; see store.Tx.
func (t *tx) KeepSnapshots(most, bytes int) error {
	bound := func(n int) int64 {
		if n <= 0 {
			return math.MaxInt64
		}
		return int64(n)
	}
	if most <= 0 && bytes <= 0 {
		return nil
	}
	return foreign("drop snapshots", t.c.run(sqlDropMoreSnapshots, t.own.first(), t.own.last(), bound(most), bound(bytes)))
}

// mayCite reports an item that is neither the owner's nor a memory that the
// owner's tenant shares. Keys are unique in the store, so that a shared memory
// takes the snapshots of every user with it.
func (t *tx) mayCite(item store.Item) error {
	if t.own.has(item.Key) || item.Kind != store.ItemMemory {
		return t.mustHave(item)
	}
	owner, err := yiku.SharedOwner(t.own.owner.Tenant())
	if err != nil {
		return err
	}
	shared, err := t.find(owner)
	if err != nil {
		return err
	}
	if shared == nil || !shared.has(item.Key) {
		return notFound("item")
	}
	n, err := t.c.number(sqlHasItem1, item.Key)
	if err == nil && n == 0 {
		return notFound("item")
	}
	return err
}

// workingCite is what a snapshot cites a working memory as, which has no key: a
// negative number made of the mark of its place, unlike any key.
func (t *tx) workingCite(p store.WorkingPlace) int64 {
	return placeCite(t.placeMark(t.own, p.Project, p.Task, p.Session))
}

// DropShowing deletes the snapshots that show a working memory; see store.Tx.
func (t *tx) DropShowing(place store.WorkingPlace) error {
	return foreign("drop snapshots", t.c.run(sqlDropCites, t.workingCite(place)))
}

// DropExpired deletes what is over, snapshots first; see store.Tx.
func (t *tx) DropExpired(now time.Time, most int) (int, error) {
	dropped := 0
	err := t.atomic("drop expired", func() error {
		for _, sql := range []string{sqlDropOldSnapshots, sqlDropOldRecords, sqlDropOldExtractions} {
			if most > 0 && dropped >= most {
				return nil
			}
			left := limit(most)
			if most > 0 {
				left = int64(most - dropped)
			}
			if err := t.c.run(sql, t.own.number, now.UnixMicro(), left); err != nil {
				return err
			}
			dropped += int(t.c.db.Changes())
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return dropped, nil
}

const (
	sqlRecord     = `SELECT key, request, forgotten, at, expires_at, body FROM idempotency WHERE owner = ? AND place_mark = ?`
	sqlAddRecord  = `INSERT INTO idempotency (key, owner, place_mark, request, forgotten, at, expires_at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlOverRecord = `DELETE FROM idempotency WHERE owner = ? AND place_mark = ? AND expires_at <= ?`
	sqlAddMade    = `INSERT INTO idempotency_items (item, record) VALUES (?, ?) ON CONFLICT DO NOTHING`
)

func (r *reader) recordMark(o *ownerRef, operation, key string) []byte {
	return r.mark(o, "idempotency", operation, key)
}

// Idempotency returns the record of a write; see store.Reader.
func (r *reader) Idempotency(owner yiku.Owner, operation, key string) (store.Idempotency, error) {
	rec := store.Idempotency{Operation: operation, Key: key}
	o, err := r.must(owner, "idempotency record")
	if err != nil {
		return store.Idempotency{}, err
	}
	found, err := r.c.one(sqlRecord, func(st *sqlite3.Stmt) error {
		return r.readIdempotency(o, &rec, st)
	}, o.number, r.recordMark(o, operation, key))
	if err != nil {
		return store.Idempotency{}, foreign("read idempotency record", err)
	}
	if !found {
		return store.Idempotency{}, notFound("idempotency record")
	}
	return rec, nil
}

// readIdempotency fills in what a row says of a record.
func (r *reader) readIdempotency(o *ownerRef, rec *store.Idempotency, st *sqlite3.Stmt) error {
	rec.Request = st.ColumnBlob(1, nil)
	rec.Forgotten = st.ColumnBool(2)
	rec.At, rec.ExpiresAt = instant(st.ColumnInt64(3)), instant(st.ColumnInt64(4))
	plain, err := r.open(o, r.c.idempotencyPlace(st.ColumnInt64(0), rec), st.ColumnRawBlob(5))
	rec.Result = append([]byte(nil), plain...)
	return err
}

// PutIdempotency records a write; see store.Tx.
func (t *tx) PutIdempotency(r *store.Idempotency, makes []store.Item) error {
	row := *r
	if row.ExpiresAt.IsZero() {
		row.ExpiresAt = row.At.Add(store.DefaultIdempotencyTTL)
	}
	micro(&row.At, &row.ExpiresAt)
	return t.atomic("write idempotency record", func() error {
		key, mark := t.nextOutside(), t.recordMark(t.own, row.Operation, row.Key)
		if err := t.c.run(sqlOverRecord, t.own.number, mark, row.At.UnixMicro()); err != nil {
			return err
		}
		body, err := t.seal(t.own, t.c.idempotencyPlace(key, &row), row.Result)
		if err != nil {
			return err
		}
		err = t.c.run(sqlAddRecord, key, t.own.number, mark, append([]byte{}, row.Request...), row.Forgotten,
			row.At.UnixMicro(), row.ExpiresAt.UnixMicro(), body)
		if err != nil {
			return err
		}
		for _, item := range makes {
			if err := t.mustHave(item); err != nil {
				return err
			}
			if err := t.c.run(sqlAddMade, item.Key, key); err != nil {
				return err
			}
		}
		*r = row
		return nil
	})
}
