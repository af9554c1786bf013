package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/internal/summary"
	"github.com/yiku-ai/yiku/internal/window"
	"github.com/yiku-ai/yiku/store"
)

// A session has a raw zone, whose messages no summary covers, and a summary of
// all before it (B1). Where the raw zone has grown beyond its limit a job makes
// a new summary of the present one and the oldest half of the raw zone. Until
// it has, contexts show what the window leaves out in sentences chosen from the
// raw messages themselves, so that nothing is out of view at any time.

// kindSummarize is the kind of job that makes a summary.
const kindSummarize = "summarize"

const (
	rawPage      = 200 // messages of the raw zone that are read at a time
	summaryBatch = 2   // windows of an extraction that one summary may cover anew
)

// rawTokens is how many tokens the raw zone may have: half of what is left for
// messages of a window.
func (s Settings) rawTokens() int {
	window := float64(s.WindowTokens)
	return int(window*(1-s.OutputShare)-min(s.MemoryShare*window, float64(s.MemoryTokens))) / 2
}

// summarized reports whether a message can be part of a summary: what is never
// trimmed from a window never leaves it (B6).
func summarized(m yiku.Message) bool { return m.Role != yiku.RoleSystem && !m.Pinned }

// countRaw counts messages that came into the raw zone.
func countRaw(s *store.Session, m yiku.Message, tokens int) {
	if !summarized(m) {
		return
	}
	s.RawTokens += tokens
	if m.Role == yiku.RoleUser {
		s.RawTurns++
	}
}

// promiseSummary queues the making of a summary where the raw zone is over its
// limit, or where the recent list begins anew behind it. The newest turn stays raw.
func (c *call) promiseSummary(tx store.Tx, owner yiku.Owner, s store.Session, anew bool) error {
	over := s.RawTurns > c.settings.SummaryTurns || s.RawTokens > c.settings.rawTokens() || anew
	if !c.settings.Layers.Summary || !over || s.RawTurns < 2 {
		return nil
	}
	return c.enqueueSummary(tx, owner, s)
}

func (c *call) enqueueSummary(tx store.Tx, owner yiku.Owner, s store.Session) error {
	state, err := tx.Owner(owner)
	if err != nil {
		return err
	}
	args, err := json.Marshal(extractArgs{SessionID: s.ID})
	if err != nil {
		return err
	}
	_, err = tx.Enqueue(&store.Job{ID: c.newID(), Kind: kindSummarize, Unique: mark(kindSummarize, s.ID), SessionKey: s.Key, Epoch: state.Epoch,
		NotBefore: c.now, CreatedAt: c.now, Arguments: args})
	return err
}

// rawZone is one state of a session's raw zone, and what of it is to be covered.
type rawZone struct {
	epoch   int64
	session store.Session
	present store.Summary // zero: there is none
	cover   []store.Message
}

// rawZone reads the messages behind the summary, as many as one step looks at,
// and cuts off the oldest half where they are over the limit.
func (c *call) rawZone(r store.Reader, owner yiku.Owner, session int64) (z rawZone, err error) {
	state, err := r.Owner(owner)
	if err != nil {
		return z, err
	}
	z.epoch = state.Epoch
	if z.session, err = r.SessionByKey(owner, session); err != nil {
		return z, err
	}
	if z.present, err = r.Summary(owner, session); err != nil && !errors.Is(err, yiku.ErrNotFound) {
		return z, err
	}
	rows, err := r.Messages(owner, store.MessageQuery{SessionKey: session, After: z.present.To, Limit: rawPage + 1})
	z.cover = c.oldestHalf(rows, z.session.RecentFrom)
	return z, err
}

