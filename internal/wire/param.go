package wire

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

// Place is where a field travels.
type Place string

// The places.
const (
	InPath   Place = "path"
	InQuery  Place = "query"
	InHeader Place = "header"
	InBody   Place = "body"
)

// Param is one field of a request, or of a struct inside one, as its tags
// describe it (see the root package's documentation).
type Param struct {
	Name     string // the JSON name
	In       Place
	Header   string // the header's name, for InHeader
	Index    []int  // for reflect.Value.FieldByIndex
	Type     reflect.Type
	Required bool // its JSON tag has neither omitempty nor omitzero
	ReadOnly bool // set by the server only
	Doc      string
	Limits
}

// Limits are the bounds of a field's value; nil where there is none.
type Limits struct {
	Minimum, Maximum                         *float64
	MinLength, MaxLength, MinItems, MaxItems *int // lengths in code points
	Enum                                     []string
}

// Params returns the fields of a request that is sent with method, embedded
// structs flattened, in the order of the struct.
func Params(t reflect.Type, method string) []Param {
	if method == "GET" || method == "DELETE" {
		return fields(t, InQuery, nil)
	}
	return fields(t, InBody, nil)
}

// Fields returns the fields of any struct, as they stand in a JSON document.
func Fields(t reflect.Type) []Param { return fields(t, InBody, nil) }

func fields(t reflect.Type, in Place, prefix []int) []Param {
	var list []Param
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), prefix...), i)
		tag, tagged := f.Tag.Lookup("json")
		switch {
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Pointer: // all of them, or none
			for _, p := range fields(f.Type.Elem(), in, index) {
				p.Required = false
				list = append(list, p)
			}
			continue
		case f.Anonymous && !tagged:
			list = append(list, fields(f.Type, in, index)...)
			continue
		case !f.IsExported() || tag == "-" || !tagged:
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		p := Param{
			Name: name, In: in, Index: index, Type: f.Type, Doc: f.Tag.Get("doc"),
			Required: !strings.Contains(opts, "omit"),
			ReadOnly: f.Tag.Get("readOnly") == "true",
			Limits:   limits(f),
		}
		if where, ok := f.Tag.Lookup("in"); ok {
			place, header, _ := strings.Cut(where, ":")
			p.In, p.Header = Place(place), header
		}
		p.Required = p.Required || p.In == InPath
		list = append(list, p)
	}
	return list
}

func limits(f reflect.StructField) Limits {
	l := Limits{
		Minimum: floatTag(f, "minimum"), Maximum: floatTag(f, "maximum"),
		MinLength: intTag(f, "minLength"), MaxLength: intTag(f, "maxLength"),
		MinItems: intTag(f, "minItems"), MaxItems: intTag(f, "maxItems"),
	}
	if e := f.Tag.Get("enum"); e != "" {
		l.Enum = strings.Split(e, ",")
	}
	return l
}

func intTag(f reflect.StructField, key string) *int {
	n := floatTag(f, key)
	if n == nil {
		return nil
	}
	i := int(*n)
	return &i
}

// floatTag panics where a tag is not a number: tags are source code.
func floatTag(f reflect.StructField, key string) *float64 {
	s, ok := f.Tag.Lookup(key)
	if !ok {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("wire: the tag %s of %s is not a number", key, f.Name))
	}
	return &n
}

// IsID reports whether a field of this name holds an id that must satisfy
// yiku.CheckID.
func IsID(name string) bool {
	switch name {
	case "id", "user_id", "session_id", "project_id", "task_id", "agent_id", "new_session_id", "up_to", "idempotency_key":
		return true
	}
	return false
}

// OptOf returns T where t is yiku.Opt[T].
func OptOf(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[yiku.Owner]().PkgPath() || !strings.HasPrefix(t.Name(), "Opt[") {
		return nil, false
	}
	return t.Field(2).Type, true
}

// Zero says what is wrong where the field is given and holds its type's zero
// value, which a request struct cannot tell from an absent field; it is empty
// where zero is as good as any value.
func (p Param) Zero() string {
	switch p.Type.Kind() {
	case reflect.String:
		if p.In != InBody || IsID(p.Name) || p.Enum != nil || (p.MinLength != nil && *p.MinLength > 0) {
			return "must not be empty"
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		if p.Minimum != nil && *p.Minimum > 0 {
			return "must be at least " + strconv.FormatFloat(*p.Minimum, 'f', -1, 64)
		}
	}
	return ""
}

// Parse reads the text of a path, query or header parameter. Its second result
// says what is wrong, and never holds the text.
func (p Param) Parse(s string) (reflect.Value, string) {
	v := reflect.New(p.Type).Elem()
	if s == "" {
		return v, "must not be empty"
	}
	var err error
	switch {
	case p.Type == reflect.TypeFor[time.Time]():
		var t time.Time
		err = t.UnmarshalText([]byte(s)) // stricter than time.Parse
		v.Set(reflect.ValueOf(t))
		if _, east := t.Zone(); max(east, -east) >= int(24*time.Hour/time.Second) {
			return v, "must be " + Describe(p.Type)
		}
		if err == nil && t.IsZero() {
			return v, "must lie after the beginning of the year 1"
		}
	case p.Type.Kind() == reflect.String:
		v.SetString(s)
	case p.Type.Kind() == reflect.Bool:
		v.SetBool(s == "true")
		if s != "true" && s != "false" {
			return v, "must be true or false"
		}
	case p.Type.Kind() == reflect.Int, p.Type.Kind() == reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(s, 10, 64)
		v.SetInt(n)
	case p.Type.Kind() == reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(s, 64)
		v.SetFloat(f)
	default:
		panic("wire: " + p.Name + " cannot be a parameter")
	}
	if err != nil {
		return v, "must be " + Describe(p.Type)
	}
	if v.IsZero() {
		return v, p.Zero()
	}
	return v, ""
}

// Format writes a parameter's value as [Param.Parse] reads it; it is false
// where the value is absent.
func (p Param) Format(v reflect.Value) (string, bool) {
	if v.IsZero() {
		return "", false
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano), true
	default:
		return fmt.Sprint(x), true
	}
}

// Describe names a type for a person, with its article.
func Describe(t reflect.Type) string {
	if elem, ok := OptOf(t); ok {
		return Describe(elem) + " or null"
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return "an RFC 3339 time"
	case reflect.TypeFor[yiku.Content]():
		return "a string or an array of parts"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return Describe(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "another value"
}
