package local

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/yiku-ai/yiku/internal/kernel"
)

// Config is the shape of an encoder, as the file's header has it.
type Config struct {
	Hidden    int     `json:"hidden"`
	Layers    int     `json:"layers"`
	Heads     int     `json:"heads"`
	Inner     int     `json:"inner"` // between the two layers of the feed-forward part
	Words     int     `json:"words"`
	Positions int     `json:"positions"`
	Epsilon   float32 `json:"epsilon"` // of the layer norms

	// The vocabulary's own pieces, which no text is cut into.
	Begin   int   `json:"begin"`
	End     int   `json:"end"`
	Unknown int   `json:"unknown"`
	Special []int `json:"special"` // the others

	// What the model was trained to see before a text.
	Query   string `json:"query"`
	Passage string `json:"passage"`
}

func (c Config) special(i int) bool {
	if i == c.Begin || i == c.End || i == c.Unknown {
		return true
	}
	for _, s := range c.Special {
		if i == s {
			return true
		}
	}
	return false
}

// check names the first field that no encoder can have.
func (c Config) check() error {
	for _, f := range []struct {
		name string
		n    int
		each int
	}{
		{"hidden", c.Hidden, kernel.Lanes}, {"inner", c.Inner, kernel.Lanes}, {"layers", c.Layers, 1},
		{"heads", c.Heads, 1}, {"words", c.Words, 1}, {"positions", c.Positions, 1},
	} {
		if f.n <= 0 || f.n > 1<<24 || f.n%f.each != 0 {
			return fmt.Errorf("config: %s is %d, which is not a positive multiple of %d", f.name, f.n, f.each)
		}
	}
	switch {
	case c.Hidden > 2048 || c.Inner > 2048 || c.Layers > 256:
		return fmt.Errorf("config: %d × %d, %d layers are more than the kernels take (2,048, 256)", c.Hidden, c.Inner, c.Layers)
	case c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%kernel.Lanes != 0:
		return fmt.Errorf("config: %d heads do not share %d values in parts of a multiple of %d", c.Heads, c.Hidden, kernel.Lanes)
	case c.Positions < 3:
		return fmt.Errorf("config: positions is %d: no text fits", c.Positions)
	}
	for _, i := range []int{c.Begin, c.End, c.Unknown} {
		if i < 0 || i >= c.Words {
			return fmt.Errorf("config: piece %d is not one of %d", i, c.Words)
		}
	}
	return nil
}

// linear is a product with its bias.
type linear struct {
	matrix
	bias []float32
}

// scaling is a layer norm.
type scaling struct{ weight, bias []float32 }

type layer struct {
	query, key, value, output, up, down linear
	attentionNorm, outputNorm           scaling
}

// encoder is the weights; it does not change once it is made.
type encoder struct {
	Config
	word     matrix
	position []float32
	kind     []float32
	norm     scaling
	layers   []layer
	gelu     *geluTable
}

// reader collects the first fault while tensors are read.
type reader struct {
	*File
	err error
}

func (r *reader) floats(name string, shape ...int) []float32 {
	out, err := r.float32s(name, shape...)
	if r.err == nil {
		r.err = err
	}
	return out
}

func (r *reader) linear(name string, outs, ins int) linear {
	m, err := r.matrix(name, outs, ins)
	if r.err == nil {
		r.err = err
	}
	return linear{m, r.floats(name+".bias", outs)}
}

func (r *reader) scaling(name string, n int) scaling {
	return scaling{r.floats(name+".weight", n), r.floats(name+".bias", n)}
}

func newEncoder(f *File) (*encoder, error) {
	var c Config
	if f.Meta["format"] != Format {
		return nil, fmt.Errorf("format is %q, want %q", f.Meta["format"], Format)
	}
	if err := json.Unmarshal([]byte(f.Meta["config"]), &c); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &reader{File: f}
	e := &encoder{
		Config: c, gelu: newGELUTable(),
		position: r.floats("position", c.Positions, c.Hidden), kind: r.floats("type", c.Hidden), norm: r.scaling("norm", c.Hidden),
	}
	word, err := f.matrix("word", c.Words, c.Hidden)
	if err != nil {
		return nil, err
	}
	e.word = word
	for i := range c.Layers {
		at := strconv.Itoa(i) + "."
		e.layers = append(e.layers, layer{
			query: r.linear(at+"query", c.Hidden, c.Hidden), key: r.linear(at+"key", c.Hidden, c.Hidden),
			value: r.linear(at+"value", c.Hidden, c.Hidden), output: r.linear(at+"output", c.Hidden, c.Hidden),
			up: r.linear(at+"up", c.Inner, c.Hidden), down: r.linear(at+"down", c.Hidden, c.Inner),
			attentionNorm: r.scaling(at+"attention_norm", c.Hidden), outputNorm: r.scaling(at+"output_norm", c.Hidden),
		})
	}
	return e, r.err
}

