package bench_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/jobs"
)

// exchanges appends n turns to a session, one request each, and returns how
// long each took.
func exchanges(b *testing.B, s yiku.Service, user string, n int) []time.Duration {
	b.Helper()
	w := newWords(uint64(n))
	took := make([]time.Duration, n)
	for i := range took {
		req := yiku.AppendMessagesRequest{UserID: user, SessionID: "s", Messages: []yiku.Message{
			{Role: yiku.RoleUser, Content: yiku.Text(fmt.Sprintf("I like tea number %d. 我喜欢%d号茶。", i, i) + w.sentence(i))},
			{Role: yiku.RoleAssistant, Content: yiku.Text(w.sentence(i + 1))}}}
		start := time.Now()
		if _, err := s.AppendMessages(b.Context(), req); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	return took
}

func p99(took []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(took))
	return float64(sorted[len(sorted)*99/100]) / float64(time.Millisecond)
}

// BenchmarkAppendDuringExtraction appends turns while nothing else runs, then
// while the runner reads other people's long sessions: ratio is the second p99
// by the first, at most 2.
func BenchmarkAppendDuringExtraction(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	n := max(b.N, 500)
	alone := p99(exchanges(b, r.service(), "alone", n))
	for i := range 8 {
		user := fmt.Sprint("read", i)
		exchanges(b, r.service(), user, 400)
		if _, err := r.service().EndSession(b.Context(), yiku.EndSessionRequest{UserID: user, SessionID: "s", Reason: yiku.EndUserLeft}); err != nil {
			b.Fatal(err)
		}
	}
	runner := r.engine.StartJobs(&jobs.Options{Poll: 10 * time.Millisecond})
	beside := p99(exchanges(b, r.service(), "beside", n))
	runner.Stop()
	b.ReportMetric(alone, "alone-p99-ms")
	b.ReportMetric(beside, "beside-p99-ms")
	b.ReportMetric(beside/alone, "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLongSession writes a session of 5,000 turns, read every twenty:
// ratio is what a turn costs, append and extraction, in the last tenth by the
// first, at most 1.2.
func BenchmarkLongSession(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	const turns, tenths = 5000, 10
	var spent [tenths]time.Duration
	for t := range tenths {
		start := time.Now()
		for range turns / tenths / 20 {
			exchanges(b, r.service(), "ann", 20)
			if _, err := r.service().ExtractSession(context.WithoutCancel(b.Context()), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"}); err != nil {
				b.Fatal(err)
			}
		}
		spent[t] = time.Since(start)
	}
	b.ReportMetric(float64(spent[0])/(turns/tenths)/float64(time.Millisecond), "first-ms/turn")
	b.ReportMetric(float64(spent[tenths-1])/(turns/tenths)/float64(time.Millisecond), "last-ms/turn")
	b.ReportMetric(float64(spent[tenths-1])/float64(spent[0]), "ratio")
	b.ReportMetric(0, "ns/op")
}
