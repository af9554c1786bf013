package local

import "math"

// gelu is x·Φ(x) for every value, from a table with straight lines between
// its points: the error is below 4e-7.
func (t *geluTable) gelu(x []float32) {
	for i, v := range x {
		switch {
		case v >= geluRange:
		case v <= -geluRange:
			x[i] = 0
		default:
			at := (v + geluRange) * (geluSteps / (2 * geluRange))
			n := int(at)
			low, high := t[n], t[n+1]
			x[i] = low + (high-low)*(at-float32(n))
		}
	}
}

const (
	geluRange = 6.0 // beyond it Φ is 0 or 1 in float32
	geluSteps = 8192
)

type geluTable [geluSteps + 2]float32

func newGELUTable() *geluTable {
	var t geluTable
	for i := range t {
		x := float64(i)*(2*geluRange)/geluSteps - geluRange
		t[i] = float32(x * 0.5 * math.Erfc(-x/math.Sqrt2))
	}
	return &t
}

// softmax turns each value into its share, in place.
func softmax(x []float32) {
	most := x[0]
	for _, v := range x[1:] {
		most = max(most, v)
	}
	var sum float32
	for i, v := range x {
		e := exp(v - most)
		x[i] = e
		sum += e
	}
	inverse := 1 / sum
	for i := range x {
		x[i] *= inverse
	}
}

// exp is e^x for x ≤ 0, to 3e-7 of its value: 2^n by the exponent's bits, and
// the Taylor series to the sixth power of what is left, at most half a ln 2.
func exp(x float32) float32 {
	if x < -87 {
		return 0
	}
	// ln 2 in two parts, so that n times the first is exact.
	const log2e, ln2, ln2Rest = 1.4426950408889634, 0.693359375, -2.121944400546905e-4
	n := int32(x*log2e - 0.5)
	r := x - float32(n)*ln2 - float32(n)*ln2Rest
	p := 1 + r*(1+r*(1.0/2+r*(1.0/6+r*(1.0/24+r*(1.0/120+r*(1.0/720))))))
	return p * math.Float32frombits(uint32(n+127)<<23)
}

// normalize gives each row of x the mean 0 and the variance 1, then weight
// and bias.
func normalize(x, weight, bias []float32, rows int, epsilon float32) {
	h := len(weight)
	for r := range rows {
		row := x[r*h : (r+1)*h]
		var sum float32
		for _, v := range row {
			sum += v
		}
		mean := sum / float32(h)
		var square float32
		for _, v := range row {
			square += (v - mean) * (v - mean)
		}
		inverse := 1 / float32(math.Sqrt(float64(square/float32(h)+epsilon)))
		for i, v := range row {
			row[i] = (v-mean)*inverse*weight[i] + bias[i]
		}
	}
}

// add adds y to x.
func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}

// unit gives v the length 1; a vector of zeros stays.
func unit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	inverse := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= inverse
	}
}
