package engine_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

func search(t *testing.T, s yiku.Service, query string) []string {
	t.Helper()
	res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: query})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, item := range res.Items {
		out = append(out, item.Memory.Content)
	}
	return out
}

// TestC7_ManyWritersOneRow: 64 clients that save the same fact at once make one row.
func TestC7_ManyWritersOneRow(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	var wg sync.WaitGroup
	ids := make([]string, 64)
	for i := range ids {
		wg.Go(func() {
			res, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: "我对花生过敏。"})
			if err != nil {
				t.Error(err)
			}
			ids[i] = res.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatal("more than one memory was made")
		}
	}
	m, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: ids[0]})
	if err != nil || m.AccessCount != 63 || m.Version != 1 {
		t.Errorf("%d accesses, version %d, %v; want 63, 1", m.AccessCount, m.Version, err)
	}
}

// TestC8_FutureValue: a value that holds from a day to come takes its place
// on that day, not before.
func TestC8_FutureValue(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	home := func(city string, from time.Time) yiku.SaveMemoryResponse {
		return save(t, s, yiku.SaveMemoryRequest{Content: "Lives in " + city, Subject: "user", Attribute: "residence", Value: city, ValidFrom: from})
	}
	home("Hangzhou", time.Time{})
	home("Shanghai", b.clock.Now().Add(48*time.Hour))
	list := func() []string {
		page, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "ann", Subject: "user", Attribute: "lives_in"})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range page.Items {
			out = append(out, m.Value)
		}
		return out
	}
	if diff := cmp.Diff([]string{"Shanghai", "Hangzhou"}, list()); diff != "" {
		t.Errorf("before: %s", diff)
	}
	b.clock.Advance(72 * time.Hour)
	if diff := cmp.Diff([]string{"Shanghai"}, list()); diff != "" {
		t.Errorf("after: %s", diff)
	}
}

// TestC9_DependantsBecomeStale: what was derived from a fact leaves retrieval
// when the fact is superseded, and comes back when it is confirmed.
func TestC9_DependantsBecomeStale(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	base := save(t, s, yiku.SaveMemoryRequest{Content: "Lives in Hangzhou", Subject: "user", Attribute: "residence", Value: "Hangzhou"})
	derived := save(t, s, yiku.SaveMemoryRequest{Content: "Commutes by bike along the lake", DerivedFrom: []string{base.ID}})
	second := save(t, s, yiku.SaveMemoryRequest{Content: "Needs a raincoat for the bike", DerivedFrom: []string{derived.ID}})
	b.clock.Advance(time.Hour)
	save(t, s, yiku.SaveMemoryRequest{Content: "Lives in Shanghai", Subject: "user", Attribute: "residence", Value: "Shanghai"})
	for _, id := range []string{derived.ID, second.ID} {
		if m, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: id}); err != nil || m.Status != yiku.StatusStale {
			t.Errorf("status %s, %v; want stale", m.Status, err)
		}
	}
	if got := search(t, s, "bike"); len(got) != 0 {
		t.Errorf("stale memories are found: %q", got)
	}
	if _, err := s.ConfirmMemory(t.Context(), yiku.ConfirmMemoryRequest{UserID: "ann", ID: second.ID}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Needs a raincoat for the bike"}, search(t, s, "bike")); diff != "" {
		t.Error(diff)
	}
}

// TestE3_ExpiredIsGoneBeforeTheSweep: after its time a memory is neither found,
// listed nor loaded, and the same may be said anew.
func TestE3_ExpiredIsGoneBeforeTheSweep(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	first := save(t, s, yiku.SaveMemoryRequest{Content: "The door code is 4711", TTLSeconds: 60, Type: yiku.TypeConstraint})
	if got := search(t, s, "door code"); len(got) != 1 {
		t.Fatalf("found %q", got)
	}
	b.clock.Advance(61 * time.Second)
	if got := search(t, s, "door code"); len(got) != 0 {
		t.Errorf("found after its time: %q", got)
	}
	if res := contextOf(t, s, yiku.GetContextRequest{Query: "door code"}); len(res.Memories) != 0 {
		t.Errorf("loaded after its time: %+v", res.Memories)
	}
	again := save(t, s, yiku.SaveMemoryRequest{Content: "The door code is 4711"})
	if again.Outcome != yiku.OutcomeCreated || again.ID == first.ID {
		t.Errorf("said anew: %s, same id %v; want created", again.Outcome, again.ID == first.ID)
	}
}

