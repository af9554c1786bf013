package index

import "github.com/yiku-ai/yiku"

// Relax returns the tightest filter over supported fields that every item
// matching the valid filter matches too: what an index without a column for
// some field may filter by. A condition on a field that is not supported
// becomes true where it stands under an even number of nots and false under an
// odd number, so that dropping it can only let more through. nil, which
// matches everything, where nothing is left. The given filter is not changed.
func Relax(filter *yiku.Filter, supported func(field string) bool) *yiku.Filter {
	if filter == nil {
		return nil
	}
	return relax(filter, supported, true)
}

// relax returns nil for the constant: true where positive, false where not.
func relax(f *yiku.Filter, supported func(string) bool, positive bool) *yiku.Filter {
	switch {
	case f.Not != nil:
		inner := relax(f.Not, supported, !positive)
		if inner == nil {
			return nil
		}
		return &yiku.Filter{Not: inner}
	case f.And != nil:
		// In an and, true is left out and false decides; here the constant is
		// true where positive.
		list, whole := relaxAll(f.And, supported, positive)
		if len(list) == 0 || !positive && !whole {
			return nil
		}
		return &yiku.Filter{And: list}
	case f.Or != nil:
		list, whole := relaxAll(f.Or, supported, positive)
		if len(list) == 0 || positive && !whole {
			return nil
		}
		return &yiku.Filter{Or: list}
	}
	if !supported(f.Field) {
		return nil
	}
	leaf := *f
	return &leaf
}

// relaxAll relaxes each filter and drops the constants; whole reports that
// there were none.
func relaxAll(filters []yiku.Filter, supported func(string) bool, positive bool) (list []yiku.Filter, whole bool) {
	for i := range filters {
		if f := relax(&filters[i], supported, positive); f != nil {
			list = append(list, *f)
		}
	}
	return list, len(list) == len(filters)
}
