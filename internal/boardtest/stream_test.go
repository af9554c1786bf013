package boardtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	raceStream = flag.String("race.stream", "", "the stream of go test -json of a run of all tests under the race detector, for the figure of R14")
	fuzzOutput = flag.String("fuzz.output", "", "what make fuzz has printed, for the figure of R15")
)

// event is a line of go test -json.
type event struct {
	Time                          time.Time
	Action, Package, Test, Output string
}

// raceRow is the figure of a run under the race detector: its tests, and those
// that failed, by a race, a goroutine that was left, or anything else. A run
// that says so little that it cannot be a whole one is an error, and so is one
// of packages that ended without a result.
func raceRow(stream []byte) (Row, error) {
	var first, last time.Time
	passed, failed, ended := map[string]bool{}, map[string]bool{}, map[string]bool{}
	begun, races := map[string]bool{}, 0
	scan := bufio.NewScanner(bytes.NewReader(stream))
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		var e event
		if json.Unmarshal(scan.Bytes(), &e) != nil {
			continue
		}
		if first.IsZero() {
			first = e.Time
		}
		last = e.Time
		begun[e.Package] = true
		name := e.Package + " " + e.Test
		switch {
		case e.Action == "output" && strings.Contains(e.Output, "WARNING: DATA RACE"):
			races++
		case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
			ended[e.Package] = true
			if e.Action == "fail" {
				failed[name] = true
			}
		case e.Action == "pass":
			passed[name] = true
		case e.Action == "fail":
			failed[name] = true
		}
	}
	if err := scan.Err(); err != nil {
		return Row{}, err
	}
	if len(ended) == 0 || len(ended) < len(begun) {
		return Row{}, fmt.Errorf("%d packages have no result", len(begun)-len(ended))
	}
	return Row{ID: "R14", Hits: max(len(failed), races), Trials: len(passed) + len(failed), What: "tests under the race detector raced, left a goroutine or failed",
		Note: fmt.Sprintf("%d packages, %s", len(ended), last.Sub(first).Round(time.Second))}, nil
}

var (
	fuzzBegin = regexp.MustCompile(`^fuzz (\S+) (Fuzz\w+)$`)
	fuzzCount = regexp.MustCompile(`^fuzz: elapsed: (\S+), execs: (\d+) .*total: (\d+)\)`)
)

// fuzzRow is the figure of make fuzz: its targets, and those that found an
// input that fails. A target that has run nothing is an error.
func fuzzRow(output []byte) (Row, error) {
	type target struct {
		execs, seconds int
		crashed        bool
	}
	targets := map[string]*target{}
	var now *target
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(line)
		if m := fuzzBegin.FindStringSubmatch(line); m != nil {
			now = &target{}
			targets[m[1]+" "+m[2]] = now
			continue
		}
		if now == nil {
			continue
		}
		if m := fuzzCount.FindStringSubmatch(line); m != nil {
			ran, err := time.ParseDuration(m[1])
			if err != nil {
				return Row{}, err
			}
			now.seconds = int(ran.Seconds())
			if _, err := fmt.Sscan(m[2], &now.execs); err != nil {
				return Row{}, err
			}
		}
		now.crashed = now.crashed || strings.Contains(line, "Failing input") || strings.HasPrefix(line, "panic:")
	}
	row := Row{ID: "R15", Trials: len(targets), What: "fuzz targets found an input that breaks a law"}
	execs, seconds := 0, 0
	for name, t := range targets {
		if t.execs == 0 && !t.crashed {
			return Row{}, fmt.Errorf("%s has run nothing", name)
		}
		execs, seconds = execs+t.execs, seconds+t.seconds
		if t.crashed {
			row.Hits++
		}
	}
	if len(targets) == 0 {
		return Row{}, errors.New("no target has run")
	}
	row.Note = fmt.Sprintf("%d inputs in %d s", execs, seconds)
	return row, nil
}

// TestR14_Race and TestR15_Fuzz keep the figures of runs that have been made:
// make race and make fuzz are no tests themselves. .ci/run and make nightly
// hand their output over.
func TestR14_Race(t *testing.T) { reportRun(t, *raceStream, raceRow) }

// TestR15_Fuzz: see TestR14_Race.
func TestR15_Fuzz(t *testing.T) { reportRun(t, *fuzzOutput, fuzzRow) }

func reportRun(t *testing.T, file string, row func([]byte) (Row, error)) {
	t.Helper()
	if file == "" {
		t.Skip("no run was handed over")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := row(text)
	if err != nil {
		t.Fatal(err)
	}
	if r.Hits > 0 {
		t.Errorf("%d of %d %s", r.Hits, r.Trials, r.What)
	}
	Report(t, r)
}

// TestR14_ReadsTheRun: what failed or raced is counted, and a run that broke
// off is none.
func TestR14_ReadsTheRun(t *testing.T) {
	t.Parallel()
	const whole = `{"Time":"2026-11-30T08:00:00Z","Action":"start","Package":"a"}
{"Time":"2026-11-30T08:00:01Z","Action":"run","Package":"a","Test":"TestX"}
{"Time":"2026-11-30T08:00:02Z","Action":"pass","Package":"a","Test":"TestX"}
{"Time":"2026-11-30T08:01:00Z","Action":"pass","Package":"a"}
`
	for name, c := range map[string]struct {
		stream string
		want   Row
		broken bool
	}{
		"a whole run": {whole, Row{Trials: 1, Note: "1 packages, 1m0s"}, false},
		"a race":      {strings.Replace(whole, `"run"`, `"output","Output":"WARNING: DATA RACE\n"`, 1), Row{Hits: 1, Trials: 1, Note: "1 packages, 1m0s"}, false},
		"a failure":   {strings.Replace(whole, `"pass"`, `"fail"`, 1), Row{Hits: 1, Trials: 1, Note: "1 packages, 1m0s"}, false},
		"broken off":  {whole[:strings.LastIndex(whole, `{"Time"`)], Row{}, true},
		"nothing":     {"", Row{}, true},
	} {
		got, err := raceRow([]byte(c.stream))
		if (err != nil) != c.broken || err == nil && (got.Hits != c.want.Hits || got.Trials != c.want.Trials || got.Note != c.want.Note) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestR15_ReadsTheRun: targets, inputs and crashers are counted, and a target
// that ran nothing is none.
func TestR15_ReadsTheRun(t *testing.T) {
	t.Parallel()
	const whole = `fuzz a FuzzX
fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed
fuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 1 (total: 4)
fuzz: elapsed: 5s, execs: 250 (50/sec), new interesting: 2 (total: 5)
PASS
fuzz b FuzzY
fuzz: elapsed: 5s, execs: 50 (10/sec), new interesting: 0 (total: 1)
`
	for name, c := range map[string]struct {
		output string
		want   Row
		broken bool
	}{
		"a whole run": {whole, Row{Trials: 2, Note: "300 inputs in 10 s"}, false},
		"a crasher":   {whole + "    Failing input written to testdata/fuzz/FuzzY/1\n", Row{Hits: 1, Trials: 2, Note: "300 inputs in 10 s"}, false},
		"ran nothing": {whole + "fuzz c FuzzZ\nok\n", Row{}, true},
		"nothing":     {"", Row{}, true},
	} {
		got, err := fuzzRow([]byte(c.output))
		if (err != nil) != c.broken || err == nil && (got.Hits != c.want.Hits || got.Trials != c.want.Trials || got.Note != c.want.Note) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
