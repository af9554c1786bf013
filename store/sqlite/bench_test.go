package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/keyring"
	"github.com/yiku-ai/yiku/store"
)

// benchMessage is an append's text: 300 bytes.
func benchMessage(n int64) *store.Message {
	return &store.Message{Message: yiku.Message{
		ID: fmt.Sprintf("m-%d", n), Role: yiku.RoleUser, Origin: yiku.OriginUser,
		Content: yiku.Text(strings.Repeat("我们下周五开会 see you ", 10)), CreatedAt: testTime(),
	}, RecordedAt: testTime()}
}

// BenchmarkAppend appends one message to one of 64 sessions of 64 owners from
// 64 goroutines, as groups and one commit each.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		limit int
	}{{"groups", DefaultGroupLimit}, {"one_commit_each", 1}} {
		b.Run(c.name, func(b *testing.B) {
			s := openTest(b, &Options{GroupLimit: c.limit})
			owners, sessions := make([]yiku.Owner, 64), make([]store.Session, 64)
			for i := range owners {
				owners[i] = testOwner(b, "acme", fmt.Sprint("user", i))
				sessions[i].Session = yiku.Session{ID: "s", CreatedAt: testTime()}
				write(b, s, owners[i], func(tx store.Tx) error { return tx.PutSession(&sessions[i]) })
			}
			var n atomic.Int64
			b.SetParallelism(32) // on 2 cores: 64 goroutines
			before := s.Stats()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1)
					who := i % 64
					err := s.Update(context.Background(), owners[who], store.Request, func(tx store.Tx) error {
						session, err := tx.Session(owners[who], "s")
						if err != nil {
							return err
						}
						if err := tx.AddMessages(session.Key, []*store.Message{benchMessage(i)}); err != nil {
							return err
						}
						session.LastMessageAt = testTime()
						return tx.PutSession(&session)
					})
					if err != nil {
						b.Error(err)
					}
				}
			})
			b.StopTimer()
			after := s.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
			b.ReportMetric(float64(b.N)/float64(after.Commits-before.Commits), "appends/commit")
		})
	}
}

// benchMemories writes memories of about 600 bytes and returns their keys.
func benchMemories(b *testing.B, s *Store, owner yiku.Owner, count int) []int64 {
	b.Helper()
	var keys []int64
	for len(keys) < count {
		write(b, s, owner, func(tx store.Tx) error {
			for range 500 {
				n := len(keys)
				m := store.Memory{ContentNorm: fmt.Sprint("content ", n), SubjectNorm: "user", AttributeNorm: fmt.Sprint("attribute ", n)}
				m.ID = fmt.Sprintf("0197f0c2-0000-7000-8000-%012d", n)
				m.Content = fmt.Sprint("memory ", n, strings.Repeat(" 喜欢在周末爬山 likes hiking", 8))
				m.Subject, m.Attribute, m.Value = "user", fmt.Sprint("attribute ", n), "value"
				m.Kind, m.Type, m.Level, m.Status, m.Origin = yiku.KindSemantic, yiku.TypeFact, yiku.LevelUser, yiku.StatusActive, yiku.OriginUser
				m.Topics, m.Sources = []string{"hobby", "爱好"}, []string{"m-1", "m-2"}
				m.CreatedAt, m.UpdatedAt = testTime(), testTime()
				if err := tx.AddMemory(&m); err != nil {
					return err
				}
				keys = append(keys, m.Key)
			}
			return nil
		})
	}
	return keys
}

