// Package engine is Yiku in the caller's process: the use cases, one file
// each, over the contracts of store and index. It holds what is the same
// whichever drivers stand behind them.
package engine

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/audit"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/internal/journal"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/internal/token"
	"github.com/yiku-ai/yiku/internal/wire"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/rerank"
	"github.com/yiku-ai/yiku/store"
)

// Options are what an engine stands on. Store and Index are required; the
// engine does not close them.
type Options struct {
	Store    store.Store
	Index    index.Index
	Audit    *audit.Key       // seals the audit log; nil: a key made of the store's secret, which shows accidents only
	Journal  *journal.Journal // is told of every forget before it is answered; nil: nobody is
	Settings *Settings        // nil: DefaultSettings
	Model    llm.Model        // extracts; nil: rules do
	Embedder embed.Embedder   // nil: words alone find; the engine does not close it
	Reranker rerank.Reranker  // nil: the order is that of the score
	Former   embed.Embedder   // the one before, by whose vectors owners are found until all of theirs are of Embedder's; nil: none
	Now      func() time.Time // nil: time.Now
	NewID    func() string    // nil: UUIDv7
	Sink     observe.Sink     // nil: events are dropped
	Log      *slog.Logger     // nil: slog.DiscardHandler
}

// Engine runs the use cases for all tenants. It is safe for concurrent use.
type Engine struct {
	store      store.Store
	index      index.Index
	tokens     *token.Registry
	counts     *countCache
	settings   Settings
	words      *words // the server's; a call has its tenant's
	ownWords   tenantWords
	model      llm.Model       // nil: rules stand in; see modelFor
	reranker   rerank.Reranker // nil: there is none
	spoils     spoils
	operations map[string]wire.Operation
	checker    *check.Checker
	mint       *credential.Mint
	chain      audit.Key
	markKey    []byte // makes marks for the suppression list
	journal    *journal.Journal
	now        func() time.Time
	newID      func() string
	sink       observe.Sink
	log        *slog.Logger
	finder     *finder
	embedding  *embedding  // nil without an embedder
	former     *embedding  // nil without one
	leftovers  atomic.Bool // there may be vectors of models that nobody is found by
	access     *accessLog
	forgets    *running
	closeOnce  sync.Once
}

// New returns an engine and starts its background work; Close ends it.
func New(opts Options) (*Engine, error) {
	if opts.Store == nil || opts.Index == nil {
		return nil, yiku.Errorf(yiku.ErrInvalid, "an engine needs a store and an index")
	}
	settings := DefaultSettings()
	if opts.Settings != nil {
		settings = *opts.Settings
	}
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	vocabulary, err := reconcile.NewVocabulary().With(settings.Attributes)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		store: opts.Store, index: opts.Index, settings: settings,
		tokens: token.New(), counts: newCountCache(countCacheSize),
		words: newWords(vocabulary), checker: check.New(),
		mint:       credential.New(opts.Store.Meta().Secret),
		markKey:    deriveKey(opts.Store.Meta().Secret, "suppression", sha256.Size),
		journal:    opts.Journal,
		operations: map[string]wire.Operation{}, model: opts.Model, reranker: opts.Reranker,
		forgets: newRunning(),
		now:     opts.Now, newID: opts.NewID, sink: opts.Sink, log: opts.Log,
	}
	e.spoils.most = settings.SpoiledCalls
	if opts.Audit != nil {
		e.chain = *opts.Audit
	} else if key, err := audit.NewKey(deriveKey(opts.Store.Meta().Secret, "audit", audit.KeySize)); err == nil {
		e.chain = key
	} else {
		return nil, err
	}
	for _, op := range wire.Operations() {
		e.operations[op.ID] = op
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.newID == nil {
		e.newID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if e.sink == nil {
		e.sink = observe.Sinks(nil)
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	e.embedding, e.former = newEmbedding(opts.Embedder), newEmbedding(opts.Former)
	e.leftovers.Store(true) // of what a start of the program before was configured with
	e.finder = newFinder(opts.Store, opts.Index)
	e.finder.answering, e.finder.promise = e.answering, e.backfill
	e.access = startAccessLog(opts.Store, e.log)
	return e, nil
}

// As returns the service as one principal may use it.
func (e *Engine) As(p yiku.Principal) yiku.Service { return &service{engine: e, principal: p} }

// deriveKey makes a key of its own out of a secret, for one purpose (HMAC-SHA256).
func deriveKey(secret []byte, purpose string, size int) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(purpose))
	return mac.Sum(nil)[:size]
}

// ownCall is an operation that the engine runs by itself for an owner.
func (e *Engine) ownCall(owner yiku.Owner) *call {
	now := e.now().UTC()
	return &call{Engine: e, words: e.wordsOf(owner.Tenant(), now), principal: yiku.Principal{Tenant: owner.Tenant(), Access: yiku.AccessAdmin}, now: now, event: &observe.Event{}}
}

