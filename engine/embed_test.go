package engine_test

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/embed"
	"github.com/yiku-ai/yiku/embed/remote"
	"github.com/yiku-ai/yiku/engine"
)

// meaning is an embedder of three subjects, which knows some words of each in
// two languages; whatever else is said points in a direction of its own.
type meaning struct {
	name   string
	size   int // of a vector; 0: 32
	fails  atomic.Bool
	texts  atomic.Int64      // those of somewhere
	asked  atomic.Int64      // questions
	refuse func(string) bool // texts that are refused for good, with what stands beside them; nil: none
	onText func(string)      // called for each text, before it is embedded; nil: nothing
}

func (m *meaning) values() int { return cmp.Or(m.size, 32) }

func (m *meaning) Model() embed.Model { return embed.Model{Name: m.name, Dimensions: m.values()} }

func (m *meaning) Embed(_ context.Context, texts []string, use embed.Use) ([][]float32, error) {
	if use == embed.Query {
		m.asked.Add(1)
	}
	if m.fails.Load() {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "the embedder rests")
	}
	if m.refuse != nil && slices.ContainsFunc(texts, m.refuse) {
		return nil, yiku.Errorf(yiku.ErrInvalid, "a text is refused")
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if strings.Contains(text, "Bergen") {
			m.texts.Add(1)
		}
		if m.onText != nil {
			m.onText(text)
		}
		out[i] = make([]float32, m.values())
		h := fnv.New32a()
		h.Write([]byte(text))
		at := 3 + int(h.Sum32()%29)
		for subject, words := range [][]string{{"live", "home", "住", "家"}, {"eat", "food", "吃", "饭"}, {"job", "work", "工作"}} {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
				at = subject
			}
		}
		out[i][at] = 1
	}
	return out, nil
}

func meaningBench(t *testing.T) (bench, *meaning) {
	t.Helper()
	m := &meaning{name: "meaning"}
	return newBenchWith(t, engine.Options{Embedder: m}), m
}

func embedded(t *testing.T, b bench) {
	t.Helper()
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func saveText(t *testing.T, s yiku.Service, text string) string {
	t.Helper()
	res, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: text})
	if err != nil {
		t.Fatal(err)
	}
	return res.ID
}

// found are the contents that a search finds, best first, and what was degraded.
func found(t *testing.T, s yiku.Service, query string) (contents, degraded []string) {
	t.Helper()
	res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: query})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range res.Items {
		contents = append(contents, item.Memory.Content)
	}
	return contents, res.Degraded
}

// TestD2_FoundByMeaning: what shares no word with a question is found by its
// vector, in both languages and across them. Control: without an embedder it
// is not, and the answer says so.
func TestD2_FoundByMeaning(t *testing.T) {
	t.Parallel()
	b, _ := meaningBench(t)
	s := b.operator()
	saveText(t, s, "I live in Bergen")
	saveText(t, s, "我爱吃面条")
	saveText(t, s, "my bicycle is red")
	embedded(t, b)
	for query, content := range map[string]string{"where is her home?": "I live in Bergen", "她家在哪里": "I live in Bergen", "which food?": "我爱吃面条"} {
		got, degraded := found(t, s, query)
		want(t, query, got, content)
		if len(degraded) > 0 {
			t.Errorf("%s: degraded %v", query, degraded)
		}
	}
	plain := newBench(t, nil)
	saveText(t, plain.operator(), "I live in Bergen")
	got, degraded := found(t, plain.operator(), "where is her home?")
	want(t, "control", got)
	want(t, "control's degraded", degraded, "dense")
}

// TestD11_EmbedderFails: a search goes on by words and says so, nothing is lost
// of what is written meanwhile, and its vectors come when the embedder is back.
func TestD11_EmbedderFails(t *testing.T) {
	t.Parallel()
	b, m := meaningBench(t)
	s := b.operator()
	m.fails.Store(true)
	saveText(t, s, "I live in Bergen")
	embedded(t, b)
	got, degraded := found(t, s, "live in Bergen")
	want(t, "by words", got, "I live in Bergen")
	want(t, "degraded", degraded, "dense")
	m.fails.Store(false)
	b.clock.Advance(time.Hour)
	embedded(t, b)
	got, degraded = found(t, s, "where is her home?")
	want(t, "by meaning, later", got, "I live in Bergen")
	want(t, "degraded, later", degraded)
}

