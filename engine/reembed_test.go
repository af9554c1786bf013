package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store"
)

// vectorsOf counts ann's vectors of a model.
func (b bench) vectorsOf(t *testing.T, model string) (n int) {
	t.Helper()
	owner, err := yiku.NewOwner("acme", "ann")
	if err != nil {
		t.Fatal(err)
	}
	err = b.store.View(t.Context(), func(r store.Reader) error {
		changes, err := r.Changes(owner, 0, 0)
		if err != nil {
			return err
		}
		var keys []int64
		for _, ch := range changes {
			keys = append(keys, ch.Key)
		}
		have, err := r.Vectors(owner, model, keys)
		n = len(have)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// many are a bench with a hundred memories and one that is looked for, embedded.
func many(t *testing.T) (bench, *meaning) {
	t.Helper()
	b, m := meaningBench(t)
	saveText(t, b.operator(), "I live in Bergen")
	for i := range 100 {
		saveText(t, b.operator(), fmt.Sprintf("note number %d", i))
	}
	embedded(t, b)
	return b, m
}

// TestH4_FormerVectorsAnswer_L103: where the vectors of the same model have
// another size, people are found by the old ones until all of theirs are there,
// then by the new ones; the old ones go when nobody is to be found by them any
// more, and until then the way back is open.
func TestH4_FormerVectorsAnswer_L103(t *testing.T) {
	t.Parallel()
	b, old := many(t)
	other := &meaning{name: "meaning", size: 48}
	both := b.again(t, engine.Options{Embedder: other, Former: old})
	home := func(b bench, when string, asked, quiet *meaning) {
		t.Helper()
		n := quiet.asked.Load()
		got, degraded := found(t, b.operator(), "where is her home, "+when+"?")
		want(t, when, got, "I live in Bergen")
		want(t, when+", degraded", degraded)
		if quiet.asked.Load() != n || asked.asked.Load() == 0 {
			t.Errorf("%s: another model was asked", when)
		}
	}
	home(both, "before", old, other)
	half := false
	other.onText = func(string) {
		if !half {
			half = true
			home(both, "meanwhile", old, other)
		}
	}
	embedded(t, both)
	other.onText = nil
	if n := both.vectorsOf(t, "meaning/48"); !half || n != 101 {
		t.Fatalf("%d vectors are new", n)
	}
	home(both, "afterwards", other, old)
	if err := both.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	back := b.again(t, engine.Options{Embedder: old, Former: other})
	home(back, "on the way back", other, old)
	texts := old.texts.Load()
	embedded(t, back)
	home(back, "back", old, other)
	if old.texts.Load() != texts {
		t.Error("what had its vectors was embedded on the way back")
	}
	alone := b.again(t, engine.Options{Embedder: old})
	if err := alone.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, kept := alone.vectorsOf(t, "meaning/48"), alone.vectorsOf(t, "meaning/32"); n != 0 || kept != 101 {
		t.Errorf("%d vectors of the former model, %d of the present one", n, kept)
	}
}

// TestH4_TendEmbedsAnew: whoever is not in use is embedded anew too.
func TestH4_TendEmbedsAnew(t *testing.T) {
	t.Parallel()
	b, old := many(t)
	both := b.again(t, engine.Options{Embedder: &meaning{name: "another"}, Former: old})
	if err := both.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
	embedded(t, both)
	if n := both.vectorsOf(t, "another/32"); n != 101 {
		t.Errorf("%d vectors are new", n)
	}
}

// TestH4_StoppedWhileEmbeddingAnew: what a stop breaks off goes on afterwards,
// nothing is embedded twice but the batch that was lost, and until all is there
// the old vectors answer.
func TestH4_StoppedWhileEmbeddingAnew(t *testing.T) {
	t.Parallel()
	b, old := many(t)
	other := &meaning{name: "another"}
	n := 0
	other.onText = func(string) {
		if n++; n == 20 {
			other.fails.Store(true)
		}
	}
	both := b.again(t, engine.Options{Embedder: other, Former: old})
	found(t, both.operator(), "where is her home?")
	embedded(t, both)
	if n := both.vectorsOf(t, "another/32"); n == 0 || n == 101 {
		t.Fatalf("%d vectors are new: it was to be broken off", n)
	}
	other.fails.Store(false)
	b.clock.Advance(24 * time.Hour)
	have, again := b.vectorsOf(t, "another/32"), b.again(t, engine.Options{Embedder: other, Former: old})
	got, _ := found(t, again.operator(), "whose home?")
	want(t, "before the rest", got, "I live in Bergen")
	n = 0
	other.onText = func(text string) {
		if strings.HasPrefix(text, "note") || strings.Contains(text, "Bergen") {
			n++
		}
	}
	embedded(t, again)
	if n != 101-have || again.vectorsOf(t, "another/32") != 101 {
		t.Errorf("%d texts were embedded of %d, %d have vectors", n, 101-have, again.vectorsOf(t, "another/32"))
	}
}

// TestE2_ForgetWhileEmbeddingAnew: what is forgotten meanwhile has no vector of
// either model afterwards.
func TestE2_ForgetWhileEmbeddingAnew(t *testing.T) {
	t.Parallel()
	for name, sel := range map[string]yiku.Selector{"all": {All: true}, "some": {Keyword: "Bergen"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, old := many(t)
			other := &meaning{name: "another"}
			once := false
			both := b.again(t, engine.Options{Embedder: other, Former: old})
			other.onText = func(text string) {
				if once || !strings.HasPrefix(text, "note") {
					return
				}
				once = true
				if _, err := both.operator().Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Selector: sel, Reason: "test"}); err != nil {
					t.Error(err)
				}
			}
			found(t, both.operator(), "where is her home?")
			embedded(t, both)
			left := map[string]int{"all": 0, "some": 100}[name]
			if a, z := both.vectorsOf(t, "meaning/32"), both.vectorsOf(t, "another/32"); !once || a != left || z != left {
				t.Errorf("%d and %d vectors, want %d", a, z, left)
			}
			got, _ := found(t, both.operator(), "where is her home?")
			want(t, "found", got)
		})
	}
}

