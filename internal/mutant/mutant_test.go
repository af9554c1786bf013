package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/boardtest"
)

var (
	pattern = flag.String("mutants", "", "remove the guards whose names match this expression, one at a time; none where empty")
	missing = flag.Bool("missing", false, "leave out the guards that were missed before, as docs/reliability/"+tallyFile+" says")
)

// slow are tests that no mutant needs unless it names them.
const slow = `R1_|R2_|R4_|R11_|R13_|R19_|R23_`

// mutant is one guard and the source without it.
type mutant struct {
	name     string // what is guarded
	file     string
	old, new string
	// tests are the packages whose tests must fail, the quickest first, each
	// with a pattern after a blank where slow tests are needed: "engine R13_".
	tests string // separated by commas
}

func all() []mutant {
	return slices.Concat(storeMutants(), settingMutants(), engineMutants(), forgetMutants(), readMutants(), authMutants(), doorMutants(), textMutants(), auditMutants(), modelMutants())
}

// outcome is what became of a mutant.
type outcome int

const (
	survived outcome = iota
	killed
	broken // it does not compile, or its tests do not run: it proves nothing
)

const root = "../.."

// TestR32_GuardsStand: each entry fits the source, so that the lists cannot
// rot. make house looks.
func TestR32_GuardsStand(t *testing.T) {
	t.Parallel()
	if *pattern == "" {
		t.Skip("-mutants no-such-guard looks, and removes none")
	}
	seen := map[string]bool{}
	for _, m := range all() {
		if seen[m.name] {
			t.Errorf("%q stands twice", m.name)
		}
		seen[m.name] = true
		if _, err := m.mutate(root); err != nil {
			t.Error(err)
		}
		for _, stage := range m.stages() {
			pkg, _, _ := strings.Cut(stage, " ")
			if _, err := os.Stat(filepath.Join(root, pkg)); err != nil {
				t.Errorf("%q: %v", m.name, err)
			}
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d guards", len(seen))
	}
}

// TestR32_GuardsAreMissed removes the guards, in a copy of the tree. What
// becomes of each is kept at once where the figures of the board are kept, so
// that a run that ends early is carried on with -missing.
func TestR32_GuardsAreMissed(t *testing.T) {
	if *pattern == "" {
		t.Skip("an hour: -mutants . tries all")
	}
	want := regexp.MustCompile(*pattern)
	board := boardtest.Directory()
	counts, err := readTally(board)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.DeleteFunc(all(), func(m mutant) bool {
		return !want.MatchString(m.name) || (*missing && counts.has(m))
	})
	trials := newTrials(t, copyTree(t), list)
	note := func(m mutant, got outcome, by string) {
		switch got {
		case killed:
			t.Logf("killed: %s (by %s)", m.name, by)
		case survived:
			t.Errorf("SURVIVED: %s (%s)", m.name, m.file)
		case broken:
			t.Errorf("BROKEN: %s: %s", m.name, by)
		}
		counts.note(m, got, by)
		if board != "" {
			if err := counts.write(board); err != nil {
				t.Fatal(err)
			}
		}
	}
	var late []mutant // what takes whole stages comes last
	for _, m := range list {
		if trials.numbers[m.name] == 0 {
			late = append(late, m)
			continue
		}
		got, by := trials.reached(t, m, counts[m.name].by)
		if got == survived {
			t.Logf("not yet missed: %s", m.name)
			late = append(late, m)
			continue
		}
		note(m, got, by)
	}
	for _, m := range late {
		got, by := trials.stagesOf(t, m)
		note(m, got, by)
	}
	if row := counts.row(all()); board != "" && row.Trials > 0 {
		boardtest.Report(t, row)
	}
}

// tryWhole tries a mutant whose tests hold without it: whole names those of
// which that is known.
func (m mutant) tryWhole(t *testing.T, dir string, whole map[string]bool) (outcome, string) {
	t.Helper()
	for _, stage := range m.stages() {
		if whole[stage] {
			continue
		}
		if got, by := test(t.Context(), dir, stage); got != survived {
			return broken, stage + " fails without any mutant: " + by
		}
		whole[stage] = true
	}
	return m.try(t, dir)
}

func (m mutant) stages() []string { return strings.Split(m.tests, ", ") }

// mutate returns the file without its guard.
func (m mutant) mutate(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 || m.old == m.new {
		return nil, fmt.Errorf("%q: its text stands %d times in %s: mend the entry in internal/mutant", m.name, n, m.file)
	}
	return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
}

// try runs the tests without the guard, until one fails.
func (m mutant) try(t *testing.T, dir string) (outcome, string) {
	t.Helper()
	file := filepath.Join(dir, m.file)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after, err := m.mutate(dir)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(after)
	defer write(before)
	for _, stage := range m.stages() {
		if got, by := test(t.Context(), dir, stage); got != survived {
			return got, by
		}
	}
	return survived, ""
}

// test runs the tests of one package in a tree, and names what failed.
func test(ctx context.Context, dir, stage string) (outcome, string) {
	pkg, run, chosen := strings.Cut(stage, " ")
	args := []string{"test", "-json", "-vet=off", "-failfast", "-timeout=10m"}
	if chosen {
		args = append(args, "-run", run)
	} else {
		args = append(args, "-skip", slow)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+pkg)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), boardtest.Dir+"=") // what a mutant measures is nobody's figure
	out, err := cmd.Output()
	ran, failed := 0, ""
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test, Package string }
		if json.Unmarshal(line, &event) != nil {
			continue
		}
		switch {
		case event.Action == "build-fail":
			return broken, "it does not compile"
		case event.Action == "fail" && failed == "":
			failed = strings.Trim(event.Package[strings.LastIndex(event.Package, "/")+1:]+" "+event.Test, " ")
		case event.Action == "run":
			ran++
		}
	}
	switch {
	case err == nil && ran > 0:
		return survived, ""
	case failed != "":
		return killed, failed
	}
	return broken, fmt.Sprintf("no test ran: %v", err)
}

