package engine

import (
	"context"
	"errors"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/store"
)

const defaultSearchLimit = 10

// searchMemory finds memories, and messages where asked (D1–D3).
func (c *call) searchMemory(ctx context.Context, req yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	res := yiku.SearchMemoryResponse{Items: []yiku.SearchItem{}}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return res, err
	}
	c.event.Session = req.SessionID
	if err := checkRange(req.From, req.To); err != nil {
		return res, err
	}
	owners, err := withShared(owner)
	if err != nil {
		return res, err
	}
	if req.ProjectID, err = c.projectOf(ctx, owner, req.SessionID, req.ProjectID); err != nil {
		return res, err
	}
	zone, err := zoneOf("timezone", req.Timezone)
	if err != nil {
		return res, err
	}
	filter := searchFilter(req, c.now)
	served, err := c.setup(ctx, owner, req.Layers)
	if err != nil {
		return res, err
	}
	on := served.layers
	c.trace(req.Explain, on)
	said, err := c.saidBefore(ctx, owner, req.SessionID, on)
	if err != nil {
		return res, err
	}
	text, degraded := c.clarify(ctx, owner, req.Query, said, on)
	q := question{text: text, filter: &filter, kinds: []index.Kind{index.Memory}, limit: req.Limit, least: least(req.MinRelevance, c.settings.SearchRelevance),
		zone: zone, explain: req.Explain, recorded: c.now.Add(-c.settings.TranscriptRetention)}
	if req.IncludeMessages {
		q.kinds = append(q.kinds, index.Message)
	}
	if q.limit == 0 {
		q.limit = defaultSearchLimit
	}
	hits, lacking, err := c.seek(ctx, owners, q, on)
	if err != nil {
		return res, err
	}
	res.Degraded, res.Explain = union(degraded, lacking), c.told
	for _, h := range hits {
		res.Items = append(res.Items, searchItem(h))
	}
	c.used(hits)
	c.count("items", len(res.Items))
	return res, nil
}

// projectOf is the project of a request: the one it names, or that of the
// running session, which must not be another.
func (c *call) projectOf(ctx context.Context, owner yiku.Owner, sessionID, project string) (string, error) {
	if sessionID == "" {
		return project, nil
	}
	var session store.Session
	err := c.store.View(ctx, func(r store.Reader) (err error) {
		session, err = r.Session(owner, sessionID)
		return err
	})
	switch {
	case errors.Is(err, yiku.ErrNotFound):
		return project, nil // it has not begun
	case err != nil:
		return "", err
	case project != "" && project != session.ProjectID:
		return "", yiku.Invalid("project_id", "the session belongs to another project")
	}
	return session.ProjectID, nil
}

func searchFilter(req yiku.SearchMemoryRequest, now time.Time) yiku.Filter {
	parts := []yiku.Filter{inScope(req.ProjectID, req.TaskID, req.AgentID), trueAt(req.AsOf, now)}
	parts = append(parts, oneOf("kind", req.Kinds)...)
	parts = append(parts, oneOf("type", req.Types)...)
	parts = append(parts, between(req.From, req.To)...)
	if req.Filter != nil {
		parts = append(parts, *req.Filter)
	}
	return all(parts...)
}

func checkRange(from, to time.Time) error {
	if !from.IsZero() && !to.IsZero() && !to.After(from) {
		return yiku.Invalid("to", "must be after from")
	}
	return nil
}

// withShared returns the owners whose memories a user reads (C16).
func withShared(user yiku.Owner) ([]yiku.Owner, error) {
	shared, err := yiku.SharedOwner(user.Tenant())
	return []yiku.Owner{user, shared}, err
}

func searchItem(h hit) yiku.SearchItem {
	item := yiku.SearchItem{Score: h.Score, Scores: h.Scores, Explain: h.Explain, Source: sourceOf(h)}
	if h.memory != nil {
		item.Memory = &h.memory.Memory
	} else {
		item.Message = &h.message.Message
	}
	return item
}

// sourceOf says for a person where an item comes from.
func sourceOf(h hit) string {
	if h.message != nil {
		return "session " + h.message.SessionID + ", " + h.message.CreatedAt.Format(time.DateOnly)
	}
	return memorySource(h.memory.Memory)
}

func memorySource(m yiku.Memory) string {
	s := string(m.Origin)
	if m.Level == yiku.LevelShared {
		s = "shared, " + s
	}
	if m.SessionID != "" {
		s += ", session " + m.SessionID
	}
	return s + ", " + m.CreatedAt.Format(time.DateOnly)
}

// used counts the accesses of the memories among hits, and names them in the event.
func (c *call) used(hits []hit) {
	if c.quiet {
		return
	}
	keys := map[yiku.Owner][]int64{}
	for _, h := range hits {
		if h.memory != nil {
			keys[h.owner] = append(keys[h.owner], h.memory.Key)
			c.noteMemory(h.memory.ID)
		}
	}
	for owner, k := range keys {
		c.access.add(owner, k, c.now)
	}
}

// usedRows is used for rows that were loaded without a search.
func (c *call) usedRows(owner yiku.Owner, rows []store.Memory) {
	if c.quiet {
		return
	}
	keys := make([]int64, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
		c.noteMemory(row.ID)
	}
	c.access.add(owner, keys, c.now)
}

const maxEventIDs = 50

func (c *call) noteMemory(id string) {
	if len(c.event.MemoryIDs) < maxEventIDs {
		c.event.MemoryIDs = append(c.event.MemoryIDs, id)
	}
}
