package check_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/wire"
)

func ptr[T any](v T) *T { return &v }

// faults returns the fields that a request is refused for.
func faults(t *testing.T, c *check.Checker, req any) []string {
	t.Helper()
	err := c.Request(req)
	if err == nil {
		return nil
	}
	var e *yiku.Error
	if !errors.Is(err, yiku.ErrInvalid) || !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	var fields []string
	for _, f := range e.Fields {
		if f.Message == "" {
			t.Errorf("%s has no message", f.Field)
		}
		fields = append(fields, f.Field)
	}
	return fields
}

func save(change func(*yiku.SaveMemoryRequest)) yiku.SaveMemoryRequest {
	r := yiku.SaveMemoryRequest{UserID: "小明", Content: "喜欢 tea"}
	change(&r)
	return r
}

// nestObjects nests objects around a text, whose own depth does not count.
func nestObjects(n int) any {
	var v any = "x"
	for range n {
		v = map[string]any{"k": v}
	}
	return v
}

func nest(n int) any {
	var v any = 1.0
	for range n {
		v = []any{v}
	}
	return v
}

// TestI4_Limits walks the kinds of limits; each fault names its field.
func TestI4_Limits(t *testing.T) {
	t.Parallel()
	c := check.New()
	type R = yiku.SaveMemoryRequest
	message := func(m yiku.Message) yiku.AppendMessagesRequest {
		return yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("x")}, m}}
	}
	for name, tc := range map[string]struct {
		req  any
		want []string
	}{
		"good":                 {save(func(r *R) {}), nil},
		"a pointer":            {ptr(save(func(r *R) {})), nil},
		"required":             {R{}, []string{"user_id", "content"}},
		"all at once":          {R{Type: "poem", Importance: ptr(2.0), TTLSeconds: -1, Topics: []string{"", "a\x00"}}, []string{"user_id", "content", "type", "importance", "topics[0]", "topics[1]", "ttl_seconds"}},
		"code points":          {save(func(r *R) { r.Content = strings.Repeat("字", 20000) }), nil},
		"one too many":         {save(func(r *R) { r.Content = strings.Repeat("字", 20001) }), []string{"content"}},
		"id too long":          {save(func(r *R) { r.ProjectID = strings.Repeat("p", 257) }), []string{"project_id"}},
		"id with a blank":      {save(func(r *R) { r.TaskID = "t " }), []string{"task_id"}},
		"id not printable":     {save(func(r *R) { r.AgentID = "a\u200b" }), []string{"agent_id"}},
		"key with a newline":   {save(func(r *R) { r.IdempotencyKey = "a\nb" }), []string{"idempotency_key"}},
		"bad UTF-8":            {save(func(r *R) { r.Value = "\xff" }), []string{"value"}},
		"NUL":                  {save(func(r *R) { r.Subject = "a\x00" }), []string{"subject"}},
		"invisible is text":    {save(func(r *R) { r.Content = "\u200b茶\u202e\ufeff" }), nil},
		"nothing to be seen":   {save(func(r *R) { r.Content = " \u200b\u202e\u3000" }), []string{"content"}},
		"a blank question":     {yiku.SearchMemoryRequest{UserID: "u", Query: "\t\u3000"}, []string{"query"}},
		"zero behind pointer":  {save(func(r *R) { r.Importance = ptr(0.0) }), nil},
		"NaN":                  {save(func(r *R) { r.Confidence = ptr(math.NaN()) }), []string{"confidence"}},
		"year 10000":           {save(func(r *R) { r.ValidTo = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }), []string{"valid_to"}},
		"many topics":          {save(func(r *R) { r.Topics = strings.Split(strings.Repeat("a ", 32)+"a", " ") }), []string{"topics"}},
		"long topic":           {save(func(r *R) { r.Topics = []string{strings.Repeat("长", 257)} }), []string{"topics[0]"}},
		"derived from a blank": {save(func(r *R) { r.DerivedFrom = []string{"a", " "} }), []string{"derived_from[1]"}},
		"tree": {save(func(r *R) {
			r.Metadata = yiku.Metadata{"a": nest(31), "b": 1, "c": []string{"x"}, "d": json.Number("1")}
		}), nil},
		"deep tree of objects": {save(func(r *R) { r.Metadata = yiku.Metadata{"a": nestObjects(32)} }), []string{"metadata"}},
		"deep tree":            {save(func(r *R) { r.Metadata = yiku.Metadata{"a": nest(32)} }), []string{"metadata"}},
		"NUL in a key":         {save(func(r *R) { r.Metadata = yiku.Metadata{"a": map[string]any{"b\x00": 1}} }), []string{"metadata"}},
		"bad UTF-8 in a tree":  {save(func(r *R) { r.Metadata = yiku.Metadata{"a": []any{"\xff"}} }), []string{"metadata"}},
		"channel in a tree":    {save(func(r *R) { r.Metadata = yiku.Metadata{"a": make(chan int)} }), []string{"metadata"}},
		"infinite in a tree":   {save(func(r *R) { r.Metadata = yiku.Metadata{"a": math.Inf(1)} }), []string{"metadata"}},
		"1e400 in a tree":      {save(func(r *R) { r.Metadata = yiku.Metadata{"a": json.Number("1e400")} }), []string{"metadata"}},
		"no number":            {save(func(r *R) { r.Metadata = yiku.Metadata{"a": json.Number("")} }), []string{"metadata"}},
		"long metadata":        {save(func(r *R) { r.Metadata = yiku.Metadata{"a": strings.Repeat("x", check.MaxMetadata)} }), []string{"metadata"}},
		"wide tree":            {save(func(r *R) { r.Metadata = yiku.Metadata{"a": make([]any, check.MaxTreeSize)} }), []string{"metadata"}},

		"no messages":          {yiku.AppendMessagesRequest{UserID: "u", SessionID: "s"}, []string{"messages"}},
		"empty messages":       {yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: []yiku.Message{}}, []string{"messages"}},
		"1,001 messages":       {yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: make([]yiku.Message, 1001)}, []string{"messages"}},
		"role":                 {message(yiku.Message{Role: "robot", Content: yiku.Text("x")}), []string{"messages[1].role"}},
		"nothing said":         {message(yiku.Message{Role: yiku.RoleUser}), []string{"messages[1].content"}},
		"call without content": {message(yiku.Message{Role: yiku.RoleAssistant, ToolCalls: []yiku.ToolCall{{ID: "c", Function: yiku.ToolFunction{Name: "f"}}}}), nil},
		"call without a name":  {message(yiku.Message{Role: yiku.RoleAssistant, ToolCalls: []yiku.ToolCall{{ID: "c"}}}), []string{"messages[1].tool_calls[0].function.name"}},
		"calls of a user":      {message(yiku.Message{Role: yiku.RoleUser, ToolCalls: []yiku.ToolCall{{ID: "c", Function: yiku.ToolFunction{Name: "f"}}}}), []string{"messages[1].tool_calls"}},
		"empty result":         {message(yiku.Message{Role: yiku.RoleTool, ToolCallID: "c"}), nil},
		"result of what":       {message(yiku.Message{Role: yiku.RoleTool, Content: yiku.Text("x")}), []string{"messages[1].tool_call_id"}},
		"1 MB":                 {message(yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(strings.Repeat("x", yiku.MaxMessageBytes))}), nil},
		"over 1 MB":            {message(yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(strings.Repeat("字", yiku.MaxMessageBytes/3+1))}), []string{"messages[1].content"}},
		"NUL in a part":        {message(yiku.Message{Role: yiku.RoleUser, Content: yiku.Content{Parts: []yiku.Part{{Type: "text", Text: "a\x00"}}}}), []string{"messages[1].content[0]"}},
		"what the server adds": {message(yiku.Message{Role: yiku.RoleUser, Content: yiku.Text("x"), Seq: 5, SessionID: "s"}), nil},
		"part without a type":  {message(yiku.Message{Role: yiku.RoleUser, Content: yiku.Content{Parts: []yiku.Part{{Text: "a"}}}}), []string{"messages[1].content[0]"}},

		"patch of nothing":      {yiku.PatchMemoryRequest{ID: "m", UserID: "u"}, nil},
		"patch to null":         {yiku.PatchMemoryRequest{ID: "m", UserID: "u", Importance: yiku.Null[float64](), Type: yiku.Null[yiku.Type]()}, nil},
		"patch out of range":    {yiku.PatchMemoryRequest{ID: "m", UserID: "u", Importance: yiku.Some(-1.0), Type: yiku.Some(yiku.Type("")), Topics: yiku.Some([]string{"a", ""}), Metadata: yiku.Some(yiku.Metadata{"\x00": 1})}, []string{"type", "importance", "topics[1]", "metadata"}},
		"patch of a condition":  {yiku.PatchMemoryRequest{Conditional: yiku.Conditional{IfMatch: "3"}, ID: "m", UserID: "u"}, []string{"if_match"}},
		"good condition":        {yiku.PatchMemoryRequest{Conditional: yiku.Conditional{IfMatch: `"3", W/"4"`}, ID: "m", UserID: "u"}, nil},
		"blocks":                {yiku.PutWorkingRequest{SessionID: "s", UserID: "u", Blocks: map[string]yiku.Block{"a": {}, "b": {Limit: 100001}}}, []string{"blocks.*.limit"}},
		"block without a name":  {yiku.PutWorkingRequest{SessionID: "s", UserID: "u", Blocks: map[string]yiku.Block{"": {Value: "x"}}}, []string{"blocks.*"}},
		"todos":                 {yiku.PutWorkingRequest{SessionID: "s", UserID: "u", Todos: make([]any, 1001)}, []string{"todos"}},
		"limit":                 {yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: 501}}, []string{"limit"}},
		"enum of a list":        {yiku.SearchMemoryRequest{UserID: "u", Query: "q", Kinds: []yiku.Kind{"semantic", "odd"}}, []string{"kinds[1]"}},
		"filter":                {yiku.SearchMemoryRequest{UserID: "u", Query: "q", Filter: &yiku.Filter{}}, []string{"filter"}},
		"filter below":          {yiku.SearchMemoryRequest{UserID: "u", Query: "q", Filter: &yiku.Filter{Not: &yiku.Filter{Field: "type", Op: "eq", Value: 5.0}}}, []string{"filter.not.value"}},
		"NUL in a filter":       {yiku.SearchMemoryRequest{UserID: "u", Query: "q", Filter: &yiku.Filter{Field: "type", Op: "eq", Value: "\x00"}}, []string{"filter.value"}},
		"NUL in a filter's key": {yiku.SearchMemoryRequest{UserID: "u", Query: "q", Filter: &yiku.Filter{Field: "metadata.\x00", Op: "eq", Value: "x"}}, []string{"filter.field"}},
		"NUL below a filter":    {yiku.SearchMemoryRequest{UserID: "u", Query: "q", Filter: &yiku.Filter{Or: []yiku.Filter{{Field: "type", Op: "exists", Value: true}, {Not: &yiku.Filter{Field: "name", Op: "eq", Value: "\x00"}}}}}, []string{"filter.or[1].not.value"}},
		"wide filter":           {yiku.SearchMemoryRequest{UserID: "u", Query: "q", Filter: &yiku.Filter{And: slices.Repeat([]yiku.Filter{{Field: "pinned", Op: "exists", Value: true}}, 65)}}, []string{"filter.and"}},
		"zone":                  {yiku.GetContextRequest{UserID: "u", Options: yiku.ContextOptions{Timezone: "Mars/Base"}}, []string{"options.timezone"}},
		"local zone":            {yiku.GetContextRequest{UserID: "u", Options: yiku.ContextOptions{Timezone: "Local"}}, []string{"options.timezone"}},
		"options":               {yiku.GetContextRequest{UserID: "u", Turns: ptr(0), Options: yiku.ContextOptions{MaxItems: ptr(11), Format: "xml"}}, []string{"options.max_items", "options.format"}},
		"no document":           {yiku.ImportSessionRequest{UserID: "u"}, []string{"document"}},
		"document":              {yiku.ImportSessionRequest{UserID: "u", Document: yiku.RawJSON(`{"a":"\\u0000"}`)}, nil},
		"document with NUL":     {yiku.ImportSessionRequest{UserID: "u", Document: yiku.RawJSON(`{"a":"\\\u0000"}`)}, []string{"document"}},
		"document twice":        {yiku.ImportSessionRequest{UserID: "u", Document: yiku.RawJSON(`{"a":1,"a":2}`)}, []string{"document"}},
		"document cut":          {yiku.ImportSessionRequest{UserID: "u", Document: yiku.RawJSON(`{"a"`)}, []string{"document"}},
		"document deep":         {yiku.ImportSessionRequest{UserID: "u", Document: yiku.RawJSON(strings.Repeat("[", 65) + strings.Repeat("]", 65))}, []string{"document"}},
		"no request":            {(*yiku.SaveMemoryRequest)(nil), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := faults(t, c, tc.req)
			if name == "no request" {
				if err := c.Request(tc.req); !errors.Is(err, yiku.ErrInvalid) {
					t.Errorf("error %v", err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, c.Request(tc.req))
			}
		})
	}
}

