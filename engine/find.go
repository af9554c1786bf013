package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/recall"
	"github.com/yiku-ai/yiku/store"
)

const (
	syncChunk      = 2000 // changes read into the index at a time: less than 100 ms
	firstK         = 200  // candidates asked for at first
	mostK          = 6400 // and at most, where filters leave too few
	syncAttempts   = 16   // rounds against writers who are as fast
	degradedDense  = "dense"
	degradedLag    = "index_lag"
	degradedModel  = "llm"
	degradedBudget = "budget"
)

// finder keeps the index level with the store and reads candidates back from it.
type finder struct {
	store   store.Store
	index   index.Index
	model   string                                                 // whose vectors documents get; "" none
	promise func(tx store.Tx, owner yiku.Owner, after int64) error // queues the embedding of what has changed

	mu    sync.Mutex
	gates map[yiku.Owner]*gate // guarded by mu: one loader an owner
}

// gate lets one goroutine at a time load an owner into the index.
type gate struct {
	turn    chan struct{}
	waiting int
}

func newFinder(s store.Store, i index.Index, model string, promise func(store.Tx, yiku.Owner, int64) error) *finder {
	return &finder{store: s, index: i, model: model, promise: promise, gates: map[yiku.Owner]*gate{}}
}

func (f *finder) enter(ctx context.Context, owner yiku.Owner) (leave func(), err error) {
	f.mu.Lock()
	g := f.gates[owner]
	if g == nil {
		g = &gate{turn: make(chan struct{}, 1)}
		f.gates[owner] = g
	}
	g.waiting++
	f.mu.Unlock()
	done := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if g.waiting--; g.waiting == 0 {
			delete(f.gates, owner)
		}
	}
	select {
	case g.turn <- struct{}{}:
		return func() { <-g.turn; done() }, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}

// sync brings the index up to what the store held when it was called. It
// returns false where writers outran it: what is missing is at most theirs.
func (f *finder) sync(ctx context.Context, owner yiku.Owner) (level bool, err error) {
	var goal int64 = -1
	for range syncAttempts {
		seq, behind, err := f.behind(ctx, owner)
		if err != nil {
			return false, err
		}
		if goal < 0 {
			goal = seq
		}
		if !behind {
			return true, nil
		}
		reached, err := f.catchUp(ctx, owner)
		if err != nil {
			return false, err
		}
		if reached >= goal {
			return true, nil
		}
	}
	return false, nil
}

