// Package client is yiku.Service over HTTP: code written against the interface
// runs on a remote server as it does on an engine in its own process.
//
// Errors survive the way: errors.Is finds the same sentinel, and a *yiku.Error
// the same fields. A server that cannot be reached is ErrUnavailable; a
// context's own error stays itself. Members of an answer that this version
// does not know are ignored, so that a newer server can be spoken to.
package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// Options are the settings of a client that have defaults.
type Options struct {
	APIKey     string       // sent as a bearer token; none where empty
	HTTPClient *http.Client // where nil, one that follows no redirects and has no timeout of its own: contexts bound calls
	UserAgent  string       // "yiku-go" where empty

	// Wait waits between two tries, until ctx is done; tests put their own.
	Wait func(ctx context.Context, d time.Duration) error
	// Jitter gives a number from 0 to below 1 that spreads the waiting.
	Jitter func() float64
}

// Client speaks to one server. It may be used by many goroutines at once.
type Client struct {
	base *url.URL
	opts Options
	ops  map[string]operation
}

var _ yiku.Service = (*Client)(nil)

// New returns a client of the server at baseURL, such as
// "http://127.0.0.1:7421". It fails with ErrInvalid where that is no HTTP URL.
func New(baseURL string, opts *Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, yiku.Invalid("base_url", "must be an http or https URL without query and fragment")
	}
	c := &Client{base: u, ops: map[string]operation{}}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.HTTPClient == nil {
		c.opts.HTTPClient = defaultHTTPClient()
	}
	if c.opts.UserAgent == "" {
		c.opts.UserAgent = "yiku-go"
	}
	if c.opts.Wait == nil {
		c.opts.Wait = wait
	}
	if c.opts.Jitter == nil {
		c.opts.Jitter = rand.Float64
	}
	for _, op := range wire.Operations() {
		c.ops[op.ID] = newOperation(op)
	}
	return c, nil
}

// idleConnections are kept to the server, so that many goroutines do not open
// a new one for each call.
const idleConnections = 64

func defaultHTTPClient() *http.Client {
	h := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = idleConnections
		h.Transport = t
	}
	return h
}

// Close closes the connections that are kept for later calls. The client can
// still be used.
func (c *Client) Close() error {
	c.opts.HTTPClient.CloseIdleConnections()
	return nil
}

// wait sleeps until d has passed or ctx is done.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// MaxTries is how often a call is tried that may be repeated: a read, or a
// write under an idempotency key, which met a broken connection or a 503.
const MaxTries = 3

// The waiting before the second and third try, halved at most by jitter; a
// Retry-After is honoured up to the longest wait.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 30 * time.Second
)

// call runs one operation of the table.
func call[Res any](ctx context.Context, c *Client, id string, req any) (Res, error) {
	var res Res
	op := c.ops[id]
	m, err := op.encode(req)
	if err != nil {
		return res, err
	}
	for try := 1; ; try++ {
		var zero Res
		res = zero
		err := c.try(ctx, op, m, &res)
		if err == nil {
			return res, nil
		}
		again, ok := err.(*retryable)
		if !ok {
			return zero, err
		}
		if try == MaxTries || !m.repeatable {
			return zero, again.err
		}
		if c.opts.Wait(ctx, c.backoff(try, again.after)) != nil {
			return zero, fmt.Errorf("%s: %w", id, context.Cause(ctx))
		}
	}
}

// backoff returns how long to wait after a try: what the server asked for, or
// 100 ms doubled each time; jitter takes up to half of the latter away.
func (c *Client) backoff(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, longestWait)
	}
	d := firstWait << (try - 1)
	return d - time.Duration(c.opts.Jitter()*float64(d)/2)
}

// retryable is a failure after which the same call may succeed.
type retryable struct {
	err   error
	after time.Duration
}

// Error gives the failure's own text.
func (r *retryable) Error() string { return r.err.Error() }
