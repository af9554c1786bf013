// Package limit says who may be served now: a rate for each API key, a quota
// of requests a day for each tenant, and a gate for what runs at once, at
// which tenants take turns. A refusal comes before anything of a request but
// its header is looked at, so that it costs next to nothing.
//
// Everything is counted in this process and begins anew with it.
package limit

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Reason is why a request is refused.
type Reason int

// The reasons.
const (
	Admitted    Reason = iota
	Rate               // the key's rate is used up
	Day                // the tenant's quota of the day is used up
	Full               // too many run and wait
	Late               // no place became free in time
	Gone               // the caller has gone
	Connections        // too many connections
	Flights            // too much of the tenant is on its way
	reasonCount
)

// String gives the reason as metrics name it.
func (r Reason) String() string {
	return [reasonCount]string{"admitted", "rate", "day_quota", "queue_full", "queue_wait", "gone", "connections", "in_flight"}[r]
}

// Refusal says why a request is refused and when it may come again.
type Refusal struct {
	Reason Reason
	Retry  time.Duration // when it is worth to try again
	Quota  int           // what the limit allows in a window; of the gate: at once
	Window time.Duration // 0: the limit has none
}

// Options are the limits. The zero value limits nothing.
type Options struct {
	Rate   float64                 // requests a second of one key; 0: no limit
	Burst  int                     // requests of one key at once
	Day    func(tenant string) int // requests of a tenant in a day (UTC); nil or 0: no limit
	Gate   Bounds                  // of what runs at once; where Running is 0, no limit
	Flight int64                   // bytes of bodies and answers that travel; 0: no limit
	Now    func() time.Time        // time.Now where nil
}

// manyCallers is the number of keys, and of tenants, from which those that
// have nothing counted are dropped.
const manyCallers = 10_000

const dayLength = 24 * time.Hour

// Limiter keeps the limits of one server. It may be used by many goroutines.
type Limiter struct {
	opts    Options
	gate    *Gate // nil: no limit
	flight  *Flight
	refused [reasonCount]atomic.Int64

	mu      sync.Mutex
	buckets map[caller]*rate.Limiter // guarded by mu
	days    map[string]*day          // by tenant; guarded by mu
}

// caller is one key of a tenant.
type caller struct{ tenant, key string }

// day counts the requests of a tenant in a day.
type day struct {
	number int64 // since 1970-01-01
	used   int
}

// New returns a limiter that has counted nothing.
func New(o Options) *Limiter {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Limiter{opts: o, flight: NewFlight(o.Flight), buckets: map[caller]*rate.Limiter{}, days: map[string]*day{}}
	if o.Gate.Running > 0 {
		l.gate = NewGate(o.Gate)
	}
	return l
}

// Visit is a request that may come in. It takes a place at the gate when its
// body is there, and gives it back before its answer travels, so that a slow
// caller holds no place.
type Visit struct {
	limiter *Limiter
	tenant  string
	at      time.Time
	taken   *rate.Reservation
}

// Admit lets a request of a key of a tenant come in, or says why not. It is
// refused where the gate would refuse it now, before more of it is read.
func (l *Limiter) Admit(tenant, key string) (Visit, *Refusal) {
	now := l.opts.Now()
	taken, wait := l.take(now, caller{tenant, key})
	if wait > 0 {
		return Visit{}, new(l.refuse(Rate, tenant, now, wait))
	}
	if !l.count(now, tenant, 1) {
		taken.CancelAt(now)
		return Visit{}, new(l.refuse(Day, tenant, now, 0))
	}
	v := Visit{limiter: l, tenant: tenant, at: now, taken: taken}
	if l.gate != nil && l.gate.Refuses(tenant) {
		return Visit{}, v.refuse(Full)
	}
	return v, nil
}

// Enter takes a place at the gate for a request that only reads, or for another;
// Leave gives it back. Or it says why there is none: what is refused for want
// of a place does not count as a request.
func (v Visit) Enter(ctx context.Context, reads bool) *Refusal {
	if v.limiter.gate == nil {
		return nil
	}
	if reason := v.limiter.gate.Enter(ctx, v.tenant, reads); reason != Admitted {
		return v.refuse(reason)
	}
	return nil
}

// Carry takes room for bytes of a body or an answer that travel, or says that
// there is none. The passage is to be ended in any case.
func (v Visit) Carry(bytes int) (*Passage, *Refusal) {
	p, ok := v.limiter.flight.Begin(v.tenant, bytes)
	if !ok {
		return p, v.NoRoom()
	}
	return p, nil
}

// NoRoom is the refusal of what travels and finds no room to go on.
func (v Visit) NoRoom() *Refusal { return new(v.limiter.refuse(Flights, v.tenant, v.at, 0)) }

// refuse takes back what the visit was counted as.
func (v Visit) refuse(reason Reason) *Refusal {
	v.taken.CancelAt(v.at)
	v.limiter.count(v.at, v.tenant, -1)
	return new(v.limiter.refuse(reason, v.tenant, v.at, 0))
}

