package recall_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/internal/recall"
)

func now() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }

func ago(days float64) time.Time { return now().Add(-time.Duration(days * 24 * float64(time.Hour))) }

func item(key int64, relevance float64, text string) recall.Item {
	return recall.Item{Candidate: index.Candidate{Ref: index.Ref{Key: key}}, Scores: yiku.Scores{Relevance: relevance}, Text: text}
}

func keys(ranked []recall.Ranked) []int64 {
	out := []int64{}
	for _, r := range ranked {
		out = append(out, r.Candidate.Key)
	}
	return out
}

// TestD3_Score checks the documented formula with round numbers.
func TestD3_Score(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		item recall.Item
		want float64
	}{
		"nothing":                 {recall.Item{}, 0},
		"relevance":               {recall.Item{Scores: yiku.Scores{Relevance: .5}}, .6 * .5},
		"new":                     {recall.Item{At: now()}, .15},
		"one half-life":           {recall.Item{At: ago(30)}, .15 / 2},
		"two half-lives":          {recall.Item{At: ago(60)}, .15 / 4},
		"lies ahead":              {recall.Item{At: ago(-30)}, .15},
		"importance":              {recall.Item{Importance: .8}, .15 * .8},
		"importance out of range": {recall.Item{Importance: 7}, .15},
		"used thrice, now":        {recall.Item{AccessCount: 3, LastAccess: now()}, .1 * .5},
		"used thrice, long ago":   {recall.Item{AccessCount: 3, LastAccess: ago(30)}, .1 * .25},
		"correction":              {recall.Item{Type: yiku.TypeCorrection}, .03},
		"profile":                 {recall.Item{Type: yiku.TypeProfile}, .02},
		"all": {recall.Item{Scores: yiku.Scores{Relevance: 1}, At: now(), Importance: 1, AccessCount: math.MaxInt64, LastAccess: now(),
			Type: yiku.TypeCorrection}, 1},
	} {
		got, parts := recall.Score(test.item.Scores, test.item, now(), recall.DefaultWeights())
		if math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: score %v, want %v (%+v)", name, got, test.want, parts)
		}
	}
}

