package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/internal/wire"
)

// serve starts the HTTP API over a service and returns a client of it.
func serve(t *testing.T, s yiku.Service) *client.Client {
	t.Helper()
	return dial(t, httpapi.New(httpapi.Options{
		Authenticate: func(r *http.Request) (yiku.Principal, error) {
			if r.Header.Get("Authorization") != "Bearer key" {
				return yiku.Principal{}, yiku.ErrUnauthorized
			}
			return yiku.Principal{Tenant: "t", Access: yiku.AccessAdmin}, nil
		},
		Service: func(yiku.Principal) yiku.Service { return s },
	}), &client.Options{APIKey: "key"})
}

func dial(t *testing.T, h http.Handler, opts *client.Options) *client.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// fill gives every field below v a value that is right for a request.
func fill(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)))
		return
	case yiku.Content:
		v.Set(reflect.ValueOf(yiku.Text("你好")))
		return
	case yiku.RawJSON:
		v.Set(reflect.ValueOf(yiku.RawJSON(`{"a":[1]}`)))
		return
	case yiku.Filter:
		v.Set(reflect.ValueOf(yiku.Filter{Field: "type", Op: yiku.OpEq, Value: "fact"}))
		return
	}
	if _, ok := wire.OptOf(v.Type()); ok {
		v.Field(0).SetBool(true)
		fill(v.Field(2), depth+1)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("值-1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.25)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Interface:
		v.Set(reflect.ValueOf("任意"))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), depth+1)
		fill(v.Index(1), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, depth+1)
		v.SetMapIndex(reflect.ValueOf("键"), e)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	}
}

// TestF2_EveryOperationTravels calls every method with every field set, and
// once with the required ones only, and asserts that request and answer arrive
// as they were sent.
func TestF2_EveryOperationTravels(t *testing.T) {
	t.Parallel()
	var id string
	var seen, answer any
	c := serve(t, servicetest.Stub{Handle: func(_ context.Context, op string, req any) (any, error) {
		id, seen = op, req
		return answer, nil
	}})
	service := reflect.ValueOf(yiku.Service(c))
	for _, op := range wire.Operations() {
		method := service.MethodByName(camel(op.ID))
		for _, full := range []bool{true, false} {
			req, res := reflect.New(op.Request).Elem(), reflect.New(op.Response).Elem()
			for _, p := range wire.Params(op.Request, op.Method) {
				if f := req.FieldByIndex(p.Index); full || p.Required {
					fill(f, 0)
				}
			}
			if req.FieldByName("IfMatch").IsValid() && full {
				req.FieldByName("IfMatch").SetString(`"1", W/"2"`)
			}
			if full {
				fill(res, 0)
			}
			answer = res.Interface()
			out := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), req})
			if err, _ := out[1].Interface().(error); err != nil {
				t.Errorf("%s: %v", op.ID, err)
				continue
			}
			if id != op.ID {
				t.Errorf("%s arrived as %s", op.ID, id)
			}
			if diff := cmp.Diff(req.Interface(), seen); diff != "" {
				t.Errorf("%s: request (-sent +arrived):\n%s", op.ID, diff)
			}
			if diff := cmp.Diff(answer, out[0].Interface(), emptyIsNil()); diff != "" {
				t.Errorf("%s: answer (-sent +arrived):\n%s", op.ID, diff)
			}
		}
	}
}

// emptyIsNil: lists of answers are never null, so nil arrives as empty.
func emptyIsNil() cmp.Option {
	return cmp.FilterValues(func(x, y any) bool {
		a, b := reflect.ValueOf(x), reflect.ValueOf(y)
		empty := func(v reflect.Value) bool {
			return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
		}
		return a.IsValid() && b.IsValid() && empty(a) && empty(b)
	}, cmp.Ignore())
}

