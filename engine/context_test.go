package engine_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
)

// say appends messages of alternating roles, the user first.
func say(t *testing.T, s yiku.Service, session string, texts ...string) {
	t.Helper()
	req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: session}
	for i, text := range texts {
		role := yiku.RoleUser
		if i%2 == 1 {
			role = yiku.RoleAssistant
		}
		req.Messages = append(req.Messages, yiku.Message{Role: role, Content: yiku.Text(text)})
	}
	if _, err := s.AppendMessages(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, s yiku.Service, req yiku.SaveMemoryRequest) yiku.SaveMemoryResponse {
	t.Helper()
	if req.UserID == "" {
		req.UserID = "ann"
	}
	res, err := s.SaveMemory(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func contextOf(t *testing.T, s yiku.Service, req yiku.GetContextRequest) yiku.GetContextResponse {
	t.Helper()
	req.UserID = "ann"
	res, err := s.GetContext(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	b := res.Budget
	if sum := b.CallerSystem + b.Reserved + b.Memory + b.Working + b.Summary + b.Messages; sum != b.Total || b.Total+b.ReservedOutput > b.Window {
		t.Errorf("budget %+v: parts sum to %d, or exceed the window", b, sum)
	}
	return res
}

func texts(messages []yiku.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Content.PlainText())
	}
	return out
}

func shown(res yiku.GetContextResponse, group yiku.Group) []string {
	var out []string
	for _, m := range res.Memories {
		if m.Group == group {
			out = append(out, m.Content)
		}
	}
	return out
}

// TestA5_RecentListCapAndIdle: the window shows the last messages up to the
// cap; after a long silence it starts anew, and what left it is found as an episode.
func TestA5_RecentListCapAndIdle(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.RecentMessages = 4
	b := newBench(t, &settings)
	s := b.operator()
	say(t, s, "s", "q1", "a1", "q2", "a2", "q3", "a3")
	if diff := cmp.Diff([]string{"q2", "a2", "q3", "a3"}, texts(contextOf(t, s, yiku.GetContextRequest{SessionID: "s"}).Messages)); diff != "" {
		t.Errorf("cap: %s", diff)
	}
	b.clock.Advance(25 * time.Hour)
	if got := contextOf(t, s, yiku.GetContextRequest{SessionID: "s"}).Messages; len(got) != 0 {
		t.Errorf("after a day of silence: %q", texts(got))
	}
	say(t, s, "s", "我的护照放在哪里？", "不知道")
	if diff := cmp.Diff([]string{"我的护照放在哪里？", "不知道"}, texts(contextOf(t, s, yiku.GetContextRequest{SessionID: "s"}).Messages)); diff != "" {
		t.Errorf("after the silence: %s", diff)
	}
	say(t, s, "s2", "The passport is in the blue drawer", "Noted")
	b.clock.Advance(25 * time.Hour)
	res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s3", Query: "where is the passport, which drawer?"})
	if len(res.Episodes) == 0 || res.Episodes[0].SessionID != "s2" {
		t.Errorf("episodes %+v; want the message of s2", res.Episodes)
	}
	b.clock.Advance(366 * 24 * time.Hour)
	if res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s3", Query: "where is the passport, which drawer?"}); len(res.Episodes) != 0 {
		t.Errorf("after the retention: %+v", res.Episodes)
	}
}

// TestA5_PinnedOutliveTheCap: pinned and system messages stay in the window
// when the recent list has moved on.
func TestA5_PinnedOutliveTheCap(t *testing.T) {
	t.Parallel()
	settings := engine.DefaultSettings()
	settings.RecentMessages = 2
	b := newBench(t, &settings)
	s := b.operator()
	_, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{
		{Role: yiku.RoleSystem, Content: yiku.Text("be brief")}, {Role: yiku.RoleUser, Content: yiku.Text("pinned"), Pinned: true}, {Role: yiku.RoleAssistant, Content: yiku.Text("ok")}}})
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, "s", "q1", "a1", "q2", "a2")
	if diff := cmp.Diff([]string{"be brief", "pinned", "q2", "a2"}, texts(contextOf(t, s, yiku.GetContextRequest{SessionID: "s"}).Messages)); diff != "" {
		t.Error(diff)
	}
}

