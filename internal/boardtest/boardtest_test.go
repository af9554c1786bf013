package boardtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake is a test whose end the test below decides.
type fake struct {
	testing.TB
	failed   bool
	cleanups []func()
}

func (f *fake) Helper()               {}
func (f *fake) Name() string          { return "TestR1_Fake" }
func (f *fake) Errorf(string, ...any) { f.failed = true }
func (f *fake) Failed() bool          { return f.failed }
func (f *fake) Skipped() bool         { return false }
func (f *fake) Cleanup(fn func())     { f.cleanups = append(f.cleanups, fn) }

func (f *fake) end() {
	for _, fn := range f.cleanups {
		fn()
	}
}

// TestReport: a test that passes leaves its row, one that fails does not, and
// without the variable nothing is written.
func TestReport(t *testing.T) {
	row := Row{ID: "R1", Trials: 3, What: "cuts lost something", Seeds: "0–2", Control: "1 of 1"}
	ends := func(dir string, fail bool) []Run {
		t.Setenv(Dir, dir)
		f := &fake{}
		Report(f, row)
		f.failed = f.failed || fail
		f.end()
		runs, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range runs {
			runs[i].Day = ""
		}
		return runs
	}
	want := []Run{{Row: row, Test: "TestR1_Fake"}}
	if diff := cmp.Diff(want, ends(t.TempDir(), false)); diff != "" {
		t.Error(diff)
	}
	if got := ends(t.TempDir(), true); got != nil {
		t.Errorf("a test that failed left %+v", got)
	}
	if got := ends("", false); got != nil {
		t.Errorf("without a directory: %+v", got)
	}
}

// TestReportRefuses what is no row.
func TestReportRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []Row{{}, {ID: "one", Trials: 1, What: "x"}, {ID: "R1", What: "x"}, {ID: "R1", Trials: 1}, {ID: "R1", Hits: 2, Trials: 1, What: "x"}, {ID: "R1", Part: "../x", Trials: 1, What: "x"}} {
		f := &fake{}
		if Report(f, row); !f.failed || len(f.cleanups) > 0 {
			t.Errorf("%+v was taken", row)
		}
	}
}
