package httpapi

import (
	"reflect"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/wire"
)

// components collects the named schemas of a document.
type components struct {
	schemas object
	names   map[reflect.Type]string
}

// schema returns the schema of a type, without the limits of any field.
// Structs become named components.
func (c *components) schema(t reflect.Type) object {
	if elem, ok := wire.OptOf(t); ok {
		return nullable(c.schema(elem))
	}
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[yiku.RawJSON]():
		return object{}
	case reflect.TypeFor[yiku.Content]():
		return object{"oneOf": []any{
			object{"type": "string"},
			object{"type": "array", "minItems": 1, "items": c.schema(reflect.TypeFor[yiku.Part]())},
		}}
	case reflect.TypeFor[yiku.Part]():
		return object{
			"type": "object", "required": []string{"type"}, "additionalProperties": true,
			"properties": object{"type": object{"type": "string", "minLength": 1}, "text": object{"type": "string"}},
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.schema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": c.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": additional(c.schema(t.Elem()))}
	case reflect.Struct:
		return c.named(t)
	}
	return object{}
}

func additional(s object) any {
	if len(s) == 0 {
		return true
	}
	return s
}

// named registers a struct's schema under its name, before its fields, so that
// a type may hold itself.
func (c *components) named(t reflect.Type) object {
	if name, ok := c.names[t]; ok {
		return ref(name)
	}
	name := componentName(t)
	c.names[t] = name
	c.schemas[name] = nil
	c.schemas[name] = c.object(wire.Fields(t))
	return ref(name)
}

// componentName names a type; Page[T] becomes TPage.
func componentName(t reflect.Type) string {
	name, arg, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return name
	}
	arg = strings.TrimSuffix(arg, "]")
	return arg[strings.LastIndexByte(arg, '.')+1:] + name
}

// object returns the schema of an object with these fields.
func (c *components) object(fields []wire.Param) object {
	properties, required := object{}, []string{}
	for _, p := range fields {
		s := c.field(p)
		if p.Doc != "" {
			s["description"] = p.Doc
		}
		if p.ReadOnly {
			s["readOnly"] = true
		}
		properties[p.Name] = s
		if p.Required {
			required = append(required, p.Name)
		}
	}
	o := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// field returns the schema of a field with its limits, as package check
// applies them.
func (c *components) field(p wire.Param) object {
	s := c.schema(p.Type)
	on := s
	if items, ok := s["items"].(object); ok && items["type"] == "string" {
		on = items
		items["minLength"], items["maxLength"] = 1, check.MaxItem
	}
	if p.Enum != nil {
		on["enum"] = enum(on, p.Enum)
	}
	number(s, "minimum", p.Minimum)
	number(s, "maximum", p.Maximum)
	number(s, "minLength", p.MinLength)
	number(s, "maxLength", p.MaxLength)
	number(s, itemsKey(s, "min"), p.MinItems)
	number(s, itemsKey(s, "max"), p.MaxItems)
	if wire.IsID(p.Name) && s["type"] == "string" {
		s["minLength"] = 1
	}
	return s
}

// enum returns the values; where null is a value too, it is one of them.
func enum(s object, values []string) []any {
	var list []any
	for _, v := range values {
		list = append(list, v)
	}
	if _, more := s["type"].([]string); more {
		list = append(list, nil)
	}
	return list
}

func itemsKey(s object, bound string) string {
	if s["type"] == "object" {
		return bound + "Properties"
	}
	return bound + "Items"
}

func number[T int | float64](s object, key string, n *T) {
	if n != nil {
		s[key] = *n
	}
}

// nullable lets a schema take null too.
func nullable(s object) object {
	if t, ok := s["type"].(string); ok {
		s["type"] = []string{t, "null"}
		return s
	}
	return object{"oneOf": []any{s, object{"type": "null"}}}
}