// evicting is an index that drops an owner just before it is searched.
type evicting struct {
	index.Index
	times atomic.Int64 // how often it still does
}

func (x *evicting) Search(ctx context.Context, owner yiku.Owner, q index.Query) (index.Result, error) {
	if x.times.Add(-1) >= 0 {
		if err := x.Drop(ctx, owner); err != nil {
			return index.Result{}, err
		}
	}
	return x.Index.Search(ctx, owner, q)
}

// TestD2_EvictedBeforeTheSearch: a search whose shard goes before it begins is
// done again, and where that does not end it says so instead of finding nothing.
func TestD2_EvictedBeforeTheSearch(t *testing.T) {
	t.Parallel()
	b, m := many(t)
	x := &evicting{Index: memindex.New(nil)}
	s := b.again(t, engine.Options{Embedder: m, Index: x}).operator()
	x.times.Store(3)
	got, degraded := found(t, s, "where is her home?")
	want(t, "found", got, "I live in Bergen")
	want(t, "degraded", degraded)
	x.times.Store(1 << 40)
	got, degraded = found(t, s, "where is her home?")
	want(t, "found while it is always dropped", got)
	want(t, "degraded", degraded, "index_lag")
}

// TestD2_EvictionUnderLoad: people whose shards push each other out of memory
// are found by meaning all the time, while their vectors change to another model.
func TestD2_EvictionUnderLoad(t *testing.T) {
	t.Parallel()
	b, old := meaningBench(t)
	users := []string{"ann", "bob", "cem", "dan"}
	for _, user := range users {
		for _, text := range []string{"I live in " + user + "stad", "note", "I eat noodles"} {
			if _, err := b.operator().SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: user, Content: text}); err != nil {
				t.Fatal(err)
			}
		}
	}
	embedded(t, b)
	x := memindex.New(&memindex.Options{MaxBytes: 1})
	e := b.again(t, engine.Options{Embedder: &meaning{name: "another", size: 40}, Former: old, Index: x})
	s := e.operator()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 25 {
				user := users[(i+j)%len(users)]
				res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: user, Query: "where is the home?"})
				if err != nil || len(res.Degraded) > 0 || len(res.Items) == 0 || res.Items[0].Memory.Content != "I live in "+user+"stad" {
					t.Errorf("%s: %+v, %v", user, res, err)
					return
				}
			}
		})
	}
	if err := e.Tend(t.Context()); err != nil {
		t.Error(err)
	}
	if err := e.RunJobs(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
}
