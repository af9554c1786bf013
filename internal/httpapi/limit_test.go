package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/httpapi"
	"github.com/yiku-ai/yiku/internal/limit"
	"github.com/yiku-ai/yiku/internal/servicetest"
	"github.com/yiku-ai/yiku/internal/wire"
)

// busy is a server whose requests wait until they are let go.
type busy struct {
	t       *testing.T
	address string
	limits  *limit.Limiter
	handler http.Handler
	began   chan struct{} // one for each request that reached the service
	goOn    chan struct{}
	more    string // what makes the answers long
}

func newBusy(t *testing.T, limits limit.Options, connections int, header time.Duration) *busy {
	t.Helper()
	b := &busy{t: t, limits: limit.New(limits), began: make(chan struct{}, 100), goOn: make(chan struct{})}
	stub := servicetest.Stub{Handle: func(context.Context, string, any) (any, error) {
		b.began <- struct{}{}
		<-b.goOn
		return yiku.Session{ID: "s" + b.more}, nil
	}}
	b.handler = httpapi.New(httpapi.Options{
		Authenticate: func(r *http.Request) (yiku.Principal, error) {
			if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer key-") {
				tenant := "t"
				if strings.HasSuffix(r.Header.Get("Authorization"), "other") {
					tenant = "other"
				}
				return yiku.Principal{Tenant: tenant, Key: r.Header.Get("Authorization"), Access: yiku.AccessAdmin}, nil
			}
			return yiku.Principal{}, yiku.ErrUnauthorized
		},
		Service: func(yiku.Principal) yiku.Service { return stub },
		Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		Limits:  b.limits,
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: b.handler, ReadHeaderTimeout: header}
	ended := make(chan error, 1)
	go func() { ended <- httpapi.NewConnections(listener, b.limits, connections, time.Minute).Serve(server) }()
	b.address = listener.Addr().String()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return b
}

// dialogue is one connection to a server.
type dialogue struct {
	*busy
	conn net.Conn
	in   *bufio.Reader
}

func (b *busy) dial() *dialogue {
	b.t.Helper()
	c, err := net.Dial("tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.Close() })
	return &dialogue{b, c, bufio.NewReader(c)}
}

func (d *dialogue) say(text string) {
	d.t.Helper()
	if _, err := io.WriteString(d.conn, text); err != nil {
		d.t.Fatal(err)
	}
}

// hear reads an answer with its body.
func (d *dialogue) hear() (*http.Response, string) {
	d.t.Helper()
	res, err := http.ReadResponse(d.in, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res, string(body)
}

func get(key string) string {
	return "GET /v1/sessions/s?user_id=u HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key + "\r\n\r\n"
}

// isRefusal asserts a 429 with everything that it must say.
func isRefusal(t *testing.T, status int, h http.Header, body string) {
	t.Helper()
	var p wire.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err, body)
	}
	if status != http.StatusTooManyRequests || p.Status != status || p.Code != "limited" || p.Detail == "" || p.Errors == nil ||
		h.Get("Content-Type") != "application/problem+json" || h.Get("Retry-After") == "" ||
		!strings.Contains(h.Get("RateLimit"), ";r=0;t="+h.Get("Retry-After")) || !strings.Contains(h.Get("RateLimit-Policy"), ";q=") {
		t.Errorf("not a whole refusal: %d %v %s", status, h, body)
	}
}

