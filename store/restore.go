package store

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// Restoring is what a Store adds for being restored from a backup: what was
// forgotten since then is told to it from outside, before it serves.
type Restoring interface {
	// OwnerMark names an owner outside of the store: a keyed hash that is the
	// same in every copy of the store and tells nothing without its secret.
	OwnerMark(owner yiku.Owner) []byte

	// HoldOwner keeps a place for an owner whom the store does not know, by
	// mark: of the state the higher numbers stand, and marks of suppressions
	// add up. Nobody sees the owner until an Update adds it; it then begins
	// with that state and those suppressions. A known owner is ErrConflict.
	HoldOwner(ctx context.Context, h HeldOwner) error

	// Standing tells where the owner of a mark stands, known or held; one that
	// is neither is the zero value. Known is false of one who is held.
	Standing(ctx context.Context, mark []byte) (OwnerState, error)

	// Renew begins a new generation: what was derived from the store as it
	// was, or from what it was copied from, is not mistaken for this one's.
	// Every owner's epoch rises and its numbers jump far ahead, so that none
	// is given twice. Nothing else may use the store meanwhile.
	Renew(ctx context.Context) error

	// KeepJournal remembers the id of the store's forget journal, which stands
	// in Meta from then on, also in copies of the store. Nothing else may use
	// the store meanwhile.
	KeepJournal(ctx context.Context, id string) error
}

// HeldOwner is an owner whom a restored store knows by its mark only.
type HeldOwner struct {
	Mark  []byte
	State OwnerState
	Marks []Suppression
}
