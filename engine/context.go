package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/compose"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/internal/window"
	"github.com/yiku-ai/yiku/store"
)

// contextAttempts is how often a context is made anew because something was
// forgotten while it was made.
const contextAttempts = 4

// errEpoch says that something of the owner was forgotten since it was read.
var errEpoch = errors.New("the owner's epoch has risen")

// getContext composes everything that the next request to a model needs (D12).
func (c *call) getContext(ctx context.Context, req yiku.GetContextRequest) (yiku.GetContextResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.GetContextResponse{}, err
	}
	c.event.Session = req.SessionID
	p, err := c.plan(ctx, owner, req)
	if err != nil {
		return yiku.GetContextResponse{}, err
	}
	for range contextAttempts {
		var res yiku.GetContextResponse
		res, err = c.contextOnce(ctx, p)
		if !errors.Is(err, errEpoch) {
			return res, err
		}
	}
	return yiku.GetContextResponse{}, yiku.Errorf(yiku.ErrUnavailable, "memories are being forgotten; try again")
}

// contextOnce makes a context from one state of the owner's data, and keeps what
// is to be known of it.
func (c *call) contextOnce(ctx context.Context, p plan) (yiku.GetContextResponse, error) {
	made, err := c.composed(ctx, p)
	if err != nil {
		return yiku.GetContextResponse{}, err
	}
	if err := c.keepSnapshot(ctx, made.plan, made.desk, &made.res); err != nil {
		return yiku.GetContextResponse{}, err
	}
	c.noteContext(p.owner, made.desk, made.res)
	return made.res, nil
}

// madeContext is a context with what it was made of.
type madeContext struct {
	plan plan
	desk desk
	res  yiku.GetContextResponse
}

// composed makes a context from one state of the owner's data.
func (c *call) composed(ctx context.Context, p plan) (madeContext, error) {
	c.trace(p.req.Options.Explain, p.layers)
	d, err := c.loadDesk(ctx, p)
	if err != nil {
		return madeContext{}, err
	}
	p.project = d.project
	fit, room, err := c.fitWindow(p, &d)
	if err != nil {
		return madeContext{}, err
	}
	if err := c.recallInto(ctx, p, &d, fit); err != nil {
		return madeContext{}, err
	}
	c.summaryInto(p, &d, fit)
	text, fit, err := c.composeWithin(p, &d, fit, room)
	if err != nil {
		return madeContext{}, err
	}
	d.pages = d.contextPages(fit, text)
	return madeContext{p, d, c.contextResponse(p, d, fit, text)}, nil
}

// desk is what was read for a context: one state of the owner's data.
type desk struct {
	epoch    int64
	known    bool   // the owner has been written to
	project  string // the request's, or the session's
	session  store.Session
	messages []yiku.Message           // the recent list (A5), with what is never trimmed before it
	rows     map[string]store.Message // the same by id
	working  *yiku.WorkingMemory
	shows    store.WorkingPlace     // where working comes from
	found    map[string]store.Found // slots of it that were found in messages
	summary  store.Summary          // zero: there is none
	lines    []compose.Line         // of it, as shown
	query    string
	script   lang.Script
	always   []compose.Entry // in scope whatever the query (D4)
	omitted  int             // constraints over their cap
	recalled []compose.Entry
	episodes []compose.Episode
	cites    []store.Item
	degraded []string
	recalls  []called
	pages    []*store.Page // what this context pages in and out
	pagedOut int64         // the key of the last message that is noted as out

	summaryRoom int // tokens that are kept for the summary
	bridge      bridge
}

