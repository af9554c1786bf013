package memindex

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/index"
)

// Limits of what columns keep; conditions beyond them are relaxed.
const (
	maxMetadataKeys = 64  // a shard
	maxValueBytes   = 512 // one value of a text, list or metadata field
)

// columns are the filter fields of a shard's documents, by slot. A column is
// made when a document has its field, and is as long as the last such document
// needs; beyond its end the field is absent.
type columns struct {
	values   map[string]*valueColumn // texts, lists, booleans, and metadata by "metadata.key"
	numbers  map[string][]float64    // NaN: absent
	times    map[string][]stamp
	metadata int  // how many metadata keys have a column
	overflow bool // some metadata key found no room
}

// valueColumn holds one of few values for each document, as a number in a
// table. Conditions are worked out once for each value, by the filter itself.
type valueColumn struct {
	ids     []uint32 // 0: absent
	table   []any    // by id; nil where free
	count   []int32  // how many documents have it
	byKey   map[string]uint32
	free    []uint32
	bytes   int64
	partial bool // some value was too large to keep
}

// stamp is a time, exact to the nanosecond. The zero stamp is absent.
type stamp struct {
	sec  int64
	nsec int32 // plus one
}

func newColumns() columns {
	return columns{values: make(map[string]*valueColumn), numbers: make(map[string][]float64), times: make(map[string][]stamp)}
}

// fieldValue is one field of one document, read before the shard is locked.
type fieldValue struct {
	field string
	value any
	key   string // of a valueColumn: what tells values apart; "" where too large
}

// readFields reads a document's fields in columns' form.
func readFields(doc *index.Doc, names []string) []fieldValue {
	out := make([]fieldValue, 0, 16)
	if doc.Fields != nil {
		for _, field := range names {
			if v, ok := doc.Fields(field); ok {
				out = append(out, fieldOf(field, v))
			}
		}
	}
	for key, v := range doc.Metadata {
		if v == nil { // null is absent, as store.MemoryFields says
			continue
		}
		out = append(out, fieldOf("metadata."+key, v))
	}
	return out
}

func fieldOf(field string, v any) fieldValue {
	f := fieldValue{field: field, value: v}
	switch x := v.(type) {
	case string:
		f.key = "s" + x
	case bool:
		f.key = "false"
		if x {
			f.key = "true"
		}
	case []string:
		f.key = listKey(x)
		f.value = append([]string(nil), x...)
	case float64, time.Time:
		f.key = "" // set below for metadata
		if _, isTime := v.(time.Time); !isTime && strings.HasPrefix(field, "metadata.") {
			f.key = jsonKey(v)
		}
	default:
		f.key = jsonKey(v)
	}
	if len(f.key) > maxValueBytes {
		f.key = ""
	}
	return f
}

// listKey tells lists apart, an empty one and one of an empty text too.
func listKey(list []string) string {
	var b strings.Builder
	b.WriteByte('l')
	for _, s := range list {
		b.WriteString(strconv.Itoa(len(s)) + ":" + s)
	}
	return b.String()
}

func jsonKey(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return "j" + string(b)
}

// set gives a slot its fields.
func (c *columns) set(slot uint32, fields []fieldValue, kinds map[string]yiku.FieldKind) {
	for _, f := range fields {
		kind, known := kinds[f.field]
		number, isNumber := f.value.(float64)
		at, isTime := f.value.(time.Time)
		switch {
		case known && kind == yiku.FieldNumber && isNumber:
			c.numbers[f.field] = put(c.numbers[f.field], slot, number, math.NaN())
		case known && kind == yiku.FieldTime && isTime:
			c.times[f.field] = put(c.times[f.field], slot, stampOf(at), stamp{})
		default:
			if col := c.column(f.field); col != nil {
				col.set(slot, f)
			}
		}
	}
}

