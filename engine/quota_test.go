package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/store"
)

// quotaBench is an engine with small quotas.
func quotaBench(t *testing.T, set func(*engine.Settings)) (bench, yiku.Service) {
	t.Helper()
	s := engine.DefaultSettings()
	set(&s)
	b := newBench(t, &s)
	return b, b.operator()
}

// overQuota asserts a refusal that names the field and the quota.
func overQuota(t *testing.T, what string, err error, field, key string) {
	t.Helper()
	var e *yiku.Error
	if !errors.Is(err, yiku.ErrLimited) || !errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Field != field ||
		!strings.Contains(e.Fields[0].Message, key) || !strings.Contains(e.Detail, key) {
		t.Errorf("%s: %v, want the quota %s on %s", what, err, key, field)
	}
}

func (b bench) usage(t *testing.T, user string) (u store.Usage) {
	t.Helper()
	owner, err := yiku.NewOwner("acme", user)
	if err == nil {
		err = b.store.View(t.Context(), func(r store.Reader) (err error) {
			u, err = r.Usage(owner)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func said(ids ...string) []yiku.Message {
	var list []yiku.Message
	for _, id := range ids {
		list = append(list, yiku.Message{ID: id, Role: yiku.RoleUser, Content: yiku.Text("说 said " + id)})
	}
	return list
}

// TestF3_QuotaOfMessages: what goes beyond is refused whole, repetitions pass,
// and what is forgotten or deleted makes room at once.
func TestF3_QuotaOfMessages(t *testing.T) {
	t.Parallel()
	b, s := quotaBench(t, func(s *engine.Settings) { s.OwnerMessages = 5 })
	appendTo := func(session, key string, ids ...string) error {
		_, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{Idempotent: yiku.Idempotent{IdempotencyKey: key}, UserID: "林", SessionID: session, Messages: said(ids...)})
		return err
	}
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(what, err)
		}
	}
	must("append", appendTo("s", "k1", "a", "b", "c"))
	overQuota(t, "a batch too large", appendTo("s", "k2", "d", "e", "f"), "messages", "limits.owner_messages")
	overQuota(t, "and in a new session", appendTo("new", "", "d", "e", "f"), "messages", "limits.owner_messages")
	if n := b.usage(t, "林").Messages; n != 3 {
		t.Errorf("%d messages after refusals, want 3", n)
	}
	if _, err := s.GetSession(t.Context(), yiku.GetSessionRequest{UserID: "林", SessionID: "new"}); !errors.Is(err, yiku.ErrNotFound) {
		t.Error("a refused append left its session:", err)
	}
	must("append up to the quota", appendTo("t", "", "d", "e"))
	must("replay under the key", appendTo("s", "k1", "a", "b", "c"))
	must("the same messages again", appendTo("s", "", "a", "b"))
	overQuota(t, "one more", appendTo("s", "", "x"), "messages", "limits.owner_messages")
	_, err := s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "林", SessionID: "s", NewSessionID: "fork"})
	overQuota(t, "fork", err, "session_id", "limits.owner_messages")
	_, err = s.ImportSession(t.Context(), yiku.ImportSessionRequest{UserID: "林", SessionID: "import", Document: []byte(`[{"role":"user","content":"你好"}]`)})
	overQuota(t, "import", err, "document", "limits.owner_messages")
	if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "other", SessionID: "s", Messages: said("a")}); err != nil {
		t.Error("another user is refused:", err)
	}
	_, err = s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "林", SessionID: "t"})
	must("delete", err)
	must("append after a delete", appendTo("s", "", "x", "y"))
	_, err = s.Forget(t.Context(), yiku.ForgetRequest{UserID: "林", Selector: yiku.Selector{All: true}, Reason: "asked"})
	must("forget", err)
	must("append after a forget", appendTo("u", "", "1", "2", "3", "4", "5"))
}

// TestF3_QuotaOfMemories: so it is with memories, where a repetition reinforces.
func TestF3_QuotaOfMemories(t *testing.T) {
	t.Parallel()
	b, s := quotaBench(t, func(s *engine.Settings) { s.OwnerMemories = 2 })
	save := func(content string) (yiku.SaveMemoryResponse, error) {
		return s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "林", Content: content, Subject: "林", Attribute: "residence", Value: content})
	}
	first, err := save("北京")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = save("Shanghai"); err != nil { // the first is history now, and is kept
		t.Fatal(err)
	}
	_, err = save("Hangzhou")
	overQuota(t, "a third", err, "content", "limits.owner_memories")
	got, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "林"})
	if err != nil || len(got.Items) != 1 || got.Items[0].Content != "Shanghai" {
		t.Errorf("after a refusal: %+v, %v", got.Items, err)
	}
	if again, err := save("Shanghai"); err != nil || again.Outcome != yiku.OutcomeReinforced {
		t.Errorf("a repetition: %v, %v", again.Outcome, err)
	}
	if _, err := s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "林", ID: first.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := save("Hangzhou"); err != nil {
		t.Error("refused after a delete:", err)
	}
	if n := b.usage(t, "林").Memories; n != 2 {
		t.Errorf("%d memories, want 2", n)
	}
}

