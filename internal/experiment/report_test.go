package experiment

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestG3_ReportFromEvents: a report counts users and requests of its own
// experiment, tenant and time, each metric where it belongs, and says which
// difference is more than noise; lines that are no events are counted.
func TestG3_ReportFromEvents(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var lines strings.Builder
	line := func(at time.Time, tenant, name, variant, user, operation, outcome string, tokens, ms int) {
		fmt.Fprintf(&lines, `{"time":%q,"layer":"context","operation":%q,"outcome":%q,"duration_ms":%d,"tenant":%q,"user_id":%q,"tokens":{"memory":%d,"total":900},"counts":{"memories":%d,"items":2},"experiment":%q,"variant":%q}`+"\n",
			at.Format(time.RFC3339), operation, outcome, ms, tenant, user, tokens, tokens/100, name, variant)
	}
	for i := range 40 {
		for _, v := range []string{"control", "lean"} {
			tokens := 400 + i
			if v == "lean" {
				tokens = 100 + i
			}
			user := fmt.Sprintf("%s-%d", v, i)
			line(start, "acme", "x", v, user, "get_context", "ok", tokens, 10+i%5)
			line(start, "acme", "x", v, user, "search_memory", "ok", 0, 7)
		}
	}
	for _, other := range [][3]string{{"other", "x", "ok"}, {"acme", "y", "ok"}, {"acme", "x", "invalid"}} {
		line(start, other[0], other[1], "lean", "stranger", "get_context", other[2], 9999, 1)
	}
	line(start.Add(-time.Hour), "acme", "x", "lean", "early", "get_context", "ok", 9999, 1)
	line(start, "acme", "x", "lean", "gone", "replay_snapshot", "ok", 9999, 1)
	lines.WriteString("not an event\n")
	tally := NewTally([]string{"control", "lean"})
	bad, err := Read(strings.NewReader(lines.String()), "acme", "x", start, tally.Add)
	if err != nil || bad != 1 {
		t.Fatal(bad, err)
	}
	r := tally.Report("x")
	if want := []Exposure{{"control", 40, 80}, {"lean", 40, 80}}; fmt.Sprint(r.Variants) != fmt.Sprint(want) {
		t.Errorf("exposure %v, want %v", r.Variants, want)
	}
	rows := map[string]Row{}
	for _, row := range r.Rows {
		rows[row.Metric] = row
	}
	if m := rows["memory_tokens"]; m.ControlMean != 419.5 || m.Difference != -300 || !m.Significant || m.High >= 0 {
		t.Errorf("memory_tokens: %+v", m)
	}
	if m := rows["memories"]; !m.Significant {
		t.Errorf("memories: %+v", m)
	}
	for _, name := range []string{"total_tokens", "context_ms", "items", "search_ms"} {
		if m := rows[name]; m.Significant || m.Difference != 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
