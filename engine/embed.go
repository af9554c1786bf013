package engine

import (
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/jobs"
	"github.com/yiku-ai/yiku/store"
)

// kindEmbed is the kind of job that gives an owner's items their vectors.
const kindEmbed = "embed"

const (
	embedBatch  = 64   // items that are embedded between two transactions
	embedTurn   = 2048 // items that one job embeds before it makes room for others of the owner
	queryCache  = 1024 // vectors of queries that are kept
	queryLength = 800  // characters of a query that are embedded: the last ones
)

// embedding is an engine's embedder, with the vectors of recent queries.
type embedding struct {
	embed.Embedder
	model string

	mu        sync.Mutex
	recent    *list.List               // of *queryVector, used last first; guarded by mu
	byText    map[string]*list.Element // guarded by mu
	unrelated index.Background         // guarded by mu; N is 0 until it is known
}

// ModelID names a model and the size of its vectors in the store: another size
// is another model.
func ModelID(m embed.Model) string { return fmt.Sprintf("%s/%d", m.Name, m.Dimensions) }

// answering is whose vectors an owner is found by: the former model's until
// everything of the owner has its vector of the present one.
func (e *Engine) answering(state store.OwnerState) *embedding {
	if e.former != nil && e.embedding != nil && state.Embedded == e.former.model {
		return e.former
	}
	return e.embedding
}

type queryVector struct {
	text   string
	vector []float32
}

// newEmbedding is nil for no embedder.
func newEmbedding(e embed.Embedder) *embedding {
	if e == nil {
		return nil
	}
	return &embedding{Embedder: e, model: ModelID(e.Model()), recent: list.New(), byText: map[string]*list.Element{}}
}

// query is the vector of what is looked for, nil without an embedder, and what
// cosine unrelated texts have.
func (e *embedding) query(ctx context.Context, text string) ([]float32, index.Background, error) {
	if e == nil || text == "" {
		return nil, index.Background{}, nil
	}
	unrelated, err := e.background(ctx)
	if err != nil {
		return nil, unrelated, err
	}
	text = lastCharacters(text, queryLength)
	if v := e.known(text); v != nil {
		return v, unrelated, nil
	}
	vectors, err := e.Embed(ctx, []string{text}, embed.Query)
	if err != nil {
		return nil, unrelated, err
	}
	e.keep(text, vectors[0])
	return vectors[0], unrelated, nil
}

// background asks the embedder, once, for what unrelated texts have in common.
func (e *embedding) background(ctx context.Context) (index.Background, error) {
	e.mu.Lock()
	known := e.unrelated
	e.mu.Unlock()
	if known.N > 0 {
		return known, nil
	}
	mean, deviation, err := embed.Unrelated(ctx, e)
	if err != nil {
		return known, err
	}
	known = index.Background{N: 1, Mean: mean, Deviation: deviation}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unrelated = known
	return known, nil
}

func (e *embedding) known(text string) []float32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, ok := e.byText[text]
	if !ok {
		return nil
	}
	e.recent.MoveToFront(at)
	return at.Value.(*queryVector).vector
}

func (e *embedding) keep(text string, vector []float32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.byText[text]; ok {
		return
	}
	e.byText[text] = e.recent.PushFront(&queryVector{text, vector})
	if e.recent.Len() > queryCache {
		delete(e.byText, e.recent.Remove(e.recent.Back()).(*queryVector).text)
	}
}

// lastCharacters is the end of a text, which in a conversation is what is asked now.
func lastCharacters(text string, n int) string {
	at := len(text)
	for at > 0 && n > 0 {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at, n = at-size, n-1
	}
	return text[at:]
}

// embedArgs are the arguments of a job that embeds.
type embedArgs struct {
	Model string `json:"model"`
	After int64  `json:"after"` // the owner's number up to which everything has its vector of the model
	All   bool   `json:"all"`   // that was made sure of from the beginning
}

// promiseEmbedding queues the embedding of what changes after a number, at
// most once while it waits: the job that waits begins no later.
func (e *Engine) promiseEmbedding(tx store.Tx, owner yiku.Owner, after int64) error {
	if e.embedding == nil {
		return nil
	}
	state, err := tx.Owner(owner)
	if err != nil || state.Seq == after {
		return err
	}
	return e.enqueueEmbedding(tx, state, embedArgs{e.embedding.model, after, after == 0})
}

