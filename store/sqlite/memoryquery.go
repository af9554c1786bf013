package sqlite

import (
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlMemoryOrder = ` ORDER BY m.key DESC`
	sqlMemoryCount = `SELECT count(*) FROM memories m LEFT JOIN facts f ON f.key = m.key`
)

// Memories lists memories, the newest first; see store.Reader.
func (r *reader) Memories(owner yiku.Owner, q store.MemoryQuery) ([]store.Memory, error) {
	var list []store.Memory
	err := r.eachMemory(owner, q, func(m store.Memory) error {
		list = append(list, m)
		if len(list) == q.Limit {
			return errStop
		}
		return nil
	})
	return list, err
}

// CountMemories counts memories; see store.Reader.
func (r *reader) CountMemories(owner yiku.Owner, q store.MemoryQuery) (int, error) {
	q.Before, q.Limit = 0, 0
	if q.Filter != nil || q.Topic != "" {
		n := 0
		err := r.eachMemory(owner, q, func(store.Memory) error {
			n++
			return nil
		})
		return n, err
	}
	o, err := r.find(owner)
	if err != nil || o == nil {
		return 0, err
	}
	where, args := r.memoryFilter(o, q)
	n, err := r.c.number(sqlMemoryCount+where, args...)
	return int(n), foreign("count memories", err)
}

// eachMemory calls do for the memories that satisfy the query. What SQL can
// decide is decided there; topics and the filter are sealed and are looked at
// on the opened row.
func (r *reader) eachMemory(owner yiku.Owner, q store.MemoryQuery, do func(store.Memory) error) error {
	if q.Filter != nil {
		if err := q.Filter.Validate("filter"); err != nil {
			return err
		}
	}
	o, err := r.find(owner)
	if err != nil || o == nil {
		return err
	}
	where, args := r.memoryFilter(o, q)
	order := sqlMemoryOrder
	if q.Limit > 0 && q.Filter == nil && q.Topic == "" {
		order += ` LIMIT ?`
		args = append(args, q.Limit)
	}
	err = r.c.each(memorySelect+where+order, func(st *sqlite3.Stmt) error {
		m, err := r.readMemory(o, st)
		if err != nil || !hasTopic(m.Topics, q.Topic) || !q.Filter.Match(store.MemoryFields(m.Memory)) {
			return err
		}
		return do(m)
	}, args...)
	return foreign("list memories", err)
}

func hasTopic(topics []string, topic string) bool {
	if topic == "" {
		return true
	}
	for _, t := range topics {
		if t == topic {
			return true
		}
	}
	return false
}

// memoryFilter compiles what SQL can decide of a query. A status is looked up
// in its index only together with a type, where few rows are left; the plus
// keeps SQLite from sorting nearly all of an owner's rows otherwise.
func (r *reader) memoryFilter(o *ownerRef, q store.MemoryQuery) (string, []any) {
	last := o.last()
	if q.Before > 0 {
		last = min(last, q.Before-1)
	}
	where := &conditions{}
	where.add(`m.key BETWEEN ? AND ?`, o.first(), last)
	status := `+m.status`
	if len(q.Types) > 0 && len(q.Statuses) > 0 && q.SubjectNorm == "" {
		where.add(`m.owner = ?`, o.number)
		status = `m.status`
	}
	where.in(status, texts(q.Statuses))
	where.in(`m.type`, texts(q.Types))
	where.in(`m.kind`, texts(q.Kinds))
	where.in(`m.level`, texts(q.Levels))
	if q.ProjectID != "" {
		where.add(`m.project_mark = ?`, r.mark(o, "project", q.ProjectID))
	}
	if q.TaskID != "" {
		where.add(`m.task_mark = ?`, r.mark(o, "task", q.TaskID))
	}
	if q.AgentID != "" {
		where.add(`m.agent_mark = ?`, r.mark(o, "agent", q.AgentID))
	}
	if q.SubjectNorm != "" {
		where.add(`f.owner = ?`, o.number)
		where.add(`f.subject_mark = ? AND f.subject_mark <> x''`, r.mark(o, "subject", q.SubjectNorm))
	}
	if q.AttributeNorm != "" {
		where.add(`f.attribute_mark = ?`, r.mark(o, "attribute", q.AttributeNorm))
	}
	if q.Pinned { // with its owner first, so that the index of pinned ones serves
		where.add(`m.owner = ? AND m.pinned = 1`, o.number)
	}
	return where.sql.String(), where.args
}

// conditions is a growing WHERE clause.
type conditions struct {
	sql  strings.Builder
	args []any
}

func (c *conditions) add(sql string, args ...any) {
	if c.sql.Len() == 0 {
		c.sql.WriteString(" WHERE ")
	} else {
		c.sql.WriteString(" AND ")
	}
	c.sql.WriteString(sql)
	c.args = append(c.args, args...)
}

// in adds that a column is one of the values; none at all does not narrow.
func (c *conditions) in(column string, values []any) {
	if len(values) == 0 {
		return
	}
	c.add(column+` IN (?`+strings.Repeat(`, ?`, len(values)-1)+`)`, values...)
}

func texts[T ~string](list []T) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = string(v)
	}
	return values
}
