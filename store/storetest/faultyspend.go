package storetest

import (
	"time"

	"github.com/yiku-ai/yiku/store"
)

func (r faultyReader) Spent(tenant string, from, to time.Time) ([]store.Spending, error) {
	return guarded(r.f, func() ([]store.Spending, error) { return r.r.Spent(tenant, from, to) })
}

func (x faultyTx) Spend(rows ...store.Spending) error {
	return x.f.guard(func() error { return x.tx.Spend(rows...) })
}

func (r faultyReader) Setting(tenant, name string) (store.Setting, error) {
	return guarded(r.f, func() (store.Setting, error) { return r.r.Setting(tenant, name) })
}

func (x faultyTx) PutSetting(s *store.Setting) error {
	return x.f.guard(func() error { return x.tx.PutSetting(s) })
}
