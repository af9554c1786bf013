package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
	"github.com/yiku-ai/yiku/internal/wire"
)

// lookOf chooses how a field of a name and type is looked at. It panics for a
// type that requests do not use: types are source code.
func lookOf(name string, t reflect.Type) look {
	switch t {
	case reflect.TypeFor[time.Time]():
		return lookTime
	case reflect.TypeFor[yiku.Content]():
		return lookContent
	case reflect.TypeFor[yiku.RawJSON]():
		return lookRaw
	case reflect.TypeFor[*yiku.Filter]():
		return lookFilter
	}
	if _, ok := wire.OptOf(t); ok {
		return lookOpt
	}
	switch t.Kind() {
	case reflect.String:
		switch {
		case wire.IsID(name):
			return lookID
		case name == "timezone":
			return lookTimezone
		case name == "if_match":
			return lookETags
		}
		return lookText
	case reflect.Int, reflect.Int64, reflect.Float64:
		return lookNumber
	case reflect.Bool:
		return lookNothing
	case reflect.Pointer:
		return lookPointer
	case reflect.Struct:
		return lookStruct
	case reflect.Interface:
		return lookTree
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Interface {
			return lookTree
		}
		return lookList
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return lookTree
		}
		return lookMap
	}
	panic("check: " + name + " has a type that requests do not use")
}

// value looks at a value that is given. It may be zero behind a pointer or in
// an Opt, where zero is a value like any other.
func (w *walk) value(r *rule, how look, v reflect.Value) {
	switch how {
	case lookText, lookID, lookTimezone, lookETags:
		w.text(r, how, v.String())
	case lookNumber:
		w.number(r, v)
	case lookTime:
		if y := v.Interface().(time.Time).UTC().Year(); y < 1 || y > 9999 {
			w.fault("must lie in the years 1 to 9999")
		}
	case lookContent:
		w.content(v.Interface().(yiku.Content))
	case lookRaw:
		w.raw(v.Bytes())
	case lookFilter:
		w.filter(v)
	case lookTree:
		w.count(r, v)
		w.tree(r, v)
	case lookList:
		w.list(r, v)
	case lookMap:
		w.mapping(r, v)
	case lookStruct:
		w.object(v)
	case lookPointer:
		w.value(r, lookOf(r.Name, v.Type().Elem()), v.Elem())
	case lookOpt:
		if null := v.Field(1).Bool(); !null {
			value := v.Field(2)
			w.value(r, lookOf(r.Name, value.Type()), value)
		}
	}
}

func (w *walk) text(r *rule, how look, s string) {
	if how == lookID && s != "" {
		var e *yiku.Error
		if errors.As(yiku.CheckID("", s), &e) {
			w.fault(e.Fields[0].Message)
		}
		return
	}
	if !w.clean(s) {
		return
	}
	if m := lengthFault(r, s); m != "" {
		w.fault(m)
	}
	if r.MinLength != nil && s != "" && !says(s) {
		w.fault("must say something")
	}
	if r.Enum != nil && !slices.Contains(r.Enum, s) {
		w.fault("must be one of " + strings.Join(r.Enum, ", "))
	}
	switch how {
	case lookTimezone:
		if _, err := time.LoadLocation(s); err != nil || s == "Local" {
			w.fault("must be the name of an IANA time zone")
		}
	case lookETags:
		if !wire.ValidETags(s) {
			w.fault(`must be *, or entity tags such as "3"`)
		}
	}
}

// says reports whether a text has anything that can be seen.
func says(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !lang.Invisible(r) })
}

// clean reports whether a text can be stored.
func (w *walk) clean(s string) bool {
	switch {
	case !utf8.ValidString(s):
		w.fault("must be valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		w.fault("must not hold NUL")
	default:
		return true
	}
	return false
}

func lengthFault(r *rule, s string) string {
	if most := r.MaxLength; most != nil && len(s) > *most && utf8.RuneCountInString(s) > *most {
		return fmt.Sprintf("must have at most %d characters", *most)
	}
	if least := r.MinLength; least != nil && len(s) < *least*utf8.UTFMax && utf8.RuneCountInString(s) < *least {
		return fmt.Sprintf("must have at least %d characters", *least)
	}
	return ""
}

func (w *walk) number(r *rule, v reflect.Value) {
	var n float64
	if v.Kind() == reflect.Float64 {
		n = v.Float()
	} else {
		n = float64(v.Int())
	}
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		w.fault("must be a number")
	case r.Minimum != nil && n < *r.Minimum:
		w.fault("must be at least " + strconv.FormatFloat(*r.Minimum, 'f', -1, 64))
	case r.Maximum != nil && n > *r.Maximum:
		w.fault("must be at most " + strconv.FormatFloat(*r.Maximum, 'f', -1, 64))
	}
}

