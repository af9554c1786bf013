package memindex

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
)

var _ index.Rebuilder = (*Index)(nil)

// spare is a shard that is built beside the one that answers. It takes its
// memory beyond Options.MaxBytes until it is installed.
type spare struct {
	index *Index
	owner yiku.Owner
	shard *shard
	size  Size
}

// Rebuild implements index.Rebuilder.
func (x *Index) Rebuild(owner yiku.Owner) (index.Copy, error) {
	if owner.IsZero() {
		return nil, yiku.Invalid("owner", "must not be zero")
	}
	return &spare{index: x, owner: owner, shard: newShard(x.analyzer)}, nil
}

// Apply implements index.Copy.
func (c *spare) Apply(ctx context.Context, batch index.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	size, err := c.shard.apply(ctx, batch)
	if err == nil {
		c.size = size
	}
	return err
}

// Compare implements index.Copy.
func (c *spare) Compare(ctx context.Context) (index.Comparison, error) {
	if err := ctx.Err(); err != nil {
		return index.Comparison{}, err
	}
	s := c.index.shard(c.owner, false)
	if s == nil {
		return index.Comparison{}, nil
	}
	s.writing.Lock() // before mu: an Apply that waited for mu would make searches wait too
	defer s.writing.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.pos == (index.Position{}) {
		return index.Comparison{}, nil
	}
	out := compare(s.t, c.shard.t)
	out.At = s.pos
	return out, nil
}

// Install implements index.Copy.
func (c *spare) Install(ctx context.Context) (installed bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	x := c.index
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.shards[c.owner]
	if !ok {
		return false, nil
	}
	held := e.Value.(*entry)
	c.size.Owners = 1
	x.size.add(held.size, -1)
	x.size.add(c.size, 1)
	held.shard, held.size = c.shard, c.size
	x.shrink(e)
	return true, nil
}

// pair is the slots of a document in two tables.
type pair struct{ held, fresh uint32 }