// TestF3_QuotaOfBytes holds for whatever is kept, working memory too; what
// makes it smaller passes.
func TestF3_QuotaOfBytes(t *testing.T) {
	t.Parallel()
	b, s := quotaBench(t, func(s *engine.Settings) { s.OwnerBytes = 4000 })
	put := func(n int) error {
		_, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "u", SessionID: "s", DataSlots: map[string]any{"x": strings.Repeat("数", n)}})
		return err
	}
	if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "u", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := put(600); err != nil {
		t.Fatal(err)
	}
	before := b.usage(t, "u")
	overQuota(t, "working memory", put(1300), "data_slots", "limits.owner_bytes")
	_, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "u", Content: strings.Repeat("记", 1000)})
	overQuota(t, "a memory", err, "content", "limits.owner_bytes")
	if after := b.usage(t, "u"); after != before {
		t.Errorf("refusals changed %+v to %+v", before, after)
	}
	if err := put(10); err != nil {
		t.Error("less is refused:", err)
	}
	if _, err = s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "u", Content: strings.Repeat("记", 1000)}); err != nil {
		t.Error("refused although there is room:", err)
	}
}

// TestF3_QuotaOfOwners: a tenant at its quota keeps those whom it has.
func TestF3_QuotaOfOwners(t *testing.T) {
	t.Parallel()
	b, s := quotaBench(t, func(s *engine.Settings) { s.TenantOwners = 2 })
	save := func(s yiku.Service, user string) error {
		_, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: user, Content: fmt.Sprint("记 ", user)})
		return err
	}
	reader := b.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessRead})
	for i := range 5 { // who reads of made-up users makes none
		res, err := reader.GetContext(t.Context(), yiku.GetContextRequest{UserID: fmt.Sprint("没有 ", i), Query: "记"})
		if err != nil || res.SnapshotID != "" || b.usage(t, fmt.Sprint("没有 ", i)) != (store.Usage{}) {
			t.Errorf("a context of nobody: snapshot %q, %v", res.SnapshotID, err)
		}
	}
	for _, user := range []string{"a", "乙", "a"} {
		if err := save(s, user); err != nil {
			t.Fatal(user, err)
		}
	}
	overQuota(t, "a third user", save(s, "c"), "user_id", "limits.tenant_owners")
	if u := b.usage(t, "c"); u != (store.Usage{}) {
		t.Errorf("a refused user is there: %+v", u)
	}
	res, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: "c", Query: "记"})
	if err != nil || res.SnapshotID != "" || b.usage(t, "c") != (store.Usage{}) {
		t.Errorf("a context of a third user: snapshot %q, %v", res.SnapshotID, err)
	}
	if res, err = reader.GetContext(t.Context(), yiku.GetContextRequest{UserID: "a", Query: "记"}); err != nil || res.SnapshotID == "" {
		t.Errorf("control: a context of a user who is there has no snapshot: %v", err)
	}
	if err := save(b.As(yiku.Principal{Tenant: "globex", Access: yiku.AccessAdmin}), "c"); err != nil {
		t.Error("another tenant is refused:", err)
	}
}

