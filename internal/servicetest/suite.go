package servicetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// group is one behaviour; each runs on a service of its own.
type group struct {
	name string
	run  func(*suite)
}

// Run runs the suite. open returns a service of an empty store, as an operator
// of one tenant who may speak for every user; it cleans up through t.
func Run(t *testing.T, open func(t *testing.T) yiku.Service) {
	t.Helper()
	var all []group
	all = append(all, sessionGroups()...)
	all = append(all, workingGroups()...)
	all = append(all, memoryGroups()...)
	all = append(all, atOnceGroups()...)
	all = append(all, contextGroups()...)
	all = append(all, recallGroups()...)
	all = append(all, errorGroups()...)
	all = append(all, graphGroups()...)
	all = append(all, extractionGroups()...)
	all = append(all, kindGroups()...)
	all = append(all, usageGroups()...)
	all = append(all, keyGroups()...)
	all = append(all, forgetGroups()...)
	all = append(all, lessonGroups()...)
	all = append(all, timeLessonGroups()...)
	all = append(all, group{"R31_NoValueInErrors", noValueInErrors})
	for _, g := range all {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			g.run(&suite{T: t, ctx: ctx, Service: open(t)})
		})
	}
}

// suite is one running group.
type suite struct {
	*testing.T
	yiku.Service
	ctx context.Context
}

// must returns the answer of a call that has to succeed. It is written
// must(s)(call), so that the call's two results fit.
func must[R any](s *suite) func(R, error) R {
	return func(r R, err error) R {
		s.Helper()
		if err != nil {
			s.Fatalf("unexpected error: %v", err)
		}
		return r
	}
}

// fails asserts that a call failed with a sentinel.
func fails[R any](s *suite, want error) func(R, error) {
	return func(_ R, err error) {
		s.Helper()
		if !errors.Is(err, want) {
			s.Errorf("error %v; want %v", err, want)
		}
	}
}

// names asserts that a call was refused as invalid, with a field named.
func names[R any](s *suite, field string) func(R, error) {
	return func(_ R, err error) {
		s.Helper()
		var e *yiku.Error
		if !errors.Is(err, yiku.ErrInvalid) || !errors.As(err, &e) {
			s.Errorf("error %v; want invalid", err)
			return
		}
		for _, f := range e.Fields {
			if f.Field == field && f.Message != "" {
				return
			}
		}
		s.Errorf("error %v does not name %s", err, field)
	}
}

// same compares two values; free-form numbers are compared by value.
func same[V any](s *suite, what string, want, got V, opts ...cmp.Option) {
	s.Helper()
	wire.Numbers(&want)
	wire.Numbers(&got)
	opts = append(opts, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b yiku.Content) bool {
		x, errX := a.MarshalJSON()
		y, errY := b.MarshalJSON()
		return errX == nil && errY == nil && string(x) == string(y)
	}))
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		s.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (s *suite) append(user, session string, messages ...yiku.Message) yiku.AppendMessagesResponse {
	s.Helper()
	return must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: user, SessionID: session, Messages: messages}))
}

func (s *suite) messages(user, session string) []yiku.Message {
	s.Helper()
	return must[yiku.Page[yiku.Message]](s)(s.ListMessages(s.ctx,
		yiku.ListMessagesRequest{UserID: user, SessionID: session, Paging: yiku.Paging{Limit: 500}})).Items
}

func (s *suite) save(req yiku.SaveMemoryRequest) yiku.SaveMemoryResponse {
	s.Helper()
	return must[yiku.SaveMemoryResponse](s)(s.SaveMemory(s.ctx, req))
}

func (s *suite) memory(user, id string) yiku.Memory {
	s.Helper()
	return must[yiku.Memory](s)(s.GetMemory(s.ctx, yiku.MemoryRequest{ID: id, UserID: user}))
}

// contents lists the contents of a list of memories, in its order.
func (s *suite) contents(req yiku.ListMemoriesRequest) []string {
	s.Helper()
	var texts []string
	for _, m := range must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, req)).Items {
		texts = append(texts, m.Content)
	}
	return texts
}

// found lists the contents that a search gives, in its order.
func (s *suite) found(req yiku.SearchMemoryRequest) []string {
	s.Helper()
	var texts []string
	for _, item := range must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, req)).Items {
		switch {
		case item.Memory != nil:
			texts = append(texts, item.Memory.Content)
		case item.Message != nil:
			texts = append(texts, item.Message.Content.PlainText())
		}
	}
	return texts
}

func user(text string) yiku.Message {
	return yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(text)}
}

func assistant(text string) yiku.Message {
	return yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text(text)}
}

func texts(messages []yiku.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Content.PlainText())
	}
	return strings.Join(all, "|")
}

func numbered(prefix string, n int) string { return fmt.Sprintf("%s-%03d", prefix, n) }

func ptr[T any](v T) *T { return &v }
