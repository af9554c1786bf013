package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// replaySnapshot makes a stored context anew from what is known today, and says
// what differs and why (G1). It leaves nothing behind.
func (c *call) replaySnapshot(ctx context.Context, req yiku.ReplaySnapshotRequest) (yiku.ReplaySnapshotResponse, error) {
	var out yiku.ReplaySnapshotResponse
	then, err := c.getSnapshot(ctx, yiku.GetSnapshotRequest(req))
	if err != nil {
		return out, err
	}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return out, err
	}
	again := then.Request
	again.Options.Explain = true // a diff tells which rule cut what
	if again.Query == "" {
		again.Query = newestUserText(then.Response.Messages)
	}
	p, err := c.plan(ctx, owner, again)
	if err != nil {
		return out, err
	}
	c.quiet = true
	made, err := c.composed(ctx, p)
	if err != nil {
		return out, err
	}
	out.Then, out.Now = then.Response, made.res
	if out.Diff, err = c.diffContexts(ctx, owner, then, made.res); err != nil {
		return out, err
	}
	if !then.Request.Options.Explain {
		out.Now.Explain = nil
		for i := range out.Now.Memories {
			out.Now.Memories[i].Explain = nil
		}
	}
	return out, nil
}

// diffContexts compares a stored context with the one that stands for it today.
func (c *call) diffContexts(ctx context.Context, owner yiku.Owner, snapshot yiku.Snapshot, now yiku.GetContextResponse) (yiku.ContextDiff, error) {
	then := snapshot.Response
	d := yiku.ContextDiff{Gone: []yiku.MemoryDiff{}, New: []yiku.MemoryDiff{}, Changed: []yiku.MemoryDiff{}}
	for _, m := range then.Memories {
		i := slices.IndexFunc(now.Memories, func(n yiku.ContextMemory) bool { return n.ID == m.ID })
		if i < 0 {
			why, err := c.whyGone(ctx, owner, m.ID, now.Explain)
			if err != nil {
				return d, err
			}
			d.Gone = append(d.Gone, yiku.MemoryDiff{ID: m.ID, Content: m.Content, Score: -m.Score, Why: why})
			continue
		}
		if diff, differs := changed(m, now.Memories[i]); differs {
			d.Changed = append(d.Changed, diff)
		}
	}
	for _, m := range now.Memories {
		if slices.ContainsFunc(then.Memories, func(t yiku.ContextMemory) bool { return t.ID == m.ID }) {
			continue
		}
		row, err := c.memoryOf(ctx, owner, m.ID)
		if err != nil {
			return d, err
		}
		why := "recalled"
		if row.CreatedAt.After(snapshot.CreatedAt) {
			why = "created"
		}
		d.New = append(d.New, yiku.MemoryDiff{ID: m.ID, Content: m.Content, Score: m.Score, Why: []string{why}})
	}
	episode := func(e yiku.ContextEpisode) string { return e.ID }
	message := func(m yiku.Message) string { return m.ID }
	d.EpisodesGone, d.EpisodesNew = apart(then.Episodes, now.Episodes, episode)
	d.MessagesGone, d.MessagesNew = apart(then.Messages, now.Messages, message)
	d.Budget = budgetDiff(then.Budget, now.Budget)
	d.Same = then.System == now.System && slices.EqualFunc(then.Messages, now.Messages, sameMessage)
	return d, nil
}

// changed compares a memory as it stood with as it stands.
func changed(then, now yiku.ContextMemory) (diff yiku.MemoryDiff, differs bool) {
	diff = yiku.MemoryDiff{ID: now.ID, Content: now.Content, Score: now.Score - then.Score}
	if then.Content != now.Content {
		diff.Was = then.Content
	}
	if then.Version != now.Version || diff.Was != "" {
		diff.Why = append(diff.Why, "updated")
	}
	if then.Group != now.Group {
		diff.Why = append(diff.Why, "group")
	}
	const least = 0.005 // what is shown with two digits
	if diff.Score >= least || diff.Score <= -least {
		diff.Why = append(diff.Why, "score")
	}
	return diff, len(diff.Why) > 0
}

// whyGone says why a memory does not stand in a context any more.
func (c *call) whyGone(ctx context.Context, owner yiku.Owner, id string, trace *yiku.Trace) ([]string, error) {
	m, err := c.memoryOf(ctx, owner, id)
	switch {
	case errors.Is(err, yiku.ErrNotFound):
		return []string{"deleted"}, nil
	case err != nil:
		return nil, err
	case m.Status != yiku.StatusActive:
		return []string{string(m.Status)}, nil
	case !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(c.now), !m.ValidTo.IsZero() && !m.ValidTo.After(c.now):
		return []string{"expired"}, nil
	}
	if trace != nil {
		for _, cut := range trace.Cut {
			if cut.ID == id {
				return []string{string(cut.Rule)}, nil
			}
		}
	}
	return []string{"not_recalled"}, nil
}

// memoryOf reads a memory of the owner, or a shared one.
func (c *call) memoryOf(ctx context.Context, owner yiku.Owner, id string) (m store.Memory, err error) {
	owners, err := withShared(owner)
	if err != nil {
		return m, err
	}
	err = c.store.View(ctx, func(r store.Reader) (err error) {
		for _, o := range owners {
			if m, err = r.Memory(o, id); !errors.Is(err, yiku.ErrNotFound) {
				return err
			}
		}
		return err
	})
	return m, err
}

// apart are the names that only one of two lists has.
func apart[T any](then, now []T, name func(T) string) (gone, added []string) {
	names := func(list []T) map[string]bool {
		out := map[string]bool{}
		for _, item := range list {
			out[name(item)] = true
		}
		return out
	}
	before, after := names(then), names(now)
	for _, item := range then {
		if !after[name(item)] {
			gone = append(gone, name(item))
		}
	}
	for _, item := range now {
		if !before[name(item)] {
			added = append(added, name(item))
		}
	}
	return gone, added
}

// budgetDiff is by how many tokens the parts of a budget differ.
func budgetDiff(then, now yiku.Budget) map[string]int {
	out := map[string]int{}
	for part, n := range map[string]int{"caller_system": now.CallerSystem - then.CallerSystem, "memory": now.Memory - then.Memory,
		"working": now.Working - then.Working, "summary": now.Summary - then.Summary, "messages": now.Messages - then.Messages, "total": now.Total - then.Total} {
		if n != 0 {
			out[part] = n
		}
	}
	return out
}
