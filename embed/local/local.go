package local

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
)

// Options are what may be left to the defaults.
type Options struct {
	// Workers is how many cores one call may use; 0: all.
	Workers int
	// MaxTokens is how much of a text is embedded: the beginning, cut into
	// pieces as long as the model takes, whose vectors are averaged by their
	// lengths; 0: 2,048.
	MaxTokens int
}

// packed is how many tokens go through the products together: each weight is
// read once for them.
const packed = 256

// Embedder embeds with a model in this process's memory. Any number of calls
// may run at once; each holds its own working memory.
type Embedder struct {
	encoder *encoder
	words   *tokenizer
	name    string
	opts    Options
	works   sync.Pool
	unmap   func() error
}

var _ embed.Embedder = (*Embedder)(nil)

// Open reads the model in that file; it is mapped, not copied, where the
// system can. A file that is not a model is yiku.ErrInvalid.
func Open(path string, opts *Options) (*Embedder, error) {
	raw, unmap, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", path, err)
	}
	e, err := New(raw, opts)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", path, joined(err, unmap()))
	}
	e.unmap = unmap
	return e, nil
}

func joined(err, other error) error {
	if other != nil {
		return fmt.Errorf("%w (%w)", err, other)
	}
	return err
}

// New reads a model that is in memory, which must not change.
func New(raw []byte, opts *Options) (*Embedder, error) {
	f, err := ParseFile(raw)
	if err != nil {
		return nil, invalid(err)
	}
	enc, err := newEncoder(f)
	if err != nil {
		return nil, invalid(err)
	}
	e := &Embedder{encoder: enc, name: f.Meta["name"]}
	if opts != nil {
		e.opts = *opts
	}
	if e.opts.Workers <= 0 {
		e.opts.Workers = runtime.GOMAXPROCS(0)
	}
	if e.opts.MaxTokens <= 0 {
		e.opts.MaxTokens = 2048
	}
	r := &reader{File: f}
	scores := r.floats("scores", len(f.Tensors["scores"].Data)/4)
	offsets, err := f.tensor("offsets", "U32", []int{len(scores) + 1})
	if err := joinFirst(r.err, err); err != nil {
		return nil, invalid(err)
	}
	if len(scores) > enc.Words {
		return nil, invalid(fmt.Errorf("vocabulary: %d pieces, but vectors for %d", len(scores), enc.Words))
	}
	e.words, err = newTokenizer(f.Tensors["pieces"].Data, view[uint32](offsets.Data), scores, enc.Config)
	if err != nil {
		return nil, invalid(err)
	}
	e.works.New = func() any { return enc.newWork(max(packed, enc.Positions)) }
	return e, nil
}

func joinFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func invalid(err error) error { return fmt.Errorf("%w: %w", yiku.ErrInvalid, err) }

// Close gives the file back. No call may be running or follow.
func (e *Embedder) Close() error {
	if e.unmap == nil {
		return nil
	}
	return e.unmap()
}

// Model is the model's name and size.
func (e *Embedder) Model() embed.Model {
	return embed.Model{Name: "local/" + e.name, Dimensions: e.encoder.Hidden}
}

// segment is a piece of a text that the model takes at once.
type segment struct {
	text   int
	pieces []int // with Begin and End
}

// Embed gives the texts' vectors.
func (e *Embedder) Embed(ctx context.Context, texts []string, use embed.Use) ([][]float32, error) {
	batches := e.pack(texts, use)
	out := make([][]float32, len(texts))
	flat := make([]float32, len(texts)*e.encoder.Hidden)
	for i := range out {
		out[i] = flat[i*e.encoder.Hidden : (i+1)*e.encoder.Hidden : (i+1)*e.encoder.Hidden]
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex // of out
		next = make(chan []segment)
	)
	for range min(e.opts.Workers, len(batches)) {
		wg.Go(func() {
			w := e.works.Get().(*work)
			defer e.works.Put(w)
			for batch := range next {
				e.run(w, batch, &mu, out)
			}
		})
	}
	err := feed(ctx, next, batches)
	wg.Wait()
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	for _, v := range out {
		unit(v)
	}
	return out, nil
}

// feed hands the batches out until the caller goes away.
func feed(ctx context.Context, next chan<- []segment, batches [][]segment) error {
	defer close(next)
	for _, b := range batches {
		select {
		case next <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// run embeds a batch and adds its sums to the texts' vectors: the mean over
// all tokens of a text has the direction of their sum.
func (e *Embedder) run(w *work, batch []segment, mu *sync.Mutex, out [][]float32) {
	tokens := make([][]int, len(batch))
	for i, s := range batch {
		tokens[i] = s.pieces
	}
	sums := make([]float32, len(batch)*e.encoder.Hidden)
	e.encoder.forward(w, tokens, sums)
	mu.Lock()
	defer mu.Unlock()
	for i, s := range batch {
		add(out[s.text], sums[i*e.encoder.Hidden:(i+1)*e.encoder.Hidden])
	}
}

// pack cuts the texts into segments and groups them, so that a group is about
// as long as is worth while.
func (e *Embedder) pack(texts []string, use embed.Use) [][]segment {
	var batches [][]segment
	size := packed
	for i, text := range texts {
		for _, pieces := range e.segments(text, use) {
			if size+len(pieces) > packed {
				batches, size = append(batches, nil), 0
			}
			last := len(batches) - 1
			batches[last] = append(batches[last], segment{i, pieces})
			size += len(pieces)
		}
	}
	return batches
}

// segments are the pieces of a text with what the model wants to see before
// it, cut to what the model takes at once.
func (e *Embedder) segments(text string, use embed.Use) [][]int {
	prefix := e.encoder.Passage
	if use == embed.Query {
		prefix = e.encoder.Query
	}
	// No piece is longer than this, so the rest cannot matter.
	if most := e.opts.MaxTokens * e.words.longest; len(text) > most {
		text = text[:most]
	}
	pieces := e.words.cut(prefix + text)
	pieces = pieces[:min(len(pieces), e.opts.MaxTokens)]
	room := e.encoder.Positions - 2
	var out [][]int
	for from := 0; from == 0 || from < len(pieces); from += room {
		part := pieces[from:min(from+room, len(pieces))]
		segment := append(make([]int, 0, len(part)+2), e.encoder.Begin)
		out = append(out, append(append(segment, part...), e.encoder.End))
	}
	return out
}

// readFile is what mapFile falls back to.
func readFile(path string) ([]byte, func() error, error) {
	raw, err := os.ReadFile(path)
	return raw, func() error { return nil }, err
}
