package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// TestS12_ContentType asserts that nothing which a form can send is read.
func TestS12_ContentType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	const body = `{"user_id":"u","content":"c"}`
	for _, ct := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/merge-patch+json", "application/json; charset=gbk", "application/jsonp", "application/json, text/plain", ";"} {
		refused(t, w.send("POST", "/v1/memories", body, "Content-Type", ct), 415, "Content-Type")
	}
	refused(t, w.send("POST", "/v1/memories", body, "Content-Encoding", "gzip"), 415, "Content-Encoding")
	refused(t, w.send("GET", "/v1/memories?user_id=u", body), 400, "body")
	refused(t, w.send("POST", "/v1/memories", body, "If-Match", `"1"`), 400, "if_match")
	refused(t, w.send("DELETE", "/v1/memories/m?user_id=u", "", "If-Match", `1`), 400, "if_match")
	refused(t, w.send("POST", "/v1/memories", body, "Idempotency-Key", " "), 400, "idempotency_key")
}

// TestS12_Loopback asserts that without keys no web page can call.
func TestS12_Loopback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{loopback: true})
	call := func(host string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/memories", strings.NewReader(`{"user_id":"u","content":"c"}`))
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		return rec
	}
	for _, host := range []string{"localhost", "LOCALHOST:7421", "127.0.0.1:7421", "127.0.0.1", "[::1]:7421", "[::1]"} {
		if rec := call(host); rec.Code != 201 {
			t.Errorf("host %q: %d", host, rec.Code)
		}
	}
	for _, host := range []string{"", "evil.example", "evil.example:7421", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:", "127.0.0.1:x",
		"::1", "0.0.0.0", "127.0.0.2:7421", "localhost:80:80", "user@localhost", "[::1", "localhost."} {
		if p := problem(t, call(host)); p.Code != "forbidden" {
			t.Errorf("host %q: %+v", host, p)
		}
	}
	const host = "127.0.0.1:7421"
	for _, origin := range []string{"null", "", "http://evil.example", "http://localhost:7421", "http://127.0.0.1:3000", "http://127.0.0.1",
		"https://127.0.0.1:7421.evil.example", "file://127.0.0.1:7421", "http://x@127.0.0.1:7421", "http://127.0.0.1:7421/"} {
		if p := problem(t, call(host, "Origin", origin)); p.Code != "forbidden" {
			t.Errorf("origin %q: %+v", origin, p)
		}
	}
	if p := problem(t, call(host, "Origin", "http://"+host, "Origin", "http://evil.example")); p.Code != "forbidden" {
		t.Errorf("two origins: %+v", p)
	}
	for _, site := range []string{"cross-site", "same-site", "other"} {
		if p := problem(t, call(host, "Sec-Fetch-Site", site)); p.Code != "forbidden" {
			t.Errorf("site %q: %+v", site, p)
		}
	}
	for dest, want := range map[string]int{"document": 404, "iframe": 403} { // there is no panel here; the guard is what is asked
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		r.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {dest}}
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code != want {
			t.Errorf("a visit in a %s: %d", dest, rec.Code)
		}
	}
	if rec := call(host, "Origin", "http://"+host, "Sec-Fetch-Site", "same-origin"); rec.Code != 201 {
		t.Errorf("the panel: %d %s", rec.Code, rec.Body)
	}
}

// TestF3_EveryRouteNeedsACredential walks the route table.
func TestF3_EveryRouteNeedsACredential(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	reader := newWorld(t, settings{access: yiku.AccessRead})
	for _, op := range wire.Operations() {
		rec := w.send(op.Method, op.Path, "{}", "Authorization", "Bearer wrong")
		if p := problem(t, rec); p.Code != "unauthorized" || rec.Header().Get("WWW-Authenticate") == "" || *w.seen != nil {
			t.Errorf("%s without a key: %+v", op.ID, p)
		}
		if op.Access != yiku.AccessRead {
			if p := problem(t, reader.send(op.Method, op.Path, "{}")); p.Code != "forbidden" || *reader.seen != nil {
				t.Errorf("%s with a reader's key: %+v", op.ID, p)
			}
		}
	}
	if p := problem(t, w.send("GET", "/v1/no-such", "", "Authorization", "Bearer wrong")); p.Code != "unauthorized" {
		t.Errorf("an unknown path without a key: %+v", p)
	}
}

// TestI4_BodyLimit asserts that a body of exactly the limit is read, and that
// of a longer one nothing more than the limit is.
func TestI4_BodyLimit(t *testing.T) {
	t.Parallel()
	const limit = 4096
	w := newWorld(t, settings{maxBody: limit})
	body := func(n int) string {
		frame := `{"user_id":"u","content":""}`
		return strings.Replace(frame, `""`, `"`+str(n-len(frame))+`"`, 1)
	}
	if rec := w.send("POST", "/v1/memories", body(limit)); rec.Code != 201 {
		t.Errorf("exactly the limit: %d %s", rec.Code, rec.Body)
	}
	for _, known := range []bool{true, false} {
		r := httptest.NewRequest("POST", "/v1/memories", nil)
		source := &counter{r: strings.NewReader(str(100 * limit))}
		r.Body, r.ContentLength = io.NopCloser(source), -1
		if known {
			r.ContentLength = 100 * limit
		}
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if p := problem(t, rec); p.Code != "too_large" || rec.Code != 413 {
			t.Errorf("over the limit: %+v", p)
		}
		if source.n > limit+1 || known && source.n > 0 {
			t.Errorf("read %d bytes of a body over its limit", source.n)
		}
	}
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += n
	return n, err
}

// TestI4_Panic asserts that a panic is a problem and a log entry without the
// panic's text, and that the connection serves the next request.
func TestI4_Panic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{panics: true})
	srv := httptest.NewServer(w.handler)
	defer srv.Close()
	for range 2 {
		resp, err := srv.Client().Get(srv.URL + "/v1/memories?user_id=u")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 500 || !strings.Contains(string(body), `"code":"internal"`) || strings.Contains(string(body), "CANARY") || resp.Close {
			t.Errorf("%d %s, close %v", resp.StatusCode, body, resp.Close)
		}
	}
	if logs := w.logs.String(); !strings.Contains(logs, "request panicked") || !strings.Contains(logs, "stack") || strings.Contains(logs, "CANARY") {
		t.Errorf("logs %s", logs)
	}
}

// TestF3_MetricsAreTheOperators: metrics tell of all users of a tenant, so they
// are for an admin, and not for one who speaks for a single user.
func TestF3_MetricsAreTheOperators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		access yiku.Access
		user   string
		want   int
	}{{yiku.AccessAdmin, "", http.StatusOK}, {yiku.AccessAdmin, "ann", http.StatusForbidden}, {yiku.AccessWrite, "", http.StatusForbidden}} {
		w := newWorld(t, settings{access: c.access, user: c.user})
		if got := w.send(http.MethodGet, "/metrics", "").Code; got != c.want {
			t.Errorf("%s of %q: %d, want %d", c.access, c.user, got, c.want)
		}
	}
}

// TestS12_AnswersAreForTheirCaller: no answer, right or wrong, is guessed to be
// something else by a browser, or kept by what lies between.
func TestS12_AnswersAreForTheirCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{answer: yiku.Memory{ID: "m"}})
	for _, target := range []string{"/v1/memories/m?user_id=u", "/v1/memories/m", "/v1/none", "/healthz"} {
		rec := w.send(http.MethodGet, target, "")
		got := [2]string{rec.Header().Get("X-Content-Type-Options"), rec.Header().Get("Cache-Control")}
		if want := [2]string{"nosniff", "no-store"}; got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}