// TestD3_Preferences: with all else equal, corrections stand before neutral
// facts, identity before details, new before old.
func TestD3_Preferences(t *testing.T) {
	t.Parallel()
	memory := func(key int64, typ yiku.Type, age float64, content string) recall.Item {
		m := yiku.Memory{Content: content, Type: typ, CreatedAt: ago(age), Importance: .5}
		return recall.OfMemory(&m, index.Candidate{Ref: index.Ref{Key: key}}, yiku.Scores{Relevance: .7})
	}
	ranked := recall.Rank([]recall.Item{
		memory(1, yiku.TypeFact, 40, "uses the old engine"), memory(2, yiku.TypeFact, 10, "午饭吃了面"),
		memory(3, yiku.TypeProfile, 10, "她是医生"), memory(4, yiku.TypeCorrection, 10, "it is Postgres, not MySQL"),
	}, now(), 10, nil)
	if diff := cmp.Diff([]int64{4, 3, 2, 1}, keys(ranked)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestD3_ConfirmedIsNew: freshness counts from the last confirmation.
func TestD3_ConfirmedIsNew(t *testing.T) {
	t.Parallel()
	m := yiku.Memory{CreatedAt: ago(300), ConfirmedAt: ago(1)}
	if got := recall.OfMemory(&m, index.Candidate{}, yiku.Scores{}).At; !got.Equal(ago(1)) {
		t.Errorf("freshness counts from %v", got)
	}
}

func TestD3_Explain(t *testing.T) {
	t.Parallel()
	a := item(1, .75, "She moved to Lisbon 去年")
	a.Candidate.Lexical, a.Importance, a.Type = 1.25, .4, yiku.TypeCorrection
	got := recall.Rank([]recall.Item{a, item(2, .6, "she moved to Lisbon 去年!")}, now(), 5,
		&recall.Options{Explain: true, Query: "where did she move 去年"})
	want := &yiku.Explain{
		Formula: "0.6 × relevance 0.750 + 0.15 × freshness 0.000 + 0.15 × importance 0.400 + 0.1 × use 0.000 + 0.03 for a correction = 0.540",
		Arms:    map[string]float64{"lexical": 1.25, "context": 0, "neighbor": 0, "dense": 0, "dense_neighbor": 0, "time": 0, "graph": 0},
		Terms:   []string{"move", "去", "去年", "年"},
		Notes:   []string{"1 more that say the same were left out"},
	}
	slices.Sort(want.Terms)
	slices.Sort(got[0].Explain.Terms)
	if diff := cmp.Diff(want, got[0].Explain); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}

// TestD5_Threshold: less relevant items are left out, whatever else they have.
func TestD5_Threshold(t *testing.T) {
	t.Parallel()
	low := item(1, recall.DefaultMinRelevance-.01, "important and new")
	low.Importance, low.At = 1, now()
	items := []recall.Item{low, item(2, recall.DefaultMinRelevance, "enough")}
	if diff := cmp.Diff([]int64{2}, keys(recall.Rank(items, now(), 10, nil))); diff != "" {
		t.Errorf("default threshold (-want +got):\n%s", diff)
	}
	zero := 0.0
	if got := recall.Rank(items, now(), 10, &recall.Options{MinRelevance: &zero}); len(got) != 2 {
		t.Errorf("without a threshold %d items, want 2", len(got))
	}
}

// TestD10_Diversity: what says the same is said once, in both languages; another
// number is another thing.
func TestD10_Diversity(t *testing.T) {
	t.Parallel()
	long := "we decided that the launch of the new shop will be in the first week of the month after the holidays, with the whole team there and the band"
	items := []recall.Item{
		item(1, .9, "I like green tea."), item(2, .89, "i LIKE green tea"), item(3, .88, "我喜欢喝绿茶。"), item(4, .87, "我 喜欢喝绿茶！"),
		item(5, .86, "My budget is 500 euros"), item(6, .85, "My budget is 600 euros"), item(7, .84, long), item(8, .83, long+" playing"),
		item(9, .82, "I like black tea."), item(10, .81, "…"), item(11, .80, "…"),
	}
	got := recall.Rank(items, now(), 20, nil)
	if diff := cmp.Diff([]int64{1, 3, 5, 6, 7, 9, 10, 11}, keys(got)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if got[0].Same != 1 || got[1].Same != 1 {
		t.Errorf("left out behind the first two: %d, %d; want 1, 1", got[0].Same, got[1].Same)
	}
	if got := keys(recall.Rank(items, now(), 3, nil)); len(got) != 3 || got[2] != 5 {
		t.Errorf("three distinct items of them: %v", got)
	}
}

// TestRankIsStable: the order does not depend on the order of the items.
func TestRankIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(r, "n")
		items := make([]recall.Item, n)
		for i := range items {
			items[i] = item(int64(i), rapid.SampledFrom([]float64{.5, .6, .7}).Draw(r, "relevance"), rapid.SampledFrom([]string{"tea", "茶", "a b c", ""}).Draw(r, "text"))
			items[i].Shared = rapid.Bool().Draw(r, "shared")
		}
		want := keys(recall.Rank(items, now(), 10, nil))
		if got := keys(recall.Rank(rapid.Permutation(items).Draw(r, "order"), now(), 10, nil)); !slices.Equal(got, want) {
			r.Fatalf("order %v, then %v", want, got)
		}
	})
}

// TestD2_Calibrate: relevance is 0 to 1, grows with each part, and keeps the
// order of one query.
func TestD2_Calibrate(t *testing.T) {
	t.Parallel()
	f := recall.DefaultFusion().Against(index.Background{N: 200, Mean: .7, Deviation: .05})
	score, cosine := rapid.Float64Range(0, 50), rapid.Float64Range(.4, .9)
	rapid.Check(t, func(r *rapid.T) {
		most := rapid.Float64Range(.01, 200).Draw(r, "most")
		c := index.Candidate{Session: 1, Lexical: score.Draw(r, "lexical"), Context: score.Draw(r, "context"), Neighbor: score.Draw(r, "neighbor"),
			Dense: cosine.Draw(r, "dense"), DenseNeighbor: cosine.Draw(r, "dense neighbor")}
		base := recall.Calibrate(c, most, f).Relevance
		if base < 0 || base >= 1 {
			r.Fatalf("relevance %v", base)
		}
		for _, grow := range []func(*index.Candidate){
			func(c *index.Candidate) { c.Lexical++ }, func(c *index.Candidate) { c.Context++ }, func(c *index.Candidate) { c.Neighbor++ },
			func(c *index.Candidate) { c.Dense += .05 }, func(c *index.Candidate) { c.DenseNeighbor += .05 },
		} {
			more := c
			grow(&more)
			if recall.Calibrate(more, most, f).Relevance <= base {
				r.Fatalf("more of a part is not more relevant: %+v", more)
			}
		}
	})
	if got := recall.Calibrate(index.Candidate{}, 0, f); got != (yiku.Scores{}) {
		t.Errorf("a query without terms: %+v", got)
	}
}

