package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	entityColumns   = `e.key, e.id, e.body`
	relationColumns = `r.key, r.memory, r.subject, coalesce(r.object, 0), r.body`

	sqlEntity       = `SELECT ` + entityColumns + ` FROM entities e WHERE e.key = ?`
	sqlEntityNamed  = `SELECT ` + entityColumns + ` FROM entities e WHERE e.owner = ? AND e.name_mark = ?`
	sqlEntities     = `SELECT ` + entityColumns + ` FROM entities e`
	sqlEntityOrder  = ` ORDER BY e.key DESC LIMIT ?`
	sqlRelations    = `SELECT ` + relationColumns + ` FROM relations r`
	sqlRelationsOf  = `r.memory IN (SELECT value FROM json_each(?))`
	sqlRelationsBy  = `r.key IN (SELECT key FROM relations WHERE subject IN (SELECT value FROM json_each(?)) UNION SELECT key FROM relations WHERE object IN (SELECT value FROM json_each(?)))`
	sqlRelationRows = ` ORDER BY r.key DESC LIMIT ?`

	sqlAddEntity   = `INSERT INTO entities (key, owner, id, name_mark, base_mark, given_mark, family_mark, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlAddRelation = `INSERT INTO relations (key, memory, subject, object, type_mark, body) VALUES (?, ?, ?, nullif(?, 0), ?, ?)`

	sqlSpokenOf = `SELECT subject FROM relations WHERE memory IN` + goneKeys + `
	UNION SELECT object FROM relations WHERE object IS NOT NULL AND memory IN` + goneKeys
	sqlDropRelations = `DELETE FROM relations WHERE memory IN` + goneKeys
	sqlDropEntities  = `DELETE FROM entities WHERE key IN` + goneKeys + unspoken
	unspoken         = ` AND NOT EXISTS (SELECT 1 FROM relations WHERE subject = entities.key) AND NOT EXISTS (SELECT 1 FROM relations WHERE object = entities.key)`
	sqlSourceless    = `SELECT count(*) FROM entities WHERE true` + unspoken
)

// Entities lists entities; see store.GraphReader.
func (r *reader) Entities(owner yiku.Owner, q store.EntityQuery) (list []store.Entity, err error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	where := r.entityFilter(o, q)
	err = r.c.each(sqlEntities+where.sql.String()+sqlEntityOrder, func(st *sqlite3.Stmt) error {
		e, err := r.readEntity(o, st)
		list = append(list, e)
		return err
	}, append(where.args, limit(q.Limit))...)
	return list, foreign("list entities", err)
}

// entityFilter compiles a query: the plus keeps SQLite from reading all of an
// owner's rows where a name says which.
func (r *reader) entityFilter(o *ownerRef, q store.EntityQuery) *conditions {
	last := o.last()
	if q.Before > 0 {
		last = min(last, q.Before-1)
	}
	where := &conditions{}
	for _, c := range []struct {
		column, some, domain string
		names                []string
	}{
		{`e.id`, ``, "", q.IDs}, {`e.name_mark`, `e.name_mark <> x''`, "entity", q.Names}, {`e.base_mark`, `e.base_mark <> x''`, "entity.base", q.Bases},
		{`e.given_mark`, `e.given_mark <> x''`, "entity.given", q.Givens}, {`e.family_mark`, `e.family_mark <> x''`, "entity.family", q.Families},
	} {
		if len(c.names) == 0 {
			continue
		}
		if len(where.args) == 0 {
			where.add(`e.owner = ?`, o.number)
		}
		values := make([]any, len(c.names))
		for i, name := range c.names {
			if values[i] = name; c.domain != "" {
				values[i] = r.mark(o, c.domain, name)
			}
		}
		if c.some != "" {
			where.add(c.some)
		}
		where.in(c.column, values)
	}
	if len(where.args) > 0 {
		where.add(`+e.key BETWEEN ? AND ?`, o.first(), last)
	} else {
		where.add(`e.key BETWEEN ? AND ?`, o.first(), last)
	}
	return where
}

func (r *reader) readEntity(o *ownerRef, st *sqlite3.Stmt) (e store.Entity, err error) {
	e = store.Entity{Key: st.ColumnInt64(0), ID: st.ColumnText(1)}
	plain, err := r.open(o, r.c.entityPlace(&e), st.ColumnRawBlob(2))
	if err != nil {
		return e, err
	}
	u := unpack(plain)
	e.Name, e.Base, e.Given, e.Family = u.next(), u.next(), u.next(), u.next()
	return e, u.err()
}

// Relations lists relations with their entities; see store.GraphReader.
func (r *reader) Relations(owner yiku.Owner, q store.RelationQuery) (list []store.Relation, err error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	where := r.relationFilter(o, q)
	err = r.c.each(sqlRelations+where.sql.String()+sqlRelationRows, func(st *sqlite3.Stmt) error {
		rel, err := r.readRelation(o, st)
		list = append(list, rel)
		return err
	}, append(where.args, limit(q.Limit))...)
	if err != nil {
		return nil, foreign("list relations", err)
	}
	seen := map[int64]store.Entity{}
	for i := range list {
		for _, e := range []*store.Entity{&list[i].From, &list[i].To} {
			if *e, err = r.entity(o, e.Key, seen); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

func (r *reader) relationFilter(o *ownerRef, q store.RelationQuery) *conditions {
	last := o.last()
	if q.Before > 0 {
		last = min(last, q.Before-1)
	}
	where := &conditions{}
	if q.Memories != nil || q.Around != nil {
		where.add(`+r.key BETWEEN ? AND ?`, o.first(), last)
	} else {
		where.add(`r.key BETWEEN ? AND ?`, o.first(), last)
	}
	if q.Memories != nil {
		where.add(sqlRelationsOf, keyList(q.Memories))
	}
	if q.Around != nil {
		where.add(sqlRelationsBy, keyList(q.Around), keyList(q.Around))
	}
	types := make([]any, len(q.Types))
	for i, t := range q.Types {
		types[i] = r.mark(o, "relation", t)
	}
	where.in(`r.type_mark`, types)
	if q.Typed {
		where.add(`r.type_mark <> x''`)
	}
	return where
}

// entity reads an entity by its key once; the zero one has none.
func (r *reader) entity(o *ownerRef, key int64, seen map[int64]store.Entity) (e store.Entity, err error) {
	e, ok := seen[key]
	if ok || key == 0 {
		return e, nil
	}
	found, err := r.c.one(sqlEntity, func(st *sqlite3.Stmt) error {
		e, err = r.readEntity(o, st)
		return err
	}, key)
	if err == nil && !found {
		err = unreadable()
	}
	seen[key] = e
	return e, foreign("read entity", err)
}

// readRelation reads a row without its entities.
func (r *reader) readRelation(o *ownerRef, st *sqlite3.Stmt) (rel store.Relation, err error) {
	rel = store.Relation{Key: st.ColumnInt64(0), Memory: st.ColumnInt64(1)}
	rel.From.Key, rel.To.Key = st.ColumnInt64(2), st.ColumnInt64(3)
	plain, err := r.open(o, r.c.relationPlace(&rel), st.ColumnRawBlob(4))
	if err != nil {
		return rel, err
	}
	u := unpack(plain)
	rel.Type, rel.FromName, rel.ToName = u.next(), u.next(), u.next()
	rel.FromKind, rel.ToKind = yiku.EntityKind(u.next()), yiku.EntityKind(u.next())
	return rel, u.err()
}

// relate writes what a memory says of whom.
func (t *tx) relate(memory int64, relations []store.Relation) error {
	for _, rel := range relations {
		rel.Memory = memory
		for _, e := range []*store.Entity{&rel.From, &rel.To} {
			if err := t.putEntity(e); err != nil {
				return err
			}
		}
		if rel.From.Key == 0 {
			return yiku.Invalid("relations", "must each lead from an entity")
		}
		rel.Key = t.nextOutside()
		body, err := t.seal(t.own, t.c.relationPlace(&rel), pack(rel.Type, rel.FromName, rel.ToName, string(rel.FromKind), string(rel.ToKind)))
		if err != nil {
			return err
		}
		if err := t.c.run(sqlAddRelation, rel.Key, memory, rel.From.Key, rel.To.Key, t.mark(t.own, "relation", rel.Type), body); err != nil {
			return err
		}
	}
	return nil
}

// putEntity sets the key and the id of an entity, which it adds where it is
// new. One without a name is none.
func (t *tx) putEntity(e *store.Entity) error {
	e.Key = 0
	if e.Name == "" {
		return nil
	}
	mark := t.mark(t.own, "entity", e.Name)
	known := *e
	found, err := t.c.one(sqlEntityNamed, func(st *sqlite3.Stmt) (err error) {
		known, err = t.readEntity(t.own, st)
		return err
	}, t.own.number, mark)
	if err != nil || found {
		*e = known
		return err
	}
	if e.ID == "" {
		return yiku.Invalid("relations", "must name their entities by an id")
	}
	e.Key = t.nextOutside()
	body, err := t.seal(t.own, t.c.entityPlace(e), pack(e.Name, e.Base, e.Given, e.Family))
	if err != nil {
		return err
	}
	return t.c.run(sqlAddEntity, e.Key, t.own.number, e.ID, mark, t.mark(t.own, "entity.base", e.Base),
		t.mark(t.own, "entity.given", e.Given), t.mark(t.own, "entity.family", e.Family), body)
}

// relateAnew replaces what a memory says of whom.
func (t *tx) relateAnew(memory int64, relations []store.Relation) error {
	list := keyList([]int64{memory})
	before, err := t.c.numbers(sqlSpokenOf, list)
	if err != nil {
		return err
	}
	if err := t.c.run(sqlDropRelations, list); err != nil {
		return err
	}
	if err := t.relate(memory, relations); err != nil {
		return err
	}
	return t.c.run(sqlDropEntities, keyList(before))
}

// dropRelations deletes what memories say of whom, and the entities of which
// nothing speaks any more. keys is a keyList.
func (t *tx) dropRelations(keys string, removed *yiku.Removed) error {
	spoken, err := t.c.numbers(sqlSpokenOf, keys)
	if err != nil || len(spoken) == 0 {
		return err
	}
	if err := t.c.count(&removed.Relations, sqlDropRelations, keys); err != nil {
		return err
	}
	return t.c.count(&removed.Entities, sqlDropEntities, keyList(spoken))
}
