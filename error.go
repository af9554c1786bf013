package yiku

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The sentinels name what a caller can do about an error. Every error of a
// [Service] wraps exactly one of them (or a context error), in process and
// over HTTP alike, so errors.Is decides.
var (
	// ErrInvalid: the request is wrong; [Error.Fields] names the fields.
	ErrInvalid = errors.New("invalid request")
	// ErrUnauthorized: no credential, or one that is not known.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden: the credential is known and does not allow this.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: it does not exist, or it belongs to somebody else.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the same id or idempotency key was used with other content.
	ErrConflict = errors.New("conflict")
	// ErrForgotten: a replay of something that has been forgotten since.
	ErrForgotten = errors.New("forgotten")
	// ErrPreconditionFailed: the resource has another version than If-Match says.
	ErrPreconditionFailed = errors.New("precondition failed")
	// ErrTooLarge: a body over its limit, or parts that may not be cut and do not fit the window.
	ErrTooLarge = errors.New("too large")
	// ErrLimited: a rate, quota or budget is used up; see [Error.RetryAfter].
	ErrLimited = errors.New("limited")
	// ErrConsentWithdrawn: a write for a person who has withdrawn consent.
	ErrConsentWithdrawn = errors.New("consent withdrawn")
	// ErrUnsupported: this configuration cannot do it.
	ErrUnsupported = errors.New("unsupported")
	// ErrUnavailable: it cannot be done now. After a write the outcome is
	// unknown: repeat it under the same idempotency key.
	ErrUnavailable = errors.New("unavailable")
)

// FieldError says what is wrong with one field. Field is a path in the
// request such as "messages[2].content". Neither ever holds the value.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error carries the details of a failed operation. It wraps its sentinel.
type Error struct {
	Sentinel   error         // one of the Err variables above
	Detail     string        // one sentence for a person; never memory text
	Fields     []FieldError  // the fields at fault, for ErrInvalid
	RetryAfter time.Duration // how long to wait, for ErrLimited and ErrUnavailable; 0 unknown
	RequestID  string        // set by the client from the answer
}

// Error gives the sentinel's text, the detail and the fields in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Sentinel.Error())
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	for _, f := range e.Fields {
		b.WriteString("; " + f.Field + ": " + f.Message)
	}
	return b.String()
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Sentinel }

// Invalid returns an ErrInvalid that names one field.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Sentinel: ErrInvalid, Fields: []FieldError{{Field: field, Message: fmt.Sprintf(format, args...)}}}
}

// Errorf returns an [Error] with a sentinel and a detail.
func Errorf(sentinel error, format string, args ...any) *Error {
	return &Error{Sentinel: sentinel, Detail: fmt.Sprintf(format, args...)}
}
