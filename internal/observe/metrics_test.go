package observe

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, err)
	}
	return string(body)
}

func TestG5_Metrics(t *testing.T) {
	t.Parallel()
	m := NewMetrics(&MetricsOptions{
		Version: "v1", Operations: []string{"get_context"}, Outcomes: []string{"invalid"},
		Gauges:  func(context.Context) []Gauge { return []Gauge{{"store_owners", "Owners.", 3}, {"bad name", "", 1}} },
		Dropped: func() float64 { return 2 },
	})
	m.Record(t.Context(), Event{
		Operation: "get_context", Outcome: "ok", Tenant: "tenant-x", User: "user-x", Session: "session-x", MemoryIDs: []string{"memory-x"},
		Duration: 2 * time.Millisecond, Counts: map[string]int{"episodes": 2, "user-y": 1},
		Tokens: map[string]int{"memory": 100, "total": 900, "caller_system": 300, "full_history": 60000, "user-z": 4},
	})
	m.Record(t.Context(), Event{Operation: "made-up-by-a-caller", Outcome: "weird"})
	handler := m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := scrape(t, m); !strings.Contains(got, "yiku_http_requests_in_flight 1") {
			t.Error("a running request is not counted")
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	got := scrape(t, m)
	for _, want := range []string{
		`yiku_operations_total{operation="get_context",outcome="ok"} 1`,
		`yiku_operations_total{operation="other",outcome="other"} 1`,
		`yiku_operation_duration_seconds_bucket{operation="get_context",le="0.0025"} 1`,
		`yiku_context_tokens_total{part="memory"} 100`,
		`yiku_context_tokens_total{part="other"} 4`,
		`yiku_saved_tokens_total 59400`,
		`yiku_items_total{item="episodes",operation="get_context"} 2`,
		`yiku_http_requests_in_flight 0`,
		`yiku_http_answers_total{class="4xx"} 1`,
		`yiku_build_info{version="v1"} 1`,
		`yiku_store_owners 3`,
		`yiku_dropped_events_total 2`,
		`go_goroutines`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	for _, id := range []string{"tenant-x", "user-x", "user-y", "user-z", "session-x", "memory-x", "made-up"} {
		if strings.Contains(got, id) {
			t.Errorf("%s stands in the metrics", id)
		}
	}
}

func TestMetricsApart(t *testing.T) {
	t.Parallel()
	a, b := NewMetrics(nil), NewMetrics(nil)
	a.Record(t.Context(), Event{Operation: "x"})
	if strings.Contains(scrape(t, b), "yiku_operations_total{") {
		t.Error("two servers count together")
	}
}

// TestG6_ModelMetrics: attempts at a model count apart from operations, by what
// they were for, and those that a budget kept back are told from failures.
func TestG6_ModelMetrics(t *testing.T) {
	t.Parallel()
	m := NewMetrics(&MetricsOptions{Outcomes: []string{"limited", "unavailable"}})
	for _, e := range []Event{
		{Operation: "extract", Tokens: map[string]int{"in": 100, "out": 20}, Outcome: "ok"},
		{Operation: "extract", Outcome: "limited"},
		{Operation: "extract", Tokens: map[string]int{"in": 7}, Outcome: "unavailable"},
	} {
		e.Layer, e.Tenant = ModelLayer, "tenant-x"
		m.Record(t.Context(), e)
	}
	got := scrape(t, m)
	for _, want := range []string{
		`yiku_model_calls_total{operation="extract",outcome="ok"} 1`, `yiku_model_calls_total{operation="extract",outcome="limited"} 1`,
		`yiku_model_tokens_total{direction="in",operation="extract"} 107`, `yiku_model_tokens_total{direction="out",operation="extract"} 20`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if strings.Contains(got, "yiku_operations_total{") || strings.Contains(got, "tenant-x") {
		t.Errorf("model calls stand among operations, or under a tenant: %s", got)
	}
}
