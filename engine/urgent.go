package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/store"
)

// urgentNeighbours is how many of the newest memories a correction or a wish to
// forget is held against within an append.
const urgentNeighbours = 200

// urgentBytes is how much text of one append is looked at for what cannot
// wait; what lies beyond waits for the extraction.
const urgentBytes = 8 << 10

// appendRef is what the record of an append keeps: ids and words of ours only.
type appendRef struct {
	Messages []yiku.MessageRef `json:"messages"`
	Applied  []appliedRef      `json:"applied,omitempty"`
	Commands []appliedRef      `json:"commands,omitempty"`
}

// appliedRef is an operation without content.
type appliedRef struct {
	Op         string       `json:"op"`
	ID         string       `json:"id"`
	Outcome    yiku.Outcome `json:"outcome,omitempty"`
	Superseded []string     `json:"superseded,omitempty"`
	Sources    []string     `json:"sources,omitempty"`
	Reason     string       `json:"reason,omitempty"`
}

// promiseReading queues the reading of a session whose first unread messages
// came, and hastens it where much is unread. It writes nothing in between.
func (c *call) promiseReading(tx store.Tx, owner yiku.Owner, session store.Session, before int) error {
	much := before < c.settings.ExtractTokens && session.Unread >= c.settings.ExtractTokens
	if before > 0 && !much {
		return nil
	}
	_, err := c.promiseExtraction(tx, owner, session, much)
	return err
}

// applyUrgent does by rules what cannot wait (C3), in the transaction of the
// append. What the extraction finds in the same messages later is known then.
func (c *call) applyUrgent(tx store.Tx, owner yiku.Owner, session store.Session, added []*store.Message) ([]appliedRef, error) {
	if !c.settings.AtOnce {
		return nil, nil
	}
	x := excerpt{session: session}
	w := extract.Window{Zone: clockOf(session), Project: session.ProjectID}
	left := urgentBytes
	for _, m := range added {
		text := m.Content.PlainText()
		if left -= len(text); left < 0 {
			break
		}
		if m.Role == yiku.RoleUser && extract.MayBeUrgent(text) {
			x.messages = append(x.messages, *m)
			w.Messages = append(w.Messages, extract.Message{Role: m.Role, Content: text, At: m.CreatedAt, Origin: m.Origin})
		}
	}
	if len(w.Messages) == 0 {
		return nil, nil
	}
	scope := inScope(session.ProjectID, "", session.AgentID)
	var err error
	x.neighbours, err = tx.Memories(owner, store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusActive}, Filter: &scope, Limit: urgentNeighbours})
	if err != nil {
		return nil, err
	}
	for _, m := range x.neighbours {
		w.Neighbours = append(w.Neighbours, extract.Neighbour{Content: m.Content, Subject: m.Subject, Attribute: m.Attribute, Value: m.Value, Type: m.Type})
	}
	found, err := c.rules.Extract(context.Background(), w)
	if err != nil {
		return nil, err
	}
	var report yiku.ExtractionReport
	for _, candidate := range found.Candidates {
		if !candidate.Urgent {
			continue
		}
		if err := c.applyCandidate(tx, owner, x, candidate, &report); err != nil {
			return nil, err
		}
	}
	return refsOf(report.Operations), nil
}

func refsOf(operations []yiku.Operation) []appliedRef {
	var refs []appliedRef
	for _, o := range operations {
		refs = append(refs, appliedRef{Op: o.Op, ID: o.MemoryID, Outcome: o.Outcome, Superseded: o.Superseded, Sources: o.Sources, Reason: o.Reason})
	}
	return refs
}

// takeCommands takes the memory commands out of the agent's messages of a
// request (C11), by the place of the message.
func (c *call) takeCommands(messages []yiku.Message) map[int][]extract.Command {
	var all map[int][]extract.Command
	for i := range messages {
		m := &messages[i]
		if c.settings.Commands == CommandsOff || m.Role != yiku.RoleAssistant || len(m.Content.Parts) > 0 || !strings.Contains(m.Content.Text, "memory_commands") {
			continue
		}
		visible, commands, parked := extract.Commands(m.Content.Text)
		if len(commands)+len(parked) == 0 {
			continue
		}
		if visible == "" && len(m.ToolCalls) == 0 {
			visible = "…" // a message says something
		}
		m.Content.Text = visible
		if all == nil {
			all = map[int][]extract.Command{}
		}
		all[i] = commands
		c.count("commands_parked", len(parked))
	}
	return all
}

