package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
	"github.com/yiku-ai/yiku/store/storetest"
)

var deliveries = flag.Int("deliveries", 40, "seeds of TestR12; make nightly takes 3,000")

// TestR12_EffectsExactlyOnce runs two conversations whose jobs come one to
// three times each, late and out of order, also behind their end, while at a
// place that the seed gives a call of the store fails before or after its work
// and the engine is closed and opened again. What there is in the end is, byte
// for byte but for ids, what a single delivery without a fault leaves, and at
// no moment is a cursor ahead of its effects. What a client sends again under
// its key is one write (L21).
func TestR12_EffectsExactlyOnce(t *testing.T) {
	t.Parallel()
	shop := newOnceShop(t)
	whole := shop.run(t, delivery{user: "whole", once: true})
	if whole.err != nil || len(whole.state) < 2000 || whole.calls < 100 {
		t.Fatalf("the run without a fault proves nothing: %d calls, %d bytes, %v", whole.calls, len(whole.state), whole.err)
	}
	for seed := range *deliveries {
		rng := rand.New(rand.NewPCG(uint64(seed), 12))
		d := delivery{user: fmt.Sprint("u", seed), rng: rng, call: 1 + (seed*7919)%whole.calls, after: rng.IntN(2) == 0, reopen: rng.IntN(2) == 0}
		got := shop.run(t, d)
		if got.err != nil {
			t.Errorf("seed %d, call %d, after %v: %v", seed, d.call, d.after, got.err)
		} else if diff := cmp.Diff(whole.state, got.state); diff != "" {
			t.Errorf("seed %d, call %d, after %v, reopened %v (-once +redelivered):\n%s", seed, d.call, d.after, d.reopen, diff)
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R12", Trials: *deliveries, What: "runs with redelivered jobs and a fault left another state or had a cursor ahead of its effects", Seeds: fmt.Sprint("0–", *deliveries-1), Note: fmt.Sprint(whole.calls, " calls of the store")})
}

// TestR12_Control: a store that moves the cursor although the effects are not
// written, and one in which jobs have no key by which a second delivery is
// known, are seen.
func TestR12_Control(t *testing.T) {
	t.Parallel()
	shop := newOnceShop(t)
	whole := shop.run(t, delivery{user: "whole", once: true})
	found, trials := 0, 0
	for name, bug := range map[string]func(store.Store) store.Store{
		"cursor": func(s store.Store) store.Store { return &cursorFirst{Store: s} },
		"no key": func(s store.Store) store.Store { return &keyless{Store: s, jobs: map[string]store.Job{}} },
	} {
		seen := false
		for seed := range 12 {
			rng := rand.New(rand.NewPCG(uint64(seed), 12))
			got := shop.run(t, delivery{user: fmt.Sprint(name, seed), rng: rng, call: 60 + seed*(whole.calls-60)/12, bug: bug})
			trials++
			if got.err != nil || got.state != whole.state {
				seen = true
				found++
			}
		}
		if !seen {
			t.Errorf("%s: not seen", name)
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R12", Part: "control", Hits: found, Trials: trials, What: "runs of a store that moves the cursor before the effects, or whose jobs have no key, were seen"})
}

// delivery is how one run goes.
type delivery struct {
	user   string
	once   bool // every job once, no fault
	rng    *rand.Rand
	call   int // of the store, that fails
	after  bool
	reopen bool
	bug    func(store.Store) store.Store
}

// delivered is what a run has left.
type delivered struct {
	state string
	calls int
	err   error
}

// onceShop is a store that all runs share; each has a user of its own.
type onceShop struct {
	store store.Store
	clock *clock
}

func newOnceShop(t *testing.T) *onceShop {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	s, err := sqlite.Open(t.Context(), t.TempDir(), &sqlite.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &onceShop{s, c}
}

// onceRun is one run while it goes on.
type onceRun struct {
	delivery
	t      *testing.T
	shop   *onceShop
	faulty *storetest.FaultyStore
	model  *onceModel
	engine *engine.Engine
	end    func()
	seen   []store.Job // every job that was ever due, as it was then
}

func (shop *onceShop) run(t *testing.T, d delivery) (out delivered) {
	t.Helper()
	var s store.Store = shop.store
	if d.bug != nil {
		s = d.bug(s)
	}
	r := &onceRun{delivery: d, t: t, shop: shop, faulty: storetest.Faulty(s, storetest.Plan{Call: d.call, After: d.after}), model: &onceModel{}}
	r.open()
	defer func() { r.end() }()
	for _, step := range r.script() {
		if out.err = r.until(step); out.err != nil {
			return out
		}
		if out.err = r.cursorBehind(); out.err != nil {
			return out
		}
		if out.err = r.work(); out.err != nil {
			return out
		}
	}
	out.calls = r.faulty.Calls()
	out.state, out.err = r.state()
	return out
}

// open starts the engine, anew after a crash.
func (r *onceRun) open() {
	r.t.Helper()
	if r.end != nil {
		r.end()
	}
	x := memindex.New(nil)
	e, err := engine.New(engine.Options{Store: r.faulty, Index: x, Now: r.shop.clock.Now, Model: r.model})
	if err != nil {
		r.t.Fatal(err)
	}
	r.engine, r.end = e, func() {
		if err := errors.Join(e.Close(), x.Close()); err != nil {
			r.t.Error(err)
		}
	}
}

func (r *onceRun) service() yiku.Service {
	return r.engine.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
}

// script are the steps of the conversations; jobs run behind each.
func (r *onceRun) script() []func() error {
	ctx := r.t.Context()
	say := func(session, key string, texts ...string) func() error {
		req := yiku.AppendMessagesRequest{UserID: r.user, SessionID: session, Idempotent: yiku.Idempotent{IdempotencyKey: key}}
		for i, text := range texts {
			req.Messages = append(req.Messages, yiku.Message{ID: fmt.Sprint(key, i), Role: yiku.RoleUser, Content: yiku.Text(text)})
		}
		return func() error { _, err := r.service().AppendMessages(ctx, req); return err }
	}
	end := func(session, key string) func() error {
		return func() error {
			_, err := r.service().EndSession(ctx, yiku.EndSessionRequest{UserID: r.user, SessionID: session, Reason: yiku.EndUserLeft, Idempotent: yiku.Idempotent{IdempotencyKey: key}})
			return err
		}
	}
	return []func() error{
		say("a", "k1", "fact: lives in Bergen", "事实: 喜欢绿茶", "Nothing of weight."),
		end("a", "k2"),
		say("a", "k3", "fact: lives in Oslo", "事实: 养了一只猫"),
		say("b", "k4", "fact: refused word", "事实: 会说挪威语"),
		end("b", "k5"),
		end("a", "k6"),
		func() error { r.model.heal(); return r.replay(ctx) },
	}
}

// replay lets the parked jobs of the user run again.
func (r *onceRun) replay(ctx context.Context) error {
	var parked []string
	err := r.faulty.View(ctx, func(rd store.Reader) error {
		all, err := rd.Jobs("acme", store.JobQuery{State: yiku.JobParked})
		for _, j := range all {
			if j.Owner.User() == r.user {
				parked = append(parked, j.ID)
			}
		}
		return err
	})
	for _, id := range parked {
		if err == nil {
			_, err = r.service().ReplayJob(ctx, yiku.ReplayJobRequest{ID: id})
		}
	}
	return err
}

// until does a step until it succeeds; what failed may have taken effect.
func (r *onceRun) until(step func() error) error {
	var err error
	for range 4 {
		if err = step(); err == nil {
			return nil
		}
		if r.reopen {
			r.open()
		}
	}
	return err
}

// work runs the jobs until none of the user's waits: through the runner, and
// each delivered by hand as well, one to three times, as it was and late.
func (r *onceRun) work() error {
	ctx := context.WithoutCancel(r.t.Context())
	for range 40 {
		due, err := r.due()
		if err != nil {
			return err
		}
		if len(due) == 0 {
			return nil
		}
		if !r.once {
			r.seen = append(r.seen, due...)
			again := slices.Clone(r.seen)
			r.rng.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
			for _, job := range again[:min(len(again), 6)] {
				for range r.rng.IntN(3) {
					r.deliver(ctx, job)
				}
			}
		}
		if err := r.engine.RunJobs(ctx); err != nil && r.reopen {
			r.open()
		}
		if err := r.cursorBehind(); err != nil {
			return err
		}
	}
	return errors.New("the jobs do not come to an end")
}

// deliver hands a job over, as a queue does that knows nothing of its end.
func (r *onceRun) deliver(ctx context.Context, job store.Job) {
	h := r.engine.Handler()
	err := h.Do(ctx, job)
	if err != nil && !errors.Is(err, yiku.ErrUnavailable) {
		_, err = h.Park(ctx, job, yiku.ErrUnavailable)
	}
	if err != nil && r.reopen {
		r.open()
	}
}

// due are the user's jobs that wait; their leases are over, and the clock stands.
func (r *onceRun) due() (due []store.Job, err error) {
	owner, err := yiku.NewOwner("acme", r.user)
	if err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(r.t.Context())
	err = r.shop.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		all, err := tx.Jobs("acme", store.JobQuery{State: yiku.JobWaiting})
		if err != nil {
			return err
		}
		for _, j := range all {
			if j.Owner.User() != r.user {
				continue
			}
			if j.NotBefore = r.shop.clock.Now(); strings.Contains(string(j.Arguments), `"now":true`) {
				due = append(due, j)
				if err := tx.PutJob(&j); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return due, err
}

// cursorBehind reports an error where a cursor is ahead of its effects: of
// every message up to it there is one record, and what it says is stored.
func (r *onceRun) cursorBehind() error {
	owner, err := yiku.NewOwner("acme", r.user)
	if err != nil {
		return err
	}
	return r.shop.store.View(r.t.Context(), func(rd store.Reader) error {
		state, err := rd.Owner(owner)
		if err != nil || !state.Known {
			return err
		}
		sessions, err := rd.Sessions(owner, store.SessionQuery{})
		if err != nil {
			return err
		}
		for _, s := range sessions {
			messages, err := rd.Messages(owner, store.MessageQuery{SessionKey: s.Key, UpTo: s.Cursor})
			if err != nil {
				return err
			}
			records, err := rd.Extractions(owner, store.ExtractionQuery{SessionKey: s.Key})
			if err != nil {
				return err
			}
			for _, m := range messages {
				if m.Key <= s.Cursor && !slices.ContainsFunc(records, func(e store.Extraction) bool { return e.From <= m.Key && m.Key <= e.To }) {
					return fmt.Errorf("the cursor is behind %q, of which there is no record", m.ID)
				}
				derived, err := rd.Derived(owner, store.Item{Kind: store.ItemMessage, Key: m.Key})
				if err != nil {
					return err
				}
				if strings.Contains(m.Content.Text, ": ") && !strings.Contains(m.Content.Text, "refused") && s.ID == "a" && m.Key <= s.Cursor && len(derived) == 0 {
					return fmt.Errorf("the cursor is behind %q, of which nothing is stored", m.ID)
				}
			}
		}
		return nil
	})
}

// onceModel finds what stands behind a colon. It refuses one word until it is healed.
type onceModel struct {
	mu     sync.Mutex
	healed bool // guarded by mu
}

func (m *onceModel) Name() string { return "once" }

func (m *onceModel) heal() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.healed = true
}

func (m *onceModel) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ops []string
	for line := range strings.Lines(req.Messages[0].Content) {
		number, rest, _ := strings.Cut(line, ". ")
		if strings.Contains(rest, "(read before)") {
			continue
		}
		if strings.Contains(rest, "refused") && !m.healed {
			return llm.Response{}, yiku.Errorf(yiku.ErrInvalid, "refused")
		}
		for _, lead := range []string{"fact: ", "事实: "} {
			if _, said, ok := strings.Cut(rest, lead); ok {
				said = strings.TrimSuffix(strings.TrimSpace(said), `"`)
				op := `{"op":"create","content":"` + said + `","messages":[` + number + `]}`
				if home, ok := strings.CutPrefix(said, "lives in "); ok {
					op = `{"op":"create","content":"` + said + `","subject":"user","attribute":"residence","value":"` + home + `","messages":[` + number + `]}`
				}
				ops = append(ops, op)
			}
		}
	}
	return llm.Response{Text: `{"operations":[` + strings.Join(append(ops, `{"op":"ponder"}`), ",") + `]}`, Usage: llm.Usage{In: 7, Out: 3}}, nil
}

// state is all that is stored of the user, as JSON, without ids of chance and keys.
func (r *onceRun) state() (string, error) {
	owner, err := yiku.NewOwner("acme", r.user)
	if err != nil {
		return "", err
	}
	var all []any
	names := []string{r.user, "§user"}
	err = r.shop.store.View(r.t.Context(), func(rd store.Reader) error {
		sessions, err := rd.Sessions(owner, store.SessionQuery{})
		if err != nil {
			return err
		}
		memories, err := rd.OwnerMemories(owner, 0, 1<<62, 1000)
		if err != nil {
			return err
		}
		jobs, err := rd.Jobs("acme", store.JobQuery{})
		if err != nil {
			return err
		}
		base := sessions[len(sessions)-1].Key &^ (1<<40 - 1)
		for _, m := range memories {
			names = append(names, m.ID, "§"+m.Content)
			versions, err := rd.Versions(owner, m.Key)
			if err != nil {
				return err
			}
			sources, err := rd.Sources(owner, store.Item{Kind: store.ItemMemory, Key: m.Key})
			if err != nil {
				return err
			}
			for i := range sources {
				sources[i].Key -= base
			}
			m.Key, m.Hash = m.Key-base, ""
			all = append(all, m, versions, sources)
		}
		for _, s := range sessions {
			messages, err := rd.Messages(owner, store.MessageQuery{SessionKey: s.Key})
			if err != nil {
				return err
			}
			records, err := rd.Extractions(owner, store.ExtractionQuery{SessionKey: s.Key})
			if err != nil {
				return err
			}
			for i := range records {
				e := &records[i]
				e.Key, e.SessionKey, e.From, e.To = 0, 0, e.From-base, e.To-base
				e.Report.ID, e.Report.Job = "", ""
				for k := range e.Report.Parked {
					e.Report.Parked[k].Ref = ""
				}
			}
			for i := range messages {
				messages[i].Key, messages[i].SessionKey = messages[i].Key-base, 0
			}
			s.Key, s.Cursor, s.EndedUpTo, s.RecentFrom = 0, s.Cursor-base, s.EndedUpTo-base, 0
			all = append(all, s, messages, records)
		}
		for _, j := range jobs {
			if j.Owner.User() == r.user {
				j.Owner, j.Key, j.ID, j.SessionKey = yiku.Owner{}, 0, "", 0
				all = append(all, j)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(all, "", " ")
	return strings.NewReplacer(names...).Replace(string(text)), err
}

// cursorFirst is a store that writes a moved cursor before what it stands for,
// and fails between the two, once.
type cursorFirst struct {
	store.Store
	failed bool
}

func (s *cursorFirst) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	var moved *store.Session
	fault := yiku.Errorf(yiku.ErrUnavailable, "between the cursor and its effects")
	err := s.Store.Update(ctx, owner, p, func(tx store.Tx) error {
		if err := fn(cursorTx{tx, owner, &moved}); err != nil || moved == nil || s.failed {
			return err
		}
		return fault
	})
	if !errors.Is(err, fault) {
		return err
	}
	s.failed = true
	return errors.Join(err, s.Store.Update(ctx, owner, p, func(tx store.Tx) error { return tx.PutSession(moved) }))
}

type cursorTx struct {
	store.Tx
	owner yiku.Owner
	moved **store.Session
}

func (tx cursorTx) PutSession(s *store.Session) error {
	if row, err := tx.SessionByKey(tx.owner, s.Key); err == nil && s.Cursor > row.Cursor {
		*tx.moved = new(*s)
	}
	return tx.Tx.PutSession(s)
}

// keyless is a store in which a job that is done is still found.
type keyless struct {
	store.Store
	mu   sync.Mutex
	jobs map[string]store.Job // guarded by mu
}

func (s *keyless) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(keylessReader{r, s}) })
}

func (s *keyless) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, owner, p, func(tx store.Tx) error { return fn(keylessTx{tx, s}) })
}

// found is a job as it was last seen where it is gone.
func (s *keyless) found(j store.Job, id string, err error) (store.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.jobs[id] = j
		return j, nil
	}
	if old, ok := s.jobs[id]; ok && errors.Is(err, yiku.ErrNotFound) {
		return old, nil
	}
	return j, err
}

type keylessReader struct {
	store.Reader
	s *keyless
}

func (r keylessReader) Job(owner yiku.Owner, id string) (store.Job, error) {
	j, err := r.Reader.Job(owner, id)
	return r.s.found(j, id, err)
}

type keylessTx struct {
	store.Tx
	s *keyless
}

func (tx keylessTx) Job(owner yiku.Owner, id string) (store.Job, error) {
	j, err := tx.Tx.Job(owner, id)
	return tx.s.found(j, id, err)
}
