package archtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRequirementsOfLessons keeps docs/lessons.md as it must be, and fails
// where a lesson has neither a test nor a reason.
func TestRequirementsOfLessons(t *testing.T) {
	t.Parallel()
	all, err := Lessons()
	if err != nil {
		t.Fatal(err)
	}
	proofs, err := Proofs(load(t), os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range Unlearnt(all, proofs) {
		t.Errorf("%s has neither a test that names it nor, as a later row, what it waits for", id)
	}
	page := filepath.Join(root, "docs", "lessons.md")
	want := RenderLessons(all, proofs)
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
		t.Errorf("docs/lessons.md is not up to date; run make generate (-is +want):\n%s", diff)
	}
}

// TestUnlearnt is the control: a row without a test, one without a reason, and
// one that waits although it is expected now.
func TestUnlearnt(t *testing.T) {
	t.Parallel()
	all, err := ParseRequirements("L1 now a\nL2 now b\nL3 later c\nL4 later d | e\nL5 now f | g\n")
	if err != nil {
		t.Fatal(err)
	}
	proofs := map[string][]Proof{"L1": {{"a", "TestA"}}, "L5": {{"a", "TestB"}}}
	if diff := cmp.Diff([]string{"L2", "L3", "L5"}, Unlearnt(all, proofs)); diff != "" {
		t.Errorf("unlearnt (-want +got):\n%s", diff)
	}
}
