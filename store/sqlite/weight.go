package sqlite

import (
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// Statements beside those of residue.go. ?1 is a list of keys; of those of
// sessions, of messages or of all kinds.
const (
	sqlWeightRecords = `SELECT count(*) FROM idempotency WHERE forgotten = 0
	AND key IN (SELECT record FROM idempotency_items WHERE item IN` + goneKeys + `)`
	sqlWeightEntities = `SELECT count(*) FROM entities e WHERE key IN (SELECT subject FROM relations WHERE memory IN` + goneKeys + `
	UNION SELECT object FROM relations WHERE memory IN` + goneKeys + `)
	AND NOT EXISTS (SELECT 1 FROM relations WHERE subject = e.key AND memory NOT IN` + goneKeys + `)
	AND NOT EXISTS (SELECT 1 FROM relations WHERE object = e.key AND memory NOT IN` + goneKeys + `)`
	sqlWeightVectors   = `SELECT count(*) FROM vectors WHERE item IN` + goneKeys
	sqlWeightTerms     = `SELECT count(*) FROM terms WHERE item IN` + goneKeys
	sqlWeightSummaries = `SELECT count(*) FROM summaries s WHERE s.key BETWEEN ?2 AND ?3 AND (s.session IN (SELECT value FROM json_each(?4))
	OR EXISTS (SELECT 1 FROM messages m WHERE m.session = s.session AND m.key BETWEEN s.covers_from AND s.covers_to AND m.key IN` + goneKeys + `))`
)

// Weight counts what goes with items; see store.ForgottenReader.
func (r *reader) Weight(owner yiku.Owner, items []store.Item) (w yiku.Removed, err error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return w, err
	}
	keys := map[store.ItemKind][]int64{}
	var every []int64
	for _, item := range items {
		if o.has(item.Key) {
			keys[item.Kind], every = append(keys[item.Kind], item.Key), append(every, item.Key)
		}
	}
	memories, messages, sessions, all := keyList(keys[store.ItemMemory]), keyList(keys[store.ItemMessage]), keyList(keys[store.ItemSession]), keyList(every)
	for _, q := range []struct {
		into *int
		sql  string
		args []any
	}{
		{&w.Memories, sqlResidueMemoriesKey, []any{memories}},
		{&w.Versions, sqlResidueVersionsMemory, []any{memories}},
		{&w.Relations, sqlResidueRelationsMemory, []any{memories}},
		{&w.Entities, sqlWeightEntities, []any{memories}},
		{&w.Messages, sqlResidueMessagesKey, []any{messages}},
		{&w.Sessions, sqlResidueSessionsKey, []any{sessions}},
		{&w.Jobs, sqlResidueJobsSession, []any{sessions}},
		{&w.Summaries, sqlWeightSummaries, []any{messages, o.first(), o.last(), sessions}},
		{&w.Idempotency, sqlWeightRecords, []any{all}},
		{&w.Vectors, sqlWeightVectors, []any{all}},
		{&w.Terms, sqlWeightTerms, []any{all}},
	} {
		n, err := r.c.number(q.sql, q.args...)
		if err != nil {
			return yiku.Removed{}, foreign("weigh items", err)
		}
		*q.into = int(n)
	}
	_, w.Slots, err = r.foundIn(o, keys[store.ItemMessage], messages)
	return w, foreign("weigh items", err)
}