// TestD4_AlwaysLoaded: constraints, profile and project memories stand in every
// context of their scope, whatever the query; over their caps they are counted.
func TestD4_AlwaysLoaded(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	for i := range 23 {
		b.clock.Advance(time.Minute)
		save(t, s, yiku.SaveMemoryRequest{Content: fmt.Sprintf("never do thing number %d", i), Type: yiku.TypeConstraint})
	}
	for i := range 7 {
		importance := float64(i) / 10
		save(t, s, yiku.SaveMemoryRequest{Content: fmt.Sprintf("profile detail %d", i), Type: yiku.TypeProfile, Importance: &importance})
	}
	save(t, s, yiku.SaveMemoryRequest{Content: "项目使用 PostgreSQL", Type: yiku.TypeProject, ProjectID: "p"})
	save(t, s, yiku.SaveMemoryRequest{Content: "另一个项目用 MySQL", Type: yiku.TypeProject, ProjectID: "other"})
	res := contextOf(t, s, yiku.GetContextRequest{ProjectID: "p", Query: "something else entirely"})
	constraints := shown(res, yiku.GroupConstraint)
	if len(constraints) != 20 || constraints[0] != "never do thing number 22" || res.Budget.OmittedMemories != 3 {
		t.Errorf("%d constraints, first %q, %d omitted; want the newest 20 and 3 omitted", len(constraints), constraints[0], res.Budget.OmittedMemories)
	}
	if got := shown(res, yiku.GroupIdentity); len(got) != 5 || got[0] != "profile detail 6" {
		t.Errorf("identity %q; want the 5 most important", got)
	}
	if diff := cmp.Diff([]string{"项目使用 PostgreSQL"}, shown(res, yiku.GroupProject)); diff != "" {
		t.Error(diff)
	}
	if got := shown(res, yiku.GroupRelevant); len(got) != 0 {
		t.Errorf("recalled for a question about nothing known: %q", got)
	}
}

// TestD4_ProjectResults: the project's summary and its last three task results
// are loaded with it.
func TestD4_ProjectResults(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "The project migrates the billing service.", Type: yiku.TypeSummary, ProjectID: "p"})
	for i := range 4 {
		b.clock.Advance(time.Hour)
		id := fmt.Sprintf("task %d", i)
		if _, err := s.CompleteTask(t.Context(), yiku.CompleteTaskRequest{UserID: "ann", ProjectID: "p", TaskID: id, Outcome: yiku.TaskSuccess}); !errors.Is(err, yiku.ErrNotFound) {
			t.Errorf("a task that nobody named: %v", err)
		}
		if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: id, ProjectID: "p"}); err != nil {
			t.Fatal(err)
		}
		res, err := s.CompleteTask(t.Context(), yiku.CompleteTaskRequest{UserID: "ann", ProjectID: "p", SessionID: id, TaskID: id, Outcome: yiku.TaskSuccess, Result: "finished " + id})
		if err != nil || res.MemoryID == "" || res.Task.CompletedAt.IsZero() {
			t.Fatal(res, err)
		}
	}
	want := []string{"The project migrates the billing service.", "finished task 3", "finished task 2", "finished task 1"}
	if diff := cmp.Diff(want, shown(contextOf(t, s, yiku.GetContextRequest{ProjectID: "p"}), yiku.GroupProject)); diff != "" {
		t.Error(diff)
	}
}

// TestD5_RecallLimits: at most five items are recalled, ten if asked; an item
// is at most 100 tokens long; a question about nothing known recalls nothing.
func TestD5_RecallLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	for i := range 15 {
		save(t, s, yiku.SaveMemoryRequest{Content: fmt.Sprintf("Espresso machine note %c%d: %s", 'a'+i, i, strings.Repeat("grind finer. ", 60))})
	}
	count := func(max *int) int {
		res := contextOf(t, s, yiku.GetContextRequest{Query: "espresso machine", Options: yiku.ContextOptions{MaxItems: max}})
		return len(res.Memories)
	}
	ten := 10
	if got := count(nil); got != 5 {
		t.Errorf("%d recalled; want 5", got)
	}
	if got := count(&ten); got != 10 {
		t.Errorf("%d recalled; want 10", got)
	}
	if res := contextOf(t, s, yiku.GetContextRequest{Query: "股票账户的密码"}); len(res.Memories)+len(res.Episodes) != 0 {
		t.Errorf("recalled for nothing known: %+v", res.Memories)
	}
}