// TestI4_FaultsAreBounded asserts that a thousand bad messages are one bounded error.
func TestI4_FaultsAreBounded(t *testing.T) {
	t.Parallel()
	got := faults(t, check.New(), yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: make([]yiku.Message, 1000)})
	if len(got) != check.MaxFaults {
		t.Errorf("%d faults", len(got))
	}
}

// TestI4_EveryRequestIsPlanned asserts that each operation's request can be
// checked, its zero value included.
func TestI4_EveryRequestIsPlanned(t *testing.T) {
	t.Parallel()
	c := check.New()
	for _, op := range wire.Operations() {
		required := slices.ContainsFunc(wire.Params(op.Request, op.Method), func(p wire.Param) bool { return p.Required })
		if got := faults(t, c, reflect.New(op.Request).Interface()); (len(got) > 0) != required {
			t.Errorf("%s: an empty request has faults %v; required fields: %v", op.ID, got, required)
		}
	}
}

// TestR31_NoValueInErrors fills every text of every request with a canary that
// breaks the rules, and asserts that no error shows it.
func TestR31_NoValueInErrors(t *testing.T) {
	t.Parallel()
	c := check.New()
	trials := 0
	for _, op := range wire.Operations() {
		for _, canary := range []string{"CANARY\x00", "CANARY\xff", strings.Repeat("CANARY", 40000), "CANARY", "CANARY\n"} {
			trials++
			v := reflect.New(op.Request).Elem()
			fill(v, canary, 0)
			if err := c.Request(v.Interface()); err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), "CANARY") {
				t.Errorf("%s: %.200v", op.ID, err)
			}
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R31", Part: "checks", Trials: trials, What: "refused requests showed a value in the error"})
}

// fill puts a text into every string below v.
func fill(v reflect.Value, s string, depth int) {
	if depth > 6 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[time.Time]() || (v.Field(i).Kind() == reflect.Bool && i == 1 && strings.HasPrefix(v.Type().Name(), "Opt[")) {
				continue
			}
			fill(v.Field(i), s, depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(s))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), s, depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, s, depth+1)
		v.SetMapIndex(reflect.ValueOf(s).Convert(v.Type().Key()), e)
	case reflect.Interface:
		v.Set(reflect.ValueOf(s))
	}
}

func BenchmarkRequest(b *testing.B) {
	c := check.New()
	messages := yiku.AppendMessagesRequest{UserID: "u", SessionID: "s"}
	for range 10 {
		messages.Messages = append(messages.Messages, yiku.Message{ID: "m", Role: yiku.RoleUser, Content: yiku.Text(strings.Repeat("hello 世界 ", 20))})
	}
	for name, req := range map[string]any{
		"save":   save(func(r *yiku.SaveMemoryRequest) { r.Metadata = yiku.Metadata{"a": 1.0, "b": "x"} }),
		"append": messages,
		"list":   yiku.ListMemoriesRequest{UserID: "u"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Request(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