// count checks how many items a list, or keys a map, may have.
func (w *walk) count(r *rule, v reflect.Value) bool {
	switch {
	case v.Kind() != reflect.Slice && v.Kind() != reflect.Map:
	case r.MaxItems != nil && v.Len() > *r.MaxItems:
		w.fault(fmt.Sprintf("must have at most %d items", *r.MaxItems))
		return false
	case r.MinItems != nil && v.Len() < *r.MinItems:
		w.fault(fmt.Sprintf("must have at least %d items", *r.MinItems))
		return false
	}
	return true
}

func (w *walk) list(r *rule, v reflect.Value) {
	if !w.count(r, v) {
		return
	}
	ids := r.Name == "derived_from" || r.Name == "ids"
	for i := range v.Len() {
		w.at = append(w.at, segment{index: i})
		if e := v.Index(i); e.Kind() == reflect.String {
			w.item(r, e.String(), ids)
		} else {
			w.value(r, lookOf(r.Name, e.Type()), e)
		}
		w.at = w.at[:len(w.at)-1]
	}
}

// item looks at a string in a list: an id, one of an enum, or a short text.
func (w *walk) item(r *rule, s string, id bool) {
	switch {
	case s == "":
		w.fault("must not be empty")
	case id:
		w.text(r, lookID, s)
	case r.Enum != nil:
		if !slices.Contains(r.Enum, s) {
			w.fault("must be one of " + strings.Join(r.Enum, ", "))
		}
	case !w.clean(s):
	case len(s) > MaxItem && utf8.RuneCountInString(s) > MaxItem:
		w.fault(fmt.Sprintf("must have at most %d characters", MaxItem))
	}
}

// mapping looks at a map to structs. Keys are the caller's words, so a path
// has a star in their place.
func (w *walk) mapping(r *rule, v reflect.Value) {
	if !w.count(r, v) {
		return
	}
	w.at = append(w.at, segment{name: "*"})
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		w.item(&rule{}, k.String(), false)
		w.value(r, lookOf(r.Name, v.Type().Elem()), v.MapIndex(k))
	}
	w.at = w.at[:len(w.at)-1]
}

func (w *walk) content(c yiku.Content) {
	if len(c.Parts) == 0 {
		w.clean(c.Text)
		return
	}
	for i, p := range c.Parts {
		w.at = append(w.at, segment{index: i})
		if raw, err := p.MarshalJSON(); err != nil {
			w.fault("must be a JSON object with a type")
		} else if p.Type == "" {
			w.fault("must have a type")
		} else if w.clean(p.Text) {
			w.raw(raw)
		}
		w.at = w.at[:len(w.at)-1]
	}
}

// raw looks at a JSON text that is kept as it came.
func (w *walk) raw(b []byte) {
	switch {
	case !jsontext.Value(b).IsValid():
		w.fault("must be valid JSON without duplicate names, in valid UTF-8")
	case holdsNUL(b):
		w.fault("must not hold NUL")
	case Depth(b) > 2*MaxDepth:
		w.fault(fmt.Sprintf("must nest at most %d deep", 2*MaxDepth))
	}
}

// holdsNUL reports whether a valid JSON text has an escaped NUL.
func holdsNUL(b []byte) bool {
	escape := []byte(`\u0000`)
	for from := 0; ; {
		i := bytes.Index(b[from:], escape)
		if i < 0 {
			return false
		}
		at, slashes := from+i, 0
		for at-slashes > 0 && b[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return true
		}
		from = at + len(escape)
	}
}

