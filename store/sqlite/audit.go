package sqlite

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlLastAudit = `SELECT n, mac FROM audit ORDER BY n DESC LIMIT 1`
	sqlAddAudit  = `INSERT INTO audit (n, owner, at, mac, body) VALUES (?, ?, ?, ?, ?)`
	sqlAudit     = `SELECT n, owner, at, mac, body FROM audit WHERE n > ? ORDER BY n LIMIT ?`
)

// Audit appends an entry to the chain of the whole store; see store.Forgetting.
func (t *tx) Audit(e *store.AuditEntry, seal func(previous []byte, e store.AuditEntry) []byte) error {
	row := *e
	micro(&row.At)
	row.N, row.Owner = 0, t.own.number
	var previous []byte
	_, err := t.c.one(sqlLastAudit, func(st *sqlite3.Stmt) error {
		row.N, previous = st.ColumnInt64(0), st.ColumnBlob(1, nil)
		return nil
	})
	if err != nil {
		return foreign("audit", err)
	}
	row.N++
	row.MAC = seal(previous, row)
	return t.atomic("audit", func() error {
		body, err := t.seal(t.s.self, t.c.at("audit", row.N), packAudit(&row))
		if err != nil {
			return err
		}
		if err := t.c.run(sqlAddAudit, row.N, row.Owner, row.At.UnixMicro(), append([]byte{}, row.MAC...), body); err != nil {
			return err
		}
		*e = row
		return nil
	})
}

// packAudit writes what the columns do not hold.
func packAudit(e *store.AuditEntry) []byte {
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(e.Counts)) {
		counts = append(counts, name, strconv.Itoa(e.Counts[name]))
	}
	return pack(string(e.Subject), e.Actor, e.Action, e.Trigger, e.Ref, packList(counts))
}

// unpackAudit reads what packAudit wrote, and reports whether it is exactly
// that: a text of another form may not pass for one that was sealed.
func unpackAudit(plain []byte, e *store.AuditEntry) bool {
	u := unpack(plain)
	e.Subject = []byte(u.next())
	e.Actor, e.Action, e.Trigger, e.Ref = u.next(), u.next(), u.next(), u.next()
	counts := u.list()
	if u.bad || len(counts)%2 != 0 {
		return false
	}
	for i := 0; i < len(counts); i += 2 {
		n, err := strconv.Atoi(counts[i+1])
		if err != nil {
			return false
		}
		if e.Counts == nil {
			e.Counts = map[string]int{}
		}
		e.Counts[counts[i]] = n
	}
	return bytes.Equal(plain, packAudit(e))
}

// AuditEntries lists entries of the chain; see store.ForgottenReader. Of a row
// whose text cannot be read it gives what stands in the columns: its MAC does
// not fit then, and a check of the chain names it.
func (r *reader) AuditEntries(after int64, most int) ([]store.AuditEntry, error) {
	var list []store.AuditEntry
	err := r.c.each(sqlAudit, func(st *sqlite3.Stmt) error {
		e := store.AuditEntry{N: st.ColumnInt64(0), Owner: st.ColumnInt64(1), At: instant(st.ColumnInt64(2)), MAC: st.ColumnBlob(3, nil)}
		bare := e
		plain, err := r.open(r.s.self, r.c.at("audit", e.N), st.ColumnRawBlob(4))
		if err != nil || !unpackAudit(plain, &e) {
			e = bare
		}
		list = append(list, e)
		return nil
	}, after, limit(most))
	return list, foreign("list audit entries", err)
}
