package engine

import (
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/graph"
	"github.com/yiku-ai/yiku/store"
)

// relations tells what a memory says of whom, as it is stored with it (C14).
func (c *call) relations(m yiku.Memory) []store.Relation {
	return c.rowsOf(c.names.Statements(m))
}

// rowsOf makes rows of statements; it is not nil. Ids are those of entities that are new.
func (c *call) rowsOf(statements []graph.Statement) []store.Relation {
	rows := make([]store.Relation, 0, len(statements))
	for _, s := range statements {
		rows = append(rows, store.Relation{Type: s.Type, From: c.entityOf(s.From), To: c.entityOf(s.To),
			FromName: s.FromName, ToName: s.ToName, FromKind: s.FromKind, ToKind: s.ToKind})
	}
	return rows
}

// explicit makes rows of the relations that a candidate says beside its fact.
func (c *call) explicit(list []extract.Relation) (rows []store.Relation) {
	for _, r := range list {
		rows = append(rows, c.rowsOf(c.names.Explicit(r.From, r.Type, r.To, r.Kind))...)
	}
	return rows
}

// distinctRelations leaves of those that say the same the first.
func distinctRelations(rows []store.Relation) []store.Relation {
	type statement struct{ kind, from, to, value string }
	seen := map[statement]bool{}
	return slices.DeleteFunc(rows, func(r store.Relation) bool {
		s := statement{r.Type, r.From.Name, r.To.Name, r.ToName}
		if r.To.Name != "" {
			s.value = ""
		}
		known := seen[s]
		seen[s] = true
		return known
	})
}

func (c *call) entityOf(n graph.Node) store.Entity {
	if n.Name == "" {
		return store.Entity{}
	}
	return store.Entity{ID: c.newID(), Name: n.Name, Base: n.Base, Given: n.Given, Family: n.Family}
}

func nodeOf(e store.Entity) graph.Node {
	return graph.Node{Name: e.Name, Base: e.Base, Given: e.Given, Family: e.Family}
}

// knowledge is what may be seen of a user's graph, in one read transaction: a
// graph.Source. It remembers what it has read.
type knowledge struct {
	r        store.Reader
	owners   []yiku.Owner
	filter   yiku.Filter
	entities map[string]store.Entity // by name
	memories map[string]yiku.Memory  // that say something, by id
	keys     map[string]itemKey      // of the same
	refs     map[*graph.Group]yiku.EntityRef
}

// knowledge opens what a scope sees of the user's graph and of the shared one.
func (c *call) knowledge(r store.Reader, owner yiku.Owner, filter yiku.Filter) (*knowledge, error) {
	owners, err := withShared(owner)
	return &knowledge{r: r, owners: owners, filter: filter, entities: map[string]store.Entity{}, memories: map[string]yiku.Memory{}, keys: map[string]itemKey{}, refs: map[*graph.Group]yiku.EntityRef{}}, err
}

// Around gives the edges from or to names; see graph.Source.
func (k *knowledge) Around(names, types []string) ([]graph.Edge, error) {
	var out []graph.Edge
	if len(names) == 0 {
		return nil, nil
	}
	for _, owner := range k.owners {
		rows, err := k.r.Entities(owner, store.EntityQuery{Names: names})
		if err != nil || len(rows) == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		keys := make([]int64, len(rows))
		for i, e := range rows {
			keys[i] = e.Key
		}
		relations, err := k.r.Relations(owner, store.RelationQuery{Around: keys, Types: types, Limit: graph.MostEdges})
		if err != nil {
			return nil, err
		}
		edges, err := k.edges(owner, relations)
		if err != nil {
			return nil, err
		}
		out = append(out, edges...)
	}
	return out, nil
}

// edges are those of the relations whose memories may be seen.
func (k *knowledge) edges(owner yiku.Owner, relations []store.Relation) ([]graph.Edge, error) {
	keys := make([]int64, 0, len(relations))
	for _, rel := range relations {
		keys = append(keys, rel.Memory)
	}
	slices.Sort(keys)
	memories, err := k.r.MemoriesByKey(owner, slices.Compact(keys))
	if err != nil {
		return nil, err
	}
	seen := map[int64]string{}
	for _, m := range memories {
		if k.filter.Match(store.MemoryFields(m.Memory)) {
			seen[m.Key], k.memories[m.ID] = m.ID, m.Memory
			k.keys[m.ID] = itemKey{owner.IsShared(), index.Ref{Kind: index.Memory, Key: m.Key}}
		}
	}
	var out []graph.Edge
	for _, rel := range relations {
		id, ok := seen[rel.Memory]
		if !ok || owner.IsShared() && (rel.From.Name == graph.Self().Name || rel.To.Name == graph.Self().Name) {
			continue // nobody in particular is the user of a shared memory
		}
		k.note(owner, rel.From)
		k.note(owner, rel.To)
		out = append(out, graph.Edge{Key: rel.Key, Memory: id, Statement: graph.Statement{Type: rel.Type, From: nodeOf(rel.From), To: nodeOf(rel.To),
			FromName: rel.FromName, ToName: rel.ToName, FromKind: rel.FromKind, ToKind: rel.ToKind}})
	}
	return out, nil
}