// column returns a value column, made where there is room for it.
func (c *columns) column(field string) *valueColumn {
	if col, ok := c.values[field]; ok {
		return col
	}
	if strings.HasPrefix(field, "metadata.") {
		if c.metadata >= maxMetadataKeys {
			c.overflow = true
			return nil
		}
		c.metadata++
	}
	col := &valueColumn{table: []any{nil}, count: []int32{0}, byKey: make(map[string]uint32)}
	c.values[field] = col
	return col
}

// put sets an element of a column, which is filled up with absent.
func put[T any](column []T, slot uint32, v, absent T) []T {
	for len(column) <= int(slot) {
		column = append(column, absent)
	}
	column[slot] = v
	return column
}

func (c *valueColumn) set(slot uint32, f fieldValue) {
	if f.key == "" {
		c.partial = true
		return
	}
	id, ok := c.byKey[f.key]
	if !ok {
		if n := len(c.free); n > 0 {
			id, c.free = c.free[n-1], c.free[:n-1]
			c.table[id] = f.value
		} else {
			id = uint32(len(c.table))
			c.table, c.count = append(c.table, f.value), append(c.count, 0)
		}
		c.byKey[f.key] = id
		c.bytes += int64(2*len(f.key)) + 64
	}
	c.count[id]++
	c.ids = put(c.ids, slot, id, 0)
}

// clear takes a slot's fields away; a value that nobody has any more is forgotten.
func (c *columns) clear(slot uint32) {
	for _, col := range c.values {
		if int(slot) < len(col.ids) && col.ids[slot] != 0 {
			col.release(col.ids[slot])
			col.ids[slot] = 0
		}
	}
	for field, col := range c.numbers {
		if int(slot) < len(col) {
			c.numbers[field][slot] = math.NaN()
		}
	}
	for field, col := range c.times {
		if int(slot) < len(col) {
			c.times[field][slot] = stamp{}
		}
	}
}

func (c *valueColumn) release(id uint32) {
	if c.count[id]--; c.count[id] > 0 {
		return
	}
	key := fieldOf("metadata.", c.table[id]).key
	delete(c.byKey, key)
	c.bytes -= int64(2*len(key)) + 64
	c.table[id] = nil
	c.free = append(c.free, id)
}

// renumber returns the columns with the slots that are kept, in their order.
func (c *columns) renumber(slots []int32, kinds map[string]yiku.FieldKind) columns {
	out := newColumns()
	for field, col := range c.values {
		for slot, id := range col.ids {
			if id != 0 && slots[slot] >= 0 {
				out.set(uint32(slots[slot]), []fieldValue{fieldOf(field, col.table[id])}, kinds)
			}
		}
		if kept := out.values[field]; kept != nil {
			kept.partial = col.partial
		} else if col.partial {
			out.column(field).partial = true
		}
	}
	for field, col := range c.numbers {
		for slot, v := range col {
			if slots[slot] >= 0 && !math.IsNaN(v) {
				out.numbers[field] = put(out.numbers[field], uint32(slots[slot]), v, math.NaN())
			}
		}
	}
	for field, col := range c.times {
		for slot, v := range col {
			if slots[slot] >= 0 && v.nsec != 0 {
				out.times[field] = put(out.times[field], uint32(slots[slot]), v, stamp{})
			}
		}
	}
	out.overflow = c.overflow
	return out
}

func (c *columns) bytes() int64 {
	n := int64(0)
	for _, col := range c.values {
		n += int64(cap(col.ids))*4 + int64(len(col.table))*24 + col.bytes
	}
	for _, col := range c.numbers {
		n += int64(cap(col)) * 8
	}
	for _, col := range c.times {
		n += int64(cap(col)) * 16
	}
	return n
}

// supported reports whether a condition on the field can be decided here.
func (c *columns) supported(field string) bool {
	if field == "id" || field == "content" {
		return false
	}
	if col, ok := c.values[field]; ok {
		return !col.partial
	}
	return !c.overflow || !strings.HasPrefix(field, "metadata.")
}
