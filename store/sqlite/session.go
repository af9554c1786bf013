package sqlite

import (
	"strconv"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const sessionColumns = `key, created_at, coalesce(last_message_at, -62135596800000000), coalesce(ended_at, -62135596800000000),
	end_reason, message_count, recent_from, cursor, ended_up_to, version, body`

const (
	sqlSession      = `SELECT ` + sessionColumns + ` FROM sessions WHERE owner = ? AND id_mark = ?`
	sqlSessionByKey = `SELECT ` + sessionColumns + ` FROM sessions WHERE key = ?`
	sqlSessions     = `SELECT ` + sessionColumns + ` FROM sessions WHERE owner = ?`
	sqlSessionCount = `SELECT count(*) FROM sessions WHERE owner = ?`
	sqlSessionAfter = ` AND (active_at, key) < (?, ?)`
	sqlSessionSince = ` AND changed > ?`
	sqlSessionUpTo  = ` AND +changed <= ?` // nearly all are: the plus keeps SQLite from sorting them
	sqlSessionOrder = ` ORDER BY active_at DESC, key DESC LIMIT ?`
)

// Session returns a session by the caller's id; see store.Reader.
func (r *reader) Session(owner yiku.Owner, id string) (store.Session, error) {
	o, err := r.must(owner, "session")
	if err != nil {
		return store.Session{}, err
	}
	return r.oneSession(o, sqlSession, o.number, r.mark(o, "session", id))
}

// SessionByKey returns a session by its key; see store.Reader.
func (r *reader) SessionByKey(owner yiku.Owner, key int64) (store.Session, error) {
	o, err := r.must(owner, "session")
	if err != nil {
		return store.Session{}, err
	}
	if !o.has(key) {
		return store.Session{}, notFound("session")
	}
	return r.oneSession(o, sqlSessionByKey, key)
}

func (r *reader) oneSession(o *ownerRef, sql string, args ...any) (s store.Session, err error) {
	found, err := r.c.one(sql, func(st *sqlite3.Stmt) error {
		s, err = r.readSession(o, st)
		return err
	}, args...)
	if err != nil {
		return store.Session{}, foreign("read session", err)
	}
	if !found {
		return store.Session{}, notFound("session")
	}
	return s, nil
}

func (r *reader) readSession(o *ownerRef, st *sqlite3.Stmt) (s store.Session, err error) {
	s.Key = st.ColumnInt64(0)
	s.UserID = o.owner.User()
	s.CreatedAt = instant(st.ColumnInt64(1))
	s.LastMessageAt = instant(st.ColumnInt64(2))
	s.EndedAt = instant(st.ColumnInt64(3))
	s.EndReason = yiku.EndReason(st.ColumnText(4))
	s.MessageCount = st.ColumnInt(5)
	s.RecentFrom = st.ColumnInt64(6)
	s.Cursor = st.ColumnInt64(7)
	s.EndedUpTo = st.ColumnInt64(8)
	s.Version = st.ColumnInt64(9)
	plain, err := r.open(o, r.c.sessionPlace(&s), st.ColumnRawBlob(10))
	if err != nil {
		return s, err
	}
	u := unpack(plain)
	s.ID, s.ProjectID, s.AgentID = u.next(), u.next(), u.next()
	if s.Metadata, err = object(u.next()); err != nil {
		return s, err
	}
	s.ForkedFrom = u.next()
	for _, n := range []*int{&s.Unread, &s.Offset, nil, &s.RawTurns, &s.RawTokens} {
		if n == nil {
			s.Origins = u.list()
		} else if text := u.next(); text != "" {
			if *n, err = strconv.Atoi(text); err != nil {
				return s, unreadable()
			}
		}
	}
	return s, u.err()
}

// Sessions lists sessions, last activity first; see store.Reader.
func (r *reader) Sessions(owner yiku.Owner, q store.SessionQuery) ([]store.Session, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	where, args := r.sessionFilter(o, q)
	if q.After != (store.SessionPlace{}) {
		where += sqlSessionAfter
		args = append(args, q.After.LastActivity.UnixMicro(), q.After.Key)
	}
	var list []store.Session
	err = r.c.each(sqlSessions+where+sqlSessionOrder, func(st *sqlite3.Stmt) error {
		s, err := r.readSession(o, st)
		list = append(list, s)
		return err
	}, append(args, limit(q.Limit))...)
	return list, foreign("list sessions", err)
}

// CountSessions counts sessions; see store.Reader.
func (r *reader) CountSessions(owner yiku.Owner, q store.SessionQuery) (int, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return 0, err
	}
	where, args := r.sessionFilter(o, q)
	n, err := r.c.number(sqlSessionCount+where, args...)
	return int(n), foreign("count sessions", err)
}

