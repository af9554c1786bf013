package local

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// tinyConfig is an encoder that a test can follow by hand.
var tinyConfig = Config{
	Hidden: 64, Layers: 2, Heads: 2, Inner: 128, Words: 1000, Positions: 40, Epsilon: 1e-12,
	Begin: 0, End: 2, Unknown: 3, Special: []int{1}, Query: "query: ", Passage: "passage: ",
}

// tiny is a model of random weights over the vocabulary of characters, the
// words given, and three special pieces; with whole numbers or float32.
func tiny(t *testing.T, whole bool, words ...string) []byte {
	t.Helper()
	c := tinyConfig
	f := &File{Meta: map[string]string{"format": Format, "name": "tiny"}, Tensors: map[string]Tensor{}}
	vocabulary(f, append([]string{"<s>", "<pad>", "</s>", "<unk>"}, words...))
	rnd := rand.New(rand.NewPCG(7, 7))
	random := func(n int, scale float64) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(rnd.NormFloat64() * scale)
		}
		return out
	}
	matrix := func(name string, outs, ins int) {
		values := random(outs*ins, 1/math.Sqrt(float64(ins)))
		if !whole {
			f.Tensors[name] = Floats(values, outs, ins)
			return
		}
		w, scale, err := Round(values, outs, ins)
		if err != nil {
			t.Fatal(err)
		}
		f.Tensors[name], f.Tensors[name+".scale"] = Wholes(w, outs, ins), Floats(scale, outs)
	}
	norm := func(name string) {
		f.Tensors[name+".weight"], f.Tensors[name+".bias"] = Floats(random(c.Hidden, 1), c.Hidden), Floats(random(c.Hidden, 0.1), c.Hidden)
	}
	matrix("word", c.Words, c.Hidden)
	f.Tensors["position"] = Floats(random(c.Positions*c.Hidden, 0.1), c.Positions, c.Hidden)
	f.Tensors["type"] = Floats(random(c.Hidden, 0.1), c.Hidden)
	norm("norm")
	for i := range c.Layers {
		at := strconv.Itoa(i) + "."
		for _, name := range []string{"query", "key", "value", "output", "up", "down"} {
			outs, ins := c.Hidden, c.Hidden
			switch name {
			case "up":
				outs = c.Inner
			case "down":
				ins = c.Inner
			}
			matrix(at+name, outs, ins)
			f.Tensors[at+name+".bias"] = Floats(random(outs, 0.1), outs)
		}
		norm(at + "attention_norm")
		norm(at + "output_norm")
	}
	config, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	f.Meta["config"] = string(config)
	var out bytes.Buffer
	if _, err := f.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// vocabulary writes pieces whose scores fall with their number.
func vocabulary(f *File, pieces []string) {
	for r := rune('!'); r < 0x7f; r++ {
		pieces = append(pieces, string(r))
	}
	pieces = append(pieces, "▁", "我", "住", "在", "杭", "州", "。", "长")
	var text []byte
	offsets, scores := []uint32{0}, []float32{}
	for i, p := range pieces {
		text = append(text, p...)
		offsets, scores = append(offsets, uint32(len(text))), append(scores, -float32(i)/10)
	}
	f.Tensors["pieces"] = Tensor{Type: "U8", Shape: []int{len(text)}, Data: text}
	f.Tensors["offsets"], f.Tensors["scores"] = Numbers(offsets, len(offsets)), Floats(scores, len(scores))
}

// byHand is the vector of one sequence of pieces, in float64, written down
// from the formulas of the encoder (Vaswani 2017; Devlin 2019): no kernel, no
// table, no rounding.
func byHand(e *encoder, pieces []int) []float64 {
	h := e.Hidden
	x := make([][]float64, len(pieces))
	row := make([]float32, h)
	for t, p := range pieces {
		e.word.row(row, p)
		x[t] = make([]float64, h)
		for i := range h {
			x[t][i] = float64(row[i]) + float64(e.position[t*h+i]) + float64(e.kind[i])
		}
		x[t] = scaled(x[t], e.norm, e.Epsilon)
	}
	for i := range e.layers {
		x = layerByHand(&e.layers[i], x, e.Heads, e.Epsilon)
	}
	out := make([]float64, h)
	for _, v := range x {
		for i := range v {
			out[i] += v[i]
		}
	}
	return out
}

func layerByHand(l *layer, x [][]float64, heads int, epsilon float32) [][]float64 {
	q, k, v := all(l.query, x), all(l.key, x), all(l.value, x)
	d := len(x[0]) / heads
	context := make([][]float64, len(x))
	for t := range x {
		context[t] = make([]float64, len(x[0]))
		for h := range heads {
			weights, sum := make([]float64, len(x)), 0.0
			for s := range x {
				for i := h * d; i < (h+1)*d; i++ {
					weights[s] += q[t][i] * k[s][i] / math.Sqrt(float64(d))
				}
				weights[s] = math.Exp(weights[s])
				sum += weights[s]
			}
			for s := range x {
				for i := h * d; i < (h+1)*d; i++ {
					context[t][i] += weights[s] / sum * v[s][i]
				}
			}
		}
	}
	y := all(l.output, context)
	for t := range x {
		x[t] = scaled(sum(x[t], y[t]), l.attentionNorm, epsilon)
	}
	mid := all(l.up, x)
	for t := range mid {
		for i, z := range mid[t] {
			mid[t][i] = z * 0.5 * math.Erfc(-z/math.Sqrt2)
		}
	}
	y = all(l.down, mid)
	for t := range x {
		x[t] = scaled(sum(x[t], y[t]), l.outputNorm, epsilon)
	}
	return x
}

func all(l linear, x [][]float64) [][]float64 {
	out, row := make([][]float64, len(x)), make([]float32, l.ins)
	for t := range x {
		out[t] = make([]float64, l.outs)
		for o := range l.outs {
			l.row(row, o)
			out[t][o] = float64(l.bias[o])
			for i, w := range row {
				out[t][o] += float64(w) * x[t][i]
			}
		}
	}
	return out
}

func sum(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

func scaled(x []float64, s scaling, epsilon float32) []float64 {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (v-mean)/math.Sqrt(variance+float64(epsilon))*float64(s.weight[i]) + float64(s.bias[i])
	}
	return out
}