// enqueueEmbedding queues a job of its own for all that an owner has, beside
// the one for what changes.
func (e *Engine) enqueueEmbedding(tx store.Tx, state store.OwnerState, args embedArgs) error {
	unique := "changes"
	if args.All {
		unique = "all"
	}
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	now := e.now().UTC()
	_, err = tx.Enqueue(&store.Job{ID: e.newID(), Kind: kindEmbed, Unique: mark("embed", unique+" "+args.Model), Epoch: state.Epoch, NotBefore: now, CreatedAt: now, Arguments: body})
	return err
}

// backfill queues the embedding of everything that an owner has, where not all
// of it is known to have its vector.
func (e *Engine) backfill(ctx context.Context, owner yiku.Owner, state store.OwnerState) error {
	if e.embedding == nil || state.Seq == 0 || state.Embedded == e.embedding.model {
		return nil
	}
	return e.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		state, err := tx.Owner(owner)
		if err != nil || state.ConsentWithdrawn {
			return err
		}
		return e.enqueueEmbedding(tx, state, embedArgs{Model: e.embedding.model, All: true})
	})
}

// embedJob embeds what has changed, a batch at a time, and deletes the job in
// the transaction of the last one, where nothing has changed meanwhile. What it
// was to embed with another model it embeds with the present one, from the
// beginning.
func (c *call) embedJob(ctx context.Context, job store.Job, args embedArgs) error {
	if args.Model != c.embedding.model {
		args = embedArgs{Model: c.embedding.model, All: true}
	}
	for done := 0; ; {
		if err := jobs.Yield(ctx); err != nil {
			return err
		}
		part, err := c.unembedded(ctx, job.Owner, args.After)
		if err != nil {
			return err
		}
		vectors, err := c.embedding.passages(ctx, part.texts)
		if err != nil {
			return err
		}
		if refused := countNil(vectors); refused > 0 {
			c.count("refused", refused)
			c.log.Warn("the embedder refuses texts: they are found by words alone", "refused", refused, "model", c.embedding.model)
		}
		done += len(part.items)
		ended, err := c.putVectors(ctx, job, args, part, vectors, done >= embedTurn)
		if err != nil || ended {
			return err
		}
		args.After = part.upTo
	}
}

// passages embeds texts, each once; what the embedder refuses for good has nil.
func (e *embedding) passages(ctx context.Context, texts []string) ([][]float32, error) {
	at, distinct := map[string]int{}, make([]string, 0, len(texts))
	for _, text := range texts {
		if _, ok := at[text]; !ok {
			at[text], distinct = len(distinct), append(distinct, text)
		}
	}
	vectors, err := e.sifted(ctx, distinct)
	if err != nil {
		return nil, err
	}
	if len(vectors) > 0 && countNil(vectors) == len(vectors) { // is it the texts that are refused, or whatever is asked?
		if _, err := e.Embed(ctx, []string{"probe"}, embed.Passage); err != nil {
			return nil, err
		}
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = vectors[at[text]]
	}
	return out, nil
}

// sifted embeds texts; those that are refused where they stand alone have nil.
func (e *embedding) sifted(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts, embed.Passage)
	if !errors.Is(err, yiku.ErrInvalid) {
		return vectors, err
	}
	if len(texts) == 1 {
		return [][]float32{nil}, nil
	}
	half := len(texts) / 2
	left, err := e.sifted(ctx, texts[:half])
	if err != nil {
		return nil, err
	}
	right, err := e.sifted(ctx, texts[half:])
	if err != nil {
		return nil, err
	}
	return slices.Concat(left, right), nil
}

func countNil(vectors [][]float32) (n int) {
	for _, v := range vectors {
		if v == nil {
			n++
		}
	}
	return n
}

// EmbedPending gives everything its vector that waits for one.
func (e *Engine) EmbedPending(ctx context.Context) error {
	for {
		due, err := e.store.DueJobs(ctx, e.now(), math.MaxInt32)
		if err != nil {
			return err
		}
		n := 0
		for _, job := range due {
			if job.Kind != kindEmbed || e.embedding == nil {
				continue
			}
			n++
			if err := (handler{e}).Do(ctx, job); err != nil {
				return err
			}
		}
		if n == 0 {
			return nil
		}
	}
}

// unembedded is what of an owner has changed after a number and lacks a vector.
type unembedded struct {
	items []store.Item
	texts []string
	upTo  int64 // the number up to which was read
	last  bool  // nothing more had changed
}

func (c *call) unembedded(ctx context.Context, owner yiku.Owner, after int64) (u unembedded, err error) {
	err = c.store.View(ctx, func(r store.Reader) error {
		u = unembedded{upTo: after}
		for len(u.items) == 0 && !u.last {
			changes, err := r.Changes(owner, u.upTo, embedBatch)
			if err != nil {
				return err
			}
			u.last = len(changes) < embedBatch
			if len(changes) > 0 {
				u.upTo = changes[len(changes)-1].Seq
			}
			if err := c.without(r, owner, changes, &u); err != nil {
				return err
			}
		}
		return nil
	})
	return u, err
}

