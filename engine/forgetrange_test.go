package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

// TestE1_RangeTakesWhatWasWrittenThen: a time range takes a memory that was
// patched within it, also where it was patched again since, and the working
// memory written within it. Control: what was only confirmed or pinned then, or
// written before or after, stays.
func TestE1_RangeTakesWhatWasWrittenThen(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	ids := map[string]string{}
	for _, content := range []string{"Likes plums", "喜欢李子", "Rides a tram", "骑车上班", "Has a dog", "Works late"} {
		ids[content] = save(t, s, yiku.SaveMemoryRequest{Content: content}).ID
	}
	patch := func(of string, req yiku.PatchMemoryRequest) {
		t.Helper()
		req.UserID, req.ID = "ann", ids[of]
		if _, err := s.PatchMemory(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	note := func(session, text string) {
		t.Helper()
		if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: session, DataSlots: map[string]any{"v": text}}); err != nil {
			t.Fatal(err)
		}
	}
	titled := func(session string) {
		t.Helper()
		req := yiku.CreateSessionRequest{UserID: "ann", SessionID: session, Metadata: yiku.Metadata{"标题": "title of " + session}}
		if _, err := s.CreateSession(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	titled("before")
	note("before", "之前")
	b.clock.Advance(time.Hour)
	from := b.clock.Now()
	titled("then")
	note("then", "secret 秘密")
	patch("Likes plums", yiku.PatchMemoryRequest{Content: yiku.Some("Likes secrets")})
	patch("喜欢李子", yiku.PatchMemoryRequest{Metadata: yiku.Some(yiku.Metadata{"注": "秘密"})})
	patch("Rides a tram", yiku.PatchMemoryRequest{Pinned: yiku.Some(true)})
	if _, err := s.ConfirmMemory(t.Context(), yiku.ConfirmMemoryRequest{UserID: "ann", ID: ids["骑车上班"]}); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Hour)
	to := b.clock.Now()
	note("after", "之后")
	patch("Likes plums", yiku.PatchMemoryRequest{Content: yiku.Some("Likes pears")})
	patch("Works late", yiku.PatchMemoryRequest{Content: yiku.Some("Works early")})

	req := yiku.ForgetRequest{Selector: yiku.Selector{From: from, To: to}, DryRun: true}
	would := forget(t, s, req)
	req.DryRun = false
	did := forget(t, s, req)
	if would.Removed != did.Removed || did.Removed.Memories != 2 || did.Removed.Working != 1 || did.Removed.Sessions != 1 {
		t.Errorf("would remove %+v, removed %+v", would.Removed, did.Removed)
	}
	if diff := cmp.Diff([]string{"Has a dog", "Rides a tram", "Works early", "骑车上班"}, left(t, s)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	for session, want := range map[string]int{"before": 1, "then": 0, "after": 1} {
		w, err := s.GetWorking(t.Context(), yiku.GetWorkingRequest{UserID: "ann", SessionID: session})
		if err != nil || len(w.DataSlots) != want {
			t.Errorf("%s: %+v, %v", session, w, err)
		}
		if session == "after" {
			continue
		}
		got, err := s.GetSession(t.Context(), yiku.GetSessionRequest{UserID: "ann", SessionID: session})
		if err != nil || len(got.Metadata) != want {
			t.Errorf("%s: %v, %v", session, got.Metadata, err)
		}
	}
	proven(t, s, did)
}
