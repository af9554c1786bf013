// Package kernel multiplies: the inner loops of the encoder (embed/local) and
// of the scan over vectors (index/memindex). Each loop is written three times,
// in plain Go, for AVX2 or AVX-512, and for NEON, and the tests hold them
// against each other.
//
// The integer loops give the same bits on every machine, as integer sums do
// not depend on their order. The floating-point ones differ in the last digits.
package kernel