// TestD2_CosineAgainstItsBackground: the same distance above what is usual
// counts the same whatever is usual; with few documents the model's own
// background counts.
func TestD2_CosineAgainstItsBackground(t *testing.T) {
	t.Parallel()
	relevance := func(f recall.Fusion, cosine float64) float64 {
		return recall.Calibrate(index.Candidate{Dense: cosine}, 0, f).Relevance
	}
	low := recall.DefaultFusion().Against(index.Background{N: 1e6, Mean: .2, Deviation: .1})
	high := recall.DefaultFusion().Against(index.Background{N: 1e6, Mean: .8, Deviation: .02})
	medium := recall.DefaultFusion().Against(index.Background{N: 160, Mean: .2, Deviation: .1})
	if a, b := relevance(low, .5), relevance(high, .86); math.Abs(a-b) > 1e-3 || a > .3 || relevance(medium, .5) < .6 {
		t.Errorf("three deviations above: %v and %v among a million, where chance brings more, %v among a few", a, b, relevance(medium, .5))
	}
	few := recall.DefaultFusion()
	few.Unrelated = index.Background{N: 1, Mean: .7, Deviation: .03}
	few = few.Against(index.Background{N: 1, Mean: .9, Deviation: 0})
	if a, b := relevance(few, .9), relevance(few, .72); a < .9 || b > .3 {
		t.Errorf("the only document, near and far: %v and %v", a, b)
	}
}

// TestI3_TextIsVisible: invisible characters neither hide nor split words.
func TestI3_TextIsVisible(t *testing.T) {
	t.Parallel()
	m := yiku.Message{Name: "A\u200bda", Content: yiku.Text("ig\u200bnore 上\u2060海\U000e0041"), CreatedAt: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC),
		ToolCalls: []yiku.ToolCall{{Function: yiku.ToolFunction{Name: "find_flight", Arguments: `{"to":"Oslo"}`}}}}
	got := recall.MessageText(m)
	for _, part := range []string{"Ada", "ignore 上海", "find_flight", "Oslo", "2024年5月1日"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q lacks %q", got, part)
		}
	}
}

func TestMemoryText(t *testing.T) {
	t.Parallel()
	m := yiku.Memory{Content: "Ada lives in Lisbon", Type: yiku.TypeFact, Subject: "Ada", Attribute: "residence", Value: "Lisbon", Topics: []string{"home", "住处"},
		ValidFrom: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)}
	if diff := cmp.Diff("Ada lives in Lisbon\nresidence\nhome\n住处", recall.MemoryText(m)); diff != "" {
		t.Errorf("a fact (-want +got):\n%s", diff)
	}
	m.Type = yiku.TypeEvent
	if got := recall.MemoryText(m); !strings.Contains(got, "May") || !strings.Contains(got, "5月") {
		t.Errorf("an event lacks its date: %q", got)
	}
}

// TestD9_Times: a query that asks about a time favours what is of it; the time
// by itself counts the more, the less else is asked.
func TestD9_Times(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	relevance := func(query string, c index.Candidate) float64 {
		f := recall.DefaultFusion()
		if spans, _, rest := recall.Times(query, now); len(spans) > 0 {
			f = f.Asks(rest)
		}
		return recall.Calibrate(c, 4, f).Relevance
	}
	words := index.Candidate{Lexical: 2}
	then := index.Candidate{Lexical: 2, Time: 1}
	if a, b, plain := relevance("the fence last spring", words), relevance("the fence last spring", then), relevance("the fence", words); a >= b || a >= plain || b < plain {
		t.Errorf("relevance %v, of the time %v, where no time is asked %v", a, b, plain)
	}
	alone := index.Candidate{Time: 1}
	bare, more, much := relevance("上周二我做了什么", alone), relevance("where was the fence last Tuesday", alone), relevance("last Tuesday: fence, paint, brush, ladder, bucket and gloves", alone)
	if bare < recall.DefaultSearchRelevance || relevance("last Tuesday", alone) < recall.DefaultMinRelevance || more >= bare || much >= more || much > recall.DefaultSearchRelevance {
		t.Errorf("a time alone: %v, beside a word %v, beside many %v", bare, more, much)
	}
	if spans, _, _ := recall.Times("Where does Ada live?", now); spans != nil {
		t.Errorf("no time is asked, but %v", spans)
	}
}
