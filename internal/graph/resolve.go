package graph

import (
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

// Edge is a statement that holds now and may be seen, with the memory that says it.
type Edge struct {
	Statement
	Key    int64
	Memory string // its id
}

// Source is where edges and names are read. Its methods give what may be seen
// only, and at most MostEdges and MostNames of it.
type Source interface {
	// Around gives the edges from or to names, the newest first; of certain
	// types where some are given.
	Around(names, types []string) ([]Edge, error)
	// Called gives the names that may be shortened to a text: those of that
	// base and those of that given name.
	Called(text string) ([]Node, error)
	// Family gives the names of a family.
	Family(name string) ([]Node, error)
}

// How much a Source gives at a time.
const (
	MostEdges = 400
	MostNames = 20
)

// Resolver finds out which names are one entity. It remembers what it has
// read, and serves one question.
type Resolver struct {
	vocabulary *reconcile.Vocabulary
	source     Source
	around     map[string][]Edge
	groups     map[string]*Group
	open       map[string]bool // names that are being resolved
}

// NewResolver returns a resolver of one question.
func NewResolver(v *reconcile.Vocabulary, s Source) *Resolver {
	return &Resolver{vocabulary: v, source: s, around: map[string][]Edge{}, groups: map[string]*Group{}, open: map[string]bool{}}
}

// Group is an entity: all of its names. Two groups of one resolver are the
// same exactly where they are the same pointer.
type Group struct {
	Nodes []Node // the name that was asked for first
}

// Names lists the stored names of a group.
func (g *Group) Names() []string {
	out := make([]string, len(g.Nodes))
	for i, n := range g.Nodes {
		out[i] = n.Name
	}
	return out
}

// Has reports whether a name is one of the group's.
func (g *Group) Has(name string) bool {
	return slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Name == name })
}

// naming are the relations that lead to another name of the same one.
func naming() []string { return []string{"name", "nickname", "alias", shortForm} }

// edges reads the edges of a name once.
func (r *Resolver) edges(name string) ([]Edge, error) {
	if list, ok := r.around[name]; ok {
		return list, nil
	}
	list, err := r.source.Around([]string{name}, nil)
	if err == nil && len(list) >= MostEdges { // what names it is not to be missed
		var more []Edge
		more, err = r.source.Around([]string{name}, naming())
		list = append(list, more...)
	}
	r.around[name] = list
	return list, err
}

// Resolve returns all names of the entity that has a name.
func (r *Resolver) Resolve(n Node) (*Group, error) {
	if g := r.groups[n.Name]; g != nil {
		return g, nil
	}
	if r.open[n.Name] {
		return &Group{Nodes: []Node{n}}, nil
	}
	r.open[n.Name] = true
	defer delete(r.open, n.Name)
	g := &Group{Nodes: []Node{n}}
	for i := 0; i < len(g.Nodes) && i < MostNames; i++ {
		same, err := r.same(g.Nodes[i])
		if err != nil {
			return nil, err
		}
		for _, s := range same {
			if !g.Has(s.Name) {
				g.Nodes = append(g.Nodes, s)
			}
		}
	}
	for _, n := range g.Nodes {
		r.groups[n.Name] = g
	}
	return g, nil
}

// Find is Resolve for a name that a question uses: a place that no memory names
// so is that of the only one who has it.
func (r *Resolver) Find(n Node) (*Group, error) {
	if n.Name == "" {
		return &Group{}, nil
	}
	edges, err := r.edges(n.Name)
	if err != nil {
		return nil, err
	}
	owner, role, ok := ofPlace(n)
	if len(edges) > 0 || !ok {
		return r.Resolve(n)
	}
	from, err := r.Find(Node{Name: owner, Base: strings.TrimPrefix(owner, placeOf)})
	if err != nil {
		return nil, err
	}
	steps, _, err := r.steps(from, role)
	if err != nil {
		return nil, err
	}
	var only *Group
	for _, s := range steps {
		if s.To == nil || only != nil && only != s.To {
			return r.Resolve(n)
		}
		only = s.To
	}
	if only == nil {
		return r.Resolve(n)
	}
	return only, nil
}

