package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

// fill writes messages into a store until there are n.
func fill(t testing.TB, s *Store, word string, n int) {
	t.Helper()
	owner := testOwner(t, "acme", "王小明")
	write(t, s, owner, func(tx store.Tx) error {
		session := store.Session{Session: yiku.Session{ID: word, CreatedAt: testTime()}}
		if err := tx.PutSession(&session); err != nil {
			return err
		}
		for i := range n {
			m := &store.Message{Message: yiku.Message{ID: fmt.Sprint(i), Role: yiku.RoleUser, Content: yiku.Text(word), CreatedAt: testTime()}, RecordedAt: testTime()}
			if err := tx.AddMessages(session.Key, []*store.Message{m}); err != nil {
				return err
			}
		}
		return nil
	})
}

// holds tells which of the words a directory's store has all messages of; a
// store that is not sound is an error.
func holds(t *testing.T, dir string, n int, words ...string) (found []string, err error) {
	t.Helper()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if faults, err := s.Check(t.Context()); err != nil || len(faults) > 0 {
		return nil, fmt.Errorf("check: %v %w", faults, err)
	}
	owner := testOwner(t, "acme", "王小明")
	err = s.View(t.Context(), func(r store.Reader) error {
		for _, word := range words {
			session, err := r.Session(owner, word)
			if errors.Is(err, yiku.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if count, err := r.CountMessages(owner, session.Key); err != nil || count != n {
				return fmt.Errorf("%d messages of %s: %w", count, word, err)
			}
			found = append(found, word)
		}
		return nil
	})
	return found, err
}

// crashed makes a directory as a crash leaves it: with a log that has not been
// written back.
func crashed(t *testing.T, word string) string {
	t.Helper()
	live, dir := t.TempDir(), t.TempDir()
	s, err := Open(t.Context(), live, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fill(t, s, word, 5)
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		content, err := os.ReadFile(filepath.Join(live, name))
		if err != nil || len(content) == 0 {
			t.Fatal(name, len(content), err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestR6_ReplaceStopsAnywhere: a replacement that stops after any of its steps,
// and a second time while it is finished, leaves the old database whole or the
// new one, and nothing of the other. Control: the new
// database put beside the old one's log is not the new one.
func TestR6_ReplaceStopsAnywhere(t *testing.T) {
	t.Parallel()
	stage := func(t *testing.T, dir string) *Replacement {
		t.Helper()
		r, err := Replace(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), r.Stage(), nil)
		if err != nil {
			t.Fatal(err)
		}
		fill(t, s, "new", 5)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	const instant = 3 // steps of commit that make the new one stand
	trials := 0
	for stop := 0; stop <= 13; stop++ {
		for again := 0; again <= 9 && (again == 0 || stop%3 == 2); again += 3 {
			trials++
			dir := crashed(t, "old")
			r := stage(t, dir)
			steps := append(r.dir.commit(), r.dir.finish()...)
			for _, step := range steps[:min(stop, len(steps))] {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			if stop >= instant {
				for _, step := range r.dir.finish()[:again] {
					if err := step(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := r.dir.close(); err != nil { // as the kernel does after a crash
				t.Fatal(err)
			}
			want := []string{"old"}
			if stop >= instant {
				want = []string{"new"}
			}
			if got, err := holds(t, dir, 5, "old", "new"); err != nil || !slices.Equal(got, want) {
				t.Errorf("stopped after %d steps, then %d: %v stands, want %v; %v", stop, again, got, want, err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.IsDir() || strings.Contains(e.Name(), "tmp") {
					t.Errorf("stopped after %d steps, then %d: %s is left", stop, again, e.Name())
				}
			}
		}
	}
	dir := crashed(t, "old")
	r := stage(t, dir)
	if err := os.Rename(filepath.Join(r.Stage(), databaseName), filepath.Join(dir, databaseName)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := holds(t, dir, 5, "old", "new"); err == nil && slices.Equal(got, []string{"new"}) {
		t.Error("control: a log of the old database does no harm")
	}
	boardtest.Report(t, boardtest.Row{ID: "R6", Part: "stopped", Trials: trials, What: "restorations that stopped in the middle left neither database whole, or something of both"})
}

// TestR6_ReplaceRefusesWhatIsInUse: nobody else's directory is replaced, and
// while one is, nobody copies or opens it.
func TestR6_ReplaceRefusesWhatIsInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replace(dir); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a running directory: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Replace(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Occupied() {
		t.Error("there is a database")
	}
	if _, err := Open(t.Context(), dir, nil); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("opened while it is replaced: %v", err)
	}
	if _, err := Snapshot(t.Context(), dir, filepath.Join(t.TempDir(), "copy")); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("copied while it is replaced: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Snapshot(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "copy")); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("copied where nothing is: %v", err)
	}
}

// TestR6_SnapshotUnderWrites: copies made while eight writers append hold all
// that was acknowledged before they began, without gaps, and pass the check.
// Control: the database's file copied as it is does not hold it.
func TestR6_SnapshotUnderWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const writers = 8
	var acked [writers]atomic.Int64
	first := make(chan struct{}, writers)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, writers)
	for w := range writers {
		owner := testOwner(t, "acme", fmt.Sprint(w))
		session := store.Session{Session: yiku.Session{ID: "s", CreatedAt: testTime()}}
		write(t, s, owner, func(tx store.Tx) error { return tx.PutSession(&session) })
		go func() {
			ended <- func() error {
				for n := int64(1); ctx.Err() == nil; n++ {
					m := store.Message{Message: yiku.Message{ID: fmt.Sprint(n), Role: yiku.RoleUser, Content: yiku.Text("你好 hello"), CreatedAt: testTime()}, RecordedAt: testTime()}
					err := s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
						row := m
						return tx.AddMessages(session.Key, []*store.Message{&row})
					})
					if err != nil {
						return err
					}
					if acked[w].Store(n); n == 20 {
						first <- struct{}{}
					}
				}
				return nil
			}()
		}()
	}
	for range writers {
		<-first
	}
	for range 5 {
		var before [writers]int64
		for w := range writers {
			before[w] = acked[w].Load()
		}
		to := t.TempDir()
		if _, err := Snapshot(t.Context(), dir, filepath.Join(to, databaseName)); err != nil {
			t.Fatal(err)
		}
		if lost := missing(t, to, before[:]); lost > 0 {
			t.Errorf("%d acknowledged messages are not in the copy", lost)
		}
	}
	stop()
	for range writers {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if !fileLacksWrites(t, s, dir) {
		t.Error("control: a file copied under writes holds everything")
	}
}

// fileLacksWrites reports whether the database's file alone, copied after a
// write, lacks it at least once: what the log holds is moved over now and then.
func fileLacksWrites(t *testing.T, s *Store, dir string) bool {
	t.Helper()
	owner := testOwner(t, "acme", "0")
	for n := range 20 {
		m := store.Message{Message: yiku.Message{ID: fmt.Sprint("control ", n), Role: yiku.RoleUser, Content: yiku.Text("你好 hello"), CreatedAt: testTime()}, RecordedAt: testTime()}
		var want int64
		write(t, s, owner, func(tx store.Tx) error {
			session, err := tx.Session(owner, "s")
			if err != nil {
				return err
			}
			if err := tx.AddMessages(session.Key, []*store.Message{&m}); err != nil {
				return err
			}
			count, err := tx.CountMessages(owner, session.Key)
			want = int64(count)
			return err
		})
		content, err := os.ReadFile(filepath.Join(dir, databaseName))
		if err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		if err := os.WriteFile(filepath.Join(to, databaseName), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if missing(t, to, []int64{want}) > 0 {
			return true
		}
	}
	return false
}

// missing opens a copy and counts the messages up to each writer's number that
// it lacks; a gap below what it has is a fault.
func missing(t *testing.T, dir string, want []int64) (lost int64) {
	t.Helper()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		return 1 // torn: the control's
	}
	defer s.Close()
	if faults, err := s.Check(t.Context()); err != nil || len(faults) > 0 {
		return 1
	}
	err = s.View(t.Context(), func(r store.Reader) error {
		for w, n := range want {
			owner := testOwner(t, "acme", fmt.Sprint(w))
			session, err := r.Session(owner, "s")
			if err != nil {
				lost += n
				continue
			}
			rows, err := r.Messages(owner, store.MessageQuery{SessionKey: session.Key})
			if err != nil {
				return err
			}
			for i, row := range rows {
				if row.ID != fmt.Sprint(i+1) {
					return fmt.Errorf("writer %d: message %s stands at %d", w, row.ID, i+1)
				}
			}
			lost += max(0, n-int64(len(rows)))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return lost
}

// TestE2_LogIsCutAfterALongReader: while a view, such as a backup's, keeps the
// log, what was deleted stays in it; behind the view the next group cuts it.
// Control: before that a file holds it.
func TestE2_LogIsCutAfterALongReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const canary = "金丝雀canary"
	fill(t, s, canary, 3)
	owner := testOwner(t, "acme", "王小明")
	err = s.View(t.Context(), func(r store.Reader) error {
		session, err := r.Session(owner, canary) // from here on the view needs the log
		if err != nil {
			return err
		}
		write(t, s, owner, func(tx store.Tx) error { return tx.DeleteSession(session.Key) })
		if err := s.Checkpoint(t.Context()); !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("with a reader: %v", err)
		}
		if holding(t, dir, canary) == 0 {
			t.Error("control: no file holds it while somebody reads")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second begins when the first one's group has ended
		write(t, s, owner, func(tx store.Tx) error { _, err := tx.RaiseEpoch(); return err })
	}
	if n := holding(t, dir, canary); n != 0 {
		t.Errorf("%d files hold it", n)
	}
}