// note keeps the row of a name: the user's own where there are two.
func (k *knowledge) note(owner yiku.Owner, e store.Entity) {
	if _, ok := k.entities[e.Name]; e.Name != "" && (!ok || !owner.IsShared()) {
		k.entities[e.Name] = e
	}
}

// Called and Family give names; see graph.Source.
func (k *knowledge) Called(text string) ([]graph.Node, error) {
	bases, err := k.named(store.EntityQuery{Bases: []string{text}})
	if err != nil {
		return nil, err
	}
	givens, err := k.named(store.EntityQuery{Givens: []string{text}})
	return append(bases, givens...), err
}

// Family gives the names of a family; see graph.Source.
func (k *knowledge) Family(name string) ([]graph.Node, error) {
	return k.named(store.EntityQuery{Families: []string{name}})
}

// named are the names that may be seen: of which something is said that may be.
func (k *knowledge) named(q store.EntityQuery) ([]graph.Node, error) {
	q.Limit = graph.MostNames
	var out []graph.Node
	for _, owner := range k.owners {
		rows, err := k.r.Entities(owner, q)
		if err != nil {
			return nil, err
		}
		for _, e := range rows {
			relations, err := k.r.Relations(owner, store.RelationQuery{Around: []int64{e.Key}, Limit: graph.MostNames})
			if err != nil {
				return nil, err
			}
			edges, err := k.edges(owner, relations)
			if err != nil {
				return nil, err
			}
			if len(edges) > 0 {
				out = append(out, nodeOf(e))
			}
		}
	}
	return out, nil
}

// entity describes a group with what is said of it.
func (c *call) entity(k *knowledge, r *graph.Resolver, g *graph.Group) (yiku.Entity, error) {
	out := yiku.Entity{Kind: yiku.EntityThing, Aliases: []string{}, Sources: []string{}}
	edges, err := k.Around(g.Names(), nil)
	if err != nil || len(edges) == 0 {
		return out, err
	}
	ref := k.ref(g, edges)
	out.ID, out.Name, out.Self = ref.ID, ref.Name, g.Has(graph.Self().Name)
	if ref.Kind != "" {
		out.Kind = ref.Kind
	}
	for _, e := range edges {
		m := k.memories[e.Memory]
		if out.FirstSeen.IsZero() || m.CreatedAt.Before(out.FirstSeen) {
			out.FirstSeen = m.CreatedAt
		}
		if m.CreatedAt.After(out.LastSeen) {
			out.LastSeen = m.CreatedAt
		}
		if !slices.Contains(out.Sources, m.ID) && len(out.Sources) < mostSources {
			out.Sources = append(out.Sources, m.ID)
		}
	}
	for _, name := range writtenNames(g, edges) {
		if name != out.Name && len(out.Aliases) < mostSources {
			out.Aliases = append(out.Aliases, name)
		}
	}
	maybe, err := r.Candidates(g)
	for _, n := range maybe {
		if row, ok := k.entities[n.Name]; ok {
			out.Candidates = append(out.Candidates, row.ID)
		}
	}
	return out, err
}

// mostSources is how many memories and names of an entity are given.
const mostSources = 50

// writtenNames are the ways in which a group was written, each once.
func writtenNames(g *graph.Group, edges []graph.Edge) (out []string) {
	add := func(n graph.Node, written string) {
		if written != "" && g.Has(n.Name) && !slices.Contains(out, written) {
			out = append(out, written)
		}
	}
	for _, e := range edges {
		add(e.From, e.FromName)
		if e.To.Name != "" {
			add(e.To, e.ToName)
		}
	}
	return out
}

// ref names a group: the id is that of the name which was there first, the name
// the fullest that somebody wrote, and no place where it has a name.
func (k *knowledge) ref(g *graph.Group, edges []graph.Edge) yiku.EntityRef {
	var out yiku.EntityRef
	var first int64
	for _, n := range g.Nodes {
		if row, ok := k.entities[n.Name]; ok && (first == 0 || row.Key < first) {
			first, out.ID = row.Key, row.ID
		}
	}
	best := -1
	consider := func(n graph.Node, written string, kind yiku.EntityKind) {
		if !g.Has(n.Name) {
			return
		}
		if out.Kind == "" {
			out.Kind = kind
		}
		if size := len(n.Base); written != "" && size > best {
			best, out.Name = size, written
		}
	}
	for _, e := range edges {
		consider(e.From, e.FromName, e.FromKind)
		if e.To.Name != "" {
			consider(e.To, e.ToName, e.ToKind)
		}
	}
	if g.Has(graph.Self().Name) {
		out.Kind = yiku.EntityPerson
	}
	if out.Name == "" && len(g.Nodes) > 0 {
		out.Name = g.Nodes[0].Display()
	}
	return out
}

// seenBy is the filter of a scope and a time; see searchFilter.
func seenBy(project, task, agent string, asOf, now time.Time) yiku.Filter {
	return all(inScope(project, task, agent), trueAt(asOf, now))
}
