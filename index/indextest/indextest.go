// Package indextest is the conformance suite of index.Index: what every
// implementation must do, whatever it is made of.
package indextest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
)

// Options say what an implementation claims.
type Options struct {
	// Supported reports the fields that the index can filter by; conditions on
	// others it relaxes. nil: all fields.
	Supported func(field string) bool
}

// Run runs the suite on indexes made by open, each of which starts empty and is
// closed by the suite.
func Run(t *testing.T, open func(t *testing.T) index.Index, options *Options) {
	if options == nil {
		options = &Options{}
	}
	if options.Supported == nil {
		options.Supported = func(string) bool { return true }
	}
	tests := map[string]func(*testing.T, *kit){
		"Position":    testPosition,
		"Owner":       testOwner,
		"Cancelled":   testCancelled,
		"Replace":     testReplace,
		"Delete":      testDelete,
		"Anew":        testAnew,
		"Kinds":       testKinds,
		"MoreAndK":    testMoreAndK,
		"Session":     testSession,
		"SessionEdit": testSessionEdit,
		"SessionGap":  testSessionGap,
		"Times":       testTimes,
		"Drop":        testDrop,
		"Languages":   testLanguages,
		"Scale":       testScale,
		"Filter":      testFilter,
		"Metadata":    testMetadata,
		"Atomic":      testAtomic,
		"Concurrent":  testConcurrent,
		"Compare":     testCompare,
		"Install":     testInstall,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := open(t)
			t.Cleanup(func() {
				if err := x.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			test(t, &kit{x: x, supported: options.Supported})
		})
	}
}

// kit drives one index.
type kit struct {
	x         index.Index
	supported func(string) bool
}

// TB is what *testing.T and *rapid.T have in common here.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Owner returns an owner for tests.
func Owner(tb TB, tenant, user string) yiku.Owner {
	tb.Helper()
	o, err := yiku.NewOwner(tenant, user)
	if err != nil {
		tb.Fatalf("NewOwner: %v", err)
	}
	return o
}

// at is a position of the tests' store.
func at(seq int64) index.Position { return index.Position{Generation: "g", Seq: seq} }

// text makes a memory's document without a session.
func text(key int64, s string) index.Doc {
	return index.Doc{Ref: index.Ref{Kind: index.Memory, Key: key}, Text: s}
}

// message makes a message's document.
func message(key, session int64, s string) index.Doc {
	return index.Doc{Ref: index.Ref{Kind: index.Message, Key: key}, Session: session, Text: s}
}

// apply applies the next batch, whatever the position is.
func (k *kit) apply(tb TB, o yiku.Owner, upserts []index.Doc, deletes ...index.Ref) {
	tb.Helper()
	from, err := k.x.Position(context.Background(), o)
	if err != nil {
		tb.Fatalf("Position: %v", err)
	}
	batch := index.Batch{From: from, To: at(from.Seq + 1), Upserts: upserts, Deletes: deletes}
	if err := k.x.Apply(context.Background(), o, batch); err != nil {
		tb.Fatalf("Apply: %v", err)
	}
}

func (k *kit) search(tb TB, o yiku.Owner, q index.Query) index.Result {
	tb.Helper()
	if q.K == 0 {
		q.K = 1000
	}
	r, err := k.x.Search(context.Background(), o, q)
	if err != nil {
		tb.Fatalf("Search: %v", err)
	}
	for _, c := range r.Candidates {
		if c.Lexical > r.MaxLexical*1.0001 {
			tb.Fatalf("a score of %v is above the highest possible, %v", c.Lexical, r.MaxLexical)
		}
	}
	return r
}

// keys returns the keys of a result's candidates, ascending.
func keys(r index.Result) []int64 {
	out := []int64{}
	for _, c := range r.Candidates {
		out = append(out, c.Key)
	}
	slices.Sort(out)
	return out
}

func (k *kit) finds(tb TB, o yiku.Owner, query string, want ...int64) {
	tb.Helper()
	if want == nil {
		want = []int64{}
	}
	if diff := cmp.Diff(want, keys(k.search(tb, o, index.Query{Text: query}))); diff != "" {
		tb.Fatalf("search for %q (-want +got):\n%s", query, diff)
	}
}