// without adds those of the changed items that lack a vector, with their texts.
func (c *call) without(r store.Reader, owner yiku.Owner, changes []store.Change, u *unembedded) error {
	var items []store.Item
	var keys []int64
	for _, ch := range changes {
		if _, ok := refOf(ch.Item); ok && !ch.Deleted {
			items, keys = append(items, ch.Item), append(keys, ch.Key)
		}
	}
	have, err := r.Vectors(owner, c.embedding.model, keys)
	if err != nil {
		return err
	}
	texts, err := textsOf(r, owner, items)
	if err != nil {
		return err
	}
	for _, item := range items {
		if text, ok := texts[item]; ok && have[item.Key] == nil {
			u.items, u.texts = append(u.items, item), append(u.texts, text)
		}
	}
	return nil
}

// textsOf are the texts by which items are found; those that are gone have none.
func textsOf(r store.Reader, owner yiku.Owner, items []store.Item) (map[store.Item]string, error) {
	keys := map[store.ItemKind][]int64{}
	for _, item := range items {
		keys[item.Kind] = append(keys[item.Kind], item.Key)
	}
	list, err := docs(r, owner, keys[store.ItemMemory], keys[store.ItemMessage], "")
	if err != nil {
		return nil, err
	}
	out := make(map[store.Item]string, len(list))
	for i := range list {
		out[itemOf(list[i].Ref)] = list[i].Text
	}
	return out, nil
}

// putVectors writes the vectors of items that still say what was embedded. The
// job ends where that was all, or goes to the end of the owner's jobs where it
// has had its turn. Where all of the owner was embedded it is found by these
// vectors from then on.
func (c *call) putVectors(ctx context.Context, job store.Job, args embedArgs, u unembedded, vectors [][]float32, turn bool) (ended bool, err error) {
	err = c.store.Update(ctx, job.Owner, store.Maintenance, func(tx store.Tx) error {
		ended = false
		if _, err := tx.Job(job.Owner, job.ID); err != nil { // forgotten meanwhile, with what it was about
			ended = true
			return nil
		}
		before, err := tx.Owner(job.Owner)
		if err != nil {
			return err
		}
		put, err := stillSaid(tx, job.Owner, u, vectors)
		if err != nil {
			return err
		}
		if err := tx.PutVectors(c.embedding.model, put); err != nil {
			return err
		}
		c.count("vectors", len(put))
		whole := u.last && before.Seq == u.upTo
		if ended = whole || turn; !ended {
			return nil
		}
		if err := tx.DeleteJob(job.ID); err != nil {
			return err
		}
		if whole {
			if !args.All {
				return nil
			}
			if before.Embedded != "" && before.Embedded != c.embedding.model {
				c.leftovers.Store(true)
			}
			return tx.SetEmbedded(c.embedding.model)
		}
		args.After = u.upTo
		return c.enqueueEmbedding(tx, before, args)
	})
	if errors.Is(err, yiku.ErrNotFound) {
		return true, nil
	}
	return ended, err
}

// stillSaid are the vectors of items that say what they were embedded for and
// was not refused.
func stillSaid(r store.Reader, owner yiku.Owner, u unembedded, vectors [][]float32) ([]store.Vector, error) {
	texts, err := textsOf(r, owner, u.items)
	if err != nil {
		return nil, err
	}
	var put []store.Vector
	for i, item := range u.items {
		if text, ok := texts[item]; ok && text == u.texts[i] && vectors[i] != nil {
			put = append(put, store.Vector{Item: item, Values: vectors[i]})
		}
	}
	return put, nil
}

// dropFormer deletes vectors of models that nobody is found by any more, and
// queues the embedding of what was never embedded whole.
func (e *Engine) dropFormer(ctx context.Context, owner yiku.Owner) error {
	if e.embedding == nil {
		return nil
	}
	keep := []string{e.embedding.model}
	if e.former != nil {
		keep = append(keep, e.former.model)
	}
	for {
		var dropped int
		var state store.OwnerState
		err := e.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) (err error) {
			if state, err = tx.Owner(owner); err == nil && state.Embedded == e.embedding.model {
				dropped, err = tx.DropVectors(keep, tendBatch)
			}
			return err
		})
		if err != nil {
			return err
		}
		if dropped < tendBatch {
			return e.backfill(ctx, owner, state)
		}
	}
}
