package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var tableRule = regexp.MustCompile(`^\|[ :|-]+\|$`)

// brokenTables gives the numbers of lines where rows stand without a header:
// a blank line within a table ends it for every reader of Markdown.
func brokenTables(text string) (lines []int) {
	all, fenced := strings.Split(text, "\n"), false
	for i, line := range all {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		first := strings.HasPrefix(line, "|") && (i == 0 || !strings.HasPrefix(all[i-1], "|"))
		if first && !fenced && (i+1 == len(all) || !tableRule.MatchString(all[i+1])) {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// TestTables: every table of the documentation has its header.
func TestTables(t *testing.T) {
	t.Parallel()
	if got := brokenTables("| a |\n| --- |\n| 1 |\n\n| 2 |\n"); len(got) != 1 || got[0] != 5 {
		t.Fatalf("control: broken lines %v; want 5", got)
	}
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range brokenTables(string(text)) {
			t.Errorf("%s:%d: a row without a header", name, line)
		}
	}
}
