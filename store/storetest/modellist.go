package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
	"pgregory.net/rapid"
)

func (m *machine) lists() map[string]func(*rapid.T, *ownerModel) {
	return map[string]func(*rapid.T, *ownerModel){
		"memories": m.listMemories, "more memories": m.listMemories, "sessions": m.listSessions, "messages": m.listMessages, "changes": m.listChanges,
	}
}

// list counts a case and runs it in a view.
func (m *machine) list(conditions int, found bool, read func(r store.Reader) error) {
	m.stats.Lists++
	if conditions >= 3 && found {
		m.stats.Deep++
	}
	if err := m.s.View(context.Background(), read); err != nil {
		m.fail("list: %w", err)
	}
}

// condition is one way to narrow a list of memories, with what it says in
// plain Go.
type condition struct {
	narrow func(q *store.MemoryQuery)
	holds  func(m store.Memory) bool
}

// conditionsLike are the conditions that a memory itself satisfies, so that
// several at once still find something.
func conditionsLike(rt *rapid.T, x store.Memory) []condition {
	list := []condition{
		{func(q *store.MemoryQuery) { q.Kinds = []yiku.Kind{x.Kind, yiku.KindProcedural} },
			func(m store.Memory) bool { return m.Kind == x.Kind || m.Kind == yiku.KindProcedural }},
		{func(q *store.MemoryQuery) { q.Types = []yiku.Type{x.Type} }, func(m store.Memory) bool { return m.Type == x.Type }},
		{func(q *store.MemoryQuery) { q.Levels = []yiku.Level{x.Level} }, func(m store.Memory) bool { return m.Level == x.Level }},
		{func(q *store.MemoryQuery) { q.Statuses = []yiku.Status{yiku.StatusStale, x.Status} },
			func(m store.Memory) bool { return m.Status == x.Status || m.Status == yiku.StatusStale }},
	}
	add := func(there bool, narrow func(q *store.MemoryQuery), holds func(m store.Memory) bool) {
		if there {
			list = append(list, condition{narrow, holds})
		}
	}
	add(x.ProjectID != "", func(q *store.MemoryQuery) { q.ProjectID = x.ProjectID }, func(m store.Memory) bool { return m.ProjectID == x.ProjectID })
	add(x.TaskID != "", func(q *store.MemoryQuery) { q.TaskID = x.TaskID }, func(m store.Memory) bool { return m.TaskID == x.TaskID })
	add(x.AgentID != "", func(q *store.MemoryQuery) { q.AgentID = x.AgentID }, func(m store.Memory) bool { return m.AgentID == x.AgentID })
	add(x.SubjectNorm != "", func(q *store.MemoryQuery) { q.SubjectNorm = x.SubjectNorm }, func(m store.Memory) bool { return m.SubjectNorm == x.SubjectNorm })
	add(x.AttributeNorm != "", func(q *store.MemoryQuery) { q.AttributeNorm = x.AttributeNorm }, func(m store.Memory) bool { return m.AttributeNorm == x.AttributeNorm })
	add(len(x.Topics) > 0, func(q *store.MemoryQuery) { q.Topic = x.Topics[0] }, func(m store.Memory) bool { return slices.Contains(m.Topics, x.Topics[0]) })
	add(x.Pinned, func(q *store.MemoryQuery) { q.Pinned = true }, func(m store.Memory) bool { return m.Pinned })
	colour := x.Metadata["颜色"]
	leaf := pick(rt, "leaf", []condition{
		{func(q *store.MemoryQuery) {
			q.Filter = &yiku.Filter{Field: "importance", Op: yiku.OpGte, Value: x.Importance}
		}, func(m store.Memory) bool { return m.Importance >= x.Importance }},
		{func(q *store.MemoryQuery) {
			q.Filter = &yiku.Filter{Field: "importance", Op: yiku.OpEq, Value: x.Importance}
		}, func(m store.Memory) bool { return m.Importance == x.Importance }},
		{func(q *store.MemoryQuery) {
			q.Filter = &yiku.Filter{Field: "metadata.颜色", Op: yiku.OpExists, Value: colour != nil}
		}, func(m store.Memory) bool { return (m.Metadata["颜色"] != nil) == (colour != nil) }},
		{func(q *store.MemoryQuery) {
			q.Filter = &yiku.Filter{Or: []yiku.Filter{{Field: "updated_at", Op: yiku.OpEq, Value: x.UpdatedAt}, {Not: &yiku.Filter{Field: "pinned", Op: yiku.OpEq, Value: !x.Pinned}}}}
		}, func(m store.Memory) bool { return m.UpdatedAt.Equal(x.UpdatedAt) || m.Pinned == x.Pinned }},
	})
	return append(list, leaf)
}

