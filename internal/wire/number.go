package wire

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/yiku-ai/yiku"
)

// Number returns a JSON number as a float64 where that keeps its value
// (at most 15 significant digits), and as it is otherwise, so that 64-bit ids
// in metadata survive. It is false where no float64 is near it, such as 1e400.
func Number(n json.Number) (any, bool) {
	f, err := n.Float64()
	if err != nil {
		return nil, false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	digits := strings.Trim(strings.TrimLeft(mantissa, "-0."), ".")
	count := len(strings.ReplaceAll(digits, ".", ""))
	if count > 15 || (f == 0 && count > 0) {
		return n, true
	}
	return f, true
}

// Numbers replaces every json.Number in the free-form trees (metadata, slots,
// operands) below v, a pointer, by what [Number] makes of it.
func Numbers(v any) { numbers(reflect.ValueOf(v)) }

func numbers(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[yiku.Content]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				numbers(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 || v.Type().Elem().Kind() == reflect.String {
			return
		}
		for i := range v.Len() {
			numbers(v.Index(i))
		}
	case reflect.Map:
		numbersInMap(v)
	case reflect.Interface:
		if v.CanSet() && !v.IsNil() {
			v.Set(reflect.ValueOf(plain(v.Interface())))
		}
	}
}

func numbersInMap(v reflect.Value) {
	if v.Type().Elem().Kind() != reflect.Interface {
		return
	}
	for _, key := range v.MapKeys() {
		if x := plain(v.MapIndex(key).Interface()); x != nil {
			v.SetMapIndex(key, reflect.ValueOf(x))
		}
	}
}

// plain changes trees in place, and returns what stands for a number.
func plain(x any) any {
	switch x := x.(type) {
	case json.Number:
		if n, ok := Number(x); ok {
			return n
		}
	case map[string]any:
		for k, e := range x {
			x[k] = plain(e)
		}
	case []any:
		for i, e := range x {
			x[i] = plain(e)
		}
	}
	return x
}
