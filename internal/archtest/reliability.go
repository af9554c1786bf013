package archtest

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku/internal/boardtest"
)

//go:embed reliability.txt
var reliabilityText string

// Check is what the reliability board says of a row beside its figures.
type Check struct {
	ID     string
	Figure string // to reach
	Fault  string // the fault and what is checked under it; "" where there is no test yet
	Run    string // how to run it
	Open   string // what of the row is not there yet
}

// Checks returns the project's list.
func Checks() ([]Check, error) { return ParseChecks(reliabilityText) }

// ParseChecks reads a list in the form that reliability.txt explains.
func ParseChecks(text string) ([]Check, error) {
	var all []Check
	var field *string // the one that the last line belongs to
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		name, rest, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			field = nil
		case strings.HasPrefix(line, "## "):
			all, field = append(all, Check{ID: line[3:]}), nil
			if !requirementID.MatchString(line[3:]) {
				return nil, fmt.Errorf("reliability line %d: %q is no row", n, line[3:])
			}
		case strings.HasPrefix(line, "#"):
		case len(all) == 0:
			return nil, fmt.Errorf("reliability line %d: before the first row", n)
		default:
			check := &all[len(all)-1]
			fields := map[string]*string{"figure": &check.Figure, "fault": &check.Fault, "run": &check.Run, "open": &check.Open}
			begins, ok := fields[name]
			switch {
			case ok && *begins != "":
				return nil, fmt.Errorf("reliability line %d: %s stands twice", n, name)
			case ok:
				field = begins
				*field = rest
			case field == nil:
				return nil, fmt.Errorf("reliability line %d: want figure, fault, run or open", n)
			default:
				*field += " " + line
			}
		}
	}
	return all, nil
}

// RenderBoard writes docs/reliability.md from the texts, the titles of the
// requirements and what the tests have reported.
func RenderBoard(checks []Check, titles []Requirement, runs []boardtest.Run) (string, error) {
	var b strings.Builder
	b.WriteString("# Reliability\n\n" +
		"What is tested under which fault, how to run it, and what the last run has measured. A simulated fault is called\n" +
		"simulated. \"0 of N\" is given with N and the seeds. Every test has a control that must fail. What has no last run\n" +
		"has reported none, and nothing is claimed of it.\n\n" +
		"Written by `make generate` from `internal/archtest/reliability.txt`, the texts, and `docs/reliability/*.json`, the\n" +
		"figures. `make reliability` runs the tests and writes the figures anew, `make nightly` the long versions.\n" +
		"[requirements.md](requirements.md), section R, names the tests of each row.\n\n" +
		"| row | what is tested | figure to reach | how it is run | last run |\n| --- | --- | --- | --- | --- |\n")
	var without []string
	for _, check := range checks {
		i := slices.IndexFunc(titles, func(r Requirement) bool { return r.ID == check.ID })
		if i < 0 || check.Figure == "" {
			return "", fmt.Errorf("%s has no title in requirements.txt or no figure", check.ID)
		}
		cells := boardCells(check.ID, &runs)
		switch {
		case check.Fault == "" && cells != "":
			return "", fmt.Errorf("%s has reported and has no text in reliability.txt", check.ID)
		case check.Fault == "":
			without = append(without, fmt.Sprintf("| %s | %s | %s |\n", check.ID, titles[i].Title, check.Figure))
			continue
		case cells == "":
			cells = "none reported"
		}
		fault := fmt.Sprintf("**%s.** %s", titles[i].Title, check.Fault)
		if check.Open != "" {
			fault += ". *Not there yet:* " + check.Open
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", check.ID, fault, check.Figure, check.Run, cells)
	}
	if len(runs) > 0 {
		return "", fmt.Errorf("%s has reported and does not stand in reliability.txt", runs[0].ID)
	}
	b.WriteString("\n## Without a test yet\n\n| row | what | figure to reach |\n| --- | --- | --- |\n" + strings.Join(without, ""))
	return b.String(), nil
}

// boardCells takes the runs of a row out of the list and shows them.
func boardCells(id string, runs *[]boardtest.Run) string {
	var cells []string
	*runs = slices.DeleteFunc(slices.Clone(*runs), func(run boardtest.Run) bool {
		if run.ID != id {
			return false
		}
		var b strings.Builder
		if run.Part != "" {
			fmt.Fprintf(&b, "*%s:* ", run.Part)
		}
		fmt.Fprintf(&b, "%s of %s %s", thousands(run.Hits), thousands(run.Trials), run.What)
		var extra []string
		if run.Seeds != "" {
			extra = append(extra, "seeds "+run.Seeds)
		}
		if run.Note != "" {
			extra = append(extra, run.Note)
		}
		if extra != nil {
			fmt.Fprintf(&b, " (%s)", strings.Join(extra, "; "))
		}
		if run.Control != "" {
			fmt.Fprintf(&b, "; control: %s", run.Control)
		}
		cells = append(cells, strings.ReplaceAll(fmt.Sprintf("%s; %s", &b, run.Day), "|", `\|`))
		return true
	})
	return strings.Join(cells, "<br>")
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
