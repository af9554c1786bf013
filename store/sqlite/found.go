package sqlite

import (
	"encoding/binary"
	"slices"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// Data slots that were found in messages have edges in lineage: from the
// working memory, which has no key and stands as what snapshots cite it by, to
// each message. They tell which working memories to look into where a message
// goes.

// itemWorking is the kind of a working memory in lineage.
const itemWorking = 4

const (
	sqlDropFound = `DELETE FROM lineage WHERE item = ? AND item_kind = ?`
	sqlFoundIn   = `SELECT DISTINCT item FROM lineage WHERE item_kind = ?2 AND source IN` + goneKeys
)

// placeCite is what stands for the working memory of a place where a key would.
func placeCite(mark []byte) int64 { return int64(binary.BigEndian.Uint64(mark) | 1<<63) }

// putFound replaces the edges of a working memory.
func (t *tx) putFound(mark []byte, found map[string]store.Found) error {
	cite := placeCite(mark)
	if err := t.c.run(sqlDropFound, cite, itemWorking); err != nil {
		return err
	}
	for _, f := range found {
		if err := t.c.run(sqlAddEdge, cite, f.Message, itemWorking, int(store.ItemMessage), t.nextOutside()); err != nil {
			return err
		}
	}
	return nil
}

// foundIn returns the working memories with slots that were found in messages,
// and how many slots those are. list is a keyList of messages.
func (r *reader) foundIn(o *ownerRef, messages []int64, list string) (hit []store.Working, slots int, err error) {
	cites, err := r.c.numbers(sqlFoundIn, list, itemWorking)
	if err != nil || len(cites) == 0 {
		return nil, 0, err
	}
	err = r.c.each(sqlAllWorking, func(st *sqlite3.Stmt) error {
		w, err := r.readWorking(o, st)
		if err != nil || !slices.Contains(cites, placeCite(r.placeMark(o, w.Project, w.TaskID, w.SessionID))) {
			return err
		}
		before := slots
		for _, f := range w.Found {
			if slices.Contains(messages, f.Message) {
				slots++
			}
		}
		if slots > before {
			hit = append(hit, w)
		}
		return nil
	}, o.number)
	return hit, slots, err
}

// dropFound deletes the slots that were found in messages, and the snapshots
// that show them.
func (t *tx) dropFound(messages []int64, list string, removed *yiku.Removed) error {
	hit, slots, err := t.foundIn(t.own, messages, list)
	if err != nil {
		return err
	}
	removed.Slots += slots
	for _, w := range hit {
		for name, f := range w.Found {
			if slices.Contains(messages, f.Message) {
				delete(w.Found, name)
				delete(w.DataSlots, name)
			}
		}
		cite := placeCite(t.placeMark(t.own, w.Project, w.TaskID, w.SessionID))
		if err := t.c.count(&removed.Snapshots, sqlDropCites, keyList([]int64{cite})); err != nil {
			return err
		}
		if err := t.PutWorking(&w); err != nil {
			return err
		}
	}
	return nil
}
