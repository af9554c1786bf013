package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/internal/summary"
	"github.com/yiku-ai/yiku/store"
)

const (
	extractPage       = 200  // messages read at a time
	extractContext    = 6    // messages before them that are shown again
	extractNeighbours = 10   // memories shown beside a window
	neighbourQuery    = 2000 // characters of a window that its neighbours are looked for by
	dryRunKeep        = 7 * 24 * time.Hour
)

// errStale says that the owner has forgotten something, or that somebody else
// has read on, since the inputs were read: read them again.
var errStale = errors.New("the inputs have changed")

// excerpt is a window of a session's messages with all that is needed to apply
// what is found in it.
type excerpt struct {
	session    store.Session
	epoch      int64
	messages   []store.Message // as extract.Window numbers them
	fresh      int             // index of the first that was not read before
	upTo       int64           // the last message of a range that is read again; 0: up to the end
	windows    []extract.Window
	neighbours []store.Memory
	more       bool // messages after it wait
	given      bool // it is of no session: the messages are not stored
}

// to is the key of the last message.
func (x excerpt) to() int64 { return x.messages[len(x.messages)-1].Key }

// stretch is what of a session is to be read: from its cursor up to the end,
// or a range that was parked.
type stretch struct {
	session     int64
	after, upTo int64 // keys of messages; 0: the cursor, the end
	dry         bool
}

// readStretch reads a stretch of a session, window after window; each is
// applied in one transaction that moves the cursor. The job, where there is
// one, is deleted with the last.
func (c *call) readStretch(ctx context.Context, owner yiku.Owner, s stretch, job *store.Job) (yiku.ExtractionReport, error) {
	report := yiku.ExtractionReport{Status: yiku.ExtractionNothing, Operations: []yiku.Operation{}, Parked: []yiku.ParkedOperation{}, DryRun: s.dry, CreatedAt: c.now}
	for {
		x, err := c.excerpt(ctx, owner, s)
		if err != nil {
			return report, err
		}
		if len(x.messages) == x.fresh {
			return report, c.endJob(ctx, owner, s, job)
		}
		found, err := c.extractWindows(ctx, owner, c.extractorFor(owner), x)
		if err == nil {
			found.Candidates, err = c.withoutEchoes(ctx, owner, x, found.Candidates)
		}
		if err != nil {
			return report, err
		}
		part, err := c.applyExcerpt(ctx, owner, x, found, s.dry, func(tx store.Tx, session store.Session, report yiku.ExtractionReport) error {
			return c.closeExcerpt(tx, owner, session, x, report, job)
		})
		if errors.Is(err, errStale) {
			continue
		}
		if err != nil {
			return report, err
		}
		merge(&report, part)
		if !x.more {
			return report, nil
		}
		s.after = x.to()
	}
}

// excerpt reads the next window of a stretch.
func (c *call) excerpt(ctx context.Context, owner yiku.Owner, s stretch) (excerpt, error) {
	var x excerpt
	err := c.store.View(ctx, func(r store.Reader) error {
		x = excerpt{upTo: s.upTo}
		state, err := r.Owner(owner)
		if err != nil {
			return err
		}
		if state.ConsentWithdrawn { // nothing is shown to a model either
			return errWithdrawn()
		}
		x.epoch = state.Epoch
		if x.session, err = r.SessionByKey(owner, s.session); err != nil {
			return err
		}
		from := s.after
		if s.upTo == 0 {
			from = max(from, x.session.Cursor)
		}
		if from > 0 {
			if x.messages, err = r.Messages(owner, store.MessageQuery{SessionKey: s.session, UpTo: from, Last: true, Limit: extractContext}); err != nil {
				return err
			}
		}
		x.fresh = len(x.messages)
		next, err := r.Messages(owner, store.MessageQuery{SessionKey: s.session, After: from, UpTo: s.upTo, Limit: extractPage + 1})
		x.messages = append(x.messages, next...)
		return err
	})
	if err != nil || len(x.messages) == x.fresh {
		return x, err
	}
	return x, c.surround(ctx, owner, &x)
}

