package sqlite

import (
	"context"
	"fmt"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlIntegrity   = `PRAGMA integrity_check(20)`
	sqlForeignKeys = `PRAGMA foreign_key_check`
	sqlWrongCounts = `SELECT count(*) FROM sessions s WHERE s.message_count <> (SELECT count(*) FROM messages m WHERE m.session = s.key)`
	sqlBehindSeq   = `SELECT count(*) FROM owners o WHERE (o.number << 40 | o.seq) < max(
		coalesce((SELECT max(changed) FROM memories WHERE changed BETWEEN o.number << 40 AND (o.number << 40 | 1099511627775)), 0),
		coalesce((SELECT max(changed) FROM sessions WHERE changed BETWEEN o.number << 40 AND (o.number << 40 | 1099511627775)), 0),
		coalesce((SELECT max(key) FROM messages WHERE key BETWEEN o.number << 40 AND (o.number << 40 | 1099511627775)), 0),
		coalesce((SELECT max(changed) FROM tombstones WHERE changed BETWEEN o.number << 40 AND (o.number << 40 | 1099511627775)), 0))`
)

const sqlWrongTenants = `SELECT count(*) FROM tenants t WHERE t.owners <> (SELECT count(*) FROM owners o WHERE o.tenant = t.number AND max(o.messages, o.memories, o.bytes) > 0)`

// sqlWrongUsage counts anew what the triggers have counted.
const sqlWrongUsage = `WITH usage (owner, messages, memories, bytes) AS (
		SELECT key >> 40, 0, 0, length(body) FROM sessions
		UNION ALL SELECT key >> 40, 1, 0, length(body) FROM messages
		UNION ALL SELECT key >> 40, 0, 0, length(body) FROM tasks
		UNION ALL SELECT key >> 40, 0, 1, length(body) FROM memories
		UNION ALL SELECT key >> 40, 0, 0, length(body) FROM facts
		UNION ALL SELECT key >> 40, 0, 0, length(body) FROM episodes
		UNION ALL SELECT key >> 40, 0, 0, length(body) FROM skills
		UNION ALL SELECT key >> 40, 0, 0, length(body) FROM versions
		UNION ALL SELECT owner, 0, 0, coalesce(length(body), 0) FROM working),
	sums AS (SELECT owner, sum(messages) AS messages, sum(memories) AS memories, sum(bytes) AS bytes FROM usage GROUP BY owner)
	SELECT count(*) FROM owners o LEFT JOIN sums s ON s.owner = o.number
	WHERE o.messages <> coalesce(s.messages, 0) OR o.memories <> coalesce(s.memories, 0) OR o.bytes <> coalesce(s.bytes, 0)`

// mostFaults is how many damaged rows and pages are named each.
const mostFaults = 20

// Check reads through the store; see store.Store. What it reports names
// tables and counts, never content.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	e, err := s.Examine(ctx)
	return e.Faults, err
}

// Examine reads every row and every page; see store.Examiner.
func (s *Store) Examine(ctx context.Context) (store.Examination, error) {
	e := store.Examination{Rows: map[string]int{}}
	if err := s.open(); err != nil {
		e.Faults = append(e.Faults, err.Error())
	}
	if err := s.examinePages(ctx, &e); err != nil {
		return e, err
	}
	err := s.View(ctx, func(r store.Reader) error { return r.(*reader).examine(&e) })
	if isDamage(err) {
		e.Faults = append(e.Faults, err.Error())
		err = nil
	}
	return e, err
}

// examine reads the rows.
func (r *reader) examine(e *store.Examination) error {
	lines := func(sql, format string) error {
		return r.c.each(sql, func(st *sqlite3.Stmt) error {
			if text := st.ColumnText(0); text != "ok" {
				e.Faults = append(e.Faults, fmt.Sprintf(format, text))
			}
			return nil
		})
	}
	if err := lines(sqlIntegrity, "%s"); err != nil {
		return foreign("check integrity", err)
	}
	if err := lines(sqlForeignKeys, "a row of table %s refers to one that is missing"); err != nil {
		return foreign("check references", err)
	}
	for format, sql := range map[string]string{
		"%d sessions count their messages wrongly": sqlWrongCounts,
		"%d owners have numbers beyond their seq":  sqlBehindSeq,
		"the usage of %d owners is wrong":          sqlWrongUsage,
		"%d entities are spoken of by no memory":   sqlSourceless,
		"%d tenants count their owners wrongly":    sqlWrongTenants,
	} {
		n, err := r.c.number(sql)
		if err != nil {
			return foreign("check counts", err)
		}
		if n > 0 {
			e.Faults = append(e.Faults, fmt.Sprintf(format, n))
		}
	}
	damaged := 0
	return r.walk(func(table string, err error) error {
		e.Rows[table]++
		if err == nil || isDamage(err) || r.c.stop != nil && r.c.stop() != nil {
			return err
		}
		if damaged++; damaged <= mostFaults {
			e.Faults = append(e.Faults, err.Error())
		}
		return nil
	})
}
