package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/internal/wire"
	"github.com/yiku-ai/yiku/store"
)

var soakOperations = flag.Int("soak", 50_000, "operations of TestR23_CanarySoak; make nightly takes 1,000,000")

const (
	sharedUser  = 99 // in canaries: what a tenant's users share
	soakWorkers = 64
)

// A canary tells whose it is: qz, tenant, u, user, p, project, zq.
func canaryOf(tenant, user, project int) string {
	return fmt.Sprintf("qz%02du%02dp%dzq", tenant, user, project)
}

const canaryLength = len("qz00u00p0zq")

// eachCanary calls seen for every whole canary of a text.
func eachCanary(text []byte, seen func(tenant, user, project int)) {
	digit := func(b ...byte) (n int) {
		for _, d := range b {
			n = n*10 + int(d-'0')
		}
		return n
	}
	for {
		i := bytes.Index(text, []byte("qz"))
		if i < 0 {
			return
		}
		text = text[i:]
		if len(text) >= canaryLength && text[4] == 'u' && text[7] == 'p' && text[9] == 'z' && text[10] == 'q' {
			seen(digit(text[2], text[3]), digit(text[5], text[6]), digit(text[8]))
		}
		text = text[2:]
	}
}

// silent is a writer that may not see a canary: of logs and events.
type silent struct {
	mu   sync.Mutex
	tail []byte // guarded by mu; what a canary may have begun in
	seen int    // guarded by mu
	size int64  // guarded by mu
}

func (w *silent) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size += int64(len(p))
	text := append(w.tail, p...)
	eachCanary(text, func(int, int, int) { w.seen++ })
	w.tail = append([]byte(nil), text[max(0, len(text)-canaryLength+1):]...)
	return len(p), nil
}

// soak is a world of many tenants whose users all use the same names.
type soak struct {
	*world
	people    []*person
	operators []string // the bearer of each tenant's operator
	writers   []string // the bearer of each tenant's application
	tokens    map[*person]string
	http      *client.Client
	table     map[string]soakEntry
	byID      map[string]wire.Operation
	lots      []string
	mixUp     func(act, string) string // of a control: another bearer than the right one

	own     atomic.Int64 // canaries that were seen where they belong
	foreign atomic.Int64 // acts on an id that is another's
	mu      sync.Mutex
	done    map[string]int // guarded by mu; successes by operation
	leaks   []string       // guarded by mu
}

func newSoak(t *testing.T, tenants, users int, w *world) *soak {
	t.Helper()
	s := &soak{world: w, tokens: map[*person]string{}, table: soakTable(), byID: map[string]wire.Operation{}, done: map[string]int{}}
	s.lots = lots(s.table)
	for _, op := range wire.Operations() {
		s.byID[op.ID] = op
		if _, ok := s.table[op.ID]; !ok {
			t.Errorf("%s has no entry in the soak: say how it takes part", op.ID)
		}
	}
	for tenant := range tenants {
		name := fmt.Sprintf("t%02d", tenant)
		_, operator := w.key(name, yiku.CreateKeyRequest{Access: admin})
		_, writer := w.key(name, yiku.CreateKeyRequest{Access: write})
		s.operators, s.writers = append(s.operators, operator.bearer), append(s.writers, writer.bearer)
		for user := range users {
			p := &person{tenant: tenant, user: user, ids: map[string][]belonging{}}
			s.people = append(s.people, p)
			token, err := w.as(name).CreateToken(t.Context(), yiku.CreateTokenRequest{UserID: fmt.Sprintf("u%02d", user), Access: write, TTLSeconds: yiku.MaxTokenSeconds})
			if err != nil {
				t.Fatal(err)
			}
			s.tokens[p] = token.Token
		}
	}
	var err error
	if s.http, err = client.New("http://127.0.0.1:7421", &client.Options{HTTPClient: &http.Client{Transport: s}}); err != nil {
		t.Fatal(err)
	}
	return s
}

type bearerKey struct{}

// sent is what an act sends, and the bytes that came back.
type sent struct {
	bearer string
	raw    []byte
}

