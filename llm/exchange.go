package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/yiku-ai/yiku"
)

// maxAnswer bounds the body of an answer, in bytes.
const maxAnswer = 8 << 20

// Exchange posts a JSON body and reads a JSON answer, for drivers; its errors
// are those of [Model].
func Exchange(ctx context.Context, client *http.Client, url string, header http.Header, body, answer any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "write the request to the model: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(b))
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the model's address cannot be used")
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return failed(ctx, "the model cannot be reached")
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or given up
	read, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case res.StatusCode/100 != 2:
		return refused(res)
	case err != nil:
		return failed(ctx, "the model's answer broke off")
	case len(read) > maxAnswer:
		return yiku.Errorf(yiku.ErrUnavailable, "the model's answer is over %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(read, answer); err != nil {
		return yiku.Errorf(yiku.ErrUnavailable, "the model's answer has another form")
	}
	return nil
}

// failed is ErrUnavailable, or the context's own error.
func failed(ctx context.Context, detail string) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("ask the model: %w", err)
	}
	return yiku.Errorf(yiku.ErrUnavailable, "%s", detail)
}

// refused turns a status into an error.
func refused(res *http.Response) error {
	e := yiku.Errorf(yiku.ErrInvalid, "the model's endpoint answered %d", res.StatusCode)
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		e.Sentinel = yiku.ErrLimited
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		e.Sentinel = yiku.ErrUnauthorized
	case res.StatusCode >= 500, res.StatusCode == http.StatusRequestTimeout, res.StatusCode == http.StatusConflict:
		e.Sentinel = yiku.ErrUnavailable
	}
	e.RetryAfter = retryAfter(res.Header)
	return e
}

// retryAfter reads Retry-After: seconds, or a date against the answer's own Date.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	at, errAt := http.ParseTime(text)
	date, errDate := http.ParseTime(h.Get("Date"))
	if errAt != nil || errDate != nil {
		return 0
	}
	return max(at.Sub(date), 0)
}
