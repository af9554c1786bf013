package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Gate bounds how many requests run at once, and how many of those that only
// read: they compute from their beginning to their end, so that more of them
// than there are processors only make each other slow, while a write waits for
// the disk together with others. Who finds no room waits in a bounded queue,
// which is to be short: under overload it is always full, and a long one serves
// nobody more and makes all late. So nearly all who are let in are served soon,
// and the others are told at once, where that is cheap.
//
// Tenants take turns (weighted round robin), so that the queue of one does not
// delay another's by more than a turn. Of one tenant the oldest goes first.
//
// Where the queue is full, the tenant with the longest line, by its weight,
// gives up its newest place to a tenant with a shorter one; a newcomer of the
// longest line itself is refused.
type Gate struct {
	Bounds

	mu      sync.Mutex
	running int              // guarded by mu
	reading int              // of those that run; guarded by mu
	waiting int              // guarded by mu
	lines   map[string]*line // those with waiters; guarded by mu
	turns   []*line          // the same, in the order of their turns; guarded by mu
}

// Bounds are those of a gate.
type Bounds struct {
	Running int                     // requests at once
	Reads   int                     // of them, those that only read; 0: as many
	Queue   int                     // requests that wait
	Wait    time.Duration           // the longest wait
	Weight  func(tenant string) int // a tenant's places in each turn; nil or below 1: 1
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
type waiter struct {
	reads  bool
	answer chan bool
}

// NewGate returns a gate through which nobody has come.
func NewGate(b Bounds) *Gate {
	if b.Reads == 0 {
		b.Reads = b.Running
	}
	return &Gate{Bounds: b, lines: map[string]*line{}}
}

// Enter takes a place for a request that only reads, or for another; Leave
// gives it back. It returns Admitted, or why there is none: Full, Late, or Gone
// where the context has ended.
func (g *Gate) Enter(ctx context.Context, tenant string, reads bool) Reason {
	w, ok := g.join(tenant, reads)
	switch {
	case !ok:
		return Full
	case w.answer == nil:
		return Admitted
	}
	timer := time.NewTimer(g.Wait)
	defer timer.Stop()
	var reason Reason
	select {
	case ok := <-w.answer:
		return verdict(ok)
	case <-timer.C:
		reason = Late
	case <-ctx.Done():
		reason = Gone
	}
	if g.withdraw(tenant, w) {
		return reason
	}
	ok = <-w.answer // it was decided in the meantime
	if ok && reason == Gone {
		g.Leave(reads)
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

// fits reports whether one more may run. The lock is held.
func (g *Gate) fits(reads bool) bool {
	return g.running < g.Running && (!reads || g.reading < g.Reads)
}

// move counts one more that runs, or one less. The lock is held.
func (g *Gate) move(reads bool, n int) {
	g.running += n
	if reads {
		g.reading += n
	}
}

// join takes a place at once (a zero waiter), queues, or refuses (false).
func (g *Gate) join(tenant string, reads bool) (waiter, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fits(reads) { // nobody waits for what is free
		g.move(reads, 1)
		return waiter{}, true
	}
	loser, ok := g.room(tenant)
	if !ok {
		return waiter{}, false
	}
	if loser != nil {
		newest := len(loser.waiters) - 1
		answer := loser.waiters[newest].answer
		g.remove(loser, newest)
		answer <- false
	}
	l := g.lines[tenant]
	if l == nil {
		l = &line{tenant: tenant, weight: g.weightOf(tenant)}
		l.left = l.weight
		g.lines[tenant] = l
		g.turns = append(g.turns, l)
	}
	w := waiter{reads, make(chan bool, 1)}
	l.waiters = append(l.waiters, w)
	g.waiting++
	return w, true
}

func (g *Gate) weightOf(tenant string) int {
	if g.Weight == nil {
		return 1
	}
	return max(1, g.Weight(tenant))
}

// room reports whether one more of a tenant may wait, and which line loses its
// newest place for it: the longest, if it is longer by its weight than the
// tenant's own would be. None does while the queue is not full. The lock is
// held.
func (g *Gate) room(tenant string) (loser *line, ok bool) {
	if g.waiting < g.Queue {
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
// it was the last. The lock is held.
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

// Leave gives a place back, to the next in turn that may have it.
func (g *Gate) Leave(reads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.move(reads, -1)
	for at, l := range g.turns {
		i := slices.IndexFunc(l.waiters, func(w waiter) bool { return g.fits(w.reads) })
		if i < 0 {
			continue
		}
		next := l.waiters[i]
		g.remove(l, i)
		l.left--
		if l.left <= 0 && len(l.waiters) > 0 {
			l.left = l.weight
			g.turns = append(slices.Delete(g.turns, at, at+1), l)
		}
		g.move(next.reads, 1)
		next.answer <- true
		return
	}
}

// Refuses reports whether a request of the tenant would be refused now,
// whatever it is.
func (g *Gate) Refuses(tenant string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < g.Running && g.waiting == 0 {
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