func (r *reader) sessionFilter(o *ownerRef, q store.SessionQuery) (where string, args []any) {
	args = []any{o.number}
	if q.ProjectID != "" {
		where += ` AND project_mark = ?`
		args = append(args, r.mark(o, "project", q.ProjectID))
	}
	if q.AgentID != "" {
		where += ` AND agent_mark = ?`
		args = append(args, r.mark(o, "agent", q.AgentID))
	}
	if q.ChangedAfter > 0 {
		where += sqlSessionSince
		args = append(args, o.first()+q.ChangedAfter)
	}
	if q.ChangedUpTo > 0 {
		where += sqlSessionUpTo
		args = append(args, o.first()+q.ChangedUpTo)
	}
	return where, args
}

// limit is the bound of a list as SQLite takes it: -1 for none.
func limit(n int) int64 {
	if n <= 0 {
		return -1
	}
	return int64(n)
}

const (
	sqlSessionOld = `SELECT message_count, version FROM sessions WHERE key = ?`
	sqlAddSession = `INSERT INTO sessions (changed, id_mark, project_mark, agent_mark, active_at, created_at,
	last_message_at, ended_at, end_reason, recent_from, cursor, ended_up_to, version, body, key, message_count, owner)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`
	sqlUpdateSession = `UPDATE sessions SET changed = ?, id_mark = ?, project_mark = ?, agent_mark = ?, active_at = ?, created_at = ?,
	last_message_at = ?, ended_at = ?, end_reason = ?, recent_from = ?, cursor = ?, ended_up_to = ?, version = ?, body = ?
	WHERE key = ?`
)

// PutSession adds or replaces a session; see store.Tx.
func (t *tx) PutSession(s *store.Session) error {
	if s.ID == "" {
		return yiku.Invalid("session_id", "must not be empty")
	}
	row := *s
	micro(&row.CreatedAt, &row.LastMessageAt, &row.EndedAt)
	row.UserID, row.Tasks = t.own.owner.User(), s.Tasks
	added := s.Key == 0
	if added {
		row.MessageCount, row.Version = 0, 0
	} else if err := t.presentSession(&row); err != nil {
		return err
	}
	row.Version++
	metadata, err := toJSON(row.Metadata, row.Metadata == nil)
	if err != nil {
		return err
	}
	return t.single("write session", func() error {
		changed, sql := t.next(), sqlUpdateSession
		if added {
			row.Key, sql = changed, sqlAddSession
		}
		body, err := t.seal(t.own, t.c.sessionPlace(&row), pack(row.ID, row.ProjectID, row.AgentID, metadata, row.ForkedFrom,
			strconv.Itoa(row.Unread), strconv.Itoa(row.Offset), string(pack(row.Origins...)), strconv.Itoa(row.RawTurns), strconv.Itoa(row.RawTokens)))
		if err != nil {
			return err
		}
		args := []any{changed, t.mark(t.own, "session", row.ID), t.mark(t.own, "project", row.ProjectID),
			t.mark(t.own, "agent", row.AgentID), row.LastActivity().UnixMicro(), row.CreatedAt.UnixMicro(), row.LastMessageAt, row.EndedAt,
			string(row.EndReason), row.RecentFrom, row.Cursor, row.EndedUpTo, row.Version, body, row.Key}
		if added {
			args = append(args, t.own.number)
		}
		if err := t.c.run(sql, args...); err != nil {
			return err
		}
		*s = row
		return nil
	})
}

