// Package memindex is an index in the process's memory: one shard an owner,
// built from what the engine hands over and thrown away when memory runs short.
//
// A shard is columns, not objects: BM25 postings over hashed terms in a few
// sorted segments, the documents' places in their sessions, and one column for
// each filter field. A bulk load sorts all terms at once (radix sort); later
// batches become small segments that are merged when they have grown, so that
// one new message costs microseconds. A search reads a shard exactly: a
// person's memory is thousands of items, not billions.
package memindex

import (
	"container/list"
	"context"
	"sync"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Options are the settings of an Index.
type Options struct {
	MaxBytes int64          // the memory that all shards may take together, estimated; 512 MiB where 0
	Analyzer *lang.Analyzer // cuts texts into terms; lang.NewAnalyzer(nil) where nil
}

const defaultMaxBytes = 512 << 20

// Index holds a shard for each owner that was applied last. Where the shards
// grow over MaxBytes those not used for the longest time are dropped; those in
// use stay, however large. A dropped owner has the zero Position again, and
// the engine loads it anew.
type Index struct {
	analyzer *lang.Analyzer
	maxBytes int64

	mu     sync.Mutex // guards what follows; never held while a shard is read or written
	shards map[yiku.Owner]*list.Element
	recent *list.List // of *entry, used last first
	held   map[yiku.Owner]int
	size   Size

	scratch sync.Pool // of *scratch
}

var (
	_ index.Index  = (*Index)(nil)
	_ index.Holder = (*Index)(nil)
)

// entry is an owner's place in the list.
type entry struct {
	owner yiku.Owner
	shard *shard
	size  Size
}

// Size is what shards hold, and the memory that they take, estimated, in bytes.
type Size struct {
	Owners, Documents       int64
	Vectors, Postings, Rows int64 // Rows are all but vectors and postings
}

// Bytes is all of it.
func (s Size) Bytes() int64 { return s.Vectors + s.Postings + s.Rows }

func (s *Size) add(o Size, times int64) {
	s.Owners, s.Documents = s.Owners+times*o.Owners, s.Documents+times*o.Documents
	s.Vectors, s.Postings, s.Rows = s.Vectors+times*o.Vectors, s.Postings+times*o.Postings, s.Rows+times*o.Rows
}

// New returns an empty Index. nil options are the defaults.
func New(options *Options) *Index {
	if options == nil {
		options = &Options{}
	}
	x := &Index{analyzer: options.Analyzer, maxBytes: options.MaxBytes, shards: make(map[yiku.Owner]*list.Element), recent: list.New(), held: make(map[yiku.Owner]int)}
	if x.analyzer == nil {
		x.analyzer = lang.NewAnalyzer(nil)
	}
	if x.maxBytes <= 0 {
		x.maxBytes = defaultMaxBytes
	}
	x.scratch.New = func() any { return new(scratch) }
	return x
}

// shard returns the owner's shard, made where create says so, else nil.
func (x *Index) shard(owner yiku.Owner, create bool) *shard {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e, ok := x.shards[owner]; ok {
		x.recent.MoveToFront(e)
		return e.Value.(*entry).shard
	}
	if !create {
		return nil
	}
	s := newShard(x.analyzer)
	x.shards[owner] = x.recent.PushFront(&entry{owner: owner, shard: s})
	return s
}

// account notes a shard's size and drops others where all are too large.
func (x *Index) account(owner yiku.Owner, s *shard, size Size) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.shards[owner]
	if !ok || e.Value.(*entry).shard != s {
		return // dropped meanwhile
	}
	size.Owners = 1
	x.size.add(e.Value.(*entry).size, -1)
	x.size.add(size, 1)
	e.Value.(*entry).size = size
	x.shrink(e)
}

// shrink drops what was not used for the longest time where all are too large,
// but neither what is held nor the one that is named; x.mu is held.
func (x *Index) shrink(but *list.Element) {
	for e := x.recent.Back(); x.size.Bytes() > x.maxBytes && e != nil; {
		last := e
		e = e.Prev()
		if last != but && x.held[last.Value.(*entry).owner] == 0 {
			x.remove(last)
		}
	}
}

// Hold implements index.Holder.
func (x *Index) Hold(owner yiku.Owner) (release func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held[owner]++
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.held[owner]--; x.held[owner] == 0 {
			delete(x.held, owner)
			x.shrink(x.shards[owner])
		}
	}
}

// remove takes a shard out; x.mu is held.
func (x *Index) remove(e *list.Element) {
	old := x.recent.Remove(e).(*entry)
	delete(x.shards, old.owner)
	x.size.add(old.size, -1)
}

// Bytes returns the estimated memory of all shards.
func (x *Index) Bytes() int64 { return x.Size().Bytes() }

// Size tells what all shards hold.
func (x *Index) Size() Size {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.size
}

// Position implements index.Index.
func (x *Index) Position(ctx context.Context, owner yiku.Owner) (index.Position, error) {
	if err := check(ctx, owner); err != nil {
		return index.Position{}, err
	}
	s := x.shard(owner, false)
	if s == nil {
		return index.Position{}, nil
	}
	return s.at(), nil
}

// Apply implements index.Index.
func (x *Index) Apply(ctx context.Context, owner yiku.Owner, batch index.Batch) error {
	if err := check(ctx, owner); err != nil {
		return err
	}
	zero := batch.From == index.Position{}
	s := x.shard(owner, zero)
	if s == nil {
		return index.ErrPosition
	}
	size, err := s.apply(ctx, batch)
	if err != nil {
		return err
	}
	x.account(owner, s, size)
	return nil
}

// Search implements index.Index. Terms of candidates are nil: recall finds
// them in the candidates' texts, for those that are shown.
func (x *Index) Search(ctx context.Context, owner yiku.Owner, query index.Query) (index.Result, error) {
	if err := check(ctx, owner); err != nil {
		return index.Result{}, err
	}
	s := x.shard(owner, false)
	if s == nil {
		return index.Result{}, nil
	}
	if query.K <= 0 {
		return index.Result{At: s.at()}, nil
	}
	terms := queryTerms(x.analyzer, query.Text)
	buf := x.scratch.Get().(*scratch)
	defer x.scratch.Put(buf)
	return s.search(buf, terms, query), nil
}

// Drop implements index.Index.
func (x *Index) Drop(ctx context.Context, owner yiku.Owner) error {
	if err := check(ctx, owner); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if e, ok := x.shards[owner]; ok {
		x.remove(e)
	}
	return nil
}

// Close implements index.Index.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.shards, x.size = make(map[yiku.Owner]*list.Element), Size{}
	x.recent.Init()
	return nil
}

func check(ctx context.Context, owner yiku.Owner) error {
	if owner.IsZero() {
		return yiku.Invalid("owner", "must not be zero")
	}
	return ctx.Err()
}
