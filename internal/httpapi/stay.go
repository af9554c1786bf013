package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/yiku-ai/yiku/internal/limit"
)

// stay is what a request holds of the server's limits, from its admission to
// its end: room for its body while that arrives, a place at the gate while it
// is worked on, and room for its answer while that travels. How long bodies
// and answers take is up to the caller, so that neither holds a place. The
// zero value is not limited.
type stay struct {
	limits  *limit.Limiter
	visit   limit.Visit
	room    *limit.Passage // what the body or the answer holds
	entered bool
	reads   bool           // nothing is changed: what it answers can be asked again
	refusal *limit.Refusal // where it may not go on
}

type stayKey struct{}

func stayOf(ctx context.Context) *stay {
	if here, ok := ctx.Value(stayKey{}).(*stay); ok {
		return here
	}
	return &stay{}
}

// enter takes a place at the gate.
func (h *stay) enter(ctx context.Context) {
	if h.limits == nil {
		return
	}
	h.refusal = h.visit.Enter(ctx, h.reads)
	h.entered = h.refusal == nil
}

// smallAnswer is the size up to which an answer needs no room: it fits into the
// buffers that every connection has.
const smallAnswer = 64 << 10

// depart gives the place back before an answer travels, and takes room for a
// large one. What has changed something is answered even where there is none:
// the caller could not know otherwise.
func (h *stay) depart(bytes int) {
	h.end()
	if h.limits == nil || bytes <= smallAnswer {
		return
	}
	room, refusal := h.visit.Carry(bytes)
	h.room = room
	if h.reads {
		h.refusal = refusal
	}
}

// end gives back whatever is held.
func (h *stay) end() {
	if h.entered {
		h.entered = false
		h.limits.Leave(h.reads)
	}
	if h.room != nil {
		h.room.End()
	}
}

// receive prepares for a body: it has room for what has arrived, and a time to
// arrive that is short where it is.
func (s *server) receive(w http.ResponseWriter, r *http.Request, here *stay) *http.Request {
	size := r.ContentLength
	if size < 0 || size > s.MaxBodyBytes {
		size = s.MaxBodyBytes
	}
	// A writer without a connection has no deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(travel(size, s.ReadTimeout)))
	if here.limits == nil {
		return r
	}
	here.room, here.refusal = here.visit.Carry(0)
	out := *r
	out.Body = arriving{r.Body, here}
	return &out
}

// arrived ends the time of a whole body, which is not that of the work. Its
// room stays until the place is given back. What is left of any other body
// still has no more time than that.
func arrived(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// arriving is a body that takes room as it is read.
type arriving struct {
	io.ReadCloser
	here *stay
}

var errNoRoom = errors.New("there is no room for the body")

// Read implements io.Reader.
func (a arriving) Read(p []byte) (int, error) {
	if a.here.refusal != nil {
		return 0, errNoRoom
	}
	n, err := a.ReadCloser.Read(p)
	if n > 0 && !a.here.room.Grow(n) {
		a.here.refusal = a.here.visit.NoRoom()
		return 0, errNoRoom
	}
	return n, err
}

// hasten gives an answer the time to travel that its size needs.
func (s *server) hasten(w http.ResponseWriter, bytes int) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(travel(int64(bytes), s.WriteTimeout)))
}

const (
	slowest  = 256 << 10        // bytes a second that a caller must manage
	patience = 15 * time.Second // beside them, for whatever happens on the way
)

// travel is how long a body or an answer may take: never longer than the
// server's own timeout.
func travel(bytes int64, most time.Duration) time.Duration {
	d := patience + time.Duration(bytes)*time.Second/slowest
	if most > 0 {
		d = min(d, most)
	}
	return d
}