// TestR17_RefusedBeforeAnything fills a server and sends more: refused early
// on a connection that is known, by the server on a new one, and never let
// through to the service; those who look after the server get through.
// Lessons: L119.
func TestR17_RefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	b := newBusy(t, limit.Options{Gate: limit.Bounds{Running: 1}}, 0, 0)
	known := b.dial()
	known.say(get("key-a"))
	<-b.began
	b.goOn <- struct{}{}
	if res, _ := known.hear(); res.StatusCode != http.StatusOK || res.Header.Get("X-Request-ID") == "" {
		t.Fatal(res.StatusCode)
	}
	fills := b.dial()
	fills.say(get("key-a"))
	<-b.began
	body := `{"user_id":"林","content":"a` + strings.Repeat("x", 100) + `"}`
	post := fmt.Sprintf("POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer key-a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	sent := int64(0)
	for i, tt := range []struct {
		name, text string
		on         *dialogue
		early      bool
	}{
		{"known", get("key-a"), known, true},
		{"known, with a body", post, known, true},
		{"known, again", get("key-a"), known, true},
		{"known, another key", get("key-b"), known, false},
		{"new", get("key-a"), b.dial(), false},
		{"chunked", strings.Replace(post, fmt.Sprint("Content-Length: ", len(body)), "Transfer-Encoding: chunked", 1), b.dial(), false},
	} {
		if tt.name == "chunked" { // two chunks: the whole and the end
			tt.text = strings.Replace(tt.text, body, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), 1)
		}
		early := false
		for range 1000 { // the server may have begun to read the first that follow an answer
			tt.on.say(tt.text)
			res, body := tt.on.hear()
			isRefusal(t, res.StatusCode, res.Header, body)
			sent++
			if early = res.Header.Get("X-Request-ID") == ""; early || !tt.early {
				break
			}
		}
		if early != tt.early {
			t.Errorf("%d %s: early %v", i, tt.name, early)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Authorization", "Bearer key-a")
		if b.handler.ServeHTTP(rec, r); rec.Code != http.StatusOK {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	known.say(strings.Replace(get("key-b"), "key-b", "nobody", 1))
	if res, _ := known.hear(); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger on a known connection: %d", res.StatusCode)
	}
	if n := len(b.began); n != 0 {
		t.Errorf("%d refused requests reached the service", n)
	}
	if s := b.limits.Stats(); s.Refused["queue_full"] != sent || s.Running != 1 {
		t.Errorf("counted: %+v", s)
	}
	b.goOn <- struct{}{}
	if res, _ := fills.hear(); res.StatusCode != http.StatusOK {
		t.Error("who was let in was not answered")
	}
	known.say(get("key-a")) // control: once there is room, the same request gets through
	<-b.began
	b.goOn <- struct{}{}
	if res, _ := known.hear(); res.StatusCode != http.StatusOK {
		t.Error("refused although there is room")
	}
	boardtest.Report(t, boardtest.Row{ID: "R17", Trials: 6, What: "kinds of requests over the limit reached the service or got half a refusal"})
}

// TestF3_RateOverHTTP: who is over the rate of the key is told when to come
// again, in the same form early and late.
func TestF3_RateOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBusy(t, limit.Options{Rate: 0.001, Burst: 1}, 0, 0)
	close(b.goOn)
	d := b.dial()
	d.say(get("key-a"))
	if res, _ := d.hear(); res.StatusCode != http.StatusOK {
		t.Fatal(res.StatusCode)
	}
	for _, on := range []*dialogue{d, b.dial()} {
		on.say(get("key-a"))
		res, body := on.hear()
		isRefusal(t, res.StatusCode, res.Header, body)
		if got := res.Header.Get("RateLimit-Policy"); got != `"rate";q=1;w=1000` {
			t.Errorf("policy %s", got)
		}
	}
	d.say(get("key-b"))
	if res, _ := d.hear(); res.StatusCode != http.StatusOK {
		t.Error("another key is refused:", res.StatusCode)
	}
}

// TestConnectionBound: at the bound the longest silent connection goes; where
// all are busy, the new one is refused.
func TestConnectionBound(t *testing.T) {
	t.Parallel()
	b := newBusy(t, limit.Options{}, 3, 0)
	ask := func() *dialogue {
		d := b.dial()
		d.say(get("key-a"))
		<-b.began // it is busy from here on
		return d
	}
	oldest, newer := b.dial(), b.dial() // silent, in this order
	second, third := ask(), ask()       // the third of three, and one too many
	if _, err := oldest.in.ReadByte(); err == nil {
		t.Error("the longest silent connection stayed")
	}
	newer.say(get("key-a")) // control: the other silent one is still served
	<-b.began
	res, body := b.dial().hear()
	isRefusal(t, res.StatusCode, res.Header, body)
	if got := b.limits.Stats().Refused["connections"]; got != 1 {
		t.Errorf("%d connections refused, want 1", got)
	}
	close(b.goOn)
	for _, d := range []*dialogue{third, second, newer} {
		if res, _ := d.hear(); res.StatusCode != http.StatusOK {
			t.Error("a busy connection was lost:", res.StatusCode)
		}
	}
}

// TestSlowLoris: a header that does not end in time ends its connection; the
// control, a header that ends, is answered.
func TestSlowLoris(t *testing.T) {
	t.Parallel()
	b := newBusy(t, limit.Options{}, 0, 50*time.Millisecond)
	close(b.goOn)
	slow, whole := b.dial(), b.dial()
	slow.say("GET /v1/sessions/s?user_id=u HTTP/1.1\r\nHost: loc")
	whole.say(get("key-a"))
	if res, _ := whole.hear(); res.StatusCode != http.StatusOK {
		t.Error(res.StatusCode)
	}
	if rest, err := io.ReadAll(slow.in); err != nil || strings.Contains(string(rest), "200") {
		t.Errorf("a header without an end was answered: %q, %v", rest, err)
	}
}
