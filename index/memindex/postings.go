package memindex

import (
	"encoding/binary"
	"math"
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
//
// A term's postings are bytes: how many there are, and for each of them, by
// slot, twice the distance from the slot before, plus one where a byte with the
// number of occurrences follows that are more than one. Numbers are uvarints,
// so that most postings take one or two bytes of the four that they would.
type segment struct {
	terms []uint64 // hashes, ascending
	from  []uint32 // where each term's postings begin; one more than terms
	posts []byte   // by term
}

// mostPosts bounds the bytes of a segment, for from.
const mostPosts = math.MaxUint32

// begin starts a term with n postings.
func (s *segment) begin(term uint64, n int) {
	s.terms = append(s.terms, term)
	s.from = append(s.from, uint32(len(s.posts)))
	s.posts = binary.AppendUvarint(s.posts, uint64(n))
}

// add puts a posting behind that of an earlier slot, of -1 at first.
func (s *segment) add(post uint32, before int64) (slot int64) {
	slot = int64(post >> tfBits)
	if tf := post & maxTF; tf > 1 {
		s.posts = append(binary.AppendUvarint(s.posts, uint64(slot-before)<<1|1), byte(tf))
	} else {
		s.posts = binary.AppendUvarint(s.posts, uint64(slot-before)<<1)
	}
	return slot
}

// put adds a term with its postings; without any there is no term.
func (s *segment) put(term uint64, posts []uint32) {
	if len(posts) == 0 {
		return
	}
	s.begin(term, len(posts))
	slot := int64(-1)
	for _, p := range posts {
		slot = s.add(p, slot)
	}
}

// end closes the last term and gives back the room that turned out not to be
// needed, where it is much.
func (s segment) end() segment {
	s.from = append(s.from, uint32(len(s.posts)))
	if cap(s.posts) > len(s.posts)*17/16 {
		s.posts = slices.Clone(s.posts)
	}
	if cap(s.terms) > len(s.terms)*17/16 {
		s.terms, s.from = slices.Clone(s.terms), slices.Clone(s.from)
	}
	return s
}

// held is how many postings a term has.
func held(posts []byte) int {
	if len(posts) == 0 {
		return 0
	}
	n, _ := binary.Uvarint(posts)
	return int(n)
}

// read appends a term's postings.
func read(dst []uint32, posts []byte) []uint32 {
	if len(posts) == 0 {
		return dst
	}
	_, at := binary.Uvarint(posts)
	slot := uint32(math.MaxUint32) // -1
	for at < len(posts) {
		v := uint32(posts[at])
		at++
		if v >= 0x80 {
			v &= 0x7f
			for shift := 7; ; shift += 7 {
				b := uint32(posts[at])
				at++
				v |= (b & 0x7f) << shift
				if b < 0x80 {
					break
				}
			}
		}
		slot += v >> 1
		tf := uint32(1)
		if v&1 == 1 {
			tf = uint32(posts[at])
			at++
		}
		dst = append(dst, slot<<tfBits|tf)
	}
	return dst
}

// newSegment sorts keys, in place, into a segment. Keys of one document stand
// together and slots ascend, so a stable sort by hash is a sort by both.
func newSegment(keys []uint64) segment {
	keys = sortKeys(keys)
	terms := 0
	for i := range keys {
		if i == 0 || keys[i]>>slotBits != keys[i-1]>>slotBits {
			terms++
		}
	}
	s := segment{terms: make([]uint64, 0, terms), from: make([]uint32, 0, terms+1), posts: make([]byte, 0, len(keys)+terms)}
	var posts []uint32
	for i := 0; i < len(keys); {
		term := keys[i] >> slotBits
		posts = posts[:0]
		for i < len(keys) && keys[i]>>slotBits == term {
			key, tf := keys[i], 0
			for i < len(keys) && keys[i] == key {
				tf++
				i++
			}
			posts = append(posts, uint32(key&slotMask)<<tfBits|uint32(min(tf, maxTF)))
		}
		s.put(term, posts)
	}
	return s.end()
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
func (s *segment) find(hash uint64, at int) (posts []byte, next int) {
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
		posts: make([]byte, 0, len(a.posts)+len(b.posts)),
	}
	var posts []uint32
	for i, j := 0, 0; i < len(a.terms) || j < len(b.terms); {
		takeA := j == len(b.terms) || i < len(a.terms) && a.terms[i] <= b.terms[j]
		takeB := i == len(a.terms) || j < len(b.terms) && b.terms[j] <= a.terms[i]
		var term uint64
		posts = posts[:0]
		if takeA {
			term = a.terms[i]
			posts = read(posts, a.posts[a.from[i]:a.from[i+1]])
			i++
		}
		if takeB {
			term = b.terms[j]
			posts = read(posts, b.posts[b.from[j]:b.from[j+1]])
			j++
		}
		m.put(term, slices.DeleteFunc(posts, func(p uint32) bool { return dead(p >> tfBits) }))
	}
	return m.end()
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
		if len(out[n-1].posts)+len(out[n-2].posts) > mostPosts {
			break
		}
		out[n-2] = merge(out[n-2], out[n-1], dead)
		out[n-1] = segment{} // or it would be held behind the end
		out = out[:n-1]
	}
	return out
}

// renumber returns the segment with each slot replaced; old slots with none
// (negative) are left out. The new numbers keep the order.
func (s *segment) renumber(slots []int32) segment {
	m := segment{terms: make([]uint64, 0, len(s.terms)), from: make([]uint32, 0, len(s.terms)+1), posts: make([]byte, 0, len(s.posts))}
	var posts []uint32
	for i, term := range s.terms {
		posts = read(posts[:0], s.posts[s.from[i]:s.from[i+1]])
		kept := posts[:0]
		for _, p := range posts {
			if slot := slots[p>>tfBits]; slot >= 0 {
				kept = append(kept, uint32(slot)<<tfBits|p&maxTF)
			}
		}
		m.put(term, kept)
	}
	return m.end()
}

func (s *segment) bytes() int64 {
	return int64(cap(s.terms))*8 + int64(cap(s.from))*4 + int64(cap(s.posts))
}