// work is the room of one forward pass over up to rows tokens.
type work struct {
	rows                        int
	x, q, k, v, context, y, mid []float32
	rounded                     rounded
	part, scores                []float32 // of one head
}

func (e *encoder) newWork(rows int) *work {
	rows = up(rows, kernel.Lanes)
	w := &work{rows: rows}
	for _, p := range []*[]float32{&w.x, &w.q, &w.k, &w.v, &w.context, &w.y} {
		*p = make([]float32, rows*e.Hidden)
	}
	w.mid = make([]float32, rows*e.Inner)
	wide := max(e.Hidden, e.Inner)
	w.rounded = rounded{make([]int16, rows*wide), make([]float32, rows), make([]int32, rows*wide)}
	longest := up(min(rows, e.Positions), kernel.Lanes)
	w.part = make([]float32, 4*longest*e.Hidden/e.Heads)
	w.scores = make([]float32, longest*longest)
	return w
}

// up is the next multiple.
func up(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// forward runs texts, each of them pieces between Begin and End, and adds up
// the last layer's values of each text's tokens into sums, Hidden values a
// text. The tokens of all texts go through the products together.
func (e *encoder) forward(w *work, texts [][]int, sums []float32) {
	n := e.enter(w, texts)
	rows := up(n, kernel.Rows)
	clear(w.x[n*e.Hidden : rows*e.Hidden])
	clear(w.context[n*e.Hidden : rows*e.Hidden])
	for i := range e.layers {
		l := &e.layers[i]
		w.rounded.set(w.x, rows, e.Hidden)
		l.query.mul(w.q, w.x, &w.rounded, l.query.bias, rows)
		l.key.mul(w.k, w.x, &w.rounded, l.key.bias, rows)
		l.value.mul(w.v, w.x, &w.rounded, l.value.bias, rows)
		from := 0
		for _, t := range texts {
			e.attend(w, from, len(t))
			from += len(t)
		}
		w.rounded.set(w.context, rows, e.Hidden)
		l.output.mul(w.y, w.context, &w.rounded, l.output.bias, rows)
		add(w.x, w.y[:n*e.Hidden])
		normalize(w.x, l.attentionNorm.weight, l.attentionNorm.bias, n, e.Epsilon)
		w.rounded.set(w.x, rows, e.Hidden)
		l.up.mul(w.mid, w.x, &w.rounded, l.up.bias, rows)
		e.gelu.gelu(w.mid[:rows*e.Inner])
		w.rounded.set(w.mid, rows, e.Inner)
		l.down.mul(w.y, w.mid, &w.rounded, l.down.bias, rows)
		add(w.x, w.y[:n*e.Hidden])
		normalize(w.x, l.outputNorm.weight, l.outputNorm.bias, n, e.Epsilon)
	}
	at := 0
	for i, t := range texts {
		for range t {
			add(sums[i*e.Hidden:(i+1)*e.Hidden], w.x[at*e.Hidden:(at+1)*e.Hidden])
			at++
		}
	}
}

// enter fills x with the tokens' own vectors and gives their number.
func (e *encoder) enter(w *work, texts [][]int) int {
	n := 0
	for _, t := range texts {
		for p, word := range t {
			row := w.x[n*e.Hidden : (n+1)*e.Hidden]
			e.word.row(row, word)
			add(row, e.position[p*e.Hidden:(p+1)*e.Hidden])
			add(row, e.kind)
			n++
		}
	}
	normalize(w.x, e.norm.weight, e.norm.bias, n, e.Epsilon)
	return n
}

// attend sets the context of the n tokens from a place on: for each head, every
// token's values weighted by softmax(q·k/√d) over the tokens of its own text.
func (e *encoder) attend(w *work, from, n int) {
	d := e.Hidden / e.Heads
	wide := up(n, kernel.Lanes)
	q, k, v := w.part[:wide*d], w.part[wide*d:2*wide*d], w.part[2*wide*d:3*wide*d]
	out := w.part[3*wide*d : 4*wide*d]
	scores := w.scores[:wide*wide]
	scale := float32(1 / math.Sqrt(float64(d)))
	for h := range e.Heads {
		clear(w.part[:3*wide*d])
		for t := range n {
			at := (from+t)*e.Hidden + h*d
			copy(q[t*d:], w.q[at:at+d])
			copy(k[t*d:], w.k[at:at+d])
			for i, x := range w.v[at : at+d] {
				v[i*wide+t] = x // transposed: a row for each value
			}
		}
		kernel.MulFloat(scores, q, k, wide, wide, d)
		for t := range n {
			row := scores[t*wide : (t+1)*wide]
			for i := range row[:n] {
				row[i] *= scale
			}
			softmax(row[:n])
			clear(row[n:])
		}
		kernel.MulFloat(out, scores, v, wide, d, wide)
		for t := range n {
			copy(w.context[(from+t)*e.Hidden+h*d:], out[t*d:(t+1)*d])
		}
	}
}
