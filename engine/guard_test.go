package engine_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/audit"
	"github.com/yiku-ai/yiku/internal/journal"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// epochOf reads an owner's epoch from the store.
func epochOf(t *testing.T, s store.Store, user string) int64 {
	t.Helper()
	owner, err := yiku.NewOwner("acme", user)
	if err != nil {
		t.Fatal(err)
	}
	var state store.OwnerState
	err = s.View(t.Context(), func(r store.Reader) (err error) {
		state, err = r.Owner(owner)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state.Epoch
}

// TestE2_EpochRises: whatever takes something away raises the owner's epoch,
// so that what was read before is not written after; a dry run does not, and
// nobody else's epoch moves.
func TestE2_EpochRises(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	said := save(t, s, yiku.SaveMemoryRequest{Content: "茶 tea"})
	say(t, s, "one", "hello", "hi")
	for name, c := range map[string]struct {
		do   func() error
		rise int64
	}{
		"a dry run": {func() error {
			_, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", DryRun: true, Selector: yiku.Selector{Keyword: "tea"}})
			return err
		}, 0},
		"a forget": {func() error {
			_, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Keyword: "咖啡"}})
			return err
		}, 1},
		"deleting a memory": {func() error {
			_, err := s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: said.ID})
			return err
		}, 1},
		"deleting a session": {func() error {
			_, err := s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "ann", SessionID: "one"})
			return err
		}, 1},
	} {
		before := epochOf(t, b.store, "ann")
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rise := epochOf(t, b.store, "ann") - before; rise != c.rise {
			t.Errorf("%s raises the epoch by %d, want %d", name, rise, c.rise)
		}
	}
	if got := epochOf(t, b.store, "bob"); got != 0 {
		t.Errorf("another user's epoch is %d", got)
	}
}

// TestE2_MemoriesAreSuppressed: of a memory that was forgotten or deleted a
// mark of its content and one of its fact stay, which whatever is learnt later
// can meet. Of what was not forgotten none stands.
func TestE2_MemoriesAreSuppressed(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"forget", "delete"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			s := b.operator()
			said := save(t, s, yiku.SaveMemoryRequest{Content: "我住在杭州", Subject: "user", Attribute: "residence", Value: "杭州"})
			save(t, s, yiku.SaveMemoryRequest{Content: "Prefers tea"})
			if way == "forget" {
				forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{IDs: []string{said.ID}}})
			} else if _, err := s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: said.ID}); err != nil {
				t.Fatal(err)
			}
			keyed := func(key []byte, text string) []byte {
				h := hmac.New(sha256.New, key)
				h.Write([]byte(text))
				return h.Sum(nil)
			}
			named := func(kind string, parts ...string) string {
				for _, p := range parts {
					kind += fmt.Sprintf("|%d|%s", len(p), p)
				}
				return kind
			}
			key := keyed(b.store.Meta().Secret, "suppression")
			mark := func(kind string, parts ...string) string {
				return string(keyed(key, named("owner", "acme", "ann")+named(kind, parts...))[:journal.MarkSize])
			}
			marks := []string{
				mark("content", reconcile.ContentKey("我住在杭州")),
				mark("fact", reconcile.SubjectKey("user"), reconcile.NewVocabulary().Canonical("residence"), reconcile.ContentKey("杭州")),
				mark("content", reconcile.ContentKey("Prefers tea")),
			}
			owner, err := yiku.NewOwner("acme", "ann")
			if err != nil {
				t.Fatal(err)
			}
			var stand []bool
			err = b.store.Update(t.Context(), owner, store.Request, func(tx store.Tx) (err error) {
				stand, err = tx.Suppressed(marks)
				return err
			})
			if err != nil || !slices.Equal(stand, []bool{true, true, false}) {
				t.Errorf("marks of content, fact and another memory stand: %v, %v", stand, err)
			}
		})
	}
}

// between is a store in which something happens once, before the next write of
// a request.
type between struct {
	store.Store
	do atomic.Pointer[func()]
}

