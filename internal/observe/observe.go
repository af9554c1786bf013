// Package observe is what can be seen of a running Yiku: JSON Lines events (G4)
// and Prometheus metrics (G5). Neither ever holds memory text.
package observe

import (
	"context"
	"time"
)

// Event is one operation as it ended. It holds ids, counts and sizes, never
// content, queries or names.
type Event struct {
	Time      time.Time      // when it began
	Layer     string         // session, working, context, memory, …
	Tenant    string         //
	User      string         //
	Session   string         //
	Operation string         // the operation's id, as in internal/wire
	MemoryIDs []string       // the memories read or written; at most 50
	Tokens    map[string]int // token counts by part (memory, messages, full_history, …)
	Counts    map[string]int // other counts (messages, items, omitted, …)
	Duration  time.Duration  //
	Outcome   string         // ok, or the error's code
	Request   string         // the request's id, where there is one
	Trace     string         // the W3C trace id, where there is one

	Experiment, Variant string // that the user's request was part of, where one ran
}

// Sink takes events. Record must not block for long and must not fail.
type Sink interface {
	Record(ctx context.Context, e Event)
}

// Sinks hands each event to all of them.
type Sinks []Sink

// Record implements Sink.
func (s Sinks) Record(ctx context.Context, e Event) {
	for _, sink := range s {
		sink.Record(ctx, e)
	}
}

type requestKey struct{}

type requestInfo struct{ id, trace string }

// WithRequest returns a context that carries a request's id and trace id.
func WithRequest(ctx context.Context, id, trace string) context.Context {
	return context.WithValue(ctx, requestKey{}, requestInfo{id, trace})
}

// Request returns what WithRequest put into the context.
func Request(ctx context.Context) (id, trace string) {
	info, _ := ctx.Value(requestKey{}).(requestInfo)
	return info.id, info.trace
}
