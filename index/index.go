// Package index is the contract of finding: an index proposes candidates for a
// query and can be rebuilt from the store at any time. It may lag, crash or be
// thrown away without a memory being lost or a deleted one being seen, because
// every candidate is read again from the store before it is returned.
//
// An index follows one owner's sequence (see store.Store): it remembers the
// position up to which it has applied the owner's changes. The engine reads
// the position, hands over what came since, and searches.
package index

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/yiku-ai/yiku"
)

// Holder is what an Index adds that drops owners to make room.
type Holder interface {
	// Hold keeps an owner from being dropped for room until release is called,
	// whether it is there already or comes meanwhile.
	Hold(owner yiku.Owner) (release func())
}

// Rebuilder is what an Index adds that can build an owner anew beside what
// answers meanwhile, and say how the two differ.
type Rebuilder interface {
	// Rebuild begins a copy of the owner that holds nothing and that no search sees.
	Rebuild(owner yiku.Owner) (Copy, error)
}

// Copy is an owner that is built anew, by one goroutine.
type Copy interface {
	// Apply is Index.Apply, for the copy.
	Apply(ctx context.Context, batch Batch) error

	// Compare says how what the index holds of the owner differs from the copy.
	// Searches go on meanwhile; an Apply for the owner waits.
	Compare(ctx context.Context) (Comparison, error)

	// Install puts the copy in the place of what the index holds; searches see
	// the one or the other, and the copy is used no more. Where the index has
	// dropped the owner meanwhile nothing is installed, and installed is false.
	Install(ctx context.Context) (installed bool, err error)
}

// Fault is how a document of an index differs from what it should be.
type Fault string

// The faults.
const (
	FaultMissing Fault = "missing" // the index lacks it
	FaultExtra   Fault = "extra"   // only the index has it, or twice
	FaultStale   Fault = "stale"   // its words, place, time or fields are others
	FaultVector  Fault = "vector"  // its vector is another one, or missing, or there is none
)

// Difference is one document that is not as it should be.
type Difference struct {
	Ref
	Fault Fault
}

// Comparison is what Copy.Compare found. Of an owner that the index does not
// hold it is the zero Comparison.
type Comparison struct {
	At          Position     // of what the index holds
	Documents   int          // held
	Vectors     int          // held
	Differences []Difference // by Ref, one a document, the first of the faults in their order
	// Sums says that every document is as it should be, but not what is counted
	// over them or linked between them.
	Sums bool
}

// ErrPosition is what Apply answers where the batch does not continue at the
// index's position. The caller reads Position again and starts from there.
var ErrPosition = errors.New("batch does not continue at the index's position")

// Kind says what a document is.
type Kind uint8

// The kinds of documents.
const (
	Memory Kind = iota
	Message
)

// Ref names a document within its owner: the row's key in the store, which is
// unique within its kind and never used again.
type Ref struct {
	Kind Kind
	Key  int64
}

// Doc is one item as an index needs it.
type Doc struct {
	Ref
	Text    string      // what words are searched in, already without invisible characters
	Session int64       // groups messages of one session, in the order of their keys; 0: none
	At      time.Time   // when it was said or became true
	Vector  []float32   // its embedding, of unit length; nil: none yet
	Fields  yiku.Fields // its filter fields, see yiku.FilterFields; called during Apply only; nil: none

	// Metadata is its metadata, for conditions on "metadata.key"; the keys that
	// matter are not known beforehand, so Fields cannot be asked for them.
	Metadata yiku.Metadata
}

// Position is how far an index has followed an owner: all changes up to Seq of
// the store with this generation. The zero Position is an index that holds
// nothing of the owner.
type Position struct {
	Generation string
	Seq        int64
}

// Batch is what changed for an owner between two positions. A document that
// stands in Upserts replaces the one with its Ref; Deletes may name documents
// that the index never saw.
type Batch struct {
	From, To Position
	Upserts  []Doc
	Deletes  []Ref
}

// Query asks for candidates.
type Query struct {
	Text   string       // for the lexical arm; "" switches it off; longer ones are cut to what says most
	Vector []float32    // for the dense arm; nil switches it off
	Times  []Span       // for the time arm: what is asked for is of one of these; none switch it off
	Filter *yiku.Filter // valid; an index may relax what it has no column for (see Relax), never ignore the rest
	Kinds  []Kind       // which kinds; empty means all
	K      int          // at most this many candidates of each arm, the best ones; see [LexicalOrder]
}