// BenchmarkLoad10000 reads an owner's 10,000 memories as an index does.
func BenchmarkLoad10000(b *testing.B) {
	s := openTest(b, nil)
	owner := testOwner(b, "acme", "user")
	keys := benchMemories(b, s, owner, 10_000)
	sparse := make([]int64, 0, len(keys)/4)
	for i := 0; i < len(keys); i += 4 {
		sparse = append(sparse, keys[i])
	}
	for name, read := range map[string]func(r store.Reader) (int, error){
		"by_key": func(r store.Reader) (int, error) {
			list, err := r.MemoriesByKey(owner, keys)
			return len(list), err
		},
		"every_fourth_by_key": func(r store.Reader) (int, error) {
			list, err := r.MemoriesByKey(owner, sparse)
			return len(list), err
		},
		"changes": func(r store.Reader) (int, error) {
			list, err := r.Changes(owner, 0, 20_000)
			return len(list), err
		},
		"count_active": func(r store.Reader) (int, error) {
			return r.CountMemories(owner, store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusActive}})
		},
		"topic": func(r store.Reader) (int, error) {
			list, err := r.Memories(owner, store.MemoryQuery{Topic: "爱好"})
			return len(list), err
		},
		"newest_20_constraints": func(r store.Reader) (int, error) {
			list, err := r.Memories(owner, store.MemoryQuery{Statuses: []yiku.Status{yiku.StatusActive}, Types: []yiku.Type{yiku.TypeConstraint}, Limit: 20})
			return len(list), err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				err := s.View(b.Context(), func(r store.Reader) error {
					n, err := read(r)
					if n == 0 && name != "newest_20_constraints" {
						b.Error("nothing read")
					}
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSealed loads an owner's 10,000 memories, 500 at a time, and appends
// one message after the other, in turn in a store that looks for damage nowhere, in one
// with MACs of rows, and in one that also looks at pages and log, as it is
// meant to.
func BenchmarkSealed(b *testing.B) {
	owner := testOwner(b, "acme", "user")
	session := store.Session{Session: yiku.Session{ID: "s", CreatedAt: testTime()}}
	var keys []int64
	var stores []*Store
	for _, o := range []Options{{Ring: keyring.New(&keyring.Options{Unchecked: true}), trusting: true}, {trusting: true}, {}} {
		s := openTest(b, &o)
		keys, session.Key = benchMemories(b, s, owner, 10_000), 0
		write(b, s, owner, func(tx store.Tx) error { return tx.PutSession(&session) })
		stores = append(stores, s)
	}
	n := int64(0)
	for what, do := range map[string]func(s *Store, turn int){
		"load_500": func(s *Store, turn int) {
			from := turn % 20 * 500
			err := s.View(b.Context(), func(r store.Reader) error {
				list, err := r.MemoriesByKey(owner, keys[from:from+500])
				if len(list) != 500 {
					b.Errorf("%d memories", len(list))
				}
				return err
			})
			if err != nil {
				b.Error(err)
			}
		},
		"append": func(s *Store, _ int) {
			n++
			write(b, s, owner, func(tx store.Tx) error { return tx.AddMessages(session.Key, []*store.Message{benchMessage(n)}) })
		},
	} {
		b.Run(what, func(b *testing.B) {
			took := make([][]time.Duration, len(stores))
			for turn := 0; b.Loop(); turn++ {
				for k := range stores {
					i := (turn + k) % len(stores) // each comes first in turn
					began := time.Now()
					do(stores[i], turn)
					took[i] = append(took[i], time.Since(began))
				}
			}
			var quarter []float64 // the first quartiles, which other work on the machine moves least
			for _, t := range took {
				slices.Sort(t)
				quarter = append(quarter, float64(t[len(t)/4]))
			}
			b.ReportMetric(quarter[0]/1e6, "without-ms")
			b.ReportMetric(quarter[1]/quarter[0], "rows-times")
			b.ReportMetric(quarter[2]/quarter[0], "all-times")
		})
	}
}

// BenchmarkDelete10000 deletes an owner's 10,000 memories, 100 an update.
func BenchmarkDelete10000(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := openTest(b, nil)
		owner := testOwner(b, "acme", "user")
		keys := benchMemories(b, s, owner, 10_000)
		b.StartTimer()
		for ; len(keys) > 0; keys = keys[100:] {
			write(b, s, owner, func(tx store.Tx) error {
				for _, key := range keys[:100] {
					if err := tx.DeleteMemory(key); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}

// BenchmarkPurge10000 purges an owner's 10,000 memories, so many an update at
// maintenance priority, while another owner appends one message after the
// other. batch_0 is 500 appends without a purge.
func BenchmarkPurge10000(b *testing.B) {
	for _, batch := range []int{0, 50, 200} {
		b.Run(fmt.Sprint("batch_", batch), func(b *testing.B) {
			var waits []time.Duration
			for b.Loop() {
				b.StopTimer()
				s := openTest(b, nil)
				owner, other := testOwner(b, "acme", "user"), testOwner(b, "acme", "other")
				keys := benchMemories(b, s, owner, 10_000)
				session := store.Session{Session: yiku.Session{ID: "s", CreatedAt: testTime()}}
				write(b, s, other, func(tx store.Tx) error { return tx.PutSession(&session) })
				if batch == 0 {
					b.StartTimer()
					waits = append(waits, appendUntil(s, other, session.Key, nil, 500)...)
					continue
				}
				stop, done := make(chan struct{}), make(chan []time.Duration)
				go func() { done <- appendUntil(s, other, session.Key, stop, math.MaxInt64) }()
				b.StartTimer()
				for ; len(keys) > 0; keys = keys[batch:] {
					err := s.Update(b.Context(), owner, store.Maintenance, func(tx store.Tx) error { return tx.Purge(keys[:batch], nil, nil) })
					if err != nil {
						b.Fatal(err)
					}
				}
				close(stop)
				waits = append(waits, <-done...)
			}
			slices.Sort(waits)
			if n := len(waits); n > 0 {
				b.ReportMetric(float64(waits[n/2].Microseconds())/1000, "append-p50-ms")
				b.ReportMetric(float64(waits[n*99/100].Microseconds())/1000, "append-p99-ms")
				b.ReportMetric(float64(n)/float64(b.N), "appends/op")
			}
		})
	}
}

// appendUntil appends so many messages, or until it is stopped, and returns how long each took.
func appendUntil(s *Store, owner yiku.Owner, session int64, stop <-chan struct{}, most int64) (waits []time.Duration) {
	for n := range most {
		select {
		case <-stop:
			return waits
		default:
		}
		began := time.Now()
		err := s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
			return tx.AddMessages(session, []*store.Message{benchMessage(n)})
		})
		if err != nil {
			return nil
		}
		waits = append(waits, time.Since(began))
	}
	return waits
}

// BenchmarkPromised promises a job that waits already, as every append does.
func BenchmarkPromised(b *testing.B) {
	s := openTest(b, nil)
	owner := testOwner(b, "acme", "ann")
	promise := func(tx store.Tx) error {
		_, err := tx.Enqueue(&store.Job{Kind: "embed", Unique: "u", NotBefore: testTime(), CreatedAt: testTime()})
		return err
	}
	write(b, s, owner, promise)
	err := s.Update(context.Background(), owner, store.Request, func(tx store.Tx) error {
		for b.Loop() {
			if err := promise(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
