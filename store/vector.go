package store

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// Vector is the vector of a memory or a message.
type Vector struct {
	Item
	// Values come back within half a 127th of the largest of them.
	Values []float32
}

// VectorReader is what a Reader adds for vectors.
type VectorReader interface {
	// Vectors gives a model's vectors of those of the items that have one, by key.
	Vectors(owner yiku.Owner, model string, keys []int64) (map[int64][]float32, error)
}

// VectorKeeper is what a Store adds for vectors.
type VectorKeeper interface {
	// KeepModel remembers the model that vectors are made with, which stands in
	// Meta from then on. Nothing else may use the store meanwhile.
	KeepModel(ctx context.Context, model string) error
}

// VectorWriter is what a Tx adds for them. A vector goes with its item, and
// where UpdateMemory changes what the memory says.
type VectorWriter interface {
	// PutVectors adds a model's vectors or replaces them; each is a change of
	// its item and takes a number. Items that do not exist are passed over.
	PutVectors(model string, vectors []Vector) error
	// SetEmbedded says that everything of the owner has its vector of a model,
	// by which it is found from then on; see OwnerState. It takes no number.
	SetEmbedded(model string) error
	// DropVectors deletes the vectors of every model but those, at most limit,
	// and returns how many.
	DropVectors(keep []string, limit int) (int, error)
}
