package main

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	base := report{Sets: []set{{
		Name: "a", ForeignSilent: .8,
		All:        metrics{Recall: []float64{.5, .7}, MRR: .6, Silent: .1},
		Categories: []category{{"one", metrics{MRR: .6}}},
	}}}
	for name, tt := range map[string]struct {
		after report
		worse int
	}{
		"the same": {base, 0},
		"within the tolerances": {report{Sets: []set{{
			Name: "a", ForeignSilent: .797, All: metrics{Recall: []float64{.496, .8}, MRR: .6, Silent: .1},
			Categories: []category{{"one", metrics{MRR: .585}}},
		}, {Name: "new"}}}, 0},
		"recall fell and silence rose": {report{Sets: []set{{
			Name: "a", ForeignSilent: .8, All: metrics{Recall: []float64{.49, .7}, MRR: .6, Silent: .2},
			Categories: []category{{"one", metrics{MRR: .6}}},
		}}}, 2},
		"a rank is missing": {report{Sets: []set{{
			Name: "a", ForeignSilent: .8, All: metrics{Recall: []float64{.5}, MRR: .6},
			Categories: []category{{"one", metrics{MRR: .6}}},
		}}}, 1},
		"a category fell":                   {report{Sets: []set{{Name: "a", ForeignSilent: .8, All: base.Sets[0].All, Categories: []category{{"one", metrics{MRR: .57}}}}}}, 1},
		"a category is missing":             {report{Sets: []set{{Name: "a", ForeignSilent: .8, All: base.Sets[0].All}}}, 1},
		"a stranger's question is answered": {report{Sets: []set{{Name: "a", ForeignSilent: .7, All: base.Sets[0].All, Categories: base.Sets[0].Categories}}}, 1},
		"a set is missing":                  {report{Sets: []set{{Name: "b"}}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if worse := compare(&out, base, tt.after, .005, .02); worse != tt.worse {
				t.Errorf("%d worse; want %d:\n%s", worse, tt.worse, out.String())
			}
		})
	}
}
