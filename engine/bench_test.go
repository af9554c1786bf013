package engine_test

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is an engine on an empty store, with a clock that tests set.
type bench struct {
	*engine.Engine
	store store.Store
	clock *clock
}

// clock is a clock that tests set; the engine and the store read it beside them.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newBench(t *testing.T, settings *engine.Settings) bench {
	t.Helper()
	return newBenchWith(t, engine.Options{Settings: settings})
}

// newBenchWith is newBench with options of its own; store, index and clock are the bench's.
func newBenchWith(t *testing.T, opts engine.Options) bench {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	s, err := sqlite.Open(t.Context(), t.TempDir(), &sqlite.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	opts.Now = c.Now
	e := open(t, s, &opts)
	return bench{Engine: e, store: s, clock: c}
}

// open starts an engine on a store; both end with the test.
func open(t *testing.T, s store.Store, opts *engine.Options) *engine.Engine {
	t.Helper()
	index := memindex.New(nil)
	opts.Store, opts.Index = s, index
	e, err := engine.New(*opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{e.Close, index.Close, s.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return e
}

func (b bench) operator() yiku.Service {
	return b.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
}

// again is another engine on the bench's store, with an index of its own where
// none is given.
func (b bench) again(t *testing.T, opts engine.Options) bench {
	t.Helper()
	opts.Store, opts.Now = b.store, b.clock.Now
	if opts.Index == nil {
		opts.Index = memindex.New(nil)
	}
	e, err := engine.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{e.Close, opts.Index.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return bench{Engine: e, store: b.store, clock: b.clock}
}
