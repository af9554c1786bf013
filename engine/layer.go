package engine

import "github.com/yiku-ai/yiku"

// Layers says which layers of memory take part (G3): the parts of a context,
// the arms that find, and the stages between finding and showing.
type Layers struct {
	Session, Working, Summary, Longterm bool
	Lexical, Dense, Neighbors           bool
	Graph, Time                         bool
	Rerank, Rewrite                     bool
}

// DefaultLayers are all but rewriting, which costs each read a call of the
// language model. Reranking is on where there is a reranker.
func DefaultLayers() Layers {
	return Layers{Session: true, Working: true, Summary: true, Longterm: true, Lexical: true, Dense: true, Neighbors: true, Graph: true, Time: true, Rerank: true}
}

// layer is one layer by its name, with what may switch it.
type layer struct {
	name string
	on   *bool
	wish *yiku.Opt[bool]
}

func (l *Layers) all(wish *yiku.Layers) []layer {
	return []layer{
		{"session", &l.Session, &wish.Session}, {"working", &l.Working, &wish.Working},
		{"summary", &l.Summary, &wish.Summary}, {"longterm", &l.Longterm, &wish.Longterm},
		{"lexical", &l.Lexical, &wish.Lexical}, {"dense", &l.Dense, &wish.Dense}, {"neighbors", &l.Neighbors, &wish.Neighbors},
		{"graph", &l.Graph, &wish.Graph}, {"time", &l.Time, &wish.Time},
		{"rerank", &l.Rerank, &wish.Rerank}, {"rewrite", &l.Rewrite, &wish.Rewrite},
	}
}

// with are the layers as a wish leaves them.
func (l Layers) with(wish yiku.Layers) Layers {
	for _, one := range l.all(&wish) {
		if one.wish.Present && !one.wish.Null {
			*one.on = one.wish.Value
		}
	}
	return l
}

// byName tells each layer and whether it is on.
func (l Layers) byName() map[string]bool {
	out := map[string]bool{}
	for _, one := range l.all(&yiku.Layers{}) {
		out[one.name] = *one.on
	}
	return out
}

// off are the arms of finding that a layer switches off.
func (l Layers) off() arms {
	return arms{lexical: !l.Lexical, dense: !l.Dense, neighbors: !l.Neighbors, graph: !l.Graph, time: !l.Time}
}

// arms names ways of finding.
type arms struct{ lexical, dense, neighbors, graph, time bool }
