package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Gate bounds how many requests run at once. Who finds no room waits in a
// bounded queue for a short time.
//
// Tenants take turns (weighted round robin), so that the queue of one does not
// delay another's by more than a turn. Of one tenant the newest goes first:
// under overload those who have waited long are about to give up, and serving
// them would make everyone late. Where the queue is full, the tenant with the
// longest line, by its weight, gives up its oldest place to a tenant with a
// shorter one; a newcomer of the longest line itself is refused.
type Gate struct {
	limit  int
	queue  int
	wait   time.Duration
	weight func(tenant string) int

	mu      sync.Mutex
	running int              // guarded by mu
	waiting int              // guarded by mu
	lines   map[string]*line // those with waiters; guarded by mu
	turns   []*line          // the same, in the order of their turns; guarded by mu
}

// line is what waits of one tenant, oldest first.
type line struct {
	tenant  string
	weight  int
	left    int // places that it may still give in this turn
	waiters []waiter
}

// waiter is one request that waits. Its channel gets true where it may run and
// false where it lost its place.
type waiter chan bool

// NewGate returns a gate for limit requests at once, a queue of queue others
// and a wait of at most wait. Weight gives a tenant's places in each turn;
// where nil, or below 1, it is 1.
func NewGate(limit, queue int, wait time.Duration, weight func(tenant string) int) *Gate {
	return &Gate{limit: limit, queue: queue, wait: wait, weight: weight, lines: map[string]*line{}}
}

// Enter takes a place, which Leave gives back. It returns Admitted, or why
// there is none: Full, Late, or Gone where the context has ended.
func (g *Gate) Enter(ctx context.Context, tenant string) Reason {
	w, ok := g.join(tenant)
	switch {
	case !ok:
		return Full
	case w == nil:
		return Admitted
	}
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	var reason Reason
	select {
	case ok := <-w:
		return verdict(ok)
	case <-timer.C:
		reason = Late
	case <-ctx.Done():
		reason = Gone
	}
	if g.withdraw(tenant, w) {
		return reason
	}
	ok = <-w // it was decided in the meantime
	if ok && reason == Gone {
		g.Leave()
		return Gone
	}
	return verdict(ok)
}

func verdict(ok bool) Reason {
	if ok {
		return Admitted
	}
	return Full
}

// join takes a place at once (nil, true), queues, or refuses (false).
func (g *Gate) join(tenant string) (waiter, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < g.limit {
		g.running++
		return nil, true
	}
	loser, ok := g.room(tenant)
	if !ok {
		return nil, false
	}
	if loser != nil {
		oldest := loser.waiters[0]
		g.remove(loser, 0)
		oldest <- false
	}
	l := g.lines[tenant]
	if l == nil {
		l = &line{tenant: tenant, weight: g.weightOf(tenant)}
		l.left = l.weight
		g.lines[tenant] = l
		g.turns = append(g.turns, l)
	}
	w := make(waiter, 1)
	l.waiters = append(l.waiters, w)
	g.waiting++
	return w, true
}

func (g *Gate) weightOf(tenant string) int {
	if g.weight == nil {
		return 1
	}
	return max(1, g.weight(tenant))
}

// room reports whether one more of a tenant may wait, and which line loses its
// oldest place for it: the longest, if it is longer by its weight than the
// tenant's own would be. None does while the queue is not full.
func (g *Gate) room(tenant string) (loser *line, ok bool) {
	if g.waiting < g.queue {
		return nil, true
	}
	for _, l := range g.turns {
		if loser == nil || len(l.waiters)*loser.weight > len(loser.waiters)*l.weight {
			loser = l
		}
	}
	own, weight := 1, g.weightOf(tenant)
	if l := g.lines[tenant]; l != nil {
		own += len(l.waiters)
	}
	if loser == nil || len(loser.waiters)*weight <= own*loser.weight {
		return nil, false
	}
	return loser, true
}

// remove takes a waiter out of its line, and the line out of the turns where
// it was the last.
func (g *Gate) remove(l *line, i int) {
	l.waiters = slices.Delete(l.waiters, i, i+1)
	g.waiting--
	if len(l.waiters) > 0 {
		return
	}
	delete(g.lines, l.tenant)
	at := slices.Index(g.turns, l)
	g.turns = slices.Delete(g.turns, at, at+1)
}

// withdraw takes a waiter back; false where its fate is decided.
func (g *Gate) withdraw(tenant string, w waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lines[tenant]
	if l == nil {
		return false
	}
	i := slices.Index(l.waiters, w)
	if i < 0 {
		return false
	}
	g.remove(l, i)
	return true
}

// Leave gives a place back, to the next in turn where somebody waits.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.turns) == 0 {
		g.running--
		return
	}
	l := g.turns[0]
	newest := len(l.waiters) - 1
	next := l.waiters[newest]
	g.remove(l, newest)
	l.left--
	if l.left <= 0 && len(l.waiters) > 0 {
		l.left = l.weight
		g.turns = append(g.turns[1:], l)
	}
	next <- true
}

// IsFull reports whether a request of the tenant would be refused now.
func (g *Gate) IsFull(tenant string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < g.limit {
		return false
	}
	_, ok := g.room(tenant)
	return !ok
}

// Load returns how many run and how many wait.
func (g *Gate) Load() (running, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, g.waiting
}
