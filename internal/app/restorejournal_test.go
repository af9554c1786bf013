package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
)

// TestR39_AnOldDatabaseByHand: a database that was put in its place by hand and
// is older than its forget journal is not opened, whichever forget or deletion
// it lacks, also of somebody whom it does not know; a restored one is.
// Control: the database as it was is opened.
func TestR39_AnOldDatabaseByHand(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	v := victims("")
	for _, v := range v[:2] {
		v.plant(l, v)
	}
	first := backUp(t, cfg)
	copies := []string{copyDatabase(t, l)}
	l = live(t, cfg)
	v[0].forget(l, v[0])
	byDeletion(l, v[1])
	copies = append(copies, copyDatabase(t, l))
	l = live(t, cfg)
	v[4].plant(l, v[4])
	v[4].forget(l, v[4])
	copies = append(copies, copyDatabase(t, l))
	for age, path := range copies {
		by := lost(t, cfg, true)
		l.must(copyFile(path, filepath.Join(by.DataDir, "yiku.db")))
		core, err := Open(t.Context(), by, nil)
		if err == nil {
			err = core.Close()
		}
		if newest := age == len(copies)-1; newest && err != nil || !newest && (!errors.Is(err, yiku.ErrConflict) || !strings.Contains(err.Error(), "older than its forget journal")) {
			t.Errorf("copy %d: %v", age, err)
		}
	}
	restored := lost(t, cfg, true)
	_, err := Restore(t.Context(), restored, RestoreOptions{From: first}, nil)
	l.must(err)
	live(t, restored).end()
}

// copyDatabase ends a life and copies what it has written.
func copyDatabase(t *testing.T, l *life) string {
	t.Helper()
	l.end()
	path := filepath.Join(t.TempDir(), "yiku.db")
	if err := copyFile(filepath.Join(l.cfg.DataDir, "yiku.db"), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestR39_AFailedRestorationLeavesNoJournal: a journal that was named and does
// not fit the backup, or a backup that is refused, leaves the data directory as
// it was, so that the right one can be named then.
func TestR39_AFailedRestorationLeavesNoJournal(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	l.save("ann", "secret canary", yiku.SaveMemoryRequest{})
	from := backUp(t, cfg)
	byForget(yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "x"}})(l, &victim{user: "ann", canary: "canary"})
	l.end()
	other := testConfig(t)
	other.AuditKey = auditKeyPath(cfg)
	live(t, other).end()
	cut := filepath.Join(t.TempDir(), "cut.tar")
	whole, err := os.ReadFile(from)
	l.must(err)
	l.must(os.WriteFile(cut, whole[:len(whole)/2], 0o600))

	restored := lost(t, cfg, false)
	for what, r := range map[string]RestoreOptions{
		"another journal":             {From: from, Journal: JournalPath(other)},
		"a cut backup":                {From: cut, Journal: JournalPath(cfg)},
		"a cut backup and no journal": {From: cut, WithoutJournal: true},
	} {
		if _, err := Restore(t.Context(), restored, r, nil); err == nil {
			t.Errorf("%s was taken", what)
		}
		if found, err := filepath.Glob(filepath.Join(restored.DataDir, "forgets*")); err != nil || len(found) > 0 {
			t.Errorf("%s left %q, %v", what, found, err)
		}
	}
	if _, err := os.Stat(filepath.Join(restored.DataDir, "yiku.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database: %v", err)
	}
	_, err = Restore(t.Context(), restored, RestoreOptions{From: from, Journal: JournalPath(cfg)}, nil)
	l.must(err)
	l = live(t, restored)
	defer l.end()
	if shown := l.shown("ann"); strings.Contains(shown, "canary") {
		t.Errorf("after the restoration: %s", shown)
	}
}

// TestR39_DerivedPlaces: what a session's forget took of its forks, of the
// working memory that another session went on with, and of completed tasks,
// is forgotten again in a restored backup. Control: without the journal it is
// back.
func TestR39_DerivedPlaces(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	l := live(t, cfg)
	const canary = "金丝雀canary"
	l.say("ann", "s", "1", "message "+canary)
	_, err := l.s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "ann", SessionID: "s", NewSessionID: "f"})
	l.must(err)
	l.say("ann", "f", "2", "own words")
	_, err = l.s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "s", TaskID: "t", Todos: []any{canary}})
	l.must(err)
	_, err = l.s.PatchWorking(t.Context(), yiku.PatchWorkingRequest{UserID: "ann", SessionID: "f", TaskID: "t", DataSlots: yiku.Some(map[string]any{"next": "f"})})
	l.must(err)
	l.say("bob", "s", "1", "hello")
	_, err = l.s.CompleteTask(t.Context(), yiku.CompleteTaskRequest{UserID: "bob", SessionID: "s", TaskID: canary, Outcome: yiku.TaskSuccess})
	l.must(err)
	from := backUp(t, cfg)
	byForget(yiku.ForgetRequest{Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s"}}})(l, &victim{user: "ann"})
	byForget(yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "x"}})(l, &victim{user: "bob", canary: canary})
	l.end()
	for _, journal := range []bool{true, false} {
		restored := lost(t, cfg, journal)
		_, err = Restore(t.Context(), restored, RestoreOptions{From: from, WithoutJournal: !journal}, nil)
		l.must(err)
		if n := inFiles(t, restored.DataDir, canary); (n == 0) != journal {
			t.Errorf("with the journal: %v; %d files hold the canary", journal, n)
		}
		if !journal {
			continue
		}
		l := live(t, restored)
		if shown := l.shown("ann"); !strings.Contains(shown, "own words") {
			t.Errorf("left is %s", shown)
		}
		l.end()
	}
}
