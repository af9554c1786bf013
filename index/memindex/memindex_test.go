package memindex_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/indextest"
	"github.com/yiku-ai/yiku/index/memindex"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(*testing.T) index.Index { return memindex.New(nil) },
		&indextest.Options{Supported: func(field string) bool { return field != "id" && field != "content" }})
}

func pos(seq int64) index.Position { return index.Position{Generation: "g", Seq: seq} }

func apply(tb indextest.TB, x *memindex.Index, o yiku.Owner, from int64, docs []index.Doc, deletes ...index.Ref) {
	tb.Helper()
	batch := index.Batch{From: pos(from), To: pos(from + 1), Upserts: docs, Deletes: deletes}
	if from == 0 {
		batch.From = index.Position{}
	}
	if err := x.Apply(context.Background(), o, batch); err != nil {
		tb.Fatalf("Apply: %v", err)
	}
}

// search returns the candidates in the order of their keys.
func search(tb indextest.TB, x *memindex.Index, o yiku.Owner, query string) index.Result {
	tb.Helper()
	r, err := x.Search(context.Background(), o, index.Query{Text: query, K: 1000})
	if err != nil {
		tb.Fatalf("Search: %v", err)
	}
	slices.SortFunc(r.Candidates, func(a, b index.Candidate) int { return cmp.Compare(a.Key, b.Key) })
	return r
}

// TestBuildDoesNotMatter: a shard that grew message by message, with edits and
// deletions, scores like one that was loaded at once.
func TestBuildDoesNotMatter(t *testing.T) {
	t.Parallel()
	vocabulary := []string{"tea ", "coffee ", "上海", "茶", "Lisbon ", "trip ", "42 "}
	o := indextest.Owner(t, "t", "u")
	rapid.Check(t, func(r *rapid.T) {
		grown, state, seq := memindex.New(nil), map[int64]index.Doc{}, int64(0)
		apply(r, grown, o, 0, nil)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			seq++
			key := rapid.Int64Range(1, 40).Draw(r, "key")
			if rapid.IntRange(0, 3).Draw(r, "delete") == 0 {
				delete(state, key)
				apply(r, grown, o, seq, nil, index.Ref{Kind: index.Message, Key: key})
				continue
			}
			d := index.Doc{Ref: index.Ref{Kind: index.Message, Key: key}, Session: rapid.Int64Range(0, 3).Draw(r, "session"),
				Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(r, "text"), "")}
			state[key] = d
			apply(r, grown, o, seq, []index.Doc{d})
		}
		var docs []index.Doc
		for _, d := range state {
			docs = append(docs, d)
		}
		slices.SortFunc(docs, func(a, b index.Doc) int { return cmp.Compare(a.Key, b.Key) })
		loaded := memindex.New(nil)
		apply(r, loaded, o, 0, docs)
		for _, query := range []string{"tea in Lisbon", "上海的茶", "42 coffee trip"} {
			if diff := gocmp.Diff(search(r, loaded, o, query), search(r, grown, o, query), cmpopts.IgnoreFields(index.Result{}, "At"), cmpopts.EquateApprox(1e-4, 1e-5), cmpopts.EquateEmpty()); diff != "" {
				r.Fatalf("%q (-loaded +grown):\n%s", query, diff)
			}
		}
	})
}

// TestDeletesAreForgotten: after many deletions the shard takes no more memory
// than what is left needs.
func TestDeletesAreForgotten(t *testing.T) {
	t.Parallel()
	o := indextest.Owner(t, "t", "u")
	var docs []index.Doc
	for i := range int64(2000) {
		docs = append(docs, index.Doc{Ref: index.Ref{Kind: index.Memory, Key: i + 1}, Text: fmt.Sprintf("thing number %d", i),
			Fields: func(field string) (any, bool) { return fmt.Sprint("subject ", i), field == "subject" }})
	}
	x, small := memindex.New(nil), memindex.New(nil)
	apply(t, x, o, 0, docs)
	apply(t, small, o, 0, docs[:100])
	var gone []index.Ref
	for _, d := range docs[100:] {
		gone = append(gone, d.Ref)
	}
	apply(t, x, o, 1, nil, gone...)
	if x.Bytes() > small.Bytes()*3/2 {
		t.Errorf("%d bytes after deletions, %d for what is left", x.Bytes(), small.Bytes())
	}
	if n := len(search(t, x, o, "thing").Candidates); n != 100 {
		t.Errorf("%d documents left, want 100", n)
	}
}

// TestEviction: the shard unused for the longest time goes first, the one in
// use stays however large.
func TestEviction(t *testing.T) {
	t.Parallel()
	docs := docsOf(corpus(200, 30, false))
	one := memindex.New(nil)
	a, b, c := indextest.Owner(t, "t", "a"), indextest.Owner(t, "t", "b"), indextest.Owner(t, "t", "c")
	apply(t, one, a, 0, docs)
	x := memindex.New(&memindex.Options{MaxBytes: one.Bytes() * 5 / 2})
	apply(t, x, a, 0, docs)
	apply(t, x, b, 0, docs)
	search(t, x, a, "anything")
	apply(t, x, c, 0, docs)
	for owner, want := range map[yiku.Owner]index.Position{a: pos(1), b: {}, c: pos(1)} {
		if got, err := x.Position(context.Background(), owner); err != nil || got != want {
			t.Errorf("position of %s: %v, %v; want %v", owner.User(), got, err, want)
		}
	}
	tiny := memindex.New(&memindex.Options{MaxBytes: 1})
	apply(t, tiny, a, 0, docs)
	apply(t, tiny, a, 1, docs[:1])
	if got, _ := tiny.Position(context.Background(), a); got != pos(2) {
		t.Errorf("the one shard in use has gone: %v", got)
	}
}

