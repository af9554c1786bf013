// Command testreport reads streams of go test -json, one file each, prints the
// output of what failed, and ends with a line
//
//	N passed, N failed
//
// that counts tests and subtests. A test that stands in several streams counts
// once, and as failed if it failed in one of them. A package that could not be
// built or ended without a result counts as one failure. The exit status is 1
// where anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	r := newReport()
	for _, name := range os.Args[1:] {
		if err := r.readFile(name); err != nil {
			fmt.Fprintln(os.Stderr, "testreport:", err)
			os.Exit(2)
		}
	}
	r.write(os.Stdout)
	if _, failed := r.count(); failed > 0 {
		os.Exit(1)
	}
}

// event is what go test -json writes on each line; see go doc test2json.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

type test struct{ pkg, name string }

type report struct {
	failed map[test]bool // every test that ended, and whether it failed anywhere
	broken map[string]bool
	output map[test]*strings.Builder
}

func newReport() *report {
	return &report{failed: map[test]bool{}, broken: map[string]bool{}, output: map[test]*strings.Builder{}}
}

func (r *report) readFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(r.read(file), file.Close())
}

func (r *report) read(stream io.Reader) error {
	failures := map[string]bool{}   // packages with a failed test in this stream
	unfinished := map[string]bool{} // packages that began and did not end
	scanner := bufio.NewScanner(stream)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var e event
		if json.Unmarshal(scanner.Bytes(), &e) != nil {
			continue // a line of the go command itself
		}
		key := test{e.Package, e.Test}
		switch e.Action {
		case "start":
			unfinished[e.Package] = true
		case "output", "build-output":
			if e.Action == "build-output" {
				key = test{e.ImportPath, ""}
			}
			if r.output[key] == nil {
				r.output[key] = &strings.Builder{}
			}
			r.output[key].WriteString(e.Output)
		case "build-fail":
			r.broken[e.ImportPath] = true
		case "pass", "fail":
			if e.Test != "" {
				r.failed[key] = r.failed[key] || e.Action == "fail"
				failures[e.Package] = failures[e.Package] || e.Action == "fail"
				continue
			}
			delete(unfinished, e.Package)
			if e.Action == "fail" && e.FailedBuild == "" && !failures[e.Package] {
				r.broken[e.Package] = true
			}
		case "skip":
			if e.Test == "" {
				delete(unfinished, e.Package)
			}
		}
	}
	for pkg := range unfinished {
		r.broken[pkg] = true
	}
	return scanner.Err()
}

func (r *report) count() (passed, failed int) {
	for _, bad := range r.failed {
		if bad {
			failed++
		} else {
			passed++
		}
	}
	return passed, failed + len(r.broken)
}

func (r *report) write(w io.Writer) {
	var bad []test
	for key, failed := range r.failed {
		if failed {
			bad = append(bad, key)
		}
	}
	for pkg := range r.broken {
		bad = append(bad, test{pkg, ""})
	}
	slices.SortFunc(bad, func(a, b test) int { return strings.Compare(a.pkg+" "+a.name, b.pkg+" "+b.name) })
	for _, key := range bad {
		fmt.Fprintf(w, "=== %s %s\n", key.pkg, key.name)
		if out := r.output[key]; out != nil {
			fmt.Fprintln(w, strings.TrimRight(out.String(), "\n"))
		}
	}
	passed, failed := r.count()
	fmt.Fprintf(w, "%d passed, %d failed\n", passed, failed)
}
