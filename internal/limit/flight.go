package limit

import "sync"

// flightCost is what a request costs while its body or its answer travels,
// beside the bytes of it that are held: its buffers and its connection.
const flightCost = 128 << 10

// Flight bounds the memory of bodies and answers that are between a caller and
// the server, where it is the caller who decides how long they take. A tenant
// may hold as much as it leaves free to the others, so that one of them alone
// gets half of all, and slow callers of one never keep those of another out.
type Flight struct {
	most int64

	mu   sync.Mutex
	held int64            // guarded by mu
	by   map[string]int64 // by tenant, without those that hold nothing; guarded by mu
}

// NewFlight returns a bound of most bytes; 0: no bound.
func NewFlight(most int64) *Flight { return &Flight{most: most, by: map[string]int64{}} }

// Begin takes the room of one body or answer of so many bytes, or reports that
// there is none.
func (f *Flight) Begin(tenant string, bytes int) (*Passage, bool) {
	p := &Passage{flight: f, tenant: tenant}
	return p, p.Grow(flightCost + bytes)
}

// Passage is the room that one body or answer has. It belongs to one goroutine.
type Passage struct {
	flight *Flight
	tenant string
	bytes  int64
}

// Grow takes room for more bytes, or reports that there is none.
func (p *Passage) Grow(bytes int) bool {
	f := p.flight
	f.mu.Lock()
	defer f.mu.Unlock()
	n := int64(bytes)
	if f.most > 0 && f.by[p.tenant]+n > f.most-f.held-n {
		return false
	}
	f.held += n
	f.by[p.tenant] += n
	p.bytes += n
	return true
}

// End gives the room back. It may be called again.
func (p *Passage) End() {
	f := p.flight
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held -= p.bytes
	if f.by[p.tenant] -= p.bytes; f.by[p.tenant] == 0 {
		delete(f.by, p.tenant)
	}
	p.bytes = 0
}
