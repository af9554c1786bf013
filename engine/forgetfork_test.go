package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
)

func utterAs(t *testing.T, s yiku.Service, session, id, text string) {
	t.Helper()
	_, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: session,
		Messages: []yiku.Message{{ID: id, Role: yiku.RoleUser, Content: yiku.Text(text)}}})
	if err != nil {
		t.Fatal(err)
	}
}

func forkOf(t *testing.T, s yiku.Service, from, to string) {
	t.Helper()
	if _, err := s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "ann", SessionID: from, NewSessionID: to}); err != nil {
		t.Fatal(err)
	}
}

// forked is a person with a session "s" of two messages and a title, its forks
// "copy", "few", which has another second message, and, of a fork that is gone, "grown", which went on, and a session
// "twin" that says the same under the same ids and was made by hand.
func forked(t *testing.T, s yiku.Service) {
	t.Helper()
	if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: "s", Metadata: yiku.Metadata{"title": "桃子"}}); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"s", "twin"} {
		utterAs(t, s, session, "1", "我喜欢桃子")
		utterAs(t, s, session, "2", "and tea")
	}
	forkOf(t, s, "s", "copy")
	if _, err := s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "ann", SessionID: "s", NewSessionID: "few", UpTo: "1"}); err != nil {
		t.Fatal(err)
	}
	utterAs(t, s, "few", "2", "other words")
	forkOf(t, s, "s", "between")
	forkOf(t, s, "between", "grown")
	utterAs(t, s, "grown", "3", "own 自己的")
	if _, err := s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "ann", SessionID: "between"}); err != nil {
		t.Fatal(err)
	}
}

// spoken lists what each session says, with its title and what it was forked from.
func spoken(t *testing.T, s yiku.Service) map[string][]string {
	t.Helper()
	sessions, err := s.ListSessions(t.Context(), yiku.ListSessionsRequest{UserID: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, session := range sessions.Items {
		page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: session.ID})
		if err != nil {
			t.Fatal(err)
		}
		texts := texts(page.Items)
		if title, ok := session.Metadata["title"].(string); ok {
			texts = append(texts, "title "+title)
		}
		if session.ForkedFrom != "" {
			texts = append(texts, "of "+session.ForkedFrom)
		}
		out[session.ID] = texts
	}
	return out
}

// TestE2_ForksGoWithTheirSession: what is forgotten of a session is forgotten of
// its forks, also of those of forks that are gone and where the session was
// deleted before. What a fork has of its own stays, and so does what it was
// made from where only the fork's is forgotten. Control: a session that says
// the same and is no fork stays.
func TestE2_ForksGoWithTheirSession(t *testing.T) {
	t.Parallel()
	whole := []string{"我喜欢桃子", "and tea"}
	session := func(id, message string) yiku.Selector {
		return yiku.Selector{Source: &yiku.SourceSelector{SessionID: id, MessageID: message}}
	}
	for name, c := range map[string]struct {
		deleted  bool // the session, before
		selector yiku.Selector
		want     map[string][]string
	}{
		"the session":     {selector: session("s", ""), want: map[string][]string{"twin": whole, "few": {"other words"}, "grown": {"own 自己的", "of between"}}},
		"when it is gone": {deleted: true, selector: session("s", ""), want: map[string][]string{"twin": whole, "few": {"other words"}, "grown": {"own 自己的", "of between"}}},
		"a message": {selector: session("s", "2"), want: map[string][]string{"twin": whole, "s": {"我喜欢桃子", "title 桃子"},
			"few": {"我喜欢桃子", "other words", "title 桃子", "of s"}, "copy": {"我喜欢桃子", "title 桃子", "of s"}, "grown": {"我喜欢桃子", "own 自己的", "title 桃子", "of between"}}},
		"a fork": {selector: session("copy", ""), want: map[string][]string{"twin": whole, "s": append(slices.Clip(whole), "title 桃子"),
			"few":   {"我喜欢桃子", "other words", "title 桃子", "of s"},
			"grown": {"我喜欢桃子", "and tea", "own 自己的", "title 桃子", "of between"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			forked(t, s)
			if c.deleted {
				if _, err := s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "ann", SessionID: "s"}); err != nil {
					t.Fatal(err)
				}
				if got := spoken(t, s); len(got["grown"]) != 5 {
					t.Fatalf("a deletion took from a fork: %q", got)
				}
			}
			req := yiku.ForgetRequest{Selector: c.selector, DryRun: true}
			would := forget(t, s, req)
			req.DryRun = false
			did := forget(t, s, req)
			if would.Removed != did.Removed {
				t.Errorf("would remove %+v, removed %+v", would.Removed, did.Removed)
			}
			if diff := cmp.Diff(c.want, spoken(t, s)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			proven(t, s, did)
			if c.selector.Source.MessageID == "" {
				forget(t, s, req) // finds nothing more, and is no error
			}
		})
	}
}