// reply is a new message of the agent's with the commands that stood in it.
type reply struct {
	message  store.Message
	commands []extract.Command
}

// rowsByID pairs commands, by place in the request, with the rows that were
// added. Those of a message that was there before are not done again.
func rowsByID(refs []yiku.MessageRef, added []*store.Message, commands map[int][]extract.Command) []reply {
	var replies []reply
	for _, i := range slices.Sorted(maps.Keys(commands)) {
		at := slices.IndexFunc(added, func(m *store.Message) bool { return m.ID == refs[i].ID })
		if at >= 0 {
			replies = append(replies, reply{*added[at], commands[i]})
		}
	}
	return replies
}

// applyCommands does what the agent's commands ask for, or only says what it
// would do.
func (c *call) applyCommands(tx store.Tx, owner yiku.Owner, session store.Session, replies []reply) ([]appliedRef, error) {
	var report yiku.ExtractionReport
	for _, r := range replies {
		for _, command := range r.commands {
			if c.settings.Commands == CommandsLog {
				report.Operations = append(report.Operations, yiku.Operation{Op: string(command.Op), Reason: "only logged"})
				continue
			}
			x := excerpt{session: session, messages: []store.Message{r.message}}
			command.Messages, command.ValidFrom, command.Target = []int{1}, r.message.CreatedAt, 0
			row, err := c.commanded(tx, owner, command)
			if err != nil {
				return nil, err
			}
			if row != nil {
				x.neighbours, command.Target = []store.Memory{*row}, 1
			}
			if err := c.applyCandidate(tx, owner, x, command.Candidate, &report); err != nil {
				return nil, err
			}
		}
	}
	return refsOf(report.Operations), nil
}

// commanded finds the memory that a command names by its id or by the hash of
// its content; nil where there is none.
func (c *call) commanded(tx store.Tx, owner yiku.Owner, command extract.Command) (*store.Memory, error) {
	if command.ID != "" {
		row, err := tx.Memory(owner, command.ID)
		if errors.Is(err, yiku.ErrNotFound) {
			return nil, nil
		}
		return &row, err
	}
	if command.Hash == "" {
		return nil, nil
	}
	rows, err := tx.Memories(owner, store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusActive}})
	for i := range rows {
		if rows[i].Hash == command.Hash {
			return &rows[i], err
		}
	}
	return nil, err
}

// appended is the answer of an append, with the contents of what was applied
// as they are now.
func (c *call) appended(ctx context.Context, owner yiku.Owner, ref appendRef) (yiku.AppendMessagesResponse, error) {
	res := yiku.AppendMessagesResponse{Messages: ref.Messages}
	if len(ref.Applied)+len(ref.Commands) == 0 {
		return res, nil
	}
	err := c.store.View(ctx, func(r store.Reader) error {
		var errApplied, errCommands error
		res.Applied, errApplied = operationsOf(r, owner, ref.Applied)
		res.Commands, errCommands = operationsOf(r, owner, ref.Commands)
		return errors.Join(errApplied, errCommands)
	})
	for _, o := range append(slices.Clone(res.Applied), res.Commands...) {
		c.noteMemory(o.MemoryID)
	}
	return res, err
}

func operationsOf(r store.Reader, owner yiku.Owner, refs []appliedRef) ([]yiku.Operation, error) {
	all := []yiku.Operation{}
	for _, ref := range refs {
		o := yiku.Operation{Op: ref.Op, MemoryID: ref.ID, Outcome: ref.Outcome, Superseded: ref.Superseded, Sources: ref.Sources, Reason: ref.Reason}
		if ref.ID != "" {
			row, err := r.Memory(owner, ref.ID)
			if errors.Is(err, yiku.ErrNotFound) {
				continue // forgotten since
			}
			if err != nil {
				return nil, err
			}
			o.Content, o.Type, o.Subject, o.Attribute, o.Value, o.Importance, o.Confidence = row.Content, row.Type, row.Subject, row.Attribute, row.Value, row.Importance, row.Confidence
		}
		all = append(all, o)
	}
	return all, nil
}
