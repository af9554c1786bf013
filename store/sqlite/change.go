package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlBury = `INSERT INTO tombstones (changed, kind, item) VALUES (?, ?, ?)`

	// Each arm is read in the order of its own index and cut at the limit, so
	// that following an owner costs what has changed.
	sqlChanges = `SELECT changed, kind, item, gone FROM (
		SELECT * FROM (SELECT changed, 1 AS kind, key AS item, 0 AS gone FROM memories WHERE changed BETWEEN ?1 AND ?2 ORDER BY changed LIMIT ?3)
		UNION ALL
		SELECT * FROM (SELECT key, 2, key, 0 FROM messages WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT ?3)
		UNION ALL
		SELECT * FROM (SELECT changed, 3, key, 0 FROM sessions WHERE changed BETWEEN ?1 AND ?2 ORDER BY changed LIMIT ?3)
		UNION ALL
		SELECT * FROM (SELECT changed, kind, item, 1 FROM tombstones WHERE changed BETWEEN ?1 AND ?2 ORDER BY changed LIMIT ?3)
	) ORDER BY changed LIMIT ?3`
)

// bury leaves a tombstone under the owner's next number.
func (t *tx) bury(kind store.ItemKind, key int64) error {
	return t.c.run(sqlBury, t.next(), int(kind), key)
}

// Changes lists what happened after a number; see store.Reader.
func (r *reader) Changes(owner yiku.Owner, after int64, most int) ([]store.Change, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	if after < 0 || after >= 1<<ownerShift-1 {
		return nil, nil
	}
	var list []store.Change
	err = r.c.each(sqlChanges, func(st *sqlite3.Stmt) error {
		list = append(list, store.Change{
			Seq:     seq(st.ColumnInt64(0)),
			Item:    store.Item{Kind: store.ItemKind(st.ColumnInt(1)), Key: st.ColumnInt64(2)},
			Deleted: st.ColumnBool(3),
		})
		return nil
	}, o.first()+after+1, o.last(), limit(most))
	return list, foreign("list changes", err)
}
