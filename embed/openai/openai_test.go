package openai_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/embedtest"
	"github.com/yiku-ai/yiku/embed/hash"
	"github.com/yiku-ai/yiku/embed/openai"
	"github.com/yiku-ai/yiku/embed/remote"
	"github.com/yiku-ai/yiku/llm"
)

func hasty() *llm.Patience {
	return &llm.Patience{Attempts: 2, Delay: time.Millisecond, MaxDelay: 20 * time.Millisecond, Failures: 3, Open: time.Hour}
}

func open(t *testing.T, s *embedtest.Server, opts openai.Options) *remote.Embedder {
	t.Helper()
	opts.URL = s.URL + "/"
	if opts.Patience == nil {
		opts.Patience = hasty()
	}
	e, err := openai.Open(t.Context(), "m-1", &opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestD2_OpenAI runs the suite of embedders over OpenAI's protocol, in both
// forms of vectors, with an endpoint that takes any number of texts of any
// length and one that takes three short ones.
func TestD2_OpenAI(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]openai.Options{"numbers": {}, "base64": {Base64: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(64))
			e := open(t, s, opts)
			embedtest.Run(t, e)
			if m := e.Model(); m != (embed.Model{Name: "openai/m-1", Dimensions: 64}) {
				t.Errorf("model %+v", m)
			}
		})
	}
	t.Run("narrow", func(t *testing.T) {
		t.Parallel()
		s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(64))
		s.Batch, s.Long = 3, 100
		embedtest.Run(t, open(t, s, openai.Options{}))
	})
}

// TestD2_LimitsOfTheEndpoint: how many texts and how much of a text an endpoint takes is found
// out where it refuses more, once, and nothing is left out.
func TestD2_LimitsOfTheEndpoint(t *testing.T) {
	t.Parallel()
	s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(32))
	s.Batch = 10
	e := open(t, s, openai.Options{})
	texts := strings.Split(strings.Repeat("word,", 64), ",")[:64]
	for range 2 {
		if out, err := e.Embed(t.Context(), texts, embed.Passage); err != nil || len(out) != len(texts) {
			t.Fatalf("%d vectors, %v", len(out), err)
		}
	}
	refused := 0
	for _, asked := range s.Asked() {
		if len(asked.Texts) > s.Batch {
			refused++
		}
	}
	if refused != 3 { // 32, 16 and 16
		t.Errorf("%d requests were too large, want 3: what is refused is to be learnt", refused)
	}
	s = embedtest.Serve(t, embedtest.OpenAI(), hash.New(32))
	s.Long = 500
	e = open(t, s, openai.Options{})
	long := strings.Repeat("长长的故事。", 300)
	if _, err := e.Embed(t.Context(), []string{"short", long}, embed.Passage); err != nil {
		t.Fatal(err)
	}
	if last := s.Asked()[len(s.Asked())-1].Texts[0]; !strings.HasPrefix(long, last) || len([]rune(last)) > 500 || len([]rune(last)) < 250 {
		t.Errorf("%d characters were embedded", len([]rune(last)))
	}
	refuses := func(texts []string) {
		t.Helper()
		s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(32))
		s.Long = 5
		if _, err := open(t, s, openai.Options{}).Embed(t.Context(), texts, embed.Passage); !errors.Is(err, yiku.ErrInvalid) || len(s.Asked()) > 12 {
			t.Errorf("%v after %d requests", err, len(s.Asked()))
		}
	}
	refuses([]string{"refused for good"})
	refuses([]string{"ok", long})
}

// TestD2_OpenAIAsks: the model, the key, the marks before questions and
// passages, and what only some endpoints know, which goes only where it is set.
func TestD2_OpenAIAsks(t *testing.T) {
	t.Parallel()
	s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(64))
	opts := openai.Options{Key: "key-1", Base64: true}
	opts.Dimensions, opts.Query, opts.Passage, opts.MaxTokens = 16, "query: ", "passage: ", 8
	e := open(t, s, opts)
	if len(s.Asked()) != 0 || e.Model() != (embed.Model{Name: `openai/m-1@16+"passage: "`, Dimensions: 16}) {
		t.Errorf("model %+v after %d requests", e.Model(), len(s.Asked()))
	}
	for use, want := range map[embed.Use]string{embed.Query: "query: 我住在", embed.Passage: "passage: 我住在"} {
		v, err := e.Embed(t.Context(), []string{"我住在杭州，喜欢喝茶"}, use)
		if err != nil || len(v[0]) != 16 {
			t.Fatalf("%v, %v", v, err)
		}
		got := s.Asked()[len(s.Asked())-1]
		if got.Model != "m-1" || got.Key != "Bearer key-1" || got.Encoding != "base64" || got.Dimensions != 16 || !strings.HasPrefix(got.Texts[0], want) || strings.HasSuffix(got.Texts[0], "茶") {
			t.Errorf("asked %+v", got)
		}
	}
	plain := embedtest.Serve(t, embedtest.OpenAI(), hash.New(64))
	open(t, plain, openai.Options{})
	if got := plain.Asked()[0]; got.Key != "" || got.Encoding != "" || got.Dimensions != 0 {
		t.Errorf("asked %+v without options", got)
	}
}

