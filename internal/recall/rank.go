package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Weights are those of D3's formula and the half-life of freshness and use.
type Weights struct {
	Relevance  float64
	Freshness  float64
	Importance float64
	Use        float64
	HalfLife   time.Duration
}

// DefaultWeights returns .6, .15, .15, .1 and 30 days.
func DefaultWeights() Weights {
	return Weights{Relevance: .6, Freshness: .15, Importance: .15, Use: .1, HalfLife: 30 * 24 * time.Hour}
}

// What the kinds of facts add to a score (D3): small enough to decide only
// between items that are about equally good.
const (
	correctionBonus = 0.03 // the user has set something right
	identityBonus   = 0.02 // who the user is, before details of one occasion
)

// skillWeight is how much the outcomes of a skill move its score (C15): up by
// at most half of it where it always works, down where it never does.
const skillWeight = 0.2

// useHalf is the number of accesses at which use reaches half of its most.
const useHalf = 3

// messageImportance is the importance of a message, which has none of its own.
const messageImportance = 0.5

// Item is a candidate with what its row says.
type Item struct {
	Candidate   index.Candidate
	Scores      yiku.Scores // from Calibrate; Rank adds the other parts
	Shared      bool        // of the tenant's shared owner: parts equal keys of two owners
	Text        string      // what it says, for diversity and explanations
	Type        yiku.Type   // "" for a message
	At          time.Time   // from when its freshness counts
	Importance  float64
	LastAccess  time.Time
	AccessCount int64
	Outcomes    float64 // of a skill: its reliability less that of one never tried, -.5 to .5; 0 for all else
}

// OfMemory returns the item of a memory. Its freshness counts from its creation
// or its last confirmation.
func OfMemory(m *yiku.Memory, c index.Candidate, scores yiku.Scores) Item {
	at := m.CreatedAt
	if m.ConfirmedAt.After(at) {
		at = m.ConfirmedAt
	}
	item := Item{Candidate: c, Scores: scores, Text: m.Content, Type: m.Type, At: at,
		Importance: m.Importance, LastAccess: m.LastAccess, AccessCount: m.AccessCount}
	if m.Skill != nil {
		item.Outcomes = m.Skill.Reliability() - yiku.Skill{}.Reliability()
	}
	return item
}

// OfMessage returns the item of a message.
func OfMessage(m *yiku.Message, c index.Candidate, scores yiku.Scores) Item {
	return Item{Candidate: c, Scores: scores, Text: m.Content.PlainText(), At: m.CreatedAt, Importance: messageImportance}
}

// Options are the settings of Rank.
type Options struct {
	Weights      Weights  // DefaultWeights where zero
	MinRelevance *float64 // less relevant items are left out; DefaultMinRelevance where nil
	Explain      bool
	Query        string   // for the terms of explanations
	Exact        []string // the exact data of the query, word for word
}

// Ranked is an item with its score.
type Ranked struct {
	Item
	Score   float64
	Explain *yiku.Explain // where asked
	Same    int           // how many items that say the same were left out behind it
	Says    string        // the datum of the query for which it was raised, if it was
}

// Rank returns at most limit items, best first: those relevant enough, by
// score, each thing said once, and what says the query's exact data among the
// first three. Ties go to the more relevant, then to the newer
// key, so that the order never depends on the order of the items.
func Rank(items []Item, now time.Time, limit int, options *Options) []Ranked {
	o := Options{}
	if options != nil {
		o = *options
	}
	if o.Weights == (Weights{}) {
		o.Weights = DefaultWeights()
	}
	least := DefaultMinRelevance
	if o.MinRelevance != nil {
		least = *o.MinRelevance
	}
	ranked := make([]Ranked, 0, len(items))
	for _, item := range items {
		if item.Scores.Relevance < least {
			continue
		}
		r := Ranked{Item: item}
		r.Score, r.Scores = Score(item.Scores, item, now, o.Weights)
		ranked = append(ranked, r)
	}
	slices.SortFunc(ranked, compare)
	if len(o.Exact) > 0 {
		ranked = raiseExact(ranked, o.Exact)
	}
	ranked = distinct(ranked, limit)
	if o.Explain {
		analyzer := lang.NewAnalyzer(nil)
		for i := range ranked {
			ranked[i].Explain = explain(ranked[i], o)
			ranked[i].Explain.Terms = MatchedTerms(analyzer, o.Query, ranked[i].Text)
		}
	}
	return ranked
}

