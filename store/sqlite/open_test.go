package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

// TestR5_EveryConnection: all settings hold on every pooled connection, and one
// that was weakened is refused.
func TestR5_EveryConnection(t *testing.T) {
	t.Parallel()
	for name, options := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openTest(t, options)
			setup := connSetup{exclusive: options != nil && options.SingleConnection}
			want := DefaultReaders + 1
			if options != nil {
				want = options.Readers + 1
			}
			if len(s.pool.all) != want {
				t.Fatalf("%d connections, want %d", len(s.pool.all), want)
			}
			for i, c := range s.pool.all {
				setup.readOnly = i > 0
				if err := c.assert(setup); err != nil {
					t.Errorf("connection %d: %v", i, err)
				}
			}
		})
	}
	boardtest.Report(t, boardtest.Row{ID: "R5", Trials: len(variants()), What: "ways to run the store had a connection with another setting"})
}

// TestR5_WeakenedIsRefused: each setting is looked at.
func TestR5_WeakenedIsRefused(t *testing.T) {
	t.Parallel()
	weaker := map[string]string{
		"busy_timeout": "0", "locking_mode": "exclusive", "journal_mode": "delete", "synchronous": "NORMAL", "foreign_keys": "OFF",
		"secure_delete": "OFF", "trusted_schema": "ON", "temp_store": "FILE", "recursive_triggers": "ON", "query_only": "ON", "cache_size": "-1", "checksum_verification": "OFF",
	}
	for _, p := range (connSetup{}).pragmas() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			setup := connSetup{file: filepath.Join(t.TempDir(), "x.db")}
			c, err := openConn(t.Context(), setup)
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			if err := c.db.Exec("PRAGMA " + p.name + "=" + weaker[p.name]); err != nil {
				t.Fatal(err)
			}
			if err := c.assert(setup); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), p.name) {
				t.Errorf("assert = %v, want ErrUnavailable that names %s", err, p.name)
			}
		})
	}
	boardtest.Report(t, boardtest.Row{ID: "R5", Part: "control", Hits: len(weaker), Trials: len(weaker), What: "weakened settings were refused"})
}

// TestR5_Version: an SQLite with the WAL-reset bug is too old.
func TestR5_Version(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"3.51.3": true, "3.51.10": true, "3.52.0": true, "4.0.0": true, "3.51.2": false, "3.9.99": false, "2.99.99": false, "x": false,
	} {
		if got := atLeast(version, minVersion()); got != want {
			t.Errorf("atLeast(%q) = %v", version, got)
		}
	}
}

// TestH1_DirectoryIsPrivate: the directory is 0700 and every file in it 0600,
// while the store is open, after it was closed, and where it was open to others before.
func TestH1_DirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "数据 dir #1?%")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err := Open(t.Context(), dir, &Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, testOwner(t, "a", "b"), func(tx store.Tx) error { _, err := tx.RaiseEpoch(); return err })
	if !strings.Contains(log.String(), "taken away") {
		t.Error("the log does not say that the directory was tightened")
	}
	files := privateFiles(t, dir)
	for _, name := range []string{"yiku.db", "yiku.db-wal", "yiku.db-shm", "lock"} {
		if !strings.Contains(files, name) {
			t.Errorf("%s is not in the directory: %s", name, files)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "yiku.db"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	privateFiles(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	privateFiles(t, dir)
}

// privateFiles reports what others may read, and returns the names.
func privateFiles(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", d.Name(), info.Mode().Perm(), want)
		}
		names = append(names, d.Name())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// TestH1_OneProcess: a second opener is told which process has the directory.
func TestH1_OneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dir, nil)
	if !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("the second Open = %v, want ErrUnavailable that names process %d", err, os.Getpid())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), dir, nil); err != nil {
		t.Fatalf("Open after Close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMigrations: the schema goes up and down and up again; what was changed
// afterwards, or is newer, is refused, and the directory is free afterwards.
func TestMigrations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, testOwner(t, "a", "b"), func(tx store.Tx) error { return tx.AddMemory(&store.Memory{Memory: yiku.Memory{ID: "m"}}) })
	c := <-s.pool.writing
	schema := func() (names string) {
		t.Helper()
		err := c.each(`SELECT name || ': ' || coalesce(sql, '') FROM sqlite_schema WHERE name <> 'meta' ORDER BY name`, textRow(&names))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	full := schema()
	usage := func() (text string) {
		t.Helper()
		sql := `SELECT group_concat(o.messages || ' ' || o.memories || ' ' || o.bytes || ' ' || t.owners) FROM owners o JOIN tenants t ON t.number = o.tenant`
		if err := c.each(sql, textRow(&text)); err != nil {
			t.Fatal(err)
		}
		return text
	}
	used := usage()
	if err := errors.Join(s.migrate(c, 2), s.migrate(c, 3), s.nameTenants(c)); err != nil {
		t.Fatal("usage, down and up:", err)
	}
	if again := usage(); again != used || strings.Contains(used, " 0") {
		t.Errorf("usage of a store that is older: %q, before %q", again, used)
	}
	if err := s.migrate(c, 0); err != nil {
		t.Fatal("down:", err)
	}
	if left := schema(); left != "" {
		t.Error("down leaves", left)
	}
	if err := s.migrate(c, latest); err != nil {
		t.Fatal("up again:", err)
	}
	if schema() != full {
		t.Error("up after down gives another schema")
	}
	for name, spoil := range map[string]string{
		"another one":    `UPDATE meta SET value = x'00' WHERE name = 'migration.0001'`,
		"this program k": fmt.Sprintf(`INSERT INTO meta (name, value) VALUES ('migration.%04d', x'00'), ('migration.%04d', x'00')`, latest+1, latest+2),
	} {
		if err := errors.Join(c.run(sqlBeginNow), c.run(spoil)); err != nil {
			t.Fatal(err)
		}
		if err := s.migrate(c, latest); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), name) {
			t.Errorf("migrate = %v, want ErrUnavailable with %q", err, name)
		}
		if err := c.run(sqlRollback); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.run(`UPDATE meta SET value = x'00' WHERE name = 'migration.0001'`); err != nil {
		t.Fatal(err)
	}
	s.pool.writing <- c
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first failure gives the lock back
		if _, err = Open(t.Context(), dir, nil); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "another one") {
			t.Errorf("Open = %v", err)
		}
	}
}

