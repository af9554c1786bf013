package kernel

import (
	"sync"

	"golang.org/x/sys/cpu"
)

// level is what the processor can do.
type level int

const (
	portable level = iota
	avx2           // AVX2 and FMA
	avx512         // AVX-512 F, BW and VNNI
)

// machine asks the processor, once.
var machine = sync.OnceValue(func() level {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI:
		return avx512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return avx2
	}
	return portable
})

// Path names the way that is taken on this machine.
func Path() string { return [...]string{"portable", "avx2", "avx512"}[machine()] }

func mulInt8(dst []int32, a []int16, w []int8, rows, outs, k int) {
	mulInt8At(machine(), dst, a, w, shape{rows, outs, k})
}

func mulFloat(dst, a, b []float32, rows, outs, k int) {
	mulFloatAt(machine(), dst, a, b, shape{rows, outs, k})
}

func dotsInt8(dst []int32, q, rows []int8) { dotsInt8At(machine(), dst, q, rows) }

// shape is that of a product: rows × k times k × outs.
type shape struct{ rows, outs, k int }

func mulInt8At(at level, dst []int32, a []int16, w []int8, s shape) {
	switch at {
	case avx512:
		for r := 0; r < s.rows; r += Rows {
			mulInt8AVX512(&dst[r*s.outs], &a[r*s.k], &w[0], s.outs, s.k)
		}
	case avx2:
		for r := 0; r < s.rows; r += Rows {
			mulInt8AVX2(&dst[r*s.outs], &a[r*s.k], &w[0], s.outs, s.k)
		}
	default:
		mulInt8Portable(dst, a, w, s.rows, s.outs, s.k)
	}
}

func mulFloatAt(at level, dst, a, b []float32, s shape) {
	switch at {
	case avx512:
		for r := 0; r < s.rows; r += Rows {
			mulFloatAVX512(&dst[r*s.outs], &a[r*s.k], &b[0], s.outs, s.k)
		}
	case avx2:
		for r := 0; r < s.rows; r += Rows {
			mulFloatAVX2(&dst[r*s.outs], &a[r*s.k], &b[0], s.outs, s.k)
		}
	default:
		mulFloatPortable(dst, a, b, s.rows, s.outs, s.k)
	}
}

func dotsInt8At(at level, dst []int32, q, rows []int8) {
	switch at {
	case avx512:
		dotsInt8AVX512(&dst[0], &q[0], &rows[0], len(dst), len(q))
	case avx2:
		dotsInt8AVX2(&dst[0], &q[0], &rows[0], len(dst), len(q))
	default:
		dotsInt8Portable(dst, q, rows)
	}
}

// Four rows of a against every row of w.
//
//go:noescape
func mulInt8AVX2(dst *int32, a *int16, w *int8, outs, k int)

//go:noescape
func mulInt8AVX512(dst *int32, a *int16, w *int8, outs, k int)

//go:noescape
func mulFloatAVX2(dst, a, b *float32, outs, k int)

//go:noescape
func mulFloatAVX512(dst, a, b *float32, outs, k int)

// q against n rows.
//
//go:noescape
func dotsInt8AVX2(dst *int32, q, rows *int8, n, k int)

//go:noescape
func dotsInt8AVX512(dst *int32, q, rows *int8, n, k int)
