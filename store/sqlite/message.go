package sqlite

import (
	"slices"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const messageColumns = `m.key, m.session, m.role, m.origin, m.pinned, coalesce(m.created_at, -62135596800000000), m.recorded_at, m.body`

const (
	sqlMessageByID   = `SELECT ` + messageColumns + ` FROM messages m WHERE m.session = ? AND m.id_mark = ?`
	sqlMessageByKey  = `SELECT ` + messageColumns + ` FROM messages m WHERE m.key = ?`
	sqlMessageRange  = `SELECT ` + messageColumns + ` FROM messages m WHERE m.key BETWEEN ? AND ? ORDER BY m.key`
	sqlMessages      = `SELECT ` + messageColumns + ` FROM messages m WHERE m.session = ? AND m.key > ? AND m.key <= ?`
	sqlMessagesKept  = ` AND (m.pinned = 1 OR m.role = 'system')`
	sqlMessagesFirst = ` ORDER BY m.key LIMIT ?`
	sqlMessagesLast  = ` ORDER BY m.key DESC LIMIT ?`
	sqlMessageCount  = `SELECT message_count FROM sessions WHERE key = ?`
)

// Messages lists messages of one session; see store.Reader.
func (r *reader) Messages(owner yiku.Owner, q store.MessageQuery) ([]store.Message, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || !o.has(q.SessionKey) {
		return nil, err
	}
	upTo := q.UpTo
	if upTo == 0 {
		upTo = o.last()
	}
	sql := sqlMessages
	if q.Kept {
		sql += sqlMessagesKept
	}
	if q.Last {
		sql += sqlMessagesLast
	} else {
		sql += sqlMessagesFirst
	}
	sessions := sessionIDs{}
	var list []store.Message
	err = r.c.each(sql, func(st *sqlite3.Stmt) error {
		m, err := r.readMessage(o, st)
		list = append(list, m)
		return err
	}, q.SessionKey, q.After, upTo, limit(q.Limit))
	if err == nil {
		err = r.nameSessions(o, list, sessions)
	}
	if q.Last {
		slices.Reverse(list)
	}
	return list, foreign("list messages", err)
}

// sessionIDs remembers the ids of sessions by key.
type sessionIDs map[int64]string

// nameSessions sets each message's SessionID.
func (r *reader) nameSessions(o *ownerRef, list []store.Message, ids sessionIDs) error {
	for i := range list {
		m := &list[i]
		id, ok := ids[m.SessionKey]
		if !ok {
			s, err := r.oneSession(o, sqlSessionByKey, m.SessionKey)
			if err != nil {
				return err
			}
			id = s.ID
			ids[m.SessionKey] = id
		}
		m.SessionID = id
	}
	return nil
}

func (r *reader) readMessage(o *ownerRef, st *sqlite3.Stmt) (m store.Message, err error) {
	m.Key, m.SessionKey = st.ColumnInt64(0), st.ColumnInt64(1)
	m.Seq = seq(m.Key)
	m.Role = yiku.Role(known(st.ColumnRawText(2)))
	m.Origin = yiku.Origin(known(st.ColumnRawText(3)))
	m.Pinned = st.ColumnBool(4)
	m.CreatedAt, m.RecordedAt = instant(st.ColumnInt64(5)), instant(st.ColumnInt64(6))
	plain, err := r.open(o, r.c.messagePlace(&m), st.ColumnRawBlob(7))
	if err != nil {
		return m, err
	}
	u := unpack(plain)
	m.ID, m.Content.Text = u.next(), u.next()
	if err := fromJSON(u.next(), &m.Content.Parts); err != nil {
		return m, err
	}
	m.Name = u.next()
	if err := fromJSON(u.next(), &m.ToolCalls); err != nil {
		return m, err
	}
	m.ToolCallID = u.next()
	if m.Metadata, err = object(u.next()); err != nil {
		return m, err
	}
	m.TaskID = u.next()
	return m, u.err()
}

// CountMessages counts a session's messages; see store.Reader.
func (r *reader) CountMessages(owner yiku.Owner, sessionKey int64) (int, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || !o.has(sessionKey) {
		return 0, err
	}
	n, err := r.c.number(sqlMessageCount, sessionKey)
	return int(n), foreign("count messages", err)
}

// MessageByID returns a session's message; see store.Reader.
func (r *reader) MessageByID(owner yiku.Owner, sessionKey int64, id string) (m store.Message, err error) {
	o, err := r.must(owner, "message")
	if err != nil {
		return m, err
	}
	if !o.has(sessionKey) {
		return m, notFound("message")
	}
	found, err := r.c.one(sqlMessageByID, func(st *sqlite3.Stmt) error {
		m, err = r.readMessage(o, st)
		return err
	}, sessionKey, r.mark(o, "message", id))
	if err == nil && !found {
		return store.Message{}, notFound("message")
	}
	if err == nil {
		one := []store.Message{m}
		err = r.nameSessions(o, one, sessionIDs{})
		m = one[0]
	}
	return m, foreign("read message", err)
}

// MessagesByKey returns messages in the order of their keys; see store.Reader.
func (r *reader) MessagesByKey(owner yiku.Owner, keys []int64) ([]store.Message, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	list := make([]store.Message, 0, len(keys))
	err = r.eachKey(o, keys, sqlMessageByKey, sqlMessageRange, func(st *sqlite3.Stmt) error {
		m, err := r.readMessage(o, st)
		list = append(list, m)
		return err
	})
	if err == nil {
		err = r.nameSessions(o, list, sessionIDs{})
	}
	return list, foreign("read messages", err)
}

// rangeFrom is the number of keys from which one scan over their range is
// tried instead of one look-up each; rangeSlack how many other rows there may
// be for each of them.
const (
	rangeFrom  = 64
	rangeSlack = 2
)

// eachKey calls row for the rows with the keys, in their order; foreign and
// unknown keys are passed over.
func (r *reader) eachKey(o *ownerRef, keys []int64, one, between string, row func(*sqlite3.Stmt) error) error {
	sorted := make([]int64, 0, len(keys))
	for _, k := range keys {
		if o.has(k) {
			sorted = append(sorted, k)
		}
	}
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	if n := len(sorted); n >= rangeFrom && sorted[n-1]-sorted[0] < int64(n*rangeSlack) {
		i := 0
		return r.c.each(between, func(st *sqlite3.Stmt) error {
			key := st.ColumnInt64(0)
			for i < n && sorted[i] < key {
				i++
			}
			if i < n && sorted[i] == key {
				return row(st)
			}
			return nil
		}, sorted[0], sorted[n-1])
	}
	for _, k := range sorted {
		if _, err := r.c.one(one, row, k); err != nil {
			return err
		}
	}
	return nil
}

const (
	sqlAddMessage = `INSERT INTO messages (key, session, id_mark, task_mark, role, origin, pinned, created_at, recorded_at, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlCountUp       = `UPDATE sessions SET message_count = message_count + ? WHERE key = ?`
	sqlHasMessages   = `SELECT m.key, m.session FROM json_each(?1) k CROSS JOIN messages m ON m.key = k.value ORDER BY k.key`
	sqlDropMessages  = `DELETE FROM messages WHERE key IN` + goneKeys
	sqlDropSummaries = `DELETE FROM summaries WHERE session = ?2
	AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN covers_from AND covers_to)`
	sqlDropShowingSummaries = `DELETE FROM snapshots WHERE key IN (SELECT snapshot FROM snapshot_items WHERE item IN
	(SELECT -s.key FROM summaries s WHERE s.session = ?2 AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN s.covers_from AND s.covers_to)))`
	sqlDropExtractions = `DELETE FROM extractions WHERE session = ?2
	AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN from_key AND to_key)`
)

// AddMessages appends to a session; see store.Tx.
func (t *tx) AddMessages(sessionKey int64, messages []*store.Message) error {
	if !t.own.has(sessionKey) {
		return notFound("session")
	}
	session, err := t.oneSession(t.own, sqlSessionByKey, sessionKey)
	if err != nil {
		return err
	}
	rows := make([]store.Message, len(messages))
	together := t.atomic
	if len(messages) == 1 { // where its row can be added, it can be counted
		together = t.single
	}
	err = together("append messages", func() error {
		for i, m := range messages {
			rows[i] = *m
			rows[i].SessionKey, rows[i].SessionID = sessionKey, session.ID
			if err := t.addMessage(&rows[i]); err != nil {
				return err
			}
		}
		return t.c.run(sqlCountUp, len(messages), sessionKey)
	})
	if err != nil {
		return err
	}
	for i, m := range messages {
		*m = rows[i]
	}
	return nil
}

func (t *tx) addMessage(m *store.Message) error {
	if m.ID == "" {
		return yiku.Invalid("id", "must not be empty")
	}
	if m.RecordedAt.IsZero() {
		m.RecordedAt = t.s.now()
	}
	micro(&m.CreatedAt, &m.RecordedAt)
	m.Key = t.next()
	m.Seq = seq(m.Key)
	parts, err := toJSON(m.Content.Parts, len(m.Content.Parts) == 0)
	if err != nil {
		return err
	}
	calls, err := toJSON(m.ToolCalls, len(m.ToolCalls) == 0)
	if err != nil {
		return err
	}
	metadata, err := toJSON(m.Metadata, m.Metadata == nil)
	if err != nil {
		return err
	}
	body, err := t.seal(t.own, t.c.messagePlace(m),
		pack(m.ID, m.Content.Text, parts, m.Name, calls, m.ToolCallID, metadata, m.TaskID))
	if err != nil {
		return err
	}
	return t.c.run(sqlAddMessage, m.Key, m.SessionKey, t.mark(t.own, "message", m.ID), t.mark(t.own, "task", m.TaskID),
		string(m.Role), string(m.Origin), m.Pinned, m.CreatedAt.UnixMicro(), m.RecordedAt, body)
}

// DeleteMessages deletes messages; see store.Tx.
func (t *tx) DeleteMessages(keys []int64) error {
	return t.atomic("delete messages", func() error { return t.dropMessages(keys, &yiku.Removed{}) })
}

// dropMessages deletes those of the keys that are messages of the owner, with
// what was made of ranges that cover them and their traces, counts them, and
// leaves tombstones in the order of the keys.
func (t *tx) dropMessages(keys []int64, removed *yiku.Removed) error {
	var found []int64
	in := map[int64][]int64{} // by session
	err := t.c.each(sqlHasMessages, func(st *sqlite3.Stmt) error {
		key, session := st.ColumnInt64(0), st.ColumnInt64(1)
		found, in[session] = append(found, key), append(in[session], key)
		return nil
	}, keyList(t.ownKeys(keys)))
	if err != nil || len(found) == 0 {
		return err
	}
	list := keyList(found)
	if err := t.dropFound(found, list, removed); err != nil {
		return err
	}
	if err := t.dropTraces(list, removed); err != nil {
		return err
	}
	for session, keys := range in {
		if err := t.c.count(&removed.Snapshots, sqlDropShowingSummaries, keyList(keys), session); err != nil {
			return err
		}
		if err := t.c.count(&removed.Summaries, sqlDropSummaries, keyList(keys), session); err != nil {
			return err
		}
		for _, sql := range []string{sqlDropExtractions, sqlDropPagesOver} {
			if err := t.c.run(sql, keyList(keys), session); err != nil {
				return err
			}
		}
		if err := t.c.run(sqlCountUp, -len(keys), session); err != nil {
			return err
		}
	}
	if err := t.c.count(&removed.Messages, sqlDropMessages, list); err != nil {
		return err
	}
	return t.bury(store.ItemMessage, found)
}
