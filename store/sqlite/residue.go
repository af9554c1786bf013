package sqlite

import (
	"encoding/json"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// residuePlace is a column that holds keys of items. Keys of an owner's items
// are numbers of one sequence, so that a key of one kind is never one of
// another; kinds says which may stand there.
type residuePlace struct {
	name  string // table.column
	sql   string // counts rows; ?1 is a JSON list of keys, ?2 the kind, ?3 and ?4 bound the owner's keys
	args  int    // how many of these it takes
	kinds []store.ItemKind
}

const goneKeys = ` IN (SELECT value FROM json_each(?1))`

// residuePlaces are all columns that hold keys of items, but those of
// bounds and tombstones. A test holds the list against the schema.
func residuePlaces() []residuePlace {
	memory, message, session := []store.ItemKind{store.ItemMemory}, []store.ItemKind{store.ItemMessage}, []store.ItemKind{store.ItemSession}
	all := slices.Concat(memory, message, session)
	count := func(table, column string, kinds []store.ItemKind) residuePlace {
		return residuePlace{table + "." + column, `SELECT count(*) FROM ` + table + ` WHERE ` + column + goneKeys, 1, kinds}
	}
	ofKind := func(table, column, kind string) residuePlace {
		return residuePlace{table + "." + column, `SELECT count(*) FROM ` + table + ` WHERE ` + column + goneKeys + ` AND ` + kind + ` = ?2`, 2, all}
	}
	return []residuePlace{
		count("memories", "key", memory), count("facts", "key", memory), count("episodes", "key", memory), count("skills", "key", memory),
		count("versions", "memory", memory), count("access", "key", memory),
		count("messages", "key", message), count("messages", "session", session), count("sessions", "key", session),
		count("summaries", "session", session), count("extractions", "session", session), count("jobs", "session", session), count("tasks", "session", session),
		ofKind("lineage", "item", "item_kind"), ofKind("lineage", "source", "source_kind"),
		ofKind("vectors", "item", "kind"), ofKind("terms", "item", "kind"),
		count("snapshot_items", "item", all), count("idempotency_items", "item", all),
		{"summaries.covers", sqlResidueSummaries, 4, message},
		{"extractions.covers", sqlResidueExtractions, 4, message},
	}
}

// Residue of ranges: rows that cover a message that is gone. Rows of an owner
// lie together, and there are few of them, so they lead.
const (
	sqlResidueSummaries = `SELECT count(*) FROM summaries s WHERE s.key BETWEEN ?3 AND ?4 AND ?2 > 0
	AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN s.covers_from AND s.covers_to)`
	sqlResidueExtractions = `SELECT count(*) FROM extractions e WHERE e.key BETWEEN ?3 AND ?4 AND ?2 > 0
	AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN e.from_key AND e.to_key)`
)

// Residue counts what still speaks of items that are gone; see
// store.ForgottenReader.
func (r *reader) Residue(owner yiku.Owner, items []store.Item) (map[string]int, error) {
	found := map[string]int{}
	for _, p := range residuePlaces() {
		found[p.name] = 0
	}
	o, err := r.find(owner)
	if err != nil || o == nil {
		return found, err
	}
	keys := map[store.ItemKind][]int64{}
	for _, item := range items {
		if o.has(item.Key) {
			keys[item.Kind] = append(keys[item.Kind], item.Key)
		}
	}
	for kind, list := range keys {
		text, err := json.Marshal(list)
		if err != nil {
			return nil, unavailable("look for residue", err)
		}
		args := []any{string(text), int(kind), o.first(), o.last()}
		for _, p := range residuePlaces() {
			if !slices.Contains(p.kinds, kind) {
				continue
			}
			n, err := r.c.number(p.sql, args[:p.args]...)
			if err != nil {
				return nil, foreign("look for residue", err)
			}
			found[p.name] += int(n)
		}
	}
	return found, nil
}
