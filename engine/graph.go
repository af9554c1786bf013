package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/graph"
	"github.com/yiku-ai/yiku/store"
)

const (
	defaultHops  = 2
	mostHops     = 4
	defaultPaths = 20
	// scanned is how many rows a page of entities or relations looks at for each
	// one that it may give: the others are other names, or may not be seen.
	scanned = 4
)

// listEntities lists entities, the newest first (C14). An entity stands where
// the first of its names does.
func (c *call) listEntities(ctx context.Context, req yiku.ListEntitiesRequest) (yiku.Page[yiku.Entity], error) {
	page := yiku.Page[yiku.Entity]{Items: []yiku.Entity{}}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	scope := req
	scope.Paging = yiku.Paging{}
	var before int64
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &before, scope); err != nil {
			return page, err
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		page = yiku.Page[yiku.Entity]{Items: []yiku.Entity{}}
		k, err := c.knowledge(r, owner, seenBy(req.ProjectID, req.TaskID, req.AgentID, time.Time{}, c.now))
		if err != nil {
			return err
		}
		if req.Name != "" {
			page.Items, err = c.namedEntity(k, req)
			return err
		}
		next, err := c.pageOfEntities(k, owner, req, before, &page)
		if err == nil && next > 0 {
			page.NextCursor, err = c.cursorOf(next, scope)
		}
		return err
	})
	c.count("items", len(page.Items))
	return page, err
}

// namedEntity gives the one that has a name.
func (c *call) namedEntity(k *knowledge, req yiku.ListEntitiesRequest) ([]yiku.Entity, error) {
	out := []yiku.Entity{}
	resolver := graph.NewResolver(c.vocabulary, k)
	g, err := resolver.Find(c.names.Name(req.Name).Node)
	if err != nil {
		return nil, err
	}
	e, err := c.entity(k, resolver, g)
	if err == nil && e.ID != "" && (req.Kind == "" || req.Kind == e.Kind) {
		out = append(out, e)
	}
	return out, err
}

// pageOfEntities fills a page and returns the key to go on before; 0 at the end.
func (c *call) pageOfEntities(k *knowledge, owner yiku.Owner, req yiku.ListEntitiesRequest, before int64, page *yiku.Page[yiku.Entity]) (int64, error) {
	limit := limitOf(req.Paging)
	rows, err := k.r.Entities(owner, store.EntityQuery{Before: before, Limit: limit*scanned + 1})
	if err != nil {
		return 0, err
	}
	resolver := graph.NewResolver(c.vocabulary, k)
	for i, row := range rows {
		if len(page.Items) == limit || i == limit*scanned {
			return rows[i-1].Key, nil
		}
		g, err := resolver.Resolve(nodeOf(row))
		if err != nil {
			return 0, err
		}
		e, err := c.entity(k, resolver, g)
		if err != nil {
			return 0, err
		}
		if e.ID == row.ID && (req.Kind == "" || req.Kind == e.Kind) { // it is the first of its names
			page.Items = append(page.Items, e)
		}
	}
	return 0, nil
}

// listRelations lists relations, the newest first (C14).
func (c *call) listRelations(ctx context.Context, req yiku.ListRelationsRequest) (yiku.Page[yiku.Relation], error) {
	page := yiku.Page[yiku.Relation]{Items: []yiku.Relation{}}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return page, err
	}
	scope := req
	scope.Paging = yiku.Paging{}
	query := store.RelationQuery{Typed: true, Limit: limitOf(req.Paging)*scanned + 1}
	if req.Relation != "" {
		query.Types = []string{c.vocabulary.Canonical(req.Relation)}
	}
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &query.Before, scope); err != nil {
			return page, err
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		page = yiku.Page[yiku.Relation]{Items: []yiku.Relation{}}
		next, err := c.pageOfRelations(r, owner, req, query, &page)
		if err == nil && next > 0 {
			page.NextCursor, err = c.cursorOf(next, scope)
		}
		return err
	})
	c.count("items", len(page.Items))
	return page, err
}