// Ready reports whether the engine can serve now.
func (e *Engine) Ready(ctx context.Context) error {
	if r, ok := e.store.(interface{ Ready(context.Context) error }); ok {
		return r.Ready(ctx)
	}
	return e.store.View(ctx, func(store.Reader) error { return nil })
}

// Tend does the maintenance that is due: it deletes snapshots and idempotency
// records whose time is over, in small batches of low priority, goes on with
// forgets that were interrupted, and keeps the forget journal short. Accesses
// that waited to be counted are, when it returns.
func (e *Engine) Tend(ctx context.Context) error {
	if err := e.access.settle(ctx); err != nil {
		return err
	}
	if err := e.Recover(ctx); err != nil {
		return err
	}
	if err := e.tendJournal(ctx); err != nil {
		return err
	}
	e.scrub(ctx)
	var last yiku.Owner
	stale := e.leftovers.Swap(false)
	for {
		owners, err := e.store.Owners(ctx, last, tendOwners)
		if err != nil || len(owners) == 0 {
			return err
		}
		for _, owner := range owners {
			if err := e.tendOwner(ctx, owner); err != nil {
				return err
			}
			if !stale {
				continue
			}
			if err := e.dropFormer(ctx, owner); err != nil {
				e.leftovers.Store(true)
				return err
			}
		}
		last = owners[len(owners)-1]
	}
}

const (
	tendOwners = 500
	tendBatch  = 200
)

func (e *Engine) tendOwner(ctx context.Context, owner yiku.Owner) error {
	for {
		var dropped int
		err := e.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) (err error) {
			dropped, err = tx.DropExpired(e.now(), tendBatch)
			return err
		})
		if err != nil || dropped < tendBatch {
			return err
		}
	}
}

// Close ends the background work and writes what it still holds. The store
// and the index stay open.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() {
		e.forgets.close()
		e.access.stop()
	})
	return nil
}

// service is the engine for one principal.
type service struct {
	engine    *Engine
	principal yiku.Principal
}

// call is one running operation.
type call struct {
	*Engine
	*words    // the tenant's
	principal yiku.Principal
	now       time.Time // one instant for the whole operation
	event     *observe.Event
	told      *yiku.Trace // how it comes to its answer; nil: nobody asked
	quiet     bool        // it counts no access and leaves nothing behind
}

// run is what every operation has in common: the credential's access, the
// limits in the request's tags, one clock reading, and the event.
func run[Req, Res any](ctx context.Context, s *service, id string, req Req, do func(*call, context.Context, Req) (Res, error)) (Res, error) {
	op := s.engine.operations[id]
	c := &call{Engine: s.engine, principal: s.principal, now: s.engine.now().UTC()}
	c.event = &observe.Event{Time: c.now, Layer: op.Tag, Operation: id, Tenant: s.principal.Tenant}
	c.event.Request, c.event.Trace = observe.Request(ctx)
	res, err := func() (res Res, err error) {
		if err := op.Permits(s.principal); err != nil {
			return res, err
		}
		if err := s.engine.checker.Request(req); err != nil {
			return res, err
		}
		c.words = s.engine.wordsOf(s.principal.Tenant, c.now)
		return do(c, ctx, req)
	}()
	c.event.Duration = s.engine.now().Sub(c.now)
	c.event.Outcome = outcome(err)
	s.engine.sink.Record(ctx, *c.event)
	return res, err
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "canceled"
	}
	return wire.Code(err)
}

// owner returns whose data the call is about and checks that the credential
// may speak for that user.
func (c *call) owner(userID string) (yiku.Owner, error) {
	owner, err := yiku.NewOwner(c.principal.Tenant, userID)
	if err != nil {
		return yiku.Owner{}, err
	}
	if c.principal.User != "" && c.principal.User != userID {
		return yiku.Owner{}, yiku.Errorf(yiku.ErrForbidden, "this credential speaks for another user")
	}
	c.event.User = userID
	return owner, nil
}

// update runs a write of the owner, refused where consent was withdrawn, and
// undone where it goes beyond a quota.
func (c *call) update(ctx context.Context, owner yiku.Owner, fn func(store.Tx) error) error {
	return c.store.Update(ctx, owner, store.Request, func(tx store.Tx) error {
		state, err := tx.Owner(owner)
		if err != nil {
			return err
		}
		if state.ConsentWithdrawn {
			return errWithdrawn()
		}
		before, err := tx.Usage(owner)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		if err := c.promiseEmbedding(tx, owner, state.Seq); err != nil {
			return err
		}
		return c.withinQuotas(tx, owner, before)
	})
}

func errWithdrawn() error {
	return yiku.Errorf(yiku.ErrConsentWithdrawn, "this person has withdrawn consent")
}

// count adds to the event's counts.
func (c *call) count(name string, n int) {
	if c.event.Counts == nil {
		c.event.Counts = map[string]int{}
	}
	c.event.Counts[name] += n
}