// loadDesk reads the session, the working memory and what is always loaded, in
// one read transaction.
func (c *call) loadDesk(ctx context.Context, p plan) (desk, error) {
	var d desk
	err := c.store.View(ctx, func(r store.Reader) error {
		d = desk{project: p.project}
		state, err := r.Owner(p.owner)
		if err != nil {
			return err
		}
		d.epoch, d.known = state.Epoch, state.Known
		if err := c.loadSession(r, p, &d); err != nil {
			return err
		}
		if p.layers.Longterm {
			p.project = d.project
			return c.loadAlways(r, p, &d)
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	d.query = p.req.Query
	if d.query == "" {
		d.query = newestUserText(d.messages)
	}
	d.script = lang.ScriptOf(p.req.System + "\n" + d.query)
	return d, nil
}

func (c *call) loadSession(r store.Reader, p plan, d *desk) error {
	b := bench{task: p.req.TaskID, session: p.req.SessionID, project: p.project, agent: p.req.AgentID, since: c.now}
	if p.req.SessionID != "" {
		session, err := r.Session(p.owner, p.req.SessionID)
		if err != nil && !errors.Is(err, yiku.ErrNotFound) {
			return err
		}
		if err == nil {
			if p.project != "" && session.ProjectID != p.project {
				return yiku.Invalid("project_id", "the session belongs to another project")
			}
			d.project = session.ProjectID
			d.session = session
			b.project, b.agent, b.since = session.ProjectID, session.AgentID, session.CreatedAt
		}
	}
	if p.layers.Session && d.session.Key != 0 {
		rows, err := c.recentList(r, p.owner, d.session)
		if err != nil {
			return err
		}
		if d.pagedOut, err = lastPagedOut(r, p.owner, d.session.Key); err != nil {
			return err
		}
		d.messages, d.rows = messagesOf(rows), map[string]store.Message{}
		for _, row := range rows {
			d.rows[row.ID] = row
		}
	}
	if p.layers.Summary && d.session.Key != 0 {
		var err error
		if d.summary, err = r.Summary(p.owner, d.session.Key); err != nil && !errors.Is(err, yiku.ErrNotFound) {
			return err
		}
	}
	if !p.layers.Working || b.session == "" && b.task == "" {
		return nil
	}
	row, err := c.working(r, p.owner, b)
	if err != nil || row.Version == 0 {
		return err
	}
	if w := row.WorkingMemory; len(w.TaskState)+len(w.DataSlots)+len(w.Preferences)+len(w.Todos)+len(w.Blocks) > 0 {
		d.working, d.shows, d.found = &w, placeOf(row), row.Found
	}
	return nil
}

// recentList is what of a session a window may show (A5): its last messages up
// to the cap, none after a long silence, and before them whatever is pinned or
// of role system.
func (c *call) recentList(r store.Reader, owner yiku.Owner, s store.Session) ([]store.Message, error) {
	kept, err := r.Messages(owner, store.MessageQuery{SessionKey: s.Key, Kept: true})
	if err != nil {
		return nil, err
	}
	var recent []store.Message
	if c.now.Sub(s.LastMessageAt) <= c.settings.RecentIdle {
		if recent, err = c.recentMessages(r, owner, s); err != nil {
			return nil, err
		}
	}
	first := int64(1<<63 - 1)
	if len(recent) > 0 {
		first = recent[0].Key
	}
	kept = slices.DeleteFunc(kept, func(m store.Message) bool { return m.Key >= first })
	return append(kept, recent...), nil
}

// agentRun is how many times the recent list's cap the messages behind one user
// message may be that still count as its answer.
const agentRun = 8

// recentMessages are the last messages up to the cap. Where an agent has said
// more than that since the user spoke, the list goes back to the user's
// message, which is never trimmed (A4).
func (c *call) recentMessages(r store.Reader, owner yiku.Owner, s store.Session) ([]store.Message, error) {
	limit := c.settings.RecentMessages
	for {
		rows, err := r.Messages(owner, store.MessageQuery{SessionKey: s.Key, After: s.RecentFrom - 1, Last: true, Limit: limit})
		if err != nil {
			return nil, err
		}
		over := max(len(rows)-c.settings.RecentMessages, 0)
		newest := len(rows) - 1
		for newest >= 0 && rows[newest].Role != yiku.RoleUser {
			newest--
		}
		switch {
		case newest >= over:
			return rows[over:], nil
		case newest >= 0:
			return rows[newest:], nil
		case len(rows) < limit || limit >= agentRun*c.settings.RecentMessages:
			return rows[over:], nil
		}
		limit *= 2
	}
}

func newestUserText(messages []yiku.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == yiku.RoleUser {
			return m.Content.PlainText()
		}
	}
	return ""
}

// fitWindow chooses the messages (A2–A4) beside the room that memory may take,
// and returns that room. Memory gives way before a request fails, then the
// summary, then working memory.
func (c *call) fitWindow(p plan, d *desk) (window.Result, int, error) {
	working := p.workingTokens(*d)
	d.summaryRoom = c.summaryRoom(p, d)
	for {
		full := p.room - working - d.summaryRoom
		for _, memory := range slices.Compact([]int{p.memory, 0}) {
			if full <= memory {
				continue
			}
			fit, err := window.Fit(p.windowInput(d.messages, full-memory))
			if err == nil || !errors.Is(err, yiku.ErrTooLarge) {
				return fit, min(p.memory, full-fit.Tokens), err
			}
		}
		switch {
		case d.summaryRoom > 0:
			if d.summaryRoom = 0; len(d.summary.Lines) > 0 {
				d.degraded = append(d.degraded, "summary")
			}
		case d.working != nil && len(d.found) > 0: // what callers have set is shown as long as can be
			own := sansFound(*d.working, d.found)
			d.working, d.found = &own, nil
			working = p.workingTokens(*d)
		case d.working != nil:
			d.working, working = nil, 0
			d.degraded = append(d.degraded, "working")
		default:
			fit, err := window.Fit(p.windowInput(d.messages, p.room))
			return fit, 0, err
		}
	}
}

// composeWithin writes the memory text, gives what it leaves to the messages
// again, and makes sure by an exact count that the whole fits.
func (c *call) composeWithin(p plan, d *desk, fit window.Result, room int) (compose.Output, window.Result, error) {
	budget := room - p.overhead
	var out compose.Output
	for {
		out = p.compose(*d, budget)
		if out.MemoryTokens <= room || budget <= 0 {
			break
		}
		budget -= out.MemoryTokens - room
	}
	left := p.room - out.MemoryTokens - out.WorkingTokens - out.SummaryTokens
	if fit.Trimmed == 0 && len(fit.Cut) == 0 || left <= fit.Tokens {
		return out, fit, nil
	}
	again, err := window.Fit(p.windowInput(d.messages, left))
	if err != nil {
		return out, fit, err
	}
	shown := map[string]bool{}
	for _, m := range again.Messages {
		shown[messageKey(m)] = true
	}
	d.episodes = slices.DeleteFunc(slices.Clone(d.episodes), func(e compose.Episode) bool { return shown[messageKey(e.Message)] })
	c.summaryInto(p, d, again)
	// What stands among the messages now is not shown twice.
	if next := p.compose(*d, budget); next.MemoryTokens+next.WorkingTokens+next.SummaryTokens <= p.room-again.Tokens {
		out = next
	}
	return out, again, nil
}

func messageKey(m yiku.Message) string { return m.SessionID + "\x00" + m.ID }

// contextResponse puts the parts together.
func (c *call) contextResponse(p plan, d desk, fit window.Result, text compose.Output) yiku.GetContextResponse {
	res := yiku.GetContextResponse{
		System: joinTexts(append(append([]string{p.req.System}, systemTexts(fit.System)...), text.Text)...), Messages: fit.Messages,
		Memories: text.Memories, Episodes: text.Episodes, Degraded: append([]string{}, d.degraded...),
		Budget: yiku.Budget{
			Window: p.window, ReservedOutput: p.output, CallerSystem: p.caller, Reserved: p.req.ReservedTokens,
			Memory: text.MemoryTokens, Working: text.WorkingTokens, Summary: text.SummaryTokens, Messages: fit.Tokens,
			TrimmedMessages: fit.Trimmed, CutMessages: len(fit.Cut), Tokenizer: p.counter.Name(),
			OmittedMemories: d.omitted + text.Omitted,
		},
	}
	for _, cut := range text.Cut {
		c.noteCut(cut)
	}
	res.Explain = c.told
	if p.variant.Name != "" {
		res.Variant = c.event.Experiment + "/" + p.variant.Name
	}
	b := &res.Budget
	b.Total = b.CallerSystem + b.Reserved + b.Memory + b.Working + b.Summary + b.Messages
	b.FullHistory = p.fullHistory(d)
	return res
}

func systemTexts(messages []yiku.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Content.PlainText()
	}
	return out
}

// joinTexts joins the texts that are not empty by blank lines.
func joinTexts(texts ...string) string {
	out := ""
	for _, t := range texts {
		if t != "" && out != "" {
			out += "\n\n"
		}
		out += t
	}
	return out
}

// noteContext puts the numbers of a context into the event and, where it stands
// for a history, into the ledger.
func (c *call) noteContext(owner yiku.Owner, d desk, res yiku.GetContextResponse) {
	b := res.Budget
	c.event.Tokens = map[string]int{"total": b.Total, "memory": b.Memory, "working": b.Working, "summary": b.Summary, "messages": b.Messages, "full_history": b.FullHistory}
	if len(d.messages) > 0 {
		c.access.spend(owner, store.Spending{Day: usage.Day(c.now), Operation: c.event.Operation, Model: b.Tokenizer, Path: pathContext,
			Spent: store.Spent{Calls: 1, TokensIn: int64(b.Total), History: int64(b.FullHistory)}})
	}
	c.count("memories", len(res.Memories))
	c.count("episodes", len(res.Episodes))
	c.count("trimmed_messages", b.TrimmedMessages)
	c.count("omitted_memories", b.OmittedMemories)
	c.count("session_messages", d.session.MessageCount)
}

// zoneOf reads an IANA name in a field; UTC where it is empty.
func zoneOf(field, name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, yiku.Invalid(field, "must be an IANA time zone name")
	}
	return zone, nil
}
