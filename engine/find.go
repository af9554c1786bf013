package engine

import (
	"context"
	"errors"
	"maps"
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
	store     store.Store
	index     index.Index
	answering func(store.OwnerState) *embedding                         // whose vectors documents get; nil: none
	promise   func(context.Context, yiku.Owner, store.OwnerState) error // queues the embedding of what lacks vectors

	mu    sync.Mutex
	gates map[yiku.Owner]*gate // guarded by mu: one loader an owner
}

// gate lets one goroutine at a time load an owner into the index.
type gate struct {
	turn    chan struct{}
	waiting int
}

func newFinder(s store.Store, i index.Index) *finder {
	return &finder{store: s, index: i, gates: map[yiku.Owner]*gate{}}
}

// footing is what an owner's shard has to be for a search: where the store
// stands, and by whose vectors the owner is found.
type footing struct {
	state     store.OwnerState
	embedding *embedding // nil: by words alone
	level     bool       // the shard had all that the store held
}

// generation is that of a shard: documents have the vectors of one model, so
// that a shard with another one's is as good as none.
func (f *finder) generation(e *embedding) string {
	if e == nil {
		return f.store.Meta().Generation
	}
	return f.store.Meta().Generation + "/" + e.model
}

// holds reports whether a search at a position had what it stands on: the
// shard may be dropped, or loaded anew, at any time.
func (f *finder) holds(at index.Position, on footing) bool {
	if on.state.Seq == 0 {
		return true
	}
	return at.Generation == f.generation(on.embedding) && (!on.level || at.Seq >= on.state.Seq)
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

// sync brings the index up to what the store held when it was called, but for
// what writers add who outran it.
func (f *finder) sync(ctx context.Context, owner yiku.Owner) (on footing, err error) {
	var goal int64 = -1
	for range syncAttempts {
		state, behind, err := f.behind(ctx, owner)
		if err != nil {
			return on, err
		}
		if goal < 0 {
			goal = state.Seq
		}
		on = footing{state: state, embedding: f.answering(state)}
		if on.state.Seq = goal; !behind {
			on.level = true
			return on, nil
		}
		reached, err := f.catchUp(ctx, owner)
		if err != nil {
			return on, err
		}
		if reached >= goal {
			on.level = true
			return on, nil
		}
	}
	return on, nil
}

// behind reports whether the index lacks changes of an owner.
func (f *finder) behind(ctx context.Context, owner yiku.Owner) (state store.OwnerState, behind bool, err error) {
	err = f.store.View(ctx, func(r store.Reader) (err error) {
		state, err = r.Owner(owner)
		return err
	})
	if err != nil {
		return state, false, err
	}
	at, err := f.index.Position(ctx, owner)
	if err != nil {
		return state, false, err
	}
	return state, at.Seq < state.Seq || state.Seq > 0 && at.Generation != f.generation(f.answering(state)), nil
}

// catchUp applies what came since the index's position and returns how far it got.
func (f *finder) catchUp(ctx context.Context, owner yiku.Owner) (int64, error) {
	leave, err := f.enter(ctx, owner)
	if err != nil {
		return 0, err
	}
	defer leave()
	state, behind, err := f.behind(ctx, owner)
	if err != nil || !behind { // whoever loaded before has brought it up
		return state.Seq, err
	}
	with := f.answering(state)
	at, err := f.index.Position(ctx, owner)
	if err != nil {
		return 0, err
	}
	if at.Generation != f.generation(with) {
		at = index.Position{}
	}
	anew, lacking := at == index.Position{}, false
	reached, err := f.fill(ctx, owner, func(ctx context.Context, owner yiku.Owner, b index.Batch) error {
		lacking = lacking || anew && with != nil && lacksVectors(b)
		return f.index.Apply(ctx, owner, b)
	}, at, with)
	switch {
	case errors.Is(err, index.ErrPosition):
		return 0, nil // evicted or loaded by somebody else meanwhile: look again
	case err != nil || !anew || reached == at:
		return reached.Seq, err
	case lacking:
		state.Embedded = ""
	}
	return reached.Seq, f.promise(ctx, owner, state)
}

// apply is Index.Apply, or that of a copy.
type apply func(context.Context, yiku.Owner, index.Batch) error

// fill applies what came since a position and returns the one that it reached.
func (f *finder) fill(ctx context.Context, owner yiku.Owner, to apply, at index.Position, with *embedding) (index.Position, error) {
	for {
		batch, more, err := f.read(ctx, owner, at, with)
		if err != nil || batch.To == at {
			return at, err
		}
		if err := to(ctx, owner, batch); err != nil {
			return at, err
		}
		if at = batch.To; !more {
			return at, nil
		}
	}
}

func lacksVectors(b index.Batch) bool {
	return slices.ContainsFunc(b.Upserts, func(d index.Doc) bool { return d.Vector == nil })
}

// read turns the changes after a position into a batch.
func (f *finder) read(ctx context.Context, owner yiku.Owner, from index.Position, with *embedding) (batch index.Batch, more bool, err error) {
	generation, model := f.generation(with), ""
	if with != nil {
		model = with.model
	}
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
		batch.Upserts, err = docs(r, owner, keys[store.ItemMemory], keys[store.ItemMessage], model)
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
	zone     *time.Location      // of who asks; UTC where nil
	exact    []string            // its exact data
	times    []index.Span        // that it asks about
	said     string              // the words that are looked for beside them
	related  map[itemKey]float64 // what relations lead to from what it names
	rest     float64             // the weight of what it asks beside times
	filter   *yiku.Filter        // scope, time and the caller's own conditions
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
	return q.said
}

// read works out of which times a question asks.
func (q *question) read(now time.Time) {
	if q.exact, q.said = exactOf(q.text), q.text; q.off.time {
		return
	}
	if q.zone != nil {
		now = now.In(q.zone)
	}
	q.times, q.said, q.rest = recall.Times(q.text, now)
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
	q.read(c.now.UTC())
	if q.related, err = c.related(ctx, owners[0], q); err != nil {
		return nil, nil, err
	}
	var p pool
	for k := firstK; ; k *= 4 {
		hits, more, err := c.findK(ctx, owners, q, &p, k)
		degraded = slices.Sorted(maps.Keys(p.degraded))
		if err != nil || !more || len(hits) >= q.limit || k >= mostK {
			c.noteFound(q, p.hits, hits)
			return hits, degraded, err
		}
	}
}

// pool is what was read for a question so far, so that a wider search reads
// only what is new.
type pool struct {
	hits     []hit
	seen     map[itemKey]bool // candidates, read or dropped
	degraded map[string]bool  // what was missing
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
		found, fusion, err := c.search(ctx, owner, q, p, k)
		if err != nil {
			return nil, false, err
		}
		found.Candidates = withRelated(found.Candidates, owner.IsShared(), q.related)
		found.Candidates = p.fresh(owner.IsShared(), found.Candidates)
		read, worse, err := c.hydrate(ctx, owner, found, fusion, q)
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

// searchAttempts bound how often a search begins anew because the shard that
// it was about to read was dropped or loaded with other vectors.
const searchAttempts = 8

// search looks into an owner's shard, which is loaded first where it must be,
// with the vectors by which the owner is found.
func (c *call) search(ctx context.Context, owner yiku.Owner, q question, p *pool, k int) (found index.Result, fusion recall.Fusion, err error) {
	if h, ok := c.index.(index.Holder); ok {
		defer h.Hold(owner)()
	}
	for range searchAttempts {
		on, err := c.finder.sync(ctx, owner)
		if err != nil {
			return found, fusion, err
		}
		if on.state.Seq == 0 && on.embedding != nil {
			return index.Result{}, fusion, nil // there is nothing to ask a model for
		}
		fusion = q.fusion()
		q.off.dense = q.off.dense || p.degraded[degradedDense] // what has failed for this question is not waited for again
		vector, unrelated, err := q.vector(ctx, on.embedding)
		if err != nil && ctx.Err() != nil {
			return found, fusion, err
		}
		if fusion.Unrelated = unrelated; !q.off.dense && (err != nil || vector == nil) {
			p.lacks(degradedDense) // there is no embedder, or it fails: words find as much as they can
		}
		if !on.level {
			p.lacks(degradedLag)
		}
		found, err = c.index.Search(ctx, owner, index.Query{Text: q.words(), Vector: vector, Times: q.times, Filter: q.filter, Kinds: q.kinds, K: k})
		if slices.ContainsFunc(found.Candidates, func(cand index.Candidate) bool { return cand.Time > 0 }) {
			fusion = fusion.Asks(q.rest) // a time of which nothing is known narrows nothing
		}
		if err != nil || c.finder.holds(found.At, on) {
			return found, fusion, err
		}
	}
	p.lacks(degradedLag)
	return found, fusion, nil
}

// fusion is how the arms' scores are put together.
func (q question) fusion() recall.Fusion {
	f := recall.DefaultFusion()
	if q.off.neighbors {
		f.Neighbor, f.DenseNeighbor = 0, 0
	}
	return f
}

// vector is the question's, nil where that arm is off or there is no embedder.
func (q question) vector(ctx context.Context, e *embedding) ([]float32, index.Background, error) {
	if q.off.dense {
		return nil, index.Background{}, nil
	}
	return e.query(ctx, q.text)
}

// lacks notes what was missing.
func (p *pool) lacks(what string) {
	if p.degraded == nil {
		p.degraded = map[string]bool{}
	}
	p.degraded[what] = true
}

type itemKey struct {
	shared bool
	ref    index.Ref
}

func keyOf(i recall.Item) itemKey { return itemKey{i.Shared, i.Candidate.Ref} }

// hydrate reads the rows of the candidates that are relevant enough, and drops
// what the filter, the retention or a deletion takes away. worse says that some
// were not relevant enough: the candidates behind them are not either.
func (c *call) hydrate(ctx context.Context, owner yiku.Owner, found index.Result, fusion recall.Fusion, q question) (hits []hit, worse bool, err error) {
	items := map[index.Ref]recall.Item{}
	var memoryKeys, messageKeys []int64
	if c.told != nil {
		c.told.Candidates, c.told.Filter, c.told.MinRelevance = c.told.Candidates+len(found.Candidates), q.filter, q.least
	}
	for _, cand := range found.Candidates {
		scores := recall.Calibrate(cand, found.MaxLexical, fusion.Against(found.Background))
		if scores.Relevance < q.least {
			worse = true
			c.cut(yiku.CutRelevance, hit{Ranked: recall.Ranked{Item: recall.Item{Candidate: cand, Scores: scores}}})
			continue
		}
		items[cand.Ref] = recall.Item{Candidate: cand, Scores: scores}
		if cand.Kind == index.Memory {
			memoryKeys = append(memoryKeys, cand.Key)
		} else {
			messageKeys = append(messageKeys, cand.Key)
		}
	}
	dropped := map[yiku.CutRule][]hit{}
	err = c.store.View(ctx, func(r store.Reader) error {
		hits = nil
		clear(dropped)
		memories, err := r.MemoriesByKey(owner, memoryKeys)
		if err != nil {
			return err
		}
		for i := range memories {
			m := &memories[i]
			if !q.filter.Match(store.MemoryFields(m.Memory)) {
				dropped[yiku.CutFilter] = append(dropped[yiku.CutFilter], hit{memory: m})
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
			if rule := q.drops(m, sessions[m.SessionKey]); rule != "" {
				dropped[rule] = append(dropped[rule], hit{message: m})
				continue
			}
			item := items[index.Ref{Kind: index.Message, Key: m.Key}]
			item = recall.OfMessage(&m.Message, item.Candidate, item.Scores)
			hits = append(hits, hit{Ranked: recall.Ranked{Item: item}, owner: owner, message: m})
		}
		return nil
	})
	for _, rule := range []yiku.CutRule{yiku.CutFilter, yiku.CutRetention, yiku.CutShown} {
		for _, h := range dropped[rule] {
			c.cut(rule, h)
		}
	}
	return hits, worse, err
}

// drops names the rule that keeps a message out of the answer; "" none does.
func (q question) drops(m *store.Message, session yiku.Session) yiku.CutRule {
	switch {
	case !q.filter.Match(store.MessageFields(m.Message, session)):
		return yiku.CutFilter
	case m.RecordedAt.Before(q.recorded):
		return yiku.CutRetention
	case q.skip[m.SessionID+"\x00"+m.ID]:
		return yiku.CutShown
	}
	return ""
}
