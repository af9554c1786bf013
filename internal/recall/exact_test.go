package recall_test

import (
	order "cmp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/internal/recall"
)

// TestB2_ExactDataOfAQueryAreRaised: what says the datum that a query names
// stands among the first three, and scores fall all the same; a longer number of
// which the datum is a part does not count, and a query without exact data
// changes nothing: the control.
func TestB2_ExactDataOfAQueryAreRaised(t *testing.T) {
	t.Parallel()
	items := []recall.Item{
		item(1, .9, "set the max-width of the page"), item(2, .88, "max-width: 6000px; max-width: 1600px"), item(3, .86, "宽度一般是多少"),
		item(4, .84, "the max-width of tablets"), item(5, .7, "on phones max-width: 600px;"), item(6, .6, "订单A-2093已发货"), item(7, .6, "订单A-20931已发货"),
	}
	for _, c := range []struct {
		name  string
		exact []string
		want  []int64
	}{
		{"none", nil, []int64{1, 2, 3, 4, 5, 7, 6}},
		{"said by nobody", []string{"700px"}, []int64{1, 2, 3, 4, 5, 7, 6}},
		{"one", []string{"600px"}, []int64{1, 2, 5, 3, 4, 7, 6}},
		{"already there", []string{"1600px"}, []int64{1, 2, 3, 4, 5, 7, 6}},
		{"beside Chinese", []string{"A-2093"}, []int64{1, 2, 6, 3, 4, 5, 7}},
		{"four, of which many say the first", []string{"max-width", "600px", "A-2093", "A-20931"}, []int64{7, 6, 5, 1, 2, 3, 4}},
		{"three, one of them there", []string{"600px", "1600px", "A-2093"}, []int64{6, 2, 5, 1, 3, 4, 7}},
	} {
		got := recall.Rank(items, now(), 10, &recall.Options{Exact: c.exact, Explain: true})
		if diff := cmp.Diff(c.want, keys(got)); diff != "" {
			t.Errorf("%s: order (-want +got):\n%s", c.name, diff)
		}
		if !slices.IsSortedFunc(got, func(a, b recall.Ranked) int { return order.Compare(b.Score, a.Score) }) {
			t.Errorf("%s: scores do not fall", c.name)
		}
		for _, r := range got {
			raised := slices.ContainsFunc(r.Explain.Notes, func(n string) bool { return strings.Contains(n, "word for word") })
			if raised != (r.Says != "") {
				t.Errorf("%s: %d is explained with %q", c.name, r.Candidate.Key, r.Explain.Notes)
			}
		}
	}
}
