package storetest

import (
	"time"

	"github.com/yiku-ai/yiku/store"
)

func (r faultyReader) Keys(tenant, after string, limit int) ([]store.Key, error) {
	return guarded(r.f, func() ([]store.Key, error) { return r.r.Keys(tenant, after, limit) })
}

func (r faultyReader) CountKeys(tenant string) (int, error) {
	return guarded(r.f, func() (int, error) { return r.r.CountKeys(tenant) })
}

func (t faultyTx) PutKey(k *store.Key) error {
	return t.f.guard(func() error { return t.tx.PutKey(k) })
}

func (t faultyTx) RevokeKey(id string, at time.Time) error {
	return t.f.guard(func() error { return t.tx.RevokeKey(id, at) })
}
