package engine

import (
	"context"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
)

// echoNeighbours is how many memories a restatement is held against.
const echoNeighbours = 5

// withoutEchoes drops what no user said and a memory says already (C10), or
// what a user said in the same excerpt: the agent and its tools tell again what
// they recalled, of any matter, so that what is near the user's words alone
// would not show it.
func (c *call) withoutEchoes(ctx context.Context, owner yiku.Owner, x excerpt, found []extract.Candidate) ([]extract.Candidate, error) {
	w := x.windows[0]
	if len(x.windows) > 1 { // pieces of one message: what it says is all of it
		w.Messages = slices.Clone(w.Messages)
		last := len(w.Messages) - 1
		w.Messages[last].Content = x.messages[last].Content.PlainText()
	}
	var kept []extract.Candidate
	for i, candidate := range found {
		if extract.Spoken(candidate, w) {
			kept = append(kept, candidate)
			continue
		}
		rows, err := c.nearest(ctx, owner, x, candidate.Content, echoNeighbours)
		if err != nil {
			return nil, err
		}
		w.Neighbours = nil
		for _, row := range rows {
			w.Neighbours = append(w.Neighbours, extract.Neighbour{Content: row.Content})
		}
		for _, other := range append(found[:i:i], found[i+1:]...) {
			if extract.Spoken(other, w) {
				w.Neighbours = append(w.Neighbours, extract.Neighbour{Content: other.Content})
			}
		}
		if !extract.Echoes(candidate, w) {
			kept = append(kept, candidate)
		}
	}
	return kept, nil
}
