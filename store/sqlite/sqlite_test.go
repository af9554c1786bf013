package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
	"go.uber.org/goleak"
)

// TestMain fails where a test leaves a goroutine behind (R14).
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ store.Store = (*Store)(nil)

// openTest opens a store in a directory of the test.
func openTest(t testing.TB, options *Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), t.TempDir(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func testOwner(t testing.TB, tenant, user string) yiku.Owner {
	t.Helper()
	o, err := yiku.NewOwner(tenant, user)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// write runs fn in an update and fails the test on an error.
func write(t testing.TB, s store.Store, o yiku.Owner, fn func(tx store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), o, store.Request, fn); err != nil {
		t.Fatal(err)
	}
}

func testTime() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 123456000, time.UTC) }

// TestH1_ReopenKeepsEverything: what was written in one life of the process is
// there in the next, in Chinese and English alike.
func TestH1_ReopenKeepsEverything(t *testing.T) {
	t.Parallel()
	for _, single := range []bool{false, true} {
		dir := t.TempDir()
		s, err := Open(t.Context(), dir, &Options{SingleConnection: single})
		if err != nil {
			t.Fatal(err)
		}
		owner := testOwner(t, "acme", "王小明")
		memory := store.Memory{ContentNorm: "likes tea"}
		memory.ID, memory.Content, memory.Topics = "m1", "喜欢喝茶 likes tea", []string{"饮食", "drinks"}
		memory.Subject, memory.Attribute, memory.Value, memory.Single = "用户", "饮料", "茶", true
		memory.Status, memory.Level, memory.Type, memory.Kind = yiku.StatusActive, yiku.LevelUser, yiku.TypeFact, yiku.KindSemantic
		memory.Metadata = yiku.Metadata{"n": 1.5, "big": "12345678901234567890", "list": []any{1.0, "二"}}
		memory.CreatedAt, memory.UpdatedAt = testTime(), testTime()
		session := store.Session{Session: yiku.Session{ID: "s", CreatedAt: testTime()}}
		message := store.Message{Message: yiku.Message{ID: "1", Role: yiku.RoleUser, Content: yiku.Text("你好"), CreatedAt: testTime()}, RecordedAt: testTime()}
		write(t, s, owner, func(tx store.Tx) error {
			return errors.Join(tx.PutSession(&session), tx.AddMessages(session.Key, []*store.Message{&message}), tx.AddMemory(&memory))
		})
		meta := s.Meta()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(t.Context(), dir, &Options{SingleConnection: single}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(meta, s.Meta()); diff != "" {
			t.Error("Meta changed:", diff)
		}
		memory.ContentNorm = ""
		err = s.View(t.Context(), func(r store.Reader) error {
			m, err := r.Memory(owner, "m1")
			if diff := cmp.Diff(memory, m); diff != "" {
				t.Error("memory differs:", diff)
			}
			got, err2 := r.MessageByID(owner, session.Key, "1")
			if diff := cmp.Diff(message, got); diff != "" {
				t.Error("message differs:", diff)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Error(err)
		}
		if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("Check = %v, %v", found, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