// TestG3_LayersByRequest: each layer can be switched off.
func TestG3_LayersByRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	say(t, s, "s", "hello", "hi")
	save(t, s, yiku.SaveMemoryRequest{Content: "no e-mails", Type: yiku.TypeConstraint})
	if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "s", Todos: []any{"call Bo"}}); err != nil {
		t.Fatal(err)
	}
	parts := func(l yiku.Layers) [3]bool {
		res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Options: yiku.ContextOptions{Layers: l}})
		return [3]bool{len(res.Messages) > 0, strings.Contains(res.System, "call Bo"), strings.Contains(res.System, "no e-mails")}
	}
	for _, test := range []struct {
		layers yiku.Layers
		want   [3]bool
	}{
		{yiku.Layers{}, [3]bool{true, true, true}}, {yiku.Layers{Session: yiku.Some(false)}, [3]bool{false, true, true}},
		{yiku.Layers{Working: yiku.Some(false)}, [3]bool{true, false, true}}, {yiku.Layers{Longterm: yiku.Some(false)}, [3]bool{true, true, false}},
	} {
		if got := parts(test.layers); got != test.want {
			t.Errorf("layers %+v: session, working, longterm %v; want %v", test.layers, got, test.want)
		}
	}
}

// TestC16_Levels: a context sees shared memories, the user's, and those of its
// own project and task; nothing else.
func TestC16_Levels(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	for _, m := range []yiku.SaveMemoryRequest{
		{Content: "badge rule shared", Level: yiku.LevelShared}, {Content: "badge rule for agent", Level: yiku.LevelShared, AgentID: "helpdesk"},
		{Content: "badge rule user"}, {Content: "badge rule project p", ProjectID: "p"}, {Content: "badge rule project q", ProjectID: "q"},
		{Content: "badge rule task", TaskID: "t", ProjectID: "p"}, {Content: "badge rule of bob", UserID: "bob"},
	} {
		save(t, s, m)
	}
	for _, test := range []struct {
		req  yiku.SearchMemoryRequest
		want []string
	}{
		{yiku.SearchMemoryRequest{}, []string{"badge rule shared", "badge rule user"}},
		{yiku.SearchMemoryRequest{AgentID: "helpdesk"}, []string{"badge rule for agent", "badge rule shared", "badge rule user"}},
		{yiku.SearchMemoryRequest{ProjectID: "p"}, []string{"badge rule project p", "badge rule shared", "badge rule user"}},
		{yiku.SearchMemoryRequest{ProjectID: "p", TaskID: "t"}, []string{"badge rule project p", "badge rule shared", "badge rule task", "badge rule user"}},
		{yiku.SearchMemoryRequest{ProjectID: "q", TaskID: "t"}, []string{"badge rule project q", "badge rule shared", "badge rule user"}},
	} {
		test.req.UserID, test.req.Query = "ann", "badge rule"
		res, err := s.SearchMemory(t.Context(), test.req)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range res.Items {
			got = append(got, item.Memory.Content)
		}
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("project %q task %q agent %q: %s", test.req.ProjectID, test.req.TaskID, test.req.AgentID, diff)
		}
	}
	reader := b.As(yiku.Principal{Tenant: "acme", Access: yiku.AccessWrite})
	if _, err := reader.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: "x", Level: yiku.LevelShared}); !errors.Is(err, yiku.ErrForbidden) {
		t.Errorf("a shared memory written by a user: %v", err)
	}
	other := b.As(yiku.Principal{Tenant: "other", Access: yiku.AccessAdmin})
	if res, err := other.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: "badge rule"}); err != nil || len(res.Items) != 0 {
		t.Errorf("another tenant sees %d items, %v", len(res.Items), err)
	}
}

// TestG1_SnapshotGoesWithWhatItCites: a stored context can be read; it is gone
// with a memory or a message that it shows, and when its time is over.
func TestG1_SnapshotGoesWithWhatItCites(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	say(t, s, "s", "我住在上海", "好的")
	memory := save(t, s, yiku.SaveMemoryRequest{Content: "住在上海", Type: yiku.TypeProfile})
	take := func() (string, yiku.GetContextResponse) {
		res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s"})
		return res.SnapshotID, res
	}
	read := func(id string) (yiku.Snapshot, error) {
		return s.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{UserID: "ann", ID: id})
	}
	id, res := take()
	got, err := read(id)
	if err != nil {
		t.Fatal(err)
	}
	if got.Response.System != res.System || !cmp.Equal(texts(res.Messages), texts(got.Response.Messages)) || got.SessionID != "s" {
		t.Errorf("snapshot %+v differs from the context", got)
	}
	if _, err := s.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{UserID: "bob", ID: id}); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("somebody else's snapshot: %v", err)
	}
	if _, err := s.DeleteMemory(t.Context(), yiku.DeleteMemoryRequest{UserID: "ann", ID: memory.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := read(id); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("a snapshot of a deleted memory: %v", err)
	}
	id, _ = take()
	b.clock.Advance(8 * 24 * time.Hour)
	if _, err := read(id); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("after its time: %v", err)
	}
	id, _ = take()
	if _, err := s.DeleteSession(t.Context(), yiku.DeleteSessionRequest{UserID: "ann", SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := read(id); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("a snapshot of a deleted session: %v", err)
	}
}

