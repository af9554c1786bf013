package store

import "github.com/yiku-ai/yiku"

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

// VectorWriter is what a Tx adds for them. A vector goes with its item, and
// where UpdateMemory changes what the memory says.
type VectorWriter interface {
	// PutVectors adds a model's vectors or replaces them; each is a change of
	// its item and takes a number. Items that do not exist are passed over.
	PutVectors(model string, vectors []Vector) error
	// DropVectors deletes the vectors of every other model, at most limit, and
	// returns how many.
	DropVectors(model string, limit int) (int, error)
}