// oldestHalf returns the first messages of a raw zone that is over its limit:
// half of its turns or of its tokens, whole turns, never the newest turn, and
// what lies before the recent list in any case. One step takes no more than a
// few windows of an extraction.
func (c *call) oldestHalf(rows []store.Message, recentFrom int64) []store.Message {
	more := len(rows) > rawPage
	rows = rows[:min(len(rows), rawPage)]
	var starts []int // where turns begin
	tokens, turns, left := make([]int, len(rows)+1), 0, 0
	for i, m := range rows {
		var s store.Session
		countRaw(&s, m.Message, 1+extract.Estimate(m.Content.PlainText()))
		tokens[i+1] = tokens[i] + s.RawTokens
		if s.RawTurns > 0 {
			starts, turns = append(starts, i), turns+1
		}
		if m.Key < recentFrom {
			left = i + 1
		}
	}
	total := tokens[len(rows)]
	if !more && left == 0 && turns <= c.settings.SummaryTurns && total <= c.settings.rawTokens() {
		return nil
	}
	if more {
		starts = append(starts, len(rows))
	}
	end := 0
	for n, start := range starts {
		whole := start <= left || 2*n <= turns || 2*tokens[start] <= total
		if whole && (end == 0 || tokens[start] <= summaryBatch*c.settings.ExtractWindow) {
			end = start
		}
	}
	if end == 0 && len(starts) > 1 { // one turn that is more than half
		end = starts[1]
	}
	return rows[:end]
}

// batch is what a summary of a raw zone is made from.
func (c *call) batch(z rawZone) summary.Batch {
	b := summary.Batch{Present: linesOf(z.present), Zone: clockOf(z.session), Tokens: c.settings.SummaryTokens}
	for _, m := range z.cover {
		if summarized(m.Message) && !window.SmallTalk(m.Message) {
			b.Messages = append(b.Messages, toSummarize(m))
		}
	}
	return b
}

func toSummarize(m store.Message) summary.Message {
	return summary.Message{Key: m.Key, Role: m.Role, Name: m.Name, Content: m.Content.PlainText(), At: m.CreatedAt}
}

func linesOf(s store.Summary) []summary.Line {
	lines := make([]summary.Line, len(s.Lines))
	for i, l := range s.Lines {
		lines[i] = summary.Line{Text: l.Text, Role: l.Role, Name: l.Name, At: l.At, From: l.Message, Score: l.Score}
	}
	return lines
}

// summarizeJob covers the raw zone step by step until it is within its limit.
func (c *call) summarizeJob(ctx context.Context, job store.Job, by summary.Summarizer) error {
	for {
		if err := jobs.Yield(ctx); err != nil {
			return err
		}
		var z rawZone
		err := c.store.View(ctx, func(r store.Reader) (err error) {
			z, err = c.rawZone(r, job.Owner, job.SessionKey)
			return err
		})
		if err != nil {
			return err
		}
		if len(z.cover) == 0 {
			if err := c.endSummaries(ctx, job); !errors.Is(err, errStale) {
				return err
			}
			continue
		}
		made, err := by.Summarize(ctx, c.batch(z))
		if err != nil {
			return err
		}
		finds, err := c.exactData(ctx, job.Owner, z)
		if err != nil {
			return err
		}
		if err := c.applySummary(ctx, job.Owner, z, made, finds); err != nil && !errors.Is(err, errStale) {
			return err
		}
		c.count("summaries", 1)
		c.count("dropped_sentences", made.Dropped)
	}
}

// endSummaries deletes the job, unless the raw zone has grown over its limit
// since it was read: whoever made it grow has found the job waiting.
func (c *call) endSummaries(ctx context.Context, job store.Job) error {
	return c.store.Update(ctx, job.Owner, store.Maintenance, func(tx store.Tx) error {
		z, err := c.rawZone(tx, job.Owner, job.SessionKey)
		if err != nil {
			return err
		}
		if len(z.cover) > 0 {
			return errStale
		}
		return unlessGone(tx.DeleteJob(job.ID))
	})
}