// TestG2_ScoresOfEveryRecalledMemory: each recalled memory comes with its score
// and the parts of it, and the formula with its numbers where asked.
func TestG2_ScoresOfEveryRecalledMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "我喜欢喝乌龙茶", Type: yiku.TypePreference})
	save(t, s, yiku.SaveMemoryRequest{Content: "The oolong tea is in the second drawer"})
	res := contextOf(t, s, yiku.GetContextRequest{Query: "oolong tea 乌龙茶", Options: yiku.ContextOptions{Explain: true}})
	if len(res.Memories) != 2 {
		t.Fatalf("%d memories; want 2", len(res.Memories))
	}
	for _, m := range res.Memories {
		w := engine.DefaultSettings().Weights
		sum := w.Relevance*m.Scores.Relevance + w.Freshness*m.Scores.Freshness + w.Importance*m.Scores.Importance + w.Use*m.Scores.Use
		if math.Abs(m.Score-sum) > 1e-9 || m.Scores.Relevance == 0 || m.Scores.Lexical == 0 || m.Explain == nil || m.Explain.Formula == "" || m.Source == "" {
			t.Errorf("%+v: parts give %.3f", m, sum)
		}
	}
}

// TestA4_LongAgentRun: however much an agent says after the user, the window
// keeps the user's message, in both forms.
func TestA4_LongAgentRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{{ID: "ask", Role: yiku.RoleUser, Content: yiku.Text("please do it")}}}
	for i := range 250 {
		req.Messages = append(req.Messages, yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text(fmt.Sprint("step ", i))})
	}
	if _, err := s.AppendMessages(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"openai", "anthropic"} {
		res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Options: yiku.ContextOptions{Format: format}})
		if len(res.Messages) != 251 || res.Messages[0].ID != "ask" {
			t.Errorf("%s: %d messages; want the question and the 250 behind it", format, len(res.Messages))
		}
	}
	b.clock.Advance(30 * time.Hour) // the agent answers after the silence that ends a list
	if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{{Role: yiku.RoleAssistant, Content: yiku.Text("done at last")}}}); err != nil {
		t.Fatal(err)
	}
	if res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s"}); len(res.Messages) == 0 || res.Messages[0].ID != "ask" {
		t.Errorf("after the silence: %d messages", len(res.Messages))
	}
}

// TestD9_FutureIsNotYetTrue: a value that holds from a day to come is neither
// found nor loaded before that day.
func TestD9_FutureIsNotYetTrue(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in Hangzhou", Subject: "user", Attribute: "residence", Value: "Hangzhou", Type: yiku.TypeProfile})
	save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in Shanghai", Subject: "user", Attribute: "residence", Value: "Shanghai", ValidFrom: b.clock.Now().Add(48 * time.Hour), Type: yiku.TypeProfile})
	shows := func() []string {
		return shown(contextOf(t, s, yiku.GetContextRequest{Query: "where does the user live"}), yiku.GroupIdentity)
	}
	if diff := cmp.Diff([]string{"The user lives in Hangzhou"}, shows()); diff != "" {
		t.Error(diff)
	}
	b.clock.Advance(72 * time.Hour)
	if diff := cmp.Diff([]string{"The user lives in Shanghai"}, shows()); diff != "" {
		t.Error(diff)
	}
}

// TestD4_CorrectedIdentity: what a correction says of an attribute stands in every
// context, as what it corrects did; other corrections do not.
func TestD4_CorrectedIdentity(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	save(t, s, yiku.SaveMemoryRequest{Content: "我住在杭州", Type: yiku.TypeProfile, Subject: "user", Attribute: "residence", Value: "杭州", Single: new(true)})
	save(t, s, yiku.SaveMemoryRequest{Content: "我从杭州搬到上海徐汇了", Type: yiku.TypeCorrection, Subject: "user", Attribute: "residence", Value: "上海徐汇", Single: new(true)})
	save(t, s, yiku.SaveMemoryRequest{Content: "The report is not weekly", Type: yiku.TypeCorrection})
	text := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "compile errors"}).System
	if !strings.Contains(text, "上海徐汇") || strings.Contains(text, "weekly") || strings.Contains(text, "我住在杭州") {
		t.Errorf("%s", text)
	}
}
