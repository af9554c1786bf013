package kernel

// Path names the way that is taken on this machine: every arm64 has NEON.
func Path() string { return "neon" }

func mulInt8(dst []int32, a []int16, w []int8, rows, outs, k int) {
	for r := 0; r < rows; r += Rows {
		mulInt8NEON(&dst[r*outs], &a[r*k], &w[0], outs, k)
	}
}

func mulFloat(dst, a, b []float32, rows, outs, k int) {
	for r := 0; r < rows; r += Rows {
		mulFloatNEON(&dst[r*outs], &a[r*k], &b[0], outs, k)
	}
}

func dotsInt8(dst []int32, q, rows []int8) { dotsInt8NEON(&dst[0], &q[0], &rows[0], len(dst), len(q)) }

// Four rows of a against every row of w.
//
//go:noescape
func mulInt8NEON(dst *int32, a *int16, w *int8, outs, k int)

//go:noescape
func mulFloatNEON(dst, a, b *float32, outs, k int)

// q against n rows.
//
//go:noescape
func dotsInt8NEON(dst *int32, q, rows *int8, n, k int)
