package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store"
)

// indexed is a bench whose index tests can damage.
func indexed(t *testing.T) (bench, *memindex.Index, yiku.Owner) {
	t.Helper()
	b, m := meaningBench(t)
	x := memindex.New(nil)
	b = b.again(t, engine.Options{Embedder: m, Index: x})
	owner, err := yiku.NewOwner("acme", "ann")
	if err != nil {
		t.Fatal(err)
	}
	return b, x, owner
}

// damage changes what an index holds behind the engine's back: its position
// stays where it was.
func damage(t *testing.T, x index.Index, owner yiku.Owner, upserts []index.Doc, deletes ...index.Ref) {
	t.Helper()
	at, err := x.Position(t.Context(), owner)
	if err != nil || at == (index.Position{}) {
		t.Fatalf("position %v, %v", at, err)
	}
	if err := x.Apply(t.Context(), owner, index.Batch{From: at, To: at, Upserts: upserts, Deletes: deletes}); err != nil {
		t.Fatal(err)
	}
}

func verifyIndex(t *testing.T, s yiku.Service, rebuild bool) yiku.VerifyIndexResponse {
	t.Helper()
	res, err := s.VerifyIndex(t.Context(), yiku.VerifyIndexRequest{Rebuild: rebuild})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(res.Items, func(a, b yiku.IndexFault) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.Row, b.Row))
	})
	return res
}

