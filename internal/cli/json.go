package cli

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// writeJSON writes a value for machines, indented. Lists that hold nothing are
// [], as they are over HTTP, whatever served them.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(listsOf(v))
}

// listsOf returns a value whose absent lists and maps are empty ones; those
// that are left out when absent stay absent.
func listsOf(v any) any {
	if v == nil {
		return nil
	}
	out := reflect.New(reflect.TypeOf(v)).Elem()
	out.Set(reflect.ValueOf(v))
	fillLists(out)
	return out.Interface()
}

func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			field := v.Field(i)
			if !strings.Contains(f.Tag.Get("json"), ",omit") {
				fillNil(field)
			}
			fillLists(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	}
}

func fillNil(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Slice && v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	case v.Kind() == reflect.Map && v.IsNil():
		v.Set(reflect.MakeMap(v.Type()))
	}
}
