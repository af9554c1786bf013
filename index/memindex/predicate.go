package memindex

import (
	"encoding/json"
	"math"
	"time"

	"github.com/yiku-ai/yiku"
)

// predicate decides whether a slot's document is wanted.
type predicate func(slot uint32) bool

// compile makes a predicate of a relaxed filter; nil for nil.
func (c *columns) compile(f *yiku.Filter) predicate {
	switch {
	case f == nil:
		return nil
	case f.And != nil:
		parts := c.compileAll(f.And)
		return func(slot uint32) bool {
			for _, p := range parts {
				if !p(slot) {
					return false
				}
			}
			return true
		}
	case f.Or != nil:
		parts := c.compileAll(f.Or)
		return func(slot uint32) bool {
			for _, p := range parts {
				if p(slot) {
					return true
				}
			}
			return false
		}
	case f.Not != nil:
		p := c.compile(f.Not)
		return func(slot uint32) bool { return !p(slot) }
	}
	if col, ok := c.numbers[f.Field]; ok {
		return numberLeaf(f, col)
	}
	if col, ok := c.times[f.Field]; ok {
		return timeLeaf(f, col)
	}
	if col, ok := c.values[f.Field]; ok {
		return valueLeaf(f, col)
	}
	absent := f.Match(func(string) (any, bool) { return nil, false })
	return func(uint32) bool { return absent }
}

func (c *columns) compileAll(filters []yiku.Filter) []predicate {
	parts := make([]predicate, len(filters))
	for i := range filters {
		parts[i] = c.compile(&filters[i])
	}
	return parts
}

// valueLeaf asks the filter itself, once for each value.
func valueLeaf(f *yiku.Filter, col *valueColumn) predicate {
	const unknown, no, yes = 0, 1, 2
	verdict := make([]uint8, len(col.table))
	return func(slot uint32) bool {
		id := uint32(0)
		if int(slot) < len(col.ids) {
			id = col.ids[slot]
		}
		if verdict[id] == unknown {
			verdict[id] = no
			if f.Match(func(string) (any, bool) { return col.table[id], id != 0 }) {
				verdict[id] = yes
			}
		}
		return verdict[id] == yes
	}
}

// verdicts are what a leaf says of each outcome of a comparison.
type verdicts struct{ less, equal, greater, absent bool }

func verdictsOf(f *yiku.Filter) verdicts {
	switch f.Op {
	case yiku.OpExists:
		want, _ := f.Value.(bool)
		return verdicts{want, want, want, !want}
	case yiku.OpNe:
		return verdicts{true, false, true, true}
	case yiku.OpGt:
		return verdicts{greater: true}
	case yiku.OpGte:
		return verdicts{equal: true, greater: true}
	case yiku.OpLt:
		return verdicts{less: true}
	case yiku.OpLte:
		return verdicts{less: true, equal: true}
	default: // eq, in
		return verdicts{equal: true}
	}
}

func (v verdicts) of(c int) bool {
	switch {
	case c < 0:
		return v.less
	case c > 0:
		return v.greater
	default:
		return v.equal
	}
}

// operands returns the values that a leaf compares with.
func operands(f *yiku.Filter) []any {
	if list, ok := f.Value.([]any); ok {
		return list
	}
	return []any{f.Value}
}

func numberLeaf(f *yiku.Filter, col []float64) predicate {
	v := verdictsOf(f)
	var want []float64
	for _, o := range operands(f) {
		switch n := o.(type) {
		case float64:
			want = append(want, n)
		case int:
			want = append(want, float64(n))
		case int64:
			want = append(want, float64(n))
		case json.Number:
			if x, err := n.Float64(); err == nil {
				want = append(want, x)
			}
		}
	}
	if f.Op == yiku.OpExists {
		want = []float64{0}
	}
	return func(slot uint32) bool {
		if int(slot) >= len(col) || math.IsNaN(col[slot]) {
			return v.absent
		}
		have := col[slot]
		for _, w := range want {
			c := 0
			if have < w {
				c = -1
			} else if have > w {
				c = 1
			}
			if v.of(c) {
				return true
			}
		}
		return false
	}
}

func timeLeaf(f *yiku.Filter, col []stamp) predicate {
	v := verdictsOf(f)
	var want []stamp
	for _, o := range operands(f) {
		switch t := o.(type) {
		case time.Time:
			want = append(want, stampOf(t))
		case string:
			if at, err := time.Parse(time.RFC3339Nano, t); err == nil {
				want = append(want, stampOf(at))
			}
		}
	}
	if f.Op == yiku.OpExists {
		want = []stamp{{}}
	}
	return func(slot uint32) bool {
		if int(slot) >= len(col) || col[slot].nsec == 0 {
			return v.absent
		}
		for _, w := range want {
			if v.of(col[slot].compare(w)) {
				return true
			}
		}
		return false
	}
}

func stampOf(t time.Time) stamp { return stamp{t.Unix(), int32(t.Nanosecond()) + 1} }

func (s stamp) compare(o stamp) int {
	switch {
	case s.sec < o.sec || s.sec == o.sec && s.nsec < o.nsec:
		return -1
	case s == o:
		return 0
	default:
		return 1
	}
}
