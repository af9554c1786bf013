package storetest

import (
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func (r faultyReader) OwnerMemories(owner yiku.Owner, after, upTo int64, limit int) ([]store.Memory, error) {
	return guarded(r.f, func() ([]store.Memory, error) { return r.r.OwnerMemories(owner, after, upTo, limit) })
}

func (r faultyReader) OwnerMessages(owner yiku.Owner, after, upTo int64, limit int) ([]store.Message, error) {
	return guarded(r.f, func() ([]store.Message, error) { return r.r.OwnerMessages(owner, after, upTo, limit) })
}

func (r faultyReader) Receipt(owner yiku.Owner, id string) (store.Receipt, error) {
	return guarded(r.f, func() (store.Receipt, error) { return r.r.Receipt(owner, id) })
}

func (r faultyReader) Receipts(owner yiku.Owner, before string, limit int) ([]store.Receipt, error) {
	return guarded(r.f, func() ([]store.Receipt, error) { return r.r.Receipts(owner, before, limit) })
}

func (r faultyReader) Residue(owner yiku.Owner, items []store.Item) (map[string]int, error) {
	return guarded(r.f, func() (map[string]int, error) { return r.r.Residue(owner, items) })
}

func (r faultyReader) Weight(owner yiku.Owner, items []store.Item) (yiku.Removed, error) {
	return guarded(r.f, func() (yiku.Removed, error) { return r.r.Weight(owner, items) })
}

func (r faultyReader) AuditEntries(after int64, limit int) ([]store.AuditEntry, error) {
	return guarded(r.f, func() ([]store.AuditEntry, error) { return r.r.AuditEntries(after, limit) })
}

func (r faultyReader) Suppressions(owner yiku.Owner, at time.Time) ([]store.Suppression, error) {
	return guarded(r.f, func() ([]store.Suppression, error) { return r.r.Suppressions(owner, at) })
}

func (x faultyTx) PutForget(f *store.Forget) error {
	return x.f.guard(func() error { return x.tx.PutForget(f) })
}

func (x faultyTx) EndForget(key int64) error {
	return x.f.guard(func() error { return x.tx.EndForget(key) })
}

func (x faultyTx) Purge(memories, messages []int64, removed *yiku.Removed) error {
	return x.f.guard(func() error { return x.tx.Purge(memories, messages, removed) })
}

func (x faultyTx) PurgeSession(key int64, removed *yiku.Removed) error {
	return x.f.guard(func() error { return x.tx.PurgeSession(key, removed) })
}

func (x faultyTx) PurgeWorking(drop func(store.Working) bool, removed *yiku.Removed) error {
	return x.f.guard(func() error { return x.tx.PurgeWorking(drop, removed) })
}

func (x faultyTx) PurgeTasks(drop func(store.Task) bool, removed *yiku.Removed) error {
	return x.f.guard(func() error { return x.tx.PurgeTasks(drop, removed) })
}

func (x faultyTx) PurgeCopies(drop *store.Copies, removed *yiku.Removed) error {
	return x.f.guard(func() error { return x.tx.PurgeCopies(drop, removed) })
}

func (x faultyTx) PutReceipt(r *store.Receipt) error {
	return x.f.guard(func() error { return x.tx.PutReceipt(r) })
}

func (x faultyTx) Audit(e *store.AuditEntry, seal func(previous []byte, e store.AuditEntry) []byte) error {
	return x.f.guard(func() error { return x.tx.Audit(e, seal) })
}