func testPosition(t *testing.T, k *kit) {
	ctx, o := context.Background(), Owner(t, "t", "u")
	expect := func(want index.Position) {
		t.Helper()
		got, err := k.x.Position(ctx, o)
		if err != nil || got != want {
			t.Fatalf("Position = %v, %v; want %v", got, err, want)
		}
	}
	expect(index.Position{})
	if err := k.x.Apply(ctx, o, index.Batch{From: at(3), To: at(4)}); !errors.Is(err, index.ErrPosition) {
		t.Fatalf("Apply from a position that an unknown owner does not have: %v, want ErrPosition", err)
	}
	expect(index.Position{})
	if err := k.x.Apply(ctx, o, index.Batch{To: at(5), Upserts: []index.Doc{text(1, "tea")}}); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	expect(at(5))
	for _, from := range []index.Position{at(4), at(6), {Generation: "other", Seq: 5}} {
		err := k.x.Apply(ctx, o, index.Batch{From: from, To: at(9), Upserts: []index.Doc{text(2, "coffee")}})
		if !errors.Is(err, index.ErrPosition) {
			t.Fatalf("Apply from %v: %v, want ErrPosition", from, err)
		}
	}
	expect(at(5))
	k.finds(t, o, "coffee")
	if err := k.x.Apply(ctx, o, index.Batch{From: at(5), To: at(9), Upserts: []index.Doc{text(2, "coffee")}}); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	expect(at(9))
	k.finds(t, o, "coffee", 2)
	k.finds(t, o, "tea", 1)
}

func testOwner(t *testing.T, k *kit) {
	ctx := context.Background()
	owners := []yiku.Owner{Owner(t, "t", "u"), Owner(t, "t", "v"), Owner(t, "s", "u")}
	shared, err := yiku.SharedOwner("t")
	if err != nil {
		t.Fatal(err)
	}
	owners = append(owners, shared)
	for i, o := range owners {
		k.apply(t, o, []index.Doc{text(int64(i+1), "the same secret word")})
	}
	for i, o := range owners {
		k.finds(t, o, "secret", int64(i+1))
	}
	k.apply(t, owners[0], nil, index.Ref{Kind: index.Memory, Key: 2})
	k.finds(t, owners[1], "secret", 2)

	var zero yiku.Owner
	if _, err := k.x.Position(ctx, zero); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("Position of the zero owner: %v, want ErrInvalid", err)
	}
	if err := k.x.Apply(ctx, zero, index.Batch{To: at(1)}); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("Apply for the zero owner: %v, want ErrInvalid", err)
	}
	if _, err := k.x.Search(ctx, zero, index.Query{Text: "secret", K: 1}); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("Search for the zero owner: %v, want ErrInvalid", err)
	}
	if err := k.x.Drop(ctx, zero); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("Drop of the zero owner: %v, want ErrInvalid", err)
	}
}

