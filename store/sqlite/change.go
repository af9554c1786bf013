package sqlite

import (
	"strconv"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlBury = `INSERT INTO tombstones (changed, kind, item) SELECT ?2 + key, ?3, value FROM json_each(?1)`

	// Each arm is read in the order of its own index and cut at the limit, so
	// that following an owner costs what has changed.
	sqlChanges = `SELECT changed, kind, item, gone FROM (
		SELECT * FROM (SELECT changed, 1 AS kind, key AS item, 0 AS gone FROM memories m WHERE changed BETWEEN ?1 AND ?2
			AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.item = m.key AND v.changed > m.changed) ORDER BY changed LIMIT ?3)
		UNION ALL
		SELECT * FROM (SELECT key, 2, key, 0 FROM messages m WHERE key BETWEEN ?1 AND ?2
			AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.item = m.key) ORDER BY key LIMIT ?3)
		UNION ALL
		SELECT * FROM (SELECT changed, 3, key, 0 FROM sessions WHERE changed BETWEEN ?1 AND ?2 ORDER BY changed LIMIT ?3)
		UNION ALL
		SELECT * FROM (SELECT changed, kind, item, 0 FROM vectors v WHERE changed BETWEEN ?1 AND ?2
			AND NOT EXISTS (SELECT 1 FROM vectors w WHERE w.item = v.item AND w.changed > v.changed)
			AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.key = v.item AND m.changed > v.changed) ORDER BY changed LIMIT ?3)
		UNION ALL
		SELECT * FROM (SELECT changed, kind, item, 1 FROM tombstones WHERE changed BETWEEN ?1 AND ?2 ORDER BY changed LIMIT ?3)
	) ORDER BY changed LIMIT ?3`
)

// bury leaves tombstones under the owner's next numbers.
func (t *tx) bury(kind store.ItemKind, keys []int64) error {
	first := t.next()
	t.state.Seq += int64(len(keys) - 1)
	return t.c.run(sqlBury, keyList(keys), first, int(kind))
}

// keyList writes keys as the JSON list that statements over many keys take.
func keyList(keys []int64) string {
	buf := make([]byte, 0, 2+len(keys)*20)
	buf = append(buf, '[')
	for i, key := range keys {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = strconv.AppendInt(buf, key, 10)
	}
	return string(append(buf, ']'))
}

// ownKeys returns those of the keys that the owner's rows can have, each once.
func (t *tx) ownKeys(keys []int64) []int64 {
	own, seen := make([]int64, 0, len(keys)), make(map[int64]bool, len(keys))
	for _, key := range keys {
		if t.own.has(key) && !seen[key] {
			own, seen[key] = append(own, key), true
		}
	}
	return own
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
