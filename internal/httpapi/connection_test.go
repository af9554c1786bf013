package httpapi

import (
	"strings"
	"testing"
)

// TestIsWhole: only what is one whole and ordinary request may be refused by
// the connection; everything else is the HTTP server's to read.
func TestIsWhole(t *testing.T) {
	t.Parallel()
	const post = "POST /v1/memories HTTP/1.1\r\nHost: h\r\nauthorization:  Bearer k \r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n\r\nhello"
	if !isWhole([]byte(post), "Bearer k") {
		t.Fatal("control: an ordinary request is not known")
	}
	if !isWhole([]byte("GET /v1/memories?user_id=%E6%9E%97 HTTP/1.1\r\nHost: h\r\n\r\n"), "") {
		t.Error("a request without a body and a credential is not known")
	}
	for name, change := range map[string][2]string{
		"another credential":  {"Bearer k", "Bearer x"},
		"a second credential": {"Host: h", "Authorization: Bearer k"},
		"no credential":       {"authorization", "x-other"},
		"half a body":         {"hello", "hell"},
		"more than a body":    {"hello", "hello\r\n"},
		"two lengths":         {"Host: h", "Content-Length: 5"},
		"a negative length":   {"Length: 5", "Length: -5"},
		"a length of words":   {"Length: 5", "Length: five"},
		"chunks":              {"Host: h", "Transfer-Encoding: chunked"},
		"an expectation":      {"Host: h", "Expect: 100-continue"},
		"an upgrade":          {"Host: h", "Upgrade: h2c"},
		"a close":             {"Keep-Alive", "close"},
		"a blank before :":    {"Host:", "Host :"},
		"a folded line":       {"Host: h", "Host: h\r\n more"},
		"a header's half":     {"\r\n\r\n", "\r\n"},
		"another method":      {"POST", "BREW"},
		"the end of a method": {"POST", "OST"},
		"an open path":        {"/v1/memories", "/healthz"},
		"metrics":             {"/v1/memories", "/metrics"},
		"another version":     {"HTTP/1.1", "HTTP/1.0"},
	} {
		changed := strings.Replace(post, change[0], change[1], 1)
		if changed == post {
			t.Fatalf("%s: nothing was changed", name)
		}
		if isWhole([]byte(changed), "Bearer k") {
			t.Errorf("%s: taken for an ordinary request", name)
		}
	}
}
