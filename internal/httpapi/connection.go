package httpapi

import (
	"bytes"
	"container/list"
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/limit"
)

// Connections bounds the connections of a server and refuses requests on them
// before the HTTP server sees them: under overload most requests are refused,
// and what a refusal costs is what the others lose.
//
// At the bound a new connection takes the place of the one that has been
// silent between two requests, or before its first, for the longest; where
// none is silent, it is refused.
//
// A request is refused early only where the same credential was let in on the
// same connection before, the request lies whole in one read of the
// connection, and nothing about it is unusual. Everything else goes to the
// server, where the same limits hold.
type Connections struct {
	net.Listener
	limits *limit.Limiter
	most   int
	idle   time.Duration

	answers sync.RWMutex
	raw     map[limit.Refusal][]byte // answers as they travel; guarded by answers

	mu     sync.Mutex
	open   int                     // guarded by mu
	silent *list.List              // of *conn, the longest silent first; guarded by mu
	places map[*conn]*list.Element // in silent; guarded by mu
}

// NewConnections takes the connections of a listener, at most so many (0: any
// number). Idle is how long the server waits for the next request. Limits may
// be nil.
func NewConnections(l net.Listener, limits *limit.Limiter, most int, idle time.Duration) *Connections {
	if limits == nil {
		limits = limit.New(limit.Options{})
	}
	return &Connections{Listener: l, limits: limits, most: most, idle: idle,
		raw: map[limit.Refusal][]byte{}, silent: list.New(), places: map[*conn]*list.Element{}}
}

// Serve has a server take these connections, until the listener is closed.
func (l *Connections) Serve(s *http.Server) error {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	s.ConnState = l.changed
	return s.Serve(l)
}

// Accept implements net.Listener.
func (l *Connections) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: inner, all: l}
		if l.add(c) {
			return c, nil
		}
		l.limits.CountRefused(limit.Connections)
		_ = inner.SetWriteDeadline(time.Now().Add(time.Second)) // an empty buffer takes it at once
		_, _ = inner.Write(l.answer(limit.Refusal{Reason: limit.Connections, Retry: time.Second, Quota: l.most}, true))
		_ = inner.Close()
	}
}

// add counts a connection in, in the place of a silent one where need be.
func (l *Connections) add(c *conn) bool {
	l.mu.Lock()
	var old *conn
	if l.most > 0 && l.open >= l.most {
		first := l.silent.Front()
		if first == nil {
			l.mu.Unlock()
			return false
		}
		old = first.Value.(*conn)
		l.drop(old)
	}
	l.open++
	l.places[c] = l.silent.PushBack(c)
	l.mu.Unlock()
	if old != nil {
		_ = old.Conn.Close()
	}
	return true
}

// drop takes a connection out of the count. The lock is held.
func (l *Connections) drop(c *conn) {
	if c.dropped {
		return
	}
	c.dropped = true
	l.open--
	l.quiet(c, false)
}

// quiet notes that a connection is silent, or not any more. The lock is held.
func (l *Connections) quiet(c *conn, silent bool) {
	at, known := l.places[c]
	if known {
		l.silent.Remove(at)
		delete(l.places, c)
	}
	if silent {
		l.places[c] = l.silent.PushBack(c)
	}
}

// changed follows the state of the connections, as http.Server tells it.
func (l *Connections) changed(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	c.between.Store(state == http.StateIdle)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.dropped:
	case state == http.StateActive:
		l.quiet(c, false)
	case state == http.StateIdle:
		l.quiet(c, true)
	case state == http.StateClosed || state == http.StateHijacked:
		l.drop(c)
	}
}

// answer returns the bytes of a refusal. Those that do not change are made once.
func (l *Connections) answer(r limit.Refusal, end bool) []byte {
	r.Retry = time.Duration(limit.Seconds(r.Retry)) * time.Second
	if r.Reason == limit.Day {
		return rawRefusal(r, end)
	}
	l.answers.RLock()
	known, ok := l.raw[r]
	l.answers.RUnlock()
	if ok {
		return known
	}
	known = rawRefusal(r, end)
	l.answers.Lock()
	defer l.answers.Unlock()
	l.raw[r] = known
	return known
}

// conn is a connection of the server.
type conn struct {
	net.Conn
	all      *Connections
	between  atomic.Bool // what is read next begins a request
	caller   atomic.Pointer[knownCaller]
	extended time.Time // when a refusal gave the caller time for the next request; of the reading goroutine
	dropped  bool      // guarded by the lock of all
}

type connKey struct{}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// knownCaller is who sent the last request of a connection that was let in.
type knownCaller struct{ tenant, key, authorization string }

// remember notes who uses the connection.
func (c *conn) remember(who yiku.Principal, authorization string) {
	now := knownCaller{who.Tenant, who.Key, authorization}
	if old := c.caller.Load(); old == nil || *old != now {
		c.caller.Store(&now)
	}
}

// Read implements net.Conn. It answers requests that are refused, and gives
// the first that is not.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.between.Load() {
			return n, err
		}
		who := c.caller.Load()
		if who == nil || !isWhole(p[:n], who.authorization) {
			return n, nil
		}
		refusal, refused := c.all.limits.Refuse(who.tenant, who.key)
		if !refused {
			return n, nil
		}
		if now := time.Now(); now.Sub(c.extended) > time.Second { // not each time: it costs
			c.extended = now
			if err := c.Conn.SetDeadline(now.Add(c.all.idle)); err != nil {
				return 0, err
			}
		}
		if _, err := c.Conn.Write(c.all.answer(refusal, false)); err != nil {
			return 0, err
		}
	}
}

// isWhole reports whether the bytes are one whole, ordinary request for what
// is limited, with this value of Authorization ("" where there is none).
func isWhole(b []byte, authorization string) bool {
	head, body, found := bytes.Cut(b, []byte("\r\n\r\n"))
	if !found {
		return false
	}
	first, rest, _ := bytes.Cut(head, []byte("\r\n"))
	method, target, _ := bytes.Cut(first, []byte(" "))
	switch string(method) {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return false
	}
	if !bytes.HasPrefix(target, []byte("/v1/")) || !bytes.HasSuffix(target, []byte(" HTTP/1.1")) {
		return false
	}
	length, credential := -1, ""
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found || bytes.ContainsAny(name, " \t") {
			return false
		}
		value = bytes.Trim(value, " \t")
		switch {
		case isName(name, "Content-Length"):
			n, err := strconv.Atoi(string(value))
			if err != nil || length >= 0 || n < 0 {
				return false
			}
			length = n
		case isName(name, "Authorization"):
			if credential != "" || len(value) == 0 {
				return false
			}
			credential = string(value)
		case isName(name, "Transfer-Encoding"), isName(name, "Expect"), isName(name, "Upgrade"),
			isName(name, "Connection") && !strings.EqualFold(string(value), "keep-alive"):
			return false
		}
	}
	return credential == authorization && len(body) == max(0, length)
}

func isName(name []byte, header string) bool {
	return len(name) == len(header) && strings.EqualFold(string(name), header)
}
