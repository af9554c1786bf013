package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// Plan says which call of a faulty store fails. Calls are counted from 1 over
// View, Update and every method of their transactions, in the order in which
// they begin.
type Plan struct {
	Call  int   // the call that fails; 0: none
	After bool  // it does its work first: an Update that fails like this is durable
	Err   error // what it returns; yiku.ErrUnavailable where nil
}

// FaultyStore is a store one of whose calls fails (R4).
type FaultyStore struct {
	store.Store
	mu    sync.Mutex
	plan  Plan // guarded by mu
	calls int  // guarded by mu
}

// Faulty returns the store with a plan of what fails.
func Faulty(s store.Store, plan Plan) *FaultyStore { return &FaultyStore{Store: s, plan: plan} }

// Calls returns how many calls there have been since the last plan.
func (f *FaultyStore) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Set gives the store another plan and begins to count anew.
func (f *FaultyStore) Set(plan Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan, f.calls = plan, 0
}

// next counts a call and returns the errors that it fails with before and
// after its work.
func (f *FaultyStore) next() (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls++; f.calls != f.plan.Call {
		return nil, nil
	}
	err := f.plan.Err
	if err == nil {
		err = yiku.Errorf(yiku.ErrUnavailable, "a fault on purpose")
	}
	if f.plan.After {
		return nil, err
	}
	return err, nil
}

