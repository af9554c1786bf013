package client_test

import (
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// TestF2_Service runs the suite of yiku.Service through client and HTTP on the
// engine: what holds in process holds over the wire.
func TestF2_Service(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, func(t *testing.T) yiku.Service {
		s, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		index := memindex.New(nil)
		e, err := engine.New(engine.Options{Store: s, Index: index})
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
		return serve(t, e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin}))
	})
}
