package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// snake writes a method's name as an operation's id.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// TestF2_TableIsTheInterface asserts that the table and yiku.Service have the
// same operations, each with a path that its request's parameters fill.
func TestF2_TableIsTheInterface(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	routes := map[string]bool{}
	braces := regexp.MustCompile(`\{(\w+)\}`)
	for _, op := range wire.Operations() {
		if have[op.ID] || routes[op.Method+op.Path] {
			t.Errorf("%s stands twice", op.ID)
		}
		have[op.ID], routes[op.Method+op.Path] = true, true
		var inPath []string
		for _, p := range wire.Params(op.Request, op.Method) {
			if p.In == wire.InPath {
				inPath = append(inPath, p.Name)
			}
			if p.In == wire.InBody && (op.Method == "GET" || op.Method == "DELETE") {
				t.Errorf("%s: %s travels in a body that %s has not", op.ID, p.Name, op.Method)
			}
			if scope := p.Name == "user_id"; scope && (p.In == wire.InBody) != (op.Method == "POST") {
				t.Errorf("%s: user_id travels in the %s", op.ID, p.In)
			}
		}
		var named []string
		for _, m := range braces.FindAllStringSubmatch(op.Path, -1) {
			named = append(named, m[1])
		}
		if diff := cmp.Diff(named, inPath); diff != "" {
			t.Errorf("%s: path parameters (-path +request):\n%s", op.ID, diff)
		}
		if op.Summary == "" || op.Tag == "" || op.Access == "" || op.Scope == "" || op.Status < 200 || !strings.HasPrefix(op.Path, "/v1/") {
			t.Errorf("%s is incomplete", op.ID)
		}
		if (op.Response == reflect.TypeFor[yiku.Empty]()) != (op.Status == 204) {
			t.Errorf("%s: status %d for %v", op.ID, op.Status, op.Response)
		}
	}
	service := reflect.TypeFor[yiku.Service]()
	for i := range service.NumMethod() {
		if id := snake(service.Method(i).Name); !have[id] {
			t.Errorf("%s is not in the table", id)
		}
	}
	if len(have) != service.NumMethod() {
		t.Errorf("%d operations for %d methods", len(have), service.NumMethod())
	}
}

// TestF1_ErrorsSurvive asserts that every sentinel comes back from its problem
// document, with its fields, and that no other text does.
func TestF1_ErrorsSurvive(t *testing.T) {
	t.Parallel()
	for _, sentinel := range []error{
		yiku.ErrInvalid, yiku.ErrUnauthorized, yiku.ErrForbidden, yiku.ErrNotFound, yiku.ErrConflict, yiku.ErrForgotten, yiku.ErrPreconditionFailed,
		yiku.ErrTooLarge, yiku.ErrLimited, yiku.ErrConsentWithdrawn, yiku.ErrUnsupported, yiku.ErrUnavailable,
	} {
		in := &yiku.Error{Sentinel: sentinel, Detail: "why", Fields: []yiku.FieldError{{Field: "a[0].b", Message: "wrong"}}}
		p := wire.NewProblem(fmt.Errorf("save CANARY: %w", in), "r")
		raw, err := json.Marshal(p)
		if err != nil || strings.Contains(string(raw), "CANARY") {
			t.Errorf("problem %s, %v", raw, err)
		}
		var back wire.Problem
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		out := back.Err(time.Second)
		want := &yiku.Error{Sentinel: sentinel, Detail: "why", Fields: in.Fields, RetryAfter: time.Second, RequestID: "r"}
		if !errors.Is(out, sentinel) || out.Error() != want.Error() || out.RetryAfter != want.RetryAfter || out.RequestID != "r" {
			t.Errorf("%v came back as %+v", sentinel, out)
		}
		bare := wire.NewProblem(sentinel, "r")
		if out := bare.Err(0); !errors.Is(out, sentinel) || out.Error() != sentinel.Error() || bare.Detail == "" {
			t.Errorf("%v came back as %v", sentinel, out)
		}
		if wire.Status(sentinel) != bare.Status || wire.Code(sentinel) != bare.Code {
			t.Errorf("%v: %+v", sentinel, bare)
		}
	}
	if got := wire.NewProblem(errors.New("CANARY"), "r"); got.Code != wire.CodeInternal || got.Status != 500 || strings.Contains(fmt.Sprint(got), "CANARY") {
		t.Errorf("a foreign error: %+v", got)
	}
	if got := wire.Code(fmt.Errorf("x: %w", context.DeadlineExceeded)); got != "unavailable" {
		t.Errorf("a deadline: %s", got)
	}
	for status, want := range map[int]error{404: yiku.ErrNotFound, 413: yiku.ErrTooLarge, 403: yiku.ErrForbidden, 418: yiku.ErrInvalid, 500: yiku.ErrUnavailable, 502: yiku.ErrUnavailable, 302: yiku.ErrUnavailable} {
		if got := wire.Sentinel("", status); got != want {
			t.Errorf("status %d: %v", status, got)
		}
	}
	want := []string{"invalid", "unauthorized", "forbidden", "not_found", "conflict", "forgotten", "precondition_failed", "too_large",
		"limited", "consent_withdrawn", "unsupported", "unavailable", "internal"}
	if diff := cmp.Diff(want, wire.Codes()); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}

