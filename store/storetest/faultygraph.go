package storetest

import (
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func (r faultyReader) Entities(owner yiku.Owner, query store.EntityQuery) ([]store.Entity, error) {
	return guarded(r.f, func() ([]store.Entity, error) { return r.r.Entities(owner, query) })
}

func (r faultyReader) Relations(owner yiku.Owner, query store.RelationQuery) ([]store.Relation, error) {
	return guarded(r.f, func() ([]store.Relation, error) { return r.r.Relations(owner, query) })
}
