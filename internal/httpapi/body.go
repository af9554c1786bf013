package httpapi

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/wire"
)

// bodyDecoder reads a body into those fields of a request that travel in it.
// Its struct has just these fields, so that a field of the path or the query
// is an unknown member of the body.
type bodyDecoder struct {
	all    []wire.Param // of the whole request, for messages
	fields []wire.Param
	shape  reflect.Type
	opts   json.Options
	hollow *hollow // what may be absent and not empty
	look   bool    // whatever the body holds
}

func newBodyDecoder(params []wire.Param) *bodyDecoder {
	d := &bodyDecoder{all: params, opts: decodeOptions(), hollow: &hollow{members: map[string]*hollow{}}}
	hollows := &hollows{types: map[reflect.Type]*hollow{}}
	var shape []reflect.StructField
	for _, p := range params {
		if p.In != wire.InBody {
			continue
		}
		shape = append(shape, reflect.StructField{
			Name: "F" + strconv.Itoa(len(d.fields)), Type: p.Type, Tag: reflect.StructTag(`json:"` + p.Name + `"`),
		})
		if h := hollows.field(p); h != nil {
			d.hollow.members[p.Name] = h
		}
		d.fields = append(d.fields, p)
	}
	d.shape, d.look = reflect.StructOf(shape), hollows.numbers
	return d
}

// decodeOptions are strict: names are matched exactly, unknown and duplicate
// ones refused, as are invalid UTF-8 and lone surrogates (the decoder's own
// defaults), and free-form numbers keep their value.
func decodeOptions() json.Options {
	return json.JoinOptions(
		json.RejectUnknownMembers(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(
			json.UnmarshalFromFunc(decodeNumber),
			json.UnmarshalFromFunc(decodeFilter),
			json.UnmarshalFromFunc(decodeOpt),
			json.UnmarshalFromFunc(decodeText),
			json.UnmarshalFromFunc(decodeTime),
		)),
	)
}

// The faults that the functions below find.
var (
	errNumber = errors.New("number out of range")
	errTime   = errors.New("time out of range")
)

// decodeNumber keeps the value of numbers in free-form trees.
func decodeNumber(d *jsontext.Decoder, v *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	n, ok := wire.Number(stdjson.Number(raw))
	if !ok {
		return errNumber
	}
	*v = n
	return nil
}

// decodeFilter reads a filter with the options of the body, where its own
// method would match names loosely and cut numbers.
func decodeFilter(d *jsontext.Decoder, f *yiku.Filter) error {
	type plain yiku.Filter
	return json.UnmarshalDecode(d, (*plain)(f))
}

// decodeOpt does the same for the fields of merge patches.
func decodeOpt(d *jsontext.Decoder, o interface {
	IsZero() bool
	UnmarshalJSON([]byte) error
}) error {
	v := reflect.ValueOf(o).Elem()
	if _, ok := wire.OptOf(v.Type()); !ok {
		return errors.ErrUnsupported
	}
	v.SetZero()
	v.Field(0).SetBool(true)
	if d.PeekKind() == 'n' {
		v.Field(1).SetBool(true)
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, v.Field(2).Addr().Interface())
}

// decodeText reads the common form of a message's content without a detour
// through the content's own method, which reads the others.
func decodeText(d *jsontext.Decoder, c *yiku.Content) error {
	if d.PeekKind() != '"' {
		return errors.ErrUnsupported
	}
	*c = yiku.Content{}
	return json.UnmarshalDecode(d, &c.Text)
}

// decodeTime refuses the one time that would be taken for an absent one.
func decodeTime(d *jsontext.Decoder, t *time.Time) error {
	if d.PeekKind() != '"' {
		return errors.ErrUnsupported
	}
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, t); err != nil {
		return err
	}
	if t.IsZero() {
		return errTime
	}
	return nil
}