// Depth returns how deep the arrays and objects of a JSON text nest. The text
// need not be valid: what stands outside strings is counted.
func Depth(b []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// filter asks the filter itself first: it bounds what is then looked through.
func (w *walk) filter(v reflect.Value) {
	f := v.Interface().(*yiku.Filter)
	var e *yiku.Error
	if err := f.Validate(w.path()); errors.As(err, &e) {
		w.take(e.Fields)
		return
	}
	w.filterTexts(f)
}

// filterTexts looks at the texts of a valid filter, each where it stands.
func (w *walk) filterTexts(f *yiku.Filter) {
	if f == nil {
		return
	}
	w.below("field", func() {
		if w.clean(f.Field) && utf8.RuneCountInString(f.Field) > MaxItem {
			w.fault(fmt.Sprintf("must name a field of at most %d characters", MaxItem))
		}
	})
	w.below("value", func() { w.tree(&rule{}, reflect.ValueOf(&f.Value).Elem()) })
	w.below("not", func() { w.filterTexts(f.Not) })
	for i := range f.And {
		w.below("and", func() { w.branch(i, &f.And[i]) })
	}
	for i := range f.Or {
		w.below("or", func() { w.branch(i, &f.Or[i]) })
	}
}

func (w *walk) branch(i int, f *yiku.Filter) {
	w.at = append(w.at, segment{index: i})
	w.filterTexts(f)
	w.at = w.at[:len(w.at)-1]
}

// below runs a look at what stands under a name.
func (w *walk) below(name string, look func()) {
	w.at = append(w.at, segment{name: name})
	look()
	w.at = w.at[:len(w.at)-1]
}

// tree looks through a free-form value: JSON types and Go's numbers, valid
// texts, bounded in depth and size. It names the first fault only, at the
// field itself: keys are the caller's words.
func (w *walk) tree(r *rule, v reflect.Value) {
	size := treeSize{most: MaxTree}
	if r.Name == "metadata" { // it comes along in every list
		size.most = MaxMetadata
	}
	if m := treeFault(v.Interface(), 1, &size); m != "" {
		w.fault(m)
	}
}

// treeSize is what was seen of a tree.
type treeSize struct{ values, bytes, most int }

// text looks at a key or a text of a tree.
func (t *treeSize) text(s string) string {
	if t.bytes += len(s); t.bytes > t.most {
		return fmt.Sprintf("must hold at most %d bytes of text", t.most)
	}
	return textFault(s)
}

func treeFault(x any, depth int, size *treeSize) string {
	if size.values++; size.values > MaxTreeSize {
		return fmt.Sprintf("must hold at most %d values", MaxTreeSize)
	}
	switch x := x.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return ""
	case float64:
		return floatFault(x)
	case float32:
		return floatFault(float64(x))
	case json.Number:
		if _, ok := wire.Number(x); !ok || !jsontext.Value(x).IsValid() || jsontext.Value(x).Kind() != '0' {
			return "holds a number out of range"
		}
		return ""
	case string:
		return size.text(x)
	case time.Time:
		return ""
	case map[string]any:
		return mapFault(x, depth, size)
	case yiku.Metadata:
		return mapFault(x, depth, size)
	case []any:
		return listFault(x, depth, size)
	}
	return otherFault(reflect.ValueOf(x), depth, size)
}

func mapFault(m map[string]any, depth int, size *treeSize) string {
	if depth > MaxDepth {
		return tooDeep()
	}
	least, fault := "", "" // of several faults that of the first key, so that an error does not depend on the map's order
	for k, v := range m {
		f := size.text(k)
		if f == "" {
			f = treeFault(v, depth+1, size)
		}
		if f != "" && (fault == "" || k < least) {
			least, fault = k, f
		}
	}
	return fault
}

func listFault(l []any, depth int, size *treeSize) string {
	if depth > MaxDepth {
		return tooDeep()
	}
	for _, v := range l {
		if f := treeFault(v, depth+1, size); f != "" {
			return f
		}
	}
	return ""
}

// otherFault takes Go's typed lists and maps, such as []string, apart.
func otherFault(v reflect.Value, depth int, size *treeSize) string {
	switch {
	case v.Kind() == reflect.String:
		return size.text(v.String())
	case depth > MaxDepth:
		return tooDeep()
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for i := range v.Len() {
			if f := treeFault(v.Index(i).Interface(), depth+1, size); f != "" {
				return f
			}
		}
		return ""
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		for it := v.MapRange(); it.Next(); {
			if f := size.text(it.Key().String()); f != "" {
				return f
			}
			if f := treeFault(it.Value().Interface(), depth+1, size); f != "" {
				return f
			}
		}
		return ""
	}
	return "must hold JSON values only"
}

func tooDeep() string { return fmt.Sprintf("must nest at most %d deep", MaxDepth) }

func floatFault(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "holds a number out of range"
	}
	return ""
}

func textFault(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "must be valid UTF-8"
	case strings.IndexByte(s, 0) >= 0:
		return "must not hold NUL"
	}
	return ""
}
