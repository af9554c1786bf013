package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
	"pgregory.net/rapid"
)

// modelRuns is how many runs of actions one case has; each has -rapid.steps
// actions on average (30 where the flag is not given).
const modelRuns = 4

// wantDeep is the least share of list cases that must have three or more
// conditions at once and find something (R11).
const wantDeep = 0.05

// Stats counts what a model test has compared.
type Stats struct {
	Writes  int
	Refused int // writes that had to fail, and did
	Undone  int // writes that stood before an error of the function
	Lists   int // list cases
	Deep    int // of them with three or more conditions and a result that is not empty
}

// Model compares a store with plain Go maps: random writes, their results, and
// random lists (R11). All cases run in one store, each with tenants of its own.
// It fails where the lists were too shallow to prove anything.
func Model(t *testing.T, open func(t *testing.T) store.Store) {
	s := open(t)
	stats := &Stats{}
	cases := 0
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		if err := runModel(rt, s, fmt.Sprint("tenant", cases), stats); err != nil {
			rt.Fatal(err)
		}
	})
	t.Logf("%+v", *stats)
	if stats.Lists == 0 || float64(stats.Deep) < wantDeep*float64(stats.Lists) {
		t.Errorf("%d of %d lists had three conditions and a result, want %v of them", stats.Deep, stats.Lists, wantDeep)
	}
	if stats.Refused == 0 || stats.Undone == 0 {
		t.Error("no write was refused, or none undone")
	}
	if found, err := s.Check(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("Check = %v, %v", found, err)
	}
	boardtest.Report(t, boardtest.Row{
		ID: "R11", Trials: stats.Writes + stats.Lists, What: "writes and lists differed from plain maps",
		Seeds: "drawn by rapid", Note: fmt.Sprintf("%d cases, %d lists, %d of them deep", cases, stats.Lists, stats.Deep),
	})
}

// ModelFinds reports the first difference that at most the given number of
// cases find, nil for none. It proves that the model can see a bug: run it on
// a store with one.
func ModelFinds(s store.Store, cases int) error {
	for i := range cases {
		found := rapid.Custom(func(rt *rapid.T) error {
			return runModel(rt, s, fmt.Sprint("hunt", i), &Stats{})
		}).Example(i)
		if found != nil {
			return found
		}
	}
	return nil
}

// machine drives a store and its model. After the first difference it does
// nothing more.
type machine struct {
	s      store.Store
	stats  *Stats
	owners []*ownerModel
	err    error
	ids    int // makes new ids
}

func runModel(rt *rapid.T, s store.Store, tenant string, stats *Stats) error {
	m := &machine{s: s, stats: stats}
	for _, name := range []string{tenant, tenant + "-other"} { // two tenants with a user of the same id
		owner, err := yiku.NewOwner(name, "user")
		if err != nil {
			return err
		}
		m.owners = append(m.owners, newOwnerModel(owner))
	}
	actions := map[string]func(*rapid.T){}
	for name, action := range m.writes() {
		actions["write "+name] = func(rt *rapid.T) { m.guarded(rt, name, action) }
	}
	for name, action := range m.lists() {
		for i := range 2 { // twice as likely
			actions[fmt.Sprint("list ", name, i)] = func(rt *rapid.T) { m.guarded(rt, name, action) }
		}
	}
	for range modelRuns {
		rt.Repeat(actions)
		for _, o := range m.owners {
			m.compare(o)
		}
	}
	return m.err
}

// guarded runs an action on one of the owners unless there is a difference already.
func (m *machine) guarded(rt *rapid.T, name string, action func(*rapid.T, *ownerModel)) {
	if m.err == nil {
		o := m.owners[0]
		if rapid.IntRange(0, 3).Draw(rt, "owner") == 0 {
			o = m.owners[1]
		}
		action(rt, o)
		if m.err != nil {
			m.err = fmt.Errorf("%s: %w", name, m.err)
		}
	}
}

