package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/observe"
)

// seenEvents keeps the events of reads.
type seenEvents struct {
	mu   sync.Mutex
	list []observe.Event
}

func (s *seenEvents) Record(_ context.Context, e observe.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, e)
}

func (s *seenEvents) last() observe.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[len(s.list)-1]
}

func lean() yiku.Experiment {
	return yiku.Experiment{Name: "lean-2026", Running: true, Variants: []yiku.Variant{
		{Name: "control"}, {Name: "lean", MaxItems: ptr(1), Layers: yiku.Layers{Longterm: yiku.Some(true), Lexical: yiku.Some(true)}},
	}}
}

// TestG3_StickyVariants: each user of a tenant gets one variant, again and again
// and after a restart, with its settings; answers and events name it, and a
// request has the last word. Control: before it starts and after it stops nobody
// has one, nor has another tenant.
func TestG3_StickyVariants(t *testing.T) {
	t.Parallel()
	events := &seenEvents{}
	b := newBenchWith(t, engine.Options{Sink: events})
	s := b.operator()
	read := func(s yiku.Service, user string, options yiku.ContextOptions) yiku.GetContextResponse {
		res, err := s.GetContext(t.Context(), yiku.GetContextRequest{UserID: user, Query: "bicycle", Options: options})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	users := make([]string, 12)
	for i := range users {
		users[i] = fmt.Sprintf("用户%d", i)
		for _, text := range []string{"a bicycle in the shed", "the red bicycle", "bicycle number three"} {
			if _, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: users[i], Content: text}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if res := read(s, users[0], yiku.ContextOptions{}); res.Variant != "" || len(res.Memories) != 3 {
		t.Fatalf("before: %+v", res)
	}
	set, err := s.PatchSettings(t.Context(), yiku.PatchSettingsRequest{Experiments: yiku.Some([]yiku.Experiment{lean()})})
	if err != nil || set.Experiments[0].Salt == "" || set.Experiments[0].StartedAt.IsZero() {
		t.Fatalf("%+v, %v", set, err)
	}
	variants := map[string]string{}
	for _, user := range users {
		res := read(s, user, yiku.ContextOptions{})
		variants[user] = res.Variant
		want := map[string]int{"lean-2026/control": 3, "lean-2026/lean": 1}[res.Variant]
		if len(res.Memories) != want {
			t.Errorf("%s: %d memories", res.Variant, len(res.Memories))
		}
		if e := events.last(); e.Experiment+"/"+e.Variant != res.Variant || e.Operation != "get_context" {
			t.Errorf("event %+v", e)
		}
		if res := read(s, user, yiku.ContextOptions{MaxItems: ptr(2)}); len(res.Memories) != 2 {
			t.Errorf("a request has the last word: %d", len(res.Memories))
		}
		if res := read(s, user, yiku.ContextOptions{Layers: yiku.Layers{Longterm: yiku.Some(false)}}); len(res.Memories) != 0 {
			t.Errorf("a request has the last word on layers: %d", len(res.Memories))
		}
	}
	if n := len(distinctOf(variants)); n != 2 {
		t.Errorf("%d variants among %d users", n, len(users))
	}
	again := b.again(t, engine.Options{}).operator()
	for _, user := range users {
		if got := read(again, user, yiku.ContextOptions{}).Variant; got != variants[user] {
			t.Errorf("%s changed sides: %s, %s", user, variants[user], got)
		}
	}
	if got := read(b.As(yiku.Principal{Tenant: "other", Access: yiku.AccessAdmin}), users[0], yiku.ContextOptions{}).Variant; got != "" {
		t.Errorf("another tenant: %q", got)
	}
	stopped := set.Experiments[0]
	stopped.Running = false
	set, err = s.PatchSettings(t.Context(), yiku.PatchSettingsRequest{Experiments: yiku.Some([]yiku.Experiment{stopped})})
	if err != nil || set.Experiments[0].StoppedAt.IsZero() {
		t.Fatalf("%+v, %v", set, err)
	}
	if res := read(s, users[0], yiku.ContextOptions{}); res.Variant != "" || len(res.Memories) != 3 {
		t.Errorf("after: %+v", res)
	}
}

func distinctOf(m map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, v := range m {
		out[v] = true
	}
	return out
}

// TestG3_ExperimentsAreChecked: each fault names its field, and what runs
// cannot be changed under its users.
func TestG3_ExperimentsAreChecked(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	patch := func(list ...yiku.Experiment) (yiku.Settings, error) {
		return s.PatchSettings(t.Context(), yiku.PatchSettingsRequest{Experiments: yiku.Some(list)})
	}
	change := func(do func(*yiku.Experiment)) yiku.Experiment {
		e := lean()
		do(&e)
		return e
	}
	if _, err := patch(lean()); err != nil {
		t.Fatal("control:", err)
	}
	second := change(func(e *yiku.Experiment) { e.Name = "second" })
	for _, test := range []struct {
		field string
		list  []yiku.Experiment
	}{
		{"experiments[0].name", []yiku.Experiment{change(func(e *yiku.Experiment) { e.Name = "Lean" })}},
		{"experiments[1].name", []yiku.Experiment{lean(), lean()}},
		{"experiments[0].variants", []yiku.Experiment{change(func(e *yiku.Experiment) { e.Name, e.Variants = "one", e.Variants[:1] })}},
		{"experiments[0].variants[1].name", []yiku.Experiment{change(func(e *yiku.Experiment) { e.Variants[1].Name = "control" })}},
		{"experiments", []yiku.Experiment{lean(), second}},
		{"experiments[0].variants", []yiku.Experiment{change(func(e *yiku.Experiment) { e.Variants[1].MaxItems = ptr(2) })}},
		{"experiments[0].variants", []yiku.Experiment{change(func(e *yiku.Experiment) { e.Salt = "another" })}},
	} {
		_, err := patch(test.list...)
		var e *yiku.Error
		if !errors.As(err, &e) || !errors.Is(err, yiku.ErrInvalid) || len(e.Fields) != 1 || e.Fields[0].Field != test.field {
			t.Errorf("%s: %v", test.field, err)
		}
	}
	if _, err := patch(change(func(e *yiku.Experiment) { e.Running = false })); err != nil {
		t.Fatal(err)
	}
	if _, err := patch(lean()); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("started again: %v", err)
	}
	if set, err := patch(); err != nil || len(set.Experiments) != 0 {
		t.Errorf("taken away: %+v, %v", set, err)
	}
}
