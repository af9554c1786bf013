package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// operation is an entry of the table with what the client needs of it.
type operation struct {
	wire.Operation
	params []wire.Param
	body   reflect.Type // a struct of the fields that travel in the body; nil where there is none
	fields []wire.Param // the fields of body, in its order
}

func newOperation(op wire.Operation) operation {
	o := operation{Operation: op, params: wire.Params(op.Request, op.Method)}
	if op.Method == http.MethodGet || op.Method == http.MethodDelete {
		return o
	}
	var shape []reflect.StructField
	for _, p := range o.params {
		if p.In == wire.InBody {
			tag := op.Request.FieldByIndex(p.Index).Tag
			shape = append(shape, reflect.StructField{Name: "F" + strconv.Itoa(len(shape)), Type: p.Type, Tag: tag})
			o.fields = append(o.fields, p)
		}
	}
	o.body = reflect.StructOf(shape)
	return o
}

// message is a request as it travels.
type message struct {
	path, query string
	header      http.Header
	body        []byte
	repeatable  bool
}

// encode turns a request struct into a message. It fails with ErrInvalid for
// what could not travel as it is.
func (op operation) encode(req any) (message, error) {
	v := reflect.ValueOf(req)
	m := message{path: op.Path, header: http.Header{}, repeatable: op.Method == http.MethodGet}
	if field, ok := wire.BadText(req); !ok {
		return m, yiku.Invalid(field, "must be valid UTF-8")
	}
	query := url.Values{}
	for _, p := range op.params {
		if p.In == wire.InBody {
			continue
		}
		s, ok := p.Format(v.FieldByIndex(p.Index))
		switch {
		case p.In == wire.InPath && !ok:
			return m, yiku.Invalid(p.Name, "is required")
		case p.In == wire.InPath:
			m.path = strings.Replace(m.path, "{"+p.Name+"}", escape(s), 1)
		case !ok:
		case p.In == wire.InQuery:
			query.Set(p.Name, s)
		case p.In == wire.InHeader:
			if err := yiku.CheckID(p.Name, s); err != nil && (p.Header != "If-Match" || !wire.ValidETags(s)) {
				return m, err
			}
			m.header.Set(p.Header, s)
			m.repeatable = m.repeatable || p.Header == "Idempotency-Key"
		}
	}
	m.query = query.Encode()
	if op.body == nil {
		return m, nil
	}
	body := reflect.New(op.body).Elem()
	for i, p := range op.fields {
		body.Field(i).Set(v.FieldByIndex(p.Index))
	}
	raw, err := json.Marshal(body.Interface())
	if err != nil {
		return m, yiku.Invalid("body", "holds a value that JSON cannot hold")
	}
	m.body = raw
	m.header.Set("Content-Type", "application/json")
	return m, nil
}

// escape writes a path segment; dots are escaped too where they alone would
// mean another path.
func escape(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// try sends a message once and reads the answer into res.
func (c *Client) try(ctx context.Context, op operation, m message, res any) error {
	req, err := c.request(ctx, op, m)
	if err != nil {
		return err
	}
	resp, err := c.opts.HTTPClient.Do(req)
	if err != nil {
		return failure(ctx, op.ID, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return problem(ctx, op.ID, resp)
	}
	if resp.StatusCode == http.StatusNoContent || op.Status == http.StatusNoContent {
		return nil
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return failure(ctx, op.ID, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(res); err != nil {
		return fmt.Errorf("%s: %w", op.ID, &yiku.Error{
			Sentinel: yiku.ErrUnavailable, Detail: "the answer is not the JSON of this API", RequestID: resp.Header.Get("X-Request-ID"),
		})
	}
	wire.Numbers(res)
	return nil
}

func (c *Client) request(ctx context.Context, op operation, m message) (*http.Request, error) {
	u := strings.TrimSuffix(c.base.String(), "/") + m.path
	if m.query != "" {
		u += "?" + m.query
	}
	var body io.Reader
	if op.body != nil {
		body = bytes.NewReader(m.body)
	}
	req, err := http.NewRequestWithContext(ctx, op.Method, u, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.ID, yiku.ErrInvalid)
	}
	for k, v := range m.header {
		req.Header[k] = v
	}
	req.Header.Set("Accept", "application/json, application/problem+json")
	req.Header.Set("User-Agent", c.opts.UserAgent)
	if c.opts.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.APIKey)
	}
	if t := wire.TraceFrom(ctx); t.TraceID != "" {
		req.Header.Set("traceparent", t.Traceparent())
	}
	return req, nil
}

// failure is the error of a connection. The URL is left out of its text: it
// holds ids and words of the query.
func failure(ctx context.Context, id string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", id, ctx.Err())
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &retryable{err: fmt.Errorf("%s: %w: %w", id, yiku.ErrUnavailable, err)}
}

// problem reads the error of an answer.
func problem(ctx context.Context, id string, resp *http.Response) error {
	var p wire.Problem
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s: %w", id, ctx.Err())
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") || json.Unmarshal(raw, &p) != nil {
		p = wire.Problem{Detail: "the server answered with status " + strconv.Itoa(resp.StatusCode)}
	}
	p.Status = resp.StatusCode
	if p.RequestID == "" {
		p.RequestID = resp.Header.Get("X-Request-ID")
	}
	after := wire.ParseRetryAfter(resp.Header.Get("Retry-After"), time.Now())
	e := fmt.Errorf("%s: %w", id, p.Err(after))
	if resp.StatusCode == http.StatusServiceUnavailable {
		return &retryable{err: e, after: after}
	}
	return e
}
