package experiment

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Event is what a report needs of a line of the events (G4).
type Event struct {
	Time       time.Time      `json:"time"`
	Operation  string         `json:"operation"`
	Outcome    string         `json:"outcome"`
	Tenant     string         `json:"tenant"`
	User       string         `json:"user_id"`
	Experiment string         `json:"experiment"`
	Variant    string         `json:"variant"`
	DurationMS float64        `json:"duration_ms"`
	Tokens     map[string]int `json:"tokens"`
	Counts     map[string]int `json:"counts"`
}

// The longest line of events that is read, in bytes.
const longestLine = 1 << 20

// Read gives the events of an experiment of a tenant that ended well, from a
// time on. Lines that are no events are counted and left out.
func Read(r io.Reader, tenant, name string, from time.Time, each func(Event)) (bad int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			bad++
			continue
		}
		if e.Tenant == tenant && e.Experiment == name && e.Outcome == "ok" && !e.Time.Before(from) && (e.Operation == "get_context" || e.Operation == "search_memory") {
			each(e)
		}
	}
	if err := lines.Err(); err != nil {
		return bad, fmt.Errorf("read events: %w", err)
	}
	return bad, nil
}

// metric is a number of a context or a search.
type metric struct {
	name string
	of   func(Event) (float64, bool) // false: this operation has none
}

func metrics() []metric {
	context := func(of func(Event) float64) func(Event) (float64, bool) {
		return func(e Event) (float64, bool) { return of(e), e.Operation == "get_context" }
	}
	return []metric{
		{"memories", context(func(e Event) float64 { return float64(e.Counts["memories"]) })},
		{"episodes", context(func(e Event) float64 { return float64(e.Counts["episodes"]) })},
		{"contexts_with_memory", context(func(e Event) float64 { return float64(min(1, e.Counts["memories"]+e.Counts["episodes"])) })},
		{"memory_tokens", context(func(e Event) float64 { return float64(e.Tokens["memory"]) })},
		{"total_tokens", context(func(e Event) float64 { return float64(e.Tokens["total"]) })},
		{"context_ms", context(func(e Event) float64 { return e.DurationMS })},
		{"items", func(e Event) (float64, bool) { return float64(e.Counts["items"]), e.Operation == "search_memory" }},
		{"search_ms", func(e Event) (float64, bool) { return e.DurationMS, e.Operation == "search_memory" }},
	}
}

// Report is what was measured of an experiment.
type Report struct {
	Name     string     `json:"name"`
	Variants []Exposure `json:"variants"`
	Rows     []Row      `json:"rows"`
	BadLines int        `json:"bad_lines,omitempty"` // that are no events
}

// Exposure is how many saw a variant.
type Exposure struct {
	Variant  string `json:"variant"`
	Users    int    `json:"users"`
	Requests int    `json:"requests"`
}

// Row is one metric of one variant beside the control.
type Row struct {
	Variant string `json:"variant"`
	Metric  string `json:"metric"`
	Comparison
}

// Tally adds up events by variant and user.
type Tally struct {
	variants []string                              // the control first
	users    map[string]map[string]map[string]*Sum // by variant, metric and user
	seen     map[string]map[string]int             // requests, by variant and user
}

// NewTally counts for the variants, the control first; others are left out.
func NewTally(variants []string) *Tally {
	t := &Tally{variants: variants, users: map[string]map[string]map[string]*Sum{}, seen: map[string]map[string]int{}}
	for _, v := range variants {
		t.users[v], t.seen[v] = map[string]map[string]*Sum{}, map[string]int{}
		for _, m := range metrics() {
			t.users[v][m.name] = map[string]*Sum{}
		}
	}
	return t
}

// Add counts an event.
func (t *Tally) Add(e Event) {
	if !slices.Contains(t.variants, e.Variant) {
		return
	}
	t.seen[e.Variant][e.User]++
	for _, m := range metrics() {
		value, has := m.of(e)
		if !has {
			continue
		}
		of := t.users[e.Variant][m.name]
		if of[e.User] == nil {
			of[e.User] = &Sum{}
		}
		of[e.User].Total += value
		of[e.User].N++
	}
}

// alpha is the chance that any difference is found where there is none.
const alpha = 0.05

// Report compares each variant with the control in each metric that both have.
func (t *Tally) Report(name string) Report {
	r := Report{Name: name, Variants: []Exposure{}, Rows: []Row{}}
	for _, v := range t.variants {
		e := Exposure{Variant: v, Users: len(t.seen[v])}
		for _, n := range t.seen[v] {
			e.Requests += n
		}
		r.Variants = append(r.Variants, e)
	}
	tests := (len(t.variants) - 1) * len(metrics())
	for _, v := range t.variants[1:] {
		for _, m := range metrics() {
			control, variant := sums(t.users[t.variants[0]][m.name]), sums(t.users[v][m.name])
			if len(control)+len(variant) > 0 {
				r.Rows = append(r.Rows, Row{Variant: v, Metric: m.name, Comparison: Compare(control, variant, alpha, tests)})
			}
		}
	}
	return r
}

func sums(of map[string]*Sum) []Sum {
	out := make([]Sum, 0, len(of))
	for _, s := range of {
		out = append(out, *s)
	}
	return out
}