// applySummary writes a summary, and takes what it covers out of the raw zone,
// unless something was forgotten or summarised since its sources were read.
func (c *call) applySummary(ctx context.Context, owner yiku.Owner, z rawZone, made summary.Result, finds []slotFind) error {
	first, last := z.cover[0].Key, z.cover[len(z.cover)-1].Key
	row := store.Summary{SessionKey: z.session.Key, From: first, To: last, Messages: z.present.Messages + len(z.cover), Epoch: z.epoch, CreatedAt: c.now,
		Path: made.Path, Model: made.Model, Dropped: made.Dropped, Degraded: made.Degraded}
	if z.present.To != 0 {
		row.From = z.present.From
	}
	for _, l := range made.Lines {
		row.Lines = append(row.Lines, store.SummaryLine{Text: l.Text, Role: l.Role, Name: l.Name, At: l.At, Message: l.From, Score: l.Score})
	}
	return c.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		state, err := tx.Owner(owner)
		if err != nil {
			return err
		}
		session, err := tx.SessionByKey(owner, z.session.Key)
		if err != nil {
			return err
		}
		present, err := tx.Summary(owner, session.Key)
		if err != nil && !errors.Is(err, yiku.ErrNotFound) {
			return err
		}
		if state.Epoch != z.epoch || present.To != z.present.To {
			return errStale
		}
		if state.ConsentWithdrawn {
			return yiku.Errorf(yiku.ErrConsentWithdrawn, "this person has withdrawn consent")
		}
		var gone store.Session
		for _, m := range z.cover {
			countRaw(&gone, m.Message, 1+extract.Estimate(m.Content.PlainText()))
		}
		session.RawTurns, session.RawTokens = max(session.RawTurns-gone.RawTurns, 0), max(session.RawTokens-gone.RawTokens, 0)
		if err := tx.PutSession(&session); err != nil {
			return err
		}
		if err := c.putFinds(tx, owner, session, finds); err != nil {
			return err
		}
		out := store.Page{Direction: yiku.PageOut, Reason: yiku.PageSummarized, From: first, To: last}
		if err := c.addPages(tx, owner, session, []*store.Page{&out}); err != nil {
			return err
		}
		put := row
		return tx.PutSummary(&put)
	})
}

// rebuildSummaries queues new summaries for the sessions that have lost theirs
// to a forget.
func (c *call) rebuildSummaries(tx store.Tx, f store.Forget) error {
	if f.Removed.Summaries == 0 || !c.settings.Layers.Summary || f.Request.Selector.All {
		return nil
	}
	query := store.SessionQuery{Limit: forgetBatch}
	for {
		rows, err := tx.Sessions(f.Owner, query)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.MessageCount <= c.settings.SummaryTurns {
				continue
			}
			if _, err := tx.Summary(f.Owner, row.Key); err == nil {
				continue
			} else if !errors.Is(err, yiku.ErrNotFound) {
				return err
			}
			if err := c.enqueueSummary(tx, f.Owner, row); err != nil {
				return err
			}
		}
		if len(rows) < query.Limit {
			return nil
		}
		query.After = rows[len(rows)-1].Place()
	}
}

// getSummary reads a session's summary (B1).
func (c *call) getSummary(ctx context.Context, req yiku.GetSummaryRequest) (yiku.SessionSummary, error) {
	out := yiku.SessionSummary{SessionID: req.SessionID, Lines: []yiku.SummaryLine{}}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return out, err
	}
	c.event.Session = req.SessionID
	err = c.store.View(ctx, func(r store.Reader) error {
		session, err := r.Session(owner, req.SessionID)
		if err != nil {
			return err
		}
		row, err := r.Summary(owner, session.Key)
		if errors.Is(err, yiku.ErrNotFound) {
			out.Uncovered = session.MessageCount
			return nil
		}
		if err != nil {
			return err
		}
		keys := []int64{row.From, row.To}
		for _, l := range row.Lines {
			if l.Message != 0 {
				keys = append(keys, l.Message)
			}
		}
		slices.Sort(keys)
		messages, err := r.MessagesByKey(owner, slices.Compact(keys))
		if err != nil {
			return err
		}
		out = summaryOf(session, row, messages)
		return nil
	})
	return out, err
}

// summaryOf is a summary as callers see it. messages are those that it names.
func summaryOf(session store.Session, row store.Summary, messages []store.Message) yiku.SessionSummary {
	at := map[int64]yiku.Message{}
	for _, m := range messages {
		at[m.Key] = m.Message
	}
	out := yiku.SessionSummary{SessionID: session.ID, Text: summary.Text(linesOf(row)), Lines: []yiku.SummaryLine{}, Path: row.Path, Model: row.Model,
		CreatedAt: row.CreatedAt, DroppedSentences: row.Dropped, Uncovered: session.MessageCount - row.Messages,
		Covers: &yiku.SummaryRange{FromID: at[row.From].ID, ToID: at[row.To].ID, From: at[row.From].CreatedAt, To: at[row.To].CreatedAt, Messages: row.Messages}}
	if row.Degraded {
		out.Degraded = []string{degradedModel}
	}
	for _, l := range row.Lines {
		out.Lines = append(out.Lines, yiku.SummaryLine{Text: l.Text, Role: l.Role, Name: l.Name, At: l.At, MessageID: at[l.Message].ID})
	}
	return out
}
