package engine

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// A session's metadata (titles, summaries) has no number of its own. A forget
// by keyword takes those of its keys that say the keyword, one by time range
// those of sessions that were made within it; they are written with it. One of
// a session takes that of forks that stay, which is a copy, and one that takes
// a session whole that of one that stays for its later messages. Such a session
// counts among those removed.

// sessionKey tests one key of a session's metadata, and its value.
type sessionKey func(s store.Session, key string, value any) bool

// metadataOf gives the test of a forget's request; nil where it takes none.
func metadataOf(req yiku.ForgetRequest) sessionKey {
	var takes sessionKey
	switch s := req.Selector; {
	case req.Mode == yiku.ForgetArchive:
	case s.Keyword != "":
		says := sayer(s.Keyword)
		takes = func(_ store.Session, key string, value any) bool { return says(key) || saysAnywhere(says, value) }
	case s.All:
		takes = func(store.Session, string, any) bool { return true }
	case s.Source != nil && s.Source.SessionID != "" && s.Source.MessageID == "":
		id := s.Source.SessionID
		takes = func(row store.Session, _ string, _ any) bool { return row.ID == id || comesFrom(row, id) }
	case !s.From.IsZero() || !s.To.IsZero():
		takes = func(row store.Session, _ string, _ any) bool { return inRange(s, row.CreatedAt) }
	}
	if takes == nil || req.ProjectID == "" {
		return takes
	}
	return func(s store.Session, key string, value any) bool {
		return s.ProjectID == req.ProjectID && takes(s, key, value)
	}
}

// metadataMark names a key of a session's metadata with what it holds.
func metadataMark(session, key string, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		raw = nil // it came out of JSON
	}
	return mark("session_metadata", session, key, string(raw))
}

// eachSaying calls do for the owner's sessions whose metadata a forget takes
// from, with the keys.
func (c *call) eachSaying(r store.Reader, f *store.Forget, takes sessionKey, do func(store.Session, []string) error) error {
	if takes == nil {
		return nil
	}
	return c.eachSession(r, f, selection{sessions: func(s store.Session) bool { return len(s.Metadata) > 0 }}, func(s store.Session) error {
		var keys []string
		for key, value := range s.Metadata {
			if takes(s, key, value) {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			return nil
		}
		return do(s, keys)
	})
}

// clearMetadata takes out of the sessions' metadata what a forget names.
func (c *call) clearMetadata(tx store.Tx, f *store.Forget, takes sessionKey) error {
	return c.eachSaying(tx, f, takes, func(s store.Session, keys []string) error {
		s.Metadata = maps.Clone(s.Metadata)
		var names []string
		for _, key := range keys {
			names = append(names, metadataMark(s.ID, key, s.Metadata[key]))
			delete(s.Metadata, key)
		}
		if err := c.suppress(tx, f.Owner, f.At, names...); err != nil {
			return err
		}
		f.Removed.Sessions++
		return tx.PutSession(&s)
	})
}

// proveMetadata notes in a receipt where a second scan still finds some.
func (c *call) proveMetadata(r store.Reader, f store.Forget, receipt *store.Receipt) error {
	return c.eachSaying(r, &f, metadataOf(f.Request), func(store.Session, []string) error {
		receipt.Verified = false
		return nil
	})
}

// verifyMetadata looks again for the metadata that a forget of a time took, by
// the marks that it left: its words are not kept.
func (c *call) verifyMetadata(r store.Reader, owner yiku.Owner, at time.Time, res *yiku.VerifyReceiptResponse) error {
	const place = "sessions.metadata"
	list, err := r.Suppressions(owner, at)
	if err != nil {
		return err
	}
	marks := map[string]bool{}
	for _, s := range list {
		marks[s.Mark] = true
	}
	res.LookedAt[place] = len(marks)
	named := func(s store.Session, key string, value any) bool {
		return marks[c.blind(owner, []string{metadataMark(s.ID, key, value)})[0]]
	}
	return c.eachSaying(r, &store.Forget{Owner: owner, UpTo: seqMask}, named, func(_ store.Session, keys []string) error {
		res.Found[place] += len(keys)
		return nil
	})
}

// remembered returns metadata without what was forgotten of sessions with the
// ids.
func (c *call) remembered(tx store.Tx, owner yiku.Owner, metadata yiku.Metadata, ids ...string) (yiku.Metadata, error) {
	var names, keys []string
	for _, id := range ids {
		for key, value := range metadata {
			names, keys = append(names, metadataMark(id, key, value)), append(keys, key)
		}
	}
	if len(names) == 0 {
		return metadata, nil
	}
	forgotten, err := tx.Suppressed(c.blind(owner, names))
	if err != nil {
		return nil, err
	}
	metadata = maps.Clone(metadata)
	for i, gone := range forgotten {
		if gone {
			delete(metadata, keys[i])
		}
	}
	return metadata, nil
}
