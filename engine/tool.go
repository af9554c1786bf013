package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/tool"
	"github.com/yiku-ai/yiku/store"
)

// getTools serves the definitions of the memory tools (B6).
func (c *call) getTools(_ context.Context, req yiku.ToolsRequest) (yiku.Tools, error) {
	out := yiku.Tools{Format: cmp.Or(req.Format, "openai"), Lang: cmp.Or(req.Lang, "en")}
	var err error
	out.Tools, err = tool.Definitions(out.Format, out.Lang)
	return out, err
}

// The arguments of the tools.
type (
	coreArguments struct {
		Block   string  `json:"block"`
		Content string  `json:"content"`
		Old     string  `json:"old"`
		New     *string `json:"new"`
	}
	workingArguments struct {
		State map[string]any `json:"task_state"`
		Slots map[string]any `json:"data_slots"`
		Todos *[]any         `json:"todos"`
		Add   []any          `json:"add_todos"`
	}
	searchArguments struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}
	insertArguments struct {
		Content string    `json:"content"`
		Type    yiku.Type `json:"type"`
	}
)

// runTool does what a model has asked of a memory tool.
func (c *call) runTool(ctx context.Context, req yiku.RunToolRequest) (yiku.RunToolResponse, error) {
	out := yiku.RunToolResponse{Name: req.Name}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return out, err
	}
	c.event.Session = req.SessionID
	var result any
	switch req.Name {
	case "core_memory_append", "core_memory_replace":
		result, err = c.toolCore(ctx, owner, req)
	case "working_update":
		result, err = c.toolWorking(ctx, owner, req)
	case "conversation_search":
		result, err = c.toolConversation(ctx, owner, req)
	case "archival_memory_insert":
		result, err = c.toolInsert(ctx, owner, req)
	case "archival_memory_search":
		result, err = c.toolArchive(ctx, owner, req)
	}
	if err != nil {
		return out, err
	}
	raw, err := json.Marshal(result)
	out.Content = string(raw)
	return out, err
}

// arguments reads a model's arguments: an object, or its JSON as a string.
func arguments[T any](raw json.RawMessage) (T, error) {
	var out T
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrong) && wrong.Field != "":
			return out, yiku.Invalid("arguments."+wrong.Field, "has the wrong type")
		case strings.HasPrefix(err.Error(), "json: unknown field "):
			return out, yiku.Invalid("arguments", "has a field that the tool does not take")
		}
		return out, yiku.Invalid("arguments", "must be a JSON object")
	}
	return out, nil
}

// toolBench changes the working memory of the running session, once.
func (c *call) toolBench(ctx context.Context, owner yiku.Owner, req yiku.RunToolRequest, change func(*yiku.WorkingMemory) error) (yiku.WorkingMemory, error) {
	_, err := once(ctx, c, owner, req.IdempotencyKey, req, func(tx store.Tx) (struct{}, []store.Item, error) {
		_, err := c.changeBench(tx, owner, req.SessionID, req.TaskID, "", func(w *store.Working) error {
			before := w.DataSlots
			err := change(&w.WorkingMemory)
			keepFound(w, before)
			return err
		})
		return struct{}{}, nil, err
	})
	if err != nil {
		return yiku.WorkingMemory{}, err
	}
	return c.getWorking(ctx, yiku.GetWorkingRequest{SessionID: req.SessionID, UserID: req.UserID, TaskID: req.TaskID})
}

// toolCore appends to a core block or replaces a piece of it.
func (c *call) toolCore(ctx context.Context, owner yiku.Owner, req yiku.RunToolRequest) (any, error) {
	args, err := arguments[coreArguments](req.Arguments)
	if err != nil {
		return nil, err
	}
	appends := req.Name == "core_memory_append"
	for field, missing := range map[string]bool{"block": args.Block == "", "content": appends && args.Content == "", "old": !appends && args.Old == "", "new": !appends && args.New == nil} {
		if missing {
			return nil, yiku.Invalid("arguments."+field, "is required")
		}
	}
	w, err := c.toolBench(ctx, owner, req, func(w *yiku.WorkingMemory) error {
		b := w.Blocks[args.Block]
		switch {
		case b.ReadOnly:
			return &yiku.Error{Sentinel: yiku.ErrForbidden, Fields: []yiku.FieldError{{Field: "arguments.block", Message: "is read-only"}}}
		case appends && b.Value != "":
			b.Value += "\n" + args.Content
		case appends:
			b.Value = args.Content
		case strings.Count(b.Value, args.Old) != 1:
			return yiku.Invalid("arguments.old", "must stand in the block exactly once")
		default:
			b.Value = strings.Replace(b.Value, args.Old, *args.New, 1)
		}
		w.Blocks[args.Block] = b
		return nil
	})
	return map[string]any{"block": args.Block, "value": w.Blocks[args.Block].Value}, err
}

