package local

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"unsafe"
)

// maxHeader bounds the JSON header of a file that may be anything.
const maxHeader = 16 << 20

// Format is the version of the file that this package reads.
const Format = "yiku-encoder/1"

// Tensor is one named array of a file.
type Tensor struct {
	Type  string // F32, I8, U8 or U32
	Shape []int
	Data  []byte // little-endian
}

// File is the content of a safetensors file.
type File struct {
	Meta    map[string]string
	Tensors map[string]Tensor
}

// place is a tensor in the header of a file.
type place struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// width is the bytes of a value of each type.
var width = map[string]int{"F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1, "U32": 4, "I64": 8}

// ParseFile reads the header of a safetensors file that is in memory; the
// tensors point into it. A file that is not whole is an error.
func ParseFile(raw []byte) (*File, error) {
	if len(raw) < 8 {
		return nil, fmt.Errorf("read model file: %d bytes are too short", len(raw))
	}
	n := binary.LittleEndian.Uint64(raw)
	if n > maxHeader || n > uint64(len(raw)-8) {
		return nil, fmt.Errorf("read model file: the header says it has %d bytes", n)
	}
	header := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw[8:8+n], &header); err != nil {
		return nil, fmt.Errorf("read header of model file: %w", err)
	}
	f, body := &File{Tensors: map[string]Tensor{}}, raw[8+n:]
	for name, value := range header {
		if name == "__metadata__" {
			if err := json.Unmarshal(value, &f.Meta); err != nil {
				return nil, fmt.Errorf("read metadata of model file: %w", err)
			}
			continue
		}
		var p place
		if err := json.Unmarshal(value, &p); err != nil {
			return nil, fmt.Errorf("read tensor %s: %w", name, err)
		}
		t, err := p.cut(body)
		if err != nil {
			return nil, fmt.Errorf("read tensor %s: %w", name, err)
		}
		f.Tensors[name] = t
	}
	return f, nil
}

func (p place) cut(body []byte) (Tensor, error) {
	from, to := p.Offsets[0], p.Offsets[1]
	w, known := width[p.Type]
	if !known {
		return Tensor{}, fmt.Errorf("unknown type %q", p.Type)
	}
	size := w
	for _, n := range p.Shape {
		if n < 0 || (n > 0 && size > math.MaxInt32*64/n) {
			return Tensor{}, fmt.Errorf("impossible shape %v", p.Shape)
		}
		size *= n
	}
	if from < 0 || to < from || to > len(body) || to-from != size {
		return Tensor{}, fmt.Errorf("bytes %d to %d do not hold %v of %s", from, to, p.Shape, p.Type)
	}
	return Tensor{Type: p.Type, Shape: p.Shape, Data: body[from:to:to]}, nil
}

// WriteTo writes the file. Tensors follow each other without gaps, those of
// wide values first, so that each begins where its values may be read in place.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	names := slices.SortedFunc(maps.Keys(f.Tensors), func(a, b string) int {
		return cmp.Or(width[f.Tensors[b].Type]-width[f.Tensors[a].Type], cmp.Compare(a, b))
	})
	header, at, parts := map[string]any{"__metadata__": f.Meta}, 0, [][]byte{nil, nil}
	for _, name := range names {
		t := f.Tensors[name]
		header[name] = place{Type: t.Type, Shape: t.Shape, Offsets: [2]int{at, at + len(t.Data)}}
		at += len(t.Data)
		parts = append(parts, t.Data)
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return 0, fmt.Errorf("write header of model file: %w", err)
	}
	for (8+len(raw))%64 != 0 {
		raw = append(raw, ' ')
	}
	parts[0], parts[1] = binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw
	total := int64(0)
	for _, part := range parts {
		n, err := w.Write(part)
		total += int64(n)
		if err != nil {
			return total, fmt.Errorf("write model file: %w", err)
		}
	}
	return total, nil
}

// float32s are the values of an F32 tensor of that shape.
func (f *File) float32s(name string, shape ...int) ([]float32, error) {
	t, err := f.tensor(name, "F32", shape)
	if err != nil {
		return nil, err
	}
	return view[float32](t.Data), nil
}

// tensor is the tensor of that name, type and shape.
func (f *File) tensor(name, typ string, shape []int) (Tensor, error) {
	t, ok := f.Tensors[name]
	switch {
	case !ok:
		return t, fmt.Errorf("tensor %s is missing", name)
	case t.Type != typ || !slices.Equal(t.Shape, shape):
		return t, fmt.Errorf("tensor %s is %v of %s, want %v of %s", name, t.Shape, t.Type, shape, typ)
	}
	return t, nil
}

// view reads little-endian bytes as values, in place where the machine can:
// it is little-endian and the bytes begin where its values may.
func view[T float32 | uint32](raw []byte) []T {
	n := len(raw) / 4
	if n == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(raw))
	if littleEndian() && uintptr(first)%4 == 0 {
		return unsafe.Slice((*T)(first), n)
	}
	out := make([]T, n)
	for i := range out {
		bits := binary.LittleEndian.Uint32(raw[4*i:])
		out[i] = *(*T)(unsafe.Pointer(&bits))
	}
	return out
}

// int8s reads bytes as signed values, in place.
func int8s(raw []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw))
}

func littleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}

// bytesOf are values as little-endian bytes.
func bytesOf[T float32 | uint32](values []T) []byte {
	out := make([]byte, 0, 4*len(values))
	for i := range values {
		out = binary.LittleEndian.AppendUint32(out, *(*uint32)(unsafe.Pointer(&values[i])))
	}
	return out
}

// Floats is a tensor of float32.
func Floats(values []float32, shape ...int) Tensor {
	return Tensor{Type: "F32", Shape: shape, Data: bytesOf(values)}
}

// Wholes is a tensor of signed bytes.
func Wholes(values []int8, shape ...int) Tensor {
	return Tensor{Type: "I8", Shape: shape, Data: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values))}
}

// Numbers is a tensor of uint32.
func Numbers(values []uint32, shape ...int) Tensor {
	return Tensor{Type: "U32", Shape: shape, Data: bytesOf(values)}
}