func testCancelled(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{text(1, "tea")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.x.Apply(ctx, o, index.Batch{From: at(1), To: at(2), Upserts: []index.Doc{text(2, "tea")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply with a cancelled context: %v", err)
	}
	if _, err := k.x.Search(ctx, o, index.Query{Text: "tea", K: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search with a cancelled context: %v", err)
	}
	k.finds(t, o, "tea", 1)
	if p, _ := k.x.Position(context.Background(), o); p != at(1) {
		t.Errorf("Position = %v, want that before the cancelled Apply", p)
	}
}

func testReplace(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{text(1, "green tea"), text(2, "black coffee")})
	k.apply(t, o, []index.Doc{text(1, "red wine")})
	k.finds(t, o, "tea")
	k.finds(t, o, "wine", 1)
	k.apply(t, o, []index.Doc{text(2, "one"), text(2, "two"), text(2, "three")})
	k.finds(t, o, "two")
	k.finds(t, o, "three", 2)
	k.apply(t, o, []index.Doc{message(2, 7, "four")})
	k.finds(t, o, "three", 2)
	k.finds(t, o, "four", 2)
}

func testDelete(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	var docs []index.Doc
	for i := range int64(300) {
		docs = append(docs, text(i+1, "common "+name(i+1)))
	}
	k.apply(t, o, docs)
	var gone []index.Ref
	var left []int64
	for i := range int64(300) {
		if i%3 == 0 {
			left = append(left, i+1)
			continue
		}
		gone = append(gone, docs[i].Ref)
	}
	k.apply(t, o, nil, append(gone, index.Ref{Kind: index.Memory, Key: 999})...)
	k.finds(t, o, "common", left...)
	k.finds(t, o, name(2))
	k.finds(t, o, name(4), 4)
	// In one batch a document is deleted before it is written.
	k.apply(t, o, []index.Doc{text(2, "common renewed")}, index.Ref{Kind: index.Memory, Key: 2})
	k.finds(t, o, "renewed", 2)
}

func testAnew(t *testing.T, k *kit) {
	ctx, o := context.Background(), Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{text(1, "tea"), text(2, "tea")})
	if err := k.x.Apply(ctx, o, index.Batch{To: index.Position{Generation: "h", Seq: 1}, Upserts: []index.Doc{text(3, "tea")}}); err != nil {
		t.Fatalf("Apply from the zero position: %v", err)
	}
	k.finds(t, o, "tea", 3)
	if p, _ := k.x.Position(ctx, o); p != (index.Position{Generation: "h", Seq: 1}) {
		t.Errorf("Position = %v", p)
	}
}

func testKinds(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{text(1, "tea"), message(2, 1, "tea")})
	for _, test := range []struct {
		kinds []index.Kind
		want  []int64
	}{
		{nil, []int64{1, 2}},
		{[]index.Kind{index.Memory}, []int64{1}},
		{[]index.Kind{index.Message}, []int64{2}},
		{[]index.Kind{index.Message, index.Memory}, []int64{1, 2}},
	} {
		got := keys(k.search(t, o, index.Query{Text: "tea", Kinds: test.kinds}))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("kinds %v (-want +got):\n%s", test.kinds, diff)
		}
	}
}

func testMoreAndK(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	var docs []index.Doc
	for i := range int64(50) {
		docs = append(docs, text(i+1, "tea "+strings.Repeat("filler words ", int(i))))
	}
	k.apply(t, o, docs)
	for _, n := range []int{1, 7, 49, 50, 51} {
		r := k.search(t, o, index.Query{Text: "tea", K: n})
		if len(r.Candidates) != min(n, 50) || r.More != (n < 50) {
			t.Errorf("K %d: %d candidates, more %v", n, len(r.Candidates), r.More)
		}
		want := []int64{}
		for i := range min(n, 50) {
			want = append(want, int64(i+1))
		}
		if diff := cmp.Diff(want, keys(r)); diff != "" {
			t.Errorf("K %d does not give the best, the shortest texts (-want +got):\n%s", n, diff)
		}
	}
	if r := k.search(t, o, index.Query{Text: ""}); len(r.Candidates) != 0 {
		t.Errorf("no text and no vector: %d candidates", len(r.Candidates))
	}
}

func byKey(r index.Result) map[int64]index.Candidate {
	out := make(map[int64]index.Candidate)
	for _, c := range r.Candidates {
		out[c.Key] = c
	}
	return out
}

func testSession(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{
		message(1, 1, "we planted an apple tree"), message(2, 1, "how nice"), message(3, 1, "it grows fast"), message(4, 1, "good"),
		message(5, 2, "the apple tree stands alone"), message(6, 3, "nothing of it here"), message(7, 3, "nor here"),
		text(8, "apple tree"),
	})
	got := byKey(k.search(t, o, index.Query{Text: "apple tree"}))
	if diff := cmp.Diff([]int64{1, 2, 5, 8}, keys(k.search(t, o, index.Query{Text: "apple tree"}))); diff != "" {
		t.Fatalf("candidates hold a term or stand beside one that does (-want +got):\n%s", diff)
	}
	if c := got[2]; c.Lexical != 0 || c.Neighbor != got[1].Lexical || c.Context != got[1].Context || c.Session != 1 {
		t.Errorf("a document beside a hit: %+v; the hit %+v", c, got[1])
	}
	if c := got[1]; c.Lexical <= 0 || c.Context <= 0 || c.Neighbor != 0 {
		t.Errorf("a hit without a neighbour that is one: %+v", c)
	}
	if c := got[8]; c.Context != 0 || c.Neighbor != 0 || c.Session != 0 {
		t.Errorf("a document without a session: %+v", c)
	}
}

