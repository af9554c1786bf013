package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func graphTests() map[string]func(*env) {
	return map[string]func(*env){
		"RoundTrip": graphRoundTrip,
		"Queries":   graphQueries,
		"Update":    graphUpdate,
		"Sources":   graphSources,
		"Refused":   graphRefused,
	}
}

// entity is an entity as it is given with a relation.
func entity(name string) store.Entity {
	return store.Entity{ID: "id of " + name, Name: name, Base: name}
}

// related is a memory that says relations.
func related(id string, relations ...store.Relation) *store.Memory {
	m := fact(id)
	m.Relations = relations
	return m
}

// graph reads all of an owner's entities, by name, and relations, newest first.
func (e *env) graph(o yiku.Owner) (entities map[string]store.Entity, relations []store.Relation) {
	e.t.Helper()
	entities = map[string]store.Entity{}
	e.view(func(r store.Reader) error {
		list, err := r.Entities(o, store.EntityQuery{})
		for _, x := range list {
			entities[x.Name] = x
		}
		rows, err2 := r.Relations(o, store.RelationQuery{})
		relations = rows
		return errors.Join(err, err2)
	})
	return entities, relations
}

// lines writes relations as texts.
func lines(relations []store.Relation) (out []string) {
	for _, r := range relations {
		to := r.To.Name
		if to == "" {
			to = "=" + r.ToName
		}
		out = append(out, fmt.Sprintf("%s %s %s", r.From.Name, r.Type, to))
	}
	return out
}

// graphRoundTrip: a memory's relations come back as they were given, and each
// name is one entity, of one owner.
func graphRoundTrip(e *env) {
	anna := store.Entity{ID: "1", Name: "安娜\x00wife", Base: "安娜", Given: "娜", Family: "安"}
	given := store.Relation{Type: "雇主", From: anna, To: entity("谷歌"), FromName: "我老婆安娜", ToName: "谷歌", FromKind: yiku.EntityPerson, ToKind: yiku.EntityOrganisation}
	m := related("m", given, store.Relation{Type: "age", From: anna, FromName: "Anna", ToName: "41"}, store.Relation{From: anna})
	again := anna
	again.ID = "another"
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.AddMemory(m), tx.AddMemory(related("n", store.Relation{Type: "likes", From: again, ToName: "茶"})))
	})
	e.updateAs(e.alien, func(tx store.Tx) error { return tx.AddMemory(related("m", store.Relation{Type: "x", From: anna})) })
	entities, relations := e.graph(e.owner)
	if len(entities) != 2 || len(relations) != 4 {
		e.t.Fatalf("%d entities, %d relations, want 2 and 4", len(entities), len(relations))
	}
	got := relations[3]
	if got.Key == 0 || got.Memory != m.Key || got.From.Key == 0 || got.To.Key != entities["谷歌"].Key {
		e.t.Errorf("keys: %+v", got)
	}
	got.Key, got.Memory, got.From.Key, got.To.Key = 0, 0, 0, 0
	e.same("a relation", given, got)
	e.same("the order", []string{"安娜\x00wife likes =茶", "安娜\x00wife  =", "安娜\x00wife age =41", "安娜\x00wife 雇主 谷歌"}, lines(relations))
	e.view(func(r store.Reader) error {
		for _, o := range []yiku.Owner{e.neighbour, e.alien} { // one is unknown, one has a graph
			around, err := r.Relations(o, store.RelationQuery{Around: []int64{entities["谷歌"].Key}})
			of, err2 := r.Relations(o, store.RelationQuery{Memories: []int64{m.Key}})
			named, err3 := r.Entities(o, store.EntityQuery{Names: []string{"谷歌"}})
			if err := errors.Join(err, err2, err3); err != nil || len(around)+len(of)+len(named) != 0 {
				e.t.Errorf("another owner's graph is seen: %v", err)
			}
		}
		return nil
	})
	if entities, relations := e.graph(e.alien); len(entities) != 1 || len(relations) != 1 {
		e.t.Errorf("the other owner has %d entities and %d relations, want one each", len(entities), len(relations))
	}
}