func camel(id string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(id, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// TestF2_ErrorsTravel asserts that each sentinel is found on the client's side
// with its fields, and that there is exactly one.
// Lessons: L24.
func TestF2_ErrorsTravel(t *testing.T) {
	t.Parallel()
	sentinels := []error{yiku.ErrInvalid, yiku.ErrUnauthorized, yiku.ErrForbidden, yiku.ErrNotFound, yiku.ErrConflict, yiku.ErrForgotten,
		yiku.ErrPreconditionFailed, yiku.ErrTooLarge, yiku.ErrLimited, yiku.ErrConsentWithdrawn, yiku.ErrUnsupported, yiku.ErrUnavailable}
	var err error
	c := serve(t, servicetest.Stub{Handle: func(context.Context, string, any) (any, error) { return nil, err }})
	for _, want := range sentinels {
		err = fmt.Errorf("inner: %w", &yiku.Error{Sentinel: want, Detail: "why", Fields: []yiku.FieldError{{Field: "a", Message: "b"}}, RetryAfter: 3 * time.Second})
		_, got := c.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "u", Query: "q"})
		for _, s := range sentinels {
			if errors.Is(got, s) != (s == want) {
				t.Errorf("%v arrived as %v", want, got)
			}
		}
		var e *yiku.Error
		if !errors.As(got, &e) || e.Detail != "why" || len(e.Fields) != 1 || e.RetryAfter != 3*time.Second || e.RequestID == "" {
			t.Errorf("%v arrived as %+v", want, e)
		}
	}
	err = errors.New("secret of a driver")
	if _, got := c.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "u", Query: "q"}); !errors.Is(got, yiku.ErrUnavailable) || strings.Contains(got.Error(), "secret") {
		t.Errorf("a fault arrived as %v", got)
	}
}

// script answers each request with the next of its handlers, the last again
// and again.
type script struct {
	mu       sync.Mutex
	handlers []http.HandlerFunc
	calls    int
	waits    []time.Duration
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h := s.handlers[min(s.calls, len(s.handlers)-1)]
	s.calls++
	s.mu.Unlock()
	h(w, r)
}

// options are those of a client whose every try is a connection of its own:
// on a kept one net/http repeats some requests by itself.
func (s *script) options() *client.Options {
	return &client.Options{
		HTTPClient: &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Jitter: func() float64 { return 0.5 },
		Wait: func(ctx context.Context, d time.Duration) error {
			s.waits = append(s.waits, d)
			return ctx.Err()
		},
	}
}

