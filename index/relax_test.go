package index_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/indextest"
)

// TestD1_RelaxLetsThrough: whatever fields an index lacks, nothing that matches
// the filter is lost, and with all fields nothing is added.
func TestD1_RelaxLetsThrough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		filter := indextest.FilterGen(4).Draw(r, "filter")
		item := indextest.DocGen().Draw(r, "item")
		lacks := rapid.SliceOfN(rapid.SampledFrom([]string{"id", "type", "topics", "importance", "created_at", "metadata.k"}), 0, 6).Draw(r, "lacks")
		relaxed := index.Relax(&filter, func(field string) bool { return !strings.Contains(strings.Join(lacks, " "), field) })
		if filter.Match(item.Get) && !relaxed.Match(item.Get) {
			r.Fatalf("an item that matches is lost")
		}
		if relaxed != nil {
			if err := relaxed.Validate("filter"); err != nil {
				r.Fatalf("the relaxed filter is invalid: %v", err)
			}
		}
		whole := index.Relax(&filter, func(string) bool { return true })
		if filter.Match(item.Get) != whole.Match(item.Get) {
			r.Fatalf("with all fields the filter has changed its meaning")
		}
	})
}

func TestD1_RelaxIsTight(t *testing.T) {
	t.Parallel()
	yes := yiku.Filter{Field: "type", Op: yiku.OpEq, Value: "fact"}
	no := yiku.Filter{Field: "id", Op: yiku.OpEq, Value: "x"}
	not := func(f yiku.Filter) yiku.Filter { return yiku.Filter{Not: &f} }
	and := func(f ...yiku.Filter) yiku.Filter { return yiku.Filter{And: f} }
	or := func(f ...yiku.Filter) yiku.Filter { return yiku.Filter{Or: f} }
	ptr := func(f yiku.Filter) *yiku.Filter { return &f }
	for name, test := range map[string]struct {
		in   yiku.Filter
		want *yiku.Filter
	}{
		"leaf":            {no, nil},
		"and keeps":       {and(yes, no), ptr(and(yes))},
		"or is lost":      {or(yes, no), nil},
		"not":             {not(no), nil},
		"not and is lost": {not(and(yes, no)), nil},
		"not or keeps":    {not(or(yes, no)), ptr(not(or(yes)))},
		"two nots":        {not(not(and(yes, no))), ptr(not(not(and(yes))))},
		"deep":            {and(yes, not(or(no, and(yes, no), yes))), ptr(and(yes, not(or(yes))))},
	} {
		got := index.Relax(&test.in, func(field string) bool { return field != "id" })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if index.Relax(nil, func(string) bool { return true }) != nil {
		t.Error("nil does not stay nil")
	}
}
