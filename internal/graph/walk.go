package graph

import (
	"slices"
)

// Step is one hop: from an entity to another, or to a value, and the memories
// that say so. Reverse tells that they say it the other way round.
type Step struct {
	Type     string
	Reverse  bool
	From, To *Group // To is nil for a value
	Edges    []Edge
}

// Question asks for what lies around an entity.
type Question struct {
	Start     Node
	Relations []string // the last steps of a path, in order; none: any
	Hops      int
	Limit     int // of paths
}

// mostWork is how many entities one question looks around.
const mostWork = 200

// Walk finds the paths from an entity, the shortest first. Every entity is left
// once, and none is entered twice on one path. cut says that there was more.
func (r *Resolver) Walk(q Question) (paths [][]Step, cut bool, err error) {
	start, err := r.Find(q.Start)
	if err != nil {
		return nil, false, err
	}
	type place struct {
		group *Group
		path  []Step
	}
	queue, left := []place{{start, nil}}, map[*Group]int{}
	for work := 0; len(queue) > 0; work++ {
		at := queue[0]
		queue = queue[1:]
		if work >= mostWork {
			return paths, true, nil
		}
		depth := len(at.path)
		if before, ok := left[at.group]; ok && (len(q.Relations) < 2 || before == depth) {
			continue
		}
		left[at.group] = depth
		steps, more, err := r.steps(at.group, r.wanted(q, depth))
		if err != nil {
			return nil, false, err
		}
		cut = cut || more
		for _, s := range steps {
			if s.To != nil && (s.To == at.group || slices.ContainsFunc(at.path, func(p Step) bool { return p.From == s.To })) {
				continue
			}
			path := append(slices.Clip(at.path), s)
			if r.answers(q, path) {
				if len(paths) == q.Limit {
					return paths, true, nil
				}
				paths = append(paths, path)
			}
			if s.To != nil && len(path) < q.Hops {
				queue = append(queue, place{s.To, path})
			}
		}
	}
	return paths, cut, nil
}

// wanted is the relation that a step must have; "" any.
func (r *Resolver) wanted(q Question, depth int) string {
	if k := depth - (q.Hops - len(q.Relations)); len(q.Relations) > 1 || q.Hops == 1 {
		if k >= 0 && k < len(q.Relations) {
			return q.Relations[k]
		}
	}
	return ""
}

// answers reports whether a path ends as the question asks.
func (r *Resolver) answers(q Question, path []Step) bool {
	n := len(q.Relations)
	if n == 0 {
		return true
	}
	return len(path) >= n && r.is(path[len(path)-1], q.Relations[n-1]) && (n == 1 || len(path) == q.Hops)
}

// is reports whether a step is of a relation, or of a narrower one.
func (r *Resolver) is(s Step, relation string) bool {
	name := s.Type
	if s.Reverse {
		if name = r.vocabulary.Inverse(s.Type); name == "" {
			return false
		}
	}
	return name == relation || slices.Contains(r.vocabulary.Broader(name), relation)
}

// steps are the hops from an entity, those of one relation where one is wanted.
func (r *Resolver) steps(g *Group, relation string) (out []Step, more bool, err error) {
	var types []string
	if relation != "" {
		types = r.vocabulary.Saying(relation)
	}
	edges, err := r.source.Around(g.Names(), types)
	if err != nil {
		return nil, false, err
	}
	for _, e := range edges {
		s := Step{Type: e.Type, From: g, Edges: []Edge{e}}
		other := e.To
		if !g.Has(e.From.Name) {
			s.Reverse, other = true, e.From
		}
		if e.Type == "" || Hidden(e.Type) || r.vocabulary.Names(e.Type) {
			continue
		}
		if other.Name != "" {
			if s.To, err = r.Resolve(other); err != nil {
				return nil, false, err
			}
		}
		if relation != "" && !r.is(s, relation) {
			continue
		}
		same := func(o Step) bool {
			return o.Type == s.Type && o.Reverse == s.Reverse && o.To == s.To && (s.To != nil || o.Edges[0].ToName == e.ToName)
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Edges = append(out[i].Edges, e)
			continue
		}
		out = append(out, s)
	}
	return out, len(edges) >= MostEdges, nil
}
