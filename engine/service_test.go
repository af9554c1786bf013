package engine_test

import (
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// TestService runs the suite of yiku.Service in process.
func TestService(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, func(t *testing.T) yiku.Service {
		s, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return open(t, s, &engine.Options{}).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	})
}
