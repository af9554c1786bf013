package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// TestC16_SharedIsTheOperators: shared memories are read by everyone of the
// tenant, and made, changed and deleted by its operators alone: not by a
// writer, and not by an admin who speaks for one user.
func TestC16_SharedIsTheOperators(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	operator := b.operator()
	rule := save(t, operator, yiku.SaveMemoryRequest{Content: "Closed on Sundays", Level: yiku.LevelShared})
	for name, who := range map[string]yiku.Principal{
		"a writer":               {Tenant: "acme", Access: yiku.AccessWrite},
		"a writer of one user":   {Tenant: "acme", Access: yiku.AccessWrite, User: "ann"},
		"an admin of one user":   {Tenant: "acme", Access: yiku.AccessAdmin, User: "ann"},
		"an operator (control)":  {Tenant: "acme", Access: yiku.AccessAdmin},
		"an operator of another": {Tenant: "globex", Access: yiku.AccessAdmin},
	} {
		s := b.As(who)
		want := map[string]error{"an operator (control)": nil, "an operator of another": yiku.ErrNotFound}
		refused, ok := want[name]
		if !ok {
			refused = yiku.ErrForbidden
		}
		if _, err := s.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "ann", ID: rule.ID}); (err == nil) != (who.Tenant == "acme") {
			t.Errorf("%s reads: %v", name, err)
		}
		_, err := s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: rule.ID, Importance: yiku.Opt[float64]{Present: true, Value: 0.9}})
		if !errors.Is(err, refused) {
			t.Errorf("%s changes: %v, want %v", name, err, refused)
		}
		if refused == nil || who.Tenant != "acme" {
			continue
		}
		if _, err := s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: rule.ID}); !errors.Is(err, refused) {
			t.Errorf("%s deletes: %v", name, err)
		}
		if _, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: "Open", Level: yiku.LevelShared}); !errors.Is(err, refused) {
			t.Errorf("%s saves: %v", name, err)
		}
	}
}

// TestC16_ContextOfASession: a context of a session that names another project
// than the session's is refused, as everything else that does.
func TestC16_ContextOfASession(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: "one", ProjectID: "a"}); err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]error{"": nil, "a": nil, "b": yiku.ErrInvalid} {
		if _, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: "ann", SessionID: "one", ProjectID: project, Query: "x"}); !errors.Is(err, want) {
			t.Errorf("project %q: %v, want %v", project, err, want)
		}
	}
}

// TestF1_IdempotencyKeyEnds: within its time a key stands for one request;
// afterwards it may be used for another.
func TestF1_IdempotencyKeyEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	ask := func(content string) error {
		_, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: content, Idempotent: yiku.Idempotent{IdempotencyKey: "k"}})
		return err
	}
	keep := engine.DefaultSettings().IdempotencyKeep
	for _, step := range []struct {
		after   time.Duration
		content string
		want    error
	}{{0, "likes pears", nil}, {keep, "likes apples", yiku.ErrConflict}, {time.Second, "likes apples", nil}, {0, "likes pears", yiku.ErrConflict}} {
		b.clock.Advance(step.after)
		if err := ask(step.content); !errors.Is(err, step.want) {
			t.Errorf("%s after %v: %v, want %v", step.content, step.after, err, step.want)
		}
	}
}

// unwilling is a store whose owners have withdrawn consent.
type unwilling struct{ store.Store }

func (s unwilling) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, owner, p, func(tx store.Tx) error { return fn(unwillingTx{tx}) })
}

type unwillingTx struct{ store.Tx }

func (t unwillingTx) Owner(owner yiku.Owner) (store.OwnerState, error) {
	state, err := t.Tx.Owner(owner)
	state.ConsentWithdrawn = true
	return state, err
}

// TestE9_WithdrawnConsentRefusesWrites: of somebody who has withdrawn consent
// nothing new is written, no snapshot either; reading and forgetting go on.
func TestE9_WithdrawnConsentRefusesWrites(t *testing.T) {
	t.Parallel()
	st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, unwilling{st}, &engine.Options{}).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	if _, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: "likes pears"}); !errors.Is(err, yiku.ErrConsentWithdrawn) {
		t.Errorf("save: %v", err)
	}
	_, err = s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "one", Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("x")}}})
	if !errors.Is(err, yiku.ErrConsentWithdrawn) {
		t.Errorf("append: %v", err)
	}
	res := contextOf(t, s, yiku.GetContextRequest{Query: "pears"})
	if _, err := s.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{UserID: "ann", ID: "x" + res.SnapshotID}); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("snapshot: %v", err)
	}
	forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{All: true}})
}

// TestC16_SharedKeysAreEachUsersOwn: what two users ask for under the same
// idempotency key is two requests, also where both write what is shared.
func TestC16_SharedKeysAreEachUsersOwn(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	ids := map[string]bool{}
	for range 2 {
		for _, user := range []string{"ann", "bob"} {
			res, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: user, Content: "rule of " + user, Level: yiku.LevelShared,
				Idempotent: yiku.Idempotent{IdempotencyKey: "k"}})
			if err != nil {
				t.Fatalf("%s: %v", user, err)
			}
			ids[res.ID] = true
		}
	}
	if len(ids) != 2 {
		t.Errorf("%d memories, want one of each user", len(ids))
	}
}

// TestF1_CursorOfAnotherList: a cursor goes on with the list that gave it, also
// where another list has the same owner and a parent with the same id.
func TestF1_CursorOfAnotherList(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	memory := save(t, s, yiku.SaveMemoryRequest{Content: "likes pears"})
	_, err := s.PatchMemory(t.Context(), yiku.PatchMemoryRequest{UserID: "ann", ID: memory.ID, Content: yiku.Opt[string]{Present: true, Value: "likes apples"}})
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, memory.ID, "one", "two")
	history, err := s.MemoryHistory(t.Context(), yiku.MemoryHistoryRequest{UserID: "ann", ID: memory.ID, Paging: yiku.Paging{Limit: 1}})
	if err != nil || history.NextCursor == "" {
		t.Fatalf("%+v, %v", history, err)
	}
	next := yiku.Paging{Limit: 1, Cursor: history.NextCursor}
	if _, err := s.MemoryHistory(t.Context(), yiku.MemoryHistoryRequest{UserID: "ann", ID: memory.ID, Paging: next}); err != nil {
		t.Errorf("its own list: %v", err)
	}
	if _, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: memory.ID, Paging: next}); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("another list: %v, want ErrInvalid", err)
	}
}

// TestI3_TrustOfDerived: a memory is trusted no more than the least trusted one
// that it was derived from, whoever says it.
func TestI3_TrustOfDerived(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	own := save(t, s, yiku.SaveMemoryRequest{Content: "likes pears"}).Memory
	web := save(t, s, yiku.SaveMemoryRequest{Content: "pears are out of season", Origin: yiku.OriginWeb}).Memory
	if web.Trust >= own.Trust {
		t.Fatalf("the web is trusted %v, the user %v", web.Trust, own.Trust)
	}
	got := save(t, s, yiku.SaveMemoryRequest{Content: "wants no pears now", DerivedFrom: []string{own.ID, web.ID}}).Memory
	if got.Trust != web.Trust {
		t.Errorf("derived: %v, want %v", got.Trust, web.Trust)
	}
}
