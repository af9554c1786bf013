package store

import "github.com/yiku-ai/yiku"

// Entity is a name by which memories speak of somebody or something, as
// internal/graph normalises it. Several may be the same one: what makes them
// so is said by memories too, and is found out when they are read, so that
// forgetting what said it takes them apart again. An entity is there as long
// as a relation leads from it or to it. Key and ID are never used again.
type Entity struct {
	Key    int64
	ID     string // of whoever says it first
	Name   string // the whole name; an owner has each once
	Base   string // of Name, without what tells it from another of that name
	Given  string // parts by which it may be called; "" none
	Family string
}

// Relation is what a memory says of an entity: it holds when and where the
// memory does, and goes with it. One without To leads to a value; one without
// Type says only that the memory speaks of From.
type Relation struct {
	Key      int64 // set by the driver
	Memory   int64 // set by the driver
	Type     string
	From, To Entity // by Name; their keys are the driver's, as are the ids of those that are there
	FromName string // as it was written
	ToName   string // as it was written; the value where there is no To
	FromKind yiku.EntityKind
	ToKind   yiku.EntityKind
}

// EntityQuery narrows a list of entities. Empty fields do not narrow; all
// conditions hold at once.
type EntityQuery struct {
	IDs      []string
	Names    []string
	Bases    []string
	Givens   []string
	Families []string
	Before   int64 // only keys less; 0: no bound
	Limit    int   // 0: all
}

// RelationQuery narrows a list of relations. Empty fields do not narrow; all
// conditions hold at once.
type RelationQuery struct {
	Memories []int64
	Around   []int64 // keys of entities from which or to which they lead
	Types    []string
	Typed    bool  // only those with a type
	Before   int64 // only keys less; 0: no bound
	Limit    int   // 0: all
}

// GraphReader is what a Reader adds to read entities and relations by. They
// are written with the memories that say them (see Memory.Relations).
type GraphReader interface {
	// Entities and Relations list them, the newest (by key) first.
	Entities(owner yiku.Owner, query EntityQuery) ([]Entity, error)
	Relations(owner yiku.Owner, query RelationQuery) ([]Relation, error)
}
