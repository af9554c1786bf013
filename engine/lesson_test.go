package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// searches is an index that notes what it is asked.
type searches struct {
	index.Index
	mu  sync.Mutex
	all []string // guarded by mu
}

func (s *searches) Search(ctx context.Context, owner yiku.Owner, q index.Query) (index.Result, error) {
	text, err := json.Marshal([]any{owner.User(), owner.IsShared(), q})
	if err != nil {
		return index.Result{}, err
	}
	s.mu.Lock()
	s.all = append(s.all, string(text))
	s.mu.Unlock()
	return s.Index.Search(ctx, owner, q)
}

// TestL125_OneSearchARequest: neither a search nor a context asks the index the
// same twice: one question an owner for memories, and one for episodes.
func TestL125_OneSearchARequest(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &searches{Index: memindex.New(nil)}
	e, err := engine.New(engine.Options{Store: s, Index: x})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{e.Close, x.Close, s.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	service := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	for _, text := range []string{"喜欢绿茶 green tea", "周五不发布 no deploys on Friday", "猫叫年糕"} {
		save(t, service, yiku.SaveMemoryRequest{Content: text})
	}
	say(t, service, "s", "我喜欢什么茶 which tea", "绿茶 green")
	for name, run := range map[string]func() error{
		"search": func() error {
			_, err := service.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "茶 tea", IncludeMessages: true})
			return err
		},
		"context": func() error {
			_, err := service.GetContext(t.Context(), yiku.GetContextRequest{UserID: "ann", SessionID: "s", Query: "茶 tea"})
			return err
		},
	} {
		x.all = nil
		if err := run(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(x.all)
		if n := len(x.all); n == 0 || n > 3 || len(slices.Compact(slices.Clone(x.all))) != n {
			t.Errorf("a %s asks the index %d times: %v", name, n, x.all)
		}
	}
}
