package backup

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/journal"
)

func key() []byte { return bytes.Repeat([]byte{3}, 32) }

// made writes a backup of random bytes and returns both.
func made(t *testing.T, size int) (path string, database []byte, m Manifest) {
	t.Helper()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for range size {
		database = append(database, byte(random.Uint32()))
	}
	if err := os.WriteFile(filepath.Join(dir, "db"), database, 0o600); err != nil {
		t.Fatal(err)
	}
	m = Manifest{ID: "id", Time: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Version: "v", Store: "sqlite", Schema: 2, Generation: "g",
		Journal: journal.Position{ID: "j", N: 7, MAC: []byte{1}}}
	path = filepath.Join(dir, "b.tar")
	if err := Write(t.Context(), path, filepath.Join(dir, "db"), &m, key()); err != nil {
		t.Fatal(err)
	}
	return path, database, m
}

// extracted reads a backup of these bytes.
func extracted(t *testing.T, content, key []byte) (m Manifest, database []byte, err error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.tar"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err = Extract(t.Context(), filepath.Join(dir, "b.tar"), filepath.Join(dir, "db"), key); err != nil {
		return m, nil, err
	}
	database, err = os.ReadFile(filepath.Join(dir, "db"))
	return m, database, err
}

// TestR6_R7_BrokenBackups: a backup in which a bit is flipped, or that is cut or longer,
// is refused, or gives exactly what was backed up. Control: the backup as it
// was made is taken.
func TestR6_R7_BrokenBackups(t *testing.T) {
	t.Parallel()
	path, database, manifest := made(t, 8192)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, got, err := extracted(t, whole, key())
	if err != nil || !bytes.Equal(got, database) || !cmp.Equal(m, manifest) {
		t.Fatalf("control: %v %s", err, cmp.Diff(manifest, m))
	}
	wrong, refused, trials := 0, 0, 0
	try := func(what string, content []byte) {
		trials++
		m, got, err := extracted(t, content, key())
		switch {
		case err != nil && (errors.Is(err, yiku.ErrUnavailable) || errors.Is(err, yiku.ErrUnsupported)):
			refused++
		case err != nil || !bytes.Equal(got, database) || !cmp.Equal(m, manifest):
			wrong++
			t.Errorf("%s: %v", what, err)
		}
	}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 7))
		at := random.IntN(len(whole))
		if seed%2 == 0 { // what is not the database is the smaller part
			at = random.IntN(len(whole) - len(database))
			if at >= block {
				at += len(database)
			}
		}
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << random.IntN(8)
		try(fmt.Sprintf("seed %d: a bit of byte %d", seed, at), flipped)
		cut := random.IntN(len(whole))
		try(fmt.Sprintf("seed %d: cut at %d", seed, cut), whole[:cut])
	}
	try("longer", append(bytes.Clone(whole), make([]byte, block)...))
	try("twice", append(bytes.Clone(whole), whole...))
	if refused < trials*9/10 {
		t.Errorf("only %d of %d are refused", refused, trials)
	}
	if _, _, err := extracted(t, whole, bytes.Repeat([]byte{4}, 32)); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("another key: %v", err)
	}
	boardtest.Report(t, boardtest.Row{ID: "R6", Part: "broken", Hits: wrong, Trials: trials, What: "backups with a flipped bit, cut or lengthened were taken for another content", Seeds: "0–199",
		Note: fmt.Sprintf("%d refused, the rest gave what was backed up", refused)})
}

// TestR6_BackupIsWholeOrNotThere: a backup that fails leaves no file, and one
// that is there is not replaced.
func TestR6_BackupIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := &Manifest{}
	if err := Write(t.Context(), filepath.Join(dir, "b.tar"), filepath.Join(dir, "missing"), m, key()); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("without a database: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	path, database, _ := made(t, 512)
	if err := Write(t.Context(), path, filepath.Join(filepath.Dir(path), "db"), m, key()); !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("over another: %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := extracted(t, content, key()); err != nil || !bytes.Equal(got, database) {
		t.Errorf("the one that was there: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