// behind reports whether the index lacks changes of an owner.
func (f *finder) behind(ctx context.Context, owner yiku.Owner) (seq int64, behind bool, err error) {
	var state store.OwnerState
	err = f.store.View(ctx, func(r store.Reader) (err error) {
		state, err = r.Owner(owner)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	at, err := f.index.Position(ctx, owner)
	if err != nil {
		return 0, false, err
	}
	return state.Seq, at.Seq < state.Seq || state.Seq > 0 && at.Generation != f.store.Meta().Generation, nil
}

// catchUp applies what came since the index's position and returns how far it got.
func (f *finder) catchUp(ctx context.Context, owner yiku.Owner) (int64, error) {
	leave, err := f.enter(ctx, owner)
	if err != nil {
		return 0, err
	}
	defer leave()
	generation := f.store.Meta().Generation
	at, err := f.index.Position(ctx, owner)
	if err != nil {
		return 0, err
	}
	if at.Generation != generation {
		at = index.Position{}
	}
	anew, lacking := at == index.Position{}, false
	for {
		batch, more, err := f.read(ctx, owner, at, generation)
		if err != nil {
			return at.Seq, err
		}
		if batch.To == at {
			return at.Seq, nil
		}
		lacking = lacking || anew && lacksVectors(batch)
		if err := f.index.Apply(ctx, owner, batch); errors.Is(err, index.ErrPosition) {
			return 0, nil // evicted or loaded by somebody else meanwhile: look again
		} else if err != nil {
			return at.Seq, err
		}
		at = batch.To
		if !more {
			if lacking && f.model != "" {
				err = f.backfill(ctx, owner)
			}
			return at.Seq, err
		}
	}
}

func lacksVectors(b index.Batch) bool {
	return slices.ContainsFunc(b.Upserts, func(d index.Doc) bool { return d.Vector == nil })
}

// read turns the changes after a position into a batch.
func (f *finder) read(ctx context.Context, owner yiku.Owner, from index.Position, generation string) (batch index.Batch, more bool, err error) {
	err = f.store.View(ctx, func(r store.Reader) error {
		batch, more = index.Batch{From: from, To: from}, false
		state, err := r.Owner(owner)
		if err != nil {
			return err
		}
		changes, err := r.Changes(owner, from.Seq, syncChunk)
		if err != nil {
			return err
		}
		keys := map[store.ItemKind][]int64{}
		for _, ch := range changes {
			ref, ok := refOf(ch.Item)
			switch {
			case !ok:
			case ch.Deleted:
				batch.Deletes = append(batch.Deletes, ref)
			default:
				keys[ch.Kind] = append(keys[ch.Kind], ch.Key)
			}
		}
		if more = len(changes) == syncChunk; more {
			batch.To = index.Position{Generation: generation, Seq: changes[len(changes)-1].Seq}
		} else { // numbers that name no document, such as a task's, are passed too
			batch.To = index.Position{Generation: generation, Seq: state.Seq}
		}
		batch.Upserts, err = docs(r, owner, keys[store.ItemMemory], keys[store.ItemMessage], f.model)
		return err
	})
	return batch, more, err
}

func itemOf(ref index.Ref) store.Item {
	if ref.Kind == index.Memory {
		return store.Item{Kind: store.ItemMemory, Key: ref.Key}
	}
	return store.Item{Kind: store.ItemMessage, Key: ref.Key}
}

func refOf(item store.Item) (index.Ref, bool) {
	switch item.Kind {
	case store.ItemMemory:
		return index.Ref{Kind: index.Memory, Key: item.Key}, true
	case store.ItemMessage:
		return index.Ref{Kind: index.Message, Key: item.Key}, true
	}
	return index.Ref{}, false
}

// docs reads rows and makes of each the document that it is found by.
// With a model each has the vector that this model has made of it, if it has.
func docs(r store.Reader, owner yiku.Owner, memoryKeys, messageKeys []int64, model string) ([]index.Doc, error) {
	memories, err := r.MemoriesByKey(owner, memoryKeys)
	if err != nil {
		return nil, err
	}
	messages, err := r.MessagesByKey(owner, messageKeys)
	if err != nil {
		return nil, err
	}
	sessions, err := sessionsOf(r, owner, messages)
	if err != nil {
		return nil, err
	}
	var vectors map[int64][]float32
	if model != "" {
		if vectors, err = r.Vectors(owner, model, slices.Concat(memoryKeys, messageKeys)); err != nil {
			return nil, err
		}
	}
	out := make([]index.Doc, 0, len(memories)+len(messages))
	for _, m := range memories {
		out = append(out, index.Doc{Ref: index.Ref{Kind: index.Memory, Key: m.Key}, Text: recall.MemoryText(m.Memory),
			At: m.ValidFrom, Fields: store.MemoryFields(m.Memory), Metadata: m.Metadata, Vector: vectors[m.Key]})
	}
	for _, m := range messages {
		out = append(out, index.Doc{Ref: index.Ref{Kind: index.Message, Key: m.Key}, Text: recall.MessageText(m.Message),
			Session: m.SessionKey, At: m.CreatedAt, Fields: store.MessageFields(m.Message, sessions[m.SessionKey]), Metadata: m.Metadata, Vector: vectors[m.Key]})
	}
	return out, nil
}

// sessionsOf reads the session of each message once.
func sessionsOf(r store.Reader, owner yiku.Owner, messages []store.Message) (map[int64]yiku.Session, error) {
	sessions := map[int64]yiku.Session{}
	for _, m := range messages {
		if _, ok := sessions[m.SessionKey]; ok {
			continue
		}
		s, err := r.SessionByKey(owner, m.SessionKey)
		if err != nil {
			return nil, err
		}
		sessions[m.SessionKey] = s.Session
	}
	return sessions, nil
}

// question is what to find, and where.
type question struct {
	text     string
	vector   []float32     // of the text; nil without an embedder
	fusion   recall.Fusion // of the query
	exact    []string      // its exact data
	filter   *yiku.Filter  // scope, time and the caller's own conditions
	kinds    []index.Kind
	limit    int
	off      arms    // that find nothing
	least    float64 // relevance below which nothing is found
	explain  bool
	skip     map[string]bool // messages (by session and id) that are shown already
	recorded time.Time       // messages taken in before are beyond retention
}

// words are the text as far as words are looked for.
func (q question) words() string {
	if q.off.lexical {
		return ""
	}
	return q.text
}

// hit is an item found, with its row.
type hit struct {
	recall.Ranked
	owner   yiku.Owner
	memory  *store.Memory
	message *store.Message
}

// least is the relevance that a request asks for, or the setting's.
func least(wish *float64, setting float64) float64 {
	if wish != nil {
		return *wish
	}
	return setting
}

// find returns the best items among the owners' rows, best first. Every
// candidate is read from the store and meets the whole filter again there.
func (c *call) find(ctx context.Context, owners []yiku.Owner, q question) (hits []hit, degraded []string, err error) {
	q.fusion, q.exact = recall.DefaultFusion(), exactOf(q.text)
	if q.off.neighbors {
		q.fusion.Neighbor, q.fusion.DenseNeighbor = 0, 0
	}
	if !q.off.dense {
		q.vector, q.fusion.Unrelated, err = c.embedding.query(ctx, q.text)
	}
	if !q.off.dense && (err != nil || q.vector == nil) {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		degraded = []string{degradedDense} // there is no embedder, or it fails: words find as much as they can
	}
	for _, owner := range owners {
		level, err := c.finder.sync(ctx, owner)
		if err != nil {
			return nil, nil, err
		}
		if !level {
			degraded = append(degraded, degradedLag)
		}
	}
	var p pool
	for k := firstK; ; k *= 4 {
		hits, more, err := c.findK(ctx, owners, q, &p, k)
		if err != nil || !more || len(hits) >= q.limit || k >= mostK {
			return hits, degraded, err
		}
	}
}

// pool is what was read for a question so far, so that a wider search reads
// only what is new.
type pool struct {
	hits []hit
	seen map[itemKey]bool // candidates, read or dropped
}

// fresh leaves of the candidates those that were not seen yet.
func (p *pool) fresh(shared bool, candidates []index.Candidate) []index.Candidate {
	if p.seen == nil {
		p.seen = make(map[itemKey]bool, len(candidates))
	}
	return slices.DeleteFunc(candidates, func(cand index.Candidate) bool {
		key := itemKey{shared, cand.Ref}
		seen := p.seen[key]
		p.seen[key] = true
		return seen
	})
}

func (c *call) findK(ctx context.Context, owners []yiku.Owner, q question, p *pool, k int) (hits []hit, more bool, err error) {
	for _, owner := range owners {
		found, err := c.index.Search(ctx, owner, index.Query{Text: q.words(), Vector: q.vector, Filter: q.filter, Kinds: q.kinds, K: k})
		if err != nil {
			return nil, false, err
		}
		found.Candidates = p.fresh(owner.IsShared(), found.Candidates)
		read, worse, err := c.hydrate(ctx, owner, found, q)
		if err != nil {
			return nil, false, err
		}
		more = more || found.More && !worse
		p.hits = append(p.hits, read...)
	}
	items := make([]recall.Item, len(p.hits))
	at := map[itemKey]int{}
	for i := range p.hits {
		items[i] = p.hits[i].Item
		at[keyOf(p.hits[i].Item)] = i
	}
	ranked := recall.Rank(items, c.now, q.limit, &recall.Options{Weights: c.settings.Weights, MinRelevance: &q.least, Explain: q.explain, Query: q.text, Exact: q.exact})
	for _, r := range ranked {
		h := p.hits[at[keyOf(r.Item)]]
		h.Ranked = r
		hits = append(hits, h)
	}
	return hits, more, nil
}

type itemKey struct {
	shared bool
	ref    index.Ref
}

func keyOf(i recall.Item) itemKey { return itemKey{i.Shared, i.Candidate.Ref} }

// hydrate reads the rows of the candidates that are relevant enough, and drops
// what the filter, the retention or a deletion takes away. worse says that some
// were not relevant enough: the candidates behind them are not either.
func (c *call) hydrate(ctx context.Context, owner yiku.Owner, found index.Result, q question) (hits []hit, worse bool, err error) {
	items := map[index.Ref]recall.Item{}
	var memoryKeys, messageKeys []int64
	for _, cand := range found.Candidates {
		scores := recall.Calibrate(cand, found.MaxLexical, q.fusion.Against(found.Background))
		if scores.Relevance < q.least {
			worse = true
			continue
		}
		items[cand.Ref] = recall.Item{Candidate: cand, Scores: scores}
		if cand.Kind == index.Memory {
			memoryKeys = append(memoryKeys, cand.Key)
		} else {
			messageKeys = append(messageKeys, cand.Key)
		}
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		hits = nil
		memories, err := r.MemoriesByKey(owner, memoryKeys)
		if err != nil {
			return err
		}
		for i := range memories {
			m := &memories[i]
			if !q.filter.Match(store.MemoryFields(m.Memory)) {
				continue
			}
			item := items[index.Ref{Kind: index.Memory, Key: m.Key}]
			item = recall.OfMemory(&m.Memory, item.Candidate, item.Scores)
			item.Shared = owner.IsShared()
			hits = append(hits, hit{Ranked: recall.Ranked{Item: item}, owner: owner, memory: m})
		}
		messages, err := r.MessagesByKey(owner, messageKeys)
		if err != nil {
			return err
		}
		sessions, err := sessionsOf(r, owner, messages)
		if err != nil {
			return err
		}
		for i := range messages {
			m := &messages[i]
			if q.skip[m.SessionID+"\x00"+m.ID] || m.RecordedAt.Before(q.recorded) || !q.filter.Match(store.MessageFields(m.Message, sessions[m.SessionKey])) {
				continue
			}
			item := items[index.Ref{Kind: index.Message, Key: m.Key}]
			item = recall.OfMessage(&m.Message, item.Candidate, item.Scores)
			hits = append(hits, hit{Ranked: recall.Ranked{Item: item}, owner: owner, message: m})
		}
		return nil
	})
	return hits, worse, err
}