// TestR16_EmbedderFails: what may pass is tried again after as long as the
// endpoint asks, the breaker opens, and wrong answers are errors.
func TestR16_EmbedderFails(t *testing.T) {
	t.Parallel()
	call := func(fault func(int) embedtest.Raw) (*embedtest.Server, *remote.Embedder, error) {
		s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(8))
		e := open(t, s, openai.Options{})
		s.Fault = func(n int) embedtest.Raw { return fault(n - 1) } // the first one was for the dimensions
		_, err := e.Embed(t.Context(), []string{"secret one", "secret two"}, embed.Passage)
		return s, e, err
	}
	always := func(raw embedtest.Raw) func(int) embedtest.Raw { return func(int) embedtest.Raw { return raw } }
	for name, test := range map[string]struct {
		raw   embedtest.Raw
		want  error
		asked int
	}{
		"busy":          {embedtest.Raw{Status: 429, RetryAfter: "0.001"}, yiku.ErrLimited, 2},
		"busy for long": {embedtest.Raw{Status: 429, RetryAfter: "60"}, yiku.ErrLimited, 1},
		"broken":        {embedtest.Raw{Status: 503}, yiku.ErrUnavailable, 2},
		"key":           {embedtest.Raw{Status: 401}, yiku.ErrUnauthorized, 1},
		"no JSON":       {embedtest.Raw{Body: "secret"}, yiku.ErrUnavailable, 2},
		"one missing":   {embedtest.Raw{Body: `{"data":[{"index":0,"embedding":[1,1,1,1,1,1,1,1]}]}`}, yiku.ErrUnavailable, 2},
		"twice":         {embedtest.Raw{Body: `{"data":[{"index":0,"embedding":[1,1,1,1,1,1,1,1]},{"index":0,"embedding":[1,1,1,1,1,1,1,1]}]}`}, yiku.ErrUnavailable, 2},
		"out of range":  {embedtest.Raw{Body: `{"data":[{"index":0,"embedding":[1,1,1,1,1,1,1,1]},{"index":2,"embedding":[1,1,1,1,1,1,1,1]}]}`}, yiku.ErrUnavailable, 2},
		"other model":   {embedtest.Raw{Body: `{"data":[{"embedding":[1]},{"embedding":[1]}]}`}, yiku.ErrUnavailable, 2},
		"no direction":  {embedtest.Raw{Body: `{"data":[{"embedding":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},{"embedding":[1,1,1,1,1,1,1,1]}]}`}, yiku.ErrUnavailable, 2},
		"half a float":  {embedtest.Raw{Body: `{"data":[{"embedding":"AAAA"},{"embedding":"AAAA"}]}`}, yiku.ErrUnavailable, 2},
	} {
		s, _, err := call(always(test.raw))
		if !errors.Is(err, test.want) || len(s.Asked())-1 != test.asked {
			t.Errorf("%s: %v after %d requests", name, err, len(s.Asked())-1)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error holds a text: %v", name, err)
		}
	}
	if s, _, err := call(func(n int) embedtest.Raw { return map[int]embedtest.Raw{0: {Status: 500}}[n] }); err != nil || len(s.Asked()) != 3 {
		t.Errorf("broken once: %v after %d requests", err, len(s.Asked()))
	}
	s, e, _ := call(always(embedtest.Raw{Status: 500}))
	var first, second *yiku.Error
	_, err := e.Embed(t.Context(), []string{"a"}, embed.Passage)
	asked := len(s.Asked())
	_, again := e.Embed(t.Context(), []string{"a"}, embed.Passage)
	if !errors.As(err, &first) || !errors.As(again, &second) || second.RetryAfter == 0 || len(s.Asked()) != asked {
		t.Errorf("the breaker: %v, then %v, %d requests", err, again, len(s.Asked())-asked)
	}
}

// TestL102_Dimensions: an endpoint is asked for its dimensions when it is
// opened; where nobody answers, what they were is kept to, and where they were
// never known it is an error. Afterwards vectors of another size are refused.
func TestL102_Dimensions(t *testing.T) {
	t.Parallel()
	closed := openai.Options{URL: "http://127.0.0.1:1"}
	closed.Patience = hasty()
	if _, err := openai.Open(t.Context(), "m", &closed); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("never known: %v", err)
	}
	closed.Known = func(name string) int { return map[string]int{"openai/m": 12}[name] }
	if e, err := openai.Open(t.Context(), "m", &closed); err != nil || e.Model().Dimensions != 12 {
		t.Errorf("known before: %v", err)
	}
	s := embedtest.Serve(t, embedtest.OpenAI(), hash.New(7))
	opts := openai.Options{}
	opts.Known = func(string) int { return 12 }
	e := open(t, s, opts)
	if e.Model().Dimensions != 7 {
		t.Errorf("%d dimensions", e.Model().Dimensions)
	}
	opts.Dimensions = 12
	if _, err := open(t, s, opts).Embed(t.Context(), []string{"a"}, embed.Passage); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("another size than said: %v", err)
	}
	if _, err := e.Embed(context.Background(), []string{"a"}, embed.Passage); err != nil {
		t.Errorf("control: %v", err)
	}
}
