package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

var (
	histories         = flag.Int("histories", 4, "histories of TestR10, a seed each; make nightly takes 200")
	historyOperations = flag.Int("operations", 2000, "operations of each history of TestR10; make nightly takes 5,000")
)

const (
	linearClients = 8
	sharedSlots   = 32 // besides one slot a client, which only that client uses
	restarts      = 4
	keptOfSlot    = 6 // ids that clients remember of a slot
)

// TestR10_Linearizable: eight clients save, get, patch under If-Match, archive,
// confirm, restore, delete, forget and search memories on one engine, which is
// closed and opened again in the middle of it, and some of whose calls are
// given up. There is one order of all operations of each memory that explains
// every answer. A client's searches in its own slot show its own writes. All of
// it: go test ./engine -run R10_ -histories 200 -operations 5000 -timeout 60m
func TestR10_Linearizable(t *testing.T) {
	t.Parallel()
	operations := *historyOperations
	if servicetest.UnderRace() {
		operations /= 4
	}
	seeds := make(chan int)
	var wg sync.WaitGroup
	var longest, total, unknown, void atomic.Int64
	for range 2 {
		wg.Go(func() {
			for seed := range seeds {
				h, err := record(t, uint64(seed), operations, nil)
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
					continue
				}
				began := time.Now()
				if bad := h.violations(); len(bad) > 0 {
					t.Errorf("seed %d: no order of the operations explains the answers in %d slots, such as\n%s", seed, len(bad), tell(bad[0]))
				}
				longest.Store(max(longest.Load(), time.Since(began).Milliseconds()))
				total.Add(int64(len(h.ops)))
				unknown.Add(int64(h.unknown))
				void.Add(int64(len(h.void)))
			}
		})
	}
	for seed := range *histories {
		seeds <- seed
	}
	close(seeds)
	wg.Wait()
	t.Logf("%d histories, %d operations, %d of unknown outcome, %d slots not judged; longest check %d ms",
		*histories, total.Load(), unknown.Load(), void.Load(), longest.Load())
	if void.Load()*20 > int64(*histories*(sharedSlots+linearClients)) {
		t.Errorf("%d slots were not judged", void.Load())
	}
	boardtest.Report(t, boardtest.Row{ID: "R10", Trials: *histories, What: "histories had no order that explains every answer", Seeds: fmt.Sprint("0–", *histories-1),
		Note: fmt.Sprintf("%d operations, %d restarts each, %d of unknown outcome; longest check %d ms", total.Load(), restarts, unknown.Load(), longest.Load())})
}

// TestR10_Controls: a store that loses an update now and then, and one that
// gives what was true before, are found. Which operations they spoil hangs on
// how the clients' calls interleave, which differs with the load: a history in
// which that happens to explain itself is followed by another, and an answer
// that no client may get is a finding too.
func TestR10_Controls(t *testing.T) {
	t.Parallel()
	const most = 5
	bugs := map[string]func(store.Store) store.Store{
		"lost update": func(s store.Store) store.Store { return &losing{Store: s} },
		"stale read":  func(s store.Store) store.Store { return &stale{Store: s, old: map[string]store.Memory{}} },
	}
	for name, wrap := range bugs {
		found := false
		for seed := uint64(1); seed <= most && !found; seed++ {
			h, err := record(t, seed, 1000, wrap)
			found = err != nil || len(h.violations()) > 0
			t.Logf("%s, seed %d: %v (%v)", name, seed, found, err)
		}
		if !found {
			t.Errorf("%s: not found in %d histories", name, most)
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R10", Part: "control", Hits: len(bugs), Trials: len(bugs), What: "stores with a bug were found"})
}

// losing is a store that undoes an update now and then and says that it is durable.
type losing struct {
	store.Store
	n atomic.Int64
}

func (l *losing) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	lost := errors.New("lost")
	err := l.Store.Update(ctx, owner, p, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if l.n.Add(1)%20 == 0 {
			return lost
		}
		return nil
	})
	if errors.Is(err, lost) {
		return nil
	}
	return err
}

