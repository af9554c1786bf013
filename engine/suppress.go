package engine

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/journal"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// The suppression list holds keyed marks of what was forgotten (E2): of
// messages and of what memories say, which may not be learnt again, and of the
// rows themselves, which a restored backup may not bring back (R39).

// mark names one thing, kind and parts length-prefixed.
func mark(kind string, parts ...string) string {
	s := kind
	for _, p := range parts {
		s += fmt.Sprintf("|%d|%s", len(p), p)
	}
	return s
}

// messageMark names a message by its id and what it says, so that a new
// message under a used id is new. Tool calls and parts other than text are
// what it says, too.
func messageMark(session string, m yiku.Message) string {
	if more := beyondText(m); more != "" {
		return mark("message", session, m.ID, m.Content.PlainText(), more)
	}
	return textMark(session, m)
}

// textMark names a message by its text alone. It is the mark of messages of
// plain text, and was once the mark of all.
func textMark(session string, m yiku.Message) string {
	return mark("message", session, m.ID, m.Content.PlainText())
}

// beyondText is the JSON of a message's tool calls and of its parts, however
// their members are ordered and set; empty where there is text only.
func beyondText(m yiku.Message) string {
	parts := m.Content.Parts
	if !slices.ContainsFunc(parts, func(p yiku.Part) bool { return !isText(p) }) {
		parts = nil
	}
	if len(parts)+len(m.ToolCalls) == 0 {
		return ""
	}
	raw, err := json.Marshal([]any{parts, m.ToolCalls})
	if err != nil {
		return "" // it came out of JSON
	}
	if tree, err := inOrder(raw); err == nil {
		raw = tree
	}
	return string(raw)
}

// isText reports whether a part holds nothing but text.
func isText(p yiku.Part) bool {
	var members map[string]any
	raw, err := json.Marshal(p)
	if err != nil || json.Unmarshal(raw, &members) != nil {
		return false
	}
	delete(members, "type")
	delete(members, "text")
	return p.Type == "text" && len(members) == 0
}

// inOrder gives JSON with the members of objects in the order of their names.
func inOrder(raw []byte) ([]byte, error) {
	var tree any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

func rowMark(m store.Memory) string      { return mark("memory", m.ID) }
func archivedMark(m store.Memory) string { return mark("archived", m.ID) }
func sessionMark(id string) string       { return mark("session", id) }
func workingMark(session string) string  { return mark("working", session) }
func carriedMark(session string) string  { return mark("working_from", session) }

// memoryMarks name a memory, its content, and its subject, attribute and value.
func (c *call) memoryMarks(row store.Memory) []string {
	keyed := c.keyed(row)
	marks := []string{rowMark(row), mark("content", keyed.ContentNorm)}
	if row.Skill != nil { // that is its name; what it says is not learnt as another kind either
		marks = append(marks, mark("content", reconcile.ContentKey(row.Content)))
	}
	if keyed.AttributeNorm != "" {
		marks = append(marks, mark("fact", keyed.SubjectNorm, keyed.AttributeNorm, reconcile.ContentKey(row.Value)))
	}
	return marks
}

// blind makes marks of one owner out of names: HMAC-SHA256 under a key of the
// store, over the owner and the name, cut to journal.MarkSize bytes. In every
// copy of the store they are the same.
func (e *Engine) blind(owner yiku.Owner, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		h := hmac.New(sha256.New, e.markKey)
		h.Write([]byte(mark("owner", owner.Tenant(), owner.User()) + name))
		out[i] = string(h.Sum(nil)[:journal.MarkSize])
	}
	return out
}

// suppress adds names to the owner's suppression list, as of the time of the
// forget, by which the journal finds them.
func (e *Engine) suppress(tx store.Tx, owner yiku.Owner, at time.Time, names ...string) error {
	return tx.Suppress(e.blind(owner, names), at)
}

// suppressed tells which messages were forgotten before. Those without an id of
// the caller's are new.
func (e *Engine) suppressed(tx store.Tx, owner yiku.Owner, session string, messages []yiku.Message) ([]bool, error) {
	if !slices.ContainsFunc(messages, func(m yiku.Message) bool { return m.ID != "" }) {
		return make([]bool, len(messages)), nil
	}
	names := make([]string, len(messages))
	for i, m := range messages {
		names[i] = messageMark(session, m)
	}
	return tx.Suppressed(e.blind(owner, names))
}