// RoundTrip is the way to the server without a network. It keeps every byte of
// the answer.
func (s *soak) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Context().Value(bearerKey{}).(*sent)
	in := r.Clone(r.Context())
	in.Header.Set("Authorization", "Bearer "+out.bearer)
	in.RequestURI, in.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	s.handler.ServeHTTP(rec, in)
	var raw bytes.Buffer
	if err := rec.Result().Header.Write(&raw); err != nil {
		return nil, err
	}
	raw.Write(rec.Body.Bytes())
	out.raw = append(out.raw, raw.Bytes()...)
	res := rec.Result()
	res.Request = r
	return res, nil
}

// run does so many acts from 64 workers.
func (s *soak) run(ctx context.Context, acts int, seed uint64) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range soakWorkers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(worker)))
			for n := int(next.Add(1)); n <= acts; n = int(next.Add(1)) {
				s.one(ctx, rng, n)
			}
		})
	}
	wg.Wait()
}

// one does one act through a door and looks at what came out.
func (s *soak) one(ctx context.Context, rng *rand.Rand, n int) {
	a := act{soak: s, Rand: rng, who: s.people[rng.IntN(len(s.people))], project: 1 + rng.IntN(2), n: n}
	id := s.lots[rng.IntN(len(s.lots))]
	if n%5_000 == 0 {
		id = "verify_audit"
	}
	req := s.table[id].request(&a)
	answer, raw, err, wrong := a.through(ctx, s.byID[id], req)
	if a.foreign {
		s.foreign.Add(1)
	}
	if err != nil {
		raw = fmt.Appendf(raw, "%v %+v", err, err)
	}
	eachCanary(raw, func(tenant, user, project int) {
		right := tenant == a.who.tenant && (user == sharedUser || user == a.who.user && (!a.scoped || project == 0 || project == a.project))
		if err != nil || wrong || !right {
			s.leak("%s of %s was given %s (error %v, wrong credential %v)", id, canaryOf(a.who.tenant, a.who.user, a.project), canaryOf(tenant, user, project), err != nil, wrong)
			return
		}
		s.own.Add(1)
	})
	switch {
	case err == nil && wrong:
		s.leak("%s: a token of another user was let in", id)
	case err == nil:
		a.learn(answer)
		s.mu.Lock()
		s.done[id]++
		s.mu.Unlock()
	case id == "get_context" && strings.Contains(err.Error(), "being forgotten"): // too often while it was made
	case errors.Is(err, yiku.ErrUnavailable), ctx.Err() != nil:
		s.leak("%s failed: %v", id, err)
	}
}

// through sends an act through one of the doors: in process as the tenant's
// application or as one user, over HTTP with a key or a token, or with the
// token of another user (wrong).
func (a *act) through(ctx context.Context, op wire.Operation, req any) (answer any, raw []byte, err error, wrong bool) {
	door, tenant := a.IntN(10), fmt.Sprintf("t%02d", a.who.tenant)
	if door < 4 {
		who := yiku.Principal{Tenant: tenant, Access: write}
		if a.operator {
			who.Access = admin
		} else if door%2 == 0 {
			who.User = a.user()
		}
		if answer, err = op.Call(ctx, a.core.Engine.As(who), req); err == nil {
			raw, err = json.Marshal(answer)
		}
		return answer, raw, err, false
	}
	out := &sent{bearer: a.tokens[a.who]}
	switch other := a.people[a.IntN(len(a.people))]; {
	case a.operator:
		out.bearer = a.operators[a.who.tenant]
	case door < 6:
		out.bearer = a.writers[a.who.tenant]
	case door == 9 && other.tenant == a.who.tenant && other != a.who:
		out.bearer, wrong = a.tokens[other], true
	}
	if a.mixUp != nil {
		out.bearer = a.mixUp(*a, out.bearer)
	}
	answer, err = op.Call(context.WithValue(ctx, bearerKey{}, out), a.http, req)
	return answer, out.raw, err, wrong
}

func (s *soak) leak(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaks = append(s.leaks, fmt.Sprintf(format, args...))
}

// found gives the first leaks and how many there are.
func (s *soak) found() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d leaks or failures:\n%s", len(s.leaks), strings.Join(s.leaks[:min(10, len(s.leaks))], "\n"))
}

func unwrapped(s store.Store) store.Store { return s }

