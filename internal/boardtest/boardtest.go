// Package boardtest lets a test of the reliability board state what it has
// measured, so that docs/reliability.md is written from runs and not by hand.
//
// A test calls Report at its end. Where the environment variable
// RELIABILITY_DIR names a directory, each row of a test that passed becomes
// one file in it; elsewhere nothing is written. make reliability runs the
// tests of the board that way; internal/archtest turns the files into the page.
package boardtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// Dir is the environment variable that names the directory of the rows.
const Dir = "RELIABILITY_DIR"

// Directory is the directory of the rows; "" where none is to be written.
func Directory() string { return os.Getenv(Dir) }

// Row is what one test has measured. The page shows it as "Hits of Trials
// What (Seeds; Note). Control: Control".
type Row struct {
	ID     string `json:"id"`             // the row of the board, a requirement: "R1"
	Part   string `json:"part,omitempty"` // tells several tests of one row apart: "forgetting"; "" where there is one
	Hits   int    `json:"hits"`           // trials in which What happened: 0 but in a control
	Trials int    `json:"trials"`         // of how many, more than 0
	What   string `json:"what"`           // what a trial is and what must not happen: "power cuts lost something acknowledged"
	// Seeds names the random seeds, "" where nothing is drawn.
	Seeds string `json:"seeds,omitempty"`
	// Control says what the control did that must fail: "21 of 25 without
	// syncs". A control that is a test of its own reports a Row instead.
	Control string `json:"control,omitempty"`
	Note    string `json:"note,omitempty"` // what else was counted: "13,920 acknowledged updates"
}

// Run is a Row as it is kept.
type Run struct {
	Row
	Test string `json:"test"` // the function
	Day  string `json:"day"`  // when it ran: "2026-11-30"
}

var (
	rowID    = regexp.MustCompile(`^[A-Z][1-9][0-9]*$`)
	partName = regexp.MustCompile(`^[a-z0-9-]*$`)
)

// Report keeps a row when the test ends, unless it failed.
func Report(t testing.TB, row Row) {
	t.Helper()
	if !rowID.MatchString(row.ID) || !partName.MatchString(row.Part) || row.Trials <= 0 || row.Hits < 0 || row.Hits > row.Trials || row.What == "" {
		t.Errorf("not a row of the board: %+v", row)
		return
	}
	dir := Directory()
	if dir == "" {
		return
	}
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		if err := write(dir, Run{Row: row, Test: t.Name(), Day: time.Now().UTC().Format(time.DateOnly)}); err != nil {
			t.Errorf("report row %s: %v", row.ID, err)
		}
	})
}

func write(dir string, run Run) error {
	name := run.ID
	if run.Part != "" {
		name += "-" + run.Part
	}
	text, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o644)
}

// Read returns the rows that a directory holds, by the names of their files.
func Read(dir string) ([]Run, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var run Run
		if err := json.Unmarshal(text, &run); err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Base(name), err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}