// Span is the time from From until To; a side without a bound is zero.
type Span struct{ From, To time.Time }

// Fit is how well a time fits a span: 1 within it, half as much with every day
// beside it, and nothing beyond a week or for no time.
func (s Span) Fit(at time.Time) float64 {
	var beside time.Duration
	switch {
	case at.IsZero():
		return 0
	case !s.From.IsZero() && at.Before(s.From):
		beside = s.From.Sub(at)
	case !s.To.IsZero() && !at.Before(s.To):
		beside = at.Sub(s.To) + 1
	default:
		return 1
	}
	if beside > week {
		return 0
	}
	return math.Exp2(-beside.Hours() / 24)
}

const week = 7 * 24 * time.Hour

// Candidate is one proposal. Each score is an arm's own, 0 where the arm did
// not find it; the engine calibrates and fuses them, so that every index ranks
// alike where it finds the same candidates. The lexical arm proposes documents
// that hold a term of the query or stand next to one that does; the time arm
// documents whose time fits, those first that the other arms would choose first.
//
// BM25 is given in units of the most that one term of weight 1 could add which
// no document of the owner holds, so that scores of small and large owners, and
// of short and long queries, can be calibrated alike.
type Candidate struct {
	Ref
	Session  int64
	Lexical  float64 // BM25 of the document itself
	Context  float64 // BM25 of its session: how much the whole conversation is about the query
	Neighbor float64 // the best BM25 among the documents that stand next to it in its session
	Dense    float64 // cosine, -1 to 1; 0 without a vector
	// DenseNeighbor is the best cosine, above 0, among the documents that stand
	// next to it in its session.
	DenseNeighbor float64
	Time          float64  // the best Fit of the document's time to one of the query's, 0 to 1
	Graph         float64  // what relations between names say for it, 0 to 1; not an index's but the engine's
	Terms         []string // the query's terms that it holds, for explanations; may be nil
}

// LexicalOrder is the value by which the lexical arm chooses its K best: the
// document's own score, with what its surroundings add. It is for choosing
// only; internal/recall calibrates.
func LexicalOrder(c Candidate) float64 { return c.Lexical + c.Context + c.Neighbor }

// Result holds the candidates in no particular order. What cosine unrelated
// texts have with each other differs from model to model, from query to query
// and from one kind of text to another, so the dense arm gives its background:
// the cosines of the query with all the owner's documents that have a vector,
// or with a fair sample of them.
type Result struct {
	At         Position // of the owner when it was searched; zero where the index did not hold it
	Background Background
	Candidates []Candidate
	MaxLexical float64 // the highest BM25 that a document could reach for this query, in the same units: about how many rare terms it has
	More       bool    // K cut the list: a larger K would give more
}

// Background is the distribution of cosines; N is 0 where the arm is off.
type Background struct {
	N         int
	Mean      float64
	Deviation float64 // the standard deviation
}

// Index is one way of finding. All methods may be called at once; calls for
// one owner see each other's effects in some order.
type Index interface {
	// Position returns how far the index has followed the owner. An owner
	// that it does not hold, or no longer, has the zero Position; that is no
	// error.
	Position(ctx context.Context, owner yiku.Owner) (Position, error)

	// Apply makes the owner's documents those of the batch's To. It is atomic
	// for searches: they see the owner before or after. From the zero
	// Position it begins anew, whatever the index held. ErrPosition where
	// From is neither zero nor the present position.
	Apply(ctx context.Context, owner yiku.Owner, batch Batch) error

	// Search returns the best candidates among the owner's documents that
	// match the filter, and the position at which it looked. An owner that the
	// index does not hold, or dropped meanwhile, gives none and the zero one.
	Search(ctx context.Context, owner yiku.Owner, query Query) (Result, error)

	// Drop forgets the owner: afterwards its Position is zero and nothing of
	// it is held in memory or on disk.
	Drop(ctx context.Context, owner yiku.Owner) error

	// Close frees what the index holds. No other call may follow.
	Close() error
}
