package engine_test

import (
	"errors"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm/llmtest"
)

// TestE2_CompletedTasksGo: a completed task, which has no working memory any
// more, goes with everything of its project and with a keyword that its id
// says. Control: those of other projects and with other ids stay.
func TestE2_CompletedTasksGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		req  yiku.ForgetRequest
		left map[[2]string]bool
	}{
		"all of a project": {yiku.ForgetRequest{ProjectID: "a", Selector: yiku.Selector{All: true}}, map[[2]string]bool{{"", "修灯"}: true, {"", "lamp"}: true}},
		"a keyword":        {yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "灯"}}, map[[2]string]bool{{"", "lamp"}: true, {"a", "lamp"}: true}},
		"in a project":     {yiku.ForgetRequest{ProjectID: "a", Selector: yiku.Selector{Keyword: "灯"}}, map[[2]string]bool{{"", "修灯"}: true, {"", "lamp"}: true, {"a", "lamp"}: true}},
		"all":              {yiku.ForgetRequest{Selector: yiku.Selector{All: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			tasks := [][2]string{{"", "修灯"}, {"", "lamp"}, {"a", "修灯"}, {"a", "lamp"}}
			complete := func(task [2]string, session string) error {
				_, err := s.CompleteTask(t.Context(), yiku.CompleteTaskRequest{UserID: "ann", ProjectID: task[0], TaskID: task[1], SessionID: session, Outcome: yiku.TaskSuccess})
				return err
			}
			for _, task := range tasks {
				_, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: "s" + task[0], ProjectID: task[0]})
				if err = errors.Join(err, complete(task, "s"+task[0])); err != nil {
					t.Fatal(err)
				}
			}
			req := c.req
			req.DryRun = true
			would := forget(t, s, req)
			did := forget(t, s, c.req)
			if would.Removed != did.Removed || did.Removed.Tasks != len(tasks)-len(c.left) {
				t.Errorf("would remove %+v, removed %+v", would.Removed, did.Removed)
			}
			for _, task := range tasks {
				err := complete(task, "") // one that is gone is not found
				if c.left[task] && err != nil || !c.left[task] && !errors.Is(err, yiku.ErrNotFound) {
					t.Errorf("task %q: %v", task, err)
				}
			}
		})
	}
}

// TestE2_ReportsGoByWhatTheySay: where a keyword finds nothing else, the
// records of extractions that say it go, and the others stay.
func TestE2_ReportsGoByWhatTheySay(t *testing.T) {
	t.Parallel()
	for keyword, left := range map[string]int{"zebra": 1, "operations": 1, "桂花": 0} {
		t.Run(keyword, func(t *testing.T) {
			t.Parallel()
			b, _ := modelBench(t, answering(`{"op":"create","type":"fact","content":"喜欢桂花茶","importance":0.5,"reason":"said so"}`), llmtest.Step{})
			s := b.operator()
			say(t, s, "s", "我喜欢这种茶", "noted")
			if _, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s", DryRun: true}); err != nil {
				t.Fatal(err)
			}
			reports := func() int {
				page, err := s.ListExtractions(t.Context(), yiku.ListExtractionsRequest{UserID: "ann"})
				if err != nil {
					t.Fatal(err)
				}
				return len(page.Items)
			}
			if n := reports(); n != 1 {
				t.Fatalf("there are %d reports", n)
			}
			forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: keyword}})
			if n := reports(); n != left {
				t.Errorf("left are %d, want %d", n, left)
			}
		})
	}
}
