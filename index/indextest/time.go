package indextest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/index"
)

// testSessionGap: what a session says after a long silence does not stand next
// to what was said before.
func testSessionGap(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	var docs []index.Doc
	for i, hours := range []int{0, 23, 48, 49} {
		d := message(int64(i+1), 1, []string{"apple", "birch", "cedar", "elm"}[i])
		d.At = epoch().Add(time.Duration(hours) * time.Hour)
		docs = append(docs, d)
	}
	k.apply(t, o, docs)
	k.finds(t, o, "apple", 1, 2)
	k.finds(t, o, "birch", 1, 2)
	k.finds(t, o, "cedar", 3, 4)
}

// testTimes: what is of a time that is asked for is a candidate, whatever it
// says, those first that fit best; the others say how well they fit.
func testTimes(t *testing.T, k *kit) {
	o := Owner(t, "t", "u")
	var docs []index.Doc
	for i, days := range []int{0, 1, 2, 12, -3} {
		d := text(int64(i+1), fmt.Sprintf("word%d", i))
		d.At = epoch().AddDate(0, 0, days)
		docs = append(docs, d)
	}
	k.apply(t, o, append(docs, text(9, "timeless")))
	day := index.Span{From: epoch(), To: epoch().AddDate(0, 0, 1)}
	fits := func(q index.Query) map[int64]float64 {
		got := map[int64]float64{}
		for key, c := range byKey(k.search(t, o, q)) {
			got[key] = math.Round(1000 * c.Time)
		}
		return got
	}
	if diff := cmp.Diff(map[int64]float64{1: 1000, 2: 1000, 3: 500, 5: 125}, fits(index.Query{Times: []index.Span{day}})); diff != "" {
		t.Errorf("fits in thousandths (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[int64]float64{4: 1000, 9: 0}, fits(index.Query{Text: "timeless", Times: []index.Span{{From: epoch().AddDate(0, 0, 10)}}})); diff != "" {
		t.Errorf("a side without a bound, beside a word (-want +got):\n%s", diff)
	}
	if r := k.search(t, o, index.Query{Times: []index.Span{{To: epoch()}, day}, K: 3}); !r.More || len(byKey(r)) != 3 || byKey(r)[3].Key != 0 {
		t.Errorf("the best three of two spans: %+v", r)
	}
}