// compare says how a table differs from a fresh one. It looks at what searches
// read, the postings and columns themselves, not at a checksum that was taken
// of a document when it came.
func compare(held, fresh *table) index.Comparison {
	out := index.Comparison{Documents: held.alive}
	for _, scale := range held.vectors.scale {
		if scale != 0 {
			out.Vectors++
		}
	}
	pairs := match(held, fresh, &out)
	other := make([]bool, len(pairs))
	words, should := held.words(), fresh.words()
	for i, p := range pairs {
		other[i] = words[p.held] != should[p.fresh] || held.docs[p.held].length != fresh.docs[p.fresh].length || held.at[p.held] != fresh.at[p.fresh] ||
			held.group[held.docs[p.held].group].session != fresh.group[fresh.docs[p.fresh].group].session
	}
	held.columns.compare(&fresh.columns, pairs, other)
	for i, p := range pairs {
		ref := fresh.refs[p.fresh]
		switch {
		case other[i]:
			out.Differences = append(out.Differences, index.Difference{Ref: ref, Fault: index.FaultStale})
		case !held.vectors.equal(&fresh.vectors, p):
			out.Differences = append(out.Differences, index.Difference{Ref: ref, Fault: index.FaultVector})
		}
	}
	slices.SortFunc(out.Differences, func(a, b index.Difference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	out.Differences = slices.CompactFunc(out.Differences, func(a, b index.Difference) bool { return a.Ref == b.Ref })
	out.Sums = len(out.Differences) == 0 && !held.sameSums(fresh, pairs)
	return out
}

// match pairs the documents of two tables and notes those that only one has.
func match(held, fresh *table, out *index.Comparison) []pair {
	pairs := make([]pair, 0, len(fresh.slots))
	for slot, ref := range fresh.refs {
		if fresh.prev[slot] == gone {
			continue
		}
		there, ok := held.slots[ref]
		if !ok || held.refs[there] != ref || held.prev[there] == gone {
			out.Differences = append(out.Differences, index.Difference{Ref: ref, Fault: index.FaultMissing})
			continue
		}
		pairs = append(pairs, pair{held: there, fresh: uint32(slot)})
	}
	for slot, ref := range held.refs {
		if held.prev[slot] == gone {
			continue
		}
		_, ok := fresh.slots[ref]
		if there, known := held.slots[ref]; !ok || !known || there != uint32(slot) {
			out.Differences = append(out.Differences, index.Difference{Ref: ref, Fault: index.FaultExtra})
		}
	}
	return pairs
}

// words gives for each slot a number that stands for its postings, whatever
// segments they are in.
func (t *table) words() []uint64 {
	marks := make([]uint64, len(t.refs))
	var posts []uint32
	for i := range t.segments {
		s := &t.segments[i]
		for j, term := range s.terms {
			posts = read(posts[:0], s.posts[s.from[j]:s.from[j+1]])
			for _, p := range posts {
				marks[p>>tfBits] += mix(term<<tfBits | uint64(p&maxTF))
			}
		}
	}
	return marks
}

// mix spreads a number over 64 bits (the finalizer of splitmix64), so that sums
// of different numbers differ.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// equal reports whether a document has the same vector, or none, in both.
func (v *vectors) equal(o *vectors, p pair) bool {
	var a, b float32
	if int(p.held) < len(v.scale) {
		a = v.scale[p.held]
	}
	if int(p.fresh) < len(o.scale) {
		b = o.scale[p.fresh]
	}
	if a == 0 || b == 0 {
		return a == b
	}
	at, should := int(p.held)*v.wide, int(p.fresh)*o.wide
	return a == b && v.size == o.size && slices.Equal(v.rows[at:at+v.wide], o.rows[should:should+o.wide])
}

// compare marks the pairs whose fields differ.
func (c *columns) compare(o *columns, pairs []pair, other []bool) {
	for field := range both(c.values, o.values) {
		if strings.HasPrefix(field, "metadata.") && (c.overflow || o.overflow) {
			continue // which keys have columns depends on which came first
		}
		a, b := c.values[field], o.values[field]
		same := a.translate(b)
		for i, p := range pairs {
			other[i] = other[i] || same[a.id(p.held)] != int64(b.id(p.fresh))
		}
	}
	for field := range both(c.numbers, o.numbers) {
		a, b := c.numbers[field], o.numbers[field]
		for i, p := range pairs {
			x, y := element(a, p.held, math.NaN()), element(b, p.fresh, math.NaN())
			other[i] = other[i] || x != y && !(math.IsNaN(x) && math.IsNaN(y))
		}
	}
	for field := range both(c.times, o.times) {
		a, b := c.times[field], o.times[field]
		for i, p := range pairs {
			other[i] = other[i] || element(a, p.held, stamp{}) != element(b, p.fresh, stamp{})
		}
	}
}

// both holds the keys of two maps.
func both[V any](a, b map[string]V) map[string]bool {
	out := make(map[string]bool, len(b))
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}

// element is a column's, or what stands for absent behind its end.
func element[T any](column []T, slot uint32, absent T) T {
	if int(slot) < len(column) {
		return column[slot]
	}
	return absent
}

// id is the number of a slot's value; 0 where it has none, or there is no column.
func (c *valueColumn) id(slot uint32) uint32 {
	if c == nil {
		return 0
	}
	return element(c.ids, slot, 0)
}

// translate gives for each value's number the one that it has in another
// column, -1 where that does not know it.
func (c *valueColumn) translate(o *valueColumn) []int64 {
	if c == nil {
		return []int64{0}
	}
	out := make([]int64, len(c.table))
	for id := 1; id < len(c.table); id++ {
		out[id] = -1
		if o == nil || c.count[id] == 0 {
			continue
		}
		if there, ok := o.byKey[fieldOf("metadata.", c.table[id]).key]; ok {
			out[id] = int64(there)
		}
	}
	return out
}

// sameSums compares what scores read beside the documents: how many there are,
// how long they are, and who stands next to whom.
func (t *table) sameSums(o *table, pairs []pair) bool {
	if t.alive != o.alive || t.length != o.length || t.grouped != o.grouped || t.sessions != o.sessions {
		return false
	}
	for _, p := range pairs {
		a, b := t.group[t.docs[p.held].group], o.group[o.docs[p.fresh].group]
		if a.docs != b.docs || a.length != b.length || t.refAt(t.prev[p.held]) != o.refAt(o.prev[p.fresh]) || t.refAt(t.next[p.held]) != o.refAt(o.next[p.fresh]) {
			return false
		}
	}
	return true
}

// refAt names the document of a slot, none where that is negative.
func (t *table) refAt(slot int32) index.Ref {
	if slot < 0 {
		return index.Ref{Key: -1}
	}
	return t.refs[slot]
}
