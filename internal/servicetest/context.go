package servicetest

import (
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yiku-ai/yiku"
)

func contextGroups() []group {
	return []group{
		{"D12_Context", wholeContext},
		{"D4_AlwaysLoaded", alwaysLoaded},
		{"D5_NothingRelevant", nothingRelevant},
		{"A2_Turns", turns},
		{"A4_TooSmallAWindow", smallWindow},
		{"G3_Layers", layers},
	}
}

func (s *suite) context(req yiku.GetContextRequest) yiku.GetContextResponse {
	s.Helper()
	return must[yiku.GetContextResponse](s)(s.GetContext(s.ctx, req))
}

// wholeContext: D12 and G1, a context holds the caller's system text, memory,
// working memory and the conversation, adds up, and is kept as a snapshot.
func wholeContext(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "对花生过敏，点餐要避开花生", Type: yiku.TypeConstraint})
	s.append("u", "s", user("我叫小明"), assistant("你好，小明"), user("晚饭吃什么？"))
	must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "s", DataSlots: map[string]any{"预算": "80 元"}}))
	res := s.context(yiku.GetContextRequest{UserID: "u", SessionID: "s", System: "You are a waiter.", Model: "gpt-4o", WindowTokens: 8000})
	if !strings.HasPrefix(res.System, "You are a waiter.") || !strings.Contains(res.System, "花生") || !strings.Contains(res.System, "80 元") {
		s.Errorf("system %q", res.System)
	}
	if got := texts(res.Messages); got != "我叫小明|你好，小明|晚饭吃什么？" {
		s.Errorf("messages %q", got)
	}
	if len(res.Memories) != 1 || res.Memories[0].Group != yiku.GroupConstraint || res.Memories[0].ID == "" {
		s.Errorf("memories %+v", res.Memories)
	}
	b := res.Budget
	if b.Total != b.CallerSystem+b.Reserved+b.Memory+b.Working+b.Summary+b.Messages || b.Window != 8000 || b.Total+b.ReservedOutput > b.Window ||
		b.CallerSystem == 0 || b.Memory == 0 || b.Working == 0 || b.Messages == 0 || b.Tokenizer == "" {
		s.Errorf("budget %+v", b)
	}
	if res.Degraded == nil {
		s.Error("degraded is null")
	}
	snapshot := must[yiku.Snapshot](s)(s.GetSnapshot(s.ctx, yiku.GetSnapshotRequest{ID: res.SnapshotID, UserID: "u"}))
	if snapshot.ID != res.SnapshotID || snapshot.SessionID != "s" || snapshot.Request.System != "You are a waiter." {
		s.Errorf("snapshot %+v", snapshot)
	}
	same(s, "snapshot", res, snapshot.Response, cmpopts.IgnoreFields(yiku.GetContextResponse{}, "SnapshotID"))
	replay := must[yiku.ReplaySnapshotResponse](s)(s.ReplaySnapshot(s.ctx, yiku.ReplaySnapshotRequest{ID: res.SnapshotID, UserID: "u"}))
	same(s, "replay at once", yiku.ContextDiff{Same: true, Gone: []yiku.MemoryDiff{}, New: []yiku.MemoryDiff{}, Changed: []yiku.MemoryDiff{}}, replay.Diff)
	same(s, "replayed", replay.Then, replay.Now, cmpopts.IgnoreFields(yiku.GetContextResponse{}, "SnapshotID"))
	fails[yiku.ReplaySnapshotResponse](s, yiku.ErrNotFound)(s.ReplaySnapshot(s.ctx, yiku.ReplaySnapshotRequest{ID: res.SnapshotID, UserID: "v"}))
	fails[yiku.Snapshot](s, yiku.ErrNotFound)(s.GetSnapshot(s.ctx, yiku.GetSnapshotRequest{ID: res.SnapshotID, UserID: "v"}))

	must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{ID: res.Memories[0].ID, UserID: "u"}))
	fails[yiku.Snapshot](s, yiku.ErrNotFound)(s.GetSnapshot(s.ctx, yiku.GetSnapshotRequest{ID: res.SnapshotID, UserID: "u"}))
}

// alwaysLoaded: D4, constraints in scope stand in every context, whatever is
// asked; those of another project, task or user do not.
func alwaysLoaded(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "never send text messages", Type: yiku.TypeConstraint})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "周五不发布", Type: yiku.TypeConstraint, ProjectID: "p"})
	s.save(yiku.SaveMemoryRequest{UserID: "v", Content: "别人的禁令", Type: yiku.TypeConstraint})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "公司用钉钉", Type: yiku.TypeConstraint, Level: yiku.LevelShared})
	for project, want := range map[string]string{"": "never send text messages|公司用钉钉", "p": "never send text messages|周五不发布|公司用钉钉", "q": "never send text messages|公司用钉钉"} {
		res := s.context(yiku.GetContextRequest{UserID: "u", ProjectID: project, Query: "今天天气如何"})
		got := map[string]bool{}
		for _, m := range res.Memories {
			got[m.Content] = true
		}
		for _, text := range strings.Split(want, "|") {
			if !got[text] {
				s.Errorf("project %q lacks %q: %v", project, text, got)
			}
		}
		if len(got) != len(strings.Split(want, "|")) {
			s.Errorf("project %q has %v", project, got)
		}
	}
}