func testSessionEdit(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{message(10, 1, "first"), message(30, 1, "third"), message(40, 1, "fourth")})
	k.apply(t, o, []index.Doc{message(20, 1, "second")})
	k.finds(t, o, "second", 10, 20, 30)
	k.apply(t, o, nil, index.Ref{Kind: index.Message, Key: 20})
	k.finds(t, o, "second")
	k.finds(t, o, "first", 10, 30)
	k.apply(t, o, []index.Doc{message(30, 1, "third anew")})
	k.finds(t, o, "anew", 10, 30, 40)
	k.apply(t, o, nil, index.Ref{Kind: index.Message, Key: 40})
	k.finds(t, o, "third", 10, 30)
}

func testDrop(t *testing.T, k *kit) {
	ctx, o, other := context.Background(), Owner(t, "t", "u"), Owner(t, "t", "v")
	k.apply(t, o, []index.Doc{text(1, "tea")})
	k.apply(t, other, []index.Doc{text(2, "tea")})
	for range 2 {
		if err := k.x.Drop(ctx, o); err != nil {
			t.Fatalf("Drop: %v", err)
		}
	}
	k.finds(t, o, "tea")
	k.finds(t, other, "tea", 2)
	if p, err := k.x.Position(ctx, o); err != nil || p != (index.Position{}) {
		t.Errorf("Position after Drop = %v, %v; want zero", p, err)
	}
	if err := k.x.Apply(ctx, o, index.Batch{From: at(1), To: at(2)}); !errors.Is(err, index.ErrPosition) {
		t.Errorf("Apply goes on after Drop: %v, want ErrPosition", err)
	}
	k.apply(t, o, []index.Doc{text(3, "tea")})
	k.finds(t, o, "tea", 3)
}

// testLanguages proves D2 for both languages: two-character words, stems,
// identifiers whole and in parts, forms and widths.
func testLanguages(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{
		text(1, "我住在上海浦东"), text(2, "她上周去海边度假"), text(3, "We are planning a trip to Kyoto"),
		text(4, "call getUserName with error_code_42"), text(5, "电话 13800138000，版本 v1.2.3"), text(6, "ＡＢＣ公司的合同在2024-03-15签"),
	})
	for query, want := range map[string]int64{
		"上海": 1, "度假": 2, "plans": 3, "KYOTO": 3, "user": 4, "getusername": 4, "error_code_42": 4, "42": 4,
		"13800138000": 5, "v1.2.3": 5, "abc": 6, "合同": 6, "2024-03-15": 6,
	} {
		r := k.search(t, o, index.Query{Text: query})
		best := index.Candidate{}
		for _, c := range r.Candidates {
			if c.Lexical > best.Lexical {
				best = c
			}
		}
		if best.Key != want {
			t.Errorf("search for %q found %d first, want %d", query, best.Key, want)
		}
	}
	k.finds(t, o, "天气预报")
	k.finds(t, o, "什么是的")
}

// testScale checks the units of scores: a term that no document holds counts 1
// in MaxLexical, and a query about nothing known scores low against it.
func testScale(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	k.apply(t, o, []index.Doc{text(1, "tea with milk"), text(2, "coffee")})
	r := k.search(t, o, index.Query{Text: "zebra quagga okapi"})
	if len(r.Candidates) != 0 || r.MaxLexical < 2.99 || r.MaxLexical > 3.01 {
		t.Errorf("three unknown terms: %d candidates, highest %v, want 0 and 3", len(r.Candidates), r.MaxLexical)
	}
	r = k.search(t, o, index.Query{Text: "tea"})
	if r.MaxLexical <= 0 || r.MaxLexical > 1 {
		t.Errorf("one known term: highest %v, want at most 1", r.MaxLexical)
	}
}

func testAtomic(t *testing.T, k *kit) {
	const n, rounds = 40, 30
	o := Owner(t, "t", "u")
	docs := func(word string) (out []index.Doc) {
		for i := range int64(n) {
			out = append(out, text(i+1, word+" thing"))
		}
		return out
	}
	k.apply(t, o, docs("red"))
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
				for _, word := range []string{"red", "blue"} {
					r, err := k.x.Search(context.Background(), o, index.Query{Text: word, K: 2 * n})
					if err != nil || len(r.Candidates) != 0 && len(r.Candidates) != n {
						t.Errorf("a search saw %d of %d documents, %v", len(r.Candidates), n, err)
						return
					}
				}
			}
		})
	}
	for i := range rounds {
		k.apply(t, o, docs([]string{"blue", "red"}[i%2]))
	}
	close(done)
	wg.Wait()
}