// Leave gives back the place of a request that entered.
func (l *Limiter) Leave(reads bool) {
	if l.gate != nil {
		l.gate.Leave(reads)
	}
}

// Refuse reports whether a request would be refused now, without counting it as
// a request; as a refusal it is counted. It is for doors that can refuse
// cheaper than by asking to enter, and so it allocates nothing: under overload
// the garbage of refusals cost a seventh of them.
func (l *Limiter) Refuse(tenant, key string) (r Refusal, refused bool) {
	now := l.opts.Now()
	if l.opts.Rate > 0 {
		if tokens := l.bucket(caller{tenant, key}, now).TokensAt(now); tokens < 1 {
			return l.refuse(Rate, tenant, now, time.Duration((1-tokens)/l.opts.Rate*float64(time.Second))), true
		}
	}
	if l.spent(now, tenant) {
		return l.refuse(Day, tenant, now, 0), true
	}
	if l.gate != nil && l.gate.Refuses(tenant) {
		return l.refuse(Full, tenant, now, 0), true
	}
	return Refusal{}, false
}

// CountRefused counts a refusal that others decided.
func (l *Limiter) CountRefused(r Reason) { l.refused[r].Add(1) }

// fullRetry is when it is worth to come again to a gate that is full.
const fullRetry = time.Second

// refuse counts a refusal and says what a caller needs to know of it.
func (l *Limiter) refuse(reason Reason, tenant string, now time.Time, wait time.Duration) Refusal {
	l.CountRefused(reason)
	switch reason {
	case Rate:
		window := time.Duration(float64(l.opts.Burst) / l.opts.Rate * float64(time.Second))
		return Refusal{Reason: reason, Retry: wait, Quota: l.opts.Burst, Window: window}
	case Day:
		left := now.UTC().Truncate(dayLength).Add(dayLength).Sub(now)
		return Refusal{Reason: reason, Retry: left, Quota: l.opts.Day(tenant), Window: dayLength}
	case Flights:
		return Refusal{Reason: reason, Retry: fullRetry, Quota: int(l.opts.Flight)}
	default:
		return Refusal{Reason: reason, Retry: fullRetry, Quota: l.opts.Gate.Running}
	}
}

// take takes a token of the key, or says when there will be one.
func (l *Limiter) take(now time.Time, c caller) (*rate.Reservation, time.Duration) {
	if l.opts.Rate <= 0 {
		return &rate.Reservation{}, 0
	}
	r := l.bucket(c, now).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return r, wait
}

// bucket returns the key's bucket.
func (l *Limiter) bucket(c caller, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[c]
	if b == nil {
		if len(l.buckets) >= manyCallers {
			for other, b := range l.buckets {
				if b.TokensAt(now) >= float64(l.opts.Burst) {
					delete(l.buckets, other)
				}
			}
		}
		b = rate.NewLimiter(rate.Limit(l.opts.Rate), l.opts.Burst)
		l.buckets[c] = b
	}
	return b
}

// count adds to the tenant's day; false where the quota is used up.
func (l *Limiter) count(now time.Time, tenant string, n int) bool {
	quota := l.quota(tenant)
	if quota <= 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	today := now.Unix() / int64(dayLength/time.Second)
	d := l.days[tenant]
	if d == nil {
		if len(l.days) >= manyCallers {
			for other, d := range l.days {
				if d.number != today {
					delete(l.days, other)
				}
			}
		}
		d = &day{number: today}
		l.days[tenant] = d
	}
	if d.number != today {
		*d = day{number: today}
	}
	if n > 0 && d.used+n > quota {
		return false
	}
	d.used = max(0, d.used+n)
	return true
}

// spent reports whether the tenant's day is used up.
func (l *Limiter) spent(now time.Time, tenant string) bool {
	quota := l.quota(tenant)
	if quota <= 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.days[tenant]
	return d != nil && d.number == now.Unix()/int64(dayLength/time.Second) && d.used >= quota
}

func (l *Limiter) quota(tenant string) int {
	if l.opts.Day == nil {
		return 0
	}
	return l.opts.Day(tenant)
}

// Busy reports whether requests wait for a place at the gate.
func (l *Limiter) Busy() bool {
	if l.gate == nil {
		return false
	}
	_, waiting := l.gate.Load()
	return waiting > 0
}

// Stats are the numbers of a limiter.
type Stats struct {
	Running, Waiting int
	Refused          map[string]int64 // by reason; all reasons are there
}

// Stats returns what runs and waits now and what was refused since the start.
func (l *Limiter) Stats() Stats {
	s := Stats{Refused: map[string]int64{}}
	if l.gate != nil {
		s.Running, s.Waiting = l.gate.Load()
	}
	for r := Rate; r < reasonCount; r++ {
		s.Refused[r.String()] = l.refused[r].Load()
	}
	return s
}

// Seconds writes a time as headers give it: whole seconds, rounded up, at
// least one.
func Seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
