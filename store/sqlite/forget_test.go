package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

// integerColumn is a column of the schema that could hold keys of items.
type integerColumn struct{ table, name string }

// integerColumns reads them from the schema itself.
func integerColumns(t *testing.T, s *Store) (list []integerColumn) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) error {
		return r.(*reader).c.each(`SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND c.type = 'INTEGER' ORDER BY 1, 2`, func(st *sqlite3.Stmt) error {
			list = append(list, integerColumn{st.ColumnText(0), st.ColumnText(1)})
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// noItem tells the columns that hold no key of an item, or one that says
// nothing of it, with the reason.
func noItem(c integerColumn) bool {
	generic := []string{"owner", "epoch", "version", "changed", "kind", "tenant", "at", "pinned", "dry_run", "count"}
	switch {
	case strings.HasSuffix(c.name, "_at"), slices.Contains(generic, c.name):
		return true // times, counts, flags, numbers of owners and of changes
	}
	return slices.Contains([]string{
		"sessions.recent_from", "sessions.cursor", "sessions.ended_up_to", // bounds: they do not say that a row was there
		"tombstones.item", // what a tombstone is for
		// Keys of rows that are not items.
		"tasks.key", "summaries.key", "versions.key", "extractions.key", "jobs.key", "snapshots.key", "pages.key", "batches.key", "idempotency.key",
		"receipts.key", "forgets.key", "entities.key", "relations.key", "relations.subject", "relations.object",
		"snapshot_items.snapshot", "idempotency_items.record", "owners.number", "tenants.number", "audit.n",
		// Counts and flags with names of their own.
		"owners.seq", "owners.counter", "sessions.message_count", "working.open", "working.written", "facts.single",
		"skills.successes", "skills.failures", "lineage.item_kind", "lineage.source_kind", "lineage.n", "jobs.attempts", "jobs.not_before",
		"jobs.lease_until", "idempotency.forgotten", "memories.valid_from", "memories.valid_to",
		"owners.messages", "owners.memories", "owners.bytes", "tenants.owners", "usage.day", "usage.calls", "usage.failures", "usage.tokens_in", "usage.tokens_out", "usage.estimated", "usage.history",
	}, c.table+"."+c.name)
}

// residueColumns are the columns that Residue searches.
func residueColumns() map[string]bool {
	columns := map[string]bool{}
	for _, p := range residuePlaces() {
		switch table, name, _ := strings.Cut(p.name, "."); p.name {
		case "summaries.covers":
			columns["summaries.covers_from"], columns["summaries.covers_to"] = true, true
		case "extractions.covers":
			columns["extractions.from_key"], columns["extractions.to_key"] = true, true
		case "pages.covers":
			columns["pages.from_key"], columns["pages.to_key"] = true, true
		default:
			columns[table+"."+name] = true
		}
	}
	return columns
}

// TestE2_ResidueKnowsTheSchema: a column that can hold keys of items is
// searched for residue, or is listed above with why it is not.
func TestE2_ResidueKnowsTheSchema(t *testing.T) {
	t.Parallel()
	searched := residueColumns()
	for _, c := range integerColumns(t, openTest(t, nil)) {
		name := c.table + "." + c.name
		if searched[name] == noItem(c) {
			t.Errorf("%s is searched: %v; listed as holding no item: %v", name, searched[name], noItem(c))
		}
		delete(searched, name)
	}
	for name := range searched {
		t.Errorf("%s is searched and is no column", name)
	}
	if noItem(integerColumn{"new_table", "memory"}) {
		t.Error("the control, a new table with a key, is not seen")
	}
}

// leave puts a row into a table that names an item in the given columns; all
// others get some value.
func leave(t *testing.T, tx *tx, table string, set map[string]int64) {
	t.Helper()
	var names, marks []string
	var args []any
	err := tx.c.each(`SELECT name, type FROM pragma_table_info(?)`, func(st *sqlite3.Stmt) error {
		name, kind := st.ColumnText(0), st.ColumnText(1)
		names, marks = append(names, name), append(marks, "?")
		switch v, ok := set[name]; {
		case ok:
			args = append(args, v)
		case name == "key":
			args = append(args, tx.own.first()|1<<30)
		case kind == "INTEGER", kind == "REAL":
			args = append(args, int64(1))
		case kind == "TEXT":
			args = append(args, "x")
		default:
			args = append(args, []byte{1})
		}
		return nil
	}, table)
	if err == nil {
		err = tx.c.db.Exec(`PRAGMA defer_foreign_keys = ON`)
	}
	if err == nil {
		err = tx.c.run(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(marks, ", ")), args...)
	}
	if err != nil {
		t.Fatal(table, err)
	}
}

// TestE2_ResidueSeesEachPlace leaves one row in each place on purpose: Residue
// counts it there and nowhere else.
func TestE2_ResidueSeesEachPlace(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	owner := testOwner(t, "acme", "王小明")
	undo := errors.New("undo")
	for _, p := range residuePlaces() {
		for _, kind := range p.kinds {
			err := s.Update(t.Context(), owner, store.Request, func(w store.Tx) error {
				tx := w.(*tx)
				gone := tx.own.first() | 77
				table, column, _ := strings.Cut(p.name, ".")
				set := map[string]int64{column: gone, "kind": int64(kind), "item_kind": 0, "source_kind": 0, column + "_kind": int64(kind), "owner": tx.own.number}
				switch p.name {
				case "summaries.covers":
					set["covers_from"], set["covers_to"] = gone-1, gone+1
				case "extractions.covers", "pages.covers":
					set["from_key"], set["to_key"] = gone, gone
				}
				leave(t, tx, table, set)
				found, err := tx.Residue(owner, []store.Item{{Kind: kind, Key: gone}})
				for name, n := range found {
					if want := name == p.name; (n == 1) != want || n > 1 {
						t.Errorf("a row left in %s (kind %d): %s has %d", p.name, kind, name, n)
					}
				}
				return errors.Join(err, undo)
			})
			if !errors.Is(err, undo) {
				t.Fatal(p.name, err)
			}
		}
	}
}

// TestE2_PurgeOfLaterLayers: what no method writes yet goes and is counted too.
func TestE2_PurgeOfLaterLayers(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	owner := testOwner(t, "acme", "u")
	session, message, memory := canarySession(t, s, owner, "text")
	var removed yiku.Removed
	write(t, s, owner, func(w store.Tx) error {
		tx := w.(*tx)
		for _, table := range []string{"vectors", "terms"} {
			leave(t, tx, table, map[string]int64{"item": memory.Key, "kind": 1})
		}
		leave(t, tx, "summaries", map[string]int64{"session": session.Key, "covers_from": message.Key - 1, "covers_to": message.Key})
		leave(t, tx, "extractions", map[string]int64{"session": session.Key, "from_key": message.Key, "to_key": message.Key, "owner": tx.own.number})
		removed = yiku.Removed{}
		return tx.Purge([]int64{memory.Key}, []int64{message.Key}, &removed)
	})
	if removed.Vectors != 1 || removed.Terms != 1 || removed.Summaries != 1 {
		t.Errorf("removed %+v", removed)
	}
	err := s.View(t.Context(), func(r store.Reader) error {
		found, err := r.Residue(owner, []store.Item{{Kind: store.ItemMemory, Key: memory.Key}, {Kind: store.ItemMessage, Key: message.Key}})
		for name, n := range found {
			if n != 0 {
				t.Errorf("%s has %d", name, n)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// canarySession writes a text into everything that holds texts.
func canarySession(t *testing.T, s *Store, owner yiku.Owner, text string) (session *store.Session, message *store.Message, memory *store.Memory) {
	t.Helper()
	write(t, s, owner, func(tx store.Tx) error {
		session = &store.Session{Session: yiku.Session{ID: "s " + text, CreatedAt: testTime(), Metadata: yiku.Metadata{"k": text}}}
		message = &store.Message{Message: yiku.Message{ID: "1 " + text, Role: yiku.RoleUser, Content: yiku.Text(text), TaskID: "t " + text, CreatedAt: testTime()}}
		memory = &store.Memory{ContentNorm: text, SubjectNorm: text}
		memory.ID, memory.Content, memory.Subject, memory.Value = "m", text, text, text
		memory.Status, memory.Level, memory.Type, memory.Kind = yiku.StatusActive, yiku.LevelUser, yiku.TypeFact, yiku.KindSemantic
		memory.Relations = []store.Relation{{Type: text, From: store.Entity{ID: "e", Name: text, Base: text, Given: text, Family: text}, FromName: text, ToName: text}}
		memory.Metadata, memory.CreatedAt, memory.UpdatedAt = yiku.Metadata{"k": text}, testTime(), testTime()
		working := &store.Working{Project: "p", SessionID: session.ID}
		working.TaskID, working.Todos = "t "+text, []any{text}
		if err := errors.Join(tx.PutSession(session), tx.AddMessages(session.Key, []*store.Message{message}), tx.AddMemory(memory)); err != nil {
			return err
		}
		made := []store.Item{{Kind: store.ItemMemory, Key: memory.Key}}
		_, err := tx.Enqueue(&store.Job{Kind: "k", Arguments: []byte(text), SessionKey: session.Key})
		memory.Value = "new " + text
		return errors.Join(err, tx.UpdateMemory(memory, "patched"), tx.PutWorking(working),
			tx.PutTask(&store.Task{Task: yiku.Task{ID: "t " + text, ProjectID: "p", SessionID: session.ID, StartedAt: testTime()}, SessionKey: session.Key}),
			tx.PutSnapshot(&store.Snapshot{Snapshot: yiku.Snapshot{ID: "x", SessionID: session.ID, CreatedAt: testTime()}, Cites: made}),
			tx.PutIdempotency(&store.Idempotency{Operation: "o", Key: "k", Result: []byte(text), At: testTime()}, made),
			tx.PutForget(&store.Forget{At: testTime(), Request: yiku.ForgetRequest{Selector: yiku.Selector{Keyword: text}}}))
	})
	return session, message, memory
}

// TestE2_R37_BytesAreGone: after a purge and a checkpoint the bytes of a text are
// in no file of the directory. Before, they are: that is the control.
func TestE2_R37_BytesAreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	owner := testOwner(t, "acme", "u")
	canary := "金丝雀7351 canary-7351"
	session, message, memory := canarySession(t, s, owner, canary)
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := occurrences(t, dir, canary)
	if before < 10 {
		t.Errorf("the control: the text stands %d times in the files", before)
	}
	forgets, err := s.Forgets(t.Context())
	if err != nil || len(forgets) != 1 {
		t.Fatal(forgets, err)
	}
	write(t, s, owner, func(tx store.Tx) error {
		return errors.Join(tx.Purge([]int64{memory.Key}, []int64{message.Key}, nil), tx.PurgeSession(session.Key, nil),
			tx.PurgeWorking(nil, nil), tx.PurgeCopies(nil, nil), tx.PutReceipt(&store.Receipt{Receipt: yiku.Receipt{ID: "r"}}), tx.EndForget(forgets[0].Key))
	})
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{canary, "金丝雀7351", "canary-7351"} {
		if n := occurrences(t, dir, part); n > 0 {
			t.Errorf("%q stands %d times in the files", part, n)
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R37", Part: "store", Trials: 1, What: "purges left the canary in a file", Control: fmt.Sprintf("%d times in the files before", before)})
}

// occurrences counts a text in the bytes of all files of a directory.
func occurrences(t *testing.T, dir, text string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		n += bytes.Count(b, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestE8_TamperedRowIsRead: a row that was edited by hand is given in a way
// that its MAC does not fit, and is no error that hides where.
func TestE8_TamperedRowIsRead(t *testing.T) {
	t.Parallel()
	s := openTest(t, nil)
	owner := testOwner(t, "acme", "u")
	seal := func([]byte, store.AuditEntry) []byte { return []byte("mac") }
	for _, edit := range []string{
		`UPDATE audit SET body = x'' WHERE n = 1`,
		`UPDATE audit SET body = CAST(body || x'00' AS BLOB) WHERE n = 1`,
		`UPDATE audit SET body = x'0001' WHERE n = 1`,
	} {
		err := s.Update(t.Context(), owner, store.Request, func(w store.Tx) error {
			if err := w.Audit(&store.AuditEntry{At: testTime(), Actor: "a", Counts: map[string]int{"x": 1}}, seal); err != nil {
				return err
			}
			if err := w.(*tx).c.run(edit); err != nil {
				return err
			}
			list, err := w.AuditEntries(0, 0)
			if err != nil || len(list) != 1 || list[0].Actor != "" || list[0].Counts != nil || string(list[0].MAC) != "mac" {
				t.Errorf("%s: %+v, %v", edit, list, err)
			}
			return errClosed()
		})
		if !errors.Is(err, yiku.ErrUnavailable) {
			t.Error(err)
		}
	}
}
