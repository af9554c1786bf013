package wire

import (
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// BadText finds a text below v, a request, that is not valid UTF-8: encoding
// would change it without a word. It names the field and is false where there
// is one. Names inside free-form trees are left out.
func BadText(v any) (field string, ok bool) { return badText(reflect.ValueOf(v), "") }

func badText(v reflect.Value, path string) (string, bool) {
	switch v.Kind() {
	case reflect.String:
		return path, utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return badText(v.Elem(), path)
		}
	case reflect.Slice:
		return badList(v, path)
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !utf8.ValidString(it.Key().String()) {
				return path, false
			}
			if _, ok := badText(it.Value(), path); !ok {
				return path, false
			}
		}
	case reflect.Struct:
		if v.Type() != reflect.TypeFor[time.Time]() {
			return badFields(v, path)
		}
	}
	return "", true
}

func badList(v reflect.Value, path string) (string, bool) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return path, utf8.Valid(v.Bytes())
	}
	for i := range v.Len() {
		if at, ok := badText(v.Index(i), path+"["+strconv.Itoa(i)+"]"); !ok {
			return at, false
		}
	}
	return "", true
}

func badFields(v reflect.Value, path string) (string, bool) {
	t := v.Type()
	if _, opt := OptOf(t); opt {
		return badText(v.Field(2), path)
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		at := path
		switch {
		case name == "-":
			continue
		case name != "" && path != "":
			at = path + "." + name
		case name != "":
			at = name
		}
		if at, ok := badText(v.Field(i), at); !ok {
			return at, false
		}
	}
	return "", true
}
