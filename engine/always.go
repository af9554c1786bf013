package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/compose"
	"github.com/yiku-ai/yiku/internal/window"
	"github.com/yiku-ai/yiku/store"
)

// The caps of what is always loaded (D4).
const (
	maxConstraints = 20
	maxProfile     = 5
	maxProject     = 3
	maxResults     = 3
	maxPinned      = 10
	readAhead      = 50 // rows read of which the most important are taken
)

// loadAlways reads what stands in every context whatever the query (D4):
// constraints, then who the user is, then the project.
func (c *call) loadAlways(r store.Reader, p plan, d *desk) error {
	owners, err := withShared(p.owner)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	take := func(group yiku.Group, limit int, order func(a, b yiku.Memory) int, query store.MemoryQuery) (left int, err error) {
		rows, err := c.inScopeRows(r, p, owners, query)
		if err != nil {
			return 0, err
		}
		slices.SortStableFunc(rows, func(a, b ownedRow) int { return order(a.Memory.Memory, b.Memory.Memory) })
		for _, row := range rows {
			if seen[row.ID] || row.Type == yiku.TypeCorrection && !(row.Single && row.Attribute != "") {
				continue // a correction is identity where it says what an attribute is now
			}
			if limit == 0 {
				left++
				continue
			}
			limit--
			seen[row.ID] = true
			d.always = append(d.always, compose.Entry{Memory: row.Memory.Memory, Place: c.place(row.Memory), Group: group, Source: memorySource(row.Memory.Memory)})
			d.cites = append(d.cites, store.Item{Kind: store.ItemMemory, Key: row.Key})
			c.usedRows(row.owner, []store.Memory{row.Memory})
		}
		return left, nil
	}
	of := func(types ...yiku.Type) store.MemoryQuery { return store.MemoryQuery{Types: types} }
	if d.omitted, err = take(yiku.GroupConstraint, maxConstraints, newestFirst, of(yiku.TypeConstraint)); err != nil {
		return err
	}
	recent := func(q store.MemoryQuery) store.MemoryQuery { q.Limit = readAhead; return q }
	if _, err = take(yiku.GroupIdentity, maxPinned, weightiestFirst, recent(store.MemoryQuery{Pinned: true})); err != nil {
		return err
	}
	if _, err = take(yiku.GroupIdentity, maxProfile, weightiestFirst, recent(of(yiku.TypeProfile, yiku.TypeCorrection))); err != nil {
		return err
	}
	if p.project == "" {
		return nil
	}
	inProject := func(q store.MemoryQuery) store.MemoryQuery { q.ProjectID = p.project; return recent(q) }
	if _, err = take(yiku.GroupProject, maxProject, weightiestFirst, inProject(of(yiku.TypeProject))); err != nil {
		return err
	}
	if _, err = take(yiku.GroupProject, 1, newestFirst, inProject(of(yiku.TypeSummary))); err != nil {
		return err
	}
	_, err = take(yiku.GroupProject, maxResults, newestFirst, inProject(of(yiku.TypeTaskResult)))
	return err
}

func newestFirst(a, b yiku.Memory) int {
	return cmp.Or(b.ValidFrom.Compare(a.ValidFrom), cmp.Compare(b.ID, a.ID))
}

func weightiestFirst(a, b yiku.Memory) int {
	return cmp.Or(cmp.Compare(b.Importance, a.Importance), newestFirst(a, b))
}

type ownedRow struct {
	store.Memory
	owner yiku.Owner
}

// inScopeRows reads the owners' memories that a context sees and that are true.
func (c *call) inScopeRows(r store.Reader, p plan, owners []yiku.Owner, query store.MemoryQuery) ([]ownedRow, error) {
	filter := all(inScope(p.project, p.req.TaskID, p.req.AgentID), trueAt(p.req.Options.AsOf, c.now))
	query.Filter = &filter
	query.Statuses = []yiku.Status{yiku.StatusActive}
	if !p.req.Options.AsOf.IsZero() {
		query.Statuses = append(query.Statuses, yiku.StatusSuperseded)
	}
	var out []ownedRow
	for _, owner := range owners {
		rows, err := r.Memories(owner, query)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out = append(out, ownedRow{row, owner})
		}
	}
	return out, nil
}