// TestDeletedIsGoneFromTheFiles (part of E2): after a delete and a checkpoint no file
// holds the words. The control: before, some file does.
func TestDeletedIsGoneFromTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const canary = "金丝雀canary7291"
	owner := testOwner(t, "acme", "u")
	session := store.Session{Session: yiku.Session{ID: "s", CreatedAt: testTime()}}
	memory := store.Memory{Memory: yiku.Memory{ID: "m", Content: strings.Repeat(canary, 500), Subject: canary, Topics: []string{canary}}}
	message := store.Message{Message: yiku.Message{ID: "1", Content: yiku.Text(canary)}}
	write(t, s, owner, func(tx store.Tx) error {
		if err := errors.Join(tx.PutSession(&session), tx.AddMessages(session.Key, []*store.Message{&message}), tx.AddMemory(&memory)); err != nil {
			return err
		}
		changed := memory
		changed.Content = "other"
		return tx.UpdateMemory(&changed, "patched")
	})
	if n := holding(t, dir, canary); n == 0 {
		t.Error("no file holds the canary before it is deleted: the test cannot see it")
	}
	write(t, s, owner, func(tx store.Tx) error {
		return errors.Join(tx.DeleteMemory(memory.Key), tx.DeleteSession(session.Key))
	})
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := holding(t, dir, canary); n != 0 {
		t.Errorf("%d files still hold the canary", n)
	}
}

func holding(t *testing.T, dir, text string) (n int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			n++
		}
	}
	return n
}

// TestLogIsBounded (part of R9): the log is cut back when it has grown over its limit.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	s := openTest(t, &Options{WALLimit: most})
	owner := testOwner(t, "acme", "u")
	for i := range 40 {
		write(t, s, owner, func(tx store.Tx) error {
			return tx.AddMemory(&store.Memory{Memory: yiku.Memory{ID: strconv.Itoa(i), Content: strings.Repeat("长", 40_000)}})
		})
		if size := s.Stats().WALBytes; size > 2*most { // the last group comes on top
			t.Fatalf("the log has %d bytes after %d updates", size, i+1)
		}
	}
	if s.Stats().Truncations == 0 {
		t.Error("the log was never cut back")
	}
}

// TestCheck_SeesDamage: what is not as it must be is reported.
func TestCheck_SeesDamage(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	write(t, s, testOwner(t, "acme", "u"), func(tx store.Tx) error {
		return tx.PutSession(&store.Session{Session: yiku.Session{ID: "s", CreatedAt: testTime()}})
	})
	c := <-s.pool.writing
	err := errors.Join(c.run(`UPDATE sessions SET message_count = 3`), c.run(`UPDATE owners SET seq = 0`),
		c.run(`PRAGMA foreign_keys = OFF`), c.run(`INSERT INTO access (key, count) VALUES (99, 1)`), c.run(`PRAGMA foreign_keys = ON`))
	s.pool.writing <- c
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Check(context.Background())
	if err != nil || len(found) != 4 { // the owner's seq is wrong, and not what its MAC covers
		t.Errorf("Check = %q, %v, want four findings", found, err)
	}
}

// TestC1_KindsHaveTheirOwnTables: facts, episodes, skills, entities and
// relations each have a table; what memories share stands once.
func TestC1_KindsHaveTheirOwnTables(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	err := s.View(t.Context(), func(r store.Reader) error {
		tables := map[string]bool{}
		err := r.(*reader).c.each(`SELECT name FROM sqlite_schema WHERE type = 'table'`, func(st *sqlite3.Stmt) error {
			tables[st.ColumnText(0)] = true
			return nil
		})
		for _, want := range []string{"memories", "facts", "episodes", "skills", "entities", "relations", "working"} {
			if !tables[want] {
				t.Errorf("there is no table %s", want)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestR7_HeaderWithoutChecksums: a store whose header says that its pages have
// no checksums is refused: it is damaged, and is not given new ones.
func TestR7_HeaderWithoutChecksums(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, databaseName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	const reservedBytes = 20 // where the header has them, by the file format of SQLite
	for _, reserved := range []byte{0, 16} {
		if _, err := f.WriteAt([]byte{reserved}, reservedBytes); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(t.Context(), dir, nil); !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("%d bytes: %v, want ErrUnavailable", reserved, err)
			if err == nil {
				_ = s.Close()
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestR5_ReadersCannotWrite: a connection for reads refuses writes by itself.
func TestR5_ReadersCannotWrite(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	for i, c := range s.pool.all[1:] {
		if err := c.db.Exec(`DELETE FROM owners`); err == nil {
			t.Errorf("reader %d writes", i)
		}
	}
}

// TestH1_MadePrivate: what the store makes is private from its first moment,
// not only after it has looked.
func TestH1_MadePrivate(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "new", "data"), &Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "had access") {
		t.Errorf("it was open to others for a while:\n%s", &log)
	}
}