// pageOfRelations fills a page and returns the key to go on before; 0 at the end.
func (c *call) pageOfRelations(r store.Reader, owner yiku.Owner, req yiku.ListRelationsRequest, query store.RelationQuery, page *yiku.Page[yiku.Relation]) (int64, error) {
	filter := seenBy(req.ProjectID, req.TaskID, req.AgentID, time.Time{}, c.now)
	if req.Status != "" {
		filter = all(inScope(req.ProjectID, req.TaskID, req.AgentID), is("status", yiku.OpEq, string(req.Status)))
	}
	k, err := c.knowledge(r, owner, filter)
	if err != nil {
		return 0, err
	}
	resolver := graph.NewResolver(c.vocabulary, k)
	if req.EntityID != "" {
		if query.Around, err = c.keysOfEntity(k, resolver, owner, req.EntityID); err != nil {
			return 0, err
		}
	}
	rows, err := r.Relations(owner, query)
	if err != nil {
		return 0, err
	}
	limit := limitOf(req.Paging)
	for i, row := range rows {
		if len(page.Items) == limit || i == limit*scanned {
			return rows[i-1].Key, nil
		}
		edges, err := k.edges(owner, []store.Relation{row})
		if err != nil {
			return 0, err
		}
		for _, e := range edges {
			if graph.Hidden(e.Type) {
				continue
			}
			rel, err := c.relation(k, resolver, e)
			if err != nil {
				return 0, err
			}
			page.Items = append(page.Items, rel)
		}
	}
	return 0, nil
}

// keysOfEntity finds the stored names of the entity with an id.
func (c *call) keysOfEntity(k *knowledge, resolver *graph.Resolver, owner yiku.Owner, id string) ([]int64, error) {
	keys := []int64{}
	rows, err := k.r.Entities(owner, store.EntityQuery{IDs: []string{id}})
	if err != nil || len(rows) == 0 {
		return keys, err
	}
	g, err := resolver.Resolve(nodeOf(rows[0]))
	if err != nil {
		return nil, err
	}
	rows, err = k.r.Entities(owner, store.EntityQuery{Names: g.Names()})
	for _, row := range rows {
		keys = append(keys, row.Key)
	}
	return keys, err
}

// relation describes an edge.
func (c *call) relation(k *knowledge, resolver *graph.Resolver, e graph.Edge) (yiku.Relation, error) {
	m := k.memories[e.Memory]
	out := yiku.Relation{Relation: e.Type, ValidFrom: m.ValidFrom, ValidTo: m.ValidTo, RecordedAt: m.CreatedAt, Status: m.Status, MemoryID: m.ID, Sources: append([]string{}, m.Sources...)}
	from, err := c.refOf(k, resolver, e.From)
	if err != nil {
		return out, err
	}
	out.From = from
	if e.To.Name == "" {
		out.Value = e.ToName
		return out, nil
	}
	to, err := c.refOf(k, resolver, e.To)
	out.To = &to
	return out, err
}

// refOf names the entity that has a name.
func (c *call) refOf(k *knowledge, resolver *graph.Resolver, n graph.Node) (yiku.EntityRef, error) {
	g, err := resolver.Resolve(n)
	if err != nil {
		return yiku.EntityRef{}, err
	}
	return c.groupRef(k, g)
}

func (c *call) groupRef(k *knowledge, g *graph.Group) (yiku.EntityRef, error) {
	if ref, ok := k.refs[g]; ok {
		return ref, nil
	}
	edges, err := k.Around(g.Names(), nil)
	if err != nil {
		return yiku.EntityRef{}, err
	}
	ref := k.ref(g, edges)
	k.refs[g] = ref
	return ref, nil
}

// queryGraph finds what lies around an entity, over several relations, with
// the memories that prove it (C14).
func (c *call) queryGraph(ctx context.Context, req yiku.QueryGraphRequest) (yiku.QueryGraphResponse, error) {
	res := yiku.QueryGraphResponse{Paths: []yiku.GraphPath{}, Memories: []yiku.Memory{}}
	owner, err := c.owner(req.UserID)
	if err != nil {
		return res, err
	}
	q, err := c.graphQuestion(req)
	if err != nil {
		return res, err
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		res = yiku.QueryGraphResponse{Paths: []yiku.GraphPath{}, Memories: []yiku.Memory{}}
		k, err := c.knowledge(r, owner, seenBy(req.ProjectID, req.TaskID, req.AgentID, req.AsOf, c.now))
		if err != nil {
			return err
		}
		rows, err := r.Entities(owner, store.EntityQuery{IDs: []string{req.Start}})
		if err != nil {
			return err
		}
		if len(rows) == 1 && req.Start != "" {
			q.Start = nodeOf(rows[0])
		}
		return c.answerGraph(k, q, &res)
	})
	for _, m := range res.Memories {
		c.noteMemory(m.ID)
	}
	c.count("items", len(res.Paths))
	return res, err
}

