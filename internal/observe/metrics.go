package observe

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the Prometheus metrics of one server, in a registry of its own.
// Labels hold operations, outcomes and parts only, from closed lists; tenants,
// users and ids never are labels.
type Metrics struct {
	registry   *prometheus.Registry
	operations []string
	outcomes   []string

	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	tokens   *prometheus.CounterVec
	saved    prometheus.Counter
	items    *prometheus.CounterVec
	calls    *prometheus.CounterVec
	spent    *prometheus.CounterVec
	inFlight prometheus.Gauge
	answers  *prometheus.CounterVec
}

// MetricsOptions are the settings of [NewMetrics]. What is not in the lists is
// counted as "other".
type MetricsOptions struct {
	Version    string
	Operations []string       // the operations' ids
	Outcomes   []string       // the outcomes beside ok and canceled
	Gauges     Gauges         // of the store and the like; nil: none
	Dropped    func() float64 // events that were dropped; nil: not shown
	Door       func() Door    // who was let in; nil: not shown
}

// Door is what the limits have let in and refused.
type Door struct {
	Running, Waiting int
	Refused          map[string]int64 // by reason, from a closed list
}

// Gauge is one number of the present state, such as the rows of a store.
type Gauge struct {
	Name  string // snake_case, without the prefix yiku_
	Help  string
	Value float64
}

// Gauges reads the present state. It is called for each scrape and must be cheap.
type Gauges func(context.Context) []Gauge

const (
	namespace = "yiku"
	other     = "other"
)

// tokenParts are the parts of a budget that tokens are counted by; countParts
// are what operations count beside.
var (
	tokenParts = []string{"caller_system", "reserved", "memory", "working", "summary", "messages", "total", "full_history"}
	countParts = []string{"messages", "items", "memories", "episodes", "trimmed_messages", "omitted_memories", "session_messages"}
)

// NewMetrics returns metrics that count from zero.
func NewMetrics(opts *MetricsOptions) *Metrics {
	if opts == nil {
		opts = &MetricsOptions{}
	}
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		operations: opts.Operations,
		outcomes:   append([]string{"ok", "canceled"}, opts.Outcomes...),
		total:      counter("operations_total", "Operations by outcome.", "operation", "outcome"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: "operation_duration_seconds",
			Help: "Duration of operations.", Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}}, []string{"operation"}),
		tokens: counter("context_tokens_total", "Tokens of the contexts given, by part of the budget.", "part"),
		saved: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "saved_tokens_total",
			Help: "Tokens by which contexts were smaller than the whole history of their sessions."}),
		items: counter("items_total", "Things read or written by operations.", "operation", "item"),
		calls: counter("model_calls_total", "Attempts at a language model by outcome; limited: a budget kept them back.", "operation", "outcome"),
		spent: counter("model_tokens_total", "Tokens that language models took, estimated where their endpoint does not count.", "operation", "direction"),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "http_requests_in_flight",
			Help: "Requests that are being answered."}),
		answers: counter("http_answers_total", "Answers by class of status.", "class"),
	}
	m.registry.MustRegister(m.total, m.duration, m.tokens, m.saved, m.items, m.calls, m.spent, m.inFlight, m.answers,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if opts.Version != "" {
		info := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info",
			Help: "1, with the version.", ConstLabels: prometheus.Labels{"version": opts.Version}})
		info.Set(1)
		m.registry.MustRegister(info)
	}
	if opts.Dropped != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: "dropped_events_total",
			Help: "Events that were not written because their buffer was full."}, opts.Dropped))
	}
	if opts.Door != nil {
		m.registry.MustRegister(doorCollector{opts.Door})
	}
	if opts.Gauges != nil {
		m.registry.MustRegister(gaugeCollector{opts.Gauges})
	}
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

// ModelLayer is the layer of events that are attempts at a language model;
// their operations are what it was asked for, of a closed list in the code.
const ModelLayer = "model"

// Record implements [Sink].
func (m *Metrics) Record(_ context.Context, e Event) {
	if e.Layer == ModelLayer {
		m.calls.WithLabelValues(e.Operation, among(m.outcomes, e.Outcome)).Inc()
		for direction, n := range e.Tokens {
			m.spent.WithLabelValues(e.Operation, direction).Add(float64(n))
		}
		return
	}
	operation := among(m.operations, e.Operation)
	m.total.WithLabelValues(operation, among(m.outcomes, e.Outcome)).Inc()
	m.duration.WithLabelValues(operation).Observe(e.Duration.Seconds())
	for part, n := range e.Tokens {
		if n > 0 {
			m.tokens.WithLabelValues(among(tokenParts, part)).Add(float64(n))
		}
	}
	for item, n := range e.Counts {
		if n > 0 {
			m.items.WithLabelValues(operation, among(countParts, item)).Add(float64(n))
		}
	}
	if saved := Saved(e.Tokens); saved > 0 {
		m.saved.Add(float64(saved))
	}
}

// Saved returns by how many tokens a context was smaller than the whole
// history of its session: full_history less what stands for it, which is all
// but the caller's own system prompt and reservation (G6). It is 0 where the
// context was larger.
func Saved(tokens map[string]int) int {
	sent := tokens["total"] - tokens["caller_system"] - tokens["reserved"]
	return max(0, tokens["full_history"]-sent)
}

func among(list []string, s string) string {
	if slices.Contains(list, s) {
		return s
	}
	return other
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Gatherer returns what other exporters read.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Wrap counts the requests of a handler while they run and by the class of
// their answer.
func (m *Metrics) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inFlight.Inc()
		status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			m.inFlight.Dec()
			m.answers.WithLabelValues(class(status.status)).Inc()
		}()
		next.ServeHTTP(status, r)
	})
}

func class(status int) string {
	if status < 100 || status > 599 {
		return other
	}
	return strconv.Itoa(status/100) + "xx"
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
	wrote  bool
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	if !w.wrote && status >= 200 {
		w.status, w.wrote = status, true
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// gaugeCollector shows gauges whose names are known only when they are read.
type gaugeCollector struct{ gauges Gauges }

// Describe implements prometheus.Collector; it promises no names.
func (gaugeCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c gaugeCollector) Collect(ch chan<- prometheus.Metric) {
	for _, g := range c.gauges(context.Background()) {
		desc := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", g.Name), g.Help, nil, nil)
		if metric, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, g.Value); err == nil {
			ch <- metric
		}
	}
}

// doorCollector shows what the limits count.
type doorCollector struct{ door func() Door }

// Describe implements prometheus.Collector; it promises no names.
func (doorCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c doorCollector) Collect(ch chan<- prometheus.Metric) {
	door := c.door()
	show := func(name, help string, kind prometheus.ValueType, value float64, labels prometheus.Labels) {
		desc := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, nil, labels)
		ch <- prometheus.MustNewConstMetric(desc, kind, value)
	}
	show("limit_running", "Requests that the gate has let in.", prometheus.GaugeValue, float64(door.Running), nil)
	show("limit_waiting", "Requests that wait at the gate.", prometheus.GaugeValue, float64(door.Waiting), nil)
	for reason, n := range door.Refused {
		show("limit_refused_total", "Requests and connections refused, by reason.", prometheus.CounterValue, float64(n), prometheus.Labels{"reason": reason})
	}
}
