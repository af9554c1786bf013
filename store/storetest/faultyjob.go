package storetest

import (
	"context"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// DueJobs may fail too.
func (f *FaultyStore) DueJobs(ctx context.Context, now time.Time, limit int) ([]store.Job, error) {
	return guarded(f, func() ([]store.Job, error) { return f.Store.DueJobs(ctx, now, limit) })
}

func (r faultyReader) Job(owner yiku.Owner, id string) (store.Job, error) {
	return guarded(r.f, func() (store.Job, error) { return r.r.Job(owner, id) })
}

func (r faultyReader) Jobs(tenant string, query store.JobQuery) ([]store.Job, error) {
	return guarded(r.f, func() ([]store.Job, error) { return r.r.Jobs(tenant, query) })
}

func (r faultyReader) CountJobs(tenant string, query store.JobQuery) (int, error) {
	return guarded(r.f, func() (int, error) { return r.r.CountJobs(tenant, query) })
}

func (r faultyReader) Extractions(owner yiku.Owner, query store.ExtractionQuery) ([]store.Extraction, error) {
	return guarded(r.f, func() ([]store.Extraction, error) { return r.r.Extractions(owner, query) })
}

func (r faultyReader) CountExtractions(owner yiku.Owner, query store.ExtractionQuery) (int, error) {
	return guarded(r.f, func() (int, error) { return r.r.CountExtractions(owner, query) })
}

func (x faultyTx) Enqueue(j *store.Job) (string, error) {
	return guarded(x.f, func() (string, error) { return x.tx.Enqueue(j) })
}

func (x faultyTx) PutJob(j *store.Job) error {
	return x.f.guard(func() error { return x.tx.PutJob(j) })
}

func (x faultyTx) DeleteJob(id string) error {
	return x.f.guard(func() error { return x.tx.DeleteJob(id) })
}

func (x faultyTx) AddExtraction(e *store.Extraction) error {
	return x.f.guard(func() error { return x.tx.AddExtraction(e) })
}

func (r faultyReader) Summary(owner yiku.Owner, sessionKey int64) (store.Summary, error) {
	return guarded(r.f, func() (store.Summary, error) { return r.r.Summary(owner, sessionKey) })
}

func (x faultyTx) PutSummary(s *store.Summary) error {
	return x.f.guard(func() error { return x.tx.PutSummary(s) })
}

func (r faultyReader) Pages(owner yiku.Owner, query store.PageQuery) ([]store.Page, error) {
	return guarded(r.f, func() ([]store.Page, error) { return r.r.Pages(owner, query) })
}

func (r faultyReader) CountPages(owner yiku.Owner, query store.PageQuery) (int, error) {
	return guarded(r.f, func() (int, error) { return r.r.CountPages(owner, query) })
}

func (x faultyTx) AddPages(sessionKey int64, pages []*store.Page, keep int) error {
	return x.f.guard(func() error { return x.tx.AddPages(sessionKey, pages, keep) })
}
