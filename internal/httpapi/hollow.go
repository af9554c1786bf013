package httpapi

import (
	"bytes"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// maxHollow is how many empty fields one error names.
const maxHollow = 32

// hollow says where in a body a value may not be empty, although the field may
// be absent: once a body is read into a struct the two look alike. It is one
// place of a body's tree of types.
type hollow struct {
	zero    string             // what is wrong with the zero value; empty: nothing
	null    string             // what is wrong with null, which stands for an absent field, but not for an item
	members map[string]*hollow // those that something is asked of, of an object
	items   *hollow            // of an array, or of a map to structs
	star    bool               // items are those of a map: its keys are the caller's words
}

// hollows makes the trees of one operation.
type hollows struct {
	types   map[reflect.Type]*hollow // a type that holds itself is met again here
	numbers bool                     // something is asked of a number
}

// field returns the tree below a field, nil where nothing is asked.
func (b *hollows) field(p wire.Param) *hollow {
	h := &hollow{}
	t := unwrap(p.Type)
	if !p.Required {
		h.zero = p.Zero()
		b.numbers = b.numbers || (h.zero != "" && t.Kind() != reflect.String)
	}
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		if e := unwrap(t.Elem()); plainStruct(e) {
			h.items = b.object(e)
			h.star = t.Kind() == reflect.Map
		}
	} else if plainStruct(t) {
		h.members = b.object(t).members
	}
	if h.zero == "" && h.items == nil && h.members == nil {
		return nil
	}
	return h
}

// plainStruct reports whether a type is read field by field.
func plainStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && t != reflect.TypeFor[yiku.Content]()
}

func (b *hollows) object(t reflect.Type) *hollow {
	if h, ok := b.types[t]; ok {
		return h
	}
	h := &hollow{null: "must be an object", members: map[string]*hollow{}}
	b.types[t] = h
	for _, p := range wire.Fields(t) {
		if m := b.field(p); m != nil {
			h.members[p.Name] = m
		}
	}
	return h
}

// look goes through a body that is known to be valid and returns its empty
// values. What nothing is asked of is passed over.
func (h *hollow) look(body []byte) []yiku.FieldError {
	s := search{Decoder: jsontext.NewDecoder(bytes.NewReader(body))}
	s.value(h, "")
	return s.found
}

// mayBeHollow reports whether a body can hold something empty at all. Most
// texts hold nothing, and are not gone through twice.
func mayBeHollow(body []byte) bool {
	return bytes.Contains(body, []byte(`""`)) || bytes.Contains(body, []byte("null"))
}

// search is one walk through a body.
type search struct {
	*jsontext.Decoder
	found []yiku.FieldError
}

func (s *search) fault(path, message string) {
	if message != "" && len(s.found) < maxHollow {
		s.found = append(s.found, yiku.FieldError{Field: path, Message: message})
	}
}

// value looks at the next value. The body is valid, so nothing fails; if
// something did, the decoder would stay where it is and the walk would end.
func (s *search) value(h *hollow, path string) {
	kind := s.PeekKind()
	switch {
	case h == nil:
		_ = s.SkipValue() // see above
	case kind == 'n':
		s.fault(path, h.null)
		_ = s.SkipValue() // see above
	case kind == '{' && (h.members != nil || h.star):
		s.object(h, path)
	case kind == '[' && h.items != nil:
		s.array(h.items, path)
	default:
		raw, err := s.ReadValue()
		if err == nil && isEmpty(raw) {
			s.fault(path, h.zero)
		}
	}
}

func (s *search) object(h *hollow, path string) {
	_, err := s.ReadToken()
	for err == nil && s.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = s.ReadToken(); err != nil {
			return
		}
		at := path
		if at != "" {
			at += "."
		}
		if h.star {
			s.value(h.items, at+"*")
		} else {
			s.value(h.members[name.String()], at+name.String())
		}
	}
	if err == nil {
		_, _ = s.ReadToken() // see value
	}
}

func (s *search) array(item *hollow, path string) {
	_, err := s.ReadToken()
	for i := 0; err == nil && s.PeekKind() != ']' && s.PeekKind() != 0; i++ {
		s.value(item, path+"["+strconv.Itoa(i)+"]")
	}
	if err == nil {
		_, _ = s.ReadToken() // see value
	}
}

// isEmpty reports whether a JSON value is an empty string or a zero.
func isEmpty(raw jsontext.Value) bool {
	switch raw.Kind() {
	case '"':
		return len(raw) == 2
	case '0':
		n, err := strconv.ParseFloat(string(raw), 64)
		return err == nil && n == 0
	}
	return false
}