// copyTree copies what git knows of, changed or not, and gives the folder.
func copyTree(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Skipf("not a checkout: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) { // deleted and not yet committed
			continue
		}
		to := filepath.Join(dir, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestR32_Control: a guard that a test misses is killed, one that none misses
// survives, and what does not compile is neither, whether a mutant is compiled
// with the others or alone. A change that changes nothing survives.
func TestR32_Control(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n",
		"a/a.go": `package a

func Guarded(n int) bool { return n > 0 && n < 10 }

type list[T comparable] struct{ of []T }

func (l *list[T]) Holds(_ string, want ...T) bool {
	for i := range want {
		if i < len(l.of) && l.of[i] != want[i] {
			return false
		}
	}
	return true
}

func (list[T]) Size(int) (n int) { n = size - 1; return n }

func all[T any, L ~[]T](l L, of func(T) bool) {
	for _, x := range l {
		if of(x) {
			continue
		}
	}
}

const size = 3

const fixed = 2

var array [fixed]int

func safe() (err any) {
	defer caught(&err)
	panic("seen")
}

func caught(err *any) { *err = recover() }
`,
		"a/a_test.go": `package a

import "testing"

func TestGuarded(t *testing.T) {
	if Guarded(0) {
		t.Error(0)
	}
}

func TestHolds(t *testing.T) {
	l := &list[int]{of: []int{1, 2}}
	if l.Holds("", 1, 3) || !l.Holds("", 1, 2) || l.Size(0) != 2 || safe() != "seen" {
		t.Error(l)
	}
	n := 0
	all([]int{1}, func(int) bool { n++; return true })
	if n != 1 || len(array) != 2 {
		t.Error(n)
	}
}
`,
		"b/b.go":        "package b\n",
		"a/testdata/.x": "",
	} {
		writeFile(t, filepath.Join(dir, name), []byte(text))
	}
	cases := []struct {
		old, new, tests string
		want            outcome
		together        bool // it is compiled with the others
	}{
		{"n > 0 && ", "", "a", killed, true},
		{" && n < 10", "", "a", survived, true},
		{"n > 0", "n /* the same */ > 0", "a", survived, true},
		{"n > 0", "nothing", "a", broken, false},
		{"n > 0 && ", "", "a TestOther", broken, true},
		{"n > 0 && ", "", "b", broken, true},
		{"l.of[i] != want[i]", "false", "a", killed, true},
		{"i < len(l.of) && ", "", "a", survived, true},
		{"n = size - 1", "n = size", "a", killed, true},
		{"if of(x) {", "if of(x) && of(x) {", "a", killed, true},
		{"size = 3", "size = 4", "a", killed, true},
		{"fixed = 2", "fixed = 3", "a", killed, false},
		{"= recover()", "= any(nil)", "a", killed, false},
	}
	var list []mutant
	for i, c := range cases {
		list = append(list, mutant{name: fmt.Sprint(i), file: "a/a.go", old: c.old, new: c.new, tests: c.tests})
	}
	trials := newTrials(t, dir, list)
	for i, m := range list {
		if together := trials.numbers[m.name] > 0; together != cases[i].together {
			t.Errorf("without %q: compiled with the others: %v (%v)", m.old, together, trials.unfit[m.name])
		}
		if got, by := trials.try(t, m, ""); got != cases[i].want {
			t.Errorf("without %q: outcome %d (%s), want %d", m.old, got, by, cases[i].want)
		}
		if got, by := m.try(t, dir); got != cases[i].want {
			t.Errorf("without %q, alone: outcome %d (%s), want %d", m.old, got, by, cases[i].want)
		}
	}
	if _, err := (mutant{file: "a/a.go", old: "n "}).mutate(dir); err == nil {
		t.Error("a text that stands twice was taken")
	}
}