// TestH4_AnotherModel: the vectors of another model are not compared; items are
// embedded anew once the owner is in use.
func TestH4_AnotherModel(t *testing.T) {
	t.Parallel()
	b, _ := meaningBench(t)
	saveText(t, b.operator(), "I live in Bergen")
	embedded(t, b)
	other := &meaning{name: "another"}
	again := b.again(t, engine.Options{Embedder: other})
	got, _ := found(t, again.operator(), "where is her home?")
	want(t, "before it is embedded anew", got)
	embedded(t, again)
	got, _ = found(t, again.operator(), "where is her home?")
	want(t, "afterwards", got, "I live in Bergen")
	n := other.texts.Load()
	third := b.again(t, engine.Options{Embedder: other})
	found(t, third.operator(), "where is her home?")
	embedded(t, third)
	if embedded := other.texts.Load() - n; embedded > 0 {
		t.Errorf("%d texts were embedded that had their vectors", embedded)
	}
}

// TestD2_EditWhileEmbedded: a vector of what a memory does not say any more is
// not kept, also where the edit comes while it is embedded.
func TestD2_EditWhileEmbedded(t *testing.T) {
	t.Parallel()
	b, m := meaningBench(t)
	s := b.operator()
	id := saveText(t, s, "I live in Bergen")
	edited := false
	m.onText = func(text string) {
		if edited || !strings.Contains(text, "Bergen") {
			return
		}
		edited = true
		edit := yiku.PatchMemoryRequest{UserID: "ann", ID: id, Content: yiku.Opt[string]{Present: true, Value: "I eat fish"}}
		if _, err := s.PatchMemory(t.Context(), edit); err != nil {
			t.Error(err)
		}
	}
	embedded(t, b)
	got, _ := found(t, s, "where is her home?")
	want(t, "what it said", got)
	got, _ = found(t, s, "which food?")
	want(t, "what it says", got, "I eat fish")
}

// TestE2_VectorsGo: a forget takes the vectors, counts them, and the job that
// began before writes none.
func TestE2_VectorsGo(t *testing.T) {
	t.Parallel()
	b, m := meaningBench(t)
	s := b.operator()
	saveText(t, s, "I live in Bergen")
	embedded(t, b)
	saveText(t, s, "I work in Oslo")
	forget := func() yiku.ForgetResponse {
		res, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Selector: yiku.Selector{All: true}, Reason: "test"})
		if err != nil {
			t.Error(err)
		}
		return res
	}
	var res yiku.ForgetResponse
	once := false
	m.onText = func(string) {
		if !once {
			once = true
			res = forget()
		}
	}
	embedded(t, b)
	if res.Removed.Vectors != 1 || !res.Verified {
		t.Errorf("%d vectors removed, verified %v", res.Removed.Vectors, res.Verified)
	}
	got, _ := found(t, s, "where is her home?")
	want(t, "afterwards", got)
	if again := forget(); again.Removed.Vectors != 0 {
		t.Errorf("%d vectors were written after the forget", again.Removed.Vectors)
	}
	saveText(t, s, "I eat fish")
	m.onText = nil
	embedded(t, b)
	got, _ = found(t, s, "which food?")
	want(t, "what is said anew", got, "I eat fish")
}

