package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Every way that this processor can go gives what the portable one gives.
func TestLevels(t *testing.T) {
	for at := avx2; at <= machine(); at++ {
		for _, s := range shapes {
			t.Run(fmt.Sprint(at, s), func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(6, uint64(s.k)))
				a, w := integers[int16](rnd, s.rows*s.k, MaxInt16), integers[int8](rnd, s.outs*s.k, 127)
				want, got := make([]int32, s.rows*s.outs), make([]int32, s.rows*s.outs)
				mulInt8Portable(want, a, w, s.rows, s.outs, s.k)
				mulInt8At(at, got, a, w, shape{s.rows, s.outs, s.k})
				same(t, got, want)

				q := integers[int8](rnd, s.k, 127)
				want, got = make([]int32, s.outs), make([]int32, s.outs)
				dotsInt8Portable(want, q, w)
				dotsInt8At(at, got, q, w)
				same(t, got, want)

				x, y := floats(rnd, s.rows*s.k), floats(rnd, s.outs*s.k)
				near, off := make([]float32, s.rows*s.outs), make([]float32, s.rows*s.outs)
				mulFloatPortable(near, x, y, s.rows, s.outs, s.k)
				mulFloatAt(at, off, x, y, shape{s.rows, s.outs, s.k})
				for i := range near {
					if d := near[i] - off[i]; d > 1e-3 || d < -1e-3 {
						t.Fatalf("[%d]: %g, want %g", i, off[i], near[i])
					}
				}
			})
		}
	}
}

func BenchmarkLevels(b *testing.B) {
	const rows, outs, k = 24, 1536, 384
	rnd := rand.New(rand.NewPCG(4, 4))
	a, w := integers[int16](rnd, rows*k, MaxInt16), integers[int8](rnd, outs*k, 127)
	x, y := floats(rnd, rows*k), floats(rnd, outs*k)
	dst, fdst := make([]int32, rows*outs), make([]float32, rows*outs)
	for at := portable; at <= machine(); at++ {
		b.Run(fmt.Sprint("int8/", [...]string{"portable", "avx2", "avx512"}[at]), func(b *testing.B) {
			for b.Loop() {
				mulInt8At(at, dst, a, w, shape{rows, outs, k})
			}
			b.ReportMetric(float64(rows*outs*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
		b.Run(fmt.Sprint("float32/", [...]string{"portable", "avx2", "avx512"}[at]), func(b *testing.B) {
			for b.Loop() {
				mulFloatAt(at, fdst, x, y, shape{rows, outs, k})
			}
			b.ReportMetric(float64(rows*outs*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
}
