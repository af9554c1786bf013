package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/store"
)

// selection says of each row whether a selector takes it, and runs the
// transactions of the forget.
type selection struct {
	update   func(context.Context, func(store.Tx) error) error
	memory   func(store.Memory) bool
	message  func(store.Message) bool
	versions bool          // whether it looks at what a memory has said before, too
	copied   *store.Copies // the copies that say what a keyword names; nil otherwise
	messages bool          // whether messages are looked at: not where they are to be kept
	sessions func(store.Session) bool
	working  func(store.Working) bool   // nil with All: everything; nil otherwise: nothing
	tasks    func(store.Task) bool      // nil: none but those of the working memory that goes
	metadata sessionKey                 // what goes of the metadata of sessions that stay; nil: nothing
	forks    map[string][]store.Session // of each session, by its id
	replayed bool                       // by the journal, which names all that went: nothing else goes with it
}

// selection compiles a forget's selector.
func (c *call) selection(ctx context.Context, f store.Forget) (selection, error) {
	req := f.Request
	all, err := c.sessionsOfOwner(ctx, f.Owner)
	if err != nil {
		return selection{}, err
	}
	session := func(m store.Message) yiku.Session { return all[m.SessionKey].Session }
	sel := selection{forks: forksOf(all), update: func(ctx context.Context, fn func(store.Tx) error) error {
		return c.store.Update(ctx, f.Owner, store.Maintenance, fn)
	}}
	sel.messages = req.Mode == yiku.ForgetPurge && (req.Sources == yiku.SourcesDelete || req.Selector.Source != nil || req.Selector.All)
	sel.metadata = metadataOf(req)
	sel.memory, sel.message = c.rowSelector(req.Selector, session)
	switch s := req.Selector; {
	case s.All:
		sel.sessions = func(store.Session) bool { return true }
		sel.tasks = func(store.Task) bool { return true }
	case s.Source != nil && s.Source.SessionID != "" && s.Source.MessageID == "":
		id, message := s.Source.SessionID, sel.message
		orphans, err := c.orphans(ctx, f.Owner, id, sel.forks[id])
		if err != nil {
			return selection{}, err
		}
		sel.message = func(m store.Message) bool { return message(m) || orphans[m.Key] }
		sel.sessions = func(row store.Session) bool { return row.ID == id || comesFrom(row, id) }
		sel.working = func(w store.Working) bool { return w.SessionID == id || slices.Contains(w.Origins, id) }
	case s.Keyword != "":
		says := sayer(s.Keyword)
		sel.working = func(w store.Working) bool {
			if sel.messages { // found slots go with their messages
				w.WorkingMemory = sansFound(w.WorkingMemory, w.Found)
			}
			return saysAnywhere(says, w.WorkingMemory)
		}
		sel.tasks = func(t store.Task) bool { return says(t.ID) }
		sel.copied = &store.Copies{Snapshot: func(s store.Snapshot) bool { return saysInSnapshot(says, s.Snapshot) },
			Extraction: func(x store.Extraction) bool { return saysInReport(says, x.Report) }}
		sel.versions = true
	}
	if s := req.Selector; !s.From.IsZero() || !s.To.IsZero() {
		written, err := c.writtenIn(ctx, f)
		if err != nil {
			return selection{}, err
		}
		created := sel.memory
		sel.memory = func(m store.Memory) bool { return created(m) || written[m.Key] }
		sel.working = func(w store.Working) bool { return inRange(s, w.UpdatedAt) }
	}
	if req.ProjectID != "" {
		sel = sel.within(req.ProjectID, session)
	}
	return sel, nil
}

// within narrows a selection to one project.
func (s selection) within(project string, session func(store.Message) yiku.Session) selection {
	memory, message, sessions, working, tasks := s.memory, s.message, s.sessions, s.working, s.tasks
	s.memory = func(m store.Memory) bool { return m.ProjectID == project && memory(m) }
	s.message = func(m store.Message) bool { return session(m).ProjectID == project && message(m) }
	if sessions != nil {
		s.sessions = func(r store.Session) bool { return r.ProjectID == project && sessions(r) }
	}
	s.working = func(w store.Working) bool { return w.Project == project && (working == nil || working(w)) }
	if working == nil && sessions == nil {
		s.working = nil
	}
	if tasks != nil {
		s.tasks = func(t store.Task) bool { return t.ProjectID == project && tasks(t) }
	}
	return s
}

