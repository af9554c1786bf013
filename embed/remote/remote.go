// Package remote is what embedders behind an endpoint have in common: texts go
// out in batches that the endpoint takes, too long ones cut to their beginning,
// with patience, and what comes back is held against what the model is known to
// give. A driver does one exchange.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/llm"
)

// Ask is one exchange with an endpoint: a vector for each text, in their
// order. There is at least one text, and none is empty. Its errors are those
// of embed.Embedder; ErrInvalid where the endpoint refuses the texts, be it for
// their number or for their length.
type Ask func(ctx context.Context, texts []string) ([][]float32, error)

// Options are what need not be given.
type Options struct {
	Dimensions int // of a vector; 0: the endpoint is asked when it is opened
	// Known tells what they were before, of a model's name, for where nobody
	// answers when it is opened; 0, or nil: not known.
	Known     func(name string) int
	Batch     int    // texts of one exchange at most; 0: 32. Fewer where the endpoint refuses so many
	MaxTokens int    // of a text, about; the beginning is embedded; 0: 2,048
	Query     string // what the model wants to see before a question
	Passage   string // and before anything else
	Patience  *llm.Patience
	// QueryTimeout bounds the embedding of what somebody waits for, in one
	// attempt; 0: DefaultQueryTimeout.
	QueryTimeout time.Duration
}

// DefaultQueryTimeout is how long a question's vector may take where nothing
// else is said.
const DefaultQueryTimeout = time.Second

// shortest is the length in bytes below which a refused text is not cut further.
const shortest = 64

// Embedder embeds behind an endpoint. Any number of calls may run at once.
type Embedder struct {
	ask     Ask
	model   embed.Model
	opts    Options
	patient *llm.Patient[[][]float32]
	waited  *llm.Patient[[][]float32] // for what somebody waits for: one attempt and a breaker of its own
	batch   atomic.Int64              // texts of one exchange, as far as the endpoint is known
}

var _ embed.Embedder = (*Embedder)(nil)

// Open is an embedder of that name (driver and model) that asks so. Where the
// dimensions are not given it embeds one text to learn them. With dimensions that
// are given, or another mark before passages, a name is another model's.
func Open(ctx context.Context, name string, ask Ask, opts Options) (*Embedder, error) {
	if opts.Batch <= 0 {
		opts.Batch = 32
	}
	if opts.MaxTokens <= 0 {
		opts.MaxTokens = 2048
	}
	if opts.Dimensions > 0 {
		name = fmt.Sprintf("%s@%d", name, opts.Dimensions)
	}
	if opts.Passage != "" {
		name += "+" + strconv.Quote(opts.Passage)
	}
	e := &Embedder{ask: ask, opts: opts, patient: llm.NewPatient[[][]float32](opts.Patience)}
	e.waited = llm.NewPatient[[][]float32](opts.waited())
	e.model = embed.Model{Name: name, Dimensions: opts.Dimensions}
	e.batch.Store(int64(opts.Batch))
	if opts.Dimensions > 0 {
		return e, nil
	}
	probe, err := e.patient.Ask(ctx, func(ctx context.Context) ([][]float32, error) { return e.exchange(ctx, []string{"probe"}) })
	switch passing := errors.Is(err, yiku.ErrUnavailable) || errors.Is(err, yiku.ErrLimited); {
	case err == nil:
		e.model.Dimensions = len(probe[0])
	case passing && opts.Known != nil && opts.Known(name) > 0:
		e.model.Dimensions = opts.Known(name)
	default:
		return nil, fmt.Errorf("ask the embedder for its dimensions: %w", err)
	}
	return e, nil
}

// waited is the patience with which questions are embedded: nothing is tried
// again and no Retry-After waited for, because a search goes on by words.
func (o Options) waited() *llm.Patience {
	var p llm.Patience
	if o.Patience != nil {
		p = *o.Patience
	}
	p.Attempts, p.Timeout = 1, cmp.Or(o.QueryTimeout, DefaultQueryTimeout)
	return &p
}

