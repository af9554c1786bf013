package bench_test

import (
	"fmt"
	"testing"

	"github.com/yiku-ai/yiku"
)

const ownerMemories = 10_000

// BenchmarkSearch searches an owner of 10,000 memories in the engine: warm,
// and cold, when the index has to be read in first.
func BenchmarkSearch(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	w := newWords(2)
	fill(b, r.store, "u", ownerMemories, w)
	s := r.service()
	owner, err := yiku.NewOwner(tenant, "u")
	if err != nil {
		b.Fatal(err)
	}
	search := func() error {
		_, err := s.SearchMemory(b.Context(), yiku.SearchMemoryRequest{UserID: "u", Query: w.query()})
		return err
	}
	var cold, warm timings
	for range 10 {
		if err := r.index.Drop(b.Context(), owner); err != nil {
			b.Fatal(err)
		}
		cold.time(b, search)
	}
	b.ResetTimer()
	for range b.N {
		warm.time(b, search)
	}
	b.StopTimer()
	warm.report(b, "warm")
	cold.report(b, "cold")
}

// BenchmarkContext composes a context from a session of 200 messages and an
// owner of 10,000 memories, snapshot included.
func BenchmarkContext(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	w := newWords(3)
	fill(b, r.store, "u", ownerMemories, w)
	s := r.service()
	var messages []yiku.Message
	for i := range 200 {
		role := yiku.RoleUser
		if i%2 == 1 {
			role = yiku.RoleAssistant
		}
		messages = append(messages, yiku.Message{Role: role, Content: yiku.Text(w.sentence(i))})
	}
	if _, err := s.AppendMessages(b.Context(), yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: messages}); err != nil {
		b.Fatal(err)
	}
	var warm timings
	call := func() error {
		_, err := s.GetContext(b.Context(), yiku.GetContextRequest{UserID: "u", SessionID: "s", Query: w.query(), System: "You are a helpful agent."})
		return err
	}
	if err := call(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		warm.time(b, call)
	}
	b.StopTimer()
	warm.report(b, "context")
}

// BenchmarkList lists all of an owner's memories by cursor, at two sizes: the
// time an item must not grow with the size.
func BenchmarkList(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	w := newWords(4)
	per := map[int]float64{}
	for _, size := range []int{1000, 10_000} {
		user := fmt.Sprint("u", size)
		fill(b, r.store, user, size, w)
		var t timings
		t.time(b, func() error {
			req := yiku.ListMemoriesRequest{UserID: user, Paging: yiku.Paging{Limit: 500}}
			for {
				page, err := r.service().ListMemories(b.Context(), req)
				if err != nil || page.NextCursor == "" {
					return err
				}
				req.Cursor = page.NextCursor
			}
		})
		per[size] = float64(t[0].Microseconds()) / float64(size)
		b.ReportMetric(per[size], fmt.Sprintf("µs/item-%d", size))
	}
	b.ReportMetric(per[10_000]/per[1000], "ratio")
	b.ReportMetric(0, "ns/op")
}
