package extract

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// judged are the texts of the half of the judgement suite that may be seen.
func judged(t *testing.T) []string {
	t.Helper()
	f, err := os.Open("../../eval/judgement/testdata/seen.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			Sessions []struct{ Messages []struct{ Content string } }
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Sessions {
			for _, m := range s.Messages {
				texts = append(texts, m.Content)
			}
		}
	}
	return texts
}

// missed counts the matches of a grammar's expressions that its filter hides.
func missed(g *grammar, texts []string) (matches, hidden int) {
	for _, text := range texts {
		for _, s := range append(sentences(text), text, strings.ToUpper(text), strings.ReplaceAll(text, "k", "\u212a")) {
			s = g.plain(s)
			in := g.filter.look(s)
			for _, p := range g.patterns() {
				if p.MatchString(s) {
					matches++
					if !p.may(in) {
						hidden++
					}
				}
			}
		}
	}
	return matches, hidden
}

// TestC5_FilterHidesNothing tries every expression with and without the filter:
// whatever matches is tried. A need that the expression has not is the control.
func TestC5_FilterHidesNothing(t *testing.T) {
	t.Parallel()
	texts := judged(t)
	for name, g := range map[string]*grammar{"en": english(), "zh": chinese()} {
		if matches, hidden := missed(g, texts); matches < 1000 || hidden > 0 {
			t.Errorf("%s: %d of %d matches are hidden", name, hidden, matches)
		}
	}
	control := filtered(&grammar{plain: strings.TrimSpace, rules: []rule{{form: pat(`(?i)\bremember\b`)}}})
	control.rules[0].form.needs = [][]int{{control.filter.add("ELEPHANT")}}
	control.filter.build()
	if matches, hidden := missed(control, texts); matches == 0 || hidden != matches {
		t.Errorf("the control: %d of %d matches are hidden", hidden, matches)
	}
}
