package memindex

import (
	"slices"
	"sort"
)

// A key is one occurrence of a term while a segment is built: the term's hash
// (40 bits) above the document's slot (24 bits).
const (
	slotBits = 24
	maxSlots = 1 << slotBits
	slotMask = maxSlots - 1
)

// A posting is a document's slot (24 bits) above how often it holds the term
// (8 bits, at most 255).
const (
	tfBits = 8
	maxTF  = 1<<tfBits - 1
)

// segment is the postings of a range of slots. It never changes.
type segment struct {
	terms []uint64 // hashes, ascending
	from  []uint32 // where each term's postings begin; one more than terms
	posts []uint32 // by term, then by slot
}

// newSegment sorts keys, in place, into a segment. Keys of one document stand
// together and slots ascend, so a stable sort by hash is a sort by both.
func newSegment(keys []uint64) segment {
	keys = sortKeys(keys)
	terms, posts := 0, 0
	for i := range keys {
		if i == 0 || keys[i]>>slotBits != keys[i-1]>>slotBits {
			terms++
		}
		if i == 0 || keys[i] != keys[i-1] {
			posts++
		}
	}
	s := segment{terms: make([]uint64, 0, terms), from: make([]uint32, 0, terms+1), posts: make([]uint32, 0, posts)}
	for i := 0; i < len(keys); {
		key, tf := keys[i], 0
		for i < len(keys) && keys[i] == key {
			tf++
			i++
		}
		if n := len(s.terms); n == 0 || s.terms[n-1] != key>>slotBits {
			s.terms = append(s.terms, key>>slotBits)
			s.from = append(s.from, uint32(len(s.posts)))
		}
		s.posts = append(s.posts, uint32(key&slotMask)<<tfBits|uint32(min(tf, maxTF)))
	}
	s.from = append(s.from, uint32(len(s.posts)))
	return s
}

// sortKeys sorts by hash and slot: by comparison where there are few, else by
// four stable passes over ten bits of the hash each. It returns the sorted
// slice, which may be another one.
func sortKeys(keys []uint64) []uint64 {
	if len(keys) < 2048 {
		slices.Sort(keys)
		return keys
	}
	const bits, passes = 10, 4
	var counts [passes][1 << bits]uint32
	for _, k := range keys {
		h := k >> slotBits
		counts[0][h&1023]++
		counts[1][h>>10&1023]++
		counts[2][h>>20&1023]++
		counts[3][h>>30&1023]++
	}
	other := make([]uint64, len(keys))
	for p := range passes {
		shift := slotBits + bits*p
		count := &counts[p]
		sum := uint32(0)
		for i, c := range count {
			count[i] = sum
			sum += c
		}
		for _, k := range keys {
			b := k >> shift & 1023
			other[count[b]] = k
			count[b]++
		}
		keys, other = other, keys
	}
	return keys
}

// find returns the range of a term's postings, and where to look for the next
// larger one. It looks from the term numbered at on.
func (s *segment) find(hash uint64, at int) (posts []uint32, next int) {
	rest := s.terms[at:]
	// Gallop: the terms of a query are looked up in ascending order.
	step := 1
	for step < len(rest) && rest[step] < hash {
		step *= 2
	}
	lo, hi := step/2, min(step+1, len(rest))
	i := lo + sort.Search(hi-lo, func(i int) bool { return rest[lo+i] >= hash })
	if i < len(rest) && rest[i] == hash {
		return s.posts[s.from[at+i]:s.from[at+i+1]], at + i
	}
	return nil, at + i
}

// merge puts two segments together; all slots of b are above those of a.
// Postings for which dead says so are left out.
func merge(a, b segment, dead func(slot uint32) bool) segment {
	m := segment{
		terms: make([]uint64, 0, len(a.terms)+len(b.terms)),
		from:  make([]uint32, 0, len(a.terms)+len(b.terms)+1),
		posts: make([]uint32, 0, len(a.posts)+len(b.posts)),
	}
	add := func(posts []uint32) {
		for _, p := range posts {
			if !dead(p >> tfBits) {
				m.posts = append(m.posts, p)
			}
		}
	}
	for i, j := 0, 0; i < len(a.terms) || j < len(b.terms); {
		takeA := j == len(b.terms) || i < len(a.terms) && a.terms[i] <= b.terms[j]
		takeB := i == len(a.terms) || j < len(b.terms) && b.terms[j] <= a.terms[i]
		start := len(m.posts)
		var term uint64
		if takeA {
			term = a.terms[i]
			add(a.posts[a.from[i]:a.from[i+1]])
			i++
		}
		if takeB {
			term = b.terms[j]
			add(b.posts[b.from[j]:b.from[j+1]])
			j++
		}
		if len(m.posts) > start {
			m.terms = append(m.terms, term)
			m.from = append(m.from, uint32(start))
		}
	}
	m.from = append(m.from, uint32(len(m.posts)))
	return m.trim()
}

// push adds a segment and merges the last ones while the newer is at least
// half of the older, so that n documents, one by one, cost n log n and leave
// log n segments.
func push(segments []segment, s segment, dead func(uint32) bool) []segment {
	out := slices.Clone(segments)
	if len(s.posts) > 0 {
		out = append(out, s)
	}
	for n := len(out); n > 1 && len(out[n-1].posts)*2 >= len(out[n-2].posts); n = len(out) {
		out[n-2] = merge(out[n-2], out[n-1], dead)
		out = out[:n-1]
	}
	return out
}

// renumber returns the segment with each slot replaced; old slots with none
// (negative) are left out. The new numbers keep the order.
func (s *segment) renumber(slots []int32) segment {
	m := segment{terms: make([]uint64, 0, len(s.terms)), from: make([]uint32, 0, len(s.terms)+1), posts: make([]uint32, 0, len(s.posts))}
	for i, term := range s.terms {
		start := len(m.posts)
		for _, p := range s.posts[s.from[i]:s.from[i+1]] {
			if slot := slots[p>>tfBits]; slot >= 0 {
				m.posts = append(m.posts, uint32(slot)<<tfBits|p&maxTF)
			}
		}
		if len(m.posts) > start {
			m.terms = append(m.terms, term)
			m.from = append(m.from, uint32(start))
		}
	}
	m.from = append(m.from, uint32(len(m.posts)))
	return m.trim()
}

// trim gives back the room that turned out not to be needed, where it is much.
func (s segment) trim() segment {
	if cap(s.posts) > len(s.posts)*5/4 {
		s.posts = slices.Clone(s.posts)
	}
	if cap(s.terms) > len(s.terms)*5/4 {
		s.terms, s.from = slices.Clone(s.terms), slices.Clone(s.from)
	}
	return s
}

func (s *segment) bytes() int64 {
	return int64(cap(s.terms))*8 + int64(cap(s.from))*4 + int64(cap(s.posts))*4
}