// recallInto finds what the query calls for: memories in two groups, directly
// relevant and recently or frequently used, and past messages that the window
// does not show (D4, D5).
func (c *call) recallInto(ctx context.Context, p plan, d *desk, fit window.Result) error {
	if !p.layers.Longterm || p.maxItems == 0 || d.query == "" {
		return nil
	}
	owners, err := withShared(p.owner)
	if err != nil {
		return err
	}
	parts := []yiku.Filter{inScope(p.project, p.req.TaskID, p.req.AgentID), trueAt(p.req.Options.AsOf, c.now)}
	if p.req.Filter != nil {
		parts = append(parts, *p.req.Filter)
	}
	filter := all(parts...)
	text, degraded := c.clarify(ctx, p.owner, d.query, d.messages, p.layers)
	d.degraded = union(d.degraded, degraded)
	q := question{text: text, filter: &filter, kinds: []index.Kind{index.Memory}, limit: p.maxItems + len(d.always) + readAhead,
		least: least(p.req.Options.MinRelevance, least(p.variant.MinRelevance, c.settings.MinRelevance)), zone: p.zone, explain: p.req.Options.Explain}
	hits, degraded, err := c.seek(ctx, owners, q, p.layers)
	if err != nil {
		return err
	}
	d.degraded = union(d.degraded, degraded)
	c.pickMemories(p, d, hits)

	// Memories and past messages together are at most ten (D5).
	q.kinds, q.limit, q.recorded = []index.Kind{index.Message}, min(p.maxItems, maxRecalled-len(d.recalled)), c.now.Add(-c.settings.TranscriptRetention)
	q.skip = map[string]bool{}
	for _, m := range append(fit.Messages, fit.System...) {
		q.skip[messageKey(m)] = true
	}
	if q.limit == 0 {
		return nil
	}
	hits, degraded, err = c.seek(ctx, owners[:1], q, p.layers)
	d.degraded = union(d.degraded, degraded)
	for _, h := range hits {
		if h.message.Content.PlainText() == "" { // a bare tool call says nothing by itself
			continue
		}
		d.recalls = append(d.recalls, called{messageKey(h.message.Message), &store.Page{Direction: yiku.PageIn, Reason: yiku.PageRecalled, From: h.message.Key, To: h.message.Key}})
		d.episodes = append(d.episodes, compose.Episode{Message: h.message.Message, Score: h.Score})
		d.cites = append(d.cites, store.Item{Kind: store.ItemMessage, Key: h.message.Key})
	}
	return err
}

// place is what memories of one subject and attribute have in common (D6).
func (c *call) place(m store.Memory) string {
	if m.Subject == "" || m.Attribute == "" {
		return ""
	}
	keyed := c.keyed(m)
	return keyed.SubjectNorm + "\x00" + keyed.AttributeNorm
}

// maxRecent is the most places that recently or frequently used memories take
// from directly relevant ones.
const maxRecent = 2

// pickMemories fills the two groups. All of them are relevant enough; the
// second group lets those in that are used most, before less used ones that
// score a little better. What is always loaded only gets its scores.
func (c *call) pickMemories(p plan, d *desk, hits []hit) {
	var open []hit
	for _, h := range hits {
		if i := slices.IndexFunc(d.always, func(e compose.Entry) bool { return e.Memory.ID == h.memory.ID }); i >= 0 {
			d.always[i].Score, d.always[i].Scores, d.always[i].Notes = h.Score, h.Scores, h.Explain
			continue
		}
		open = append(open, h)
	}
	relevant := min(len(open), p.maxItems)
	if len(open) > p.maxItems && p.maxItems > maxRecent {
		rest := slices.Clone(open[p.maxItems-maxRecent:])
		slices.SortStableFunc(rest, func(a, b hit) int { return cmp.Compare(b.Scores.Use, a.Scores.Use) })
		relevant = p.maxItems - maxRecent
		for _, h := range rest[:maxRecent] {
			if h.Scores.Use == 0 {
				break
			}
			open = slices.DeleteFunc(open, func(o hit) bool { return o.memory.ID == h.memory.ID })
			open = slices.Insert(open, relevant, h)
		}
	}
	picked := open[:min(len(open), p.maxItems)]
	for _, h := range open[len(picked):] {
		c.cut(yiku.CutLimit, h)
	}
	for i, h := range picked {
		group := yiku.GroupRelevant
		if i >= relevant && h.Scores.Use > 0 {
			group = yiku.GroupRecent
		}
		if h.owner == p.owner { // shared memories are another owner's rows
			d.recalls = append(d.recalls, called{h.memory.ID, &store.Page{Direction: yiku.PageIn, Reason: yiku.PageRecalled, Memory: h.memory.Key}})
		}
		d.recalled = append(d.recalled, compose.Entry{Memory: h.memory.Memory, Place: c.place(*h.memory), Group: group, Score: h.Score, Scores: h.Scores, Source: sourceOf(h), Notes: h.Explain})
		d.cites = append(d.cites, store.Item{Kind: store.ItemMemory, Key: h.memory.Key})
	}
	c.used(picked)
}
