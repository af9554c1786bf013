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
// Lessons: L63, L64.
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
// Lessons: L52.
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

// TestC8_QuarantineHolds: what waits for a person's decision cannot be made
// active by other ways.
// Lessons: L78.
func TestC8_QuarantineHolds(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	phone := func(value string, origin yiku.Origin) yiku.SaveMemoryResponse {
		return save(t, s, yiku.SaveMemoryRequest{Content: "Phone is " + value, Subject: "user", Attribute: "phone", Value: value, Origin: origin})
	}
	phone("111", yiku.OriginUser)
	bad := phone("999", yiku.OriginWeb)
	if bad.Outcome != yiku.OutcomeQuarantined {
		t.Fatalf("outcome %s", bad.Outcome)
	}
	for _, status := range []yiku.Status{yiku.StatusActive, yiku.StatusArchived} {
		if _, err := s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: bad.ID, Status: yiku.Some(status)}); !errors.Is(err, yiku.ErrInvalid) {
			t.Errorf("patched to %s: %v", status, err)
		}
	}
	if _, err := s.RestoreMemory(t.Context(), yiku.RestoreMemoryRequest{UserID: "ann", ID: bad.ID}); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("restored: %v", err)
	}
	if diff := cmp.Diff([]string{"Phone is 111"}, search(t, s, "phone")); diff != "" {
		t.Error(diff)
	}
}

// TestC7_RepetitionKeepsWhatItAdds: the same words with more, or with other,
// structure lose nothing.
func TestC7_RepetitionKeepsWhatItAdds(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	first := save(t, s, yiku.SaveMemoryRequest{Content: "Never send SMS", Confidence: new(0.3)})
	again := save(t, s, yiku.SaveMemoryRequest{Content: "Never send SMS", Type: yiku.TypeConstraint, Subject: "user", Attribute: "channel", Value: "no SMS", Metadata: yiku.Metadata{"k": "v"}})
	m := again.Memory
	if again.ID != first.ID || m.Type != yiku.TypeConstraint || m.Value != "no SMS" || m.Metadata["k"] != "v" || m.Confidence != 1 {
		t.Errorf("%+v", m)
	}
	save(t, s, yiku.SaveMemoryRequest{Content: "Speaks Thai"})
	if m := save(t, s, yiku.SaveMemoryRequest{Content: "Speaks Thai", Subject: "Lin"}).Memory; m.Subject != "Lin" {
		t.Errorf("the subject that a repetition adds: %q", m.Subject)
	}
	a := save(t, s, yiku.SaveMemoryRequest{Content: "Confirmed", Subject: "A", Attribute: "budget", Value: "1"})
	b := save(t, s, yiku.SaveMemoryRequest{Content: "Confirmed", Subject: "B", Attribute: "budget", Value: "2"})
	if a.ID == b.ID || b.Outcome != yiku.OutcomeCreated {
		t.Errorf("the same words of another subject: %s", b.Outcome)
	}
	c := save(t, s, yiku.SaveMemoryRequest{Content: "Confirmed", Subject: "B", Attribute: "budget", Value: "3"})
	if c.Outcome != yiku.OutcomeSuperseded || len(c.Superseded) != 1 || c.Superseded[0] != b.ID {
		t.Errorf("the same words with another value: %s, %v", c.Outcome, c.Superseded)
	}
	if d := save(t, s, yiku.SaveMemoryRequest{Content: "Confirmed", Subject: "B", Attribute: "budget", Value: "3"}); d.ID != c.ID || d.Outcome != yiku.OutcomeReinforced {
		t.Errorf("repeated: %s", d.Outcome)
	}
}

