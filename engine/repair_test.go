package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

// TestA4_LongAgentRun: however much an agent says after the user, the window
// keeps the user's message, in both forms.
func TestA4_LongAgentRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{{ID: "ask", Role: yiku.RoleUser, Content: yiku.Text("please do it")}}}
	for i := range 250 {
		req.Messages = append(req.Messages, yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text(fmt.Sprint("step ", i))})
	}
	if _, err := s.AppendMessages(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"openai", "anthropic"} {
		res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Options: yiku.ContextOptions{Format: format}})
		if len(res.Messages) != 251 || res.Messages[0].ID != "ask" {
			t.Errorf("%s: %d messages; want the question and the 250 behind it", format, len(res.Messages))
		}
	}
	b.clock.Advance(30 * time.Hour) // the agent answers after the silence that ends a list
	if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{{Role: yiku.RoleAssistant, Content: yiku.Text("done at last")}}}); err != nil {
		t.Fatal(err)
	}
	if res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s"}); len(res.Messages) == 0 || res.Messages[0].ID != "ask" {
		t.Errorf("after the silence: %d messages", len(res.Messages))
	}
}

// TestC8_QuarantineHolds: what waits for a person's decision cannot be made
// active by other ways.
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

// TestD9_FutureIsNotYetTrue: a value that holds from a day to come is neither
// found nor loaded before that day.
func TestD9_FutureIsNotYetTrue(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in Hangzhou", Subject: "user", Attribute: "residence", Value: "Hangzhou", Type: yiku.TypeProfile})
	save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in Shanghai", Subject: "user", Attribute: "residence", Value: "Shanghai", ValidFrom: b.clock.Now().Add(48 * time.Hour), Type: yiku.TypeProfile})
	shows := func() []string {
		return shown(contextOf(t, s, yiku.GetContextRequest{Query: "where does the user live"}), yiku.GroupIdentity)
	}
	if diff := cmp.Diff([]string{"The user lives in Hangzhou"}, shows()); diff != "" {
		t.Error(diff)
	}
	b.clock.Advance(72 * time.Hour)
	if diff := cmp.Diff([]string{"The user lives in Shanghai"}, shows()); diff != "" {
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
