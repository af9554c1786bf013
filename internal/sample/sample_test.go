package sample

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

func load(t *testing.T) Conversation {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSampleIsWhole(t *testing.T) {
	t.Parallel()
	c := load(t)
	reasons := map[Reason]int{}
	var han, latin, saves, messages int
	last := 1 << 30
	for _, s := range c.Sessions {
		if err := yiku.CheckID("session_id", s.ID); err != nil {
			t.Error(err)
		}
		if s.HoursAgo >= last {
			t.Errorf("%s is not later than the session before", s.ID)
		}
		last = s.HoursAgo
		for i, step := range s.Steps {
			switch {
			case step.Save != nil:
				saves++
				if step.Role != "" || step.Text != "" {
					t.Errorf("%s step %d is a message and a memory", s.ID, i)
				}
			case step.Text == "" && len(step.ToolCalls) == 0:
				t.Errorf("%s step %d says nothing", s.ID, i)
			default:
				messages++
			}
			if step.LeftOut != "" {
				reasons[step.LeftOut]++
			}
			for _, r := range step.Text {
				if unicode.Is(unicode.Han, r) {
					han++
				} else if unicode.Is(unicode.Latin, r) {
					latin++
				}
			}
		}
	}
	if saves != 1 || messages < 40 || han < 500 || latin < 1000 || len(reasons) != 5 {
		t.Errorf("%d memories, %d messages, %d Chinese and %d Latin characters, reasons %v", saves, messages, han, latin, reasons)
	}
	if !slices.ContainsFunc(c.Questions, func(q Question) bool { return q.Unknown }) || len(c.Questions) != 3 {
		t.Errorf("questions: %+v", c.Questions)
	}
}

// The same anchor makes the same requests, byte for byte, so that idempotency
// keys hold.
func TestRequestsRepeat(t *testing.T) {
	t.Parallel()
	anchor := time.Date(2026, 3, 1, 8, 30, 15, 999, time.FixedZone("", 8*3600))
	a, err := json.Marshal(load(t).Requests(anchor))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(load(t).Requests(anchor.UTC().Truncate(time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsAreInThePastAndUnique(t *testing.T) {
	t.Parallel()
	anchor := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	keys, ids := map[string]bool{}, map[string]bool{}
	var last time.Time
	unique := func(seen map[string]bool, id string) {
		if id == "" || seen[id] {
			t.Errorf("%q is empty or used twice", id)
		}
		seen[id] = true
	}
	for _, r := range load(t).Requests(anchor) {
		switch {
		case r.Append != nil:
			unique(keys, r.Append.IdempotencyKey)
			for _, m := range r.Append.Messages {
				unique(ids, m.ID)
				if !m.CreatedAt.After(last) || !m.CreatedAt.Before(anchor) {
					t.Errorf("%s was said at %v", m.ID, m.CreatedAt)
				}
				last = m.CreatedAt
			}
		case r.Save != nil:
			unique(keys, r.Save.IdempotencyKey)
			if r.Save.ValidFrom.After(last) || r.Save.ValidFrom.IsZero() {
				t.Errorf("%s became true at %v", r.Save.IdempotencyKey, r.Save.ValidFrom)
			}
		case r.End != nil:
			unique(keys, r.End.IdempotencyKey)
		case r.Create == nil:
			t.Error("an empty request")
		}
	}
}