func graphQueries(e *env) {
	bob := store.Entity{ID: "b", Name: "bob smith\x00friend", Base: "bob smith", Given: "bob", Family: "smith"}
	first := related("m", store.Relation{Type: "employer", From: bob, To: entity("acme")}, store.Relation{From: bob})
	e.update(func(tx store.Tx) error {
		return errors.Join(tx.AddMemory(first), tx.AddMemory(related("n", store.Relation{Type: "residence", From: bob, To: entity("oslo")}, store.Relation{Type: "owns", From: entity("acme"), To: entity("oslo")})))
	})
	entities, _ := e.graph(e.owner)
	acme, oslo := entities["acme"], entities["oslo"]
	e.view(func(r store.Reader) (err error) {
		for name, c := range map[string]struct {
			q    store.EntityQuery
			want []string
		}{
			"all":     {store.EntityQuery{}, []string{"oslo", "acme", bob.Name}},
			"page":    {store.EntityQuery{Before: oslo.Key, Limit: 1}, []string{"acme"}},
			"id":      {store.EntityQuery{IDs: []string{"b", "none"}}, []string{bob.Name}},
			"names":   {store.EntityQuery{Names: []string{"acme", "oslo", ""}}, []string{"oslo", "acme"}},
			"base":    {store.EntityQuery{Bases: []string{"bob smith"}}, []string{bob.Name}},
			"given":   {store.EntityQuery{Givens: []string{"bob"}}, []string{bob.Name}},
			"family":  {store.EntityQuery{Families: []string{"smith"}}, []string{bob.Name}},
			"nothing": {store.EntityQuery{Givens: []string{""}}, nil},
			"both":    {store.EntityQuery{Givens: []string{"bob"}, Bases: []string{"acme"}}, nil},
		} {
			list, err2 := r.Entities(e.owner, c.q)
			err = errors.Join(err, err2)
			var got []string
			for _, x := range list {
				got = append(got, x.Name)
			}
			e.same(name, c.want, got)
		}
		for name, c := range map[string]struct {
			q    store.RelationQuery
			want int
		}{
			"all": {store.RelationQuery{}, 4}, "typed": {store.RelationQuery{Typed: true}, 3}, "type": {store.RelationQuery{Types: []string{"owns", "none"}}, 1},
			"around one": {store.RelationQuery{Around: []int64{acme.Key}}, 2}, "around two": {store.RelationQuery{Around: []int64{acme.Key, oslo.Key}}, 3},
			"around none": {store.RelationQuery{Around: []int64{}}, 0}, "of a memory": {store.RelationQuery{Memories: []int64{first.Key}}, 2},
			"all at once": {store.RelationQuery{Memories: []int64{first.Key}, Around: []int64{acme.Key}, Types: []string{"employer"}, Typed: true}, 1}, "limit": {store.RelationQuery{Limit: 2}, 2},
		} {
			list, err2 := r.Relations(e.owner, c.q)
			err = errors.Join(err, err2)
			if len(list) != c.want {
				e.t.Errorf("%s: %q, want %d", name, lines(list), c.want)
			}
		}
		list, err2 := r.Relations(e.owner, store.RelationQuery{Limit: 1})
		rest, err3 := r.Relations(e.owner, store.RelationQuery{Before: list[0].Key})
		if len(rest) != 3 {
			e.t.Errorf("behind the first: %q", lines(rest))
		}
		return errors.Join(err, err2, err3)
	})
}

// graphUpdate: relations stay as long as a memory says the same, are replaced
// where new ones are given, and go where it says something else.
func graphUpdate(e *env) {
	m := related("m", store.Relation{Type: "employer", From: entity("bob"), To: entity("acme")})
	e.update(func(tx store.Tx) error { return tx.AddMemory(m) })
	steps := []struct {
		change func()
		want   []string
		names  int
	}{
		{func() { m.Importance, m.Relations = 1, nil }, []string{"bob employer acme"}, 2},
		{func() { m.Relations = []store.Relation{{Type: "owns", From: entity("bob"), To: entity("shop")}} }, []string{"bob owns shop"}, 2},
		{func() { m.Value, m.Relations = "something else", nil }, nil, 0},
	}
	for i, step := range steps {
		step.change()
		e.update(func(tx store.Tx) error { return tx.UpdateMemory(m, "patched") })
		entities, relations := e.graph(e.owner)
		e.same(fmt.Sprint("step ", i), step.want, lines(relations))
		if len(entities) != step.names {
			e.t.Errorf("step %d: %d entities, want %d", i, len(entities), step.names)
		}
	}
}

// graphSources: relations go with their memory by every way, an entity with the
// last of its relations, and both are counted and weighed before.
func graphSources(e *env) {
	shared := store.Relation{Type: "friend", From: entity("bob"), To: entity("anna")}
	one, two := related("one", shared, store.Relation{Type: "employer", From: entity("bob"), To: entity("acme")}), related("two", shared)
	e.update(func(tx store.Tx) error { return errors.Join(tx.AddMemory(one), tx.AddMemory(two)) })
	item := []store.Item{{Kind: store.ItemMemory, Key: one.Key}}
	e.view(func(r store.Reader) error {
		w, err := r.Weight(e.owner, item)
		if w.Relations != 2 || w.Entities != 1 {
			e.t.Errorf("weight %+v", w)
		}
		return err
	})
	var removed yiku.Removed
	e.update(func(tx store.Tx) error {
		removed = yiku.Removed{}
		return tx.Purge([]int64{one.Key}, nil, &removed)
	})
	entities, relations := e.graph(e.owner)
	if removed.Relations != 2 || removed.Entities != 1 || len(entities) != 2 || len(relations) != 1 {
		e.t.Errorf("removed %+v, left %d entities and %d relations", removed, len(entities), len(relations))
	}
	e.view(func(r store.Reader) error {
		found, err := r.Residue(e.owner, item)
		for place, n := range found {
			if n > 0 {
				e.t.Errorf("%d left in %s", n, place)
			}
		}
		return err
	})
	e.update(func(tx store.Tx) error { return tx.DeleteMemory(two.Key) })
	if entities, relations = e.graph(e.owner); len(entities)+len(relations) != 0 {
		e.t.Errorf("left %d entities and %d relations", len(entities), len(relations))
	}
	if found, err := e.s.Check(context.Background()); err != nil || len(found) > 0 {
		e.t.Errorf("Check = %q, %v", found, err)
	}
}

// graphRefused: a relation that leads from nowhere, and a new entity without an
// id, are refused with the memory that says them, and nothing is written.
func graphRefused(e *env) {
	for name, bad := range map[string]store.Relation{
		"from nowhere": {Type: "x", To: entity("a")},
		"no id":        {Type: "x", From: store.Entity{Name: "a"}},
	} {
		e.update(func(tx store.Tx) error {
			err := tx.AddMemory(related(name, store.Relation{Type: "x", From: entity("b")}, bad))
			e.want(name, err, yiku.ErrInvalid)
			return nil
		})
	}
	if entities, relations := e.graph(e.owner); len(entities)+len(relations) != 0 {
		e.t.Errorf("left %d entities and %d relations", len(entities), len(relations))
	}
}
