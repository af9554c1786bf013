package httpapi_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/limit"
)

// postHead is a request whose body of so many bytes is to come. The server asks
// for it when it reads it, which tells that it waits.
func postHead(key string, bytes int) string {
	return fmt.Sprintf("POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", key, bytes)
}

// isAnswered asserts that a request gets through.
func (b *busy) isAnswered(key string) {
	b.t.Helper()
	d := b.dial()
	d.say(get(key))
	if res, body := d.hear(); res.StatusCode != http.StatusOK {
		b.t.Errorf("%s is kept out: %d %s", key, res.StatusCode, body)
	}
}

// TestR17_SlowBodiesHoldNoPlace: more bodies that do not arrive than there are
// places keep nobody out, of their own tenant or of another; and the one that
// arrives at last is served.
func TestR17_SlowBodiesHoldNoPlace(t *testing.T) {
	t.Parallel()
	b := newBusy(t, limit.Options{Gate: limit.Bounds{Running: 1}}, 0, 0)
	close(b.goOn)
	body := `{"user_id":"林","content":"爱喝茶"}`
	var slow []*dialogue
	for range 8 {
		d := b.dial()
		d.say(postHead("key-a", len(body)))
		if res, err := http.ReadResponse(d.in, nil); err != nil || res.StatusCode != http.StatusContinue {
			t.Fatal("the body is not read", err)
		}
		d.say(body[:6])
		slow = append(slow, d)
	}
	if s := b.limits.Stats(); s.Running != 0 {
		t.Errorf("%d places are held by bodies", s.Running)
	}
	b.isAnswered("key-a")
	b.isAnswered("key-other")
	slow[3].say(body[6:])
	if res, text := slow[3].hear(); res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusBadRequest {
		t.Errorf("a whole body: %d %s", res.StatusCode, text)
	}
}

// TestR17_SlowReadersHoldNoPlace: answers that are not read keep nobody out,
// and those of one tenant take half of the room at most.
func TestR17_SlowReadersHoldNoPlace(t *testing.T) {
	t.Parallel()
	const size = 16 << 20 // beyond what a connection takes on
	b := newBusy(t, limit.Options{Gate: limit.Bounds{Running: 1}, Flight: 5 * size}, 0, 0)
	close(b.goOn)
	b.more = strings.Repeat("x", size)
	ask := func(key string) (*dialogue, byte) {
		d := b.dial()
		if err := d.conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		d.say(get(key))
		first, err := d.in.Peek(len("HTTP/1.1 2"))
		if err != nil {
			t.Fatal(err)
		}
		return d, first[len(first)-1]
	}
	for i := range 2 {
		if _, status := ask("key-a"); status != '2' {
			t.Fatalf("answer %d of the room: status %cxx", i, status)
		}
	}
	third, status := ask("key-a")
	if status != '4' {
		t.Fatalf("beyond half of the room: status %cxx", status)
	}
	res, body := third.hear()
	isRefusal(t, res.StatusCode, res.Header, body)
	if _, status := ask("key-other"); status != '2' {
		t.Errorf("another tenant is kept out: status %cxx", status)
	}
	if s := b.limits.Stats(); s.Running != 0 || s.Refused["in_flight"] != 1 {
		t.Errorf("counted: %+v", s)
	}
}
