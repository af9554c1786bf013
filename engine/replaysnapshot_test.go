package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

// TestG1_ReplaySaysWhatChanged: a snapshot replayed at once is the same; after
// memories came, changed, were superseded and were pushed out, the diff names
// each with its reason, in both languages. A replay counts no access, keeps no
// snapshot and pages nothing.
func TestG1_ReplaySaysWhatChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	edited := save(t, s, yiku.SaveMemoryRequest{Content: "the bicycle is red"})
	old := save(t, s, yiku.SaveMemoryRequest{Content: "My bicycle is in Bergen", Subject: "bicycle", Attribute: "place", Value: "Bergen", Single: ptr(true)})
	archived := save(t, s, yiku.SaveMemoryRequest{Content: "the bicycle has a bell 自行车有铃"})
	kept := save(t, s, yiku.SaveMemoryRequest{Content: "不要在自行车上打电话", Type: yiku.TypeConstraint})
	say(t, s, "s", "what about my bicycle?")
	then := contextOf(t, s, yiku.GetContextRequest{SessionID: "s"})
	if len(then.Memories) != 4 {
		t.Fatalf("shown at first: %+v", then.Memories)
	}
	replay := func() yiku.ReplaySnapshotResponse {
		res, err := s.ReplaySnapshot(t.Context(), yiku.ReplaySnapshotRequest{ID: then.SnapshotID, UserID: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	settleAccess(t, b)
	before, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: edited.ID})
	if err != nil {
		t.Fatal(err)
	}
	if res := replay(); !res.Diff.Same || len(res.Diff.Gone)+len(res.Diff.New) != 0 || res.Now.SnapshotID != "" || res.Now.Explain != nil || res.Then.SnapshotID != then.SnapshotID {
		t.Errorf("at once: %+v", res.Diff)
	}
	settleAccess(t, b)
	if after, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: edited.ID}); err != nil || after.AccessCount != before.AccessCount {
		t.Errorf("a replay counted an access: %d, %d, %v", before.AccessCount, after.AccessCount, err)
	}
	b.clock.Advance(time.Minute)
	if _, err := s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: edited.ID, Content: yiku.Some("the bicycle is green")}); err != nil {
		t.Fatal(err)
	}
	moved := save(t, s, yiku.SaveMemoryRequest{Content: "My bicycle is in Oslo", Subject: "bicycle", Attribute: "place", Value: "Oslo", Single: ptr(true)})
	if _, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Selector: yiku.Selector{IDs: []string{archived.ID}}, Mode: yiku.ForgetArchive, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	say(t, s, "s", "and the old one?")
	res := replay()
	why := map[string]string{}
	for _, list := range [][]yiku.MemoryDiff{res.Diff.Gone, res.Diff.New, res.Diff.Changed} {
		for _, m := range list {
			why[m.ID] = strings.Join(m.Why, ",")
		}
	}
	for id, want := range map[string]string{old.ID: "superseded", archived.ID: "archived", moved.ID: "created"} {
		if why[id] != want {
			t.Errorf("%s: why %q, want %q", id, why[id], want)
		}
	}
	if !strings.Contains(why[edited.ID], "updated") || why[kept.ID] != "" || res.Diff.Same {
		t.Errorf("why %v; %+v", why, res.Diff)
	}
	if i := slices.IndexFunc(res.Diff.Changed, func(m yiku.MemoryDiff) bool { return m.ID == edited.ID }); i < 0 || res.Diff.Changed[i].Was != "the bicycle is red" || res.Diff.Changed[i].Content != "the bicycle is green" {
		t.Errorf("changed: %+v", res.Diff.Changed)
	}
	if len(res.Diff.MessagesNew) != 1 || res.Diff.Budget["messages"] <= 0 {
		t.Errorf("messages: %+v", res.Diff)
	}
}

// TestG1_ReplayNeedsTheSnapshot: what was forgotten cannot be replayed, nor can
// another's.
func TestG1_ReplayNeedsTheSnapshot(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	m := save(t, s, yiku.SaveMemoryRequest{Content: "the bicycle is red"})
	id := contextOf(t, s, yiku.GetContextRequest{Query: "bicycle"}).SnapshotID
	replay := func(user string) error {
		_, err := s.ReplaySnapshot(t.Context(), yiku.ReplaySnapshotRequest{ID: id, UserID: user})
		return err
	}
	if err := replay("ann"); err != nil {
		t.Fatal("control:", err)
	}
	if err := replay("bob"); !errors.Is(err, yiku.ErrNotFound) {
		t.Error("another's:", err)
	}
	if _, err := s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: m.ID}); err != nil {
		t.Fatal(err)
	}
	if err := replay("ann"); !errors.Is(err, yiku.ErrNotFound) {
		t.Error("forgotten:", err)
	}
}

// settleAccess waits until accesses are counted.
func settleAccess(t *testing.T, b bench) {
	t.Helper()
	if err := b.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
}
