package bench_test

import (
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

// BenchmarkForget forgets an owner of 10,000 memories while another owner
// appends: the time to the receipt, and what the appends and searches of others wait.
func BenchmarkForget(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	s := r.service()
	w := newWords(7)
	fill(b, r.store, "other", 1000, w)
	append1 := func() error {
		_, err := s.AppendMessages(b.Context(), yiku.AppendMessagesRequest{UserID: "other", SessionID: "s",
			Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("hello")}}})
		return err
	}
	search := func() error {
		_, err := s.SearchMemory(b.Context(), yiku.SearchMemoryRequest{UserID: "other", Query: w.query()})
		return err
	}
	var quietAppends, quietReads, appends, reads, receipts timings
	for range 500 {
		quietAppends.time(b, append1)
		quietReads.time(b, search)
	}
	for range b.N {
		fill(b, r.store, "u", ownerMemories, w)
		done := make(chan error, 1)
		start := time.Now()
		go func() {
			_, err := s.Forget(b.Context(), yiku.ForgetRequest{UserID: "u", Selector: yiku.Selector{All: true}, Reason: "asked"})
			receipts = append(receipts, time.Since(start))
			done <- err
		}()
		for running := true; running; {
			appends.time(b, append1)
			reads.time(b, search)
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				running = false
			default:
			}
		}
	}
	receipts.report(b, "receipt")
	quietAppends.report(b, "append-quiet")
	appends.report(b, "append")
	quietReads.report(b, "search-quiet")
	reads.report(b, "search")
	b.ReportMetric(0, "ns/op")
}
