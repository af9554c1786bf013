package memindex

import (
	"math"

	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/kernel"
)

// vectors are the documents' vectors in eight bits, by slot: whole numbers
// with a scale for each, so that cosine = scale × scale of the query × sum of
// products. That is within .005 of the cosine of the vectors themselves.
type vectors struct {
	size  int       // values of a vector as it came; 0: there is none yet
	wide  int       // values of a row: size filled up to what the kernels take
	rows  []int8    // wide values a slot
	scale []float32 // 0: the slot has no vector
}

// scanned is how many rows a scan multiplies at once.
const scanned = 512

// set gives the next slot its vector; nil, or one of another size than those
// that are there, is none.
func (v *vectors) set(slot int, vector []float32) {
	if v.size == 0 && len(vector) > 0 {
		v.size = len(vector)
		v.wide = (v.size + kernel.Lanes - 1) / kernel.Lanes * kernel.Lanes
	}
	if v.size == 0 || len(vector) != v.size {
		return
	}
	v.room(slot + 1)
	v.scale[slot] = round(v.rows[slot*v.wide:(slot+1)*v.wide], vector)
}

// room makes the columns as long as a number of slots.
func (v *vectors) room(slots int) {
	if missing := slots - len(v.scale); missing > 0 {
		v.scale = grown(v.scale, missing)
		v.rows = grown(v.rows, missing*v.wide)
	}
}

// grown is a column with n more zeros. It grows by an eighth at a time, because
// what is kept free is memory that every owner takes.
func grown[T int8 | float32](column []T, n int) []T {
	if need := len(column) + n; need > cap(column) {
		column = append(make([]T, 0, need+need/8), column...)
	}
	column = column[:len(column)+n]
	clear(column[len(column)-n:])
	return column
}

// clear takes a slot's vector away.
func (v *vectors) clear(slot uint32) {
	if int(slot) < len(v.scale) {
		v.scale[slot] = 0
	}
}

// renumber moves the vectors to other slots; -1 drops them.
func (v *vectors) renumber(slots []int32) vectors {
	out := vectors{size: v.size, wide: v.wide}
	for from, to := range slots {
		if to < 0 || from >= len(v.scale) || v.scale[from] == 0 {
			continue
		}
		out.room(int(to) + 1)
		copy(out.rows[int(to)*v.wide:], v.rows[from*v.wide:(from+1)*v.wide])
		out.scale[to] = v.scale[from]
	}
	return out
}

func (v *vectors) bytes() int64 { return int64(cap(v.rows)) + 4*int64(cap(v.scale)) }

// scan puts the cosine of every slot with a query into dst, NaN where there is
// none, and returns their distribution.
func (v *vectors) scan(dst []float32, sums []int32, query []float32) (b index.Background) {
	if v.size == 0 || len(query) != v.size || len(v.scale) == 0 {
		return b
	}
	q := make([]int8, v.wide)
	scale := round(q, query)
	if scale == 0 {
		return b
	}
	none := nan()
	var sum, squares float64
	for from := 0; from < len(v.scale); from += scanned {
		n := min(scanned, len(v.scale)-from)
		kernel.DotsInt8(sums[:n], q, v.rows[from*v.wide:(from+n)*v.wide])
		for i, product := range sums[:n] {
			if v.scale[from+i] == 0 {
				dst[from+i] = none
				continue
			}
			cosine := float32(product) * scale * v.scale[from+i]
			dst[from+i] = cosine
			b.N, sum, squares = b.N+1, sum+float64(cosine), squares+float64(cosine)*float64(cosine)
		}
	}
	for i := len(v.scale); i < len(dst); i++ {
		dst[i] = none
	}
	if b.N > 0 {
		b.Mean = sum / float64(b.N)
		b.Deviation = math.Sqrt(max(0, squares/float64(b.N)-b.Mean*b.Mean))
	}
	return b
}

// nan marks a slot without a vector.
func nan() float32 { return float32(math.NaN()) }

// round puts a vector into whole numbers and returns their scale; 0 where it
// has no direction.
func round(dst []int8, vector []float32) float32 {
	var most float32
	for _, x := range vector {
		most = max(most, x, -x)
	}
	if most == 0 || math.IsNaN(float64(most)) || math.IsInf(float64(most), 0) {
		return 0
	}
	for i, x := range vector {
		dst[i] = int8(math.RoundToEven(float64(x / most * 127)))
	}
	return most / 127
}
