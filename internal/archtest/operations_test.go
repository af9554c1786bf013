package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/internal/config"
)

// TestOperationsPage keeps the table of configuration keys in
// docs/operations.md as the code has it.
func TestOperationsPage(t *testing.T) {
	t.Parallel()
	page := filepath.Join(root, "docs", "operations.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), "<!-- config:begin")
	mark, rest, ok2 := strings.Cut(rest, "-->\n")
	_, after, ok3 := strings.Cut(rest, "<!-- config:end -->")
	if !ok1 || !ok2 || !ok3 {
		t.Fatal("docs/operations.md has no marks config:begin and config:end")
	}
	want := before + "<!-- config:begin" + mark + "-->\n" + configTable() + "<!-- config:end -->" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), want); diff != "" {
		t.Errorf("docs/operations.md is not up to date; run go test ./internal/archtest -run TestOperationsPage -update (-is +want):\n%s", diff)
	}
}

func configTable() string {
	var b strings.Builder
	b.WriteString("| key | default | what |\n| --- | --- | --- |\n")
	defaults := config.Default()
	for _, key := range config.Keys() {
		value := key.Value(defaults)
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key.Name, value, key.Doc)
	}
	return b.String()
}
