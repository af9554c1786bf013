package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// shapes are those of an encoder's layers, small ones, and the longest row.
var shapes = []struct{ rows, outs, k int }{
	{4, 1, 32}, {4, 3, 64}, {8, 7, 96}, {12, 5, 384}, {4, 9, 1536}, {4, 2, 2048},
}

// integers are values of both signs, the extremes among them.
func integers[T int8 | int16](rnd *rand.Rand, n, most int) []T {
	out := make([]T, n)
	for i := range out {
		switch rnd.IntN(8) {
		case 0:
			out[i] = T(most)
		case 1:
			out[i] = T(-most)
		default:
			out[i] = T(rnd.IntN(2*most+1) - most)
		}
	}
	return out
}

// Integer products are the same to the last bit, at the extremes too.
func TestMulInt8(t *testing.T) {
	for _, s := range shapes {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, uint64(s.k)))
			a, w := integers[int16](rnd, s.rows*s.k, MaxInt16), integers[int8](rnd, s.outs*s.k, 127)
			want, got := make([]int32, s.rows*s.outs), make([]int32, s.rows*s.outs)
			mulInt8Portable(want, a, w, s.rows, s.outs, s.k)
			MulInt8(got, a, w, s.rows, s.outs, s.k)
			same(t, got, want)
			for r := range s.rows { // and in 64 bits, which cannot overflow
				var sum int64
				for i := range s.k {
					sum += int64(a[r*s.k+i]) * int64(w[i])
				}
				if int64(want[r*s.outs]) != sum {
					t.Fatalf("row %d: %d, want %d", r, want[r*s.outs], sum)
				}
			}
		})
	}
}

func TestDotsInt8(t *testing.T) {
	for _, k := range []int{32, 384, 512, 1024} {
		for _, n := range []int{1, 2, 9} {
			rnd := rand.New(rand.NewPCG(2, uint64(k*n)))
			q, rows := integers[int8](rnd, k, 128-1), integers[int8](rnd, n*k, 127)
			want, got := make([]int32, n), make([]int32, n)
			dotsInt8Portable(want, q, rows)
			DotsInt8(got, q, rows)
			same(t, got, want)
		}
	}
}

// Floating-point products differ by no more than the order of the sums allows.
func TestMulFloat(t *testing.T) {
	for _, s := range shapes {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, uint64(s.k)))
			a, b := floats(rnd, s.rows*s.k), floats(rnd, s.outs*s.k)
			got := make([]float32, s.rows*s.outs)
			MulFloat(got, a, b, s.rows, s.outs, s.k)
			for r := range s.rows {
				for o := range s.outs {
					var sum, size float64
					for i := range s.k {
						p := float64(a[r*s.k+i]) * float64(b[o*s.k+i])
						sum, size = sum+p, size+math.Abs(p)
					}
					if diff := math.Abs(float64(got[r*s.outs+o]) - sum); diff > size*1e-6 {
						t.Fatalf("row %d, out %d: %g, want %g", r, o, got[r*s.outs+o], sum)
					}
				}
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	dst := []int32{7}
	DotsInt8(dst, nil, nil)
	MulInt8(nil, nil, make([]int8, 5*32), 0, 5, 32)
	MulFloat(nil, make([]float32, 4*32), nil, 4, 0, 32)
	same(t, dst, []int32{0})
}

func TestShortSlicesPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a row that is too short was read beyond its end")
		}
	}()
	DotsInt8(make([]int32, 2), make([]int8, 32), make([]int8, 32, 64)[:32:32])
}

func floats(rnd *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rnd.NormFloat64())
	}
	return out
}

func same(t *testing.T, got, want []int32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: [%d] = %d, want %d", Path(), i, got[i], want[i])
		}
	}
}

func BenchmarkDotsInt8(b *testing.B) {
	const n, k = 10000, 384
	rnd := rand.New(rand.NewPCG(5, 5))
	q, rows := integers[int8](rnd, k, 127), integers[int8](rnd, n*k, 127)
	dst := make([]int32, n)
	for b.Loop() {
		DotsInt8(dst, q, rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/vector")
}
