package observe

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

// Lines writes events as JSON Lines (G4): one object a line, snake_case keys,
// RFC 3339 times in UTC. A goroutine of its own writes them from a bounded
// buffer: Record never waits for the file. What finds no room is dropped and
// counted, and the next line that is written says how many were.
type Lines struct {
	w       *bufio.Writer
	buffer  chan Event
	done    chan struct{}
	dropped atomic.Int64
	failed  error // the first failure of a write; read after done

	mu     sync.RWMutex // guards closed, so that nothing is sent after it
	closed bool
}

// LinesOptions are the settings of [NewLines].
type LinesOptions struct {
	Buffer int // events that may wait; 4,096 where 0
}

// NewLines starts writing events to w. Close ends it; w stays open.
func NewLines(w io.Writer, opts *LinesOptions) *Lines {
	size := 4096
	if opts != nil && opts.Buffer > 0 {
		size = opts.Buffer
	}
	l := &Lines{w: bufio.NewWriter(w), buffer: make(chan Event, size), done: make(chan struct{})}
	go l.run()
	return l
}

// Record implements [Sink]. After Close events are dropped.
func (l *Lines) Record(_ context.Context, e Event) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		l.dropped.Add(1)
		return
	}
	select {
	case l.buffer <- e:
	default:
		l.dropped.Add(1)
	}
}

// Dropped returns how many events were not written because the buffer was full
// or the writer closed.
func (l *Lines) Dropped() int64 { return l.dropped.Load() }

// Close writes what waits and returns the first error of a write.
func (l *Lines) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.buffer)
	}
	l.mu.Unlock()
	<-l.done
	if l.failed != nil {
		return fmt.Errorf("write events: %w", l.failed)
	}
	return nil
}

func (l *Lines) run() {
	defer close(l.done)
	var told int64
	for e := range l.buffer {
		if n := l.dropped.Load(); n > told {
			l.write(Event{Time: e.Time, Layer: "observe", Operation: "drop_events", Outcome: "ok", Counts: map[string]int{"dropped": int(n - told)}})
			told = n
		}
		l.write(e)
		if len(l.buffer) == 0 {
			l.keep(l.w.Flush())
		}
	}
	l.keep(l.w.Flush())
}

func (l *Lines) write(e Event) {
	_, err := l.w.Write(e.AppendJSON(nil))
	l.keep(err)
}

func (l *Lines) keep(err error) {
	if l.failed == nil {
		l.failed = err
	}
}

// line is an event as it stands in the file.
type line struct {
	Time       string         `json:"time"`
	Layer      string         `json:"layer"`
	Operation  string         `json:"operation"`
	Outcome    string         `json:"outcome"`
	DurationMS float64        `json:"duration_ms"`
	Tenant     string         `json:"tenant,omitempty"`
	User       string         `json:"user_id,omitempty"`
	Session    string         `json:"session_id,omitempty"`
	MemoryIDs  []string       `json:"memory_ids,omitempty"`
	Tokens     map[string]int `json:"tokens,omitempty"`
	Counts     map[string]int `json:"counts,omitempty"`
	Request    string         `json:"request_id,omitempty"`
	Trace      string         `json:"trace_id,omitempty"`
	Experiment string         `json:"experiment,omitempty"`
	Variant    string         `json:"variant,omitempty"`
}

// AppendJSON appends the event to b as one JSON object and a newline. Callers
// choose some ids, so control and formatting characters (C0, C1, bidirectional
// and zero-width ones, line and paragraph separators) are escaped: a line
// stays one line on every terminal and reads as it is.
func (e Event) AppendJSON(b []byte) []byte {
	out, err := json.Marshal(line{
		Time: e.Time.UTC().Format(time.RFC3339Nano), Layer: e.Layer, Operation: e.Operation, Outcome: e.Outcome,
		DurationMS: float64(e.Duration.Microseconds()) / 1000,
		Tenant:     e.Tenant, User: e.User, Session: e.Session, MemoryIDs: e.MemoryIDs,
		Tokens: e.Tokens, Counts: e.Counts, Request: e.Request, Trace: e.Trace, Experiment: e.Experiment, Variant: e.Variant,
	})
	if err != nil {
		panic("observe: an event that is not JSON: " + err.Error()) // strings and numbers always are
	}
	for len(out) > 0 {
		r, n := utf8.DecodeRune(out)
		switch {
		case r < utf8.RuneSelf && r != 0x7f, !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			b = append(b, out[:n]...)
		case r > 0xffff:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		out = out[n:]
	}
	return append(b, '\n')
}
