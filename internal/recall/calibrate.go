package recall

import (
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
)

// Fusion is how much a document's surroundings count beside itself.
type Fusion struct {
	Context  float64 // its session's BM25
	Neighbor float64 // the better BM25 of the two documents beside it
}

// DefaultFusion returns the weights of the default configuration.
func DefaultFusion() Fusion { return Fusion{Context: 1, Neighbor: 0.5} }

// Calibrate returns the relevance of a candidate and its parts, given the
// highest BM25 that a document could have for the query (index.Result).
func Calibrate(c index.Candidate, maxLexical float64, f Fusion) yiku.Scores {
	if maxLexical <= 0 {
		return yiku.Scores{}
	}
	raw := c.Lexical + f.Context*c.Context + f.Neighbor*c.Neighbor
	return yiku.Scores{
		Lexical:   min(c.Lexical/maxLexical, 1),
		Relevance: raw / (maxLexical * (1 + f.Context + f.Neighbor)),
	}
}

// DefaultMinRelevance is the relevance below which nothing is recalled (D5).
const DefaultMinRelevance = 0.1