func (m *machine) listMemories(rt *rapid.T, o *ownerModel) {
	all := rowsOf(o.memories)
	slices.Reverse(all)
	if len(all) == 0 {
		return
	}
	possible := conditionsLike(rt, pick(rt, "like", all))
	if chance(rt, "mixed", 6) { // conditions of two memories may exclude each other
		possible = append(possible, conditionsLike(rt, pick(rt, "and like", all))...)
	}
	chosen := rapid.SliceOfNDistinct(rapid.IntRange(0, len(possible)-1), 0, min(6, len(possible)), rapid.ID).Draw(rt, "conditions")
	q := store.MemoryQuery{}
	var want []store.Memory
	for _, i := range chosen {
		possible[i].narrow(&q)
	}
	// A field that two conditions narrow says what the last one says.
	last := func(x store.Memory) bool {
		for i, c := range chosen {
			if !possible[c].holds(x) && !overwritten(possible, chosen[i+1:], c) {
				return false
			}
		}
		return true
	}
	for _, x := range all {
		if last(x) {
			want = append(want, x)
		}
	}
	count := len(want)
	if chance(rt, "before", 3) {
		q.Before = pick(rt, "before key", all).Key
		want = slices.DeleteFunc(want, func(x store.Memory) bool { return x.Key >= q.Before })
	}
	if q.Limit = rapid.IntRange(0, 5).Draw(rt, "limit"); q.Limit > 0 && len(want) > q.Limit {
		want = want[:q.Limit]
	}
	m.list(len(chosen), len(want) > 0, func(r store.Reader) error {
		got, err := r.Memories(o.owner, q)
		m.same("memories", want, got)
		n, err2 := r.CountMemories(o.owner, q)
		m.same("count of memories", count, n)
		return errors.Join(err, err2)
	})
}

// overwritten reports whether one of the later conditions narrows the same
// field as condition c.
func overwritten(possible []condition, later []int, c int) bool {
	for _, l := range later {
		var q, with store.MemoryQuery
		possible[l].narrow(&q)
		possible[c].narrow(&with)
		possible[l].narrow(&with)
		if diff(q, with) == "" {
			return true
		}
	}
	return false
}

func (m *machine) listSessions(rt *rapid.T, o *ownerModel) {
	q := store.SessionQuery{Limit: rapid.IntRange(0, 3).Draw(rt, "limit")}
	conditions := 0
	if chance(rt, "by project", 2) {
		q.ProjectID = pick(rt, "project", projects())
	}
	if chance(rt, "by agent", 2) {
		q.AgentID = pick(rt, "agent", agents())
	}
	var want []store.Session
	for _, s := range rowsOf(o.sessions) {
		if (q.ProjectID == "" || s.ProjectID == q.ProjectID) && (q.AgentID == "" || s.AgentID == q.AgentID) {
			want = append(want, s)
		}
	}
	order := func(a, b store.SessionPlace) int {
		return cmp.Or(b.LastActivity.Compare(a.LastActivity), cmp.Compare(b.Key, a.Key))
	}
	slices.SortFunc(want, func(a, b store.Session) int { return order(a.Place(), b.Place()) })
	count := len(want)
	if count > 0 && chance(rt, "after", 2) {
		q.After = pick(rt, "after", want).Place()
		want = slices.DeleteFunc(want, func(s store.Session) bool { return order(s.Place(), q.After) <= 0 })
	}
	for _, on := range []bool{q.ProjectID != "", q.AgentID != "", q.After.Key != 0} {
		if on {
			conditions++
		}
	}
	if q.Limit > 0 && len(want) > q.Limit {
		want = want[:q.Limit]
	}
	m.list(conditions, len(want) > 0, func(r store.Reader) error {
		got, err := r.Sessions(o.owner, q)
		m.same("sessions", want, got)
		n, err2 := r.CountSessions(o.owner, q)
		m.same("count of sessions", count, n)
		return errors.Join(err, err2)
	})
}

func (m *machine) listMessages(rt *rapid.T, o *ownerModel) {
	session, _ := anyKey(rt, o.sessions, o)
	q := store.MessageQuery{SessionKey: session, Kept: chance(rt, "kept", 3), Last: chance(rt, "last", 2), Limit: rapid.IntRange(0, 4).Draw(rt, "limit")}
	want := o.messagesOf(session)
	if len(want) > 0 && chance(rt, "after", 2) {
		q.After = pick(rt, "after", want).Key
	}
	if len(want) > 0 && chance(rt, "up to", 2) {
		q.UpTo = pick(rt, "up to", want).Key
	}
	want = slices.DeleteFunc(want, func(x store.Message) bool {
		return x.Key <= q.After || (q.UpTo != 0 && x.Key > q.UpTo) || (q.Kept && !x.Pinned && x.Role != yiku.RoleSystem)
	})
	if q.Limit > 0 && len(want) > q.Limit {
		if q.Last {
			want = want[len(want)-q.Limit:]
		} else {
			want = want[:q.Limit]
		}
	}
	conditions := 0
	for _, on := range []bool{q.Kept, q.After != 0, q.UpTo != 0, q.Last && q.Limit > 0} {
		if on {
			conditions++
		}
	}
	m.list(conditions, len(want) > 0, func(r store.Reader) error {
		got, err := r.Messages(o.owner, q)
		m.same("messages", want, got)
		return err
	})
}

func (m *machine) listChanges(rt *rapid.T, o *ownerModel) {
	after, most := rapid.Int64Range(0, o.state.Seq).Draw(rt, "after"), rapid.IntRange(0, 5).Draw(rt, "limit")
	want := o.changesAfter(after)
	if most > 0 && len(want) > most {
		want = want[:most]
	}
	m.list(0, len(want) > 0, func(r store.Reader) error {
		got, err := r.Changes(o.owner, after, most)
		m.same("changes", want, got)
		return err
	})
}