// presentSession fills in what the stored row decides.
func (t *tx) presentSession(s *store.Session) error {
	if !t.own.has(s.Key) {
		return notFound("session")
	}
	found, err := t.c.one(sqlSessionOld, func(st *sqlite3.Stmt) error {
		s.MessageCount, s.Version = st.ColumnInt(0), st.ColumnInt64(1)
		return nil
	}, s.Key)
	if err == nil && !found {
		return notFound("session")
	}
	return foreign("read session", err)
}

const (
	sqlSessionMark      = `SELECT id_mark FROM sessions WHERE key = ?`
	sqlSessionMessages  = `SELECT key FROM messages WHERE session = ? ORDER BY key`
	sqlDropSession      = `DELETE FROM sessions WHERE key = ?`
	sqlDropWorkingOf    = `DELETE FROM working WHERE owner = ? AND session_mark = ? AND body IS NOT NULL`
	sqlDropClearedOf    = `DELETE FROM working WHERE owner = ? AND session_mark = ?`
	sqlDropJobsOf       = `DELETE FROM jobs WHERE session = ? AND session <> 0`
	sqlDropSnapshotsOf  = `DELETE FROM snapshots WHERE owner = ? AND session_mark = ?`
	sqlDropSummariesOf  = `DELETE FROM summaries WHERE session = ?`
	sqlDropExtractionOf = `DELETE FROM extractions WHERE session = ?`
)

// DeleteSession deletes a session and what belongs to it alone; see store.Tx.
func (t *tx) DeleteSession(key int64) error {
	return t.atomic("delete session", func() error {
		messages, err := t.sessionMessages(key)
		if err != nil {
			return err
		}
		var removed yiku.Removed
		if err := t.dropMessages(messages, &removed); err != nil {
			return err
		}
		return t.dropSession(key, &removed)
	})
}

// sessionMessages lists the keys of the messages of one of the owner's sessions.
func (t *tx) sessionMessages(key int64) ([]int64, error) {
	if !t.own.has(key) {
		return nil, notFound("session")
	}
	n, err := t.c.number(sqlHasItem3, key)
	if err == nil && n == 0 {
		return nil, notFound("session")
	}
	if err != nil {
		return nil, err
	}
	return t.c.numbers(sqlSessionMessages, key)
}

// dropSession deletes a session without messages and what belongs to it
// alone, counts that, and leaves a tombstone. Tasks that it touched last stay,
// and do not name it any more.
func (t *tx) dropSession(key int64, removed *yiku.Removed) error {
	var mark []byte
	_, err := t.c.one(sqlSessionMark, func(st *sqlite3.Stmt) error {
		mark = st.ColumnBlob(0, nil)
		return nil
	}, key)
	if err != nil {
		return err
	}
	for _, d := range []struct {
		sql  string
		into *int
		args []any
	}{
		{sqlDropJobsOf, &removed.Jobs, []any{key}},
		{sqlDropSummariesOf, &removed.Summaries, []any{key}},
		{sqlDropExtractionOf, nil, []any{key}},
		{sqlDropPagesOf, nil, []any{key}},
		{sqlDropWorkingOf, &removed.Working, []any{t.own.number, mark}},
		{sqlDropClearedOf, nil, []any{t.own.number, mark}},
		{sqlDropSnapshotsOf, &removed.Snapshots, []any{t.own.number, mark}},
	} {
		if err := t.c.count(d.into, d.sql, d.args...); err != nil {
			return err
		}
	}
	if err := t.leaveTasks(key); err != nil {
		return err
	}
	if err := t.dropTraces(keyList([]int64{key}), removed); err != nil {
		return err
	}
	if err := t.c.count(&removed.Sessions, sqlDropSession, key); err != nil {
		return err
	}
	return t.bury(store.ItemSession, []int64{key})
}
