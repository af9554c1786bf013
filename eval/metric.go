package eval

import (
	"math"
	"slices"
	"time"
)

// Ranks and Budgets are where recall is read off.
var (
	ranks   = [...]int{1, 5, 10, 20}
	budgets = [...]float64{512, 1024, 2048}
)

// Metrics are means over questions that have evidence, but for those named
// Abstained, which is over those that have none.
type Metrics struct {
	Questions  int        `json:"questions"`
	Recall     [4]float64 `json:"recall" doc:"At 1, 5, 10, 20: the mean share of a question's evidence."`
	Hit        [4]float64 `json:"hit" doc:"At 1, 5, 10, 20: the share of questions with any evidence."`
	Injected   [4]float64 `json:"injected_tokens" doc:"At 1, 5, 10, 20: what those items cost."`
	NDCG       float64    `json:"ndcg_10"`
	MRR        float64    `json:"mrr"`
	Within     [3]float64 `json:"evidence_within" doc:"Within 512, 1024, 2048 tokens."`
	Recalled   float64    `json:"recalled" doc:"The mean share of the evidence among what passes the service's own threshold."`
	Silent     float64    `json:"silent" doc:"The share of questions with evidence for which nothing passes the threshold."`
	Unanswered int        `json:"unanswered" doc:"Questions without evidence."`
	Abstained  float64    `json:"abstained" doc:"The share of those for which nothing passes the threshold."`
}

// sums collects one category.
type sums struct {
	m Metrics
}

func (s *sums) add(q Question, b book, all, recalled []ranked) {
	m := &s.m
	if len(q.Evidence) == 0 {
		m.Unanswered++
		if len(recalled) == 0 {
			m.Abstained++
		}
		return
	}
	m.Questions++
	want := make(map[string]bool, len(q.Evidence))
	for _, id := range q.Evidence {
		want[id] = true
	}
	total := float64(len(want))
	for i, k := range ranks {
		found, cost := 0.0, 0.0
		for _, r := range all[:min(k, len(all))] {
			if want[r.turn] {
				found++
			}
			cost += b.tokens[r.turn]
		}
		m.Recall[i] += found / total
		m.Injected[i] += cost
		if found > 0 {
			m.Hit[i]++
		}
	}
	m.NDCG += ndcg(all, want)
	m.MRR += reciprocal(all, want)
	for i, budget := range budgets {
		m.Within[i] += within(all, want, b, budget) / total
	}
	passed := 0.0
	for _, r := range recalled {
		if want[r.turn] {
			passed++
		}
	}
	m.Recalled += passed / total
	if len(recalled) == 0 {
		m.Silent++
	}
}

// mean divides the sums by the number of questions.
func (s *sums) mean() Metrics {
	m := s.m
	n := float64(max(m.Questions, 1))
	for i := range ranks {
		m.Recall[i] /= n
		m.Hit[i] /= n
		m.Injected[i] /= n
	}
	for i := range budgets {
		m.Within[i] /= n
	}
	m.NDCG /= n
	m.MRR /= n
	m.Recalled /= n
	m.Silent /= n
	m.Abstained /= float64(max(m.Unanswered, 1))
	return m
}

// ndcg is the normalised discounted cumulative gain at 10 with gains of 0 and
// 1 (Järvelin and Kekäläinen, 2002).
func ndcg(all []ranked, want map[string]bool) float64 {
	dcg, ideal := 0.0, 0.0
	for i, r := range all[:min(10, len(all))] {
		if want[r.turn] {
			dcg += 1 / math.Log2(float64(i)+2)
		}
	}
	for i := range min(10, len(want)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	return dcg / ideal
}

// reciprocal is one over the rank of the first evidence, 0 where none was found.
func reciprocal(all []ranked, want map[string]bool) float64 {
	for i, r := range all {
		if want[r.turn] {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// within counts the evidence among the items that fit a budget: they are taken
// in the order of ranks while they fit; one that does not is skipped whole,
// and smaller later ones may follow.
func within(all []ranked, want map[string]bool, b book, budget float64) float64 {
	found, used := 0.0, 0.0
	for _, r := range all {
		cost := b.tokens[r.turn]
		if used+cost > budget {
			continue
		}
		used += cost
		if want[r.turn] {
			found++
		}
	}
	return found
}

// percentile returns the p-quantile (nearest rank) of durations, which it sorts.
func percentile(d []time.Duration, p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	i := int(math.Ceil(p*float64(len(d)))) - 1
	return d[min(max(i, 0), len(d)-1)]
}
