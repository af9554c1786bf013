package sqlite

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/keyring"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/storetest"
)

var bitFlips = flag.Int("bitflips", 500, "how many bits are flipped, each in a store of its own; make nightly takes 20,000")

// flipControls is how many flips the control has, where nothing is looked at.
const flipControls = 100

// flipStore lays a store's files into a directory as they are while it is open,
// so that what was written last stands in the log alone.
func flipStore(t testing.TB) string {
	t.Helper()
	dir, to := t.TempDir(), t.TempDir()
	s, err := Open(t.Context(), dir, wholeOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fillWhole(t, s, 12)
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		write(t, s, wholeOwners(t)[i%2], func(tx store.Tx) error { return tx.AddMemory(wholeMemory(100 + i)) })
	}
	for _, name := range []string{databaseName, databaseName + "-wal", databaseName + markName} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// askWhole opens a store and asks it everything.
func askWhole(t testing.TB, options *Options) func(dir string) (string, error) {
	owners := wholeOwners(t)
	return func(dir string) (string, error) {
		s, err := Open(t.Context(), dir, options)
		if err != nil {
			return "", err
		}
		lines, err := readWhole(t.Context(), s, owners)
		return strings.Join(lines, "\n"), errors.Join(err, s.Close())
	}
}

// TestR7_BitFlips: after one bit has flipped anywhere in the database, its log
// or the log's mark, the store answers as before or says that something is
// damaged. The control: a store that looks at nothing gives wrong answers.
func TestR7_BitFlips(t *testing.T) {
	t.Parallel()
	dir := flipStore(t)
	options := wholeOptions()
	count := storetest.Flips(t, *bitFlips, dir, askWhole(t, options))
	if len(count.Wrong) > 0 {
		t.Errorf("silently wrong answers after %d of %d flips: seeds %v", len(count.Wrong), *bitFlips, count.Wrong)
	}
	blind := wholeOptions()
	blind.Ring, blind.trusting = keyring.New(&keyring.Options{Unchecked: true}), true
	control := storetest.Flips(t, flipControls, dir, askWhole(t, blind))
	if len(control.Wrong) < flipControls/20 {
		t.Errorf("without a look at anything only %d of %d flips give wrong answers: the test cannot see them", len(control.Wrong), flipControls)
	}
	boardtest.Report(t, boardtest.Row{ID: "R7", Hits: len(count.Wrong), Trials: *bitFlips, What: "flipped bits gave a wrong answer in silence",
		Seeds: fmt.Sprint("0–", *bitFlips-1), Control: fmt.Sprintf("%d of %d wrong where nothing is looked at", len(control.Wrong), flipControls),
		Note: fmt.Sprintf("%d detected, %d without effect", count.Detected, count.Harmless)})
	t.Logf("%d flips: %d detected, %d harmless, %d wrong; the control: %d of %d wrong", *bitFlips,
		count.Detected, count.Harmless, len(count.Wrong), len(control.Wrong), flipControls)
}

// TestR7_LogOfARunningStore: a bit that flips in the log while the store is
// open is seen when the page is read to be written into the database; the
// store takes no more writes, the log stays, and the next start refuses it.
// The control: without the guard the page goes into the database, with a
// checksum of its own.
func TestR7_LogOfARunningStore(t *testing.T) {
	t.Parallel()
	for _, trusting := range []bool{false, true} {
		dir, options := t.TempDir(), wholeOptions()
		options.trusting = trusting
		s, err := Open(t.Context(), dir, options)
		if err != nil {
			t.Fatal(err)
		}
		owner := testOwner(t, "acme", "u")
		write(t, s, owner, func(tx store.Tx) error { return tx.AddMemory(wholeMemory(1)) })
		name := filepath.Join(dir, databaseName+"-wal")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.LastIndex(b, []byte("likes hiking"))
		b[at] ^= 1
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		err = s.Checkpoint(t.Context())
		if trusting {
			if err != nil {
				t.Error("without the guard, Checkpoint =", err)
			}
			s.Close()
			continue
		}
		if !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("Checkpoint = %v, want ErrUnavailable that speaks of damage", err)
		}
		if err := s.Ready(t.Context()); !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("Ready = %v, want ErrUnavailable", err)
		}
		err = s.Update(t.Context(), owner, store.Request, func(tx store.Tx) error { return tx.AddMemory(wholeMemory(2)) })
		if !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("Update = %v, want ErrUnavailable", err)
		}
		_ = s.Close()
		if s, err = Open(t.Context(), dir, options); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "log is damaged at frame") {
			t.Errorf("Open = %v, want ErrUnavailable that names the frame", err)
		}
		if s != nil {
			s.Close()
		}
	}
}

// TestR7_LostLog: a log that is gone or cut, although it held what was
// committed, is refused.
func TestR7_LostLog(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(name string) error{
		"gone":         os.Remove,
		"empty":        func(name string) error { return os.Truncate(name, 0) },
		"cut":          func(name string) error { return os.Truncate(name, logHeader+3*(frameHeader+4096)) },
		"cut in frame": func(name string) error { return os.Truncate(name, logHeader+9*(frameHeader+4096)-7) },
	} {
		dir := flipStore(t)
		if err := spoil(filepath.Join(dir, databaseName+"-wal")); err != nil {
			t.Fatal(err)
		}
		if _, err := askWhole(t, wholeOptions())(dir); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "committed") {
			t.Errorf("%s: %v, want ErrUnavailable that says what was committed", what, err)
		}
		// Who would rather have what is left takes the mark away.
		if err := os.Remove(filepath.Join(dir, databaseName+markName)); err != nil {
			t.Fatal(err)
		}
		if _, err := askWhole(t, wholeOptions())(dir); err != nil {
			t.Errorf("%s, and the mark taken away: %v", what, err)
		}
	}
}

// TestR7_DamagedPage: a page of the database that is damaged is an error of
// the reads and writes that need it, and the store takes no more writes.
func TestR7_DamagedPage(t *testing.T) {
	t.Parallel()
	dir := flipStore(t)
	name := filepath.Join(dir, databaseName)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(b, []byte("likes hiking"))
	b[at] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, wholeOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := s.Examine(t.Context())
	if want := fmt.Sprintf("page %d of the database is damaged", at/4096+1); err != nil || !slices.Contains(e.Faults, want) {
		t.Errorf("Examine = %q, %v, want %q among them", e.Faults, err, want)
	}
	if _, err := readWhole(t.Context(), s, wholeOwners(t)); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("reading = %v, want ErrUnavailable that speaks of damage", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("Ready = %v, want ErrUnavailable", err)
	}
}

// TestR7_ExamineSaysWhatItLookedAt: the rows, pages and frames of a sound store
// are counted, and a damaged row is named by table and number.
func TestR7_ExamineSaysWhatItLookedAt(t *testing.T) {
	t.Parallel()
	s := openTest(t, wholeOptions())
	fillWhole(t, s, 12)
	e, err := s.Examine(t.Context())
	if err != nil || len(e.Faults) > 0 || e.Rows["memories"] != 44 || e.Rows["owners"] != 4 || e.Pages == 0 || e.Frames == 0 {
		t.Errorf("Examine = %+v, %v", e, err)
	}
	c := <-s.pool.writing
	key, err := c.number(`SELECT min(key) FROM memories`)
	err = errors.Join(err, c.run(`UPDATE memories SET importance = 1 WHERE key = ?`, key))
	s.pool.writing <- c
	if err != nil {
		t.Fatal(err)
	}
	e, err = s.Examine(t.Context())
	if want := fmt.Sprintf("row %d of table memories is damaged", key); err != nil || len(e.Faults) != 1 || !strings.Contains(e.Faults[0], want) {
		t.Errorf("Examine = %q, %v, want %q", e.Faults, err, want)
	}
}
