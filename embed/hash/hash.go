// Package hash embeds without a model: a text's words and pairs of characters
// are counted at places that their hashes give. It knows nothing of meaning;
// it is for tests, which want vectors that are quick, the same everywhere, and
// nearer for texts that share words.
package hash

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/yiku-ai/yiku/embed"
)

// Embedder embeds by hashing.
type Embedder struct{ dimensions int }

// New is an embedder of vectors of that many values, at least one.
func New(dimensions int) *Embedder { return &Embedder{max(1, dimensions)} }

// Model is the embedder's name and size.
func (e *Embedder) Model() embed.Model {
	return embed.Model{Name: "hash", Dimensions: e.dimensions}
}

// Embed gives the texts' vectors.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ embed.Use) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = e.vector(text)
	}
	return out, nil
}

func (e *Embedder) vector(text string) []float32 {
	v := make([]float32, e.dimensions)
	v[0] = 0.01 // a text without words has a direction too
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		e.count(v, word)
		if chars := []rune(word); len(chars) > 1 && chars[0] > unicode.MaxLatin1 {
			for i := range len(chars) - 1 {
				e.count(v, string(chars[i:i+2]))
			}
		}
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func (e *Embedder) count(v []float32, word string) {
	h := fnv.New64a()
	h.Write([]byte(word))
	sum := h.Sum64()
	sign := float32(1)
	if sum>>63 == 1 {
		sign = -1
	}
	v[sum%uint64(len(v))] += sign
}