// Close gives nothing back, because nothing is held.
func (e *Embedder) Close() error { return nil }

// Model is the model's name and size.
func (e *Embedder) Model() embed.Model { return e.model }

// Embed gives the texts' vectors. Of a text that is too long the beginning is
// embedded; how much the endpoint takes is found out where it refuses more.
// Whatever is no embed.Passage has QueryTimeout for all of it.
func (e *Embedder) Embed(ctx context.Context, texts []string, use embed.Use) ([][]float32, error) {
	prefix := e.opts.Passage
	if use == embed.Query {
		prefix = e.opts.Query
	}
	prepared := make([]string, len(texts))
	for i, text := range texts {
		if prepared[i] = beginning(prefix+text, e.opts.MaxTokens); prepared[i] == "" {
			prepared[i] = " " // endpoints refuse a text that is empty
		}
	}
	var out [][]float32
	var err error
	if use == embed.Passage {
		out, err = e.all(ctx, e.patient.Ask, prepared)
	} else {
		out, err = e.waited.Ask(ctx, func(ctx context.Context) ([][]float32, error) { return e.all(ctx, once, prepared) })
	}
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	return out, nil
}

// asking is how one exchange is run: with patience, or once.
type asking func(context.Context, func(context.Context) ([][]float32, error)) ([][]float32, error)

func once(ctx context.Context, exchange func(context.Context) ([][]float32, error)) ([][]float32, error) {
	return exchange(ctx)
}

// all embeds texts in as many exchanges as they need.
func (e *Embedder) all(ctx context.Context, ask asking, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(out) < len(texts) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rest := texts[len(out):]
		part, _, err := e.taken(ctx, ask, rest[:min(len(rest), int(e.batch.Load()))])
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}

// taken embeds what the endpoint may refuse as too much: half and half, down to
// single texts, and of these ever shorter beginnings. Where halves were taken
// as they are, no more texts than that go out together from then on.
func (e *Embedder) taken(ctx context.Context, ask asking, texts []string) (vectors [][]float32, cut bool, err error) {
	vectors, err = ask(ctx, func(ctx context.Context) ([][]float32, error) { return e.exchange(ctx, texts) })
	if !errors.Is(err, yiku.ErrInvalid) {
		return vectors, false, err
	}
	if len(texts) == 1 {
		if len(texts[0]) < 2*shortest {
			return nil, false, err
		}
		vectors, _, err = e.taken(ctx, ask, []string{texts[0][:boundary(texts[0], len(texts[0])/2)]})
		return vectors, true, err
	}
	half := (len(texts) + 1) / 2
	left, cutLeft, err := e.taken(ctx, ask, texts[:half])
	if err != nil {
		return nil, false, err
	}
	right, cutRight, err := e.taken(ctx, ask, texts[half:])
	if err != nil {
		return nil, false, err
	}
	if cut = cutLeft || cutRight; !cut {
		e.learn(int64(half))
	}
	return append(left, right...), cut, nil
}

// learn remembers how many texts the endpoint takes together.
func (e *Embedder) learn(texts int64) {
	for known := e.batch.Load(); texts < known && !e.batch.CompareAndSwap(known, texts); {
		known = e.batch.Load()
	}
}

// exchange asks once and holds the answer against the model.
func (e *Embedder) exchange(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.ask(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, v := range vectors {
		if want := e.model.Dimensions; want > 0 && len(v) != want {
			return nil, yiku.Errorf(yiku.ErrUnavailable, "the embedder's vectors have %d values and not %d: another model answers", len(v), want)
		}
		if !unit(v) {
			return nil, yiku.Errorf(yiku.ErrUnavailable, "the embedder gave a vector without a direction")
		}
	}
	return vectors, nil
}

// unit makes a vector one of the length 1, where it has a direction.
func unit(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return false
	}
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
	return true
}
