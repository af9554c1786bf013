package limit

import "testing"

// TestR17_FlightIsShared: a tenant may hold as much as it leaves free, another
// still finds room, and what is given back is free again.
func TestR17_FlightIsShared(t *testing.T) {
	t.Parallel()
	const unit = flightCost
	f := NewFlight(8 * unit)
	var held []*Passage
	fill := func(tenant string) (n int) {
		for {
			p, ok := f.Begin(tenant, 0)
			if !ok {
				p.End()
				return n
			}
			held = append(held, p)
			n++
		}
	}
	if got := fill("greedy"); got != 4 {
		t.Errorf("a tenant alone holds %d of 8, want 4", got)
	}
	if got := fill("other"); got != 2 {
		t.Errorf("a second tenant holds %d of the 4 that are left, want 2", got)
	}
	if held[0].Grow(1) {
		t.Error("a body grew beyond the bound")
	}
	for range 2 { // to end twice gives nothing twice
		for _, p := range held {
			p.End()
		}
	}
	if f.held != 0 || len(f.by) != 0 {
		t.Errorf("%d bytes are held by %d tenants after all ended", f.held, len(f.by))
	}
	if p, ok := NewFlight(0).Begin("t", 1<<40); !ok { // control: without a bound all pass
		t.Error("refused without a bound")
	} else {
		p.End()
	}
}