// TestF3_WhoIsForgottenTakesNoPlace: a tenant makes and forgets more users than
// it may have at once. What must be kept of them takes no place and still
// works: what was forgotten is not taken again, and the epoch stays.
func TestF3_WhoIsForgottenTakesNoPlace(t *testing.T) {
	t.Parallel()
	b, s := quotaBench(t, func(s *engine.Settings) { s.TenantOwners = 2 })
	say := func(user string) yiku.AppendMessagesRequest {
		return yiku.AppendMessagesRequest{UserID: user, SessionID: "s", Messages: []yiku.Message{{ID: "m", Role: yiku.RoleUser, Content: yiku.Text("我叫" + user)}}}
	}
	if _, err := s.AppendMessages(t.Context(), say("甲")); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		user := fmt.Sprint("乙", i)
		if _, err := s.AppendMessages(t.Context(), say(user)); err != nil {
			t.Fatal(user, err)
		}
		_, err := s.AppendMessages(t.Context(), say("丙"))
		overQuota(t, "a third user", err, "user_id", "limits.tenant_owners")
		forgotten, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: user, Selector: yiku.Selector{All: true}, Reason: "asked"})
		if err != nil || !forgotten.Verified {
			t.Fatalf("forget: %+v, %v", forgotten, err)
		}
		if u := b.usage(t, user); u != (store.Usage{TenantOwners: 1}) {
			t.Errorf("after a forget of all: %+v", u)
		}
	}
	res, err := s.AppendMessages(t.Context(), say("乙0"))
	if err != nil || len(res.Messages) != 1 || !res.Messages[0].Forgotten || b.usage(t, "乙0").Messages != 0 {
		t.Errorf("what was forgotten is sent again: %+v, %v", res, err)
	}
}

// TestG1_SnapshotsAreBounded: readers make no database grow for ever: of the
// contexts of one user the oldest go. The control has no bound.
func TestG1_SnapshotsAreBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ most, bytes, left int }{{3, 0, 3}, {0, 13_000, 2}, {0, 0, 6}} {
		b, s := quotaBench(t, func(s *engine.Settings) { s.Snapshots, s.SnapshotBytes = tt.most, tt.bytes })
		if _, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "u", Content: "记"}); err != nil {
			t.Fatal(err)
		}
		reader := b.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessRead})
		var ids []string
		for range 6 { // each is kept twice, in the request and in the answer
			res, err := reader.GetContext(t.Context(), yiku.GetContextRequest{UserID: "u", Query: "记", System: strings.Repeat("x", 2000)})
			if err != nil || res.SnapshotID == "" {
				t.Fatal(err)
			}
			ids = append(ids, res.SnapshotID)
		}
		for i, id := range ids {
			_, err := reader.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{UserID: "u", ID: id})
			if (err == nil) != (i >= len(ids)-tt.left) {
				t.Errorf("at most %d, %d bytes: snapshot %d of %d: %v", tt.most, tt.bytes, i, len(ids), err)
			}
		}
	}
}

// TestQuotaLoweredLater: under a quota that is lower than what is there,
// repetitions still pass and growth does not. The control has no quota.
func TestQuotaLoweredLater(t *testing.T) {
	t.Parallel()
	for quota, refused := range map[int]bool{1: true, 0: false} {
		s := engine.DefaultSettings()
		b := newBench(t, &s)
		if _, err := b.operator().AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: said("a", "b")}); err != nil {
			t.Fatal(err)
		}
		s.OwnerMessages = quota
		e := open(t, keep{b.store}, &engine.Options{Settings: &s, Now: b.clock.Now})
		lower := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
		if _, err := lower.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: said("a", "b")}); err != nil {
			t.Error("a repetition is refused:", err)
		}
		_, err := lower.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: said("c")})
		if errors.Is(err, yiku.ErrLimited) != refused {
			t.Errorf("quota %d: one more: %v", quota, err)
		}
	}
}

// keep is a store that another engine closes.
type keep struct{ store.Store }

func (keep) Close() error { return nil }

// TestF3_QuotaOfWhatIsLearnt: what a conversation says beyond the quota is
// parked with its words, in a job as in the append; the conversation is kept.
func TestF3_QuotaOfWhatIsLearnt(t *testing.T) {
	t.Parallel()
	b, s := quotaBench(t, func(s *engine.Settings) { s.OwnerMemories = 2 })
	utter(t, s, "s", "I live in Bergen.", "我喜欢爬山。", "I work as a nurse.", "Remember: my locker is number 12.")
	b.clock.Advance(time.Hour)
	if err := b.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.usage(t, "ann").Memories; n != 2 {
		t.Errorf("%d memories, want 2", n)
	}
	page, err := s.ListExtractions(t.Context(), yiku.ListExtractionsRequest{UserID: "ann"})
	if err != nil || len(page.Items) == 0 {
		t.Fatal(page.Items, err)
	}
	parked := 0
	for _, report := range page.Items {
		for _, p := range report.Parked {
			if p.Reason != "quota" || p.Text == "" {
				t.Errorf("parked: %+v", p)
			}
			parked++
		}
	}
	if parked < 2 {
		t.Errorf("%d pieces are parked, want at least 2", parked)
	}
	utter(t, s, "s", "请记住我的储物柜是13号")
	if n := b.usage(t, "ann").Messages; n != 5 {
		t.Errorf("%d messages, want 5: one was refused for what it asks to remember", n)
	}
}