// same lists the names that one is the same as, by one step.
func (r *Resolver) same(n Node) ([]Node, error) {
	edges, err := r.edges(n.Name)
	if err != nil {
		return nil, err
	}
	var out []Node
	for _, e := range edges {
		other, outward := e.To, e.From.Name == n.Name
		if !outward {
			other = e.From
		}
		switch {
		case other.Name == "" || other.Name == n.Name:
		case r.vocabulary.Names(e.Type):
			out = append(out, other)
		case e.Type == shortForm:
			short, long := e.To, e.From
			only, err := r.longOf(short)
			if err != nil {
				return nil, err
			}
			if len(only) == 1 && only[0].Name == long.Name {
				out = append(out, other)
			}
		}
	}
	for _, find := range []func(Node, []Edge) ([]Node, error){r.shorter, r.longer, r.places} {
		more, err := find(n, edges)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// longOf lists those who are called by a short form: by what says so, by their
// given name, and by the name without what tells them apart.
func (r *Resolver) longOf(short Node) ([]Node, error) {
	edges, err := r.edges(short.Name)
	if err != nil {
		return nil, err
	}
	found, err := r.source.Called(short.Base)
	if err != nil {
		return nil, err
	}
	for _, e := range edges {
		if e.Type == shortForm && e.To.Name == short.Name {
			found = append(found, e.From)
		}
	}
	var out []Node
	for _, n := range found {
		if n.Name != short.Name && !has(out, n.Name) {
			out = append(out, n)
		}
	}
	whole := slices.Clone(out)
	out = slices.DeleteFunc(out, func(n Node) bool { // counted with the plain form of it
		return n.Name != n.Base && has(whole, n.Base)
	})
	return r.persons(short, out)
}

// persons drops those who cannot be shortened so: what is known to be no person.
func (r *Resolver) persons(short Node, list []Node) ([]Node, error) {
	kind, err := r.kindOf(short)
	if err != nil || kind != "" && kind != yiku.EntityPerson && kind != yiku.EntityAnimal {
		return nil, err
	}
	var out []Node
	known := kind != ""
	for _, n := range list {
		kind, err := r.kindOf(n)
		if err != nil {
			return nil, err
		}
		if kind == "" || kind == yiku.EntityPerson || kind == yiku.EntityAnimal {
			out, known = append(out, n), known || kind != ""
		}
	}
	if !known {
		return nil, nil
	}
	return out, nil
}

// kindOf is what is known of a name's kind.
func (r *Resolver) kindOf(n Node) (yiku.EntityKind, error) {
	edges, err := r.edges(n.Name)
	return kindIn(edges, n.Name), err
}

// kindIn is the kind that the newest edge knows.
func kindIn(edges []Edge, name string) yiku.EntityKind {
	for _, e := range edges {
		if e.From.Name == name && e.FromKind != "" {
			return e.FromKind
		}
		if e.To.Name == name && e.ToKind != "" {
			return e.ToKind
		}
	}
	return ""
}

// longer is who a short name is short for.
func (r *Resolver) longer(n Node, _ []Edge) ([]Node, error) {
	if n.Base == "" || n.Name != n.Base || n.Name == Self().Name {
		return nil, nil
	}
	only, err := r.longOf(n)
	if err != nil || len(only) != 1 {
		return nil, err
	}
	return only, nil
}

// shorter are the short forms by which one is called, where nobody else is.
func (r *Resolver) shorter(n Node, _ []Edge) ([]Node, error) {
	var out []Node
	forms := []string{n.Given}
	if n.Name != n.Base {
		forms = []string{n.Base, n.Given}
	}
	for _, form := range forms {
		if form == "" || form == n.Name {
			continue
		}
		short := plain(form)
		used, err := r.edges(short.Name)
		if err != nil {
			return nil, err
		}
		if len(used) == 0 {
			continue
		}
		only, err := r.longOf(short)
		if err != nil {
			return nil, err
		}
		if len(only) == 1 && only[0].Name == n.Name {
			out = append(out, short)
		}
	}
	return out, nil
}

// places are the name of the only one who has a place, or the places of which
// a name is the only one: "my wife" and Anna.
func (r *Resolver) places(n Node, edges []Edge) ([]Node, error) {
	var out []Node
	if n.Name == Self().Name {
		return nil, nil
	}
	for _, e := range edges {
		if e.To.Name != n.Name || !r.definite(e.Type) {
			continue
		}
		owner, err := r.Resolve(e.From)
		if err != nil {
			return nil, err
		}
		all, err := r.source.Around(owner.Names(), []string{e.Type})
		if err != nil {
			return nil, err
		}
		var named, places []Node
		for _, x := range all {
			_, _, isPlace := ofPlace(x.To)
			switch {
			case !owner.Has(x.From.Name) || x.To.Name == "":
			case isPlace && !has(places, x.To.Name):
				places = append(places, x.To)
			case !isPlace && !has(named, x.To.Name):
				named = append(named, x.To)
			}
		}
		if len(named) == 1 && len(places) > 0 {
			out = append(append(out, named...), places...)
		}
	}
	return slices.DeleteFunc(out, func(o Node) bool { return o.Name == n.Name }), nil
}

// definite reports whether "my so-and-so" means one in particular: of family
// and superiors, not of friends and colleagues.
func (r *Resolver) definite(relation string) bool {
	switch r.vocabulary.Inverse(relation) {
	case "spouse", "partner", "child", "parent", "sibling", "grandchild", "grandparent", "report":
		return true
	}
	return r.vocabulary.Of(relation) == yiku.EntityAnimal || relation == "mother_in_law" || relation == "father_in_law"
}

// Candidates lists who a name may be, where that is not certain.
func (r *Resolver) Candidates(g *Group) ([]Node, error) {
	var out []Node
	for _, n := range g.Nodes {
		if n.Base == "" || n.Name == Self().Name {
			continue
		}
		maybe, err := r.longOf(n)
		if err != nil {
			return nil, err
		}
		if n.Family != "" && n.Given == "" && n.Base != n.Family {
			family, err := r.source.Family(n.Family)
			if err != nil {
				return nil, err
			}
			maybe = append(maybe, family...)
		}
		for _, m := range maybe {
			if !g.Has(m.Name) && !has(out, m.Name) && len(out) < MostNames {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

func has(list []Node, name string) bool {
	return slices.ContainsFunc(list, func(n Node) bool { return n.Name == name })
}
