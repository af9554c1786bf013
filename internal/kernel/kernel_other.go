//go:build !amd64 && !arm64

package kernel

// Path names the way that is taken on this machine.
func Path() string { return "portable" }

func mulInt8(dst []int32, a []int16, w []int8, rows, outs, k int) {
	mulInt8Portable(dst, a, w, rows, outs, k)
}

func mulFloat(dst, a, b []float32, rows, outs, k int) { mulFloatPortable(dst, a, b, rows, outs, k) }

func dotsInt8(dst []int32, q, rows []int8) { dotsInt8Portable(dst, q, rows) }