// TestD2_HeldShardsStay: what is held is not dropped for room, and is again
// when it is released. Control: what is not held goes at once.
func TestD2_HeldShardsStay(t *testing.T) {
	t.Parallel()
	docs := docsOf(corpus(20, 30, false))
	a, b, c := indextest.Owner(t, "t", "a"), indextest.Owner(t, "t", "b"), indextest.Owner(t, "t", "c")
	x := memindex.New(&memindex.Options{MaxBytes: 1})
	held := func(when string, owner yiku.Owner, want bool) {
		t.Helper()
		if got, err := x.Position(context.Background(), owner); err != nil || (got != index.Position{}) != want {
			t.Errorf("%s: position of %s: %v, %v", when, owner.User(), got, err)
		}
	}
	first, second := x.Hold(a), x.Hold(a)
	apply(t, x, a, 0, docs)
	apply(t, x, b, 0, docs)
	apply(t, x, c, 0, docs)
	held("while it is held", a, true)
	held("not held", b, false)
	first()
	held("held once more", a, true)
	second()
	held("the one in use last", a, true)
	held("beside it", c, false)
	apply(t, x, b, 0, docs)
	held("not held any more", a, false)
}

// TestSearchAllocates: a search allocates for its candidates and its query, not
// for the shard's documents.
func TestSearchAllocates(t *testing.T) {
	o := indextest.Owner(t, "t", "u")
	texts := corpus(5000, 30, false)
	x := memindex.New(nil)
	apply(t, x, o, 0, docsOf(texts))
	filter := &yiku.Filter{And: []yiku.Filter{{Field: "type", Op: yiku.OpEq, Value: "fact"}, {Field: "importance", Op: yiku.OpGte, Value: .3}}}
	n := testing.AllocsPerRun(20, func() {
		if _, err := x.Search(context.Background(), o, index.Query{Text: texts[3], Filter: filter, K: 50}); err != nil {
			t.Fatal(err)
		}
	})
	if n > 100 {
		t.Errorf("%v allocations a search", n)
	}
}

// TestLongQuery: the longest queries, and ones made of every word there is,
// still find what they are about.
func TestLongQuery(t *testing.T) {
	t.Parallel()
	o := indextest.Owner(t, "t", "u")
	texts := corpus(3000, 30, false)
	docs := docsOf(texts)
	docs[1234].Text = "the zeppelin museum 飞艇博物馆"
	x := memindex.New(nil)
	apply(t, x, o, 0, docs)
	for _, query := range []string{
		strings.Join(texts, " OR ") + " zeppelin museum",
		"飞艇博物馆 " + strings.Repeat("什么都没有的一句话。", 2000),
	} {
		best := index.Candidate{}
		for _, c := range search(t, x, o, query).Candidates {
			if c.Lexical > best.Lexical {
				best = c
			}
		}
		if best.Key == 0 {
			t.Errorf("a query of %d bytes found nothing", len(query))
		}
		if strings.HasPrefix(query, "飞") && best.Key != 1235 {
			t.Errorf("found %d first, want 1235", best.Key)
		}
	}
}

// TestL120_NoGrowthWithoutContent: documents that are written again and again,
// or deleted, do not make the index grow: it takes about what one that was
// loaded at once with the same content takes.
func TestL120_NoGrowthWithoutContent(t *testing.T) {
	t.Parallel()
	const docs, rounds = 200, 40
	text := func(i, round int) []index.Doc {
		return []index.Doc{{Ref: index.Ref{Kind: index.Memory, Key: int64(i + 1)}, Text: fmt.Sprintf("喜欢绿茶 tea number %d of round %d", i, round)}}
	}
	o := indextest.Owner(t, "t", "u")
	grown, fresh := memindex.New(nil), memindex.New(nil)
	var seq int64
	for round := range rounds {
		for i := range docs {
			apply(t, grown, o, seq, text(i, round))
			seq++
		}
	}
	for i := range docs {
		apply(t, fresh, o, int64(i), text(i, rounds-1))
	}
	if g, f := grown.Bytes(), fresh.Bytes(); g > 3*f {
		t.Errorf("%d bytes after %d rounds, %d loaded at once", g, rounds, f)
	}
	full := grown.Bytes()
	for i := range docs {
		apply(t, grown, o, seq, nil, index.Ref{Kind: index.Memory, Key: int64(i + 1)})
		seq++
	}
	if left := grown.Bytes(); left > full/2 {
		t.Errorf("%d bytes of %d are left of what was deleted", left, full)
	}
}
