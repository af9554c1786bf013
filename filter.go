package yiku

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Filter is a closed tree of conditions: exactly one of And, Or, Not and Field
// is set. It narrows what is found before anything is ranked (D1). A filter
// that cannot be honoured is an error, never ignored.
type Filter struct {
	And   []Filter `json:"and,omitempty" maxItems:"64"`
	Or    []Filter `json:"or,omitempty" maxItems:"64"`
	Not   *Filter  `json:"not,omitempty"`
	Field string   `json:"field,omitempty" maxLength:"256"`
	Op    Op       `json:"op,omitempty" enum:"eq,ne,gt,gte,lt,lte,in,contains,exists"`
	Value any      `json:"value,omitempty"`
}

// Op compares a field with a value.
type Op string

// The operators. A field that is absent matches only ne, exists:false and not.
const (
	OpEq       Op = "eq"
	OpNe       Op = "ne"
	OpGt       Op = "gt"
	OpGte      Op = "gte"
	OpLt       Op = "lt"
	OpLte      Op = "lte"
	OpIn       Op = "in"       // the value is an array
	OpContains Op = "contains" // a list holds the value; a text holds it as a part
	OpExists   Op = "exists"   // the value is true or false
)

// FieldKind is the type of a filter's field.
type FieldKind int

// The kinds of fields.
const (
	FieldText FieldKind = iota
	FieldNumber
	FieldTime
	FieldBool
	FieldList // of texts
	FieldAny  // metadata: whatever JSON it holds
)

// FilterFields are the fields that a filter may name beside "metadata.<key>",
// with their kinds. Messages lack those of memories only, and the other way round.
func FilterFields() map[string]FieldKind {
	return map[string]FieldKind{
		"id": FieldText, "kind": FieldText, "type": FieldText, "level": FieldText, "status": FieldText,
		"project_id": FieldText, "task_id": FieldText, "session_id": FieldText, "agent_id": FieldText,
		"subject": FieldText, "attribute": FieldText, "value": FieldText, "content": FieldText,
		"role": FieldText, "name": FieldText, "origin": FieldText,
		"topics": FieldList, "pinned": FieldBool,
		"importance": FieldNumber, "confidence": FieldNumber, "trust": FieldNumber,
		"created_at": FieldTime, "updated_at": FieldTime, "valid_from": FieldTime, "valid_to": FieldTime, "expires_at": FieldTime,
	}
}

// Limits of a filter.
const (
	MaxFilterDepth    = 8
	MaxFilterNodes    = 256
	MaxFilterBranches = 64 // of one and, or one or
)

// Fields gives the values of one item to a filter: a string, float64, bool,
// time.Time, []string, or any JSON value for metadata; false where absent.
type Fields func(field string) (any, bool)

// Validate reports, as an ErrInvalid naming the place below field, why the
// filter cannot be honoured.
func (f *Filter) Validate(field string) error {
	nodes := 0
	return f.validate(field, 1, &nodes)
}

func (f *Filter) validate(path string, depth int, nodes *int) error {
	*nodes++
	if depth > MaxFilterDepth {
		return Invalid(path, "filters nest at most %d deep", MaxFilterDepth)
	}
	if *nodes > MaxFilterNodes {
		return Invalid(path, "a filter has at most %d conditions", MaxFilterNodes)
	}
	set := 0
	for _, on := range []bool{f.And != nil, f.Or != nil, f.Not != nil, f.Field != ""} {
		if on {
			set++
		}
	}
	if set != 1 {
		return Invalid(path, "must have exactly one of and, or, not, field")
	}
	if f.Field == "" && (f.Op != "" || f.Value != nil) {
		return Invalid(path, "op and value stand beside field only")
	}
	if err := validateBranches(f.And, path+".and", depth, nodes); err != nil {
		return err
	}
	if err := validateBranches(f.Or, path+".or", depth, nodes); err != nil {
		return err
	}
	if f.Not != nil {
		return f.Not.validate(path+".not", depth+1, nodes)
	}
	if f.Field != "" {
		return f.validateLeaf(path)
	}
	return nil
}

func validateBranches(list []Filter, path string, depth int, nodes *int) error {
	switch {
	case list == nil:
		return nil
	case len(list) == 0:
		return Invalid(path, "must not be empty")
	case len(list) > MaxFilterBranches:
		return Invalid(path, "must have at most %d conditions", MaxFilterBranches)
	}
	for i := range list {
		if err := list[i].validate(fmt.Sprintf("%s[%d]", path, i), depth+1, nodes); err != nil {
			return err
		}
	}
	return nil
}

