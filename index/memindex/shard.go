package memindex

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/lang"
)

// shard is one owner's documents. Apply prepares everything beside the readers
// (writing is held, mu is not) and takes mu only to put it in place.
type shard struct {
	analyzer *lang.Analyzer
	kinds    map[string]yiku.FieldKind
	names    []string // of the fields that have columns

	writing sync.Mutex // one Apply at a time

	mu  sync.RWMutex // guards what follows
	pos index.Position
	t   *table
}

// table is the state of a shard that searches read.
type table struct {
	refs     []index.Ref
	docs     []doc   // by slot
	at       []int64 // Unix seconds, noTime where unknown
	prev     []int32
	next     []int32
	slots    map[index.Ref]uint32
	groups   map[groupKey]uint32
	group    []group // by number; 0 is no session
	segments []segment
	columns  columns
	vectors  vectors
	alive    int
	length   uint64 // the sum of all documents' lengths
	grouped  uint64 // the part of it that stands in sessions
	sessions int    // groups that hold a document
}

// doc is what scoring needs of a document, in one cache line's eighth.
type doc struct {
	length uint32 // terms, with repetitions; 0 where it has none or is gone
	group  uint32
}

// noTime stands for the zero time.
const noTime = math.MinInt64

// gone marks the slot of a deleted document in prev.
const gone = -2

// groupKey names a session's documents of one kind.
type groupKey struct {
	kind    index.Kind
	session int64
}

type group struct {
	session int64
	last    int32 // the slot of its last document, -1: none
	docs    int32
	length  uint64
}

func newShard(analyzer *lang.Analyzer) *shard {
	s := &shard{analyzer: analyzer, kinds: yiku.FilterFields(), t: newTable()}
	for name := range s.kinds {
		if name != "id" && name != "content" {
			s.names = append(s.names, name)
		}
	}
	slices.Sort(s.names)
	return s
}

func newTable() *table {
	return &table{slots: make(map[index.Ref]uint32), groups: make(map[groupKey]uint32), group: []group{{last: -1}}, columns: newColumns()}
}

func (s *shard) at() index.Position {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.pos
}

// apply implements Apply and returns the shard's size.
func (s *shard) apply(ctx context.Context, batch index.Batch) (Size, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	t := s.t // only apply replaces or changes it
	anew := batch.From == index.Position{}
	if anew {
		t = newTable()
	} else if batch.From != s.pos {
		return Size{}, index.ErrPosition
	}
	upserts := lastOfEach(batch.Upserts)
	if len(t.refs)+len(upserts) > maxSlots {
		return Size{}, yiku.Errorf(yiku.ErrUnsupported, "an owner can have at most %d documents in this index", maxSlots)
	}
	prepared, err := s.prepare(ctx, uint32(len(t.refs)), upserts)
	if err != nil {
		return Size{}, err
	}
	segments := push(t.segments, prepared.segment, func(slot uint32) bool {
		return int(slot) < len(t.docs) && t.docs[slot].length == 0
	})
	if anew {
		t.install(upserts, prepared, segments, s.kinds)
		s.mu.Lock()
		s.t, s.pos = t, batch.To
		s.mu.Unlock()
		return t.size(), nil
	}
	s.mu.Lock()
	for _, ref := range batch.Deletes {
		t.remove(ref)
	}
	for i := range upserts {
		t.remove(upserts[i].Ref)
	}
	t.install(upserts, prepared, segments, s.kinds)
	s.pos = batch.To
	s.mu.Unlock()
	if dead := len(t.refs) - t.alive; dead > 64 && dead > len(t.refs)/4 {
		t = t.compact(s.kinds)
		s.mu.Lock()
		s.t = t
		s.mu.Unlock()
	}
	return t.size(), nil
}

// lastOfEach drops documents that a later one of the batch replaces.
func lastOfEach(docs []index.Doc) []index.Doc {
	last := make(map[index.Ref]int, len(docs))
	for i := range docs {
		last[docs[i].Ref] = i
	}
	if len(last) == len(docs) {
		return docs
	}
	kept := make([]index.Doc, 0, len(last))
	for i := range docs {
		if last[docs[i].Ref] == i {
			kept = append(kept, docs[i])
		}
	}
	return kept
}

// prepared is what a batch's documents have become before they are put in place.
type prepared struct {
	segment segment
	lengths []uint32
	fields  [][]fieldValue
}