// surround cuts an excerpt to what fits and shows the memories near it.
func (c *call) surround(ctx context.Context, owner yiku.Owner, x *excerpt) (err error) {
	c.fit(x)
	if x.neighbours, err = c.neighboursOf(ctx, owner, *x); err != nil {
		return err
	}
	for i := range x.windows {
		for _, m := range x.neighbours {
			x.windows[i].Neighbours = append(x.windows[i].Neighbours, extract.Neighbour{Content: m.Content, Subject: m.Subject, Attribute: m.Attribute, Value: m.Value, Type: m.Type})
		}
	}
	return nil
}

// fit cuts an excerpt to what fits one window; a message that is larger than a
// window by itself makes several, one a piece.
func (c *call) fit(x *excerpt) {
	texts := make([]string, len(x.messages))
	for i, m := range x.messages {
		texts[i] = m.Content.PlainText()
	}
	cut := extract.Cut{Window: c.settings.ExtractWindow, Overlap: c.settings.ExtractWindow / 8, Count: extract.Estimate}
	span := cut.Spans(texts[x.fresh:])[0]
	end := x.fresh + span.End
	begin := x.fresh
	for shown := 0; begin > 0 && shown+cut.Count(texts[begin-1]) <= cut.Overlap; begin-- {
		shown += cut.Count(texts[begin-1])
	}
	x.more = end < len(x.messages)
	x.messages, texts, x.fresh = x.messages[begin:end], texts[begin:end], x.fresh-begin
	w := extract.Window{Zone: clockOf(x.session), Project: x.session.ProjectID}
	for i, m := range x.messages {
		w.Messages = append(w.Messages, extract.Message{Role: m.Role, Name: m.Name, Content: texts[i], At: m.CreatedAt, Origin: m.Origin, Context: i < x.fresh})
	}
	last := len(texts) - 1
	if last > x.fresh || cut.Count(texts[last]) <= cut.Window {
		x.windows = []extract.Window{w}
		return
	}
	for _, piece := range cut.Pieces(texts[last]) {
		part := w
		part.Messages = slices.Clone(w.Messages)
		part.Messages[last].Content = piece
		x.windows = append(x.windows, part)
	}
}

// clockOf is the zone that a session's speakers gave their times in.
func clockOf(s store.Session) *time.Location {
	if s.Offset == 0 {
		return time.UTC
	}
	return time.FixedZone("", s.Offset)
}

// neighboursOf finds the memories that an excerpt may repeat, change or end.
func (c *call) neighboursOf(ctx context.Context, owner yiku.Owner, x excerpt) ([]store.Memory, error) {
	var said strings.Builder
	for _, m := range x.messages[x.fresh:] {
		if m.Role == yiku.RoleUser {
			said.WriteString(extract.Own(m.Content.PlainText()) + "\n")
		}
	}
	return c.nearest(ctx, owner, x, said.String(), extractNeighbours)
}

// nearest finds the memories of an excerpt's scope that a text is about.
func (c *call) nearest(ctx context.Context, owner yiku.Owner, x excerpt, query string, limit int) ([]store.Memory, error) {
	if r := []rune(query); len(r) > neighbourQuery {
		query = string(r[:neighbourQuery])
	}
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	filter := all(inScope(x.session.ProjectID, "", x.session.AgentID), trueAt(time.Time{}, c.now))
	hits, _, err := c.find(ctx, []yiku.Owner{owner}, question{text: query, filter: &filter, kinds: []index.Kind{index.Memory}, limit: limit, least: 0.05})
	var rows []store.Memory
	for _, h := range hits {
		rows = append(rows, *h.memory)
	}
	return rows, err
}