// decode reads a body into req. Its error names a field, and never holds a
// value.
func (d *bodyDecoder) decode(raw []byte, req reflect.Value) error {
	if check.Depth(raw) > MaxNesting {
		return yiku.Invalid("body", "must nest at most %d deep", MaxNesting)
	}
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return yiku.Invalid("body", "must be a JSON object")
	}
	shape := reflect.New(d.shape)
	if err := json.Unmarshal(raw, shape.Interface(), d.opts); err != nil {
		return d.explain(err)
	}
	if d.look || mayBeHollow(raw) {
		if faults := d.hollow.look(raw); len(faults) > 0 {
			return &yiku.Error{Sentinel: yiku.ErrInvalid, Fields: faults}
		}
	}
	for i, p := range d.fields {
		req.FieldByIndex(p.Index).Set(shape.Elem().Field(i))
	}
	return nil
}

// explain turns a decoder's error into one that names the field in our words:
// the decoder's own text can hold values.
func (d *bodyDecoder) explain(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic):
		field, _, _ := d.locate(syntactic.JSONPointer)
		return yiku.Invalid(field, "%s", syntaxFault(syntactic))
	case errors.As(err, &semantic):
		field, t, elsewhere := d.locate(semantic.JSONPointer)
		switch {
		case errors.Is(err, errNumber):
			return yiku.Invalid(field, "holds a number out of range")
		case errors.Is(err, errTime):
			return yiku.Invalid(field, "must lie after the beginning of the year 1")
		case errors.Is(err, json.ErrUnknownName) && elsewhere != "":
			return yiku.Invalid(field, "travels in the %s, not in the body", elsewhere)
		case errors.Is(err, json.ErrUnknownName):
			return yiku.Invalid(field, "is not a known field")
		case t != nil:
			return yiku.Invalid(field, "must be %s", wire.Describe(t))
		}
		return yiku.Invalid(field, "has the wrong type")
	}
	return yiku.Invalid("body", "is not valid JSON")
}

func syntaxFault(e *jsontext.SyntacticError) string {
	switch text := e.Err.Error(); {
	case errors.Is(e, jsontext.ErrDuplicateName):
		return "holds a name twice"
	case strings.Contains(text, "UTF-8"), strings.Contains(text, "surrogate"):
		return "must be valid Unicode text"
	case strings.Contains(text, "unexpected EOF"):
		return "ends too early"
	}
	return "is not valid JSON"
}

// locate turns the decoder's pointer into a path of ours, with the type that
// stands there and, for a field that travels elsewhere, its place. It stops
// where the document is free-form: names in there are the caller's words.
func (d *bodyDecoder) locate(pointer jsontext.Pointer) (path string, t reflect.Type, elsewhere wire.Place) {
	params := d.all
	for token := range pointer.Tokens() {
		t = unwrap(t)
		switch {
		case params == nil && t != nil && t.Kind() == reflect.Slice && isIndex(token):
			path, t = path+"["+token+"]", t.Elem()
		case params == nil && t != nil && t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
			path, t = path+".*", t.Elem()
		case params == nil && (t == nil || t.Kind() != reflect.Struct || t == reflect.TypeFor[yiku.Content]()):
			return orBody(path), t, ""
		default:
			if params == nil {
				params = wire.Fields(t)
			}
			if path != "" {
				path += "."
			}
			p, ok := find(params, token)
			if !ok {
				return path + safeName(token), nil, ""
			}
			path, t = path+token, p.Type
			if p.In != wire.InBody {
				return path, t, p.In
			}
		}
		params = nil
	}
	return orBody(path), t, ""
}

func orBody(path string) string {
	if path == "" {
		return "body"
	}
	return path
}

// unwrap takes pointers and Opt off a type.
func unwrap(t reflect.Type) reflect.Type {
	for t != nil {
		if elem, ok := wire.OptOf(t); ok {
			t = elem
		} else if t.Kind() == reflect.Pointer {
			t = t.Elem()
		} else {
			return t
		}
	}
	return nil
}

func isIndex(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func find(params []wire.Param, name string) (wire.Param, bool) {
	for _, p := range params {
		if p.Name == name {
			return p, true
		}
	}
	return wire.Param{}, false
}
