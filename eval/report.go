package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is the outcome of a run.
type Report struct {
	Limit int         `json:"limit"`
	Sets  []SetReport `json:"sets"`
}

// SetReport is the outcome of one set.
type SetReport struct {
	Name          string           `json:"name"`
	Conversations int              `json:"conversations"`
	Turns         int              `json:"turns"`
	HistoryTokens float64          `json:"history_tokens" doc:"The mean over questions of what the whole conversation costs."`
	All           Metrics          `json:"all"`
	Categories    []CategoryReport `json:"categories"`
	Foreign       int              `json:"foreign" doc:"Questions of other conversations that were asked."`
	ForeignSilent float64          `json:"foreign_silent" doc:"The share of those for which nothing passes the threshold."`
	AppendSeconds float64          `json:"append_seconds"`
	P50           float64          `json:"p50_ms"`
	P99           float64          `json:"p99_ms"`
}

// CategoryReport is the outcome of one category.
type CategoryReport struct {
	Name string `json:"name"`
	Metrics
}

// tally collects one set.
type tally struct {
	set        *Set
	all        sums
	categories map[string]*sums
	took       []time.Duration
	history    float64
	asked      int
	appendTime time.Duration

	foreign, foreignSilent int
}

func newTally(set *Set) *tally {
	return &tally{set: set, categories: make(map[string]*sums)}
}

func (t *tally) add(q Question, b book, all, recalled []ranked, took time.Duration) {
	c, ok := t.categories[q.Category]
	if !ok {
		c = &sums{}
		t.categories[q.Category] = c
	}
	c.add(q, b, all, recalled)
	t.all.add(q, b, all, recalled)
	t.took = append(t.took, took)
	t.history += b.history
	t.asked++
}

func (t *tally) report() SetReport {
	r := SetReport{
		Name:          t.set.Name,
		Conversations: len(t.set.Conversations),
		HistoryTokens: t.history / float64(max(t.asked, 1)),
		All:           t.all.mean(),
		Foreign:       t.foreign,
		ForeignSilent: float64(t.foreignSilent) / float64(max(t.foreign, 1)),
		AppendSeconds: t.appendTime.Seconds(),
		P50:           float64(percentile(t.took, .5).Microseconds()) / 1000,
		P99:           float64(percentile(t.took, .99).Microseconds()) / 1000,
	}
	for _, c := range t.set.Conversations {
		r.Turns += len(c.Turns)
	}
	for name, c := range t.categories {
		r.Categories = append(r.Categories, CategoryReport{name, c.mean()})
	}
	slices.SortFunc(r.Categories, func(a, b CategoryReport) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return r
}

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteTable writes the report as a table for a person.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "set\tquestions\tR@1\tR@5\tR@10\tR@20\thit@10\tNDCG@10\tMRR\t≤512\t≤1024\t≤2048\ttokens@10\trecalled\tsilent\tabstained\t")
	for _, s := range r.Sets {
		row(t, s.Name, s.All)
		for _, c := range s.Categories {
			row(t, "· "+c.Name, c.Metrics)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range r.Sets {
		_, err := fmt.Fprintf(w, "%s: %d turns in %d conversations, whole history %.0f tokens, silent on %.2f of %d questions of other conversations, appended in %.1f s, search p50 %.2f ms, p99 %.2f ms\n",
			s.Name, s.Turns, s.Conversations, s.HistoryTokens, s.ForeignSilent, s.Foreign, s.AppendSeconds, s.P50, s.P99)
		if err != nil {
			return err
		}
	}
	return nil
}

func row(w io.Writer, name string, m Metrics) {
	abstained := "–"
	if m.Unanswered > 0 {
		abstained = fmt.Sprintf("%.2f of %d", m.Abstained, m.Unanswered)
	}
	fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.0f\t%.3f\t%.3f\t%s\t\n", name, m.Questions,
		m.Recall[0], m.Recall[1], m.Recall[2], m.Recall[3], m.Hit[2], m.NDCG, m.MRR,
		m.Within[0], m.Within[1], m.Within[2], m.Injected[2], m.Recalled, m.Silent, abstained)
}
