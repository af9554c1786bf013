package kernel

// Lanes is what the inner dimension of every matrix is a multiple of: callers
// fill up with zeros.
const Lanes = 32

// Rows is what the number of rows of the left matrix is a multiple of.
const Rows = 4

// MaxInt16 is the largest magnitude that a left value of [MulInt8] may have:
// 2,048 products with 127 then still fit into 32 bits.
const MaxInt16 = 8191

// MulInt8 sets dst to a × wᵀ: dst[r*outs+o] = Σ a[r*k+i] · w[o*k+i] over i < k.
// a has rows × k values, w outs × k, dst rows × outs. rows is a multiple of
// [Rows], k of [Lanes] and at most 2,048, and no value of a is beyond
// ±[MaxInt16]. It panics where a slice is too short.
func MulInt8(dst []int32, a []int16, w []int8, rows, outs, k int) {
	dst, a, w = dst[:rows*outs], a[:rows*k], w[:outs*k]
	if len(dst) == 0 || k == 0 {
		clear(dst)
		return
	}
	mulInt8(dst, a, w, rows, outs, k)
}

// MulFloat sets dst to a × bᵀ: dst[r*outs+o] = Σ a[r*k+i] · b[o*k+i] over
// i < k, with the shapes of [MulInt8] and no bound on k.
func MulFloat(dst, a, b []float32, rows, outs, k int) {
	dst, a, b = dst[:rows*outs], a[:rows*k], b[:outs*k]
	if len(dst) == 0 || k == 0 {
		clear(dst)
		return
	}
	mulFloat(dst, a, b, rows, outs, k)
}

// DotsInt8 sets dst[i] to the product of q and the i-th row of rows, which
// follow each other, each as long as q.
func DotsInt8(dst []int32, q, rows []int8) {
	rows = rows[:len(dst)*len(q)]
	if len(dst) == 0 || len(q) == 0 {
		clear(dst)
		return
	}
	dotsInt8(dst, q, rows)
}
