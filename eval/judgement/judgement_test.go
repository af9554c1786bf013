package judgement_test

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
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

// results are the scores of the rules, in the repository, by half.
const results = "../results/judgement.json"

// scores are the scores of one half: of all, by kind and by language.
type scores struct {
	All      judgement.Score            `json:"all"`
	Kind     map[string]judgement.Score `json:"kind"`
	Language map[string]judgement.Score `json:"language"`
}

func service(t *testing.T) yiku.Service {
	t.Helper()
	s, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	index := memindex.New(nil)
	e, err := engine.New(engine.Options{Store: s, Index: index})
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
	s := service(t)
	out := scores{Kind: map[string]judgement.Score{}, Language: map[string]judgement.Score{}}
	for _, c := range cases {
		score, wrong, err := judgement.Run(context.Background(), s, c)
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

// TestC5_Judgement plays both halves of the suite in without a model. The
// scores stand in eval/results/judgement.json; one that is worse than there
// fails. Of the unseen half only numbers are shown.
func TestC5_Judgement(t *testing.T) {
	t.Parallel()
	got := map[string]scores{"seen": run(t, "testdata/seen.jsonl", *faults), "unseen": run(t, "testdata/unseen.jsonl.gz", false)}
	for _, half := range slices.Sorted(maps.Keys(got)) {
		all := got[half].All
		t.Logf("%s: precision %.3f, recall %.3f, forbidden %d, wrongly retired %d (%d cases, %d kept, %d asked for)",
			half, all.Precision(), all.Recall(), all.Forbidden, all.WrongRetired, all.Cases, all.Kept, all.Asked)
		for _, kind := range slices.Sorted(maps.Keys(got[half].Kind)) {
			s := got[half].Kind[kind]
			t.Logf("  %-14s precision %.2f recall %.2f (%d kept, %d wrong, %d of %d found)", kind, s.Precision(), s.Recall(), s.Kept, s.Wrong, s.Found, s.Asked)
		}
		for _, language := range slices.Sorted(maps.Keys(got[half].Language)) {
			s := got[half].Language[language]
			t.Logf("  %-14s precision %.2f recall %.2f", language, s.Precision(), s.Recall())
		}
	}
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(results, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var kept map[string]scores
	b, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatal(err)
	}
	for half, want := range kept {
		all := got[half].All
		if all.Precision() < want.All.Precision()-0.001 || all.Recall() < want.All.Recall()-0.001 || all.WrongRetired > want.All.WrongRetired {
			t.Errorf("%s: precision %.3f and recall %.3f; they were %.3f and %.3f", half, all.Precision(), all.Recall(), want.All.Precision(), want.All.Recall())
		}
	}
}