func (s *between) Update(ctx context.Context, owner yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	if p == store.Request {
		if do := s.do.Swap(nil); do != nil {
			(*do)()
		}
	}
	return s.Store.Update(ctx, owner, p, fn)
}

// TestE2_ContextReadsAgain: a context whose memories or working memory are
// forgotten between its reading and the writing of its snapshot is read again:
// neither the answer nor a snapshot holds what is gone.
func TestE2_ContextReadsAgain(t *testing.T) {
	t.Parallel()
	for place, put := range map[string]func(yiku.Service) error{
		"a memory": func(s yiku.Service) error {
			_, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: "canary 金丝雀", Type: yiku.TypeConstraint})
			return err
		},
		"working memory": func(s yiku.Service) error { // which no snapshot cites
			_, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "one", DataSlots: map[string]any{"bird": "canary 金丝雀"}})
			return err
		},
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			slow := &between{Store: st}
			s := open(t, slow, &engine.Options{}).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
			save(t, s, yiku.SaveMemoryRequest{Content: "speaks Chinese", Type: yiku.TypeConstraint})
			if err := put(s); err != nil {
				t.Fatal(err)
			}
			shown := ""
			slow.do.Store(new(func() {
				shown = contextOf(t, s, yiku.GetContextRequest{SessionID: "one", Query: "canary"}).System
				forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "canary"}})
			}))
			res := contextOf(t, s, yiku.GetContextRequest{SessionID: "one", Query: "canary"})
			if !strings.Contains(shown, "canary") {
				t.Fatalf("before it was forgotten it was not shown:\n%s", shown)
			}
			if strings.Contains(res.System, "canary") || !strings.Contains(res.System, "speaks Chinese") {
				t.Errorf("the context:\n%s", res.System)
			}
			kept, err := s.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{UserID: "ann", ID: res.SnapshotID})
			if err != nil || strings.Contains(kept.Response.System, "canary") {
				t.Errorf("the snapshot: %v\n%s", err, kept.Response.System)
			}
		})
	}
}

// TestG1_SnapshotCitesItsMessages: a snapshot goes from the store with any
// message that it shows, whichever way the message goes.
func TestG1_SnapshotCitesItsMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	say(t, s, "one", "我住在上海", "好的")
	id := contextOf(t, s, yiku.GetContextRequest{SessionID: "one"}).SnapshotID
	owner, err := yiku.NewOwner("acme", "ann")
	if err != nil {
		t.Fatal(err)
	}
	there := func(r store.Reader) error {
		_, err := r.Snapshot(owner, id, b.clock.Now())
		return err
	}
	if err := b.store.View(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	err = b.store.Update(t.Context(), owner, store.Request, func(tx store.Tx) error {
		rows, err := tx.OwnerMessages(owner, 0, 1<<30, 1)
		if err != nil {
			return err
		}
		return tx.DeleteMessages([]int64{rows[0].Key})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.View(t.Context(), there); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("the snapshot of a deleted message: %v", err)
	}
}

// TestE8_KeyOutsideTheDatabase: the audit log is sealed under the key that the
// engine was given: with another key, or with the one that the store could
// make by itself, it does not verify.
func TestE8_KeyOutsideTheDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := func(b byte) *audit.Key {
		k, err := audit.NewKey(bytes.Repeat([]byte{b}, audit.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		return &k
	}
	for i, c := range []struct {
		key   *audit.Key
		valid bool
	}{{key(1), true}, {key(2), false}, {nil, false}, {key(1), true}} {
		st, err := sqlite.Open(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		index := memindex.New(nil)
		e, err := engine.New(engine.Options{Store: st, Index: index, Audit: c.key})
		if err != nil {
			t.Fatal(err)
		}
		s := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
		if i == 0 {
			forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "pears"}})
		}
		if res, err := s.VerifyAudit(t.Context(), yiku.VerifyAuditRequest{}); err != nil || res.Valid != c.valid {
			t.Errorf("engine %d: %+v, %v, want valid %v", i, res, err, c.valid)
		}
		for _, end := range []func() error{e.Close, index.Close, st.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	}
}
