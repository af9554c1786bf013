package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// lax is an index that ignores filters, as one that lags behind or that cannot
// do them would.
type lax struct{ index.Index }

func (l lax) Search(ctx context.Context, owner yiku.Owner, q index.Query) (index.Result, error) {
	q.Filter = nil
	return l.Index.Search(ctx, owner, q)
}

// TestD1_CandidatesAreFilteredAgain: whatever an index gives, what is found is
// in scope, true and within the caller's filter.
func TestD1_CandidatesAreFilteredAgain(t *testing.T) {
	t.Parallel()
	st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	inner := memindex.New(nil)
	e, err := engine.New(engine.Options{Store: st, Index: lax{inner}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{e.Close, inner.Close, st.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	s := e.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	for _, project := range []string{"a", "b"} {
		save(t, s, yiku.SaveMemoryRequest{Content: "pears of " + project, ProjectID: project})
		_, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s" + project, ProjectID: project,
			Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("said pears of " + project)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	save(t, s, yiku.SaveMemoryRequest{Content: "pears in 上海", Subject: "user", Attribute: "residence", Value: "上海"})
	save(t, s, yiku.SaveMemoryRequest{Content: "pears in 杭州", Subject: "user", Attribute: "residence", Value: "杭州"}) // supersedes it
	find := func(req yiku.SearchMemoryRequest) []string {
		t.Helper()
		req.UserID, req.Query, req.MinRelevance = "ann", "pears", new(0.0)
		res, err := s.SearchMemory(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, item := range res.Items {
			if item.Memory != nil {
				out = append(out, item.Memory.Content)
			} else {
				out = append(out, item.Message.Content.PlainText())
			}
		}
		slices.Sort(out)
		return out
	}
	if diff := cmp.Diff([]string{"pears in 杭州", "pears of a", "said pears of a"}, find(yiku.SearchMemoryRequest{ProjectID: "a", IncludeMessages: true})); diff != "" {
		t.Errorf("in project a (-want +got):\n%s", diff)
	}
	own := yiku.Filter{Field: "level", Op: yiku.OpEq, Value: "user"}
	if diff := cmp.Diff([]string{"pears in 杭州"}, find(yiku.SearchMemoryRequest{ProjectID: "a", Filter: &own})); diff != "" {
		t.Errorf("with a filter (-want +got):\n%s", diff)
	}
}

// TestC16_OtherTasksAndAgents: what belongs to a task is seen in that task of
// that project only, what belongs to an agent by that agent only.
func TestC16_OtherTasksAndAgents(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "pears of task one", ProjectID: "p", TaskID: "one"})
	save(t, s, yiku.SaveMemoryRequest{Content: "pears of agent one", Level: yiku.LevelShared, AgentID: "one"})
	for _, c := range []struct {
		req  yiku.SearchMemoryRequest
		want []string
	}{
		{yiku.SearchMemoryRequest{ProjectID: "p", TaskID: "one", AgentID: "one"}, []string{"pears of agent one", "pears of task one"}},
		{yiku.SearchMemoryRequest{ProjectID: "p", TaskID: "two", AgentID: "two"}, nil},
		{yiku.SearchMemoryRequest{ProjectID: "q", TaskID: "one"}, nil},
		{yiku.SearchMemoryRequest{ProjectID: "p"}, nil},
	} {
		c.req.UserID, c.req.Query = "ann", "pears"
		res, err := s.SearchMemory(t.Context(), c.req)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range res.Items {
			got = append(got, item.Memory.Content)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("project %q, task %q, agent %q (-want +got):\n%s", c.req.ProjectID, c.req.TaskID, c.req.AgentID, diff)
		}
	}
}

// TestD10_ShownOnce: a message that stands in the window is not recalled beside it.
func TestD10_ShownOnce(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	say(t, s, "old", "I keep bees in the garden", "noted")
	say(t, s, "now", "My bees are well", "good")
	res := contextOf(t, s, yiku.GetContextRequest{SessionID: "now", Query: "bees"})
	if !strings.Contains(res.System, "in the garden") || strings.Contains(res.System, "are well") {
		t.Errorf("messages %q and system text:\n%s", texts(res.Messages), res.System)
	}
}

// TestE2_IndexForgets: what was deleted or forgotten is not in the index either.
func TestE2_IndexForgets(t *testing.T) {
	t.Parallel()
	st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := &holding{}
	s := openWith(t, st, kept).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	say(t, s, "one", "said pears", "嗯")
	save(t, s, yiku.SaveMemoryRequest{Content: "pears are sweet"})
	search(t, s, "pears")
	if kept.count(t, "pears") < 2 {
		t.Fatal("the index holds nothing before")
	}
	forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{All: true}})
	if got := kept.count(t, "pears"); got != 0 {
		t.Errorf("the index holds %d documents of what was forgotten", got)
	}
}

// TestD2_IndexOfAnotherStore: an index that followed another store, as after a
// restore, is filled anew.
func TestD2_IndexOfAnotherStore(t *testing.T) {
	t.Parallel()
	kept := &holding{}
	for _, fruit := range []string{"pears", "apples"} {
		st, err := sqlite.Open(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := openWith(t, st, kept).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
		save(t, s, yiku.SaveMemoryRequest{Content: fruit + " are sweet"})
		if got := search(t, s, fruit); len(got) != 1 {
			t.Errorf("%s: found %q", fruit, got)
		}
	}
	if got := kept.count(t, "pears"); got != 0 {
		t.Errorf("the index holds %d documents of the first store", got)
	}
}

// holding is an index that engines share and tests look into.
type holding struct{ *memindex.Index }

func (h *holding) count(t *testing.T, text string) int {
	t.Helper()
	owner, err := yiku.NewOwner("acme", "ann")
	if err != nil {
		t.Fatal(err)
	}
	res, err := h.Search(t.Context(), owner, index.Query{Text: text, K: 10})
	if err != nil {
		t.Fatal(err)
	}
	return len(res.Candidates)
}

// openWith starts an engine on a store and an index, which is made where there
// is none yet.
func openWith(t *testing.T, st *sqlite.Store, h *holding) *engine.Engine {
	t.Helper()
	if h.Index == nil {
		h.Index = memindex.New(nil)
		t.Cleanup(func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	e, err := engine.New(engine.Options{Store: st, Index: h.Index})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{e.Close, st.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return e
}
