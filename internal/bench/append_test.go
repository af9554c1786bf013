package bench_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/store/sqlite"
)

const (
	writers   = 64
	batchSize = 100
)

// BenchmarkAppendHTTP appends durably over HTTP, one message a request, by 64
// keep-alive clients in the same process: first with group commit, then with
// one transaction a message in the same server. ratio is the first rate by the
// second; syncs/64 is the log syncs that 64 appends cost. Batches of 100 are
// for orientation.
func BenchmarkAppendHTTP(b *testing.B) {
	grouped, syncs := appendRate(b, nil, b.N, 1)
	single, _ := appendRate(b, &sqlite.Options{GroupLimit: 1}, max(b.N/4, writers), 1)
	batched, _ := appendRate(b, nil, max(b.N, writers*batchSize), batchSize)
	b.ReportMetric(grouped, "appends/s")
	b.ReportMetric(single, "single-tx/s")
	b.ReportMetric(grouped/single, "ratio")
	b.ReportMetric(syncs, "syncs/64")
	b.ReportMetric(batched, "batched-messages/s")
	b.ReportMetric(0, "ns/op")
}

// appendRate appends about n messages and returns messages a second and the
// syncs per 64 requests.
func appendRate(b *testing.B, options *sqlite.Options, n, batch int) (rate, syncs float64) {
	b.Helper()
	r := newRig(b, b.TempDir(), options)
	defer r.close(b)
	server := httptest.NewServer(httpapi.New(httpapi.Options{
		Authenticate: func(*http.Request) (yiku.Principal, error) {
			return yiku.Principal{Tenant: tenant, Access: yiku.AccessAdmin}, nil
		},
		Service: r.engine.As,
	}))
	defer server.Close()
	c, err := client.New(server.URL, &client.Options{HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}})
	if err != nil {
		b.Fatal(err)
	}
	text := newWords(1).sentence(0)
	for len(text) < 280 {
		text += text
	}
	var left atomic.Int64
	left.Store(int64(max(n/batch, writers)))
	requests := left.Load()
	var failed atomic.Pointer[error]
	var done sync.WaitGroup
	before, start := r.store.Stats().Commits, time.Now()
	for w := range writers {
		done.Go(func() {
			req := yiku.AppendMessagesRequest{UserID: fmt.Sprintf("u%d", w), SessionID: "s"}
			for range batch {
				req.Messages = append(req.Messages, yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(text[:280])})
			}
			for left.Add(-1) >= 0 {
				if _, err := c.AppendMessages(b.Context(), req); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	done.Wait()
	if err := failed.Load(); err != nil {
		b.Fatal(*err)
	}
	took := time.Since(start).Seconds()
	commits := float64(r.store.Stats().Commits - before)
	return float64(requests*int64(batch)) / took, commits / float64(requests) * 64
}