// nothingRelevant: D5, a question about nothing known recalls nothing.
func nothingRelevant(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "我的自行车是红色的"})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "the meeting room has eight chairs"})
	for _, query := range []string{"quantum chromodynamics", "量子色动力学"} {
		if res := s.context(yiku.GetContextRequest{UserID: "u", Query: query}); len(res.Memories) != 0 {
			s.Errorf("%s recalls %+v", query, res.Memories)
		}
	}
	if res := s.context(yiku.GetContextRequest{UserID: "u", Query: "自行车是什么颜色"}); len(res.Memories) != 1 {
		s.Errorf("the bicycle recalls %+v", res.Memories)
	}
}

// turns: A2, the window holds the last turns, a turn being a user message with
// what follows it.
func turns(s *suite) {
	for i := range 15 {
		s.append("u", "s", user(numbered("问", i)), assistant(numbered("答", i)))
	}
	for _, c := range []struct {
		turns *int
		first string
		count int
	}{{nil, "问-005", 20}, {ptr(1), "问-014", 2}, {ptr(100), "问-000", 30}} {
		res := s.context(yiku.GetContextRequest{UserID: "u", SessionID: "s", Turns: c.turns, Query: "x"})
		if len(res.Messages) != c.count || res.Messages[0].Content.Text != c.first {
			s.Errorf("%v turns: %s", c.turns, texts(res.Messages))
		}
	}
	if res := s.context(yiku.GetContextRequest{UserID: "u", SessionID: "s", Turns: ptr(0), Query: "x"}); len(res.Messages) != 0 {
		s.Errorf("no turns: %s", texts(res.Messages))
	}
}

// smallWindow: A4, trimming keeps the newest user message; where the
// untouchable parts do not fit it is ErrTooLarge that names the part.
func smallWindow(s *suite) {
	for i := range 10 {
		s.append("u", "s", user(numbered("问题", i)+strings.Repeat("很长的话", 20)), assistant(numbered("回答", i)+strings.Repeat("long words ", 20)))
	}
	s.append("u", "s", user("最新的问题"))
	res := s.context(yiku.GetContextRequest{UserID: "u", SessionID: "s", Model: "gpt-4o", WindowTokens: 600})
	last := res.Messages[len(res.Messages)-1]
	if last.Content.Text != "最新的问题" || res.Budget.Total+res.Budget.ReservedOutput > 600 || res.Budget.TrimmedMessages == 0 {
		s.Errorf("last %q, budget %+v", last.Content.Text, res.Budget)
	}
	_, err := s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", SessionID: "s", System: strings.Repeat("a system text ", 500), WindowTokens: 600})
	var e *yiku.Error
	if !errors.Is(err, yiku.ErrTooLarge) || !errors.As(err, &e) || (e.Detail == "" && len(e.Fields) == 0) {
		s.Errorf("error %v", err)
	}
	names[yiku.GetContextResponse](s, "options.timezone")(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", Options: yiku.ContextOptions{Timezone: "Mars/Base"}}))
	names[yiku.GetContextResponse](s, "options.format")(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", Options: yiku.ContextOptions{Format: "xml"}}))
}

// layers: G3, each layer can be left out of one request.
func layers(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "never lie", Type: yiku.TypeConstraint})
	s.append("u", "s", user("你好"))
	must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "s", DataSlots: map[string]any{"k": "工作台"}}))
	get := func(l yiku.Layers) yiku.GetContextResponse {
		return s.context(yiku.GetContextRequest{UserID: "u", SessionID: "s", Query: "lie", Options: yiku.ContextOptions{Layers: l}})
	}
	if res := get(yiku.Layers{Session: yiku.Some(false)}); len(res.Messages) != 0 || len(res.Memories) != 1 {
		s.Errorf("without session: %+v", res)
	}
	if res := get(yiku.Layers{Working: yiku.Some(false)}); strings.Contains(res.System, "工作台") || res.Budget.Working != 0 {
		s.Errorf("without working memory: %q", res.System)
	}
	if res := get(yiku.Layers{Longterm: yiku.Some(false)}); len(res.Memories) != 0 || len(res.Episodes) != 0 || len(res.Messages) != 1 {
		s.Errorf("without long-term memory: %+v", res)
	}
}