func (f *FaultyStore) guard(call func() error) error {
	_, err := guarded(f, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

func guarded[T any](f *FaultyStore, call func() (T, error)) (result T, err error) {
	before, after := f.next()
	if before != nil {
		return result, before
	}
	got, err := call()
	if err == nil && after != nil {
		return result, after
	}
	return got, err
}

// View runs fn in a read transaction whose calls may fail too.
func (f *FaultyStore) View(ctx context.Context, fn func(store.Reader) error) error {
	return f.guard(func() error {
		return f.Store.View(ctx, func(r store.Reader) error { return fn(faultyReader{r, f}) })
	})
}

// Update runs fn in a write transaction whose calls may fail too.
func (f *FaultyStore) Update(ctx context.Context, owner yiku.Owner, priority store.Priority, fn func(store.Tx) error) error {
	return f.guard(func() error {
		return f.Store.Update(ctx, owner, priority, func(tx store.Tx) error { return fn(faultyTx{faultyReader{tx, f}, tx}) })
	})
}

type faultyReader struct {
	r store.Reader
	f *FaultyStore
}

type faultyTx struct {
	faultyReader
	tx store.Tx
}

func (r faultyReader) Owner(owner yiku.Owner) (store.OwnerState, error) {
	return guarded(r.f, func() (store.OwnerState, error) { return r.r.Owner(owner) })
}

func (r faultyReader) Usage(owner yiku.Owner) (store.Usage, error) {
	return guarded(r.f, func() (store.Usage, error) { return r.r.Usage(owner) })
}

func (r faultyReader) Session(owner yiku.Owner, id string) (store.Session, error) {
	return guarded(r.f, func() (store.Session, error) { return r.r.Session(owner, id) })
}

func (r faultyReader) SessionByKey(owner yiku.Owner, key int64) (store.Session, error) {
	return guarded(r.f, func() (store.Session, error) { return r.r.SessionByKey(owner, key) })
}

func (r faultyReader) Sessions(owner yiku.Owner, query store.SessionQuery) ([]store.Session, error) {
	return guarded(r.f, func() ([]store.Session, error) { return r.r.Sessions(owner, query) })
}

func (r faultyReader) CountSessions(owner yiku.Owner, query store.SessionQuery) (int, error) {
	return guarded(r.f, func() (int, error) { return r.r.CountSessions(owner, query) })
}

func (r faultyReader) Messages(owner yiku.Owner, query store.MessageQuery) ([]store.Message, error) {
	return guarded(r.f, func() ([]store.Message, error) { return r.r.Messages(owner, query) })
}

func (r faultyReader) CountMessages(owner yiku.Owner, sessionKey int64) (int, error) {
	return guarded(r.f, func() (int, error) { return r.r.CountMessages(owner, sessionKey) })
}

func (r faultyReader) MessageByID(owner yiku.Owner, sessionKey int64, id string) (store.Message, error) {
	return guarded(r.f, func() (store.Message, error) { return r.r.MessageByID(owner, sessionKey, id) })
}

func (r faultyReader) MessagesByKey(owner yiku.Owner, keys []int64) ([]store.Message, error) {
	return guarded(r.f, func() ([]store.Message, error) { return r.r.MessagesByKey(owner, keys) })
}

func (r faultyReader) Task(owner yiku.Owner, project, id string) (store.Task, error) {
	return guarded(r.f, func() (store.Task, error) { return r.r.Task(owner, project, id) })
}

func (r faultyReader) SessionTasks(owner yiku.Owner, sessionKey int64) ([]store.Task, error) {
	return guarded(r.f, func() ([]store.Task, error) { return r.r.SessionTasks(owner, sessionKey) })
}

func (r faultyReader) Working(owner yiku.Owner, project, task, sessionID string) (store.Working, error) {
	return guarded(r.f, func() (store.Working, error) { return r.r.Working(owner, project, task, sessionID) })
}

func (r faultyReader) OpenWorking(owner yiku.Owner, project, agent string) (store.Working, error) {
	return guarded(r.f, func() (store.Working, error) { return r.r.OpenWorking(owner, project, agent) })
}

func (r faultyReader) Memory(owner yiku.Owner, id string) (store.Memory, error) {
	return guarded(r.f, func() (store.Memory, error) { return r.r.Memory(owner, id) })
}

func (r faultyReader) MemoriesByKey(owner yiku.Owner, keys []int64) ([]store.Memory, error) {
	return guarded(r.f, func() ([]store.Memory, error) { return r.r.MemoriesByKey(owner, keys) })
}

func (r faultyReader) Memories(owner yiku.Owner, query store.MemoryQuery) ([]store.Memory, error) {
	return guarded(r.f, func() ([]store.Memory, error) { return r.r.Memories(owner, query) })
}

func (r faultyReader) CountMemories(owner yiku.Owner, query store.MemoryQuery) (int, error) {
	return guarded(r.f, func() (int, error) { return r.r.CountMemories(owner, query) })
}

func (r faultyReader) Duplicate(owner yiku.Owner, m store.Memory) (store.Memory, error) {
	return guarded(r.f, func() (store.Memory, error) { return r.r.Duplicate(owner, m) })
}

func (r faultyReader) Versions(owner yiku.Owner, memoryKey int64) ([]store.Version, error) {
	return guarded(r.f, func() ([]store.Version, error) { return r.r.Versions(owner, memoryKey) })
}

func (r faultyReader) Vectors(owner yiku.Owner, model string, keys []int64) (map[int64][]float32, error) {
	return guarded(r.f, func() (map[int64][]float32, error) { return r.r.Vectors(owner, model, keys) })
}

func (r faultyReader) Sources(owner yiku.Owner, item store.Item) ([]store.Item, error) {
	return guarded(r.f, func() ([]store.Item, error) { return r.r.Sources(owner, item) })
}

func (r faultyReader) Derived(owner yiku.Owner, item store.Item) ([]store.Item, error) {
	return guarded(r.f, func() ([]store.Item, error) { return r.r.Derived(owner, item) })
}

func (r faultyReader) Changes(owner yiku.Owner, after int64, limit int) ([]store.Change, error) {
	return guarded(r.f, func() ([]store.Change, error) { return r.r.Changes(owner, after, limit) })
}

func (r faultyReader) Snapshot(owner yiku.Owner, id string, now time.Time) (store.Snapshot, error) {
	return guarded(r.f, func() (store.Snapshot, error) { return r.r.Snapshot(owner, id, now) })
}

func (r faultyReader) Idempotency(owner yiku.Owner, operation, key string) (store.Idempotency, error) {
	return guarded(r.f, func() (store.Idempotency, error) { return r.r.Idempotency(owner, operation, key) })
}

func (x faultyTx) PutSession(s *store.Session) error {
	return x.f.guard(func() error { return x.tx.PutSession(s) })
}

func (x faultyTx) DeleteSession(key int64) error {
	return x.f.guard(func() error { return x.tx.DeleteSession(key) })
}

func (x faultyTx) AddMessages(sessionKey int64, messages []*store.Message) error {
	return x.f.guard(func() error { return x.tx.AddMessages(sessionKey, messages) })
}

func (x faultyTx) DeleteMessages(keys []int64) error {
	return x.f.guard(func() error { return x.tx.DeleteMessages(keys) })
}

func (x faultyTx) PutTask(t *store.Task) error {
	return x.f.guard(func() error { return x.tx.PutTask(t) })
}

func (x faultyTx) PutWorking(w *store.Working) error {
	return x.f.guard(func() error { return x.tx.PutWorking(w) })
}

func (x faultyTx) DropShowing(place store.WorkingPlace) error {
	return x.f.guard(func() error { return x.tx.DropShowing(place) })
}

func (x faultyTx) DeleteWorking(project, task, sessionID string) error {
	return x.f.guard(func() error { return x.tx.DeleteWorking(project, task, sessionID) })
}

func (x faultyTx) AddMemory(m *store.Memory) error {
	return x.f.guard(func() error { return x.tx.AddMemory(m) })
}

func (x faultyTx) UpdateMemory(m *store.Memory, reason string) error {
	return x.f.guard(func() error { return x.tx.UpdateMemory(m, reason) })
}

func (x faultyTx) RecordOutcome(key int64, success bool) error {
	return x.f.guard(func() error { return x.tx.RecordOutcome(key, success) })
}

func (x faultyTx) DeleteMemory(key int64) error {
	return x.f.guard(func() error { return x.tx.DeleteMemory(key) })
}

func (x faultyTx) AddLineage(item store.Item, sources []store.Item) error {
	return x.f.guard(func() error { return x.tx.AddLineage(item, sources) })
}

func (x faultyTx) PutVectors(model string, vectors []store.Vector) error {
	return x.f.guard(func() error { return x.tx.PutVectors(model, vectors) })
}

func (x faultyTx) SetEmbedded(model string) error {
	return x.f.guard(func() error { return x.tx.SetEmbedded(model) })
}

func (x faultyTx) DropVectors(keep []string, limit int) (int, error) {
	return guarded(x.f, func() (int, error) { return x.tx.DropVectors(keep, limit) })
}

func (x faultyTx) Touch(keys []int64, at time.Time) error {
	return x.f.guard(func() error { return x.tx.Touch(keys, at) })
}

func (x faultyTx) KeepSnapshots(most, bytes int) error {
	return x.f.guard(func() error { return x.tx.KeepSnapshots(most, bytes) })
}

func (x faultyTx) PutSnapshot(s *store.Snapshot) error {
	return x.f.guard(func() error { return x.tx.PutSnapshot(s) })
}

func (x faultyTx) DropExpired(now time.Time, limit int) (int, error) {
	return guarded(x.f, func() (int, error) { return x.tx.DropExpired(now, limit) })
}

func (x faultyTx) PutIdempotency(r *store.Idempotency, makes []store.Item) error {
	return x.f.guard(func() error { return x.tx.PutIdempotency(r, makes) })
}

func (x faultyTx) RaiseEpoch() (int64, error) {
	return guarded(x.f, func() (int64, error) { return x.tx.RaiseEpoch() })
}

func (x faultyTx) Advance(state store.OwnerState) error {
	return x.f.guard(func() error { return x.tx.Advance(state) })
}

func (x faultyTx) Suppress(marks []string, at time.Time) error {
	return x.f.guard(func() error { return x.tx.Suppress(marks, at) })
}

func (x faultyTx) Suppressed(marks []string) ([]bool, error) {
	return guarded(x.f, func() ([]bool, error) { return x.tx.Suppressed(marks) })
}

func (x faultyTx) SuppressedAt(marks []string) ([]time.Time, error) {
	return guarded(x.f, func() ([]time.Time, error) { return x.tx.SuppressedAt(marks) })
}
