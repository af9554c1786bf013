package archtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// root is the module's folder, seen from this package's tests.
const root = "../.."

func load(t *testing.T) *Tree {
	t.Helper()
	tree, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestRules holds the project against every rule.
func TestRules(t *testing.T) {
	t.Parallel()
	tree := load(t)
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			open, idle := Judge(rule.Check(tree), ofRule(allowed, rule.Name))
			for _, f := range open {
				t.Error(f)
			}
			for _, a := range idle {
				t.Errorf("allow.go: the entry {%s %s %s} allows nothing or gives no reason", a.Rule, a.File, a.Symbol)
			}
		})
	}
	for _, a := range allowed {
		if !slices.ContainsFunc(Rules(), func(r Rule) bool { return r.Name == a.Rule }) {
			t.Errorf("allow.go: there is no rule %q", a.Rule)
		}
	}
}

// TestImportTableIsTight fails where the import table allows what nobody needs.
func TestImportTableIsTight(t *testing.T) {
	t.Parallel()
	for _, entry := range IdleImports(load(t)) {
		t.Errorf("rooms.go: %s", entry)
	}
	if len(IdleImports(&Tree{})) != len(rooms) {
		t.Error("control: an empty tree needs no room")
	}
}

func ofRule(entries []Allowed, rule string) []Allowed {
	var of []Allowed
	for _, a := range entries {
		if a.Rule == rule {
			of = append(of, a)
		}
	}
	return of
}

// TestControls holds small trees with known faults against the rules: each
// rule must find exactly what its control says.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(filepath.Join("testdata", "controls", rule.Name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i, f := range archive.Files {
				if f.Name == "want" {
					want = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
				}
				archive.Files[i].Data = expand(f.Data)
			}
			fsys, err := txtar.FS(archive)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := Load(fsys)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range rule.Check(tree) {
				got = append(got, f.File+" "+f.Symbol)
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// expand writes out the lines "lines N" and "comments N" of a control.
func expand(data []byte) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(data)) {
		word, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		if err != nil || word != "lines" && word != "comments" {
			out.WriteString(line)
			continue
		}
		text := map[string]string{"lines": "\t_ = 0\n", "comments": "\t// more\n"}[word]
		out.WriteString(strings.Repeat(text, n))
	}
	return out.Bytes()
}

func TestJudge(t *testing.T) {
	t.Parallel()
	findings := []Finding{{Rule: "size", File: "a.go", Symbol: "F"}, {Rule: "size", File: "a.go", Symbol: "G"}}
	open, idle := Judge(findings, []Allowed{
		{"size", "a.go", "F", "a table of cases"},
		{"size", "b.go", "F", "no longer there"},
	})
	if len(open) != 1 || open[0].Symbol != "G" {
		t.Errorf("open = %v; want G only", open)
	}
	if len(idle) != 1 || idle[0].File != "b.go" {
		t.Errorf("idle = %v; want the entry of b.go only", idle)
	}
	if _, idle := Judge(findings[:1], []Allowed{{"size", "a.go", "F", ""}}); len(idle) != 1 {
		t.Error("an entry without a reason was taken")
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values []int
		p, n   int
	}{
		{nil, 95, 0},
		{[]int{7}, 95, 7},
		{[]int{3, 1, 2}, 100, 3},
		{[]int{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 95, 19},
	} {
		t.Run(fmt.Sprint(len(tt.values)), func(t *testing.T) {
			t.Parallel()
			if got := percentile(tt.values, tt.p); got != tt.n {
				t.Errorf("percentile = %d; want %d", got, tt.n)
			}
		})
	}
}
