package sqlite

import (
	"strconv"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlPutEpisode = `INSERT INTO episodes (key, from_at, to_at, outcome, body) VALUES (?, ?, ?, ?, ?)
	ON CONFLICT (key) DO UPDATE SET from_at = excluded.from_at, to_at = excluded.to_at, outcome = excluded.outcome, body = excluded.body`
	sqlDropEpisode = `DELETE FROM episodes WHERE key = ?`
	sqlPutSkill    = `INSERT INTO skills (key, successes, failures, body) VALUES (?, ?, ?, ?)
	ON CONFLICT (key) DO UPDATE SET successes = excluded.successes, failures = excluded.failures, body = excluded.body`
	sqlDropSkill = `DELETE FROM skills WHERE key = ?`
)

// writeKinds writes what a memory has of its kind alone.
func (t *tx) writeKinds(m *store.Memory, own marks) error {
	if err := t.writeFact(m, own); err != nil {
		return err
	}
	if err := t.writeEpisode(m); err != nil {
		return err
	}
	return t.writeSkill(m)
}

func (t *tx) writeEpisode(m *store.Memory) error {
	e := m.Episode
	if e == nil {
		return t.c.run(sqlDropEpisode, m.Key)
	}
	body, err := t.seal(t.own, t.c.episodePlace(m), pack(packList(e.Participants)))
	if err != nil {
		return err
	}
	return t.c.run(sqlPutEpisode, m.Key, e.From, e.To, string(e.Outcome), body)
}

func (t *tx) writeSkill(m *store.Memory) error {
	s := m.Skill
	if s == nil {
		return t.c.run(sqlDropSkill, m.Key)
	}
	body, err := t.seal(t.own, t.c.skillPlace(m), pack(s.Name, s.Situation, strconv.FormatInt(s.Version, 10), packList(s.Steps)))
	if err != nil {
		return err
	}
	return t.c.run(sqlPutSkill, m.Key, s.Successes, s.Failures, body)
}

// The columns of memorySelect that belong to one kind of memories.
const (
	episodeColumns = 26 // from, to, outcome, body
	skillColumns   = 30 // successes, failures, body
)

// readKinds reads what a memory has of its kind alone, but for its fact.
func (r *reader) readKinds(o *ownerRef, m *store.Memory, st *sqlite3.Stmt) error {
	if m.Episode != nil {
		plain, err := r.open(o, r.c.episodePlace(m), st.ColumnRawBlob(episodeColumns+3))
		if err != nil {
			return err
		}
		u := unpack(plain)
		if m.Episode.Participants = u.list(); u.bad {
			return u.err()
		}
	}
	if m.Skill == nil {
		return nil
	}
	plain, err := r.open(o, r.c.skillPlace(m), st.ColumnRawBlob(skillColumns+2))
	if err != nil {
		return err
	}
	u := unpack(plain)
	m.Skill.Name, m.Skill.Situation = u.next(), u.next()
	if m.Skill.Version, err = strconv.ParseInt(u.next(), 10, 64); err != nil {
		return unreadable()
	}
	m.Skill.Steps = u.list()
	return u.err()
}

// plainKinds reads the columns of a memory's kind that stand in plain, which
// the place of the memory's own envelope must know.
func plainKinds(m *store.Memory, st *sqlite3.Stmt) {
	if st.ColumnType(episodeColumns+3) != sqlite3.NULL {
		m.Episode = &yiku.Episode{From: instant(st.ColumnInt64(episodeColumns)), To: instant(st.ColumnInt64(episodeColumns + 1)),
			Outcome: yiku.TaskOutcome(st.ColumnText(episodeColumns + 2))}
	}
	if st.ColumnType(skillColumns+2) != sqlite3.NULL {
		m.Skill = &yiku.Skill{Successes: st.ColumnInt64(skillColumns), Failures: st.ColumnInt64(skillColumns + 1)}
	}
}

// ofKind leaves out what a memory does not have by its kind, and rounds an
// episode's times down in a copy of its own.
func ofKind(m *store.Memory) {
	if m.Kind != yiku.KindProcedural {
		m.Skill = nil
	}
	if m.Kind != yiku.KindEpisodic {
		m.Episode = nil
	}
	if m.Episode != nil {
		e := *m.Episode
		micro(&e.From, &e.To)
		m.Episode = &e
	}
}

// RecordOutcome counts an outcome of a skill; see store.Tx.
func (t *tx) RecordOutcome(key int64, success bool) error {
	if !t.own.has(key) {
		return notFound("skill")
	}
	m, err := t.oneMemory(t.own, sqlMemoryByKey, key)
	if err != nil {
		return err
	}
	if m.Skill == nil {
		return notFound("skill")
	}
	if success {
		m.Skill.Successes++
	} else {
		m.Skill.Failures++
	}
	return t.atomic("record outcome", func() error { return t.writeSkill(&m) })
}