func TestF1_ConditionalHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header, etag                  string
		valid, strongMatch, weakMatch bool
	}{
		{`*`, `"1"`, true, true, true},
		{` * `, `"1"`, true, true, true},
		{`"1"`, `"1"`, true, true, true},
		{`"2"`, `"1"`, true, false, false},
		{`"2","1"`, `"1"`, true, true, true},
		{` "2" ,	"1" `, `"1"`, true, true, true},
		{`, ,"1",`, `"1"`, true, true, true},
		{`W/"1"`, `"1"`, true, false, true},
		{`W/"1"`, `W/"1"`, true, false, true},
		{`"1"`, `W/"1"`, true, false, true},
		{`"a,b"`, `"a,b"`, true, true, true},
		{`"a,b"`, `"b"`, true, false, false},
		{`"版本"`, `"版本"`, true, true, true},
		{`""`, `""`, true, true, true},
		{`1`, `"1"`, false, false, false},
		{`"1`, `"1"`, false, false, false},
		{`w/"1"`, `"1"`, false, false, false},
		{`W/`, `"1"`, false, false, false},
		{`"1""2"`, `"1"`, false, false, false},
		{`"1" "2"`, `"1"`, false, false, false},
		{`*, "1"`, `"1"`, false, false, false},
		{`"1", *`, `"1"`, false, false, false},
		{`"1 2"`, `"1 2"`, false, false, false},
		{``, `"1"`, false, false, false},
		{`,`, `"1"`, false, false, false},
	} {
		got := []bool{wire.ValidETags(c.header), wire.MatchETag(c.header, c.etag), wire.MatchWeakETag(c.header, c.etag)}
		if diff := cmp.Diff([]bool{c.valid, c.strongMatch, c.weakMatch}, got); diff != "" {
			t.Errorf("%s against %s (-want +got):\n%s", c.header, c.etag, diff)
		}
	}
}

// FuzzETags: a header that matches is one that can be read, a strong match is
// a weak one, and a tag matches itself in any list.
func FuzzETags(f *testing.F) {
	for _, s := range []string{`*`, `"1"`, `W/"1", "2"`, `,, "a"`, `"`, `W/`, `"1""2"`, "\"\x00\""} {
		f.Add(s, `"1"`)
	}
	f.Fuzz(func(t *testing.T, header, etag string) {
		strong, weak, valid := wire.MatchETag(header, etag), wire.MatchWeakETag(header, etag), wire.ValidETags(header)
		if (strong || weak) && !valid || strong && !weak {
			t.Errorf("%q against %q: strong %v, weak %v, valid %v", header, etag, strong, weak, valid)
		}
		if valid && header != "" && header[0] == '"' && !wire.MatchWeakETag(header+", \"x\"", `"x"`) {
			t.Errorf("%q hides a tag after it", header)
		}
	})
}

