package mutant

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku/internal/boardtest"
)

// trials tries mutants in a copy of the tree: those that fit by running the
// tests that were compiled with all of them, the others one by one.
type trials struct {
	*schemata
	known map[string]map[string]*reach // what was seen of a package's tests without any mutant, by their names
	whole map[string]bool              // the stages that hold without any mutant, run by a binary
	bare  map[string]bool              // and by go test
}

// reach is what one test does where no mutant is on.
type reach struct {
	test   string
	holds  bool // it fails without any mutant where not, and then it proves nothing
	took   time.Duration
	places map[string]bool // the functions with mutants that it calls
	parts  []string        // its subtests, by their whole names
}

// long is how long a test may take before its subtests are run on their own.
const long = 3 * time.Second

// cost orders tests: what is quick and is about little comes first.
func (r *reach) cost() time.Duration { return r.took * time.Duration(len(r.places)) }

// newTrials compiles what fits of the list.
func newTrials(t *testing.T, dir string, list []mutant) *trials {
	t.Helper()
	var fit []mutant
	var packages []string
	for _, m := range list {
		if m.source() {
			continue
		}
		fit = append(fit, m)
		for _, stage := range m.stages() {
			pkg, _, _ := strings.Cut(stage, " ")
			packages = append(packages, pkg)
		}
	}
	slices.Sort(packages)
	r := &trials{schemata: &schemata{}, known: map[string]map[string]*reach{}, whole: map[string]bool{}, bare: map[string]bool{}}
	if len(fit) > 0 {
		r.schemata = newSchemata(t, dir, fit, slices.Compact(packages))
	}
	r.dir = dir
	return r
}

// source says whether tests of a mutant read the source, which a binary does
// not have without its guard, or name a part of a test.
func (m mutant) source() bool {
	return slices.ContainsFunc(m.stages(), func(stage string) bool {
		pkg, run, _ := strings.Cut(stage, " ")
		return pkg == "internal/archtest" || strings.Contains(run, "/")
	})
}

// try says what becomes of a mutant.
func (r *trials) try(t *testing.T, m mutant, last string) (outcome, string) {
	t.Helper()
	if r.numbers[m.name] > 0 {
		if got, by := r.reached(t, m, last); got != survived {
			return got, by
		}
	}
	return r.stagesOf(t, m)
}

// reached tries a mutant with the tests that reach its function, the cheapest
// first, but for the one that missed it the last time. What survives them has
// not survived yet.
func (r *trials) reached(t *testing.T, m mutant, last string) (outcome, string) {
	t.Helper()
	_, last, _ = strings.Cut(last, " ")
	for _, stage := range m.stages() {
		pkg, _, _ := strings.Cut(stage, " ")
		tests, err := r.reaching(t, stage, m)
		if err != nil {
			return broken, err.Error()
		}
		slices.SortFunc(tests, func(a, b *reach) int { return cmp.Compare(a.cost(), b.cost()) })
		if i := slices.IndexFunc(tests, func(x *reach) bool { return strings.HasPrefix(last+"/", x.test+"/") }); i > 0 {
			tests = slices.Insert(slices.Delete(tests, i, i+1), 0, tests[i])
		}
		for _, test := range tests {
			if got, by := r.run(t.Context(), pkg, r.numbers[m.name], "-test.run", only(test.test)); got != survived {
				return got, by
			}
		}
	}
	return survived, ""
}

// stagesOf tries a mutant with all of its stages, which must hold without it;
// what does not fit is compiled alone.
func (r *trials) stagesOf(t *testing.T, m mutant) (outcome, string) {
	t.Helper()
	number := r.numbers[m.name]
	if number == 0 {
		if why := r.unfit[m.name]; why != nil {
			t.Logf("%s: alone: %v", m.name, why)
		}
		return m.tryWhole(t, r.dir, r.bare)
	}
	for _, stage := range m.stages() {
		pkg, _, _ := strings.Cut(stage, " ")
		if !r.whole[stage] {
			if got, by := r.run(t.Context(), pkg, 0, selects(stage)...); got != survived {
				return broken, stage + " fails without any mutant: " + by
			}
			r.whole[stage] = true
		}
		if got, by := r.run(t.Context(), pkg, number, selects(stage)...); got != survived {
			return got, by
		}
	}
	return survived, ""
}

// only is the pattern of one test or subtest.
func only(test string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
}

// selects are the flags by which a binary runs the tests of a stage.
func selects(stage string) []string {
	if _, run, chosen := strings.Cut(stage, " "); chosen {
		return []string{"-test.run", run}
	}
	return []string{"-test.skip", slow}
}