// count returns how many requests have come.
func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{}`)
	}
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestF2_Retries asserts what is tried again, how often, and after how long.
func TestF2_Retries(t *testing.T) {
	t.Parallel()
	get := func(c *client.Client) error {
		_, err := c.GetMemory(t.Context(), yiku.MemoryRequest{ID: "m", UserID: "u"})
		return err
	}
	save := func(key string) func(*client.Client) error {
		return func(c *client.Client) error {
			_, err := c.SaveMemory(t.Context(), yiku.SaveMemoryRequest{Idempotent: yiku.Idempotent{IdempotencyKey: key}, UserID: "u", Content: "c"})
			return err
		}
	}
	for name, c := range map[string]struct {
		handlers []http.HandlerFunc
		call     func(*client.Client) error
		calls    int
		waits    []time.Duration
		want     error
	}{
		"read, 503 twice":        {[]http.HandlerFunc{status(503), status(503), status(200)}, get, 3, []time.Duration{75 * time.Millisecond, 150 * time.Millisecond}, nil},
		"read, 503 always":       {[]http.HandlerFunc{status(503)}, get, 3, []time.Duration{75 * time.Millisecond, 150 * time.Millisecond}, yiku.ErrUnavailable},
		"read, Retry-After":      {[]http.HandlerFunc{status(503, "Retry-After", "2"), status(200)}, get, 2, []time.Duration{2 * time.Second}, nil},
		"read, long Retry-After": {[]http.HandlerFunc{status(503, "Retry-After", "3600"), status(200)}, get, 2, []time.Duration{30 * time.Second}, nil},
		"read, cut connection":   {[]http.HandlerFunc{abort, status(200)}, get, 2, []time.Duration{75 * time.Millisecond}, nil},
		"read, 429":              {[]http.HandlerFunc{status(429)}, get, 1, nil, yiku.ErrLimited},
		"read, 404":              {[]http.HandlerFunc{status(404)}, get, 1, nil, yiku.ErrNotFound},
		"read, 500":              {[]http.HandlerFunc{status(500)}, get, 1, nil, yiku.ErrUnavailable},
		"read, redirect":         {[]http.HandlerFunc{status(307, "Location", "/elsewhere")}, get, 1, nil, yiku.ErrUnavailable},
		"read, no JSON":          {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }}, get, 1, nil, yiku.ErrUnavailable},
		"write without key":      {[]http.HandlerFunc{status(503), status(201)}, save(""), 1, nil, yiku.ErrUnavailable},
		"cut write without key":  {[]http.HandlerFunc{abort, status(201)}, save(""), 1, nil, yiku.ErrUnavailable},
		"write with key":         {[]http.HandlerFunc{status(503), abort, status(201)}, save("k"), 3, []time.Duration{75 * time.Millisecond, 150 * time.Millisecond}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{handlers: c.handlers}
			cl := dial(t, s, s.options())
			if err := c.call(cl); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("error %v; want %v", err, c.want)
			}
			if n := s.count(); n != c.calls {
				t.Errorf("%d calls; want %d", n, c.calls)
			}
			if diff := cmp.Diff(c.waits, s.waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestF2_Contexts asserts that a context's own error stays itself, before, in
// and between the tries.
func TestF2_Contexts(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	c := dial(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(started)
		<-release
	}), nil)
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	_, err := c.GetMemory(ctx, yiku.MemoryRequest{ID: "m", UserID: "u"})
	if !errors.Is(err, context.Canceled) || errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("in the call: %v", err)
	}
	if _, err = c.GetMemory(ctx, yiku.MemoryRequest{ID: "m", UserID: "u"}); !errors.Is(err, context.Canceled) {
		t.Errorf("before the call: %v", err)
	}

	between, stop := context.WithCancel(t.Context())
	s := &script{handlers: []http.HandlerFunc{status(503)}}
	opts := s.options()
	opts.Wait = func(ctx context.Context, _ time.Duration) error {
		stop()
		return ctx.Err()
	}
	if _, err = dial(t, s, opts).GetMemory(between, yiku.MemoryRequest{ID: "m", UserID: "u"}); !errors.Is(err, context.Canceled) || s.count() != 1 {
		t.Errorf("between two tries: %v after %d calls", err, s.count())
	}
}

// TestI4_NothingIsChangedOnTheWay asserts that what could not travel as it is
// is refused before it leaves, and that errors of the connection hold no words
// of the request.
func TestI4_NothingIsChangedOnTheWay(t *testing.T) {
	t.Parallel()
	s := &script{handlers: []http.HandlerFunc{abort}}
	c := dial(t, s, s.options())
	for field, call := range map[string]func() error{
		"content": func() error {
			_, err := c.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "u", Content: "a\xff"})
			return err
		},
		"body": func() error {
			_, err := c.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "u", Content: "a", Metadata: yiku.Metadata{"a": make(chan int)}})
			return err
		},
		"id": func() error { _, err := c.GetMemory(t.Context(), yiku.MemoryRequest{UserID: "u"}); return err },
		"idempotency_key": func() error {
			_, err := c.SaveMemory(t.Context(), yiku.SaveMemoryRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "a\r\nb"}, UserID: "u", Content: "a"})
			return err
		},
		"if_match": func() error {
			_, err := c.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{Conditional: yiku.Conditional{IfMatch: "a\nb"}, ID: "m", UserID: "u"})
			return err
		},
	} {
		err := call()
		var e *yiku.Error
		if !errors.Is(err, yiku.ErrInvalid) || !errors.As(err, &e) || e.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	_, err := c.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "CANARY", Subject: "CANARY"})
	if !errors.Is(err, yiku.ErrUnavailable) || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("error %v", err)
	}
}

// TestF2_NewerServer asserts that members which this version does not know are
// ignored, and that numbers in metadata keep their value.
func TestF2_NewerServer(t *testing.T) {
	t.Parallel()
	var got *http.Request
	c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, `{"id":"m","content":"好","mood":{"new":true},"metadata":{"n":9007199254740993,"f":1.5}}`)
	}), &client.Options{APIKey: "secret", UserAgent: "test"})
	trace := wire.ParseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	m, err := c.GetMemory(wire.WithTrace(t.Context(), trace), yiku.MemoryRequest{ID: "a/b ..", UserID: "小明 & co"})
	if err != nil {
		t.Fatal(err)
	}
	want := yiku.Memory{ID: "m", Content: "好", Metadata: yiku.Metadata{"n": json.Number("9007199254740993"), "f": 1.5}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.URL.Path != "/v1/memories/a/b .." || got.URL.EscapedPath() != "/v1/memories/a%2Fb%20.." || got.URL.Query().Get("user_id") != "小明 & co" {
		t.Errorf("url %s", got.URL)
	}
	for name, value := range map[string]string{"Authorization": "Bearer secret", "User-Agent": "test", "Traceparent": trace.Traceparent()} {
		if got.Header.Get(name) != value {
			t.Errorf("%s: %q", name, got.Header.Get(name))
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:7421", "ftp://x", "http://", "http://x?a=b", "http://x#y", "://", "http://[::1"} {
		if _, err := client.New(bad, nil); !errors.Is(err, yiku.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	var path string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		_, _ = io.WriteString(w, `{}`)
	}))
	defer srv.Close()
	c, err := client.New(srv.URL+"/yiku/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetMemory(t.Context(), yiku.MemoryRequest{ID: "m", UserID: "u"}); err != nil || path != "/yiku/v1/memories/m" {
		t.Errorf("path %q, %v", path, err)
	}
}
