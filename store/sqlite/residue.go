package sqlite

import (
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

// goneKeys is the list of keys of items that are gone.
const goneKeys = ` (SELECT value FROM json_each(?1))`

const (
	sqlResidueMemoriesKey          = `SELECT count(*) FROM memories WHERE key IN` + goneKeys
	sqlResidueFactsKey             = `SELECT count(*) FROM facts WHERE key IN` + goneKeys
	sqlResidueEpisodesKey          = `SELECT count(*) FROM episodes WHERE key IN` + goneKeys
	sqlResidueSkillsKey            = `SELECT count(*) FROM skills WHERE key IN` + goneKeys
	sqlResidueVersionsMemory       = `SELECT count(*) FROM versions WHERE memory IN` + goneKeys
	sqlResidueRelationsMemory      = `SELECT count(*) FROM relations WHERE memory IN` + goneKeys
	sqlResidueAccessKey            = `SELECT count(*) FROM access WHERE key IN` + goneKeys
	sqlResidueMessagesKey          = `SELECT count(*) FROM messages WHERE key IN` + goneKeys
	sqlResidueMessagesSession      = `SELECT count(*) FROM messages WHERE session IN` + goneKeys
	sqlResidueSessionsKey          = `SELECT count(*) FROM sessions WHERE key IN` + goneKeys
	sqlResidueSummariesSession     = `SELECT count(*) FROM summaries WHERE session IN` + goneKeys
	sqlResidueExtractionsSession   = `SELECT count(*) FROM extractions WHERE session IN` + goneKeys
	sqlResidueJobsSession          = `SELECT count(*) FROM jobs WHERE session IN` + goneKeys
	sqlResidueTasksSession         = `SELECT count(*) FROM tasks WHERE session IN` + goneKeys
	sqlResidueSnapshotItemsItem    = `SELECT count(*) FROM snapshot_items WHERE item IN` + goneKeys
	sqlResidueIdempotencyItemsItem = `SELECT count(*) FROM idempotency_items WHERE item IN` + goneKeys
	sqlResidueLineageItem          = `SELECT count(*) FROM lineage WHERE item_kind = ?2 AND item IN` + goneKeys
	sqlResidueLineageSource        = `SELECT count(*) FROM lineage WHERE source_kind = ?2 AND source IN` + goneKeys
	sqlResidueVectorsItem          = `SELECT count(*) FROM vectors WHERE kind = ?2 AND item IN` + goneKeys
	sqlResidueTermsItem            = `SELECT count(*) FROM terms WHERE kind = ?2 AND item IN` + goneKeys

	sqlResiduePagesSession = `SELECT count(*) FROM pages WHERE session IN` + goneKeys
	sqlResiduePagesMemory  = `SELECT count(*) FROM pages WHERE memory IN` + goneKeys

	// Ranges: rows that cover a message that is gone. Rows of an owner lie
	// together, and there are few of them, so they lead.
	sqlResidueSummaries = `SELECT count(*) FROM summaries s WHERE s.key BETWEEN ?3 AND ?4 AND ?2 > 0
	AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN s.covers_from AND s.covers_to)`
	sqlResidueExtractions = `SELECT count(*) FROM extractions e WHERE e.key BETWEEN ?3 AND ?4 AND ?2 > 0
	AND EXISTS (SELECT 1 FROM json_each(?1) k WHERE k.value BETWEEN e.from_key AND e.to_key)`
	sqlResiduePages = `SELECT count(*) FROM pages p WHERE p.key BETWEEN ?3 AND ?4 AND ?2 > 0
	AND (p.from_key IN (SELECT value FROM json_each(?1)) OR p.to_key IN (SELECT value FROM json_each(?1)))`
)

// residuePlaces are all columns that hold keys of items, but those of
// bounds and tombstones. A test holds the list against the schema.
func residuePlaces() []residuePlace {
	memory, message, session := []store.ItemKind{store.ItemMemory}, []store.ItemKind{store.ItemMessage}, []store.ItemKind{store.ItemSession}
	all := slices.Concat(memory, message, session)
	return []residuePlace{
		{"memories.key", sqlResidueMemoriesKey, 1, memory},
		{"facts.key", sqlResidueFactsKey, 1, memory},
		{"episodes.key", sqlResidueEpisodesKey, 1, memory},
		{"skills.key", sqlResidueSkillsKey, 1, memory},
		{"versions.memory", sqlResidueVersionsMemory, 1, memory},
		{"relations.memory", sqlResidueRelationsMemory, 1, memory},
		{"access.key", sqlResidueAccessKey, 1, memory},
		{"messages.key", sqlResidueMessagesKey, 1, message},
		{"messages.session", sqlResidueMessagesSession, 1, session},
		{"sessions.key", sqlResidueSessionsKey, 1, session},
		{"summaries.session", sqlResidueSummariesSession, 1, session},
		{"extractions.session", sqlResidueExtractionsSession, 1, session},
		{"jobs.session", sqlResidueJobsSession, 1, session},
		{"pages.session", sqlResiduePagesSession, 1, session},
		{"pages.memory", sqlResiduePagesMemory, 1, memory},
		{"tasks.session", sqlResidueTasksSession, 1, session},
		{"lineage.item", sqlResidueLineageItem, 2, all},
		{"lineage.source", sqlResidueLineageSource, 2, all},
		{"vectors.item", sqlResidueVectorsItem, 2, all},
		{"terms.item", sqlResidueTermsItem, 2, all},
		{"snapshot_items.item", sqlResidueSnapshotItemsItem, 1, all},
		{"idempotency_items.item", sqlResidueIdempotencyItemsItem, 1, all},
		{"summaries.covers", sqlResidueSummaries, 4, message},
		{"extractions.covers", sqlResidueExtractions, 4, message},
		{"pages.covers", sqlResiduePages, 4, message},
	}
}

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
		args := []any{keyList(list), int(kind), o.first(), o.last()}
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
