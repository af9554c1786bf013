// Package check is the validation of requests: the limits that stand in the
// tags of the root package's structs, and what no tag can say. The engine runs
// it for callers in the process and over the wire alike, so that a limit holds
// on every path.
package check

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// Limits that no tag says.
const (
	MaxDepth    = 32       // of a free-form tree such as metadata
	MaxTreeSize = 10_000   // values in one tree
	MaxMetadata = 16 << 10 // bytes of text, keys and values, in metadata
	MaxTree     = 1 << 20  // and in another tree
	MaxItem     = 256      // code points of one string in a list, or of a key of blocks
	MaxFaults   = 100      // faults that one error names
)

// Validator is a type with rules beyond its tags. Check returns what is
// wrong, each field's path beginning with path, and never a value.
type Validator interface {
	Check(path string) []yiku.FieldError
}

// Checker validates requests. It remembers each type's rules, so one Checker
// should be kept. It may be used by many goroutines at once.
type Checker struct {
	plans sync.Map // reflect.Type → *plan
}

// New returns a checker.
func New() *Checker { return &Checker{} }

// Request validates one request, a struct or a pointer to one. It returns nil
// or one *yiku.Error that wraps yiku.ErrInvalid and names every field at fault
// (the first [MaxFaults] of them). No error holds a value of the request.
func (c *Checker) Request(v any) error {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return yiku.Errorf(yiku.ErrInvalid, "there is no request")
		}
		rv = rv.Elem()
	}
	if rv.Kind() != reflect.Struct {
		return yiku.Errorf(yiku.ErrInvalid, "a request must be a struct")
	}
	w := walk{checker: c}
	w.object(rv)
	if len(w.faults) == 0 {
		return nil
	}
	return &yiku.Error{Sentinel: yiku.ErrInvalid, Fields: w.faults}
}

// plan is what is known about a struct type.
type plan struct {
	fields    []rule
	validator bool
}

// rule is one field with how it is looked at.
type rule struct {
	wire.Param
	look look
}

// look says how a value is looked at; it is chosen once per type.
type look int

const (
	lookText look = iota
	lookID
	lookTimezone
	lookETags
	lookNumber
	lookNothing // booleans
	lookTime
	lookContent
	lookRaw
	lookFilter
	lookTree
	lookList
	lookMap
	lookStruct
	lookPointer
	lookOpt
)

func (c *Checker) plan(t reflect.Type) *plan {
	if p, ok := c.plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{validator: t.Implements(reflect.TypeFor[Validator]())}
	for _, f := range wire.Fields(t) {
		p.fields = append(p.fields, rule{Param: f, look: lookOf(f.Name, f.Type)})
	}
	c.plans.Store(t, p)
	return p
}

// walk is one validation: where it stands, and what it found.
type walk struct {
	checker *Checker
	at      []segment
	faults  []yiku.FieldError
}

// segment is a step of a path: a name, or an index where the name is empty.
type segment struct {
	name  string
	index int
}

// path writes where the walk stands, such as messages[2].role.
func (w *walk) path() string {
	var b strings.Builder
	for _, s := range w.at {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

func (w *walk) fault(message string) {
	if len(w.faults) < MaxFaults {
		w.faults = append(w.faults, yiku.FieldError{Field: w.path(), Message: message})
	}
}

// take adds the faults of another validator.
func (w *walk) take(faults []yiku.FieldError) {
	w.faults = append(w.faults, faults[:min(len(faults), MaxFaults-len(w.faults))]...)
}

func (w *walk) object(v reflect.Value) {
	p := w.checker.plan(v.Type())
	for i := range p.fields {
		r := &p.fields[i]
		f := v.FieldByIndex(r.Index)
		w.at = append(w.at, segment{name: r.Name})
		switch {
		case !f.IsZero():
			w.value(r, r.look, f)
		case r.Required:
			w.absent(r, f)
		}
		w.at = w.at[:len(w.at)-1]
	}
	if p.validator && len(w.faults) < MaxFaults {
		w.take(v.Interface().(Validator).Check(w.path()))
	}
}

// absent is called for a required field that holds its type's zero value:
// that is a fault unless zero is a value, as the empty text of a block is.
func (w *walk) absent(r *rule, v reflect.Value) {
	switch r.look {
	case lookStruct:
		w.object(v)
	case lookNothing, lookNumber, lookTree, lookMap:
	case lookText:
		if r.Enum != nil || r.MinLength != nil {
			w.fault("is required")
		}
	default:
		w.fault("is required")
	}
}