func compare(a, b Ranked) int {
	shared := map[bool]int{true: 1}
	return cmp.Or(
		cmp.Compare(b.Score, a.Score),
		cmp.Compare(b.Scores.Relevance, a.Scores.Relevance),
		cmp.Compare(shared[a.Shared], shared[b.Shared]),
		cmp.Compare(a.Candidate.Kind, b.Candidate.Kind),
		cmp.Compare(b.Candidate.Key, a.Candidate.Key),
	)
}

// Score is D3's formula: w.Relevance × relevance + w.Freshness × freshness +
// w.Importance × importance + w.Use × use, and a bonus of .03 for a correction
// or .02 for a profile memory, at most 1. To the score of a skill .2 × outcomes
// is added, at least 0. It returns the parts too.
//
//	outcomes  = (s+1)/(s+f+2) - 1/2 after s successes and f failures
//	freshness = 2^(-age / half-life); age is 0 for what lies ahead, and
//	            freshness 0 for what has no time
//	use       = n / (n + 3) × 2^(-time since the last access / half-life),
//	            n accesses; 0 where there were none
func Score(scores yiku.Scores, item Item, now time.Time, w Weights) (float64, yiku.Scores) {
	scores.Freshness = decay(now, item.At, w.HalfLife)
	scores.Importance = min(max(item.Importance, 0), 1)
	scores.Use = 0
	if item.AccessCount > 0 {
		n := float64(item.AccessCount)
		scores.Use = n / (n + useHalf) * decay(now, item.LastAccess, w.HalfLife)
	}
	sum := w.Relevance*scores.Relevance + w.Freshness*scores.Freshness + w.Importance*scores.Importance + w.Use*scores.Use
	return min(max(sum+bonus(item.Type)+skillWeight*item.Outcomes, 0), 1), scores
}

func bonus(t yiku.Type) float64 {
	switch t {
	case yiku.TypeCorrection:
		return correctionBonus
	case yiku.TypeProfile:
		return identityBonus
	}
	return 0
}

// decay is 2^(-age/half-life), 0 for the zero time.
func decay(now, at time.Time, halfLife time.Duration) float64 {
	if at.IsZero() || halfLife <= 0 {
		return 0
	}
	return math.Exp2(-float64(max(now.Sub(at), 0)) / float64(halfLife))
}

// explain says how an item came to its score.
func explain(r Ranked, o Options) *yiku.Explain {
	w, s := o.Weights, r.Scores
	formula := fmt.Sprintf("%.3g × relevance %.3f + %.3g × freshness %.3f + %.3g × importance %.3f + %.3g × use %.3f",
		w.Relevance, s.Relevance, w.Freshness, s.Freshness, w.Importance, s.Importance, w.Use, s.Use)
	e := &yiku.Explain{
		Arms: map[string]float64{
			"lexical": r.Candidate.Lexical, "context": r.Candidate.Context,
			"neighbor": r.Candidate.Neighbor, "dense": r.Candidate.Dense, "dense_neighbor": r.Candidate.DenseNeighbor,
			"time": r.Candidate.Time, "graph": r.Candidate.Graph,
		},
	}
	if b := bonus(r.Type); b > 0 {
		formula += fmt.Sprintf(" + %.3g for a %s", b, strings.ReplaceAll(string(r.Type), "_", " "))
	}
	if r.Outcomes != 0 {
		formula += fmt.Sprintf(" + %.3g × outcomes %.3f", skillWeight, r.Outcomes)
	}
	if r.Says != "" {
		formula += ", raised to the score at its place,"
	}
	e.Formula = fmt.Sprintf("%s = %.3f", formula, r.Score)
	if r.Says != "" {
		e.Notes = append(e.Notes, fmt.Sprintf("raised to the first %d for saying %q word for word", exactWithin, r.Says))
	}
	if r.Same > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%d more that say the same were left out", r.Same))
	}
	if r.Candidate.Time > 0 {
		e.Notes = append(e.Notes, "of the time that is asked about")
	}
	if r.Candidate.Graph > 0 {
		e.Notes = append(e.Notes, "said of whom or what the query names, or of what is related to that")
	}
	if r.Candidate.Lexical == 0 && r.Candidate.Neighbor > 0 {
		e.Notes = append(e.Notes, "found by what was said next to it")
	}
	return e
}
