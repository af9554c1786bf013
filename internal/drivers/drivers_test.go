package drivers

import (
	"errors"
	"testing"

	"github.com/yiku-ai/yiku"
)

func TestUnknownDriversAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	if _, err := Store(t.Context(), "postgres", Options{Dir: t.TempDir()}); !errors.Is(err, yiku.ErrUnsupported) {
		t.Errorf("store: %v", err)
	}
	if _, err := Index(t.Context(), "milvus", Options{}); !errors.Is(err, yiku.ErrUnsupported) {
		t.Errorf("index: %v", err)
	}
}

func TestEveryDriverOpens(t *testing.T) {
	t.Parallel()
	for name := range indexes() {
		x, err := Index(t.Context(), name, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for store := range stores() {
			s, err := Store(t.Context(), store, Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatalf("%s: %v", store, err)
			}
			if len(Gauges(s, x)(t.Context())) == 0 {
				t.Errorf("%s and %s measure nothing", store, name)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