// TestR23_CanarySoak: 50 tenants of 20 users, who all use the same names, do
// random operations at once through every door. Every write carries a canary
// of its tenant, user and project; no answer, header, error, log, event or
// metric shows one to anybody else. A million: go test ./internal/app -run
// R23_CanarySoak -soak 1000000 -timeout 60m
func TestR23_CanarySoak(t *testing.T) {
	t.Parallel()
	var logs, eventLines silent
	events := observe.NewLines(&eventLines, nil)
	s := newSoak(t, 50, 20, (&world{}).open(t, &logs, events, unwrapped))
	acts := *soakOperations
	if servicetest.UnderRace() {
		acts /= 10
	}
	s.run(t.Context(), acts, 23)
	if len(s.leaks) > 0 {
		t.Error(s.found())
	}
	operator := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	metrics := s.send(operator, credential.ForLocal(localSecret, "t00"))
	eachCanary(metrics.Body.Bytes(), func(int, int, int) { t.Error("the metrics hold a canary") })
	if metrics.Code != http.StatusOK || events.Close() != nil || eventLines.size == 0 {
		t.Errorf("metrics %d, %d bytes of events", metrics.Code, eventLines.size)
	}
	if logs.seen+eventLines.seen > 0 {
		t.Errorf("%d canaries in logs, %d in events", logs.seen, eventLines.seen)
	}
	for id := range s.byID {
		if s.done[id] == 0 && acts >= 20_000 {
			t.Errorf("%s has never succeeded", id)
		}
	}
	if acts >= 20_000 && s.own.Load() < int64(acts) {
		t.Errorf("only %d canaries were seen at all", s.own.Load())
	}
	boardtest.Report(t, boardtest.Row{ID: "R23", Trials: acts, What: "operations showed a canary to somebody else", Seeds: "23",
		Note: fmt.Sprintf("%d named ids of others, %d canaries stood where they belong", s.foreign.Load(), s.own.Load())})
	t.Logf("%d operations, %d on ids of others; %d canaries where they belong, %d elsewhere; successes %v",
		acts, s.foreign.Load(), s.own.Load(), len(s.leaks), s.done)
}

// TestR23_Controls: a door, and a store, that take one owner for another once
// are found. Nothing is forgotten in them, so that there is something to show.
func TestR23_Controls(t *testing.T) {
	t.Parallel()
	const tenants, users, acts = 2, 2, 1500
	fill := func(w *world) *soak {
		s := newSoak(t, tenants, users, w)
		s.lots = slices.DeleteFunc(s.lots, func(id string) bool { return id == "forget" || id == "delete_memory" })
		s.run(t.Context(), acts, 1)
		if len(s.leaks) > 0 {
			t.Fatal(s.found())
		}
		s.lots = []string{"list_memories"}
		return s
	}
	door := fill((&world{}).open(t, io.Discard, nil, unwrapped))
	var mixed atomic.Bool
	door.mixUp = func(a act, bearer string) string {
		if mixed.CompareAndSwap(false, true) {
			return a.operators[1-a.who.tenant]
		}
		return bearer
	}
	door.run(t.Context(), 100, 2)
	if len(door.leaks) == 0 || !mixed.Load() {
		t.Error("a door that takes one tenant for another is not found")
	}
	swap := &swapping{}
	shelf := fill((&world{}).open(t, io.Discard, nil, func(s store.Store) store.Store { swap.Store = s; return swap }))
	swap.on.Store(true)
	shelf.run(t.Context(), 100, 2)
	if len(shelf.leaks) == 0 || swap.on.Load() {
		t.Error("a store that takes one user for another is not found")
	}
	boardtest.Report(t, boardtest.Row{ID: "R23", Part: "control", Hits: 2, Trials: 2, What: "mix-ups of two owners were found"})
}

// swapping is a store that, while it is on, lists once the memories of another
// user of the same tenant.
type swapping struct {
	store.Store
	on atomic.Bool
}

func (s *swapping) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(swappingReader{r, s}) })
}

type swappingReader struct {
	store.Reader
	s *swapping
}

func (r swappingReader) Memories(owner yiku.Owner, q store.MemoryQuery) ([]store.Memory, error) {
	other := map[string]string{"u00": "u01", "u01": "u00"}[owner.User()]
	if other == "" || !r.s.on.Load() {
		return r.Reader.Memories(owner, q)
	}
	wrong, err := yiku.NewOwner(owner.Tenant(), other)
	if err != nil {
		return nil, err
	}
	list, err := r.Reader.Memories(wrong, q)
	if err != nil || len(list) == 0 || !r.s.on.CompareAndSwap(true, false) {
		return r.Reader.Memories(owner, q)
	}
	return list, err
}
