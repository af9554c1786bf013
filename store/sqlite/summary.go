package sqlite

import (
	"encoding/json"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	summaryColumns = `key, session, covers_from, covers_to, epoch, path, created_at, body`

	sqlSummary    = `SELECT ` + summaryColumns + ` FROM summaries WHERE session = ? ORDER BY covers_to DESC LIMIT 1`
	sqlSummaryKey = `SELECT key FROM summaries WHERE session = ? ORDER BY covers_to DESC LIMIT 1`
	sqlAddSummary = `INSERT INTO summaries (session, covers_from, covers_to, epoch, path, created_at, body, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlPutSummary = `UPDATE summaries SET session = ?, covers_from = ?, covers_to = ?, epoch = ?, path = ?, created_at = ?, body = ? WHERE key = ?`
)

// summaryBody is the JSON inside the envelope of a summary.
type summaryBody struct {
	Messages int
	Model    string `json:",omitempty"`
	Dropped  int    `json:",omitempty"`
	Degraded bool   `json:",omitempty"`
	Lines    []store.SummaryLine
}

// Summary returns the summary of a session; see store.SummaryReader.
func (r *reader) Summary(owner yiku.Owner, sessionKey int64) (s store.Summary, err error) {
	o, err := r.must(owner, "summary")
	if err != nil {
		return s, err
	}
	if !o.has(sessionKey) {
		return s, notFound("summary")
	}
	found, err := r.c.one(sqlSummary, func(st *sqlite3.Stmt) error {
		s, err = r.readSummary(o, st)
		return err
	}, sessionKey)
	if err == nil && !found {
		return store.Summary{}, notFound("summary")
	}
	return s, foreign("read summary", err)
}

func (r *reader) readSummary(o *ownerRef, st *sqlite3.Stmt) (store.Summary, error) {
	s := store.Summary{Key: st.ColumnInt64(0), SessionKey: st.ColumnInt64(1), From: st.ColumnInt64(2), To: st.ColumnInt64(3), Epoch: st.ColumnInt64(4),
		Path: st.ColumnText(5), CreatedAt: instant(st.ColumnInt64(6))}
	plain, err := r.open(o, r.c.summaryPlace(&s), st.ColumnRawBlob(7))
	if err != nil {
		return s, err
	}
	var b summaryBody
	if json.Unmarshal(plain, &b) != nil {
		return s, unreadable()
	}
	s.Messages, s.Model, s.Dropped, s.Degraded, s.Lines = b.Messages, b.Model, b.Dropped, b.Degraded, b.Lines
	return s, nil
}

// PutSummary adds or replaces the summary of a session; see store.SummaryWriter.
func (t *tx) PutSummary(s *store.Summary) error {
	row := *s
	micro(&row.CreatedAt)
	if err := t.mustHave(store.Item{Kind: store.ItemSession, Key: row.SessionKey}); err != nil {
		return err
	}
	plain, err := json.Marshal(summaryBody{Messages: row.Messages, Model: row.Model, Dropped: row.Dropped, Degraded: row.Degraded, Lines: row.Lines})
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the summary cannot be written as JSON")
	}
	return t.single("write summary", func() error {
		sql := sqlPutSummary
		if row.Key, err = t.c.number(sqlSummaryKey, row.SessionKey); err != nil {
			return err
		}
		if row.Key == 0 {
			sql, row.Key = sqlAddSummary, t.nextOutside()
		}
		body, err := t.seal(t.own, t.c.summaryPlace(&row), plain)
		if err != nil {
			return err
		}
		if err := t.c.run(sql, row.SessionKey, row.From, row.To, row.Epoch, row.Path, row.CreatedAt.UnixMicro(), body, row.Key); err != nil {
			return err
		}
		*s = row
		return nil
	})
}
