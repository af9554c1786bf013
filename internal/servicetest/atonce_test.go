package servicetest_test

import (
	"context"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// careless is a store whose writes do not see what is there already, as if
// each client had looked before the others wrote.
type careless struct{ store.Store }

func (c careless) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	return c.Store.Update(ctx, owner, p, func(tx store.Tx) error { return fn(blindTx{tx}) })
}

type blindTx struct{ store.Tx }

func (blindTx) Duplicate(yiku.Owner, store.Memory) (store.Memory, error) {
	return store.Memory{}, yiku.ErrNotFound
}

func (blindTx) Memories(yiku.Owner, store.MemoryQuery) ([]store.Memory, error) { return nil, nil }

// TestC7_ControlOfAtOnce: where a save does not see the others, each check of
// saves at once fails, be it because the store refuses the second row.
func TestC7_ControlOfAtOnce(t *testing.T) {
	t.Parallel()
	checks := map[string]func(context.Context, yiku.Service) error{
		"same fact": servicetest.SameFactAtOnce, "repeats": servicetest.ThousandRepeats, "one value": servicetest.OneValueAtOnce,
	}
	for name, check := range checks {
		s, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		index := memindex.New(nil)
		e, err := engine.New(engine.Options{Store: careless{s}, Index: index})
		if err != nil {
			t.Fatal(err)
		}
		if err := check(t.Context(), e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})); err == nil {
			t.Errorf("%s: the check sees nothing", name)
		}
		for _, end := range []func() error{e.Close, index.Close, s.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "C7", Part: "control", Hits: len(checks), Trials: len(checks), What: "checks saw writes that do not see each other"})
}
