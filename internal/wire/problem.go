package wire

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

// CodeInternal is the code of an error that is none of the root's sentinels: a
// fault of the server.
const CodeInternal = "internal"

// typePrefix makes a code the URI of a problem's type.
const typePrefix = "urn:yiku:problem:"

// Problem is the document that carries an error (RFC 9457). It never holds a
// value of the request.
type Problem struct {
	Type      string            `json:"type"`
	Title     string            `json:"title"`
	Status    int               `json:"status"`
	Detail    string            `json:"detail"`
	Code      string            `json:"code"`
	Errors    []yiku.FieldError `json:"errors" doc:"The fields at fault."`
	RequestID string            `json:"request_id"`
}

type row struct {
	sentinel error
	code     string
	status   int
	detail   string // where the error has none
}

// table is sentinel ↔ code ↔ status. Of two sentinels with one status the
// first is meant by an answer without a code.
func table() []row {
	return []row{
		{yiku.ErrInvalid, "invalid", 400, "The request is wrong; errors names the fields."},
		{yiku.ErrUnauthorized, "unauthorized", 401, "A valid key is needed."},
		{yiku.ErrForbidden, "forbidden", 403, "The key does not allow this."},
		{yiku.ErrNotFound, "not_found", 404, "It does not exist, or it belongs to somebody else."},
		{yiku.ErrConflict, "conflict", 409, "The id or key is in use with other content."},
		{yiku.ErrForgotten, "forgotten", 410, "What was written has been forgotten since."},
		{yiku.ErrPreconditionFailed, "precondition_failed", 412, "The resource has another version."},
		{yiku.ErrTooLarge, "too_large", 422, "It is too large."},
		{yiku.ErrTooLarge, "too_large", 413, "The body is too large."},
		{yiku.ErrLimited, "limited", 429, "A limit is reached; try again later."},
		{yiku.ErrConsentWithdrawn, "consent_withdrawn", 403, "The person has withdrawn consent."},
		{yiku.ErrUnsupported, "unsupported", 501, "This configuration cannot do it."},
		{yiku.ErrUnavailable, "unavailable", 503, "It cannot be done now; the outcome of a write is unknown."},
	}
}

// internalRow is for every other error.
func internalRow() row {
	return row{errors.New("internal error"), CodeInternal, 500, "The server has a fault."}
}

// Codes returns every code, once each.
func Codes() []string {
	var codes []string
	for _, r := range append(table(), internalRow()) {
		if len(codes) == 0 || codes[len(codes)-1] != r.code {
			codes = append(codes, r.code)
		}
	}
	return codes
}

func rowOf(err error) row {
	for _, r := range table() {
		if errors.Is(err, r.sentinel) {
			return r
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return rowOf(yiku.ErrUnavailable)
	}
	return internalRow()
}

// Code returns the code of an error, [CodeInternal] where it has no sentinel.
func Code(err error) string { return rowOf(err).code }

// Status returns the HTTP status of an error. ErrTooLarge is 422; the server
// answers a body over its limit with 413 itself.
func Status(err error) int { return rowOf(err).status }

// Sentinel returns the sentinel of a code, or of a status where the code is
// unknown. It is never nil: a code and a status that say nothing mean
// ErrUnavailable, or ErrInvalid for a status of the 400s.
func Sentinel(code string, status int) error {
	for _, r := range table() {
		if r.code == code {
			return r.sentinel
		}
	}
	for _, r := range table() {
		if r.status == status {
			return r.sentinel
		}
	}
	if status >= 400 && status < 500 {
		return yiku.ErrInvalid
	}
	return yiku.ErrUnavailable
}

// NewProblem returns the document of an error. Of an error's own text only
// the details of a *yiku.Error are used: any other text could hold content.
func NewProblem(err error, requestID string) Problem {
	r := rowOf(err)
	p := Problem{
		Type: typePrefix + r.code, Title: r.sentinel.Error(), Status: r.status, Detail: r.detail, Code: r.code,
		Errors: []yiku.FieldError{}, RequestID: requestID,
	}
	var e *yiku.Error
	if r.code != CodeInternal && errors.As(err, &e) && errors.Is(e.Sentinel, r.sentinel) {
		if e.Detail != "" {
			p.Detail = e.Detail
		}
		p.Errors = append(p.Errors, e.Fields...)
	}
	return p
}

// Err returns the error that a problem document carries. A detail that says no
// more than the code is left out.
func (p Problem) Err(retryAfter time.Duration) *yiku.Error {
	e := &yiku.Error{Sentinel: Sentinel(p.Code, p.Status), Detail: p.Detail, RetryAfter: retryAfter, RequestID: p.RequestID}
	for _, r := range table() {
		if r.detail == p.Detail {
			e.Detail = ""
		}
	}
	if len(p.Errors) > 0 {
		e.Fields = p.Errors
	}
	return e
}

// RetryAfter returns how long an error asks to wait; 0 where it does not say.
func RetryAfter(err error) time.Duration {
	var e *yiku.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// FormatRetryAfter writes a Retry-After header: whole seconds, rounded up.
func FormatRetryAfter(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// ParseRetryAfter reads a Retry-After header in either form; 0 where there is
// none or it cannot be read.
func ParseRetryAfter(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 32); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}