// TestC3_EmbeddingParks: what cannot be embedded is visible and can be replayed.
// Lessons: L10.
func TestC3_EmbeddingParks(t *testing.T) {
	t.Parallel()
	b, m := meaningBench(t)
	s := b.operator()
	m.fails.Store(true)
	saveText(t, s, "I live in Bergen")
	for range 10 {
		embedded(t, b)
		b.clock.Advance(3 * time.Hour)
	}
	page, err := s.ListJobs(t.Context(), yiku.ListJobsRequest{State: yiku.JobParked})
	if err != nil || len(page.Items) != 1 || page.Items[0].Kind != "embed" {
		t.Fatalf("parked jobs: %+v, %v", page.Items, err)
	}
	m.fails.Store(false)
	if _, err := s.ReplayJob(t.Context(), yiku.ReplayJobRequest{ID: page.Items[0].ID}); err != nil {
		t.Fatal(err)
	}
	embedded(t, b)
	got, _ := found(t, s, "where is her home?")
	want(t, "after the replay", got, "I live in Bergen")
	if page, err = s.ListJobs(t.Context(), yiku.ListJobsRequest{}); err != nil && !errors.Is(err, yiku.ErrNotFound) || len(page.Items) != 0 {
		t.Errorf("jobs left: %+v, %v", page.Items, err)
	}
}

// TestD11_EmbedderHangs: a search waits for a question's vector no longer than
// an endpoint has for it, once for all whose memories it looks through, and
// goes on by words. Control: without a bound worth the name it waits.
func TestD11_EmbedderHangs(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]time.Duration{"bounded": time.Second, "control": time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			hangs := func(ctx context.Context, _ []string) ([][]float32, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			e, err := remote.Open(t.Context(), "m", hangs, remote.Options{Dimensions: 32, QueryTimeout: budget})
			if err != nil {
				t.Fatal(err)
			}
			b := newBenchWith(t, engine.Options{Embedder: e})
			saveText(t, b.operator(), "I live in Bergen")
			shared := yiku.SaveMemoryRequest{UserID: "ann", Level: yiku.LevelShared, Content: "All live in Bergen"}
			if _, err := b.operator().SaveMemory(t.Context(), shared); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			res, err := b.operator().SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "live in Bergen"})
			if err != nil || len(res.Items) == 0 || !slices.Contains(res.Degraded, "dense") {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
			if took := time.Since(began); took != budget {
				t.Errorf("%s: the search took %s", name, took)
			}
		})
	}
}

// TestH4_RefusedText: a text that the embedder refuses for good stops neither
// its neighbours nor a change of the model: it is found by its words, and what
// is reported counts it. Control: where everything is refused nothing is passed
// over, and the former vectors go on to answer.
func TestH4_RefusedText(t *testing.T) {
	t.Parallel()
	b, old := many(t)
	saveText(t, b.operator(), "withheld 敏感词")
	embedded(t, b)
	other := &meaning{name: "another", refuse: func(string) bool { return true }}
	var log strings.Builder
	both := b.again(t, engine.Options{Embedder: other, Former: old, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ask := func(when string, asked, quiet *meaning) {
		t.Helper()
		n := quiet.asked.Load()
		got, degraded := found(t, both.operator(), "where is her home, "+when+"?")
		want(t, when, got, "I live in Bergen")
		want(t, when+", degraded", degraded)
		if quiet.asked.Load() != n {
			t.Errorf("%s: another model was asked", when)
		}
	}
	ask("before", old, other)
	embedded(t, both)
	if n := both.vectorsOf(t, "another/32"); n != 0 || log.Len() > 0 {
		t.Errorf("control: %d vectors, %s", n, log.String())
	}
	ask("control", old, other)
	other.refuse = func(text string) bool { return strings.Contains(text, "withheld") }
	page, err := both.operator().ListJobs(t.Context(), yiku.ListJobsRequest{State: yiku.JobParked})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("parked jobs: %+v, %v", page.Items, err)
	}
	if _, err := both.operator().ReplayJob(t.Context(), yiku.ReplayJobRequest{ID: page.Items[0].ID}); err != nil {
		t.Fatal(err)
	}
	embedded(t, both)
	if n := both.vectorsOf(t, "another/32"); n != 101 {
		t.Errorf("%d vectors are new", n)
	}
	ask("afterwards", other, old)
	if got, _ := found(t, both.operator(), "withheld"); !slices.Contains(got, "withheld 敏感词") {
		t.Errorf("by words: %q", got)
	}
	if !strings.Contains(log.String(), "refused=1") || strings.Contains(log.String(), "敏感词") {
		t.Errorf("the log says %s", log.String())
	}
}
