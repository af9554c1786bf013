package limit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/yiku-ai/yiku/internal/boardtest"
)

// crowd sends requests of tenants to a gate, one after the other, and notes
// the order in which they are served and what became of the others. A name is
// that of the tenant, "-", and the request's; "tenant-r…" only reads.
type crowd struct {
	gate   *Gate
	served []string
	others map[string]Reason
}

func (c *crowd) send(ctx context.Context, name string) {
	tenant, rest, _ := strings.Cut(name, "-")
	go func() {
		if r := c.gate.Enter(ctx, tenant, strings.HasPrefix(rest, "r")); r != Admitted {
			c.others[name] = r
			return
		}
		c.served = append(c.served, name)
	}()
	synctest.Wait()
}

// leave gives so many places back, one after the other.
func (c *crowd) leave(n int) {
	for range n {
		c.gate.Leave(false)
		synctest.Wait()
	}
}

func newCrowd(running, queue int, weight func(string) int) *crowd {
	return newCrowdAt(Bounds{Running: running, Queue: queue, Wait: time.Second, Weight: weight})
}

func newCrowdAt(b Bounds) *crowd { return &crowd{gate: NewGate(b), others: map[string]Reason{}} }

// TestR18_TurnsOfTenants fills the gate and its queue with one tenant's
// requests: the next place is another's all the same, and a full queue makes
// room for it. The control is the same crowd as one tenant.
func TestR18_TurnsOfTenants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name, quiet string
			first       bool // the quiet one's request is the next one served, and stays
		}{
			{"two tenants", "quiet-1", true},
			{"control: one tenant", "loud-x", false},
		} {
			c := newCrowd(2, 4, nil)
			for i := range 6 { // two run, four wait
				c.send(t.Context(), fmt.Sprint("loud-", i))
			}
			c.send(t.Context(), tt.quiet)
			if _, lost := c.others["loud-5"]; lost != tt.first {
				t.Errorf("%s: the newest of the longest line lost its place: %v", tt.name, lost)
			}
			c.leave(2)
			if got := slices.Contains(c.served, tt.quiet); got != tt.first {
				t.Errorf("%s: served %v", tt.name, c.served)
			}
			c.leave(10)
		}
	})
}

// TestR18_NoTenantStarves lets one tenant bring a hundred requests for each of
// another's: every one of the other's is served within two turns.
func TestR18_NoTenantStarves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1, 32, nil)
		c.send(t.Context(), "loud-first")
		for i := range 50 {
			for j := range 100 {
				c.send(t.Context(), fmt.Sprintf("loud-%d-%d", i, j))
			}
			name := fmt.Sprintf("静-%d", i)
			c.send(t.Context(), name)
			c.leave(2)
			if !slices.Contains(c.served, name) {
				t.Fatalf("%s was not served: %v", name, c.served)
			}
		}
		boardtest.Report(t, boardtest.Row{ID: "R18", Trials: 50, What: "requests beside a hundred of another tenant's waited for more than two turns"})
		c.leave(40)
	})
}

// TestR18_WeightedTurns: a tenant with weight 3 gets three places in a turn.
func TestR18_WeightedTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1, 20, func(tenant string) int { return map[string]int{"big": 3}[tenant] })
		c.send(t.Context(), "x-runs")
		for i := range 8 {
			c.send(t.Context(), fmt.Sprint("big-", i))
			c.send(t.Context(), fmt.Sprint("small-", i))
		}
		c.leave(8)
		got := map[string]int{}
		for _, name := range c.served[1:] {
			tenant, _, _ := strings.Cut(name, "-")
			got[tenant]++
		}
		if got["big"] != 6 || got["small"] != 2 {
			t.Errorf("served %v", c.served)
		}
		c.leave(9)
	})
}

// TestR17_ReadsHaveABoundOfTheirOwn: what reads waits for what reads, and what
// writes passes by it while there is room for that; where there is none, the
// oldest goes first again.
func TestR17_ReadsHaveABoundOfTheirOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowdAt(Bounds{Running: 3, Reads: 1, Queue: 8, Wait: time.Second})
		for _, name := range []string{"a-r1", "a-r2", "a-w1", "a-w2", "a-r3", "a-w3"} {
			c.send(t.Context(), name)
		}
		if want := []string{"a-r1", "a-w1", "a-w2"}; !slices.Equal(c.served, want) {
			t.Fatalf("served %v, want %v", c.served, want)
		}
		for _, tt := range []struct {
			leaves bool // what leaves only reads
			want   string
		}{{false, "a-w3"}, {true, "a-r2"}, {true, "a-r3"}} {
			c.gate.Leave(tt.leaves)
			synctest.Wait()
			if got := c.served[len(c.served)-1]; got != tt.want {
				t.Errorf("served %v, want %s next", c.served, tt.want)
			}
		}
		c.send(t.Context(), "b-r4") // waits for a-r3 while a place is free for writes
		c.gate.Leave(false)
		c.send(t.Context(), "b-w4")
		if got := c.served[len(c.served)-1]; got != "b-w4" {
			t.Errorf("served %v", c.served)
		}
		c.gate.Leave(true)
		synctest.Wait()
		if got := c.served[len(c.served)-1]; got != "b-r4" || len(c.others) > 0 {
			t.Errorf("served %v, refused %v", c.served, c.others)
		}
	})
}

// TestGate holds the gate's rules one by one.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1, 3, nil)
		c.send(t.Context(), "a-1")
		c.send(t.Context(), "a-2")
		c.send(t.Context(), "a-3")
		ctx, cancel := context.WithCancel(t.Context())
		c.send(ctx, "a-4")
		if !c.gate.Refuses("a") || c.gate.Refuses("b") {
			t.Error("the gate is full for the tenant that waits, not for another")
		}
		c.send(t.Context(), "a-5")
		cancel()
		synctest.Wait()
		if c.others["a-5"] != Full || c.others["a-4"] != Gone {
			t.Errorf("others: %v", c.others)
		}
		c.leave(1)
		if !slices.Equal(c.served, []string{"a-1", "a-2"}) {
			t.Errorf("the oldest is not first: %v", c.served)
		}
		time.Sleep(time.Second) // of the bubble
		synctest.Wait()
		if c.others["a-3"] != Late {
			t.Errorf("others: %v", c.others)
		}
		c.leave(1)
		if running, waiting := c.gate.Load(); running != 0 || waiting != 0 {
			t.Errorf("%d run and %d wait at the end", running, waiting)
		}
	})
}

// TestGateUnderRace hammers a gate from many goroutines; at the end all places
// are free, and never more ran than may.
func TestGateUnderRace(t *testing.T) {
	t.Parallel()
	g := NewGate(Bounds{Running: 3, Reads: 2, Queue: 5, Wait: time.Millisecond})
	running, over := make(chan struct{}, 3), make(chan int, 1)
	done := make(chan struct{})
	for i := range 16 {
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range 200 {
				reads := n%2 == 0
				if g.Enter(t.Context(), fmt.Sprint(i%4), reads) != Admitted {
					continue
				}
				select {
				case running <- struct{}{}:
					<-running
				default:
					select {
					case over <- i:
					default:
					}
				}
				g.Leave(reads)
			}
		}()
	}
	for range 16 {
		<-done
	}
	if len(over) > 0 {
		t.Error("more ran at once than may")
	}
	if r, w := g.Load(); r != 0 || w != 0 || g.reading != 0 || len(g.lines) != 0 || len(g.turns) != 0 {
		t.Errorf("%d run, %d wait at the end", r, w)
	}
}