// write runs one write in an update and compares how it ended. Where it stood,
// apply makes it stand in the model.
func (m *machine) write(rt *rapid.T, o *ownerModel, want error, do func(tx store.Tx) error, apply func()) {
	m.stats.Writes++
	undo := want == nil && rapid.IntRange(0, 9).Draw(rt, "undo") == 0
	priority := rapid.SampledFrom([]store.Priority{store.Request, store.Maintenance}).Draw(rt, "priority")
	err := m.s.Update(context.Background(), o.owner, priority, func(tx store.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		if undo {
			return errOwn
		}
		return nil
	})
	switch {
	case undo:
		want = errOwn
		m.stats.Undone++
	case want != nil:
		m.stats.Refused++
	}
	if !errors.Is(err, want) {
		m.fail("the write ended with %v, want %v", err, want)
		return
	}
	if err == nil {
		o.state.Known = true
		apply()
	}
}

func (m *machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// same compares a result with the model's.
func (m *machine) same(what string, want, got any) {
	if d := diff(want, got); d != "" {
		m.fail("%s (-model +store):\n%s", what, d)
	}
}

// compare reads everything of an owner and compares it.
func (m *machine) compare(o *ownerModel) {
	if m.err != nil {
		return
	}
	err := m.s.View(context.Background(), func(r store.Reader) error {
		state, err := r.Owner(o.owner)
		m.same("owner state", o.state, state)
		usage, err0 := r.Usage(o.owner)
		m.same("usage", [2]int{len(o.messages), len(o.memories)}, [2]int{usage.Messages, usage.Memories})
		changes, err2 := r.Changes(o.owner, 0, 0)
		m.same("changes", o.changesAfter(0), changes)
		memories, err3 := r.MemoriesByKey(o.owner, keysOf(o.memories))
		m.same("memories", rowsOf(o.memories), memories)
		return errors.Join(err0, err, err2, err3, m.compareRows(r, o), m.compareRecords(r, o))
	})
	if err != nil {
		m.fail("compare: %w", err)
	}
}

func (m *machine) compareRows(r store.Reader, o *ownerModel) error {
	for _, key := range keysOf(o.memories) {
		versions, err1 := r.Versions(o.owner, key)
		want := slices.Clone(o.versions[key])
		slices.Reverse(want)
		m.same("versions", want, versions)
		item := store.Item{Kind: store.ItemMemory, Key: key}
		sources, err2 := r.Sources(o.owner, item)
		m.same("sources", o.neighbours(item, true), sources)
		derived, err3 := r.Derived(o.owner, item)
		m.same("derived", o.neighbours(item, false), derived)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
	}
	for _, key := range keysOf(o.sessions) {
		s := o.sessions[key]
		byKey, err1 := r.SessionByKey(o.owner, key)
		m.same("session", s, byKey)
		messages, err2 := r.Messages(o.owner, store.MessageQuery{SessionKey: key})
		m.same("messages", o.messagesOf(key), messages)
		n, err3 := r.CountMessages(o.owner, key)
		m.same("count of messages", s.MessageCount, n)
		tasks, err4 := r.SessionTasks(o.owner, key)
		m.same("tasks of a session", o.tasksOf(s), tasks)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) compareRecords(r store.Reader, o *ownerModel) error {
	for _, project := range projects() {
		for _, task := range taskIDs() {
			t, err := r.Task(o.owner, project, task)
			want, ok := o.tasks[[2]string{project, task}]
			m.oneOf("task", ok, want, t, err)
			for _, session := range sessionIDs() {
				w, err := r.Working(o.owner, project, task, session)
				row := o.working[workingPlace(project, task, session)]
				if row == nil {
					row = &workingRow{}
				}
				m.oneOf("working memory", row.present, row.Working, w, err)
			}
		}
		w, err := r.OpenWorking(o.owner, project, "")
		want, ok := o.openWorking(project)
		m.oneOf("open working memory", ok, want, w, err)
	}
	for i := range recordCount {
		s, err := r.Snapshot(o.owner, number(i), At(-1))
		want, ok := o.snapshots[number(i)]
		m.oneOf("snapshot", ok, want, s, err)
		rec, err := r.Idempotency(o.owner, "save", number(i))
		record, ok := o.records[number(i)]
		m.oneOf("idempotency record", ok, record.Idempotency, rec, err)
	}
	return nil
}

// oneOf compares a single row, which may be absent.
func (m *machine) oneOf(what string, ok bool, want, got any, err error) {
	switch {
	case ok && err == nil:
		m.same(what, want, got)
	case ok || !errors.Is(err, yiku.ErrNotFound):
		m.fail("%s: the model has it: %v, the store answers %v", what, ok, err)
	}
}
