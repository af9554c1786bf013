package archtest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write docs/requirements.md anew")

// TestRequirements keeps docs/requirements.md as it must be and fails where a
// requirement that is expected now has no test.
func TestRequirements(t *testing.T) {
	t.Parallel()
	all, err := Requirements()
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := Proofs(load(t), os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range Unproven(all, proofs) {
		t.Errorf("%s is expected now and no test names it", id)
	}
	page := filepath.Join(root, "docs", "requirements.md")
	want := Render(all, proofs)
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
		t.Errorf("docs/requirements.md is not up to date; run go test ./internal/archtest -run Requirements -update (-is +want):\n%s", diff)
	}
}

// TestProofs is the control: names and comments that count, and those that do not.
func TestProofs(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "requirements.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := txtar.FS(archive)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := Proofs(tree, fsys)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]Proof{
		"A1":  {{"a", "TestA1_Order"}},
		"A2":  {{"a", "TestA2_B4_Both"}},
		"B4":  {{"a", "TestA2_B4_Both"}},
		"C7":  {{"a", "TestWindow"}},
		"D12": {{"a", "TestWindow"}},
		"R11": {{"a", "FuzzFilter"}},
		"I4":  {{"a", "bad.txtar"}},
		"L52": {{"storetest", "Run"}},
	}
	if diff := cmp.Diff(want, proofs); diff != "" {
		t.Errorf("proofs (-want +got):\n%s", diff)
	}
	all, err := ParseRequirements("## A\nA1 now one\nA3 now three\nB1 later other\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A3"}, Unproven(all, proofs)); diff != "" {
		t.Errorf("unproven (-want +got):\n%s", diff)
	}
	if page := Render(all, proofs); !strings.Contains(page, "| A1 | one | now | a: `TestA1_Order` |\n| A3 | three | now |  |\n") {
		t.Errorf("page:\n%s", page)
	}
}

func TestParseRequirements(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"A1 soon title", "A1 now", "Z1 now title", "A0 now title", "A1 now one\nA1 later two"} {
		if _, err := ParseRequirements(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
