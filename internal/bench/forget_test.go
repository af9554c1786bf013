package bench_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

// quietCalls is how many calls of each kind are timed before each forget.
const quietCalls = 500

// BenchmarkForget forgets an owner of 10,000 memories while another owner
// appends and searches in turn: the time to the receipt, and what the calls of
// others take meanwhile and, just before, alone. Each forget gives a ratio of
// the two; their median is reported, since other work on the machine disturbs
// single ones.
func BenchmarkForget(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	s := r.service()
	w := newWords(7)
	fill(b, r.store, "other", 1000, w)
	calls := map[string]func() error{
		"append": func() error {
			_, err := s.AppendMessages(b.Context(), yiku.AppendMessagesRequest{UserID: "other", SessionID: "s",
				Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("hello")}}})
			return err
		},
		"search": func() error {
			_, err := s.SearchMemory(b.Context(), yiku.SearchMemoryRequest{UserID: "other", Query: w.query()})
			return err
		},
	}
	besideForgets(b, r, w, calls, quietCalls)
}

// BenchmarkForgetCold is BenchmarkForget with an owner of 2,000 memories whose
// index must be read in for each search.
func BenchmarkForgetCold(b *testing.B) {
	r := newRig(b, b.TempDir(), nil)
	defer r.close(b)
	w := newWords(8)
	fill(b, r.store, "other", 2000, w)
	owner, err := yiku.NewOwner(tenant, "other")
	if err != nil {
		b.Fatal(err)
	}
	calls := map[string]func() error{"cold": func() error {
		if err := r.index.Drop(b.Context(), owner); err != nil {
			return err
		}
		_, err := r.service().SearchMemory(b.Context(), yiku.SearchMemoryRequest{UserID: "other", Query: w.query()})
		return err
	}}
	besideForgets(b, r, w, calls, 30)
}

// besideForgets times calls before and beside b.N forgets of 10,000 memories.
func besideForgets(b *testing.B, r rig, w *words, calls map[string]func() error, quiet int) {
	b.Helper()
	var receipts timings
	ratios := map[string][]float64{}
	all := map[string]*timings{}
	for name := range calls {
		all[name], all[name+"-quiet"] = &timings{}, &timings{}
	}
	for range b.N {
		fill(b, r.store, "u", ownerMemories, w)
		alone, meanwhile := map[string]*timings{}, map[string]*timings{}
		for name := range calls {
			alone[name], meanwhile[name] = &timings{}, &timings{}
		}
		for range quiet {
			for name, call := range calls {
				alone[name].time(b, call)
			}
		}
		done := make(chan error, 1)
		start := time.Now()
		go func() {
			_, err := r.service().Forget(b.Context(), yiku.ForgetRequest{UserID: "u", Selector: yiku.Selector{All: true}, Reason: "asked"})
			receipts = append(receipts, time.Since(start))
			done <- err
		}()
		for running := true; running; {
			for name, call := range calls {
				meanwhile[name].time(b, call)
			}
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				running = false
			default:
			}
		}
		for name := range calls {
			ratios[name] = append(ratios[name], float64(meanwhile[name].at(.99))/float64(alone[name].at(.99)))
			*all[name] = append(*all[name], *meanwhile[name]...)
			*all[name+"-quiet"] = append(*all[name+"-quiet"], *alone[name]...)
		}
	}
	receipts.report(b, "receipt")
	for name, t := range all {
		t.report(b, name)
	}
	for name, list := range ratios {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], fmt.Sprint(name, "-p99-ratio"))
	}
	b.ReportMetric(0, "ns/op")
}
