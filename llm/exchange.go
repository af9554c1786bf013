package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

const (
	maxAnswer  = 8 << 20   // bytes of an answer
	maxRefusal = 64 << 10  // bytes of a refusal that are read
	unpaid     = time.Hour // until an account without balance is asked again
)

// Endpoint is where models are asked over HTTP in another protocol than a
// [Dialect]'s: those that embed and those that rerank.
type Endpoint struct {
	URL    string       // the base; "" is the protocol's own
	Key    string       // bearer; "" sends none
	Client *http.Client // nil: NoRedirects
}

// Exchange posts a JSON body to a path behind the base, or behind own where the
// endpoint names none, and reads a JSON answer; its errors are those of [Model].
func (e Endpoint) Exchange(ctx context.Context, own, path string, body, answer any) error {
	header := http.Header{}
	if e.Key != "" {
		header.Set("Authorization", "Bearer "+e.Key)
	}
	read, err := post(ctx, cmp.Or(e.Client, NoRedirects), strings.TrimSuffix(cmp.Or(e.URL, own), "/")+path, header, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(read, answer); err != nil {
		return Unreadable()
	}
	return nil
}

// post sends a JSON body and returns what comes back; its errors are those of
// [Model]. One that a plainer request may not meet is a *refusal.
func post(ctx context.Context, client *http.Client, url string, header http.Header, body any) ([]byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, yiku.Errorf(yiku.ErrInvalid, "write the request to the model: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(b))
	if err != nil {
		return nil, yiku.Errorf(yiku.ErrInvalid, "the model's address cannot be used")
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, failed(ctx, "the model cannot be reached")
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or given up
	if res.StatusCode/100 != 2 {
		said, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
		if err != nil && ctx.Err() != nil {
			return nil, failed(ctx, "")
		}
		return nil, refused(res.StatusCode, res.Header, said)
	}
	read, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, failed(ctx, "the model's answer broke off")
	case len(read) > maxAnswer:
		return nil, yiku.Errorf(yiku.ErrUnavailable, "the model's answer is over %d bytes", maxAnswer)
	}
	return read, nil
}

// failed is ErrUnavailable, or the context's own error.
func failed(ctx context.Context, detail string) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("ask the model: %w", err)
	}
	return yiku.Errorf(yiku.ErrUnavailable, "%s", detail)
}

// refusal is an endpoint's no to how it was asked, with its words, which may
// hold content and are part of no message.
type refusal struct {
	err  error
	said string // in lower case
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// What the words of a refusal tell beyond its status; each endpoint has its own.
var (
	saysUnpaid = []string{"insufficient_quota", "insufficient balance", "insufficient_balance", "exceeded_current_quota", "exceeded your current quota",
		"credit balance is too low", "arrearage", "余额不足", "欠费"}
	saysTooLong = []string{"context_length_exceeded", "context length", "context size", "context window", "exceed_context", "prompt is too long",
		"input length should be", "input is too long", "input too long", "too many tokens", "maximum context", "string_above_max_length", "超出最大长度", "长度超过"}
	saysWithheld = []string{"content_filter", "content management policy", "datainspectionfailed", "data_inspection_failed", "content exists risk", "inappropriate content", "敏感"}
)

// refused turns a status and what came with it into an error.
func refused(status int, header http.Header, body []byte) error {
	said, code := words(body)
	says := func(what []string) bool {
		return slices.ContainsFunc(what, func(w string) bool { return strings.Contains(said, w) })
	}
	e := yiku.Errorf(yiku.ErrInvalid, "the model's endpoint answered %d%s", status, code)
	e.RetryAfter = retryAfter(header)
	switch {
	case status == http.StatusPaymentRequired, status < 500 && says(saysUnpaid):
		e.Sentinel, e.RetryAfter = yiku.ErrLimited, max(e.RetryAfter, unpaid)
	case status == http.StatusTooManyRequests:
		e.Sentinel = yiku.ErrLimited
	case status == http.StatusRequestEntityTooLarge, says(saysTooLong) && status != http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", ErrTooLong, e)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Sentinel = yiku.ErrUnauthorized
	case status >= 500 && status != http.StatusNotImplemented, status == http.StatusRequestTimeout, status == http.StatusConflict:
		e.Sentinel = yiku.ErrUnavailable
	case says(saysWithheld):
		return Withheld()
	case status != http.StatusNotFound:
		return &refusal{e, said}
	}
	return e
}

// Refused is the error of an answer that came with a good status and holds a
// refusal, as some servers and gateways send them: {"error": {"code": 429, …}}.
func Refused(body []byte) error {
	var in struct {
		Error struct {
			Code json.Number `json:"code"`
		} `json:"error"`
	}
	status := http.StatusInternalServerError // of an error that says nothing else
	if err := json.Unmarshal(body, &in); err == nil {
		if code, err := strconv.Atoi(in.Error.Code.String()); err == nil && code >= 400 && code < 600 {
			status = code
		}
	}
	return refused(status, http.Header{}, body)
}

// shortCode is what a code is: a name, never a text.
var shortCode = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{2,59}$`)

// words are what a refusal says, in lower case, whatever form it has, and its
// code as part of a message.
func words(body []byte) (said, code string) {
	var top map[string]any
	if json.Unmarshal(body, &top) != nil {
		return strings.ToLower(string(body[:min(len(body), 2048)])), ""
	}
	var all []string
	add := func(from map[string]any) {
		for _, name := range []string{"error", "message", "msg", "type", "code", "param", "detail"} {
			switch v := from[name].(type) {
			case nil, map[string]any:
			case string:
				all = append(all, v)
				if (name == "code" || name == "type" && code == "") && shortCode.MatchString(v) {
					code = " (" + v + ")"
				}
			default:
				raw, _ := json.Marshal(v) //nolint:errcheck,errchkjson // it was read from JSON
				all = append(all, string(raw))
			}
		}
	}
	add(top)
	for _, name := range []string{"error", "detail"} {
		if in, ok := top[name].(map[string]any); ok {
			add(in)
		}
	}
	return strings.ToLower(strings.Join(all, "\n")), code
}

// retryAfter reads when to come again: in milliseconds where the endpoint says
// so, else in seconds, or as a date against the answer's own Date.
func retryAfter(h http.Header) time.Duration { return min(asked(h), longestWait) }

// longestWait is the longest that an endpoint may have us wait: one that asks
// for more is asked again after it, so that no work waits for years.
const longestWait = time.Hour

func asked(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
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
