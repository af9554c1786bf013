package indextest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
)

// lived are documents of all sorts, with vectors.
func lived() []index.Doc {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	doc := func(d index.Doc, n int, fields map[string]any) index.Doc {
		d.At, d.Vector = at.AddDate(0, 0, n), make([]float32, 8)
		d.Vector[n%8] = 1
		d.Fields = func(field string) (any, bool) { v, ok := fields[field]; return v, ok }
		d.Metadata = yiku.Metadata{"n": float64(n), "place": []string{"上海", "Lisbon"}[n%2]}
		return d
	}
	return []index.Doc{
		doc(text(1, "Prefers tea"), 1, map[string]any{"type": "preference", "importance": .5, "topics": []string{"drink"}}),
		doc(text(2, "住在上海"), 2, map[string]any{"type": "profile", "importance": .9, "created_at": at}),
		doc(message(3, 7, "we moved to Lisbon"), 3, map[string]any{"role": "user", "pinned": false}),
		doc(message(4, 7, "我喜欢喝茶"), 4, map[string]any{"role": "user", "pinned": true}),
		doc(message(5, 7, "noted"), 5, map[string]any{"role": "assistant"}),
	}
}

// rebuilder is the ability under test; an index without it has nothing to show.
func (k *kit) rebuilder(t *testing.T) index.Rebuilder {
	t.Helper()
	r, ok := k.x.(index.Rebuilder)
	if !ok {
		t.Skip("the index cannot be built anew beside itself")
	}
	return r
}

// anew builds a copy of an owner that holds documents.
func anew(t *testing.T, r index.Rebuilder, o yiku.Owner, to index.Position, docs []index.Doc) index.Copy {
	t.Helper()
	c, err := r.Rebuild(o)
	if err != nil {
		t.Fatalf("Rebuild: %v", err)
	}
	if err := c.Apply(context.Background(), index.Batch{To: to, Upserts: docs}); err != nil {
		t.Fatalf("Apply to a copy: %v", err)
	}
	return c
}

// testCompare: each way of differing is found, by name, and nothing else is.
func testCompare(t *testing.T, k *kit) {
	r, o := k.rebuilder(t), Owner(t, "t", "u")
	memory, said := func(key int64) index.Ref { return index.Ref{Key: key} }, func(key int64) index.Ref { return index.Ref{Kind: index.Message, Key: key} }
	differs := func(ref index.Ref, f index.Fault) index.Difference { return index.Difference{Ref: ref, Fault: f} }
	change := func(n int, edit func(*index.Doc)) []index.Doc {
		d := lived()[n]
		edit(&d)
		return []index.Doc{d}
	}
	for name, c := range map[string]struct {
		upserts []index.Doc
		deletes []index.Ref
		want    []index.Difference
	}{
		"nothing":           {},
		"the same again":    {upserts: lived()},
		"dropped":           {deletes: []index.Ref{memory(2), said(4)}, want: []index.Difference{differs(memory(2), index.FaultMissing), differs(said(4), index.FaultMissing)}},
		"extra":             {upserts: []index.Doc{message(9, 7, "ghost 幽灵")}, want: []index.Difference{differs(said(9), index.FaultExtra)}},
		"other words":       {upserts: change(1, func(d *index.Doc) { d.Text = "住在北京" }), want: []index.Difference{differs(memory(2), index.FaultStale)}},
		"a word twice":      {upserts: change(0, func(d *index.Doc) { d.Text += " tea" }), want: []index.Difference{differs(memory(1), index.FaultStale)}},
		"another time":      {upserts: change(0, func(d *index.Doc) { d.At = d.At.Add(time.Hour) }), want: []index.Difference{differs(memory(1), index.FaultStale)}},
		"another session":   {upserts: change(2, func(d *index.Doc) { d.Session = 8 }), want: []index.Difference{differs(said(3), index.FaultStale)}},
		"no fields":         {upserts: change(3, func(d *index.Doc) { d.Fields = nil }), want: []index.Difference{differs(said(4), index.FaultStale)}},
		"another field":     {upserts: change(0, func(d *index.Doc) { d.Fields = func(string) (any, bool) { return nil, false } }), want: []index.Difference{differs(memory(1), index.FaultStale)}},
		"other metadata":    {upserts: change(3, func(d *index.Doc) { d.Metadata = yiku.Metadata{"n": 4.5} }), want: []index.Difference{differs(said(4), index.FaultStale)}},
		"another vector":    {upserts: change(2, func(d *index.Doc) { d.Vector = []float32{0, 0, 0, .6, .8, 0, 0, 0} }), want: []index.Difference{differs(said(3), index.FaultVector)}},
		"no vector":         {upserts: change(4, func(d *index.Doc) { d.Vector = nil }), want: []index.Difference{differs(said(5), index.FaultVector)}},
		"words and vectors": {upserts: change(4, func(d *index.Doc) { d.Text, d.Vector = "再说", nil }), want: []index.Difference{differs(said(5), index.FaultStale)}},
	} {
		o := Owner(t, "t", name)
		k.apply(t, o, lived())
		k.apply(t, o, c.upserts, c.deletes...)
		spare := anew(t, r, o, at(2), lived())
		got, err := spare.Compare(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.Differences); diff != "" || got.At != at(2) || got.Sums {
			t.Errorf("%s: at %v, sums %v (-want +got):\n%s", name, got.At, got.Sums, diff)
		}
		if installed, err := spare.Install(context.Background()); !installed || err != nil {
			t.Errorf("%s: installed %v, %v", name, installed, err)
		}
		if got, err = anew(t, r, o, at(2), lived()).Compare(context.Background()); err != nil || len(got.Differences) > 0 || got.Sums || got.Documents != 5 || got.Vectors != 5 {
			t.Errorf("%s: once it is in place: %+v, %v", name, got, err)
		}
		k.apply(t, o, []index.Doc{text(10, "afterwards")}) // it goes on from the copy's position
		k.finds(t, o, "afterwards", 10)
		k.finds(t, o, "ghost")
	}
	spare := anew(t, r, o, at(1), lived())
	if got, err := spare.Compare(context.Background()); err != nil || !cmp.Equal(got, index.Comparison{}) {
		t.Errorf("an owner that is not held: %+v, %v", got, err)
	}
	if installed, err := spare.Install(context.Background()); installed || err != nil {
		t.Errorf("an owner that is not held: installed %v, %v", installed, err)
	}
	if _, err := r.Rebuild(yiku.Owner{}); err == nil {
		t.Error("the zero owner was taken")
	}
}

// testInstall: searches see what was held or the copy, each whole, and writers
// who meet a copy are told where it stands.
func testInstall(t *testing.T, k *kit) {
	r, o := k.rebuilder(t), Owner(t, "t", "u")
	const n = 40
	var docs []index.Doc
	for i := range int64(n) {
		docs = append(docs, text(i+1, "red thing"))
	}
	k.apply(t, o, docs)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				found, err := k.x.Search(context.Background(), o, index.Query{Text: "red", K: 2 * n})
				if err != nil || len(found.Candidates) != n {
					t.Errorf("a search saw %d of %d documents, %v", len(found.Candidates), n, err)
					return
				}
			}
		})
	}
	for range 30 {
		spare := anew(t, r, o, at(1), docs)
		if got, err := spare.Compare(context.Background()); err != nil || len(got.Differences) > 0 {
			t.Errorf("%+v, %v", got, err)
		}
		if installed, err := spare.Install(context.Background()); !installed || err != nil {
			t.Errorf("installed %v, %v", installed, err)
		}
	}
	close(done)
	wg.Wait()
}