// extractorFor is the model, or the rules where there is none.
func (c *call) extractorFor(owner yiku.Owner) extract.Extractor {
	if m := c.modelFor(owner, kindExtract); m != nil {
		return extract.NewModel(m)
	}
	return c.rules
}

// summarizerFor is what summarizes for an owner: the model within the tenant's
// budget, or the choice of sentences.
func (c *call) summarizerFor(owner yiku.Owner) summary.Summarizer {
	if m := c.modelFor(owner, "summary"); m != nil {
		return summary.NewModel(m)
	}
	return summary.Extractive{}
}

// extractWindows asks an extractor about every window of an excerpt.
func (c *call) extractWindows(ctx context.Context, owner yiku.Owner, extractor extract.Extractor, x excerpt) (extract.Result, error) {
	var all extract.Result
	for i, w := range x.windows {
		if err := jobs.Yield(ctx); err != nil {
			return all, err
		}
		res, err := extractor.Extract(ctx, w)
		switch {
		case err == nil && res.Unusable():
			res, err = c.standIn(ctx, owner, w, res)
		case err == nil && res.Path == extract.PathModel:
			c.usable(owner)
		}
		if err != nil {
			return all, err
		}
		if i == 0 {
			all = res
			continue
		}
		all.Add(res)
	}
	return all, nil
}

// standIn has the rules read what a model gave no usable answer about; the
// answer stays parked, to be seen.
func (c *call) standIn(ctx context.Context, owner yiku.Owner, w extract.Window, spoiled extract.Result) (extract.Result, error) {
	c.spoiled(ctx, owner, kindExtract)
	res, err := c.rules.Extract(ctx, w)
	res.Model, res.TokensIn, res.TokensOut = spoiled.Model, spoiled.TokensIn, spoiled.TokensOut
	res.Parked, res.Degraded = append(spoiled.Parked, res.Parked...), []string{degradedModel}
	return res, err
}

// applyExcerpt writes what was found in one transaction, which end completes:
// the memories, the record, the cursor.
func (c *call) applyExcerpt(ctx context.Context, owner yiku.Owner, x excerpt, found extract.Result, dry bool,
	end func(store.Tx, store.Session, yiku.ExtractionReport) error) (yiku.ExtractionReport, error) {
	var report yiku.ExtractionReport
	err := c.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		x := x // a function of an update may run more than once
		report = c.reportOf(x, found, dry)
		state, err := tx.Owner(owner)
		if err != nil {
			return err
		}
		session, err := x.sessionIn(tx, owner)
		if err != nil {
			return err
		}
		if state.Epoch != x.epoch || !dry && session.Cursor != x.session.Cursor {
			return errStale
		}
		if state.ConsentWithdrawn {
			return errWithdrawn()
		}
		if err := x.standsIn(tx, owner); err != nil {
			return err
		}
		for _, candidate := range found.Candidates {
			if err := c.applyCandidate(tx, owner, x, candidate, &report); err != nil {
				return err
			}
		}
		silence(&report)
		settleStatus(&report)
		if err := c.promiseEmbedding(tx, owner, state.Seq); err != nil {
			return err
		}
		if dry {
			return errPreview
		}
		return end(tx, session, report)
	})
	if errors.Is(err, errPreview) {
		err = c.keepDryRun(ctx, owner, x, report)
	}
	return report, err
}

// standsIn reports as errStale that a message of the excerpt is gone. A forget
// raises the epoch before it deletes: what was read between the two has the
// epoch that is after, and quotes what is not to be quoted.
func (x excerpt) standsIn(tx store.Tx, owner yiku.Owner) error {
	if x.given { // they are stored nowhere, so no forget reaches them
		return nil
	}
	keys := make([]int64, len(x.messages))
	for i, m := range x.messages {
		keys[i] = m.Key
	}
	rows, err := tx.MessagesByKey(owner, keys)
	if err == nil && len(rows) != len(keys) {
		err = errStale
	}
	return err
}