// reaching gives the tests of a stage that hold and reach the mutant's place,
// all that hold where it is a value.
func (r *trials) reaching(t *testing.T, stage string, m mutant) ([]*reach, error) {
	t.Helper()
	pkg, run, chosen := strings.Cut(stage, " ")
	cmd := r.command(t.Context(), pkg, 0, "", "-test.list", ".")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list tests of %s: %w", pkg, err)
	}
	want, err := regexp.Compile(run)
	if err != nil {
		return nil, err
	}
	skip := regexp.MustCompile(slow)
	var tests []*reach
	any := false
	for name := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(name, "Benchmark") || (chosen && !want.MatchString(name)) || (!chosen && skip.MatchString(name)) {
			continue
		}
		any = true
		for _, test := range r.parts(t, pkg, name) {
			if place := r.places[m.name]; test.holds && (place == 0 || test.places[fmt.Sprint(place)]) {
				tests = append(tests, test)
			}
		}
	}
	if !any {
		return nil, fmt.Errorf("no test ran: %s", stage)
	}
	return tests, nil
}

// parts are a test, or its subtests where it is long: most are about one thing.
func (r *trials) parts(t *testing.T, pkg, name string) []*reach {
	t.Helper()
	test := r.reach(t, pkg, name)
	if test.took < long || len(test.parts) < 2 || !test.holds {
		return []*reach{test}
	}
	var parts []*reach
	for _, part := range test.parts {
		parts = append(parts, r.parts(t, pkg, part)...)
	}
	return parts
}

// reach runs a test alone without any mutant, once. One that fails is given a
// second chance: a busy machine is no fault of it.
func (r *trials) reach(t *testing.T, pkg, name string) *reach {
	t.Helper()
	if r.known[pkg] == nil {
		r.known[pkg] = map[string]*reach{}
	}
	if known := r.known[pkg][name]; known != nil {
		return known
	}
	file := filepath.Join(t.TempDir(), "reached")
	test := &reach{test: name, places: map[string]bool{}}
	for range 2 {
		began := time.Now()
		out, err := r.output(t.Context(), pkg, 0, file, "-test.run", only(name))
		got, _ := judge(pkg, out, err)
		test.took, test.holds, test.parts = time.Since(began), got == survived, nil
		for _, ran := range ranTest.FindAllSubmatch(out, -1) {
			if part := string(ran[1]); strings.HasPrefix(part, name+"/") && !strings.Contains(part[len(name)+1:], "/") {
				test.parts = append(test.parts, part)
			}
		}
		if test.holds {
			break
		}
	}
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for place := range strings.FieldsSeq(string(text)) {
		test.places[place] = true
	}
	if !test.holds {
		t.Errorf("%s %s fails without any mutant", pkg, name)
	}
	r.known[pkg][name] = test
	return test
}

// command runs the tests of a package with a mutant on, none where the number
// is 0, where go test would run them.
func (s *schemata) command(ctx context.Context, pkg string, number int, reached string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary(pkg), args...)
	cmd.Dir = filepath.Join(s.dir, pkg)
	cmd.Env = append(os.Environ(), boardtest.Dir+"=", fmt.Sprintf("%s=%d", envOn, number), envReached+"="+reached)
	return cmd
}

var (
	ranTest    = regexp.MustCompile(`(?m)^=== RUN +(\S+)`)
	failedTest = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
)

func (s *schemata) output(ctx context.Context, pkg string, number int, reached string, args ...string) ([]byte, error) {
	args = append([]string{"-test.v", "-test.paniconexit0", "-test.failfast", "-test.timeout=10m"}, args...)
	return s.command(ctx, pkg, number, reached, args...).CombinedOutput()
}

// run runs tests and names what failed.
func (s *schemata) run(ctx context.Context, pkg string, number int, args ...string) (outcome, string) {
	out, err := s.output(ctx, pkg, number, "", args...)
	return judge(pkg, out, err)
}

// judge says what tests have made of a mutant, by what they wrote.
func judge(pkg string, out []byte, err error) (outcome, string) {
	ran := ranTest.FindAllSubmatch(out, -1)
	switch {
	case err == nil && len(ran) > 0:
		return survived, ""
	case len(ran) == 0:
		return broken, fmt.Sprintf("no test ran: %v", err)
	}
	name := string(ran[len(ran)-1][1]) // it ended in a panic
	for i, f := range failedTest.FindAllSubmatch(out, -1) {
		if i == 0 || strings.HasPrefix(string(f[1]), name+"/") {
			name = string(f[1])
		}
	}
	return killed, path.Base(pkg) + " " + name
}