func testConcurrent(t *testing.T, k *kit) {
	ctx := context.Background()
	owners := []yiku.Owner{Owner(t, "t", "a"), Owner(t, "t", "b")}
	var wg sync.WaitGroup
	for i, o := range owners {
		wg.Go(func() { // the writer goes on from wherever the owner stands
			for n := range int64(200) {
				from, err := k.x.Position(ctx, o)
				if err != nil {
					t.Errorf("Position: %v", err)
					return
				}
				err = k.x.Apply(ctx, o, index.Batch{From: from, To: at(from.Seq + 1), Upserts: []index.Doc{message(n+1, n%5+1, []string{"alpha", "beta"}[i]+" says hello")}})
				if err != nil && !errors.Is(err, index.ErrPosition) {
					t.Errorf("Apply: %v", err)
					return
				}
			}
		})
		wg.Go(func() {
			for range 300 {
				r, err := k.x.Search(ctx, o, index.Query{Text: []string{"beta", "alpha"}[i], K: 10})
				if err != nil || len(r.Candidates) > 0 {
					t.Errorf("another owner's words gave %d candidates, %v", len(r.Candidates), err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			if err := k.x.Drop(ctx, owners[1]); err != nil {
				t.Errorf("Drop: %v", err)
			}
		}
	})
	wg.Wait()
	k.finds(t, owners[0], "hello", seq(200)...)
}

// name returns a word of its own for a number: qaab, qaac, … without a stem's ending.
func name(n int64) string {
	return "q" + string([]byte{'a' + byte(n/400), 'a' + byte(n/20%20), 'a' + byte(n%20)}) + "x"
}

func seq(n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i) + 1
	}
	return out
}

// testMetadata has more keys and larger values than an index may keep columns
// for: what it cannot decide it must let through.
func testMetadata(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	var docs []index.Doc
	for i := range int64(200) {
		d := text(i+1, "tea")
		d.Metadata = yiku.Metadata{fmt.Sprintf("key%d", i+1): "v", "large": strings.Repeat("x", int(i)*20)}
		docs = append(docs, d)
	}
	k.apply(t, o, docs)
	for _, f := range []yiku.Filter{
		{Field: "metadata.key150", Op: yiku.OpEq, Value: "v"},
		{Not: &yiku.Filter{Field: "metadata.key150", Op: yiku.OpNe, Value: "v"}},
		{Field: "metadata.large", Op: yiku.OpEq, Value: strings.Repeat("x", 149*20)},
	} {
		if got := keys(k.search(t, o, index.Query{Text: "tea", Filter: &f})); !slices.Contains(got, 150) {
			t.Errorf("filter %+v lost the document that matches it", f)
		}
	}
}

// testFilter compares with brute force: what is found is what matches the
// filter relaxed to the fields that the index claims (D1).
func testFilter(t *testing.T, k *kit) {
	users := 0
	rapid.Check(t, func(r *rapid.T) {
		users++
		o := Owner(r, "t", fmt.Sprintf("u%d", users))
		docs := rapid.SliceOfN(DocGen(), 1, 30).Draw(r, "docs")
		var upserts []index.Doc
		for i, d := range docs {
			doc := text(int64(i)+1, "tea")
			doc.Fields, doc.Metadata = d.Fields, d.Metadata
			upserts = append(upserts, doc)
		}
		half := len(upserts) / 2
		k.apply(r, o, upserts[:half])
		k.apply(r, o, upserts[half:])
		if half > 0 {
			k.apply(r, o, nil, upserts[0].Ref)
		}
		filter := FilterGen(3).Draw(r, "filter")
		if err := filter.Validate("filter"); err != nil {
			r.Fatalf("the generator made an invalid filter: %v", err)
		}
		relaxed := index.Relax(&filter, k.supported)
		want := []int64{}
		for i, d := range docs {
			if (i > 0 || half == 0) && relaxed.Match(d.Get) {
				want = append(want, int64(i)+1)
			}
		}
		got := keys(k.search(r, o, index.Query{Text: "tea", Filter: &filter}))
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("filter (-want +got):\n%s", diff)
		}
	})
}