func (f *Filter) validateLeaf(path string) error {
	kind, ok := FilterFields()[f.Field]
	if key, meta := strings.CutPrefix(f.Field, "metadata."); meta && key != "" {
		kind, ok = FieldAny, true
	}
	if !ok {
		return Invalid(path+".field", "there is no such field")
	}
	switch f.Op {
	case OpExists:
		if _, ok := f.Value.(bool); !ok {
			return Invalid(path+".value", "exists takes true or false")
		}
		return nil
	case OpIn:
		list, ok := f.Value.([]any)
		if !ok || len(list) == 0 || len(list) > 1000 {
			return Invalid(path+".value", "in takes an array of 1 to 1,000 values")
		}
		for i, v := range list {
			if err := checkOperand(kind, OpIn, v); err != nil {
				return Invalid(fmt.Sprintf("%s.value[%d]", path, i), "%v", err)
			}
		}
		return nil
	case OpEq, OpNe, OpGt, OpGte, OpLt, OpLte, OpContains:
		if err := checkOperand(kind, f.Op, f.Value); err != nil {
			return Invalid(path+".value", "%v", err)
		}
		return nil
	}
	return Invalid(path+".op", "must be one of eq, ne, gt, gte, lt, lte, in, contains, exists")
}

func checkOperand(kind FieldKind, op Op, v any) error {
	ordered := op == OpGt || op == OpGte || op == OpLt || op == OpLte
	_, isText := v.(string)
	_, isNumber := number(v)
	_, isBool := v.(bool)
	switch {
	case ordered && (kind == FieldBool || kind == FieldList):
		return errors.New("this field has no order")
	case op == OpContains && kind != FieldText && kind != FieldList && kind != FieldAny:
		return errors.New("contains is for texts and lists")
	case kind == FieldAny && (isText || isNumber || (isBool && !ordered)):
		return nil
	case (kind == FieldText || kind == FieldList) && isText:
		return nil
	case kind == FieldNumber && isNumber:
		return nil
	case kind == FieldBool && isBool:
		return nil
	case kind == FieldTime:
		if _, ok := instant(v); ok {
			return nil
		}
		return errors.New("must be an RFC 3339 time")
	}
	return fmt.Errorf("must be %s", [...]string{"a string", "a number", "an RFC 3339 time", "true or false", "a string", "a string, a number or a boolean"}[kind])
}

// Match reports whether an item satisfies a valid filter. A nil filter
// matches everything.
func (f *Filter) Match(get Fields) bool {
	switch {
	case f == nil:
		return true
	case f.And != nil:
		for i := range f.And {
			if !f.And[i].Match(get) {
				return false
			}
		}
		return true
	case f.Or != nil:
		for i := range f.Or {
			if f.Or[i].Match(get) {
				return true
			}
		}
		return false
	case f.Not != nil:
		return !f.Not.Match(get)
	}
	have, ok := get(f.Field)
	switch f.Op {
	case OpExists:
		return ok == f.Value.(bool)
	case OpNe:
		return !ok || !equal(have, f.Value)
	}
	if !ok {
		return false
	}
	switch f.Op {
	case OpEq:
		return equal(have, f.Value)
	case OpIn:
		for _, v := range f.Value.([]any) {
			if equal(have, v) {
				return true
			}
		}
		return false
	case OpContains:
		return contains(have, f.Value)
	}
	c, ok := compare(have, f.Value)
	if !ok {
		return false
	}
	switch f.Op {
	case OpGt:
		return c > 0
	case OpGte:
		return c >= 0
	case OpLt:
		return c < 0
	default:
		return c <= 0
	}
}

func equal(have, want any) bool {
	if list, ok := have.([]string); ok {
		return contains(list, want)
	}
	if a, ok := have.(bool); ok {
		b, ok := want.(bool)
		return ok && a == b
	}
	c, ok := compare(have, want)
	return ok && c == 0
}

func contains(have, want any) bool {
	switch h := have.(type) {
	case string:
		w, ok := want.(string)
		return ok && strings.Contains(h, w)
	case []string:
		for _, v := range h {
			if v == want {
				return true
			}
		}
	case []any:
		for _, v := range h {
			if equal(v, want) {
				return true
			}
		}
	}
	return false
}

// compare orders two values of one kind: texts, numbers or times.
func compare(have, want any) (int, bool) {
	if t, ok := have.(time.Time); ok {
		u, ok := instant(want)
		return t.Compare(u), ok
	}
	if a, ok := number(have); ok {
		b, ok := number(want)
		switch {
		case !ok:
			return 0, false
		case a < b:
			return -1, true
		case a > b:
			return 1, true
		}
		return 0, true
	}
	a, ok1 := have.(string)
	b, ok2 := want.(string)
	return strings.Compare(a, b), ok1 && ok2
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

func instant(v any) (time.Time, bool) {
	switch t := v.(type) {
	case time.Time:
		return t, true
	case string:
		u, err := time.Parse(time.RFC3339Nano, t)
		return u, err == nil
	}
	return time.Time{}, false
}

// UnmarshalJSON refuses members that a filter does not have, so that a
// misspelt condition is never ignored.
func (f *Filter) UnmarshalJSON(b []byte) error {
	type plain Filter
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(f))
}
