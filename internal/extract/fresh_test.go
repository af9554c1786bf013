package extract_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/lang"
)

//go:embed testdata/fresh.txt
var freshCases string

// fresh is one line of the fresh conversations.
type fresh struct {
	kind     string
	messages []string
	must     [][]string // of each one of the words
	may      []string
}

func parseFresh(line string) fresh {
	fields := strings.Split(line, "|")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	f := fresh{kind: fields[0]}
	for _, m := range strings.Split(fields[1], " // ") {
		f.messages = append(f.messages, strings.TrimSpace(m))
	}
	for _, words := range split(fields[2], ";") {
		f.must = append(f.must, split(words, "/"))
	}
	f.may = split(fields[3], ";")
	return f
}

func split(s, by string) []string {
	var out []string
	for _, part := range strings.Split(s, by) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// tally counts what was kept, what of it was wrong, what was asked for and what
// of that was found.
type tally struct{ kept, wrong, asked, found int }

func (n tally) plus(o tally) tally {
	return tally{n.kept + o.kept, n.wrong + o.wrong, n.asked + o.asked, n.found + o.found}
}

// judge says what is wrong with what was kept, where a test tells more than it must.
func (f fresh) judge(t *testing.T, got []extract.Candidate) (n tally) {
	has := func(text, word string) bool { return strings.Contains(lang.Fold(text), lang.Fold(word)) }
	for _, words := range f.must {
		n.asked++
		found := false
		for _, c := range got {
			for _, w := range words {
				found = found || has(c.Content, w)
			}
		}
		if found {
			n.found++
		} else {
			t.Logf("%s: %q: missing %q", f.kind, f.messages, words)
		}
	}
	for _, c := range got {
		n.kept++
		right := f.says(c.Content)
		for _, w := range f.may {
			right = right || has(c.Content, w)
		}
		if !right {
			n.wrong++
			t.Logf("%s: %q: wrong %q", f.kind, f.messages, c.Content)
		}
	}
	return n
}

// says reports whether a content says what must be kept.
func (f fresh) says(content string) bool {
	for _, words := range f.must {
		for _, w := range words {
			if strings.Contains(lang.Fold(content), lang.Fold(w)) {
				return true
			}
		}
	}
	return false
}

// TestC5_Fresh reads conversations in words of their own, kinds as in the
// judgement suite, in both languages.
func TestC5_Fresh(t *testing.T) {
	t.Parallel()
	kinds := map[string]tally{}
	var all tally
	for line := range strings.Lines(freshCases) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := parseFresh(line)
		n := f.judge(t, read(t, nil, f.messages...))
		all, kinds[f.kind] = all.plus(n), kinds[f.kind].plus(n)
	}
	for kind, n := range kinds {
		t.Logf("%-14s kept %d, wrong %d, found %d of %d", kind, n.kept, n.wrong, n.found, n.asked)
	}
	precision, recall := 1-float64(all.wrong)/float64(all.kept), float64(all.found)/float64(all.asked)
	t.Logf("precision %.3f (%d kept), recall %.3f (of %d)", precision, all.kept, recall, all.asked)
	if precision < 0.95 || recall < 0.75 {
		t.Errorf("precision %.3f, recall %.3f; want 0.95 and 0.75", precision, recall)
	}
}