// closeExcerpt records what was read and moves the cursor behind it. A job that
// is gone was done already: then ErrNotFound undoes what was applied.
func (c *call) closeExcerpt(tx store.Tx, owner yiku.Owner, session store.Session, x excerpt, report yiku.ExtractionReport, job *store.Job) error {
	if job != nil {
		if _, err := tx.Job(owner, job.ID); err != nil {
			return err
		}
	}
	record := store.Extraction{SessionKey: session.Key, From: x.messages[x.fresh].Key, To: x.to(), Epoch: x.epoch, Report: bare(report)}
	if job != nil {
		record.Report.Job = job.ID
	}
	if err := tx.AddExtraction(&record); err != nil {
		return err
	}
	if x.more {
		session.Cursor = max(session.Cursor, x.to())
		return tx.PutSession(&session)
	}
	return c.endStretch(tx, owner, session, stretch{after: x.to(), upTo: x.upTo}, job)
}

// endStretch ends the reading of a stretch: the cursor stands behind it, and its
// job is deleted. Where more was said since it was read, which promises no job
// of its own while one waits, the job waits for the next pause.
func (c *call) endStretch(tx store.Tx, owner yiku.Owner, session store.Session, s stretch, job *store.Job) error {
	left, err := tx.Messages(owner, store.MessageQuery{SessionKey: session.Key, After: s.after, UpTo: s.upTo, Limit: 1})
	if err != nil {
		return err
	}
	cursor, unread := max(session.Cursor, s.after), session.Unread
	if len(left) == 0 && s.upTo == 0 {
		unread = 0 // so that the next message promises a job
	}
	if cursor != session.Cursor || unread != session.Unread {
		session.Cursor, session.Unread = cursor, unread
		if err := tx.PutSession(&session); err != nil {
			return err
		}
	}
	switch {
	case job == nil:
		return nil
	case len(left) == 0:
		return unlessGone(tx.DeleteJob(job.ID))
	}
	next := *job
	next.State, next.Attempts, next.NotBefore = yiku.JobWaiting, 0, session.LastMessageAt.Add(c.settings.ExtractIdle)
	return unlessGone(tx.PutJob(&next))
}

// unlessGone is the error of a write to what may have gone meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, yiku.ErrNotFound) {
		return nil
	}
	return err
}

// bare is a report without what its memories say: that is read from them, so
// that it goes with them.
func bare(report yiku.ExtractionReport) yiku.ExtractionReport {
	report.Operations = slices.Clone(report.Operations)
	for i, o := range report.Operations {
		report.Operations[i] = yiku.Operation{Op: o.Op, MemoryID: o.MemoryID, Outcome: o.Outcome, Superseded: o.Superseded, Sources: o.Sources, Reason: o.Reason}
	}
	return report
}

// endJob ends the job of a stretch in which nothing is left to read.
func (c *call) endJob(ctx context.Context, owner yiku.Owner, s stretch, job *store.Job) error {
	if job == nil || s.dry {
		return nil
	}
	return c.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		session, err := tx.SessionByKey(owner, s.session)
		if err != nil {
			return err
		}
		if s.upTo == 0 {
			s.after = max(s.after, session.Cursor)
		}
		return c.endStretch(tx, owner, session, s, job)
	})
}

// dropJob deletes a job that may not be done, because its session is gone or
// nothing may be learnt of it: why. What is said later promises a job anew. A
// job whose session is there keeps its error, so that it is parked.
func (c *call) dropJob(ctx context.Context, owner yiku.Owner, job store.Job, why error) error {
	return c.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		if _, err := tx.Job(owner, job.ID); err != nil {
			return unlessGone(err)
		}
		session, err := tx.SessionByKey(owner, job.SessionKey)
		switch {
		case errors.Is(err, yiku.ErrNotFound):
		case err != nil:
			return err
		case errors.Is(why, yiku.ErrNotFound):
			return yiku.Errorf(yiku.ErrInvalid, "what it needs is not there")
		default:
			session.Unread = 0
			if err := tx.PutSession(&session); err != nil {
				return err
			}
		}
		return tx.DeleteJob(job.ID)
	})
}

