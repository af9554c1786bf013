package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlPageLog = `SELECT key, session, direction, reason, from_key, to_key, memory, created_at FROM pages
	WHERE session = ?1 AND (?2 = '' OR reason = ?2) AND (?3 = 0 OR key < ?3) ORDER BY key DESC LIMIT ?4`
	sqlCountPages = `SELECT count(*) FROM pages WHERE session = ?1 AND (?2 = '' OR reason = ?2)`
	sqlAddPage    = `INSERT INTO pages (key, session, direction, reason, from_key, to_key, memory, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlKeepPages  = `DELETE FROM pages WHERE session = ?1 AND key <= (SELECT key FROM pages WHERE session = ?1 ORDER BY key DESC LIMIT 1 OFFSET ?2)`

	sqlDropPagesOf     = `DELETE FROM pages WHERE session = ?`
	sqlDropPagesOver   = `DELETE FROM pages WHERE session = ?2 AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN from_key AND to_key)`
	sqlDropPagesIn     = `DELETE FROM pages WHERE from_key <> 0 AND from_key = to_key AND from_key IN` + goneKeys
	sqlDropPagesMemory = `DELETE FROM pages WHERE memory <> 0 AND memory IN` + goneKeys
)

// Pages lists a session's page log; see store.PageReader.
func (r *reader) Pages(owner yiku.Owner, q store.PageQuery) ([]store.Page, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || !o.has(q.SessionKey) {
		return nil, err
	}
	var list []store.Page
	err = r.c.each(sqlPageLog, func(st *sqlite3.Stmt) error {
		list = append(list, store.Page{Key: st.ColumnInt64(0), SessionKey: st.ColumnInt64(1), Direction: yiku.PageDirection(st.ColumnText(2)),
			Reason: yiku.PageReason(st.ColumnText(3)), From: st.ColumnInt64(4), To: st.ColumnInt64(5), Memory: st.ColumnInt64(6), CreatedAt: instant(st.ColumnInt64(7))})
		return nil
	}, q.SessionKey, string(q.Reason), q.Before, limit(q.Limit))
	return list, foreign("list pages", err)
}

// CountPages counts it; see store.PageReader.
func (r *reader) CountPages(owner yiku.Owner, q store.PageQuery) (int, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || !o.has(q.SessionKey) {
		return 0, err
	}
	n, err := r.c.number(sqlCountPages, q.SessionKey, string(q.Reason))
	return int(n), foreign("count pages", err)
}

// AddPages adds to a session's page log; see store.PageWriter.
func (t *tx) AddPages(sessionKey int64, pages []*store.Page, keep int) error {
	if err := t.mustHave(store.Item{Kind: store.ItemSession, Key: sessionKey}); err != nil {
		return err
	}
	rows := make([]store.Page, len(pages))
	err := t.atomic("write pages", func() error {
		for i, p := range pages {
			rows[i] = *p
			micro(&rows[i].CreatedAt)
			rows[i].SessionKey, rows[i].Key = sessionKey, t.nextOutside()
			p := rows[i]
			if err := t.c.run(sqlAddPage, p.Key, p.SessionKey, string(p.Direction), string(p.Reason), p.From, p.To, p.Memory, p.CreatedAt.UnixMicro()); err != nil {
				return err
			}
		}
		return t.c.run(sqlKeepPages, sessionKey, keep)
	})
	if err != nil {
		return err
	}
	for i, p := range pages {
		*p = rows[i]
	}
	return nil
}
