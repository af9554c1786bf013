package bench_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// traffic is requests that are made before they are sent, so that sending them
// costs the generator little: a mix of appends, saves, searches and contexts.
type traffic struct{ requests [][]byte }

// newTraffic makes so many requests of a tenant's users with its key ("" where
// the server has none): of ten, four append, one saves, three search and two
// ask for a context.
func newTraffic(b *testing.B, host, key string, users, count int, seed uint64) traffic {
	b.Helper()
	w := newWords(seed)
	var t traffic
	for i := range count {
		user := userName(w.rng.IntN(users))
		path, body := "/v1/context", map[string]any{"user_id": user, "session_id": "s", "query": w.query()}
		switch i % 10 {
		case 0, 3, 5, 8:
			path, body = "/v1/sessions/s/messages", map[string]any{"user_id": user, "messages": []any{map[string]any{"role": "user", "content": w.sentence(i)}}}
		case 1:
			path, body = "/v1/memories", map[string]any{"user_id": user, "content": w.sentence(i)}
		case 2, 6, 9:
			path, body = "/v1/memories/search", map[string]any{"user_id": user, "query": w.query()}
		}
		text, err := json.Marshal(body)
		if err != nil {
			b.Fatal(err)
		}
		head := "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\n"
		if key != "" {
			head += "Authorization: Bearer " + key + "\r\n"
		}
		t.requests = append(t.requests, append([]byte(head+"\r\n"), text...))
	}
	rand.New(rand.NewPCG(seed, 2)).Shuffle(count, func(i, j int) { t.requests[i], t.requests[j] = t.requests[j], t.requests[i] })
	return t
}

// load is traffic as it is offered: over so many connections, each with one
// request at a time.
type load struct {
	traffic
	address     string
	connections int
	rate        float64 // requests a second, whatever becomes of them; 0: the next when the last is answered
}

// result is what became of a load: done counts what was answered within its time.
type result struct {
	took                     time.Duration
	sent, done, refused, bad int
	accepted                 timings // from sending to the end of the answer
	failure                  string  // of one that went wrong
}

func (r result) goodput() float64 {
	if r.took == 0 {
		return 0
	}
	return float64(r.done) / r.took.Seconds()
}

func (r *result) at(q float64) time.Duration {
	if len(r.accepted) == 0 {
		return 0
	}
	slices.Sort(r.accepted)
	return r.accepted[int(q*float64(len(r.accepted)-1))]
}

func (r *result) add(other result) {
	r.took += other.took
	r.sent, r.done, r.refused, r.bad = r.sent+other.sent, r.done+other.done, r.refused+other.refused, r.bad+other.bad
	r.accepted = append(r.accepted, other.accepted...)
	if other.failure != "" {
		r.failure = other.failure
	}
}

// run offers the load for a time.
func (l load) run(b *testing.B, last time.Duration) result {
	b.Helper()
	var next atomic.Int64
	var wait sync.WaitGroup
	parts := make([]result, l.connections)
	begun := time.Now()
	for i := range parts {
		wait.Go(func() { parts[i] = l.connection(&next, begun, last) })
	}
	wait.Wait()
	all := result{took: last}
	for _, p := range parts {
		all.add(p)
	}
	return all
}

// connection sends requests over one connection until the time is over. With a
// rate, the n-th request is due at its time: the next free connection sends it.
func (l load) connection(next *atomic.Int64, begun time.Time, last time.Duration) (r result) {
	conn, err := net.Dial("tcp", l.address)
	if err != nil {
		r.bad, r.failure = 1, err.Error()
		return r
	}
	defer conn.Close()
	in, pace := bufio.NewReaderSize(conn, 64<<10), time.NewTimer(0)
	defer pace.Stop()
	for {
		n := next.Add(1) - 1
		due := time.Now()
		if l.rate > 0 {
			due = begun.Add(time.Duration(float64(n) / l.rate * float64(time.Second)))
		}
		if due.Sub(begun) >= last || time.Since(begun) >= last {
			return r
		}
		if l.rate > 0 {
			pace.Reset(time.Until(due))
			<-pace.C
		}
		sent := time.Now()
		_, err := conn.Write(l.requests[int(n)%len(l.requests)])
		status := 0
		if err == nil {
			status, _, err = readAnswer(in)
		}
		r.sent++
		switch {
		case err != nil:
			r.bad, r.failure = r.bad+1, err.Error()
			return r
		case status == http.StatusTooManyRequests:
			r.refused++
		case status >= 200 && status < 300:
			if time.Since(begun) < last {
				r.done++
			}
			r.accepted = append(r.accepted, time.Since(sent))
		default:
			r.bad, r.failure = r.bad+1, fmt.Sprint("status ", status)
		}
	}
}

// readAnswer reads one answer and gives its status. It looks at no more than it
// must, so that the generator is not what is measured.
func readAnswer(in *bufio.Reader) (status, length int, err error) {
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		switch {
		case first:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, 0, err
			}
		case len(line) == 2:
			_, err := in.Discard(length)
			return status, length, err
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(line[16 : len(line)-2])); err != nil {
				return 0, 0, err
			}
		}
	}
}