// toolWorking sets state, slots and to-dos.
func (c *call) toolWorking(ctx context.Context, owner yiku.Owner, req yiku.RunToolRequest) (any, error) {
	args, err := arguments[workingArguments](req.Arguments)
	if err != nil {
		return nil, err
	}
	w, err := c.toolBench(ctx, owner, req, func(w *yiku.WorkingMemory) error {
		if args.State != nil {
			w.TaskState = mergeObject(w.TaskState, yiku.Some(args.State))
		}
		if args.Slots != nil {
			w.DataSlots = mergeObject(w.DataSlots, yiku.Some(args.Slots))
		}
		if args.Todos != nil {
			w.Todos = *args.Todos
		}
		w.Todos = append(w.Todos, args.Add...)
		return nil
	})
	return map[string]any{"task_state": w.TaskState, "data_slots": w.DataSlots, "todos": w.Todos}, err
}

// toolResult is one message or memory as a model is given it.
type toolResult struct {
	Content   string    `json:"content"`
	Role      yiku.Role `json:"role,omitempty"`
	Type      yiku.Type `json:"type,omitempty"`
	Date      time.Time `json:"date"`
	SessionID string    `json:"session_id,omitempty"`
	ID        string    `json:"id"`
}

// toolSearch reads the arguments of a search.
func toolSearch(req yiku.RunToolRequest, limit int) (searchArguments, error) {
	args, err := arguments[searchArguments](req.Arguments)
	switch {
	case err != nil:
	case strings.TrimSpace(args.Query) == "":
		err = yiku.Invalid("arguments.query", "is required")
	case len(args.Query) > maxToolQuery:
		err = yiku.Invalid("arguments.query", "must have at most %d bytes", maxToolQuery)
	case args.Limit < 0 || args.Limit > maxRecalled:
		err = yiku.Invalid("arguments.limit", "must be 1 to %d", maxRecalled)
	case args.Limit == 0:
		args.Limit = limit
	}
	return args, err
}

// maxToolQuery is the longest query of a tool, in bytes.
const maxToolQuery = 20000

// toolConversation finds past messages, and notes in the page log that they
// come back into the context.
func (c *call) toolConversation(ctx context.Context, owner yiku.Owner, req yiku.RunToolRequest) (any, error) {
	args, err := toolSearch(req, foundWithin)
	if err != nil {
		return nil, err
	}
	hits, err := c.conversations(ctx, owner, args.Query, args.Limit)
	if err != nil {
		return nil, err
	}
	results, pages := []toolResult{}, []*store.Page{}
	for _, h := range hits {
		m := h.message
		results = append(results, toolResult{Content: m.Content.PlainText(), Role: m.Role, Date: m.CreatedAt, SessionID: m.SessionID, ID: m.ID})
		pages = append(pages, &store.Page{Direction: yiku.PageIn, Reason: yiku.PageConversationSearch, From: m.Key, To: m.Key})
	}
	return map[string]any{"messages": results}, c.pageIn(ctx, owner, req.SessionID, pages)
}

// toolInsert saves a memory as the agent's.
func (c *call) toolInsert(ctx context.Context, owner yiku.Owner, req yiku.RunToolRequest) (any, error) {
	args, err := arguments[insertArguments](req.Arguments)
	if err != nil {
		return nil, err
	}
	project, err := c.projectOf(ctx, owner, req.SessionID, "")
	if err != nil {
		return nil, err
	}
	save := yiku.SaveMemoryRequest{Idempotent: req.Idempotent, UserID: req.UserID, ProjectID: project, SessionID: req.SessionID, Content: args.Content, Type: args.Type, Origin: yiku.OriginAgent}
	if err := c.checker.Request(save); err != nil {
		return nil, below("arguments", err)
	}
	res, err := c.saveMemory(ctx, save)
	return map[string]any{"id": res.ID, "outcome": res.Outcome}, err
}

// toolArchive finds memories.
func (c *call) toolArchive(ctx context.Context, owner yiku.Owner, req yiku.RunToolRequest) (any, error) {
	args, err := toolSearch(req, c.settings.MaxItems)
	if err != nil {
		return nil, err
	}
	owners, err := withShared(owner)
	if err != nil {
		return nil, err
	}
	project, err := c.projectOf(ctx, owner, req.SessionID, "")
	if err != nil {
		return nil, err
	}
	filter := all(inScope(project, req.TaskID, ""), trueAt(time.Time{}, c.now))
	hits, _, err := c.find(ctx, owners, question{text: args.Query, filter: &filter, kinds: []index.Kind{index.Memory}, limit: max(args.Limit, 1), least: c.settings.SearchRelevance})
	if err != nil {
		return nil, err
	}
	c.used(hits)
	results, pages := []toolResult{}, []*store.Page{}
	for _, h := range hits {
		results = append(results, toolResult{Content: h.memory.Content, Type: h.memory.Type, Date: h.memory.CreatedAt, ID: h.memory.ID})
		if h.owner == owner { // shared memories are another owner's rows
			pages = append(pages, &store.Page{Direction: yiku.PageIn, Reason: yiku.PageArchivalSearch, Memory: h.memory.Key})
		}
	}
	return map[string]any{"memories": results}, c.pageIn(ctx, owner, req.SessionID, pages)
}
