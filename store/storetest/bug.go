package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

// huntCases is how many cases the model has to find a bug.
const huntCases = 240

// ModelSeesBugs runs the model on stores with one bug each and fails where it
// does not find it: the control of Model (R11).
func ModelSeesBugs(t *testing.T, open func(t *testing.T) store.Store) {
	for name, bug := range bugs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bug.Store = open(t)
			if found := ModelFinds(&bug, huntCases); found == nil {
				t.Errorf("%d cases did not find it", huntCases)
			}
		})
	}
	boardtest.Report(t, boardtest.Row{ID: "R11", Part: "control", Hits: len(bugs()), Trials: len(bugs()), What: "known bugs were found"})
}

// buggy is a store with one bug: each function that is set takes the place of
// what the store does.
type buggy struct {
	store.Store
	query   func(q *store.MemoryQuery)
	changes func(list []store.Change) []store.Change
	after   func(q *store.SessionQuery)
	message func(list []store.Message, q store.MessageQuery)
	version func(list []store.Version) []store.Version
	remove  func(tx store.Tx, key int64) error
	purge   func(memories, messages []int64) ([]int64, []int64)
	usage   func(u *store.Usage)
	commits bool // also where the function fails
	count   int
}

func bugs() map[string]buggy {
	return map[string]buggy{
		"three conditions, one ignored": {query: func(q *store.MemoryQuery) {
			if conditions(*q) >= 3 && q.Levels != nil {
				q.Levels = nil
			}
		}},
		"filter ignored beside a project": {query: func(q *store.MemoryQuery) {
			if q.ProjectID != "" {
				q.Filter = nil
			}
		}},
		"only the first of several statuses": {query: func(q *store.MemoryQuery) {
			if len(q.Statuses) > 1 {
				q.Statuses = q.Statuses[:1]
			}
		}},
		"page holds its border": {query: func(q *store.MemoryQuery) {
			if q.Before > 0 {
				q.Before++
			}
		}},
		"deletes not among the changes": {changes: func(list []store.Change) []store.Change {
			return slices.DeleteFunc(list, func(c store.Change) bool { return c.Deleted })
		}},
		"sessions of one time lost between pages": {after: func(q *store.SessionQuery) { q.After.Key = min(q.After.Key, 1) }},
		"last messages backwards": {message: func(list []store.Message, q store.MessageQuery) {
			if q.Last {
				slices.Reverse(list)
			}
		}},
		"first version lost": {version: func(list []store.Version) []store.Version {
			return list[:max(0, len(list)-1)]
		}},
		"purge leaves messages":   {purge: func(memories, _ []int64) ([]int64, []int64) { return memories, nil }},
		"usage forgets nothing":   {usage: func(u *store.Usage) { u.Memories = max(u.Memories, 1) }},
		"delete lost":             {remove: func(store.Tx, int64) error { return nil }},
		"writes of an error stay": {commits: true},
	}
}

// conditions counts what narrows a query.
func conditions(q store.MemoryQuery) int {
	n := 0
	for _, on := range []bool{
		q.ProjectID != "", q.TaskID != "", q.AgentID != "", q.Kinds != nil, q.Types != nil, q.Levels != nil, q.Statuses != nil,
		q.SubjectNorm != "", q.AttributeNorm != "", q.Topic != "", q.Pinned, q.Filter != nil,
	} {
		if on {
			n++
		}
	}
	return n
}

func (b *buggy) View(ctx context.Context, fn func(store.Reader) error) error {
	return b.Store.View(ctx, func(r store.Reader) error { return fn(buggyReader{r, b}) })
}

func (b *buggy) Update(ctx context.Context, o yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	var failed error
	err := b.Store.Update(ctx, o, p, func(tx store.Tx) error {
		failed = fn(buggyTx{tx, b})
		if b.commits {
			return nil
		}
		return failed
	})
	if b.commits && failed != nil {
		return failed
	}
	return err
}

type buggyReader struct {
	store.Reader
	b *buggy
}

func (r buggyReader) Memories(o yiku.Owner, q store.MemoryQuery) ([]store.Memory, error) {
	if r.b.query != nil {
		r.b.query(&q)
	}
	return r.Reader.Memories(o, q)
}

func (r buggyReader) Usage(o yiku.Owner) (store.Usage, error) {
	u, err := r.Reader.Usage(o)
	if r.b.usage != nil {
		r.b.usage(&u)
	}
	return u, err
}

func (r buggyReader) Changes(o yiku.Owner, after int64, limit int) ([]store.Change, error) {
	list, err := r.Reader.Changes(o, after, limit)
	if r.b.changes != nil {
		list = r.b.changes(list)
	}
	return list, err
}

func (r buggyReader) Sessions(o yiku.Owner, q store.SessionQuery) ([]store.Session, error) {
	if r.b.after != nil {
		r.b.after(&q)
	}
	return r.Reader.Sessions(o, q)
}

func (r buggyReader) Messages(o yiku.Owner, q store.MessageQuery) ([]store.Message, error) {
	list, err := r.Reader.Messages(o, q)
	if r.b.message != nil {
		r.b.message(list, q)
	}
	return list, err
}

func (r buggyReader) Versions(o yiku.Owner, key int64) ([]store.Version, error) {
	list, err := r.Reader.Versions(o, key)
	if r.b.version != nil {
		list = r.b.version(list)
	}
	return list, err
}

type buggyTx struct {
	store.Tx
	b *buggy
}

func (t buggyTx) DeleteMemory(key int64) error {
	if t.b.count++; t.b.remove != nil && t.b.count%3 == 0 {
		return t.b.remove(t.Tx, key)
	}
	return t.Tx.DeleteMemory(key)
}

func (t buggyTx) Purge(memories, messages []int64, removed *yiku.Removed) error {
	if t.b.purge != nil {
		memories, messages = t.b.purge(memories, messages)
	}
	return t.Tx.Purge(memories, messages, removed)
}
