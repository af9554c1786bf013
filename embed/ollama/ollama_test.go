package ollama_test

import (
	"errors"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/embedtest"
	"github.com/yiku-ai/yiku/embed/hash"
	"github.com/yiku-ai/yiku/embed/ollama"
)

// TestD2_Ollama runs the suite of embedders over Ollama's protocol.
func TestD2_Ollama(t *testing.T) {
	t.Parallel()
	s := embedtest.Serve(t, embedtest.Ollama(), hash.New(48))
	e, err := ollama.Open(t.Context(), "bge-m3", &ollama.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	embedtest.Run(t, e)
	if m := e.Model(); m != (embed.Model{Name: "ollama/bge-m3", Dimensions: 48}) || s.Asked()[0].Model != "bge-m3" {
		t.Errorf("model %+v, asked for %q", m, s.Asked()[0].Model)
	}
	s.Fault = func(int) embedtest.Raw { return embedtest.Raw{Status: 404} }
	if _, err := e.Embed(t.Context(), []string{"a"}, embed.Query); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("a model that is not there: %v", err)
	}
}
