package indextest

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
)

// Item is a generated item with its fields.
type Item struct {
	values   map[string]any
	Metadata yiku.Metadata
}

// Fields gives the fields but for metadata, as an index.Doc has them.
func (i Item) Fields(field string) (any, bool) {
	v, ok := i.values[field]
	return v, ok
}

// Get gives all fields, as a filter asks for them.
func (i Item) Get(field string) (any, bool) {
	if key, ok := strings.CutPrefix(field, "metadata."); ok {
		v, ok := i.Metadata[key]
		return v, ok && v != nil // null is absent
	}
	return i.Fields(field)
}

// epoch is the time that generated times are near to.
func epoch() time.Time { return time.Date(2024, 3, 15, 8, 0, 0, 0, time.UTC) }

func words() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", "a", "b", "ab", "茶", "茶杯", "fact"})
}

func timeGen() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		return epoch().Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "step")) * 500 * time.Nanosecond)
	})
}

func numberGen() *rapid.Generator[float64] { return rapid.SampledFrom([]float64{0, .5, 1, -1}) }

// jsonGen makes values that JSON may hold.
func jsonGen() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Map(words(), func(s string) any { return s }),
		rapid.Map(numberGen(), func(f float64) any { return f }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.SliceOfN(words(), 0, 3), func(list []string) any {
			out := make([]any, len(list))
			for i := range list {
				out[i] = list[i]
			}
			return out
		}),
		rapid.Just[any](nil),
	)
}

// fieldNames are the fields that are generated, some of each kind.
func fieldNames() map[string]yiku.FieldKind {
	all := yiku.FilterFields()
	out := make(map[string]yiku.FieldKind)
	for _, name := range []string{"id", "type", "project_id", "subject", "content", "topics", "pinned", "importance", "confidence", "created_at", "valid_to"} {
		out[name] = all[name]
	}
	return out
}

// DocGen makes items in which every field may be absent.
func DocGen() *rapid.Generator[Item] {
	return rapid.Custom(func(t *rapid.T) Item {
		item := Item{values: make(map[string]any)}
		for name, kind := range fieldNames() {
			if rapid.IntRange(0, 2).Draw(t, "absent") == 0 {
				continue
			}
			switch kind {
			case yiku.FieldNumber:
				item.values[name] = numberGen().Draw(t, name)
			case yiku.FieldTime:
				item.values[name] = timeGen().Draw(t, name)
			case yiku.FieldBool:
				item.values[name] = rapid.Bool().Draw(t, name)
			case yiku.FieldList:
				item.values[name] = rapid.SliceOfN(words(), 0, 3).Draw(t, name)
			default:
				item.values[name] = words().Draw(t, name)
			}
		}
		item.Metadata = rapid.MapOfN(rapid.SampledFrom([]string{"k", "城"}), jsonGen(), 0, 2).Draw(t, "metadata")
		return item
	})
}

// FilterGen makes valid filters, at most depth nots, ands and ors deep.
func FilterGen(depth int) *rapid.Generator[yiku.Filter] {
	return rapid.Custom(func(t *rapid.T) yiku.Filter {
		shape := rapid.IntRange(0, 5).Draw(t, "shape")
		if depth == 0 || shape > 2 {
			return leafGen().Draw(t, "leaf")
		}
		if shape == 0 {
			inner := FilterGen(depth-1).Draw(t, "not")
			return yiku.Filter{Not: &inner}
		}
		list := rapid.SliceOfN(FilterGen(depth-1), 1, 3).Draw(t, "list")
		if shape == 1 {
			return yiku.Filter{And: list}
		}
		return yiku.Filter{Or: list}
	})
}

func leafGen() *rapid.Generator[yiku.Filter] {
	names := make([]string, 0, 16)
	for name := range fieldNames() {
		names = append(names, name)
	}
	names = append(names, "metadata.k", "metadata.城", "metadata.none")
	return rapid.Custom(func(t *rapid.T) yiku.Filter {
		f := yiku.Filter{Field: rapid.SampledFrom(names).Draw(t, "field")}
		kind, known := fieldNames()[f.Field]
		if !known {
			kind = yiku.FieldAny
		}
		ops := []yiku.Op{yiku.OpEq, yiku.OpNe, yiku.OpIn, yiku.OpExists}
		switch kind {
		case yiku.FieldNumber, yiku.FieldTime:
			ops = append(ops, yiku.OpGt, yiku.OpGte, yiku.OpLt, yiku.OpLte)
		case yiku.FieldText:
			ops = append(ops, yiku.OpGt, yiku.OpLte, yiku.OpContains)
		case yiku.FieldList, yiku.FieldAny:
			ops = append(ops, yiku.OpContains)
		}
		f.Op = rapid.SampledFrom(ops).Draw(t, "op")
		switch f.Op {
		case yiku.OpExists:
			f.Value = rapid.Bool().Draw(t, "exists")
		case yiku.OpIn:
			f.Value = rapid.SliceOfN(operandGen(kind), 1, 3).Draw(t, "in")
		default:
			f.Value = operandGen(kind).Draw(t, "value")
		}
		return f
	})
}

func operandGen(kind yiku.FieldKind) *rapid.Generator[any] {
	text := rapid.Map(words(), func(s string) any { return s })
	number := rapid.Map(numberGen(), func(f float64) any { return f })
	truth := rapid.Map(rapid.Bool(), func(b bool) any { return b })
	switch kind {
	case yiku.FieldNumber:
		return number
	case yiku.FieldTime:
		return rapid.Map(timeGen(), func(t time.Time) any { return t.Format(time.RFC3339Nano) })
	case yiku.FieldBool:
		return truth
	case yiku.FieldAny:
		return rapid.OneOf(text, number, truth)
	}
	return text
}
