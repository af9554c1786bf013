package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write docs/cli.md anew")

// TestF6_CommandLinePage keeps the table of docs/cli.md as the commands are:
// each on one line, in both languages.
func TestF6_CommandLinePage(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "..", "docs", "cli.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), "<!-- commands:begin")
	mark, rest, ok2 := strings.Cut(rest, "-->\n")
	_, after, ok3 := strings.Cut(rest, "<!-- commands:end -->")
	if !ok1 || !ok2 || !ok3 {
		t.Fatal("docs/cli.md has no marks commands:begin and commands:end")
	}
	want := before + "<!-- commands:begin" + mark + "-->\n" + commandTable() + "<!-- commands:end -->" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), want); diff != "" {
		t.Errorf("docs/cli.md is not up to date; run go test ./internal/cli -run TestF6_CommandLinePage -update (-is +want):\n%s", diff)
	}
}

// commandTable lists every command that runs something.
func commandTable() string {
	var b strings.Builder
	b.WriteString("| command | what | 说明 |\n| --- | --- | --- |\n")
	chinese := map[string]string{}
	every((&tool{lang: "zh"}).root(), func(cmd *cobra.Command) { chinese[cmd.CommandPath()] = cmd.Short })
	every((&tool{lang: "en"}).root(), func(cmd *cobra.Command) {
		if !cmd.HasParent() || cmd.HasSubCommands() {
			return
		}
		path := cmd.Parent().CommandPath() + " " + cmd.Use
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.ReplaceAll(path, "|", `\|`), cmd.Short, chinese[cmd.CommandPath()])
	})
	return b.String()
}