// takes reports whether a selection takes a memory. What says a keyword in its
// past is taken as a whole: its history would tell it otherwise.
func (s selection) takes(r store.Reader, owner yiku.Owner, row store.Memory) (bool, error) {
	if s.memory(row) || !s.versions {
		return s.memory(row), nil
	}
	versions, err := r.Versions(owner, row.Key)
	for _, v := range versions {
		past := row
		past.Memory = v.Memory
		past.ProjectID = row.ProjectID
		if s.memory(past) {
			return true, nil
		}
	}
	return false, err
}

// copies tells which copies go with a forget: all where something else went,
// since any of them may show it; otherwise those that say the keyword, and none
// where a selector cannot name what they hold.
func (s selection) copies(f *store.Forget) (drop *store.Copies, some bool) {
	r := f.Removed
	if s.replayed || f.Request.Selector.All || r.Memories+r.Messages+r.Sessions+r.Working+r.Tasks > 0 {
		return nil, true
	}
	return s.copied, s.copied != nil
}

// rowSelector gives the tests of single memories and messages.
func (c *call) rowSelector(s yiku.Selector, session func(store.Message) yiku.Session) (func(store.Memory) bool, func(store.Message) bool) {
	switch {
	case s.All:
		return func(store.Memory) bool { return true }, func(store.Message) bool { return true }
	case s.Keyword != "":
		says := sayer(s.Keyword)
		return func(m store.Memory) bool {
				return says(m.Content) || says(m.Subject) || says(m.Attribute) || says(m.Value) || saysAnywhere(says, m.Topics) || saysAnywhere(says, m.Metadata)
			}, func(m store.Message) bool {
				return saysInMessage(says, m.Message)
			}
	case len(s.IDs) > 0:
		ids := map[string]bool{}
		for _, id := range s.IDs {
			ids[id] = true
		}
		return func(m store.Memory) bool { return ids[m.ID] }, func(store.Message) bool { return false }
	case s.Filter != nil:
		return func(m store.Memory) bool {
				return decided(s.Filter, true, inMemories, store.MemoryFields(m.Memory))
			},
			func(m store.Message) bool {
				return decided(s.Filter, true, inMessages, store.MessageFields(m.Message, session(m)))
			}
	case s.Source != nil && s.Source.Origin != "":
		return func(m store.Memory) bool { return m.Origin == s.Source.Origin }, func(m store.Message) bool { return m.Origin == s.Source.Origin }
	case s.Source != nil && s.Source.MessageID != "":
		return func(store.Memory) bool { return false }, func(m store.Message) bool {
			return m.SessionID == s.Source.SessionID && m.ID == s.Source.MessageID
		}
	case s.Source != nil:
		return func(m store.Memory) bool { return m.SessionID == s.Source.SessionID }, func(m store.Message) bool { return m.SessionID == s.Source.SessionID }
	}
	return func(m store.Memory) bool { return inRange(s, m.CreatedAt) }, func(m store.Message) bool { return inRange(s, m.CreatedAt) }
}

// inMemories and inMessages report whether rows of that kind have a field.
func inMemories(field string) bool { return field != "role" && field != "name" }

func inMessages(field string) bool {
	switch field {
	case "type", "level", "status", "subject", "attribute", "value", "topics", "importance", "confidence", "updated_at", "valid_from", "valid_to", "expires_at":
		return false
	}
	return true
}

// decided reports whether a filter comes out as want by conditions on fields
// that rows of the kind have. A message has no importance, so that a forget of
// whatever is not of the importance 0.5 means no message.
func decided(f *yiku.Filter, want bool, has func(string) bool, get yiku.Fields) bool {
	branch := func(b yiku.Filter) bool { return decided(&b, want, has, get) }
	switch {
	case f.Not != nil:
		return decided(f.Not, !want, has, get)
	case f.And != nil && want:
		return !slices.ContainsFunc(f.And, func(b yiku.Filter) bool { return !branch(b) })
	case f.And != nil:
		return slices.ContainsFunc(f.And, branch)
	case f.Or != nil && want:
		return slices.ContainsFunc(f.Or, branch)
	case f.Or != nil:
		return !slices.ContainsFunc(f.Or, func(b yiku.Filter) bool { return !branch(b) })
	}
	return has(f.Field) && f.Match(get) == want
}