// stale is a store whose reads now and then show a memory as it was first seen.
type stale struct {
	store.Store
	mu  sync.Mutex
	n   int                     // guarded by mu
	old map[string]store.Memory // guarded by mu
}

func (s *stale) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(staleReader{r, s}) })
}

type staleReader struct {
	store.Reader
	s *stale
}

func (r staleReader) Memory(owner yiku.Owner, id string) (store.Memory, error) {
	m, err := r.Reader.Memory(owner, id)
	if err != nil {
		return m, err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	old, ok := r.s.old[id]
	if !ok {
		r.s.old[id] = m
	}
	if r.s.n++; ok && r.s.n%20 == 0 {
		return old, nil
	}
	return m, nil
}

// history is what clients asked and what they were answered.
type history struct {
	ops     []porcupine.Operation
	unknown int
	void    map[int]bool // slots in which a save took effect under an id that nobody knows
}

// violations are the slots for which there is no order.
func (h *history) violations() [][]porcupine.Operation {
	var bad [][]porcupine.Operation
	model := linearModel()
	for _, part := range model.Partition(h.ops) {
		if h.void[part[0].Input.(asked).slot] {
			continue
		}
		if porcupine.CheckOperationsTimeout(model, part, 5*time.Minute) != porcupine.Ok {
			bad = append(bad, part)
		}
	}
	return bad
}

// tell shows a slot's history in the order of the answers.
func tell(part []porcupine.Operation) string {
	slices.SortFunc(part, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, op := range part {
		fmt.Fprintf(&b, "client %d [%d, %d] %+v: %+v\n", op.ClientId, op.Call, op.Return, op.Input, op.Output)
	}
	return b.String()
}

// recorder runs the clients of one history.
type recorder struct {
	seed     uint64
	dir      string
	wrap     func(store.Store) store.Store
	clock    clock
	time     atomic.Int64 // of calls and answers
	count    atomic.Int64 // operations that were begun
	limit    int64
	pause    sync.RWMutex // held by clients while they call; by a restart while nothing is open
	service  yiku.Service // guarded by pause
	mending  sync.Mutex   // held by a restart
	closeAll func() error // guarded by mending

	mu sync.Mutex
	history
	ids map[int][]seen // guarded by mu; by slot, the newest last
}

// seen is a memory as a client saw it last.
type seen struct {
	id      string
	version int64
}

func record(t *testing.T, seed uint64, operations int, wrap func(store.Store) store.Store) (*history, error) {
	r := &recorder{seed: seed, dir: t.TempDir(), wrap: wrap, limit: int64(operations), ids: map[int][]seen{}, history: history{void: map[int]bool{}}}
	r.clock.now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	errs := make([]error, linearClients)
	for n := range linearClients {
		wg.Go(func() {
			if errs[n] = r.client(ctx, n); errs[n] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return &r.history, errors.Join(append(errs, r.closeAll())...)
}

// tick is the clock of the engine: each reading is later than the one before.
func (r *recorder) tick() time.Time {
	r.clock.Advance(time.Millisecond)
	return r.clock.Now()
}

func (r *recorder) open(ctx context.Context) error {
	s, err := sqlite.Open(ctx, r.dir, &sqlite.Options{Now: r.tick})
	if err != nil {
		return err
	}
	var shelf store.Store = s
	if r.wrap != nil {
		shelf = r.wrap(s)
	}
	index := memindex.New(nil)
	e, err := engine.New(engine.Options{Store: shelf, Index: index, Now: r.tick})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	r.service = e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	r.closeAll = func() error { return errors.Join(s.Close(), e.Close(), index.Close()) }
	return e.Recover(ctx)
}

// restart closes the store below the running clients and opens everything again.
func (r *recorder) restart(ctx context.Context) error {
	r.mending.Lock()
	defer r.mending.Unlock()
	if err := r.closeAll(); err != nil {
		return err
	}
	r.pause.Lock()
	defer r.pause.Unlock()
	return r.open(ctx)
}

// client asks for one operation after the other.
func (r *recorder) client(ctx context.Context, n int) error {
	rng := rand.New(rand.NewPCG(r.seed, uint64(n)))
	for count := r.count.Add(1); count <= r.limit; count = r.count.Add(1) {
		if count%(r.limit/(restarts+1)) == 0 && count < r.limit {
			if err := r.restart(ctx); err != nil {
				return err
			}
		}
		in := r.ask(rng, n)
		began := r.time.Add(1)
		out := r.call(ctx, rng, in)
		if out.err != nil && !out.unknown && !expected(out.err) {
			return fmt.Errorf("%+v: %w", in, out.err)
		}
		r.note(n, in, out, began)
	}
	return nil
}

func expected(err error) bool {
	return err == yiku.ErrNotFound || err == yiku.ErrConflict || err == yiku.ErrPreconditionFailed || err == yiku.ErrForgotten
}

// ask chooses an operation.
func (r *recorder) ask(rng *rand.Rand, n int) asked {
	verbs := []verb{verbSave, verbSave, verbSave, verbSave, verbGet, verbGet, verbGet, verbGet, verbGet, verbPatch, verbPatch, verbPatch, verbPatch, verbPatch,
		verbConfirm, verbRestore, verbRestore, verbArchive, verbDelete}
	in := asked{slot: rng.IntN(sharedSlots), verb: verbs[rng.IntN(len(verbs))]}
	if rng.IntN(5) == 0 {
		in.slot = sharedSlots + n
		if rng.IntN(3) == 0 {
			in.verb = verbFind
			return in
		}
	}
	if rng.IntN(60) == 0 {
		in.verb = verbForget
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.ids[in.slot]
	if in.verb == verbSave || len(known) == 0 {
		in.verb = verbSave
		return in
	}
	i := len(known) - 1
	if rng.IntN(3) == 0 {
		i = rng.IntN(len(known))
	}
	in.id = known[i].id
	switch in.verb {
	case verbPatch:
		in.note = 1 + rng.IntN(1_000_000)
		if rng.IntN(4) > 0 {
			in.match = known[i].version
		}
	case verbDelete:
		if rng.IntN(2) == 0 {
			in.match = known[i].version
		}
	}
	return in
}

// call asks the service. A save whose outcome is unknown is asked for again
// under its key until it is answered; other writes stay unknown.
func (r *recorder) call(ctx context.Context, rng *rand.Rand, in asked) got {
	key := ""
	if in.verb == verbSave {
		key = fmt.Sprint("key-", r.time.Add(1))
	}
	for {
		r.pause.RLock()
		out, err := r.once(ctx, rng, in, key)
		r.pause.RUnlock()
		out.err = sentinel(err)
		doubt := errors.Is(err, yiku.ErrUnavailable) || errors.Is(err, context.Canceled)
		if doubt && ctx.Err() == nil && (in.verb == verbSave || in.verb == verbGet || in.verb == verbFind) {
			continue
		}
		out.unknown = doubt
		return out
	}
}

// sentinel is the error as the model knows it.
func sentinel(err error) error {
	for _, s := range []error{yiku.ErrNotFound, yiku.ErrConflict, yiku.ErrPreconditionFailed, yiku.ErrForgotten} {
		if errors.Is(err, s) {
			return s
		}
	}
	return err
}

// once makes one call; now and then it is given up at some moment.
func (r *recorder) once(ctx context.Context, rng *rand.Rand, in asked, key string) (got, error) {
	if rng.IntN(200) == 0 {
		given, cancel := context.WithCancel(ctx)
		defer cancel()
		after := rng.IntN(2000)
		go func() {
			for range after {
				_ = given.Err()
			}
			cancel()
		}()
		ctx = given
	}
	s, user, words := r.service, "ann", fmt.Sprintf("槽 slot%d", in.slot)
	match := yiku.Conditional{}
	if in.match != 0 {
		match.IfMatch = yiku.Memory{Version: in.match}.ETag()
	}
	var m yiku.Memory
	var err error
	switch in.verb {
	case verbSave:
		res, err := s.SaveMemory(ctx, yiku.SaveMemoryRequest{Idempotent: yiku.Idempotent{IdempotencyKey: key}, UserID: user, Content: words})
		return got{id: res.ID, created: res.Outcome == yiku.OutcomeCreated, row: rowOf(res.Memory)}, err
	case verbFind:
		res, err := s.SearchMemory(ctx, yiku.SearchMemoryRequest{UserID: user, Query: fmt.Sprint("slot", in.slot), Limit: 50, MinRelevance: new(0.0)})
		out := got{}
		for _, item := range res.Items {
			if item.Memory.Content != words {
				continue
			}
			if out.id != "" {
				return got{}, errors.New("a search shows two active memories that say the same")
			}
			out = got{id: item.Memory.ID, row: rowOf(*item.Memory)}
		}
		return out, err
	case verbGet:
		m, err = s.GetMemory(ctx, yiku.MemoryRequest{UserID: user, ID: in.id})
	case verbPatch:
		m, err = s.PatchMemory(ctx, yiku.PatchMemoryRequest{Conditional: match, UserID: user, ID: in.id, Metadata: yiku.Some(yiku.Metadata{"note": in.note})})
	case verbArchive:
		m, err = s.PatchMemory(ctx, yiku.PatchMemoryRequest{UserID: user, ID: in.id, Status: yiku.Some(yiku.StatusArchived)})
	case verbConfirm:
		m, err = s.ConfirmMemory(ctx, yiku.ConfirmMemoryRequest{UserID: user, ID: in.id})
	case verbRestore:
		m, err = s.RestoreMemory(ctx, yiku.RestoreMemoryRequest{UserID: user, ID: in.id})
	case verbDelete:
		_, err = s.DeleteMemory(ctx, yiku.DeleteMemoryRequest{Conditional: match, UserID: user, ID: in.id})
		return got{}, err
	case verbForget:
		res, err := s.Forget(ctx, yiku.ForgetRequest{UserID: user, Selector: yiku.Selector{IDs: []string{in.id}}, Reason: "asked"})
		return got{nothing: err == nil && res.Removed.Memories == 0}, err
	}
	if err != nil {
		return got{}, err
	}
	return got{row: rowOf(m)}, nil
}

func rowOf(m yiku.Memory) row {
	r := row{archived: m.Status == yiku.StatusArchived, version: m.Version}
	switch n := m.Metadata["note"].(type) {
	case int:
		r.note = n
	case float64:
		r.note = int(n)
	case fmt.Stringer: // a number as it was written
		if _, err := fmt.Sscan(n.String(), &r.note); err != nil {
			r.note = -1
		}
	}
	return r
}

// note writes an operation down and remembers what it showed.
func (r *recorder) note(client int, in asked, out got, began int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	op := porcupine.Operation{ClientId: client, Input: in, Output: out, Call: began, Return: r.time.Add(1)}
	switch {
	case out.unknown:
		r.unknown++
		op.Return = math.MaxInt64
	case in.verb == verbSave && out.err == yiku.ErrForgotten:
		r.void[in.slot] = true
	case out.err == nil && out.row.version > 0:
		id := out.id
		if id == "" {
			id = in.id
		}
		known := slices.DeleteFunc(r.ids[in.slot], func(s seen) bool { return s.id == id })
		known = append(known, seen{id, out.row.version})
		r.ids[in.slot] = known[max(0, len(known)-keptOfSlot):]
	}
	r.ops = append(r.ops, op)
}
