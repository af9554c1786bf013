package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// errSilent ends with exit code 1 when everything has been said.
var errSilent = errors.New("failed")

// usageError is a wrong use of the tool.
type usageError struct{ message string }

// Error gives the message.
func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// fail says an error on standard error, in one line or, with --json, as the
// problem document that the API would answer with.
func (t *tool) fail(err error, usage bool) {
	text := oneLine(t.describe(err))
	if !t.flags.json && !slices.Contains(t.env.Args, "--json") { // a wrong flag may stand before it
		fmt.Fprintln(t.env.Stderr, "yiku: "+text)
		return
	}
	if usage && wire.Code(err) == wire.CodeInternal {
		err = yiku.Errorf(yiku.ErrInvalid, "%s", text)
	}
	p := wire.NewProblem(err, requestID(err))
	p.Detail = text
	_ = writeJSON(t.env.Stderr, p)
}

func requestID(err error) string {
	var e *yiku.Error
	if errors.As(err, &e) {
		return e.RequestID
	}
	return ""
}

// describe writes an error for a person: every fault of it, and how long to
// wait where that is known.
func (t *tool) describe(err error) string {
	if errors.Is(err, context.Canceled) {
		return t.say(phrase{"stopped before it was done", "尚未完成就被中止"})
	}
	code := wire.Code(err)
	var e *yiku.Error
	errors.As(err, &e)
	if e == nil && !strings.HasSuffix(err.Error(), wire.NewProblem(err, "").Title) {
		return t.translate(err.Error()) // it says more than its sentinel
	}
	var parts []string
	if e != nil && e.Detail != "" {
		parts = append(parts, strings.TrimSuffix(t.translate(e.Detail), "."))
	}
	if e != nil {
		for _, f := range e.Fields {
			parts = append(parts, f.Field+" "+t.translate(f.Message))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, t.say(titleOf(code)))
	} else if t.lang == "zh" && e.Detail != "configuration" {
		parts[0] = shortTitle(code) + "：" + parts[0]
	}
	if wait := wire.RetryAfter(err); wait > 0 {
		parts = append(parts, t.say(phrase{"try again in %s s", "请在 %s 秒后重试"}, wire.FormatRetryAfter(wait)))
	}
	return strings.Join(parts, t.say(phrase{"; ", "；"}))
}

// shortTitle is the Chinese name of a code, without what follows it.
func shortTitle(code string) string {
	title, _, _ := strings.Cut(titleOf(code).zh, "：")
	return title
}

// missing says what there is not, where an error says only that something is
// not found.
func missing(err error, text string) error {
	var e *yiku.Error
	if errors.Is(err, yiku.ErrNotFound) && (!errors.As(err, &e) || e.Detail == "" && len(e.Fields) == 0) {
		return yiku.Errorf(yiku.ErrNotFound, "%s", text)
	}
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }
