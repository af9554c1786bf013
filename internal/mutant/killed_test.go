package mutant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku/internal/boardtest"
)

// A tally says which guards were missed when they were removed: what a whole
// run has seen, with what runs of single guards have seen since. Beside the
// figures of the board it is a file of lines "name, entry, day, test", kept in
// order; a guard that survives leaves it, and so does an entry that was changed.
type tally map[string]kill

// kill is one line: the entry that was tried, the day, and the test that failed.
type kill struct{ entry, day, by string }

const tallyFile = "R32-guards.txt"

// print tells an entry from what it was before it was changed.
func (m mutant) print() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{m.file, m.old, m.new, m.tests}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// readTally reads a tally; one that is not there yet is empty.
func readTally(dir string) (tally, error) {
	text, err := os.ReadFile(filepath.Join(dir, tallyFile))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	t := tally{}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 4 {
			return nil, fmt.Errorf("%s: %q is no line of it", tallyFile, line)
		}
		t[field[0]] = kill{entry: field[1], day: field[2], by: field[3]}
	}
	return t, nil
}

func (t tally) write(dir string) error {
	var lines []string
	for name, k := range t {
		lines = append(lines, strings.Join([]string{name, k.entry, k.day, k.by}, "\t")+"\n")
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dir, tallyFile), []byte(strings.Join(lines, "")), 0o644)
}

// has says whether the guard, as its entry is now, was missed.
func (t tally) has(m mutant) bool { return t[m.name].entry == m.print() }

// note keeps what became of a guard.
func (t tally) note(m mutant, got outcome, by string) {
	delete(t, m.name)
	if got == killed {
		t[m.name] = kill{entry: m.print(), day: time.Now().UTC().Format(time.DateOnly), by: by}
	}
}

// row is the figure: of the guards that are listed now, those that were missed
// and when. A guard that was not tried yet, or not since its entry was changed,
// is not among the trials, and the note counts it.
func (t tally) row(list []mutant) boardtest.Row {
	row := boardtest.Row{ID: "R32", What: "guards were removed without a test that fails"}
	var days []string
	for _, m := range list {
		if t.has(m) {
			row.Trials++
			days = append(days, t[m.name].day)
		}
	}
	if row.Trials > 0 {
		row.Note = "of " + fmt.Sprint(len(list)) + " in the list; tried on " + slices.Min(days)
		if last := slices.Max(days); last != slices.Min(days) {
			row.Note += " to " + last
		}
	}
	return row
}

// TestR32_Tally: a tally is read as it was written; what survives or was
// changed is no longer in the figure.
func TestR32_Tally(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := []mutant{{name: "one", old: "a"}, {name: "two", old: "b"}, {name: "three", old: "c"}}
	counts, err := readTally(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		counts.note(m, killed, "engine TestX")
	}
	if err := counts.write(dir); err != nil {
		t.Fatal(err)
	}
	if counts, err = readTally(dir); err != nil {
		t.Fatal(err)
	}
	if got := counts.row(list); got.Trials != 3 || counts["two"].by != "engine TestX" {
		t.Errorf("three were killed: %+v, %+v", got, counts)
	}
	counts.note(list[0], survived, "")
	list[1].old = "changed"
	if got := counts.row(append(list, mutant{name: "four"})); got.Trials != 1 || !strings.Contains(got.Note, "of 4 in the list") {
		t.Errorf("one of four is left: %+v", got)
	}
}
