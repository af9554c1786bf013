package engine_test

import (
	"fmt"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
)

// TestG2_Trace: an explained read says which layers took part, what every item
// had to meet, its rank in each arm, and which rule cut what. What a scope
// keeps out is counted and never named. Control: nothing of it unasked.
func TestG2_Trace(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	for i := range 4 {
		saveText(t, s, fmt.Sprintf("bicycle number %d 自行车 %d 号", i, i))
	}
	saveText(t, s, "the weather was fine when the bicycle came, and we spoke for hours about other things that nobody wanted to know, such as the price of paint")
	secret := save(t, s, yiku.SaveMemoryRequest{Content: "bicycle of another project", ProjectID: "other", Level: yiku.LevelProject})
	res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "bicycle 自行车", Limit: 2, Explain: true, MinRelevance: ptr(0.6), Layers: yiku.Layers{Neighbors: yiku.Some(false)}})
	if err != nil {
		t.Fatal(err)
	}
	e := res.Explain
	if e == nil || e.Layers["neighbors"] || !e.Layers["lexical"] || e.Layers["rewrite"] || e.MinRelevance != 0.6 || e.Filter == nil || e.Candidates < 5 {
		t.Fatalf("trace: %+v", e)
	}
	if e.CutBy["limit"] != 2 || e.CutBy["relevance"] != 1 {
		t.Errorf("cut by %v", e.CutBy)
	}
	for _, cut := range e.Cut {
		if cut.ID == secret.ID || cut.Rule == yiku.CutFilter {
			t.Errorf("a scope's content is named: %+v", cut)
		}
	}
	if r := res.Items[0].Explain.Ranks["lexical"]; r != 1 {
		t.Errorf("rank %d of %+v", r, res.Items[0].Explain)
	}
	plain, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "bicycle 自行车", Limit: 2})
	if err != nil || plain.Explain != nil || plain.Items[0].Explain != nil {
		t.Errorf("unasked: %+v, %v", plain.Explain, err)
	}
	ctx := contextOf(t, s, yiku.GetContextRequest{Query: "bicycle 自行车", Options: yiku.ContextOptions{Explain: true, MaxItems: ptr(3), MemoryBudget: ptr(150)}})
	if ctx.Explain == nil || ctx.Explain.CutBy["limit"] == 0 {
		t.Errorf("context's trace: %+v", ctx.Explain)
	}
	tight := contextOf(t, s, yiku.GetContextRequest{Query: "bicycle 自行车", Options: yiku.ContextOptions{Explain: true, MemoryBudget: ptr(110)}})
	if tight.Explain.CutBy["room"] != tight.Budget.OmittedMemories || tight.Budget.OmittedMemories == 0 {
		t.Errorf("no room: %+v, %+v", tight.Explain.CutBy, tight.Budget)
	}
	snapshot, err := s.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{UserID: "ann", ID: ctx.SnapshotID})
	if err != nil || snapshot.Response.Explain != nil {
		t.Errorf("a snapshot keeps what it does not cite: %+v, %v", snapshot.Response.Explain, err)
	}
}

// TestG3_LayersByTenant: a tenant switches layers for its requests, a request
// has the last word, null gives a layer back, and other tenants are as the
// server says.
func TestG3_LayersByTenant(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.Layers.Rerank = false
	b := newBench(t, &settings)
	s := b.operator()
	other := b.As(yiku.Principal{Tenant: "other", Access: yiku.AccessAdmin})
	for _, s := range []yiku.Service{s, other} {
		saveText(t, s, "the bicycle is red")
	}
	items := func(s yiku.Service, l yiku.Layers) (int, map[string]bool) {
		res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "bicycle", Layers: l, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		return len(res.Items), res.Explain.Layers
	}
	patch := func(l yiku.Opt[yiku.Layers]) yiku.Settings {
		got, err := s.PatchSettings(t.Context(), yiku.PatchSettingsRequest{Layers: l})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if n, on := items(s, yiku.Layers{}); n != 1 || on["rerank"] {
		t.Fatalf("by server: %d, %v", n, on)
	}
	patch(yiku.Some(yiku.Layers{Lexical: yiku.Some(false), Longterm: yiku.Some(false), Rerank: yiku.Some(true)}))
	if n, on := items(s, yiku.Layers{}); n != 0 || on["lexical"] || !on["rerank"] {
		t.Errorf("by tenant: %d, %v", n, on)
	}
	if res := contextOf(t, s, yiku.GetContextRequest{Query: "bicycle"}); len(res.Memories) != 0 {
		t.Errorf("a context by tenant: %+v", res.Memories)
	}
	if n, _ := items(s, yiku.Layers{Lexical: yiku.Some(true)}); n != 1 {
		t.Errorf("by request: %d", n)
	}
	if n, on := items(other, yiku.Layers{}); n != 1 || on["rerank"] {
		t.Errorf("another tenant: %d, %v", n, on)
	}
	if got := patch(yiku.Some(yiku.Layers{Lexical: yiku.Null[bool]()})); got.Layers.Lexical.Present || !got.Layers.Longterm.Present {
		t.Errorf("given back: %+v", got.Layers)
	}
	if n, _ := items(s, yiku.Layers{}); n != 1 {
		t.Errorf("given back: %d", n)
	}
	if got := patch(yiku.Null[yiku.Layers]()); !got.Layers.IsZero() {
		t.Errorf("all given back: %+v", got.Layers)
	}
}