// TestE1_WhatIsLeftOfASession: a session that is not there is forgotten by its
// name as long as something names it or its deletion is known. Control: one of
// which nothing was ever heard is an error.
func TestE1_WhatIsLeftOfASession(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "Likes pears", SessionID: "never made"})
	if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "桌面", Todos: []any{"buy pears"}}); err != nil {
		t.Fatal(err)
	}
	utterAs(t, s, "deleted", "1", "hello")
	if _, err := s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "ann", SessionID: "deleted"}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]yiku.Removed{"never made": {Memories: 1}, "桌面": {Working: 1}, "deleted": {}} {
		did := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: id}}})
		did.Removed.Terms, did.Removed.Idempotency = 0, 0
		if did.Removed != want || !did.Verified {
			t.Errorf("%s: removed %+v, want %+v", id, did.Removed, want)
		}
	}
	for _, dry := range []bool{true, false} {
		_, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", DryRun: dry, Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "unheard of"}}})
		if !errors.Is(err, yiku.ErrNotFound) {
			t.Errorf("a session of which nothing is known: %v", err)
		}
	}
}

// TestE2_CarriedWorkGoes: working memory that another session took over, or a
// task's that another session went on with, goes with the session that wrote
// it first. Control: with a session that had no part in it it stays.
func TestE2_CarriedWorkGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task, session string
		gone          bool
	}{
		"taken over": {"", "s", true}, "a task's": {"桃子", "s", true}, "another": {"", "other", false}, "a task's and another": {"桃子", "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			s := b.operator()
			if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "s", TaskID: c.task, Todos: []any{"买桃子"}}); err != nil {
				t.Fatal(err)
			}
			for _, next := range []string{"t", "u"} {
				b.clock.Advance(time.Second)
				utterAs(t, s, next, "1", "go on")
				b.clock.Advance(time.Second)
				got, err := s.PatchWorking(t.Context(), yiku.PatchWorkingRequest{UserID: "ann", SessionID: next, TaskID: c.task, DataSlots: yiku.Some(map[string]any{"by": next})})
				if err != nil || len(got.Todos) != 1 {
					t.Fatalf("nothing was carried over: %+v, %v", got, err)
				}
			}
			utterAs(t, s, "s", "1", "begin")
			utterAs(t, s, "other", "1", "aside")
			forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: c.session}}})
			got, err := s.GetWorking(t.Context(), yiku.GetWorkingRequest{UserID: "ann", SessionID: "u", TaskID: c.task})
			if err != nil || (len(got.Todos) == 0) != c.gone {
				t.Errorf("left %+v, %v", got, err)
			}
		})
	}
}

// TestE2_AForkWaitsForAForget: what is being forgotten is not copied away from
// it: the fork is made of what is left.
func TestE2_AForkWaitsForAForget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		h := held{Store: b.store, entered: make(chan struct{}, 1), open: make(chan struct{})}
		x := memindex.New(nil)
		e, err := engine.New(engine.Options{Store: h, Index: x, Now: b.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = errors.Join(e.Close(), x.Close()) })
		s := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
		utterAs(t, s, "s", "1", "likes pears")
		utterAs(t, s, "s", "2", "喝茶")
		go func() {
			_, _ = s.Forget(context.Background(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Keyword: "pears"}})
		}()
		<-h.entered
		made := make(chan error)
		go func() {
			_, err := s.ForkSession(context.Background(), yiku.ForkSessionRequest{UserID: "ann", SessionID: "s", NewSessionID: "f"})
			made <- err
		}()
		synctest.Wait()
		select {
		case err := <-made:
			t.Errorf("the fork did not wait: %v", err)
		default:
			close(h.open)
			if err := <-made; err != nil {
				t.Fatal(err)
			}
		}
		if got := spoken(t, s); !slices.Equal(got["f"], []string{"喝茶", "of s"}) {
			t.Errorf("the fork has %q", got)
		}
	})
}