func TestG5_Traceparent(t *testing.T) {
	t.Parallel()
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if got := wire.ParseTraceparent(good); got.TraceID != "0af7651916cd43dd8448eb211c80319c" || got.ParentID != "b7ad6b7169203331" || got.Traceparent() != good {
		t.Errorf("%+v", got)
	}
	if got := wire.ParseTraceparent("01" + good[2:] + "-more"); got.TraceID == "" {
		t.Error("a later version with more parts is refused")
	}
	for _, bad := range []string{"", good[:54], good + "-x", good + "x", "ff" + good[2:], strings.ToUpper(good), strings.Replace(good, "0af7651916cd43dd8448eb211c80319c", strings.Repeat("0", 32), 1),
		strings.Replace(good, "b7ad6b7169203331", strings.Repeat("0", 16), 1), strings.ReplaceAll(good, "-", "_")} {
		if got := wire.ParseTraceparent(bad); got != (wire.Trace{}) || got.Traceparent() != "" {
			t.Errorf("%q gives %+v", bad, got)
		}
	}
	ctx := wire.WithTrace(t.Context(), wire.Trace{RequestID: "r"})
	if wire.TraceFrom(ctx).RequestID != "r" || wire.TraceFrom(t.Context()) != (wire.Trace{}) {
		t.Error("the context lost the trace")
	}
	for id, want := range map[string]bool{"a": true, "A-1_b.c": true, "": false, "a b": false, "é": false, "a\n": false, strings.Repeat("a", 129): false} {
		if wire.ValidRequestID(id) != want {
			t.Errorf("request id %q", id)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-1": 0, "0": 0, "x": 0, "1e9": 0, "99999999999999": 0,
		"Thu, 01 Jan 2026 00:00:05 GMT": 5 * time.Second, "Thu, 01 Jan 2025 00:00:05 GMT": 0} {
		if got := wire.ParseRetryAfter(s, now); got != want {
			t.Errorf("%q: %v; want %v", s, got, want)
		}
	}
	if got := wire.FormatRetryAfter(1500 * time.Millisecond); got != "2" {
		t.Errorf("1.5 s is written %q", got)
	}
	if got := wire.RetryAfter(fmt.Errorf("x: %w", &yiku.Error{Sentinel: yiku.ErrLimited, RetryAfter: time.Second})); got != time.Second {
		t.Errorf("%v", got)
	}
}

// TestNumbers asserts that no number changes its value in a free-form tree.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"1": 1.0, "-0.5": -0.5, "1e3": 1000.0, "0": 0.0, "0.000": 0.0, "123456789012345": 123456789012345.0,
		"9007199254740993": json.Number("9007199254740993"), "0.1234567890123456789": json.Number("0.1234567890123456789"), "1e-400": json.Number("1e-400"),
	} {
		if got, ok := wire.Number(json.Number(text)); !ok || got != want {
			t.Errorf("%s became %v (%T)", text, got, got)
		}
	}
	if _, ok := wire.Number("1e400"); ok {
		t.Error("1e400 was taken")
	}
	got := yiku.Memory{Metadata: yiku.Metadata{"a": json.Number("1"), "b": []any{json.Number("9007199254740993"), map[string]any{"c": json.Number("2")}}, "d": nil}}
	wire.Numbers(&got)
	want := yiku.Memory{Metadata: yiku.Metadata{"a": 1.0, "b": []any{json.Number("9007199254740993"), map[string]any{"c": 2.0}}, "d": nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestI4_BadText(t *testing.T) {
	t.Parallel()
	bad := "a\xff"
	for field, req := range map[string]any{
		"user_id":                yiku.GetSessionRequest{UserID: bad},
		"messages[1].content":    yiku.AppendMessagesRequest{Messages: []yiku.Message{{}, {Content: yiku.Text(bad)}}},
		"messages[0].content[0]": yiku.AppendMessagesRequest{Messages: []yiku.Message{{Content: yiku.Content{Parts: []yiku.Part{{Type: "text", Text: bad}}}}}},
		"metadata":               yiku.SaveMemoryRequest{Metadata: yiku.Metadata{"a": []any{map[string]any{bad: 1}}}},
		"topics[0]":              yiku.PatchMemoryRequest{Topics: yiku.Some([]string{bad})},
		"document":               yiku.ImportSessionRequest{Document: yiku.RawJSON(bad)},
		"filter.and[0].value":    yiku.SearchMemoryRequest{Filter: &yiku.Filter{And: []yiku.Filter{{Value: bad}}}},
		"blocks":                 yiku.PutWorkingRequest{Blocks: map[string]yiku.Block{"b": {Value: bad}}},
	} {
		if got, ok := wire.BadText(req); ok || got != field {
			t.Errorf("%s: %q, %v", field, got, ok)
		}
	}
	good := yiku.SaveMemoryRequest{Content: "好", ValidFrom: time.Now(), Importance: new(float64), Metadata: yiku.Metadata{"a": nil}}
	if field, ok := wire.BadText(good); !ok {
		t.Errorf("%s is refused", field)
	}
}

// TestParamsRoundTrip: what Format writes, Parse reads.
func TestParamsRoundTrip(t *testing.T) {
	t.Parallel()
	params := wire.Params(reflect.TypeFor[struct {
		S string    `json:"s,omitempty"`
		I int       `json:"i,omitempty"`
		L int64     `json:"l,omitempty"`
		B bool      `json:"b,omitempty"`
		F float64   `json:"f,omitempty"`
		T time.Time `json:"t,omitzero"`
	}](), "GET")
	rapid.Check(t, func(t *rapid.T) {
		values := []any{rapid.String().Draw(t, "s"), rapid.Int().Draw(t, "i"), rapid.Int64().Draw(t, "l"), rapid.Bool().Draw(t, "b"),
			rapid.Float64().Draw(t, "f"), time.UnixMicro(rapid.Int64Range(-1e15, 1e15).Draw(t, "t")).UTC()}
		for i, v := range values {
			text, ok := params[i].Format(reflect.ValueOf(v))
			if !ok {
				continue
			}
			got, fault := params[i].Parse(text)
			if fault != "" || !cmp.Equal(got.Interface(), v) {
				t.Fatalf("%v was written %q and read %v, %s", v, text, got, fault)
			}
		}
	})
}
