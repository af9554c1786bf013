package sqlite

import (
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlSuppress     = `INSERT INTO suppressions (owner, mark, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)`
	sqlSuppressed   = `SELECT at FROM suppressions WHERE owner = ? AND mark = ?`
	sqlSuppressions = `SELECT mark, at FROM suppressions WHERE owner = ?1 AND (?2 IS NULL OR at = ?2)`
)

// Suppress adds marks of what was forgotten; see store.Tx.
func (t *tx) Suppress(marks []string, at time.Time) error {
	return t.atomic("suppress", func() error {
		for _, m := range marks {
			if err := t.c.run(sqlSuppress, t.own.number, []byte(m), at.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Suppressed tells which of the marks stand; see store.Tx.
func (t *tx) Suppressed(marks []string) ([]bool, error) {
	at, err := t.SuppressedAt(marks)
	stand := make([]bool, len(at))
	for i := range at {
		stand[i] = !at[i].IsZero()
	}
	return stand, err
}

// SuppressedAt tells when each of the marks was added last; see store.Tx.
func (t *tx) SuppressedAt(marks []string) ([]time.Time, error) {
	at := make([]time.Time, len(marks))
	for i, m := range marks {
		_, err := t.c.one(sqlSuppressed, func(st *sqlite3.Stmt) error {
			at[i] = instant(st.ColumnInt64(0))
			return nil
		}, t.own.number, []byte(m))
		if err != nil {
			return nil, foreign("read suppressions", err)
		}
	}
	return at, nil
}

// Suppressions lists marks; see store.ForgottenReader.
func (r *reader) Suppressions(owner yiku.Owner, at time.Time) ([]store.Suppression, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	var list []store.Suppression
	err = r.c.each(sqlSuppressions, func(st *sqlite3.Stmt) error {
		list = append(list, store.Suppression{Mark: string(st.ColumnRawBlob(0)), At: instant(st.ColumnInt64(1))})
		return nil
	}, o.number, at)
	return list, foreign("list suppressions", err)
}