// TestC2_ConfirmAndRestoreOfWhatIsOver: confirming starts the time to live
// again; what is over is restored, not confirmed; an empty patch is no version.
func TestC2_ConfirmAndRestoreOfWhatIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	id := save(t, s, yiku.SaveMemoryRequest{Content: "The code is 4711", TTLSeconds: 60}).ID
	b.clock.Advance(30 * time.Second)
	confirm := func() (yiku.Memory, error) {
		return s.ConfirmMemory(t.Context(), yiku.ConfirmMemoryRequest{UserID: "ann", ID: id})
	}
	if m, err := confirm(); err != nil || !m.ExpiresAt.Equal(b.clock.Now().Add(time.Minute)) {
		t.Errorf("confirmed: expires %s, %v", m.ExpiresAt, err)
	}
	before, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: id}); err != nil || m.Version != before.Version {
		t.Errorf("an empty patch: version %d after %d, %v", m.Version, before.Version, err)
	}
	b.clock.Advance(2 * time.Minute)
	if _, err := confirm(); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("confirmed after its time: %v", err)
	}
	if _, err := s.RestoreMemory(t.Context(), yiku.RestoreMemoryRequest{UserID: "ann", ID: id}); err != nil {
		t.Error(err)
	}
	if got := search(t, s, "code 4711"); len(got) != 1 {
		t.Errorf("restored and found: %q", got)
	}
}

// TestD2_NoLagAfterTasks: numbers of the sequence that name no document do not
// leave the index behind.
func TestD2_NoLagAfterTasks(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", TaskID: "t", Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("go")}}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.CompleteTask(t.Context(), yiku.CompleteTaskRequest{UserID: "ann", TaskID: "t", Outcome: yiku.TaskSuccess}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "go"})
	if err != nil || !cmp.Equal([]string{"dense"}, res.Degraded) {
		t.Errorf("degraded %v, %v", res.Degraded, err)
	}
}

// TestA1_UsedIDAfterADelete: a deleted message does not come back under its id;
// a new one under the same id is new.
func TestA1_UsedIDAfterADelete(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	send := func(text string) yiku.MessageRef {
		res, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{{ID: "1", Role: yiku.RoleUser, Content: yiku.Text(text)}}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Messages[0]
	}
	send("old")
	if _, err := s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "ann", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if ref := send("old"); !ref.Forgotten {
		t.Error("the deleted message is back")
	}
	if ref := send("completely new"); ref.Forgotten || ref.Seq == 0 {
		t.Errorf("a new message was swallowed: %+v", ref)
	}
}

// TestC7_ShelvedRepetitions: a statement that is repeated while it waits for a
// decision, or as history, stays one row.
func TestC7_ShelvedRepetitions(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	phone := func(value string, origin yiku.Origin, from time.Time) yiku.SaveMemoryResponse {
		return save(t, s, yiku.SaveMemoryRequest{Content: "Phone is " + value, Subject: "user", Attribute: "phone", Value: value, Origin: origin, ValidFrom: from})
	}
	phone("111", yiku.OriginUser, time.Time{})
	long := b.clock.Now().AddDate(-5, 0, 0)
	waits, was := phone("999", yiku.OriginWeb, time.Time{}), phone("000", yiku.OriginUser, long)
	for range 5 {
		if again := phone("999", yiku.OriginWeb, time.Time{}); again.ID != waits.ID || again.Outcome != yiku.OutcomeQuarantined {
			t.Errorf("waiting: %s", again.Outcome)
		}
		if again := phone("000", yiku.OriginUser, long); again.ID != was.ID || again.Outcome != yiku.OutcomeReinforced {
			t.Errorf("history: %s", again.Outcome)
		}
	}
}

// TestD1_SearchInASession: the running session says which project is searched,
// and never another than the one that is named.
func TestD1_SearchInASession(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: "in-p", ProjectID: "p"}); err != nil {
		t.Fatal(err)
	}
	save(t, s, yiku.SaveMemoryRequest{Content: "turbine in p", ProjectID: "p"})
	save(t, s, yiku.SaveMemoryRequest{Content: "turbine in q", ProjectID: "q"})
	res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", SessionID: "in-p", Query: "turbine"})
	if err != nil || len(res.Items) != 1 || res.Items[0].Memory.ProjectID != "p" {
		t.Errorf("%+v, %v", res.Items, err)
	}
	_, err = s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", SessionID: "in-p", ProjectID: "q", Query: "turbine"})
	if !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("a session of another project: %v", err)
	}
}
