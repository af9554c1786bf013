package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// log keeps what a process writes, and tells when a text has come.
type log struct {
	mu    sync.Mutex // guards what follows
	text  strings.Builder
	await string
	seen  chan struct{}
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if l.await != "" && strings.Contains(l.text.String(), l.await) {
		close(l.seen)
		l.await = ""
	}
	return len(p), nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// expect returns a channel that is closed when the text is written.
func (l *log) expect(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.await, l.seen = text, make(chan struct{})
	return l.seen
}

const slowBody = `{"user_id": "lin", "messages": [{"id": "m1", "role": "user", "content": "慢 slow"}]}`

// slow begins a request and returns when the server waits for its body.
func slow(t *testing.T, p *process) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /v1/sessions/s1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(slowBody))
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := r.ReadString('\n'); err != nil || line != want {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	return conn, r
}

// TestR19_RunningRequestIsAnswered stops a server in the middle of a request.
func TestR19_RunningRequestIsAnswered(t *testing.T) {
	t.Parallel()
	p := start(t, program(t), t.TempDir())
	conn, r := slow(t, p)
	stopping := p.stderr.expect("server stopping")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-stopping
	if _, err := fmt.Fprint(conn, slowBody); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusCreated || !res.Close {
		t.Errorf("status %d, connection to be closed: %v", res.StatusCode, res.Close)
	}
	<-p.rest
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, &p.stderr)
	}
}

// TestR19_SecondSignalEndsAtOnce does not wait for a request that never ends.
func TestR19_SecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, program(t), t.TempDir())
	slow(t, p)
	stopping := p.stderr.expect("server stopping")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-stopping
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.rest
	err, _ := p.cmd.Wait().(*exec.ExitError)
	if err == nil {
		t.Fatal("the server ended in order although a request was running")
	}
	if status, ok := err.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("the server ended with %v", err)
	}
}
