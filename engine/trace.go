package engine

import (
	"cmp"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/recall"
)

// maxCuts is how many items that were cut a trace names.
const maxCuts = 50

// trace begins to note how the call comes to its answer, where that was asked
// for. Without it noting is free and does nothing.
func (c *call) trace(explain bool, on Layers) {
	c.told = nil
	if explain {
		c.told = &yiku.Trace{Layers: on.byName(), CutBy: map[string]int{}}
	}
}

// cut notes an item that a rule keeps out.
func (c *call) cut(rule yiku.CutRule, h hit) {
	if c.told == nil {
		return
	}
	cut := yiku.Cut{Rule: rule, Score: h.Score, Scores: h.Scores}
	switch {
	case h.memory != nil:
		cut.ID = h.memory.ID
	case h.message != nil:
		cut.ID, cut.SessionID = h.message.ID, h.message.SessionID
	}
	c.noteCut(cut)
}

// noteCut counts a cut, and names it unless the filter made it or no row was
// read for it.
func (c *call) noteCut(cut yiku.Cut) {
	if c.told == nil {
		return
	}
	c.told.CutBy[string(cut.Rule)]++
	if cut.Rule != yiku.CutFilter && cut.ID != "" && len(c.told.Cut) < maxCuts {
		c.told.Cut = append(c.told.Cut, cut)
	}
}

// noteFound notes what of the hits that were read is not among those chosen,
// and gives these their ranks in each arm.
func (c *call) noteFound(q question, read, chosen []hit) {
	if c.told == nil {
		return
	}
	in := map[itemKey]bool{}
	for i := range chosen {
		in[keyOf(chosen[i].Item)] = true
	}
	for _, h := range read {
		if in[keyOf(h.Item)] {
			continue
		}
		h.Score, h.Scores = recall.Score(h.Item.Scores, h.Item, c.now, c.settings.Weights)
		rule := yiku.CutRepeats
		if len(chosen) == q.limit && h.Score <= chosen[len(chosen)-1].Score {
			rule = yiku.CutLimit
		}
		c.cut(rule, h)
	}
	for arm, value := range map[string]func(hit) float64{
		"lexical": func(h hit) float64 { return h.Candidate.Lexical },
		"dense":   func(h hit) float64 { return h.Candidate.Dense },
	} {
		values := make([]float64, len(read))
		for i, h := range read {
			values[i] = value(h)
		}
		slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
		for i := range chosen {
			if v := value(chosen[i]); v > 0 && chosen[i].Explain != nil {
				if chosen[i].Explain.Ranks == nil {
					chosen[i].Explain.Ranks = map[string]int{}
				}
				chosen[i].Explain.Ranks[arm] = slices.Index(values, v) + 1
			}
		}
	}
}
