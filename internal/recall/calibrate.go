package recall

import (
	"math"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
)

// Fusion is how much a document's surroundings and its time count beside
// itself, and against what background cosines stand.
type Fusion struct {
	Context       float64 // its session's BM25
	Neighbor      float64 // the better BM25 of the two documents beside it
	DenseNeighbor float64 // the better cosine of the two
	Time          float64 // that its time is asked for; see [Fusion.Asks]
	Graph         float64 // that relations lead to it from what the query names
	// Unrelated is what cosine texts have with each other that have nothing to
	// do with each other, in the model at hand; see [Fusion.Against].
	Unrelated index.Background

	even  float64 // the deviations at which a cosine alone makes relevance a half
	timed bool    // the query asks about a time
	alone float64 // the evidence of the time by itself
}

// DefaultFusion returns the weights of the default configuration.
func DefaultFusion() Fusion {
	return Fusion{Context: 1, Neighbor: 0.4, DenseNeighbor: 0.1, Time: 0.5, Graph: 0.6, even: evenZ}
}

// Against returns the fusion for one query: what cosines its owner's documents
// have with it stands for what is usual, and where there are few of them, what
// is usual for the model counts as ten more. The more documents there are, the
// farther above what is usual lies the best of them by chance: of n values that
// have nothing to do with the query √(2 ln n) deviations, so that what is near
// moves up with it.
func (f Fusion) Against(b index.Background) Fusion {
	const prior = 10
	n, usual := float64(b.N), f.Unrelated
	mean := (n*b.Mean + prior*usual.Mean) / (n + prior)
	variance := (n*b.Deviation*b.Deviation + prior*usual.Deviation*usual.Deviation) / (n + prior)
	f.Unrelated = index.Background{N: b.N, Mean: mean, Deviation: math.Sqrt(variance)}
	f.even = max(evenZ, math.Sqrt(2*math.Log(n+1))-belowBest)
	return f
}

// Asks returns the fusion for a query that asks about a time and beside it says
// things of that many terms, in the analyzer's weights: the fewer they are, the
// more the time by itself is what is asked for.
func (f Fusion) Asks(terms float64) Fusion {
	f.timed, f.alone = true, bareTime/(1+terms)
	return f
}

// near is the evidence of a cosine: a half where it lies f.even standard
// deviations above what is usual, e times as much with each one more.
func (f Fusion) near(cosine float64) float64 {
	if cosine == 0 || f.Unrelated.Deviation <= 0 {
		return 0
	}
	z := (cosine - f.Unrelated.Mean) / f.Unrelated.Deviation
	return even * math.Exp(min(z, mostZ)-f.even)
}

// inTime is the evidence for a document whose time fits that well: what does
// not fit loses a part of its own.
func (f Fusion) inTime(evidence, fit float64) float64 {
	if !f.timed || f.Time <= 0 {
		return evidence
	}
	return evidence*(1+f.Time*fit)/(1+f.Time) + f.alone*fit
}

// DefaultMinRelevance is the relevance below which nothing is recalled (D5):
// the middle of the scale. See Calibrate for what it lets through.
const DefaultMinRelevance = 0.5

// DefaultSearchRelevance is the relevance below which a search finds nothing
// where it does not say otherwise. It is lower than what goes into a prompt
// unasked: who searches sees the scores and judges.
const DefaultSearchRelevance = 0.3

const (
	// shortQuery is the size in rare terms below which a query must be covered
	// rather than merely met.
	shortQuery = 2
	// longQuery is the size in rare terms above which a query is taken to be a
	// text that asks for one thing somewhere in it.
	longQuery = 18
	// alone is the context of a document without a session, as a share of its own
	// BM25: about what a message's session adds to a message that answers.
	alone = 0.4
	// even is the evidence at which relevance is a half.
	even = 0.5
	// evenZ is how many standard deviations above what is usual a cosine alone
	// gives that much among few documents; beyond mostZ it says no more. Among
	// many it is belowBest below what the best has by chance: questions of
	// another language, which words cannot answer, lie there.
	evenZ, mostZ, belowBest = 2.5, 8, 0.7
	// bareTime is the evidence of a time that is all that a query asks for.
	bareTime = 0.6
)

// Calibrate returns the relevance of a candidate and its parts, given the
// highest BM25 that a document could have for the query (index.Result), which
// is the query's size n in rare terms:
//
//	words     = (lexical + f.Context × context + f.Neighbor × neighbor) / n × √(n + 2),  n at most 18
//	meaning   = near(cosine) + f.DenseNeighbor × near(neighbor's cosine)
//	near(c)   = e^(z - z0) / 2,  z = (c - mean) / deviation of unrelated texts, at most 8
//	z0        = √(2 ln (N + 1)) - 0.7 among N documents, at least 2.5
//	evidence  = words + meaning + f.Graph × graph, and where the query asks about a time
//	            that × (1 + f.Time × fit) / (1 + f.Time) + 0.6 × fit / (1 + other terms)
//	relevance = evidence / (evidence + 0.5)
//
// The context of a document without a session, such as a memory, is .4 of its
// own BM25, so that memories and messages stand on one scale.
//
// What a document shares with a query by chance grows with the square root of
// the query's size, what answers it in proportion; for the shortest queries the
// share that is covered decides. Within one query the order is that of the sum.
// The default threshold of .5 was set over five sets of both languages: of the
// questions with an answer 95 to 99 % still recall something, and of questions
// about another person's conversation, half recall nothing (two fifths to four
// fifths by set). A question about a known topic that has no answer looks to
// words like one that has; no threshold tells them apart.
func Calibrate(c index.Candidate, maxLexical float64, f Fusion) yiku.Scores {
	words, lexical := 0.0, 0.0
	if maxLexical > 0 {
		if c.Session == 0 {
			c.Context = alone * c.Lexical
		}
		n := min(maxLexical, longQuery)
		scale := math.Sqrt(n+shortQuery) / n
		lexical = c.Lexical * scale
		words = (c.Lexical + f.Context*c.Context + f.Neighbor*c.Neighbor) * scale
	}
	own := f.near(c.Dense)
	meaning := own + f.DenseNeighbor*f.near(c.DenseNeighbor)
	return yiku.Scores{
		Lexical:   squash(lexical),
		Dense:     squash(own),
		Graph:     c.Graph,
		Time:      c.Time,
		Relevance: squash(f.inTime(words+meaning+f.Graph*c.Graph, c.Time)),
	}
}

// squash maps evidence, 0 and up, to 0–1.
func squash(evidence float64) float64 {
	if evidence <= 0 {
		return 0
	}
	return evidence / (evidence + even)
}
