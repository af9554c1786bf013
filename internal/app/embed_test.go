package app

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed/embedtest"
	"github.com/yiku-ai/yiku/embed/hash"
	"github.com/yiku-ai/yiku/internal/config"
)

// endpoint is a configuration whose texts an endpoint embeds.
func endpoint(t *testing.T, dimensions int) (config.Config, *embedtest.Server) {
	t.Helper()
	s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(dimensions))
	cfg := testConfig(t)
	cfg.Embed.Driver, cfg.Embed.Model, cfg.Embed.URL = "openai", "m-1", s.URL
	return cfg, s
}

// TestL10_RateLimitOnEmbeddings: what an endpoint will not embed now is
// embedded later; nothing that was said is left out, and it is found by its
// vector, which the explanation shows.
func TestL10_RateLimitOnEmbeddings(t *testing.T) {
	t.Parallel()
	cfg, s := endpoint(t, 64)
	c, err := Open(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // of a test
	limited := 0
	s.Fault = func(n int) embedtest.Raw {
		if n%2 == 1 { // every second request, from the one after that for the dimensions
			limited++
			return embedtest.Raw{Status: 429, RetryAfter: "0.001"}
		}
		return embedtest.Raw{}
	}
	service := c.Engine.As(Principal())
	for _, content := range []string{"我住在杭州西湖边", "my sister plays the cello", strings.Repeat("很长的一段话。", 900)} {
		if _, err := service.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Engine.EmbedPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Fault = nil // a question is not asked again: where it is limited, words answer
	for query, content := range map[string]string{"杭州西湖": "我住在杭州西湖边", "who plays the cello": "my sister plays the cello"} {
		res, err := service.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: query, Explain: true})
		if err != nil || len(res.Items) == 0 || res.Items[0].Memory.Content != content || len(res.Degraded) > 0 {
			t.Fatalf("%q: %+v, %v", query, res, err)
		}
		if parts := res.Items[0].Scores; parts.Dense <= 0 {
			t.Errorf("%q: it was not found by its vector: %+v", query, parts)
		}
	}
	if limited == 0 {
		t.Error("the endpoint limited nothing")
	}
}

// TestH4_ModelIsRemembered: that the model has changed is said when the server
// starts, and where its endpoint does not answer then, the vectors that there
// are say how large they are; questions are answered by words meanwhile.
// Control: an endpoint that was never reached keeps the server from starting.
func TestH4_ModelIsRemembered(t *testing.T) {
	t.Parallel()
	cfg, s := endpoint(t, 64)
	start := func(cfg config.Config) (log string, err error) {
		var b strings.Builder
		c, err := Open(t.Context(), cfg, &Options{Log: slog.New(slog.NewTextHandler(&b, nil))})
		if err != nil {
			return b.String(), err
		}
		if _, err = c.Engine.As(Principal()).SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: "我住在杭州西湖边"}); err != nil {
			return b.String(), err
		}
		res, err := c.Engine.As(Principal()).SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "西湖"})
		if err == nil && len(res.Items) != 1 {
			t.Errorf("found %+v", res)
		}
		return b.String(), errors.Join(err, c.Close())
	}
	const changed = "the model of vectors has changed"
	if log, err := start(cfg); err != nil || strings.Contains(log, changed) {
		t.Fatalf("at first: %v\n%s", err, log)
	}
	limited := func(int) embedtest.Raw { return embedtest.Raw{Status: 429, RetryAfter: "3600"} }
	s.Fault = limited
	if log, err := start(cfg); err != nil || strings.Contains(log, changed) {
		t.Errorf("while it does not answer: %v\n%s", err, log)
	}
	unknown := cfg
	unknown.Embed.Model = "m-2"
	if _, err := start(unknown); !errors.Is(err, yiku.ErrLimited) {
		t.Errorf("never reached: %v", err)
	}
	other, _ := endpoint(t, 48)
	other.DataDir, other.Former = cfg.DataDir, cfg.Embed
	if log, err := start(other); err != nil || !strings.Contains(log, changed) || !strings.Contains(log, "openai/m-1/48") {
		t.Errorf("another size: %v\n%s", err, log)
	}
}