// TestD9_AsOf: what was true on a day is found with the value of that day; the
// default is the present truth.
func TestD9_AsOf(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	for d, city := range map[int]string{1: "Hangzhou", 20: "Shanghai"} {
		save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in " + city, Subject: "user", Attribute: "residence", Value: city, ValidFrom: day(d)})
	}
	for at, want := range map[time.Time][]string{
		{}: {"The user lives in Shanghai"}, day(10): {"The user lives in Hangzhou"}, day(25): {"The user lives in Shanghai"},
		day(1).Add(-time.Hour): {},
	} {
		res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "where does the user live", AsOf: at})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, item := range res.Items {
			got = append(got, item.Memory.Content)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("as of %s: %s", at, diff)
		}
	}
}

// TestD2_ReadsSeeOwnWritesAndDeletes: a search right after a write or a delete
// sees it, also with many writers beside it.
func TestD2_ReadsSeeOwnWritesAndDeletes(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				word := fmt.Sprintf("zyx%c%cq", 'a'+w, 'a'+i)
				res, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: "the word is " + word})
				if err != nil {
					t.Error(err)
					return
				}
				found, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: word})
				if err != nil || len(found.Items) != 1 || found.Items[0].Memory.ID != res.ID {
					t.Errorf("%s: %d items, %v", word, len(found.Items), err)
				}
				if i%2 == 0 {
					continue
				}
				if _, err := s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: res.ID}); err != nil {
					t.Error(err)
				}
				if found, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: word}); err != nil || len(found.Items) != 0 {
					t.Errorf("%s after its delete: %d items, %v", word, len(found.Items), err)
				}
			}
		})
	}
	wg.Wait()
}

// TestB5_OpenWorkIsCarriedOver: what a session left open goes on in the next
// session of the same project, without the temporary preferences; a completed
// task is cleared; a session that runs beside does not take it.
func TestB5_OpenWorkIsCarriedOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	session := func(id, project string) {
		t.Helper()
		if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: id, ProjectID: project}); err != nil {
			t.Fatal(err)
		}
	}
	get := func(id string) yiku.WorkingMemory {
		t.Helper()
		w, err := s.GetWorking(t.Context(), yiku.GetWorkingRequest{UserID: "ann", SessionID: id})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	session("monday", "p")
	session("beside", "p")
	b.clock.Advance(time.Minute)
	if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "monday", TaskState: map[string]any{"step": "tests"},
		Todos: []any{"写文档"}, Preferences: map[string]any{"tone": "short"}}); err != nil {
		t.Fatal(err)
	}
	if w := get("beside"); w.Version != 0 {
		t.Errorf("a session that ran beside sees %+v", w)
	}
	b.clock.Advance(20 * time.Hour)
	session("tuesday", "p")
	session("elsewhere", "q")
	w := get("tuesday")
	if w.CarriedFrom != "monday" || w.TaskState["step"] != "tests" || len(w.Todos) != 1 || len(w.Preferences) != 0 {
		t.Errorf("carried over: %+v", w)
	}
	if w := get("elsewhere"); w.Version != 0 {
		t.Errorf("another project sees %+v", w)
	}
	w, err := s.PatchWorking(t.Context(), yiku.PatchWorkingRequest{UserID: "ann", SessionID: "tuesday", Conditional: yiku.Conditional{IfMatch: w.ETag()},
		TaskState: yiku.Some(map[string]any{"step": "review"})})
	if err != nil || w.TaskState["step"] != "review" || len(w.Todos) != 1 {
		t.Fatalf("going on: %+v, %v", w, err)
	}
	if _, err := s.PatchWorking(t.Context(), yiku.PatchWorkingRequest{UserID: "ann", SessionID: "tuesday", TaskID: "t1", DataSlots: yiku.Some(map[string]any{"deadline": "Friday"})}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CompleteTask(t.Context(), yiku.CompleteTaskRequest{UserID: "ann", ProjectID: "p", TaskID: "t1", Outcome: yiku.TaskSuccess, Result: "文档写完了"}); err != nil {
		t.Fatal(err)
	}
	cleared, err := s.GetWorking(t.Context(), yiku.GetWorkingRequest{UserID: "ann", SessionID: "tuesday", TaskID: "t1"})
	if err != nil || len(cleared.DataSlots) != 0 {
		t.Errorf("after completion: %+v, %v", cleared, err)
	}
	if _, err := s.PatchWorking(t.Context(), yiku.PatchWorkingRequest{UserID: "ann", SessionID: "tuesday", Conditional: yiku.Conditional{IfMatch: `"1"`},
		Todos: yiku.Some([]any{})}); !errors.Is(err, yiku.ErrPreconditionFailed) {
		t.Errorf("an old version: %v", err)
	}
}