// graphQuestion reads a request.
func (c *call) graphQuestion(req yiku.QueryGraphRequest) (graph.Question, error) {
	q := graph.Question{Start: graph.Self(), Hops: req.Hops, Limit: req.Limit}
	if req.Start != "" {
		q.Start = c.names.Name(req.Start).Node // none, where it is an id or names nobody
	}
	if req.Relation != "" {
		for _, step := range strings.Split(req.Relation, "/") {
			if strings.TrimSpace(step) == "" {
				return q, yiku.Invalid("relation", "has an empty step")
			}
			q.Relations = append(q.Relations, c.vocabulary.Canonical(step))
		}
	}
	switch {
	case len(q.Relations) > mostHops:
		return q, yiku.Invalid("relation", "must have at most %d steps", mostHops)
	case len(q.Relations) > 1 && q.Hops != 0 && q.Hops != len(q.Relations):
		return q, yiku.Invalid("hops", "must be as many as relation has steps")
	case q.Hops == 0 && len(q.Relations) == 0:
		q.Hops = defaultHops
	case q.Hops == 0:
		q.Hops = len(q.Relations)
	}
	if q.Limit == 0 {
		q.Limit = defaultPaths
	}
	return q, nil
}

// answerGraph walks, and describes what was found.
func (c *call) answerGraph(k *knowledge, q graph.Question, res *yiku.QueryGraphResponse) error {
	resolver := graph.NewResolver(c.vocabulary, k)
	start, err := resolver.Find(q.Start)
	if err != nil {
		return err
	}
	e, err := c.entity(k, resolver, start)
	if err != nil || e.ID == "" {
		return err
	}
	res.Start = &e
	if res.Candidates, err = c.candidates(k, resolver, start); err != nil {
		return err
	}
	paths, cut, err := resolver.Walk(q)
	if err != nil {
		return err
	}
	res.Truncated = cut
	cited := map[string]bool{}
	for _, path := range paths {
		steps := make([]yiku.GraphStep, len(path))
		for i, s := range path {
			if steps[i], err = c.graphStep(k, s); err != nil {
				return err
			}
			for _, id := range steps[i].MemoryIDs {
				if !cited[id] {
					cited[id], res.Memories = true, append(res.Memories, k.memories[id])
				}
			}
		}
		res.Paths = append(res.Paths, yiku.GraphPath{Steps: steps})
	}
	return nil
}

// candidates describes those whom a name may mean as well.
func (c *call) candidates(k *knowledge, resolver *graph.Resolver, g *graph.Group) (out []yiku.Entity, err error) {
	maybe, err := resolver.Candidates(g)
	if err != nil {
		return nil, err
	}
	for _, n := range maybe {
		other, err := resolver.Resolve(n)
		if err != nil {
			return nil, err
		}
		e, err := c.entity(k, resolver, other)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o yiku.Entity) bool { return o.ID == e.ID }) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (c *call) graphStep(k *knowledge, s graph.Step) (yiku.GraphStep, error) {
	out := yiku.GraphStep{Relation: s.Type, Reverse: s.Reverse, MemoryIDs: []string{}}
	from, err := c.groupRef(k, s.From)
	if err != nil {
		return out, err
	}
	out.From = from
	for _, e := range s.Edges {
		if !slices.Contains(out.MemoryIDs, e.Memory) {
			out.MemoryIDs = append(out.MemoryIDs, e.Memory)
		}
	}
	if s.To == nil {
		out.Value = s.Edges[0].ToName
		return out, nil
	}
	to, err := c.groupRef(k, s.To)
	out.To = &to
	return out, err
}
