package local

import (
	"fmt"
	"math"

	"github.com/yiku-ai/yiku/internal/kernel"
)

// matrix is the weights of one product, a row for each output: whole numbers
// with a scale for each row, or float32.
type matrix struct {
	outs, ins int
	whole     []int8
	scale     []float32
	float     []float32
}

// matrix reads a matrix of that shape in either form.
func (f *File) matrix(name string, outs, ins int) (matrix, error) {
	m := matrix{outs: outs, ins: ins}
	t, ok := f.Tensors[name]
	if ok && t.Type == "F32" {
		var err error
		m.float, err = f.float32s(name, outs, ins)
		return m, err
	}
	t, err := f.tensor(name, "I8", []int{outs, ins})
	if err != nil {
		return m, err
	}
	m.whole = int8s(t.Data)
	m.scale, err = f.float32s(name+".scale", outs)
	return m, err
}

// row writes a row's values into dst.
func (m *matrix) row(dst []float32, r int) {
	if m.float != nil {
		copy(dst, m.float[r*m.ins:(r+1)*m.ins])
		return
	}
	scale := m.scale[r]
	for i, v := range m.whole[r*m.ins : (r+1)*m.ins] {
		dst[i] = scale * float32(v)
	}
}

// rounded is the left side of products with whole numbers: each row of values
// in 14 bits with a scale of its own. One rounding serves several products.
type rounded struct {
	values []int16
	scale  []float32
	sums   []int32
}

func (q *rounded) set(x []float32, rows, k int) {
	for r := range rows {
		from := x[r*k : (r+1)*k]
		to := q.values[r*k : (r+1)*k]
		var most float32
		for _, v := range from {
			most = max(most, v, -v)
		}
		if most == 0 {
			clear(to)
			q.scale[r] = 0
			continue
		}
		q.scale[r] = most / kernel.MaxInt16
		up := kernel.MaxInt16 / most
		for i, v := range from {
			to[i] = int16(roundEven(v * up))
		}
	}
}

// roundEven rounds a value below 2^22 to the nearest whole number: adding 1.5 ×
// 2^23 leaves no room for a fraction.
func roundEven(v float32) int32 {
	const magic = 3 << 22
	return int32(math.Float32bits(v+magic)) - int32(math.Float32bits(magic))
}

// mul sets dst to x × mᵀ + bias for rows of x; q is x rounded, where m has
// whole numbers.
func (m *matrix) mul(dst, x []float32, q *rounded, bias []float32, rows int) {
	if m.float != nil {
		kernel.MulFloat(dst, x, m.float, rows, m.outs, m.ins)
		for r := range rows {
			row := dst[r*m.outs : (r+1)*m.outs]
			for o, b := range bias {
				row[o] += b
			}
		}
		return
	}
	sums := q.sums[:rows*m.outs]
	kernel.MulInt8(sums, q.values[:rows*m.ins], m.whole, rows, m.outs, m.ins)
	for r := range rows {
		row, from, s := dst[r*m.outs:(r+1)*m.outs], sums[r*m.outs:(r+1)*m.outs], q.scale[r]
		for o, b := range bias {
			row[o] = float32(from[o])*(s*m.scale[o]) + b
		}
	}
}

// Round puts a matrix of float32 into whole numbers with a scale for each row,
// as the file has them.
func Round(values []float32, outs, ins int) (whole []int8, scale []float32, err error) {
	if len(values) != outs*ins {
		return nil, nil, fmt.Errorf("round matrix: %d values are not %d × %d", len(values), outs, ins)
	}
	whole, scale = make([]int8, len(values)), make([]float32, outs)
	for r := range outs {
		var most float32
		for _, v := range values[r*ins : (r+1)*ins] {
			most = max(most, v, -v)
		}
		if most == 0 {
			continue
		}
		scale[r] = most / 127
		for i, v := range values[r*ins : (r+1)*ins] {
			whole[r*ins+i] = int8(math.RoundToEven(float64(v / scale[r])))
		}
	}
	return whole, scale, nil
}
