// Package rerank is the contract of rerankers: a query and the documents that
// were found for it go in, a score for each comes out. A reranker reads query
// and document together, so it judges better than what finds candidates, and
// costs more: it sees only the best of them.
//
// Drivers do one exchange each and are thin; the time that it may take and the
// breaker are [Steady]'s, for all of them alike.
package rerank

import (
	"context"
	"math"

	"github.com/yiku-ai/yiku"
)

// Reranker scores documents against a query. All methods may be called at once.
//
// # Errors
//
// Those of llm.Model: yiku.ErrLimited, yiku.ErrUnavailable, yiku.ErrUnauthorized
// and yiku.ErrInvalid; an answer that leaves a document out, names one twice or
// one that was not asked about, or whose scores are no numbers is
// yiku.ErrUnavailable as a whole. A cancelled context gives its error, wrapped.
// No error holds a query, a document or a key.
type Reranker interface {
	// Rerank returns one score a document, in the order of the documents. Only
	// the order of the scores means something: each model has a scale of its
	// own. No documents, no scores.
	Rerank(ctx context.Context, query string, documents []string) (Response, error)

	// Name tells which reranker this is, for records: driver and model.
	Name() string
}

// Response is what came back.
type Response struct {
	Scores []float64
	Tokens Tokens
}

// Tokens counts what the endpoint took, as it does itself; zero where it does
// not say.
type Tokens struct {
	In, Out int
}

// Ranked is one line of an endpoint's answer. Both fields are nil where it has
// none.
type Ranked struct {
	Index *int
	Score *float64
}

// Scores puts the lines of an answer into the order of the n documents, for
// drivers. Anything but one line with a finite score for each document is
// ErrUnavailable.
func Scores(lines []Ranked, n int) ([]float64, error) {
	scores, seen := make([]float64, n), make([]bool, n)
	for _, l := range lines {
		switch {
		case l.Index == nil || l.Score == nil:
			return nil, yiku.Errorf(yiku.ErrUnavailable, "the reranker's answer has a line without index or score")
		case *l.Index < 0 || *l.Index >= n:
			return nil, yiku.Errorf(yiku.ErrUnavailable, "the reranker named document %d of %d", *l.Index, n)
		case seen[*l.Index]:
			return nil, yiku.Errorf(yiku.ErrUnavailable, "the reranker named document %d twice", *l.Index)
		case math.IsNaN(*l.Score) || math.IsInf(*l.Score, 0):
			return nil, yiku.Errorf(yiku.ErrUnavailable, "the reranker gave a score that is no number")
		}
		scores[*l.Index], seen[*l.Index] = *l.Score, true
	}
	if len(lines) != n {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "the reranker scored %d of %d documents", len(lines), n)
	}
	return scores, nil
}
