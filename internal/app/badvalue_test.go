package app

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/wire"
)

// values are what may stand in a field: bad ones are refused, good ones are
// not refused because of this field.
type values struct {
	bad    []string
	broken []string // no JSON: the fault is named here or around here
	good   []string
}

func (v *values) mangle(texts ...string) { v.broken = append(v.broken, texts...) }
func (v *values) refuse(texts ...string) { v.bad = append(v.bad, texts...) }
func (v *values) take(texts ...string)   { v.good = append(v.good, texts...) }

// quote writes a JSON string of a text, which may hold escapes already.
func quote(s string) string { return `"` + s + `"` }

// nested is an array n deep.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// hidden are characters that cannot be seen or that turn the direction of
// writing, beside letters of both scripts.
const hidden = "a\u200b\u202e\u2066茶\ufeff\U000e0041b"

// valuesOf says what a field's type and limits refuse. A type that it does not
// know has no values, which fails TestI4_BadInput.
func valuesOf(p wire.Param) values {
	switch p.In {
	case wire.InPath, wire.InQuery, wire.InHeader:
		return parameterValues(p)
	}
	var v values
	t := p.Type
	if p.Required && (t.Kind() != reflect.String || p.Enum != nil || p.MinLength != nil || wire.IsID(p.Name)) {
		v.refuse("null") // it stands for an absent field
	}
	if elem, ok := wire.OptOf(t); ok {
		t = elem
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v.inBody(p, t)
	return v
}

// inBody adds the values of a field of the body.
func (v *values) inBody(p wire.Param, t reflect.Type) {
	switch t {
	case reflect.TypeFor[time.Time]():
		v.times(p.Name)
		return
	case reflect.TypeFor[yiku.Content]():
		v.contents()
		return
	case reflect.TypeFor[yiku.RawJSON]():
		v.documents()
		return
	}
	switch t.Kind() {
	case reflect.String:
		v.texts(p)
	case reflect.Bool:
		v.refuse(`0`, `1`, `"true"`, `""`, `[]`, `{}`)
		v.take(`true`, `false`)
	case reflect.Int, reflect.Int64:
		v.refuse(`0.5`, `1e30`, `9223372036854775808`, `-9223372036854775809`)
		v.numbers(p, 1)
	case reflect.Float64:
		v.numbers(p, 0.000001)
	case reflect.Slice:
		v.lists(p, t)
	case reflect.Map:
		v.objects()
		if t.Elem().Kind() == reflect.Interface {
			v.trees(func(tree string) string { return `{"k":` + tree + `}` })
		} else {
			v.maps(p)
		}
	case reflect.Struct:
		v.objects()
		if t == reflect.TypeFor[yiku.Filter]() {
			v.filters()
		}
	case reflect.Interface: // of a filter: the field named beside says what it takes
		v.refuse(`5`, `true`, `{}`, `[]`, `null`, `["a"]`, quote(`a\u0000`), quote(`\ud800`), quote("\xff"), `1e999`, nested(check.MaxDepth+2))
		v.take(quote(hidden))
	}
}

func (v *values) texts(p wire.Param) {
	v.refuse(`5`, `1.5`, `true`, `[]`, `{}`, `["a"]`,
		quote(`a\u0000`), quote(`\ud800`), quote(`\udc00a`), quote(`\ud83d\ud83d`), quote("a\xff"), quote("\xed\xa0\x80"))
	v.mangle(`NaN`, quote("a\nb"), `"a`)
	switch {
	case p.Name == "timezone":
		v.refuse(quote("Mars/Base"), quote("../../etc/passwd"), quote("Local"), quote(strings.Repeat("a", 65)))
		v.take(quote("Asia/Shanghai"))
		return
	case p.Enum != nil:
		v.refuse(`""`, quote("odd"), quote(" "+p.Enum[0]), quote(strings.ToUpper(p.Enum[0])), quote(p.Enum[0]+`\u200b`))
		for _, e := range p.Enum {
			v.take(quote(e))
		}
		return
	case wire.IsID(p.Name):
		v.refuse(`""`, quote(" "), quote(" a"), quote("a "), quote(`a\tb`), quote(`a\u001f`), quote("a\u200b"), quote("a\u202e"), quote("a\u00a0"), quote("a\u3000"),
			quote(strings.Repeat("会", yiku.MaxIDRunes+1)))
		v.take(quote(strings.Repeat("会", yiku.MaxIDRunes)), quote("a/b?c=d#e%2F茶 ok"))
		return
	}
	v.take(quote(hidden))
	if p.MinLength != nil {
		v.refuse(`""`, quote(" "), quote(`\n\t\u3000`), quote(`\u200b\ufeff`))
	}
	if p.MaxLength != nil {
		v.refuse(quote(strings.Repeat("字", *p.MaxLength+1)))
		v.take(quote(strings.Repeat("字", *p.MaxLength)))
	}
}

// numbers adds what is no number and what lies at and beyond the limits.
func (v *values) numbers(p wire.Param, step float64) {
	v.refuse(`"5"`, `"a"`, `true`, `[]`, `{}`, `1e999`, `-1e999`)
	v.mangle(`NaN`, `Infinity`, `-Infinity`, `0x10`, `01`, `+1`, `1.`, `.5`, `--1`)
	text := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	if p.Minimum != nil {
		v.refuse(text(*p.Minimum - step))
		v.take(text(*p.Minimum))
		if *p.Minimum == 0 {
			v.take(`-0`)
		}
	}
	if p.Maximum != nil {
		v.refuse(text(*p.Maximum + step))
		v.take(text(*p.Maximum))
	}
}

func (v *values) times(name string) {
	v.refuse(`5`, `true`, `[]`, `{}`, `""`, `"now"`, `"2026-05-01"`, `"2026-05-01T12:00:00"`, `"2026-05-01 12:00:00Z"`, `"12:00:00Z"`, `"1777636800"`,
		`"2026-02-30T12:00:00Z"`, `"2026-13-01T12:00:00Z"`, `"2026-05-01T24:00:00Z"`, `"2026-06-30T23:59:60Z"`, `"2026-05-01T12:00:00+24:00"`,
		`"0000-01-01T00:00:00Z"`, `"0001-01-01T00:00:00Z"`, `"0001-01-01T00:00:00+01:00"`, `"9999-12-31T23:59:59-01:00"`, `"10000-01-01T00:00:00Z"`,
		`"-2026-05-01T12:00:00Z"`, `"2026-05-01T12:00:00Z\u0000"`, `"2026年5月1日"`)
	v.take(`"9999-12-31T23:59:59Z"`)
	if name != "expires_at" { // which must not be past
		v.take(`"2026-05-01T12:00:00+08:00"`, `"2026-05-01T12:00:00.123456789Z"`, `"0001-01-02T00:00:00Z"`)
	}
}

func (v *values) contents() {
	v.refuse(`5`, `true`, `{}`, `[5]`, `[null]`, `[""]`, `[{}]`, `[{"type":""}]`, `[{"type":5}]`, `[{"type":"text","text":5}]`, `[{"type":"text","text":"a","text":"b"}]`,
		`[{"type":"text","text":"\ud800"}]`, `[{"type":"text","text":"a\u0000"}]`, `[{"type":"text","a":{"b\u0000":1}}]`, `[{"type":"text","text":"`+"\xff"+`"}]`,
		`""`, `[]`, `null`, quote(`a\u0000`), quote(`\ud800`), quote("\xff"),
		quote(strings.Repeat("x", yiku.MaxMessageBytes+1)), quote(strings.Repeat("字", yiku.MaxMessageBytes/3+1)),
		`[{"type":"text","text":"`+strings.Repeat("x", yiku.MaxMessageBytes)+`"},{"type":"text","text":"x"}]`)
	v.mangle(`[{"type":"x","y":` + nested(2*check.MaxDepth) + `}]`)
	v.take(quote(hidden), `[{"type":"text","text":"`+hidden+`"}]`, `[{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]`, quote(strings.Repeat("x", yiku.MaxMessageBytes)))
}

func (v *values) documents() {
	v.refuse(`5`, `true`, `"a"`, `[]`, `{}`, `null`, `[5]`, `[null]`, `["a"]`, `[[]]`, `[{}]`, `{"messages":{}}`, `{"messages":null}`, `{"messages":5}`, `{"messages":[]}`,
		`[{"role":"robot","content":"a"}]`, `[{"role":5,"content":"a"}]`, `[{"content":"a"}]`, `[{"role":"user"}]`, `[{"role":"user","content":5}]`, `[{"role":"user","content":{}}]`,
		`[{"role":"user","content":""}]`, `[{"role":"user","content":"a\u0000"}]`, `[{"role":"user","content":"\ud800"}]`, `[{"role":"user","content":"`+"\xff"+`"}]`,
		`[{"role":"user","content":"a","content":"b"}]`, `[{"role":"user","content":"a","id":" "}]`, `[{"role":"user","content":"a","id":5}]`,
		`[{"role":"user","content":"a","created_at":"yesterday"}]`, `[{"role":"user","content":"a","created_at":{}}]`,
		`[{"role":"tool","content":"a"}]`, `[{"role":"assistant","tool_calls":5}]`, `[{"role":"assistant","tool_calls":[5]}]`, `[{"role":"assistant","tool_calls":[{"id":"c"}]}]`,
		`{"format":"yiku.session.v2","messages":[{"role":"user","content":"a"}]}`, `{"format":5,"messages":[{"role":"user","content":"a"}]}`,
		`{"format":"yiku.session.v1","session":5,"messages":[{"role":"user","content":"a"}]}`, `{"format":"yiku.session.v1","session":{"session_id":" "},"messages":[{"role":"user","content":"a"}]}`,
		`{"format":"yiku.session.v1","session":{"session_id":" ","project_id":" ","agent_id":" "},"messages":[{"role":"user","content":"a"}]}`,
		`{"format":"yiku.session.v1","session":{},"messages":[{"role":"user","content":"a","metadata":{"k":"\u0000"}}]}`,
		`{"format":"yiku.session.v1","session":{"metadata":{"k":`+nested(check.MaxDepth+1)+`}},"messages":[{"role":"user","content":"a"}]}`,
		`[{"role":"user","content":"a","metadata":{"k":`+nested(check.MaxDepth+1)+`}}]`, `[{"role":"user","content":"a","metadata":{"k":1e999}}]`,
		`[{"role":"user","content":"`+strings.Repeat("x", yiku.MaxMessageBytes+1)+`"}]`)
	v.mangle(nested(70), `[{"role":"user","content":"a"}`)
	v.take(`[{"role":"user","content":"` + hidden + `"}]`)
}

func (v *values) lists(p wire.Param, t reflect.Type) {
	v.refuse(`5`, `true`, `"a"`, `{}`, `{"0":"a"}`)
	if t.Elem().Kind() == reflect.Interface {
		v.take(`[]`)
	}
	items := func(item string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	good, bad := `{"field":"subject","op":"eq","value":"茶"}`, []string{`5`, `null`, `"a"`, `[]`}
	switch elem := t.Elem(); {
	case elem == reflect.TypeFor[yiku.Message](), elem == reflect.TypeFor[yiku.ToolCall]():
		good = sample(elem, "")
		bad = append(bad, `{}`)
	case elem == reflect.TypeFor[yiku.Experiment]():
		good = `{"name":"e","variants":[{"name":"a"},{"name":"b"}]}`
		v.take(items(good, 1))
	case elem == reflect.TypeFor[yiku.Variant]():
		good = `{"name":"a"}`
		v.take(`[{"name":"a"},{"name":"b"}]`)
	case elem.Kind() == reflect.Interface:
		v.trees(func(tree string) string { return `["a",` + tree + `]` })
		good, bad = `"a"`, []string{`5`, `null`, `[]`, `true`}
	case elem.Kind() == reflect.String:
		good, bad = quote("字"), []string{`5`, `null`, `{}`, `[]`, `""`, quote(`a\u0000`), quote(`\ud800`), quote("\xff"), quote(strings.Repeat("字", check.MaxItem+1))}
		if p.Enum != nil {
			good = quote(p.Enum[0])
			bad = append(bad, quote("odd"))
		}
	}
	for _, b := range bad {
		v.refuse("["+b+"]", "["+good+","+b+"]")
	}
	if p.MinItems != nil && *p.MinItems > 0 || t.Elem() == reflect.TypeFor[yiku.Filter]() {
		v.refuse(`[]`)
	}
	if p.MaxItems != nil {
		v.refuse(items(good, *p.MaxItems+1))
		v.take(items(good, *p.MaxItems))
	}
}

// objects adds what is no object and what no object has.
func (v *values) objects() {
	v.refuse(`5`, `true`, `"a"`, `[]`, `[{}]`, `"{}"`, `{"k":1,"k":1}`, `{"a":"\ud800"}`)
	v.mangle(`{"a"}`, `{a:1}`, `{"a":1`, `{`, `}`)
}

// trees adds what no free-form value may hold. in puts a value into one.
func (v *values) trees(in func(string) string) {
	v.refuse(in(`"a\u0000"`), in(`{"a\u0000":1}`), in(`"\udfff"`), in("\"\xff\""), in(`1e999`), in(`{"a":1,"a":2}`), in(`{"a":[{"b":1,"b":2}]}`),
		in(nested(check.MaxDepth)), in("["+strings.Repeat("1,", check.MaxTreeSize)+"1]"))
	v.mangle(in(`NaN`), in(strings.Repeat(`{"a":`, 70)+`1`+strings.Repeat(`}`, 70)))
}

// filters adds conditions that cannot be honoured: each field with values that
// are not of its kind, and trees of the wrong shape.
func (v *values) filters() {
	leaf := func(field, op, value string) string {
		return fmt.Sprintf(`{"field":%q,"op":%q,"value":%s}`, field, op, value)
	}
	fields := yiku.FilterFields()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v.refuse(leaf(name, "eq", `{}`), leaf(name, "eq", `null`), leaf(name, "eq", `["a"]`), leaf(name, "exists", `"true"`), leaf(name, "in", `"a"`), leaf(name, "in", `[]`),
			leaf(name, "in", `[{}]`), leaf(name, "in", "["+strings.Repeat(`"a",`, 1000)+`"a"]`), leaf(name, "like", `"a"`), leaf(name, "EQ", `"a"`), leaf(strings.ToUpper(name), "eq", `"a"`))
		switch fields[name] {
		case yiku.FieldText:
			v.refuse(leaf(name, "eq", `5`), leaf(name, "gt", `true`), leaf(name, "contains", `5`))
		case yiku.FieldNumber:
			v.refuse(leaf(name, "eq", `"0.5"`), leaf(name, "lt", `true`), leaf(name, "contains", `0.5`), leaf(name, "in", `[0.5,"a"]`))
		case yiku.FieldTime:
			v.refuse(leaf(name, "eq", `5`), leaf(name, "gt", `"2026-05-01"`), leaf(name, "lt", `"2026-06-30T23:59:60Z"`), leaf(name, "contains", `"2026-05-01T12:00:00Z"`))
		case yiku.FieldBool:
			v.refuse(leaf(name, "eq", `"true"`), leaf(name, "eq", `1`), leaf(name, "gt", `true`), leaf(name, "contains", `true`))
		case yiku.FieldList:
			v.refuse(leaf(name, "eq", `5`), leaf(name, "gt", `"a"`), leaf(name, "contains", `["a"]`))
		}
	}
	good := leaf("subject", "eq", `"茶"`)
	pair := `{"or":[` + strings.TrimSuffix(strings.Repeat(good+",", 64), ",") + `]}`
	v.refuse(`{}`, leaf("metadata.", "eq", `"a"`), leaf("metadata", "eq", `"a"`), leaf("user_id", "eq", `"bob"`), leaf("tenant", "eq", `"globex"`), leaf("seq", "gt", `0`), leaf("metadata.k", "eq", `null`), leaf("metadata.k", "gt", `true`),
		`{"field":"subject","op":"eq"}`, `{"op":"eq","value":"a"}`, `{"value":"a"}`, `{"field":"subject","op":"eq","value":"a","not":`+good+`}`, `{"and":[`+good+`],"or":[`+good+`]}`, `{"and":[]}`, `{"or":[]}`, `{"and":[`+good+`],"op":"eq"}`,
		strings.Repeat(`{"not":`, yiku.MaxFilterDepth)+good+strings.Repeat(`}`, yiku.MaxFilterDepth), `{"and":[`+strings.TrimSuffix(strings.Repeat(pair+",", 4), ",")+`]}`)
	deep := yiku.MaxFilterDepth - 2 // beside the one that it may stand in
	v.take(strings.Repeat(`{"not":`, deep)+good+strings.Repeat(`}`, deep), `{"and":[`+strings.TrimSuffix(strings.Repeat(pair+",", 3), ",")+`]}`, leaf("metadata.键", "contains", quote(hidden)))
}

// maps adds the faults of the keys and values of a map to structs.
func (v *values) maps(p wire.Param) {
	v.refuse(`{"k":5}`, `{"k":null}`, `{"k":"a"}`, `{"k":[]}`, `{"k":{"odd":1}}`, `{"":{}}`, `{"`+strings.Repeat("字", check.MaxItem+1)+`":{}}`, `{"a\u0000":{}}`)
	many := func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(`"k%d":{}`, i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	if p.MaxItems != nil {
		v.refuse(many(*p.MaxItems + 1))
		v.take(many(*p.MaxItems))
	}
}

// parameterValues are those of a path, a query or a header. An empty part of a
// path is another path.
func parameterValues(p wire.Param) values {
	var v values
	if p.In != wire.InPath {
		v.refuse("")
	}
	if p.Type == reflect.TypeFor[time.Time]() {
		v.refuse("5", "now", "2026-05-01", "2026-05-01T12:00:00", "2026-05-01 12:00:00Z", "12:00:00Z", "1777636800", "2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z",
			"2026-05-01T24:00:00Z", "2026-06-30T23:59:60Z", "2026-05-01T12:00:00+24:00", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00",
			"9999-12-31T23:59:59-01:00", "10000-01-01T00:00:00Z", "2026-05-01T12:00:00Z\x00", " 2026-05-01T12:00:00Z", "2026年5月1日")
		v.take("2001-05-01T12:00:00+08:00", "2001-05-01T12:00:00.123456789Z", "0001-01-02T00:00:00Z")
		return v
	}
	switch p.Type.Kind() {
	case reflect.Int, reflect.Int64:
		v.refuse("0", "-1", "1.5", "1e2", "abc", " 5", "5 ", "0x10", "٣", "五", "99999999999999999999", "null", "NaN", "5\x00")
		if p.Maximum != nil {
			most := int(*p.Maximum)
			v.refuse(strconv.Itoa(most + 1))
			v.take(strconv.Itoa(most))
		}
		v.take("1")
		return v
	case reflect.String:
	default:
		return v
	}
	v.refuse("a\x00", "\x00", "\xff", "茶\xed\xa0\x80")
	if p.MaxLength != nil {
		v.refuse(strings.Repeat("字", *p.MaxLength+1))
	}
	switch {
	case p.Enum != nil:
		v.refuse("odd", strings.ToUpper(p.Enum[0]), p.Enum[0]+" ")
		v.take(p.Enum...)
	case wire.IsID(p.Name):
		v.refuse(" ", " a", "a ", "a\tb", "a\nb", "a\u200b", "\u202ea", "a\u3000")
		v.take(strings.Repeat("字", yiku.MaxIDRunes), hiddenFree)
	case p.Name == "cursor":
		v.refuse("x", "AAAA", "=", "../", "\u200b", "eyJhIjoxfQ", strings.Repeat("A", 4096))
	case p.Name == "if_match":
		v.refuse("3", `"3`, `3"`, `W/3`, `"a" "b"`, `"3",,x`, "*,*x")
		v.take(`*`, `"3"`, `"3", W/"4"`)
	default:
		v.take(hidden)
		if p.MaxLength != nil {
			v.take(strings.Repeat("字", *p.MaxLength))
		}
	}
	return v
}

// hiddenFree is an id with characters that mean something in paths and queries.
const hiddenFree = "a&b=c#d%2F+茶;e"