// keepDryRun keeps the report of a dry run, to be looked through for some days.
func (c *call) keepDryRun(ctx context.Context, owner yiku.Owner, x excerpt, report yiku.ExtractionReport) error {
	return c.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		state, err := tx.Owner(owner)
		if err != nil {
			return err
		}
		if state.Epoch != x.epoch {
			return errStale
		}
		if err := x.standsIn(tx, owner); err != nil {
			return err
		}
		return tx.AddExtraction(&store.Extraction{SessionKey: x.session.Key, From: x.messages[x.fresh].Key, To: x.to(), Epoch: x.epoch,
			ExpiresAt: c.now.Add(dryRunKeep), Report: report})
	})
}

func (c *call) reportOf(x excerpt, found extract.Result, dry bool) yiku.ExtractionReport {
	report := yiku.ExtractionReport{ID: c.newID(), SessionID: x.session.ID, Operations: []yiku.Operation{}, Parked: []yiku.ParkedOperation{},
		Path: string(found.Path), Model: found.Model, DryRun: dry, Messages: len(x.messages) - x.fresh, CreatedAt: c.now, Degraded: found.Degraded}
	if found.TokensIn+found.TokensOut > 0 {
		report.Tokens = &yiku.ExtractionTokens{In: found.TokensIn, Out: found.TokensOut}
	}
	for _, p := range found.Parked {
		park(&report, p.Reason, p.Raw)
	}
	return report
}

// reasonForgotten is why nothing becomes of what the owner has forgotten.
const reasonForgotten = "it was forgotten"

// silence takes the texts of parked pieces out of a report where something of
// the same messages was forgotten: a piece that could not be read may say it.
func silence(report *yiku.ExtractionReport) {
	if !slices.ContainsFunc(report.Operations, func(o yiku.Operation) bool { return o.Reason == reasonForgotten }) {
		return
	}
	for i := range report.Parked {
		report.Parked[i].Text = ""
	}
}

// park adds a piece that could not be applied; its place in the report names it.
func park(report *yiku.ExtractionReport, reason extract.Reason, text string) {
	report.Parked = append(report.Parked, yiku.ParkedOperation{Reason: string(reason), Ref: fmt.Sprintf("%s#%d", report.ID, len(report.Parked)), Text: text})
}

func settleStatus(report *yiku.ExtractionReport) {
	changed := slices.ContainsFunc(report.Operations, func(o yiku.Operation) bool { return o.Op != string(extract.OpNone) })
	switch {
	case changed:
		report.Status = yiku.ExtractionStored
	case len(report.Parked) > 0:
		report.Status = yiku.ExtractionParked
	default:
		report.Status = yiku.ExtractionNothing
	}
}

// merge adds the report of one window to that of the whole.
func merge(all *yiku.ExtractionReport, part yiku.ExtractionReport) {
	if all.ID == "" {
		all.ID = part.ID
	}
	all.SessionID, all.Path, all.Model = part.SessionID, part.Path, part.Model
	all.Operations, all.Parked = append(all.Operations, part.Operations...), append(all.Parked, part.Parked...)
	all.Messages += part.Messages
	if part.Tokens != nil {
		if all.Tokens == nil {
			all.Tokens = &yiku.ExtractionTokens{}
		}
		all.Tokens.In, all.Tokens.Out = all.Tokens.In+part.Tokens.In, all.Tokens.Out+part.Tokens.Out
	}
	for _, d := range part.Degraded {
		if !slices.Contains(all.Degraded, d) {
			all.Degraded = append(all.Degraded, d)
		}
	}
	settleStatus(all)
}
