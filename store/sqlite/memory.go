package sqlite

import (
	"cmp"
	"encoding/hex"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const memorySelect = `SELECT m.key, m.changed, m.id, m.version, m.reason, m.kind, m.type, m.level, m.status, m.origin,
	m.content_mark, m.importance, m.confidence, m.trust, m.pinned,
	coalesce(m.valid_from, -62135596800000000), coalesce(m.valid_to, -62135596800000000),
	coalesce(m.expires_at, -62135596800000000), coalesce(m.confirmed_at, -62135596800000000),
	m.recorded_at, m.updated_at, m.body, f.single, f.body,
	coalesce(a.last_at, -62135596800000000), a.count,
	coalesce(e.from_at, -62135596800000000), coalesce(e.to_at, -62135596800000000), e.outcome, e.body,
	s.successes, s.failures, s.body
	FROM memories m LEFT JOIN facts f ON f.key = m.key LEFT JOIN access a ON a.key = m.key
	LEFT JOIN episodes e ON e.key = CASE m.kind WHEN 'episodic' THEN m.key END
	LEFT JOIN skills s ON s.key = CASE m.kind WHEN 'procedural' THEN m.key END`

const (
	sqlMemory      = memorySelect + ` WHERE m.owner = ? AND m.id = ?`
	sqlMemoryByKey = memorySelect + ` WHERE m.key = ?`
	sqlMemoryRange = memorySelect + ` WHERE m.key BETWEEN ? AND ? ORDER BY m.key`
	sqlDuplicate   = memorySelect + ` WHERE m.owner = ? AND m.scope_mark = ? AND m.content_mark = ?
	AND m.status = 'active' AND m.content_mark <> x''`
)

// Memory returns a memory by its id; see store.Reader.
func (r *reader) Memory(owner yiku.Owner, id string) (store.Memory, error) {
	o, err := r.must(owner, "memory")
	if err != nil {
		return store.Memory{}, err
	}
	return r.oneMemory(o, sqlMemory, o.number, id)
}

func (r *reader) oneMemory(o *ownerRef, sql string, args ...any) (m store.Memory, err error) {
	found, err := r.c.one(sql, func(st *sqlite3.Stmt) error {
		m, err = r.readMemory(o, st)
		return err
	}, args...)
	if err != nil {
		return store.Memory{}, foreign("read memory", err)
	}
	if !found {
		return store.Memory{}, notFound("memory")
	}
	return m, nil
}

// MemoriesByKey returns memories in the order of their keys; see store.Reader.
func (r *reader) MemoriesByKey(owner yiku.Owner, keys []int64) ([]store.Memory, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	list := make([]store.Memory, 0, len(keys))
	err = r.eachKey(o, keys, sqlMemoryByKey, sqlMemoryRange, func(st *sqlite3.Stmt) error {
		m, err := r.readMemory(o, st)
		list = append(list, m)
		return err
	})
	return list, foreign("read memories", err)
}

// Duplicate returns the active memory of the same scope and content; see store.Reader.
func (r *reader) Duplicate(owner yiku.Owner, m store.Memory) (store.Memory, error) {
	o, err := r.must(owner, "duplicate")
	if err != nil {
		return store.Memory{}, err
	}
	if m.ContentNorm == "" {
		return store.Memory{}, notFound("duplicate")
	}
	return r.oneMemory(o, sqlDuplicate, o.number, r.scopeMark(o, &m), r.mark(o, "content", m.ContentNorm))
}

// scopeMark stands for where a memory holds.
func (r *reader) scopeMark(o *ownerRef, m *store.Memory) []byte {
	return r.mark(o, "scope", string(m.Level), m.ProjectID, m.TaskID, m.AgentID)
}

func (r *reader) readMemory(o *ownerRef, st *sqlite3.Stmt) (m store.Memory, err error) {
	m.Key, m.Seq = st.ColumnInt64(0), seq(st.ColumnInt64(1))
	m.ID, m.UserID = st.ColumnText(2), o.owner.User()
	m.Version, m.Reason = st.ColumnInt64(3), known(st.ColumnRawText(4))
	m.Kind, m.Type = yiku.Kind(known(st.ColumnRawText(5))), yiku.Type(known(st.ColumnRawText(6)))
	m.Level, m.Status = yiku.Level(known(st.ColumnRawText(7))), yiku.Status(known(st.ColumnRawText(8)))
	m.Origin = yiku.Origin(known(st.ColumnRawText(9)))
	m.Hash = hex.EncodeToString(st.ColumnRawBlob(10))
	m.Importance, m.Confidence, m.Trust = st.ColumnFloat(11), st.ColumnFloat(12), st.ColumnFloat(13)
	m.Pinned = st.ColumnBool(14)
	m.ValidFrom, m.ValidTo = instant(st.ColumnInt64(15)), instant(st.ColumnInt64(16))
	m.ExpiresAt, m.ConfirmedAt = instant(st.ColumnInt64(17)), instant(st.ColumnInt64(18))
	m.CreatedAt, m.UpdatedAt = instant(st.ColumnInt64(19)), instant(st.ColumnInt64(20))
	fact := st.ColumnRawBlob(23)
	plainKinds(&m, st)
	plain, err := r.open(o, r.c.memoryPlace(&m, fact != nil), st.ColumnRawBlob(21))
	if err != nil {
		return m, err
	}
	u := unpack(plain)
	m.Content, m.ProjectID, m.TaskID, m.AgentID = u.next(), u.next(), u.next(), u.next()
	m.SessionID, m.Supersedes = u.next(), u.next()
	m.Topics, m.DerivedFrom, m.Sources = u.list(), u.list(), u.list()
	if m.Metadata, err = object(u.next()); err != nil {
		return m, err
	}
	if u.bad {
		return m, u.err()
	}
	if fact != nil {
		m.Single = st.ColumnBool(22)
		if plain, err = r.open(o, r.c.factPlace(&m), fact); err != nil {
			return m, err
		}
		u = unpack(plain)
		m.Subject, m.Attribute, m.Value = u.next(), u.next(), u.next()
	}
	m.LastAccess, m.AccessCount = instant(st.ColumnInt64(24)), st.ColumnInt64(25)
	if u.bad {
		return m, u.err()
	}
	return m, r.readKinds(o, &m, st)
}

const sqlVersions = `SELECT key, replaced_at, reason, body FROM versions WHERE memory = ? ORDER BY key DESC`

// Versions lists what a memory was; see store.Reader.
func (r *reader) Versions(owner yiku.Owner, memoryKey int64) ([]store.Version, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || !o.has(memoryKey) {
		return nil, err
	}
	var list []store.Version
	err = r.c.each(sqlVersions, func(st *sqlite3.Stmt) error {
		v, err := r.readVersion(o, memoryKey, st)
		list = append(list, v)
		return err
	}, memoryKey)
	return list, foreign("list versions", err)
}

func (r *reader) readVersion(o *ownerRef, memory int64, st *sqlite3.Stmt) (v store.Version, err error) {
	v = store.Version{ReplacedAt: instant(st.ColumnInt64(1)), Reason: st.ColumnText(2)}
	plain, err := r.open(o, r.c.versionPlace(st.ColumnInt64(0), memory, &v), st.ColumnRawBlob(3))
	if err != nil {
		return v, err
	}
	if err := fromJSON(string(plain), &v.Memory); err != nil {
		return v, err
	}
	for k, x := range v.Memory.Metadata {
		v.Memory.Metadata[k] = plainNumbers(x)
	}
	return v, nil
}

const (
	sqlAddMemory = `INSERT INTO memories (changed, version, reason, kind, type, level, status, origin,
	project_mark, task_mark, agent_mark, scope_mark, content_mark, importance, confidence, trust, pinned,
	valid_from, valid_to, expires_at, confirmed_at, updated_at, body, key, owner, id, recorded_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateMemory = `UPDATE memories SET changed = ?, version = ?, reason = ?, kind = ?, type = ?, level = ?, status = ?, origin = ?,
	project_mark = ?, task_mark = ?, agent_mark = ?, scope_mark = ?, content_mark = ?, importance = ?, confidence = ?, trust = ?, pinned = ?,
	valid_from = ?, valid_to = ?, expires_at = ?, confirmed_at = ?, updated_at = ?, body = ? WHERE key = ?`
	sqlMarks      = `SELECT m.content_mark, f.subject_mark, f.attribute_mark FROM memories m LEFT JOIN facts f ON f.key = m.key WHERE m.key = ?`
	sqlAddVersion = `INSERT INTO versions (key, memory, replaced_at, reason, body) VALUES (?, ?, ?, ?, ?)`
	sqlPutFact    = `INSERT INTO facts (key, owner, subject_mark, attribute_mark, single, current_mark, body) VALUES (?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (key) DO UPDATE SET subject_mark = excluded.subject_mark, attribute_mark = excluded.attribute_mark,
	single = excluded.single, current_mark = excluded.current_mark, body = excluded.body`
	sqlDropFact  = `DELETE FROM facts WHERE key = ?`
	sqlAddAccess = `INSERT INTO access (key, last_at, count) VALUES (?, ?, ?)`
)

// marks are the blind marks of a memory's texts.
type marks struct{ content, subject, attribute []byte }

// AddMemory adds a memory; see store.Tx.
func (t *tx) AddMemory(m *store.Memory) error {
	if m.ID == "" {
		return yiku.Invalid("id", "must not be empty")
	}
	row := *m
	roundMemory(&row)
	row.UserID, row.Version, row.Reason = t.own.owner.User(), 1, cmp.Or(m.Reason, "created")
	own := marks{
		content:   t.mark(t.own, "content", m.ContentNorm),
		subject:   t.mark(t.own, "subject", m.SubjectNorm),
		attribute: t.mark(t.own, "attribute", m.AttributeNorm),
	}
	return t.atomic("add memory", func() error {
		changed := t.next()
		row.Key, row.Seq = changed, seq(changed)
		if err := t.writeMemory(sqlAddMemory, &row, own, t.own.number, row.ID, row.CreatedAt.UnixMicro()); err != nil {
			return err
		}
		if row.AccessCount != 0 || !row.LastAccess.IsZero() {
			if err := t.c.run(sqlAddAccess, row.Key, row.LastAccess, row.AccessCount); err != nil {
				return err
			}
		}
		if err := t.relate(row.Key, row.Relations); err != nil {
			return err
		}
		*m = row
		return nil
	})
}

// UpdateMemory replaces a memory and keeps what it was; see store.Tx.
func (t *tx) UpdateMemory(m *store.Memory, reason string) error {
	if !t.own.has(m.Key) {
		return notFound("memory")
	}
	old, err := t.oneMemory(t.own, sqlMemoryByKey, m.Key)
	if err != nil {
		return err
	}
	row := *m
	roundMemory(&row)
	row.UserID, row.ID, row.CreatedAt = old.UserID, old.ID, old.CreatedAt
	row.LastAccess, row.AccessCount = old.LastAccess, old.AccessCount
	row.Version, row.Reason = old.Version+1, reason
	own, err := t.newMarks(&row, &old)
	if err != nil {
		return err
	}
	body, err := toJSON(old.Memory, false)
	if err != nil {
		return err
	}
	return t.atomic("update memory", func() error {
		changed := t.next()
		row.Seq = seq(changed)
		was := store.Version{ReplacedAt: row.UpdatedAt, Reason: old.Reason}
		sealed, err := t.seal(t.own, t.c.versionPlace(changed, row.Key, &was), []byte(body))
		if err != nil {
			return err
		}
		if err := t.c.run(sqlAddVersion, changed, row.Key, row.UpdatedAt.UnixMicro(), old.Reason, sealed); err != nil {
			return err
		}
		if err := t.writeMemory(sqlUpdateMemory, &row, own); err != nil {
			return err
		}
		if !saysTheSame(&row.Memory, &old.Memory) {
			if err := t.c.run(sqlDropVec, keyList([]int64{row.Key})); err != nil {
				return err
			}
		}
		if row.Relations != nil || !sameStatement(&row, &old) {
			if err := t.relateAnew(row.Key, row.Relations); err != nil {
				return err
			}
		}
		*m = row
		return nil
	})
}

// saysTheSame reports whether nothing has changed of what a memory is found by.
func saysTheSame(a, b *yiku.Memory) bool {
	return a.Content == b.Content && a.Subject == b.Subject && a.Attribute == b.Attribute && a.Value == b.Value &&
		slices.Equal(a.Topics, b.Topics) && a.ValidFrom.Equal(b.ValidFrom)
}

// sameStatement reports whether nothing has changed of what relations are read from.
func sameStatement(a, b *store.Memory) bool {
	return a.Content == b.Content && a.Subject == b.Subject && a.Attribute == b.Attribute && a.Value == b.Value
}

// newMarks are the marks of an update: an empty Norm leaves the mark where its
// text is as it was.
func (t *tx) newMarks(row, old *store.Memory) (marks, error) {
	var have marks
	_, err := t.c.one(sqlMarks, func(st *sqlite3.Stmt) error {
		have = marks{content: st.ColumnBlob(0, []byte{}), subject: st.ColumnBlob(1, []byte{}), attribute: st.ColumnBlob(2, []byte{})}
		return nil
	}, row.Key)
	if err != nil {
		return marks{}, foreign("read memory", err)
	}
	mark := func(domain, norm string, same bool, have []byte) []byte {
		if norm == "" && same {
			return have
		}
		return t.mark(t.own, domain, norm)
	}
	return marks{
		content:   mark("content", row.ContentNorm, row.Content == old.Content, have.content),
		subject:   mark("subject", row.SubjectNorm, row.Subject == old.Subject, have.subject),
		attribute: mark("attribute", row.AttributeNorm, row.Attribute == old.Attribute, have.attribute),
	}, nil
}

func roundMemory(m *store.Memory) {
	ofKind(m)
	micro(&m.ValidFrom, &m.ValidTo, &m.ExpiresAt, &m.ConfirmedAt, &m.CreatedAt, &m.UpdatedAt, &m.LastAccess)
}

// writeMemory writes the rows of a memory. sql takes the columns in the order
// of both statements; more are those of the insert alone.
func (t *tx) writeMemory(sql string, m *store.Memory, own marks, more ...any) error {
	o := t.own
	metadata, err := toJSON(m.Metadata, m.Metadata == nil)
	if err != nil {
		return err
	}
	m.Hash = hex.EncodeToString(own.content)
	body, err := t.seal(o, t.c.memoryPlace(m, hasFact(m, own)), pack(m.Content, m.ProjectID, m.TaskID, m.AgentID, m.SessionID, m.Supersedes,
		packList(m.Topics), packList(m.DerivedFrom), packList(m.Sources), metadata))
	if err != nil {
		return err
	}
	args := append([]any{o.first() | m.Seq, m.Version, m.Reason, string(m.Kind), string(m.Type), string(m.Level),
		string(m.Status), string(m.Origin), t.mark(o, "project", m.ProjectID), t.mark(o, "task", m.TaskID),
		t.mark(o, "agent", m.AgentID), t.scopeMark(o, m), own.content, m.Importance, m.Confidence, m.Trust, m.Pinned,
		m.ValidFrom, m.ValidTo, m.ExpiresAt, m.ConfirmedAt, m.UpdatedAt.UnixMicro(), body, m.Key}, more...)
	if err := t.c.run(sql, args...); err != nil {
		return err
	}
	return t.writeKinds(m, own)
}

func hasFact(m *store.Memory, own marks) bool {
	return m.Subject != "" || m.Attribute != "" || m.Value != "" || m.Single || len(own.subject) > 0 || len(own.attribute) > 0
}

// writeFact writes what a memory has of a fact: subject, attribute and value.
func (t *tx) writeFact(m *store.Memory, own marks) error {
	if !hasFact(m, own) {
		return t.c.run(sqlDropFact, m.Key)
	}
	var current []byte
	if m.Single && m.Status == yiku.StatusActive && m.ValidTo.IsZero() && len(own.subject) > 0 && len(own.attribute) > 0 {
		current = t.mark(t.own, "current", string(m.Level), m.ProjectID, m.TaskID, m.AgentID, string(own.subject), string(own.attribute))
	}
	body, err := t.seal(t.own, t.c.factPlace(m), pack(m.Subject, m.Attribute, m.Value))
	if err != nil {
		return err
	}
	return t.c.run(sqlPutFact, m.Key, t.own.number, own.subject, own.attribute, m.Single, current, body)
}

const (
	sqlHasMemories  = `SELECT m.key FROM json_each(?1) k CROSS JOIN memories m ON m.key = k.value ORDER BY k.key`
	sqlDropMemories = `DELETE FROM memories WHERE key IN` + goneKeys
	sqlDropVersions = `DELETE FROM versions WHERE memory IN` + goneKeys
	sqlTouch        = `INSERT INTO access (key, last_at, count) SELECT key, ?2, 1 FROM memories WHERE key = ?1
	ON CONFLICT (key) DO UPDATE SET last_at = max(coalesce(last_at, excluded.last_at), excluded.last_at), count = count + 1`
)

// DeleteMemory deletes a memory and what belongs to it; see store.Tx.
func (t *tx) DeleteMemory(key int64) error {
	return t.atomic("delete memory", func() error {
		var removed yiku.Removed
		if err := t.dropMemories([]int64{key}, &removed); err != nil {
			return err
		}
		if removed.Memories == 0 {
			return notFound("memory")
		}
		return nil
	})
}

// dropMemories deletes those of the keys that are memories of the owner, with
// their versions and traces, counts them, and leaves tombstones in the order of
// the keys. Facts and access go with a row by its foreign keys. Each table is
// asked once for all keys: that is half of what a forget costs.
func (t *tx) dropMemories(keys []int64, removed *yiku.Removed) error {
	keys, err := t.c.numbers(sqlHasMemories, keyList(t.ownKeys(keys)))
	if err != nil || len(keys) == 0 {
		return err
	}
	list := keyList(keys)
	if err := t.dropTraces(list, removed); err != nil {
		return err
	}
	if err := t.dropRelations(list, removed); err != nil {
		return err
	}
	if err := t.c.count(&removed.Versions, sqlDropVersions, list); err != nil {
		return err
	}
	if err := t.c.count(&removed.Memories, sqlDropMemories, list); err != nil {
		return err
	}
	return t.bury(store.ItemMemory, keys)
}

// Touch counts an access of each memory; see store.Tx.
func (t *tx) Touch(keys []int64, at time.Time) error {
	return t.atomic("touch memories", func() error {
		for _, key := range keys {
			if !t.own.has(key) {
				continue
			}
			if err := t.c.run(sqlTouch, key, at.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
}
