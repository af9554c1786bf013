package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

// TestE1_FilterTakesItsKindOnly: a condition on a field that messages do not
// have takes no message, one that memories do not have no memory, however it is
// turned. Control: conditions on fields that both have take both, and an or
// takes what one of its branches takes.
func TestE1_FilterTakesItsKindOnly(t *testing.T) {
	t.Parallel()
	field := func(name string, op yiku.Op, v any) yiku.Filter { return yiku.Filter{Field: name, Op: op, Value: v} }
	not := func(f yiku.Filter) yiku.Filter { return yiku.Filter{Not: &f} }
	either := func(f ...yiku.Filter) yiku.Filter { return yiku.Filter{Or: f} }
	both := func(f ...yiku.Filter) yiku.Filter { return yiku.Filter{And: f} }
	for name, test := range map[string]struct {
		filter yiku.Filter
		want   []string // what is left
	}{
		"ne":                {field("importance", yiku.OpNe, 0.9), []string{"hello pears", "喜欢茶", "好"}},
		"not":               {not(field("importance", yiku.OpEq, 0.9)), []string{"hello pears", "喜欢茶", "好"}},
		"exists false":      {field("attribute", yiku.OpExists, false), []string{"hello pears", "好"}},
		"not and":           {not(both(field("importance", yiku.OpEq, 0.9), field("confidence", yiku.OpEq, 1.0))), []string{"hello pears", "喜欢茶", "好"}},
		"not or":            {not(either(field("importance", yiku.OpEq, 0.9), field("content", yiku.OpEq, "x"))), []string{"hello pears", "喜欢茶", "好"}},
		"and":               {both(field("status", yiku.OpNe, "stale"), field("content", yiku.OpContains, "pears")), []string{"hello pears", "喜欢茶", "好"}},
		"role":              {field("role", yiku.OpNe, "user"), []string{"hello pears", "likes pears", "喜欢茶"}},
		"control: both":     {field("content", yiku.OpContains, "pears"), []string{"喜欢茶", "好"}},
		"control: 内容":       {not(field("content", yiku.OpContains, "pears")), []string{"hello pears", "likes pears"}},
		"control: metadata": {field("metadata.tag", yiku.OpExists, false), []string{}},
		"control: or":       {either(field("value", yiku.OpEq, "x"), field("content", yiku.OpContains, "pears")), []string{"喜欢茶", "好"}},
		"control: nothing":  {not(both(field("content", yiku.OpNe, "x"), field("project_id", yiku.OpExists, false))), []string{"hello pears", "likes pears", "喜欢茶", "好"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			save(t, s, yiku.SaveMemoryRequest{Content: "喜欢茶", Importance: new(0.9)})
			save(t, s, yiku.SaveMemoryRequest{Content: "likes pears"})
			say(t, s, "s", "hello pears", "好")
			req := yiku.ForgetRequest{Selector: yiku.Selector{Filter: &test.filter}, DryRun: true}
			would := forget(t, s, req)
			req.DryRun = false
			did := forget(t, s, req)
			if diff := cmp.Diff(test.want, left(t, s)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if would.Removed != did.Removed {
				t.Errorf("would remove %+v, removed %+v", would.Removed, did.Removed)
			}
			proven(t, s, did)
		})
	}
}