// refOfMemory is where the index has a memory.
func refOfMemory(t *testing.T, b bench, owner yiku.Owner, id string) index.Ref {
	t.Helper()
	var ref index.Ref
	err := b.store.View(t.Context(), func(r store.Reader) error {
		row, err := r.Memory(owner, id)
		ref.Key = row.Key
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// TestD2_DamagedIndexIsFoundAndHealed: what the index has lost, has beside the
// store, has in an older version or with another vector is named, by id; a
// check alone changes nothing, and a rebuild heals all of it.
func TestD2_DamagedIndexIsFoundAndHealed(t *testing.T) {
	t.Parallel()
	b, x, owner := indexed(t)
	s := b.operator()
	lost, older := saveText(t, s, "The spare key is under the flowerpot"), saveText(t, s, "护照放在书房的抽屉里")
	turned := saveText(t, s, "I live in Bergen")
	say(t, s, "trip", "我们下周去里斯本", "noted")
	embedded(t, b)
	look := func(query string) []string {
		got, _ := found(t, s, query)
		return got
	}
	look("flowerpot")
	if res := verifyIndex(t, s, false); !res.Clean || res.Users != 1 || res.Documents != 5 || res.Vectors != 5 || res.Unloaded != 0 {
		t.Fatalf("before any damage: %+v", res)
	}

	refs := map[string]index.Ref{}
	for _, id := range []string{lost, older, turned} {
		refs[id] = refOfMemory(t, b, owner, id)
	}
	ghost := index.Ref{Kind: index.Message, Key: refs[turned].Key + 1<<20}
	wrong := make([]float32, 32)
	wrong[31] = 1
	damage(t, x, owner, []index.Doc{
		{Ref: refs[older], Text: "护照放在厨房"},
		{Ref: ghost, Text: "nobody said this 没有人说过"},
	}, refs[lost])
	spoilVector(t, b, x, owner, refs[turned], wrong)

	want := []yiku.IndexFault{
		{UserID: "ann", Fault: "extra", Kind: "message", Row: ghost.Key},
		{UserID: "ann", Fault: "missing", Kind: "memory", ID: lost, Row: refs[lost].Key},
		{UserID: "ann", Fault: "stale", Kind: "memory", ID: older, Row: refs[older].Key},
		{UserID: "ann", Fault: "vector", Kind: "memory", ID: turned, Row: refs[turned].Key},
	}
	for range 2 { // to look is not to mend
		res := verifyIndex(t, s, false)
		if diff := gocmp.Diff(want, res.Items); diff != "" || res.Clean || res.Rebuilt != 0 || res.Faults != (yiku.IndexFaults{Missing: 1, Extra: 1, Stale: 1, Vector: 1}) {
			t.Errorf("%+v (-want +got):\n%s", res, diff)
		}
	}
	if slices.Contains(look("spare key flowerpot"), "The spare key is under the flowerpot") {
		t.Error("the damage did no damage: the test shows nothing")
	}
	if res := verifyIndex(t, s, true); res.Clean || res.Rebuilt != 1 || len(res.Items) != len(want) {
		t.Errorf("the rebuild: %+v", res)
	}
	if res := verifyIndex(t, s, false); !res.Clean || res.Documents != 5 || res.Vectors != 5 || len(res.Items) != 0 {
		t.Errorf("after the rebuild: %+v", res)
	}
	for query, content := range map[string]string{"spare key flowerpot": "The spare key is under the flowerpot", "护照在抽屉": "护照放在书房的抽屉里", "where is her home?": "I live in Bergen"} {
		if got := look(query); !slices.Contains(got, content) {
			t.Errorf("%s: %q", query, got)
		}
	}
	saveText(t, s, "The bicycle is in the cellar") // changes go on being followed
	if got := look("bicycle cellar"); !slices.Contains(got, "The bicycle is in the cellar") {
		t.Errorf("afterwards: %q", got)
	}
}

// spoilVector gives a memory another vector and leaves the rest as it is.
func spoilVector(t *testing.T, b bench, x index.Index, owner yiku.Owner, ref index.Ref, vector []float32) {
	t.Helper()
	doc, err := engine.DocOf(t.Context(), b.store, owner, ref)
	if err != nil {
		t.Fatal(err)
	}
	doc.Vector = vector
	damage(t, x, owner, []index.Doc{doc})
}

// TestD2_IndexAheadOfTheStore: an index that claims changes which the store
// never had would miss those to come; that is found and healed too.
func TestD2_IndexAheadOfTheStore(t *testing.T) {
	t.Parallel()
	b, x, owner := indexed(t)
	s := b.operator()
	saveText(t, s, "I live in Bergen")
	embedded(t, b)
	found(t, s, "home")
	at, err := x.Position(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Apply(t.Context(), owner, index.Batch{From: at, To: index.Position{Generation: at.Generation, Seq: at.Seq + 100}}); err != nil {
		t.Fatal(err)
	}
	if res := verifyIndex(t, s, true); res.Clean || res.Rebuilt != 1 || res.Faults != (yiku.IndexFaults{Position: 1}) {
		t.Errorf("%+v", res)
	}
	saveText(t, s, "茶叶在柜子里")
	if got, _ := found(t, s, "茶叶 柜子"); !slices.Contains(got, "茶叶在柜子里") {
		t.Errorf("what came afterwards: %q", got)
	}
	if res := verifyIndex(t, s, false); !res.Clean {
		t.Errorf("afterwards: %+v", res)
	}
}

// TestD2_RebuildBesideReadsAndWrites: while an index that is damaged again and
// again is rebuilt, each search finds what was never damaged, each writer what
// it wrote; in the end index and store agree.
func TestD2_RebuildBesideReadsAndWrites(t *testing.T) {
	t.Parallel()
	b, x, owner := indexed(t)
	s := b.operator()
	saveText(t, s, "护照放在书房的抽屉里")
	lost := saveText(t, s, "The spare key is under the flowerpot")
	ref := refOfMemory(t, b, owner, lost)
	found(t, s, "护照")
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	finds := func(query, content string) bool {
		res, err := s.SearchMemory(ctx, yiku.SearchMemoryRequest{UserID: "ann", Query: query})
		if ctx.Err() != nil {
			return true
		}
		ok := err == nil && slices.ContainsFunc(res.Items, func(i yiku.SearchItem) bool { return i.Memory.Content == content })
		if !ok {
			t.Errorf("%s: %d items, %v", query, len(res.Items), err)
		}
		return ok
	}
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil && finds("护照 抽屉", "护照放在书房的抽屉里") {
			}
		})
	}
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			content := fmt.Sprintf("parcel q%dx has arrived", n)
			if _, err := s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: "ann", Content: content}); err != nil {
				if ctx.Err() == nil {
					t.Errorf("save: %v", err)
				}
				return
			}
			if !finds(fmt.Sprintf("parcel q%dx", n), content) {
				return
			}
		}
	})
	for range 20 {
		at, err := x.Position(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		err = x.Apply(t.Context(), owner, index.Batch{From: at, To: at, Deletes: []index.Ref{ref}})
		if err != nil && !errors.Is(err, index.ErrPosition) { // a writer came between
			t.Fatal(err)
		}
		if _, err := s.VerifyIndex(t.Context(), yiku.VerifyIndexRequest{UserID: "ann", Rebuild: true}); err != nil && !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("verify: %v", err)
		}
	}
	stop()
	wg.Wait()
	verifyIndex(t, s, true)
	if res := verifyIndex(t, s, false); !res.Clean || res.Users != 1 {
		t.Errorf("in the end: %+v", res)
	}
	if got, _ := found(t, s, "spare key flowerpot"); !slices.Contains(got, "The spare key is under the flowerpot") {
		t.Errorf("in the end: %q", got)
	}
}

// plain is an index without the ability to be rebuilt.
type plain struct{ index.Index }

// TestD2_IndexThatCannotBeCompared: the call says so.
func TestD2_IndexThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).again(t, engine.Options{Index: plain{memindex.New(nil)}})
	if _, err := b.operator().VerifyIndex(t.Context(), yiku.VerifyIndexRequest{}); !errors.Is(err, yiku.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
