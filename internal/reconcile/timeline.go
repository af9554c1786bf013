package reconcile

import (
	"time"

	"github.com/yiku-ai/yiku"
)

// Arrangement is how a value of a single-valued attribute takes its time
// beside the other values, so that no two of them hold at once.
type Arrangement struct {
	ValidTo time.Time     // until when the candidate holds; zero: no end
	Changed []yiku.Memory // the others whose time changes, with the new one
	Against *yiku.Memory  // the one that the candidate may not shorten; then nothing changes
}

// Arrange finds the time of a candidate among the other values of its
// single-valued attribute, present and past, in whatever order they arrive:
//
//	the candidate holds until the next value begins, or until its own end
//	a value that holds when the candidate begins ends there
//	a candidate that is over before now leaves the present value in place,
//	which begins where the candidate ends
//	a correction takes the place of every value in its time
//	what trusts its origin more, or is firm where the candidate is hedged, is
//	not shortened: the candidate waits for a person
//
// A value that loses all of its time ends where it begins.
func Arrange(candidate yiku.Memory, others []yiku.Memory, now time.Time) Arrangement {
	out := Arrangement{ValidTo: candidate.ValidTo}
	if candidate.Type != yiku.TypeCorrection {
		for _, o := range others {
			if !never(o) && o.ValidFrom.After(candidate.ValidFrom) && before(o.ValidFrom, out.ValidTo) {
				out.ValidTo = o.ValidFrom
			}
		}
	}
	candidate.ValidTo = out.ValidTo
	for i, o := range others {
		if !Overlap(o, candidate) {
			continue
		}
		if mayNotOverturn(candidate, o) {
			return Arrangement{ValidTo: candidate.ValidTo, Against: &others[i]}
		}
		switch {
		case !before(now, candidate.ValidTo) && before(now, o.ValidTo):
			o.ValidFrom = candidate.ValidTo
		case o.ValidFrom.Before(candidate.ValidFrom):
			o.ValidTo = candidate.ValidFrom
		default:
			o.ValidTo = o.ValidFrom
		}
		out.Changed = append(out.Changed, o)
	}
	return out
}

// Overlap reports whether two memories hold at the same time at some time.
func Overlap(a, b yiku.Memory) bool {
	return !never(a) && !never(b) && before(a.ValidFrom, b.ValidTo) && before(b.ValidFrom, a.ValidTo)
}

// never reports whether a memory has lost all of its time.
func never(m yiku.Memory) bool { return !before(m.ValidFrom, m.ValidTo) }

// before reports whether a time lies before an end; a zero one is no end.
func before(t, end time.Time) bool { return end.IsZero() || t.Before(end) }

// mayNotOverturn reports whether a candidate is too weak against a memory that
// says otherwise.
func mayNotOverturn(candidate, m yiku.Memory) bool {
	return m.Trust > candidate.Trust ||
		candidate.Type != yiku.TypeCorrection && m.Confidence >= firm && candidate.Confidence < firm
}