// prepare cuts the texts into terms and sorts them; slots are given from first on.
func (s *shard) prepare(ctx context.Context, first uint32, docs []index.Doc) (prepared, error) {
	size := 0
	for i := range docs {
		size += len(docs[i].Text)
	}
	keys := make([]uint64, 0, size/3)
	p := prepared{lengths: make([]uint32, len(docs)), fields: make([][]fieldValue, len(docs))}
	for i := range docs {
		if i%256 == 0 && ctx.Err() != nil {
			return prepared{}, ctx.Err()
		}
		from := len(keys)
		keys = s.analyzer.Append(keys, docs[i].Text)
		slot := uint64(first) + uint64(i)
		for j := from; j < len(keys); j++ {
			keys[j] = keys[j]<<slotBits | slot
		}
		p.lengths[i] = uint32(len(keys) - from)
		p.fields[i] = readFields(&docs[i], s.names)
	}
	p.segment = newSegment(keys)
	return p, nil
}

// install puts prepared documents into the next slots.
func (t *table) install(docs []index.Doc, p prepared, segments []segment, kinds map[string]yiku.FieldKind) {
	t.segments = segments
	for i := range docs {
		at := int64(noTime)
		if !docs[i].At.IsZero() {
			at = docs[i].At.Unix()
		}
		t.add(docs[i].Ref, docs[i].Session, at, p.lengths[i])
		t.columns.set(uint32(len(t.refs)-1), p.fields[i], kinds)
		t.vectors.set(len(t.refs)-1, docs[i].Vector)
	}
}

// add gives a document the next slot.
func (t *table) add(ref index.Ref, session, at int64, length uint32) {
	slot := int32(len(t.refs))
	t.refs, t.at = append(t.refs, ref), append(t.at, at)
	t.slots[ref] = uint32(slot)
	t.alive++
	t.length += uint64(length)
	t.prev, t.next = append(t.prev, -1), append(t.next, -1)
	g := uint32(0)
	if session != 0 {
		key := groupKey{ref.Kind, session}
		var ok bool
		if g, ok = t.groups[key]; !ok {
			g = uint32(len(t.group))
			t.groups[key] = g
			t.group = append(t.group, group{session: session, last: -1})
		}
		t.link(slot, &t.group[g])
		t.group[g].length += uint64(length)
		t.grouped += uint64(length)
	}
	t.docs = append(t.docs, doc{length: length, group: g})
}

// link puts a document into its session's chain, which is in the order of keys.
func (t *table) link(slot int32, g *group) {
	if g.docs == 0 {
		t.sessions++
	}
	g.docs++
	before := g.last
	after := int32(-1)
	for before >= 0 && t.refs[before].Key > t.refs[slot].Key {
		before, after = t.prev[before], before
	}
	t.prev[slot], t.next[slot] = before, after
	if before >= 0 {
		t.next[before] = slot
	}
	if after >= 0 {
		t.prev[after] = slot
	} else {
		g.last = slot
	}
}

// remove takes a document out; its postings go when segments are merged.
func (t *table) remove(ref index.Ref) {
	slot, ok := t.slots[ref]
	if !ok {
		return
	}
	delete(t.slots, ref)
	d := &t.docs[slot]
	t.alive--
	t.length -= uint64(d.length)
	if d.group != 0 {
		g := &t.group[d.group]
		g.length -= uint64(d.length)
		t.grouped -= uint64(d.length)
		if g.docs--; g.docs == 0 {
			t.sessions--
		}
		before, after := t.prev[slot], t.next[slot]
		if before >= 0 {
			t.next[before] = after
		}
		if after >= 0 {
			t.prev[after] = before
		} else {
			g.last = before
		}
	}
	t.prev[slot], t.next[slot] = gone, -1
	*d = doc{}
	t.columns.clear(slot)
	t.vectors.clear(slot)
}

// compact returns a table without the slots of deleted documents.
func (t *table) compact(kinds map[string]yiku.FieldKind) *table {
	out := newTable()
	slots := make([]int32, len(t.refs))
	for slot := range t.refs {
		if t.prev[slot] == gone {
			slots[slot] = -1
			continue
		}
		slots[slot] = int32(len(out.refs))
		out.add(t.refs[slot], t.group[t.docs[slot].group].session, t.at[slot], t.docs[slot].length)
	}
	out.columns = t.columns.renumber(slots, kinds)
	out.vectors = t.vectors.renumber(slots)
	for i := range t.segments {
		if m := t.segments[i].renumber(slots); len(m.posts) > 0 {
			out.segments = append(out.segments, m)
		}
	}
	return out
}

// size estimates the memory that the table takes.
func (t *table) size() Size {
	n := Size{Documents: int64(t.alive), Vectors: t.vectors.bytes()}
	n.Rows = int64(cap(t.refs))*16 + int64(cap(t.docs)+cap(t.at))*8 + int64(cap(t.prev)+cap(t.next))*4
	n.Rows += int64(len(t.slots))*40 + int64(len(t.group))*72 + t.columns.bytes()
	for i := range t.segments {
		n.Postings += t.segments[i].bytes()
	}
	return n
}
