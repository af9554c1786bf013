package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/internal/boardtest"
)

// TestReliabilityPage keeps docs/reliability.md as the texts and the committed
// figures have it.
func TestReliabilityPage(t *testing.T) {
	t.Parallel()
	checks, err := Checks()
	if err != nil {
		t.Fatal(err)
	}
	titles, err := Requirements()
	if err != nil {
		t.Fatal(err)
	}
	runs, err := boardtest.Read(filepath.Join(root, "docs", "reliability"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := RenderBoard(checks, titles, runs)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range missing(load(t), runs) {
		t.Errorf("docs/reliability holds figures of %s, which is no test any more: delete the file", test)
	}
	page := filepath.Join(root, "docs", "reliability.md")
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/reliability.md is not up to date; run make generate (-is +want):\n%s", diff)
	}
}

// missing names the tests that have reported and are not there.
func missing(tree *Tree, runs []boardtest.Run) []string {
	there := map[string]bool{}
	for _, pkg := range tree.Packages {
		for _, file := range pkg.Files {
			for _, decl := range file.Syntax.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && file.Test {
					there[fn.Name.Name] = true
				}
			}
		}
	}
	var gone []string
	for _, run := range runs {
		if test, _, _ := strings.Cut(run.Test, "/"); !there[test] {
			gone = append(gone, test)
		}
	}
	return gone
}

// TestRenderBoard is the control: a row that ran, one that did not, one
// without a test, and figures or texts that have no row.
func TestRenderBoard(t *testing.T) {
	t.Parallel()
	titles := []Requirement{{ID: "R1", Title: "Cuts"}, {ID: "R2", Title: "Kills"}, {ID: "R3", Title: "Calls"}}
	checks, err := ParseChecks("# how\n\n## R1\nfigure: 0 lost\nfault: power\n  goes\nrun: `go test`\nopen: more\n\n## R2\nfigure: 0 twice\nfault: kill\nrun: x\n\n## R3\nfigure: 0 false\n")
	if err != nil {
		t.Fatal(err)
	}
	run := boardtest.Run{Row: boardtest.Row{ID: "R1", Trials: 12345, What: "cuts lost something", Seeds: "0–9", Note: "n", Control: "1 of 2"}, Day: "2026-01-02"}
	page, err := RenderBoard(checks, titles, []boardtest.Run{run})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| R1 | **Cuts.** power goes. *Not there yet:* more | 0 lost | `go test` | 0 of 12,345 cuts lost something (seeds 0–9; n); control: 1 of 2; 2026-01-02 |\n",
		"| R2 | **Kills.** kill | 0 twice | x | none reported |\n",
		"| R3 | Calls | 0 false |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("missing %q in:\n%s", want, page)
		}
	}
	run.Test = "TestOfNobody/sub"
	if diff := cmp.Diff([]string{"TestOfNobody"}, missing(&Tree{}, []boardtest.Run{run})); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	for _, id := range []string{"R3", "R4"} {
		stray := run
		stray.ID = id
		if _, err := RenderBoard(checks, titles, []boardtest.Run{stray}); err == nil {
			t.Errorf("a run of %s, which has no text, was taken", id)
		}
	}
	for _, bad := range []string{"figure: x\n", "## X1\nfigure: x\n", "## R1\nx: y\n", "## R1\nfigure: x\nfigure: y\n"} {
		if _, err := ParseChecks(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
