package engine

import (
	"context"
	"math"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/graph"
	"github.com/yiku-ai/yiku/store"
)

const (
	mostNamed    = 4   // of those that a question names, whose surroundings are looked at
	relatedHops  = 2   // from them
	relatedPaths = 100 // around one of them
)

// related is the arm of relations (D2, C14): it gives the memories that say
// something of whom or what the question names, and of what that is related
// to, each with 0 to 1: a hop halves it, and of a name of which n memories
// speak each says 1/√n. What leads through the user leads to everything, so
// that it is not followed.
func (c *call) related(ctx context.Context, owner yiku.Owner, q question) (map[itemKey]float64, error) {
	if q.off.graph || !slices.Contains(q.kinds, index.Memory) {
		return nil, nil
	}
	places, names := c.names.MayName(q.text)
	found := map[itemKey]float64{}
	err := c.store.View(ctx, func(r store.Reader) error {
		clear(found)
		k, err := c.knowledge(r, owner, *q.filter)
		if err != nil {
			return err
		}
		resolver := graph.NewResolver(c.vocabulary, k)
		groups, err := c.named(k, resolver, places, names)
		if err != nil {
			return err
		}
		for _, g := range groups {
			if err := around(k, resolver, g, found); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// named are the entities that a question names: those in its places, and those
// that have one of the names or alone are called by it.
func (c *call) named(k *knowledge, resolver *graph.Resolver, places, names []graph.Node) (groups []*graph.Group, err error) {
	known, err := k.anyOf(names)
	if err != nil {
		return nil, err
	}
	for _, n := range append(places, known...) {
		g, err := resolver.Find(n)
		if err != nil {
			return nil, err
		}
		if len(groups) < mostNamed && len(g.Nodes) > 0 && !g.Has(graph.Self().Name) && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// anyOf leaves those of the names that somebody has, or is called by for short.
func (k *knowledge) anyOf(names []graph.Node) ([]graph.Node, error) {
	if len(names) == 0 {
		return nil, nil
	}
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = n.Name
	}
	has := map[string]bool{}
	for _, query := range []store.EntityQuery{{Names: texts}, {Bases: texts}, {Givens: texts}} {
		nodes, err := k.named(query)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			has[n.Name], has[n.Base], has[n.Given] = true, true, true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(n graph.Node) bool { return !has[n.Name] }), nil
}

// around adds what is said around an entity.
func around(k *knowledge, resolver *graph.Resolver, g *graph.Group, found map[itemKey]float64) error {
	paths, _, err := resolver.Walk(graph.Question{Start: g.Nodes[0], Hops: relatedHops, Limit: relatedPaths})
	if err != nil {
		return err
	}
	hops := map[string]int{} // at which each memory is met first
	met := [relatedHops + 1]int{}
	for _, path := range paths {
		if slices.ContainsFunc(path[1:], func(s graph.Step) bool { return s.From.Has(graph.Self().Name) }) {
			continue
		}
		for _, edge := range path[len(path)-1].Edges {
			if hops[edge.Memory] == 0 {
				hops[edge.Memory] = len(path)
				met[len(path)]++
			}
		}
	}
	for id, n := range hops {
		key := k.keys[id]
		found[key] = min(1, found[key]+math.Exp2(float64(1-n))/math.Sqrt(float64(met[n])))
	}
	return nil
}

// withRelated gives candidates of an owner what relations say of them, and adds
// those that only relations have found.
func withRelated(candidates []index.Candidate, shared bool, related map[itemKey]float64) []index.Candidate {
	left := map[index.Ref]float64{}
	for key, value := range related {
		if key.shared == shared {
			left[key.ref] = value
		}
	}
	for i, cand := range candidates {
		candidates[i].Graph = left[cand.Ref]
		delete(left, cand.Ref)
	}
	for ref, value := range left {
		candidates = append(candidates, index.Candidate{Ref: ref, Graph: value})
	}
	return candidates
}
