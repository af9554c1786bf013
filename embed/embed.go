// Package embed is the contract of embedders: texts go in, vectors come out
// whose cosine says how near two texts are in meaning. Drivers stand in the
// packages below; the suite that each must pass is embedtest.
package embed

import "context"

// Embedder turns texts into vectors. All methods may be called at once.
//
// # Errors
//
// yiku.ErrUnavailable where the embedder cannot be reached or fails,
// yiku.ErrLimited where it asks to come later, yiku.ErrUnauthorized where it
// refuses the key, yiku.ErrInvalid where it refuses a text for good. A
// cancelled context gives its error, wrapped. No error holds a text or a key.
// With an error there are no vectors: not some of them.
type Embedder interface {
	// Embed gives a vector for each text, in their order; none for no texts.
	// Each has Model().Dimensions values and the length 1. The vector of a
	// text is the same, but for rounding, whatever stands beside it. A text
	// may be empty; of one that is longer than the model takes, a driver
	// embeds the beginning, or the whole in pieces, and says which.
	Embed(ctx context.Context, texts []string, use Use) ([][]float32, error)

	// Model tells whose vectors these are. Vectors of two models that are not
	// equal are never compared.
	Model() Model
}

// Use says what a text is for: many models are trained on questions and
// passages that are marked as such.
type Use int

// The uses.
const (
	Passage Use = iota // something that is to be found
	Query              // what it is looked for with; somebody waits for its vector
	Sample             // as Passage, but somebody waits for its vector
)

// Model is the identity of an embedder's vectors.
type Model struct {
	Name       string // driver and model, and what else changes the vectors
	Dimensions int
}
