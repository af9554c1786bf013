package sqlite

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// unzip reads a file of testdata. schema1.db is a database that the program
// wrote when envelopes had no MAC, with what fillWhole writes (12 memories an
// owner); schema1.answers is what readWhole answered then
// (but for what a forget had noted as gone: the tombstones tell that now).
func unzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// oldStore puts the database of schema 1 into a directory.
func oldStore(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, databaseName), unzip(t, "schema1.db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestR7_OldStoreIsSealed: a database that was written without MACs answers as
// it did, has a MAC on every row afterwards, and takes writes; and it can go
// back.
func TestR7_OldStoreIsSealed(t *testing.T) {
	t.Parallel()
	dir, want := oldStore(t), strings.Split(string(unzip(t, "schema1.answers.gz")), "\n")
	for range 2 { // the second time there is nothing left to do
		s, err := Open(t.Context(), dir, wholeOptions())
		if err != nil {
			t.Fatal(err)
		}
		got, err := readWhole(t.Context(), s, wholeOwners(t))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatal("the answers are others:", err, diff)
		}
		if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("Check = %v, %v", found, err)
		}
		c := <-s.pool.writing
		for table, column := range map[string]string{"memories": "body", "facts": "body", "owners": "wrapped"} {
			n, err := c.number(fmt.Sprintf(`SELECT count(*) FROM %s WHERE hex(substr(%s, 1, 1)) <> 'B5'`, table, column))
			if err != nil || n > 0 {
				t.Errorf("%d rows of %s have no MAC, %v", n, table, err)
			}
		}
		s.pool.writing <- c
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(t.Context(), dir, wholeOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s, testOwner(t, "acme", "ann"), func(tx store.Tx) error { return tx.AddMemory(&store.Memory{Memory: yiku.Memory{ID: "new"}}) })
	c := <-s.pool.writing
	defer func() { s.pool.writing <- c }()
	if err := s.migrate(c, 1); err != nil {
		t.Fatal("down:", err)
	}
	n, err := c.number(`SELECT count(*) FROM memories WHERE hex(substr(body, 1, 1)) <> '00'`)
	if err != nil || n > 0 {
		t.Errorf("after going back %d rows have a MAC, %v", n, err)
	}
	if err := s.migrate(c, latest); err != nil {
		t.Fatal("up again:", err)
	}
}

// TestR7_EveryEnvelopeIsWalked: no table has an envelope that the walk does
// not open, but those that nothing fills yet.
func TestR7_EveryEnvelopeIsWalked(t *testing.T) {
	t.Parallel()
	s := openTest(t, wholeOptions())
	fillWhole(t, s, 12)
	walked := map[string]int{"meta": 1, "facts": 1, "episodes": 1, "skills": 1} // the store's own key; read with memories
	err := s.View(t.Context(), func(r store.Reader) error {
		own := r.(*reader)
		if err := own.walk(func(table string, err error) error { walked[table]++; return err }); err != nil {
			return err
		}
		return own.c.each(`SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
			WHERE t.type = 'table' AND c.name IN ('body', 'wrapped', 'state') AND c.type = 'BLOB'`, func(st *sqlite3.Stmt) error {
			table := st.ColumnText(0)
			n, err := own.c.number(`SELECT count(*) FROM ` + table + ` WHERE ` + st.ColumnText(1) + ` IS NOT NULL`)
			if err == nil && n > 0 && walked[table] == 0 {
				t.Errorf("nothing opens the envelopes of %s", table)
			}
			if err == nil && n == 0 && walked[table] > 0 {
				t.Errorf("the test writes nothing into %s.%s", table, st.ColumnText(1))
			}
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// TestR7_RowsStayInTheirPlaces: an envelope that lies beside other columns, or
// in another row, does not open. The control: without a look at the MAC most
// of it passes.
func TestR7_RowsStayInTheirPlaces(t *testing.T) {
	t.Parallel()
	s := openTest(t, wholeOptions())
	fillWhole(t, s, 12)
	c := <-s.pool.writing
	defer func() { s.pool.writing <- c }()
	read := func() error {
		r := &reader{s: s, c: c}
		return r.walk(func(_ string, err error) error { return err })
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	swap := func(table, column string) string {
		return fmt.Sprintf(`UPDATE %s SET %s = (SELECT x.%[2]s FROM %[1]s x WHERE x.key <> %[1]s.key ORDER BY x.key LIMIT 1) WHERE key = (SELECT max(key) FROM %[1]s)`, table, column)
	}
	for _, spoil := range []string{
		swap("memories", "body"), swap("messages", "body"), swap("sessions", "body"), swap("facts", "body"), swap("versions", "body"),
		swap("episodes", "body"), swap("skills", "body"), `UPDATE episodes SET outcome = 'failure'`, `UPDATE episodes SET from_at = NULL`,
		`UPDATE skills SET successes = successes + 1`, `UPDATE skills SET failures = 0`, `DELETE FROM episodes`, `DELETE FROM skills`,
		swap("snapshots", "body"), swap("idempotency", "body"), swap("jobs", "body"), swap("forgets", "body"), swap("receipts", "body"),
		`UPDATE memories SET status = 'active' WHERE status = 'superseded'`, `UPDATE memories SET level = 'shared'`, `UPDATE memories SET importance = 1`,
		`UPDATE memories SET trust = 1`, `UPDATE memories SET valid_to = NULL`, `UPDATE memories SET expires_at = NULL`, `UPDATE memories SET origin = 'tool'`,
		`UPDATE memories SET version = version + 1`, `UPDATE facts SET single = 1 - single`, `DELETE FROM facts`,
		`UPDATE messages SET role = 'system'`, `UPDATE messages SET pinned = 1 - pinned`, `UPDATE messages SET session = (SELECT max(key) FROM sessions)`,
		`UPDATE sessions SET cursor = cursor + 1`, `UPDATE sessions SET ended_at = 1`, `UPDATE tasks SET outcome = 'done'`, `UPDATE working SET open = 0`,
		`UPDATE working SET version = version + 1`, `UPDATE snapshots SET expires_at = NULL`, `UPDATE idempotency SET forgotten = 0`,
		`UPDATE settings SET version = version + 1`, `UPDATE settings SET name = 'another'`, `UPDATE api_keys SET access = 'admin'`, `UPDATE api_keys SET revoked_at = NULL`, `UPDATE api_keys SET hash = CAST(hash || x'00' AS BLOB)`,
		`UPDATE owners SET epoch = 0`, `UPDATE owners SET seq = seq - 1`, `UPDATE owners SET withdrawn_at = 1`,
		`UPDATE owners SET wrapped = (SELECT wrapped FROM owners WHERE number = 1)`, `UPDATE owners SET body = (SELECT body FROM owners WHERE number = 1)`,
		`UPDATE memories SET body = CAST(x'00' || substr(body, 30) AS BLOB)`, `UPDATE memories SET body = x''`, `UPDATE memories SET body = substr(body, 1, 20)`,
	} {
		if err := errors.Join(c.run(sqlBeginNow), c.run(`PRAGMA defer_foreign_keys = ON`), c.run(spoil)); err != nil {
			t.Fatal(spoil, err)
		}
		if c.db.Changes() == 0 {
			t.Errorf("%s changes nothing", spoil)
		}
		if err := read(); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v, want ErrUnavailable that says which row is damaged", spoil, err)
		}
		if err := c.run(sqlRollback); err != nil {
			t.Fatal(err)
		}
	}
}
