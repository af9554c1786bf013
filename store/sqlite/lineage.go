package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlSources   = `SELECT source_kind, source FROM lineage WHERE item = ? AND item_kind = ? ORDER BY n`
	sqlDerived   = `SELECT item_kind, item FROM lineage WHERE source = ? AND source_kind = ? ORDER BY n`
	sqlAddEdge   = `INSERT INTO lineage (item, source, item_kind, source_kind, n) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlHasItem1  = `SELECT 1 FROM memories WHERE key = ?`
	sqlHasItem2  = `SELECT 1 FROM messages WHERE key = ?`
	sqlHasItem3  = `SELECT 1 FROM sessions WHERE key = ?`
	sqlDropUp    = `DELETE FROM lineage WHERE item IN` + goneKeys
	sqlDropDown  = `DELETE FROM lineage WHERE source IN` + goneKeys
	sqlDropCites = `DELETE FROM snapshots WHERE key IN (SELECT snapshot FROM snapshot_items WHERE item IN` + goneKeys + `)`
	sqlMadeBy    = `SELECT DISTINCT i.key, i.request, i.at, i.expires_at FROM idempotency_items x JOIN idempotency i ON i.key = x.record
	WHERE i.forgotten = 0 AND x.item IN` + goneKeys
	sqlForgetIt  = `UPDATE idempotency SET forgotten = 1, body = ? WHERE key = ?`
	sqlDropMade  = `DELETE FROM idempotency_items WHERE item IN` + goneKeys
	sqlDropVec   = `DELETE FROM vectors WHERE item IN` + goneKeys
	sqlDropTerms = `DELETE FROM terms WHERE item IN` + goneKeys
)

// Sources lists what an item was made from; see store.Reader.
func (r *reader) Sources(owner yiku.Owner, item store.Item) ([]store.Item, error) {
	return r.edges(owner, item, sqlSources)
}

// Derived lists what was made from an item; see store.Reader.
func (r *reader) Derived(owner yiku.Owner, item store.Item) ([]store.Item, error) {
	return r.edges(owner, item, sqlDerived)
}

func (r *reader) edges(owner yiku.Owner, item store.Item, sql string) ([]store.Item, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || !o.has(item.Key) {
		return nil, err
	}
	var list []store.Item
	err = r.c.each(sql, func(st *sqlite3.Stmt) error {
		list = append(list, store.Item{Kind: store.ItemKind(st.ColumnInt(0)), Key: st.ColumnInt64(1)})
		return nil
	}, item.Key, int(item.Kind))
	return list, foreign("read lineage", err)
}

// AddLineage records what an item was made from; see store.Tx.
func (t *tx) AddLineage(item store.Item, sources []store.Item) error {
	return t.atomic("add lineage", func() error {
		if err := t.mustHave(item); err != nil {
			return err
		}
		for _, s := range sources {
			if err := t.mustHave(s); err != nil {
				return err
			}
			n := t.nextOutside()
			if err := t.c.run(sqlAddEdge, item.Key, s.Key, int(item.Kind), int(s.Kind), n); err != nil {
				return err
			}
		}
		return nil
	})
}

// mustHave reports an item that is not a row of the owner.
func (t *tx) mustHave(item store.Item) error {
	sql := map[store.ItemKind]string{store.ItemMemory: sqlHasItem1, store.ItemMessage: sqlHasItem2, store.ItemSession: sqlHasItem3}[item.Kind]
	if sql == "" || !t.own.has(item.Key) {
		return notFound("item")
	}
	n, err := t.c.number(sql, item.Key)
	if err == nil && n == 0 {
		return notFound("item")
	}
	return err
}

// dropTraces deletes what speaks of rows elsewhere: lineage, vectors, terms
// and the snapshots that cite them; idempotency records that made them become
// forgotten, and lose what they would have answered. keys is a keyList.
func (t *tx) dropTraces(keys string, removed *yiku.Removed) error {
	for _, d := range []struct {
		sql  string
		into *int
	}{
		{sqlDropUp, nil}, {sqlDropDown, nil},
		{sqlDropPagesIn, nil}, {sqlDropPagesMemory, nil},
		{sqlDropCites, &removed.Snapshots}, {sqlDropVec, &removed.Vectors}, {sqlDropTerms, &removed.Terms},
	} {
		if err := t.c.count(d.into, d.sql, keys); err != nil {
			return err
		}
	}
	return t.forgetRecords(keys, removed)
}

// forgetRecords marks the records of the writes that made rows.
func (t *tx) forgetRecords(keys string, removed *yiku.Removed) error {
	records := map[int64]store.Idempotency{}
	err := t.c.each(sqlMadeBy, func(st *sqlite3.Stmt) error {
		records[st.ColumnInt64(0)] = store.Idempotency{Request: st.ColumnBlob(1, nil), Forgotten: true,
			At: instant(st.ColumnInt64(2)), ExpiresAt: instant(st.ColumnInt64(3))}
		return nil
	}, keys)
	if err != nil {
		return err
	}
	for n, r := range records {
		body, err := t.seal(t.own, t.c.idempotencyPlace(n, &r), nil)
		if err != nil {
			return err
		}
		if err := t.c.count(&removed.Idempotency, sqlForgetIt, body, n); err != nil {
			return err
		}
	}
	return t.c.run(sqlDropMade, keys)
}