// sayer tests whether a text says a keyword: case, width, invisible characters
// and JSON escapes, also of JSON within JSON, apart.
func sayer(keyword string) func(string) bool {
	want := lang.Caseless(keyword)
	return func(text string) bool {
		for text != "" {
			if strings.Contains(lang.Caseless(text), want) {
				return true
			}
			plain := lang.Unescape(text)
			if plain == text {
				break
			}
			text = plain
		}
		return false
	}
}

func saysInMessage(says func(string) bool, m yiku.Message) bool {
	return len(m.Content.Parts) > 0 && says(m.Content.PlainText()) || says(m.Name) || saysAnywhere(says, m.ToolCalls) || saysAnywhere(says, m.Metadata) || saysAnywhere(says, m.Content)
}

// saysInSnapshot tests the texts that a snapshot holds itself.
func saysInSnapshot(says func(string) bool, s yiku.Snapshot) bool {
	return says(s.Request.Query) || says(s.Request.System) || says(s.Response.System) ||
		s.Request.Filter != nil && saysAnywhere(says, s.Request.Filter) ||
		slices.ContainsFunc(s.Response.Messages, func(m yiku.Message) bool { return saysInMessage(says, m) }) ||
		slices.ContainsFunc(s.Response.Memories, func(m yiku.ContextMemory) bool { return says(m.Content) }) ||
		slices.ContainsFunc(s.Response.Episodes, func(e yiku.ContextEpisode) bool { return says(e.Content) })
}

// saysInReport tests the texts of a record of an extraction.
func saysInReport(says func(string) bool, r yiku.ExtractionReport) bool {
	return slices.ContainsFunc(r.Operations, func(o yiku.Operation) bool {
		return says(o.Content) || says(o.Subject) || says(o.Attribute) || says(o.Value) || says(o.Reason)
	}) || slices.ContainsFunc(r.Parked, func(p yiku.ParkedOperation) bool { return says(p.Reason) || says(p.Text) })
}

// saysAnywhere tests every text in a value, and numbers and booleans as they
// are written. Anything but lists, tool calls and working memory is looked at
// as its JSON shows it.
func saysAnywhere(says func(string) bool, v any) bool {
	switch v := v.(type) {
	case []string:
		return slices.ContainsFunc(v, says)
	case yiku.Metadata:
		if len(v) == 0 {
			return false
		}
	case []yiku.ToolCall:
		return slices.ContainsFunc(v, func(c yiku.ToolCall) bool {
			return says(c.ID) || c.Type != "function" && says(c.Type) || says(c.Function.Name) || says(c.Function.Arguments)
		})
	case yiku.Content:
		if len(v.Parts) == 0 {
			return says(v.Text)
		}
	case yiku.WorkingMemory:
		for name, b := range v.Blocks {
			if says(name) || says(b.Value) {
				return true
			}
		}
		return says(v.TaskID) || says(v.CarriedFrom) || saysAnywhere(says, []any{v.TaskState, v.DataSlots, v.Preferences, v.Todos})
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return true // what cannot be looked at is not kept
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&tree) != nil {
		return true
	}
	return saysInTree(says, tree)
}

func saysInTree(says func(string) bool, v any) bool {
	switch v := v.(type) {
	case string:
		return says(v)
	case json.Number:
		return says(v.String()) || says(decimal(v))
	case bool:
		return says(strconv.FormatBool(v))
	case []any:
		for _, e := range v {
			if saysInTree(says, e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if says(k) || saysInTree(says, e) {
				return true
			}
		}
	}
	return false
}

// decimal is a number without an exponent.
func decimal(n json.Number) string {
	f, err := n.Float64()
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// sessionsOfOwner reads the owner's sessions by key.
func (c *call) sessionsOfOwner(ctx context.Context, owner yiku.Owner) (map[int64]store.Session, error) {
	out := map[int64]store.Session{}
	err := c.store.View(ctx, func(r store.Reader) error {
		query := store.SessionQuery{Limit: 1000}
		for {
			rows, err := r.Sessions(owner, query)
			if err != nil {
				return err
			}
			for _, row := range rows {
				out[row.Key] = row
			}
			if len(rows) < query.Limit {
				return nil
			}
			query.After = rows[len(rows)-1].Place()
		}
	})
	return out, err
}
