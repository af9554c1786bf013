package wire

import (
	"context"
	"strings"
)

// Trace connects what one request does in every layer: events and logs carry
// it, and the client sends it on.
type Trace struct {
	RequestID string // of this request, as in X-Request-ID
	TraceID   string // 32 hex digits (W3C Trace Context); empty where the caller has none
	ParentID  string // 16 hex digits: the caller's span
	Flags     string // two hex digits
}

type traceKey struct{}

// WithTrace returns a context that carries a trace.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceFrom returns the trace of a context; the zero Trace where it has none.
func TraceFrom(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

// ParseTraceparent reads a traceparent header (W3C Trace Context, version 00
// and later ones by the rule for them). What cannot be read gives the zero Trace.
func ParseTraceparent(s string) Trace {
	if len(s) < 55 || (len(s) > 55 && (s[:2] == "00" || s[55] != '-')) || s[:2] == "ff" {
		return Trace{}
	}
	version, id, parent, flags := s[:2], s[3:35], s[36:52], s[53:55]
	switch {
	case s[2] != '-', s[35] != '-', s[52] != '-',
		!isHex(version), !isHex(id), !isHex(parent), !isHex(flags),
		strings.Trim(id, "0") == "", strings.Trim(parent, "0") == "":
		return Trace{}
	}
	return Trace{TraceID: id, ParentID: parent, Flags: flags}
}

// Traceparent writes the header again; it is empty where there is no trace.
func (t Trace) Traceparent() string {
	if t.TraceID == "" {
		return ""
	}
	return "00-" + t.TraceID + "-" + t.ParentID + "-" + t.Flags
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// ValidRequestID reports whether an id that a caller sent as X-Request-ID can
// be taken over: 1 to 128 letters, digits, dots, dashes and underscores.
func ValidRequestID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
