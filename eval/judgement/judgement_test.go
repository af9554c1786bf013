package judgement_test

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/eval/judgement"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store/sqlite"
)

var (
	update = flag.Bool("update", false, "write the scores anew")
	faults = flag.Bool("faults", false, "say what is wrong with the seen cases")
)

// results are the scores of the rules, in the repository, by part.
const results = "../results/judgement.json"

// scores are the scores of one part: of all, by kind and by language.
type scores struct {
	All      judgement.Score            `json:"all"`
	Kind     map[string]judgement.Score `json:"kind"`
	Language map[string]judgement.Score `json:"language"`
}

func service(t *testing.T, clock *judgement.Clock) yiku.Service {
	t.Helper()
	s, err := sqlite.Open(t.Context(), t.TempDir(), &sqlite.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	index := memindex.New(nil)
	e, err := engine.New(engine.Options{Store: s, Index: index, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{e.Close, index.Close, s.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return e.As(yiku.Principal{Tenant: "eval", Access: yiku.AccessAdmin})
}

func run(t *testing.T, path string, tell bool) scores {
	t.Helper()
	cases, err := judgement.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var clock judgement.Clock
	s := service(t, &clock)
	out := scores{Kind: map[string]judgement.Score{}, Language: map[string]judgement.Score{}}
	for _, c := range cases {
		score, wrong, err := judgement.Run(context.Background(), s, &clock, c)
		if err != nil {
			t.Fatal(err)
		}
		if tell {
			for _, f := range wrong {
				t.Logf("%s: %s", c.ID, f)
			}
		}
		out.All.Add(score)
		kind, language := out.Kind[c.Kind], out.Language[c.Language]
		kind.Add(score)
		language.Add(score)
		out.Kind[c.Kind], out.Language[c.Language] = kind, language
	}
	return out
}

// TestC5_Judgement plays every part of the suite in without a model. The scores
// stand in eval/results/judgement.json; one that is worse than there fails, and
// is not written. Of an unseen part only numbers are shown.
func TestC5_Judgement(t *testing.T) {
	t.Parallel()
	parts, err := judgement.Parts("testdata")
	if err != nil {
		t.Fatal(err)
	}
	stands, got := recorded(t), map[string]scores{}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		got[part] = run(t, parts[part], *faults && !judgement.Unseen(part))
		show(t, part, got[part])
		want, ok := stands[part]
		if !ok && !*update {
			t.Errorf("%s has no scores in %s: write them with -update", part, results)
		}
		for _, worse := range got[part].All.Below(want.All) {
			if ok {
				t.Errorf("%s: %s", part, worse)
			}
		}
	}
	for part := range stands {
		if _, ok := got[part]; !ok && !*update {
			t.Errorf("%s has scores and no cases", part)
		}
	}
	if !*update || t.Failed() {
		return
	}
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(results, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// recorded are the scores that stand, by part.
func recorded(t *testing.T) map[string]scores {
	t.Helper()
	b, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	var stands map[string]scores
	if err := json.Unmarshal(b, &stands); err != nil {
		t.Fatal(err)
	}
	return stands
}

func show(t *testing.T, part string, got scores) {
	t.Helper()
	all := got.All
	t.Logf("%s: precision %.3f, recall %.3f, forbidden %d, wrongly retired %d (%d cases, %d kept, %d asked for)",
		part, all.Precision(), all.Recall(), all.Forbidden, all.WrongRetired, all.Cases, all.Kept, all.Asked)
	for _, kind := range slices.Sorted(maps.Keys(got.Kind)) {
		s := got.Kind[kind]
		t.Logf("  %-14s precision %.2f recall %.2f (%d kept, %d wrong, %d of %d found)", kind, s.Precision(), s.Recall(), s.Kept, s.Wrong, s.Found, s.Asked)
	}
	for _, language := range slices.Sorted(maps.Keys(got.Language)) {
		s := got.Language[language]
		t.Logf("  %-14s precision %.2f recall %.2f", language, s.Precision(), s.Recall())
	}
}

// TestC5_JudgementRefusesADrop holds what may not be written over a score that
// stands against what may.
func TestC5_JudgementRefusesADrop(t *testing.T) {
	t.Parallel()
	stands := judgement.Score{Cases: 10, Kept: 100, Wrong: 5, Asked: 100, Found: 60, Forbidden: 1}
	for name, c := range map[string]struct {
		change func(*judgement.Score)
		worse  int
	}{
		"the same":                {func(*judgement.Score) {}, 0},
		"one more found":          {func(s *judgement.Score) { s.Found++ }, 0},
		"one fewer found":         {func(s *judgement.Score) { s.Found-- }, 1},
		"one more wrong":          {func(s *judgement.Score) { s.Kept++; s.Wrong++ }, 1},
		"one more forbidden":      {func(s *judgement.Score) { s.Kept++; s.Wrong++; s.Forbidden++ }, 2},
		"one more that is right":  {func(s *judgement.Score) { s.Kept++ }, 0},
		"one retired wrongly":     {func(s *judgement.Score) { s.WrongRetired++ }, 1},
		"fewer kept, as many bad": {func(s *judgement.Score) { s.Kept -= 50 }, 1},
	} {
		got := stands
		c.change(&got)
		if worse := got.Below(stands); len(worse) != c.worse {
			t.Errorf("%s: %v", name, worse)
		}
	}
}

// TestC5_JudgementTakesParts puts parts into a directory as they are put into
// the suite.
func TestC5_JudgementTakesParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := judgement.Parts(dir); err == nil {
		t.Error("a directory without cases has parts")
	}
	write("seen.jsonl")
	write("unseen-2.jsonl.gz")
	parts, err := judgement.Parts(dir)
	if err != nil || len(parts) != 2 || parts["unseen-2"] == "" || !judgement.Unseen("unseen-2") || judgement.Unseen("seen") {
		t.Errorf("parts %v, error %v", parts, err)
	}
	write("unseen-2.jsonl")
	if _, err := judgement.Parts(dir); err == nil {
		t.Error("one part stands in two files")
	}
}
