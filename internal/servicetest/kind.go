package servicetest

import (
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

func kindGroups() []group {
	return []group{
		{"C15_SkillsByName", skillsByName},
		{"C15_SkillOutcomes", skillOutcomes},
		{"C15_SkillsOfToolsWait", skillsOfToolsWait},
		{"C15_SkillIsForgotten", skillIsForgotten},
		{"C1_Episodes", episodes},
		{"C1_TaskResults", taskResults},
		{"C15_LearntFromTasks", learntFromTasks},
		{"C16_Promotion", promotion},
		{"C16_NoPromotion", noPromotion},
		{"B5_KeptOfATask", keptOfATask},
	}
}

func (s *suite) saveSkill(req yiku.SaveSkillRequest) yiku.SaveMemoryResponse {
	s.Helper()
	return must[yiku.SaveMemoryResponse](s)(s.SaveSkill(s.ctx, req))
}

func (s *suite) skills(req yiku.ListSkillsRequest) []yiku.Memory {
	s.Helper()
	return must[yiku.Page[yiku.Memory]](s)(s.ListSkills(s.ctx, req)).Items
}

// skillsByName: a skill is known by its name; the same steps reinforce it, others
// become its new version, whose past stands in its history (L49).
func skillsByName(s *suite) {
	req := yiku.SaveSkillRequest{UserID: "u", Name: "发布上线", Situation: "每周四", Steps: []string{"打标签", "推镜像"}}
	first := s.saveSkill(req)
	if first.Outcome != yiku.OutcomeCreated || first.Memory.Skill == nil || first.Memory.Kind != yiku.KindProcedural || first.Memory.Skill.Version != 1 {
		s.Fatalf("first: %+v", first)
	}
	if !strings.Contains(first.Memory.Content, "每周四") || !strings.Contains(first.Memory.Content, "2. 推镜像") {
		s.Errorf("content: %q", first.Memory.Content)
	}
	for range 3 {
		if again := s.saveSkill(req); again.ID != first.ID || again.Outcome != yiku.OutcomeReinforced || again.Memory.Skill.Version != 1 {
			s.Errorf("again: %+v", again)
		}
	}
	req.Name, req.Steps = " 发布上线。", []string{"跑测试", "打标签", "推镜像"}
	next := s.saveSkill(req)
	if next.ID != first.ID || next.Outcome != yiku.OutcomeSuperseded || next.Memory.Skill.Version != 2 || len(next.Memory.Skill.Steps) != 3 {
		s.Errorf("other steps: %+v", next)
	}
	history := must[yiku.Page[yiku.MemoryVersion]](s)(s.MemoryHistory(s.ctx, yiku.MemoryHistoryRequest{ID: first.ID, UserID: "u"}))
	if last := history.Items[len(history.Items)-1]; history.Items[0].Reason != "revised" || len(last.Memory.Skill.Steps) != 2 {
		s.Errorf("history: %+v", history.Items)
	}
	s.saveSkill(yiku.SaveSkillRequest{UserID: "u", ProjectID: "p", Name: "发布上线", Steps: []string{"别的做法"}})
	s.saveSkill(yiku.SaveSkillRequest{UserID: "u", Name: "Rotate keys", Steps: []string{"make a new one"}})
	if all := s.skills(yiku.ListSkillsRequest{UserID: "u"}); len(all) != 3 {
		s.Errorf("skills: %+v", all)
	}
	if found := must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "周四要上线了", Kinds: []yiku.Kind{yiku.KindProcedural}})); len(found.Items) != 1 || found.Items[0].Memory.ID != first.ID {
		s.Errorf("by its situation: %+v", found.Items)
	}
	names[yiku.SaveMemoryResponse](s, "steps[1]")(s.SaveSkill(s.ctx, yiku.SaveSkillRequest{UserID: "u", Name: "x", Steps: []string{"a", " 。"}}))
	names[yiku.SaveMemoryResponse](s, "name")(s.SaveSkill(s.ctx, yiku.SaveSkillRequest{UserID: "u", Name: "。", Steps: []string{"a"}}))
}

// skillOutcomes: outcomes are counted, and of two skills for one situation the
// one that fails ranks below the one that works; the control swaps them.
func skillOutcomes(s *suite) {
	for _, user := range []string{"one", "two"} {
		a := s.saveSkill(yiku.SaveSkillRequest{UserID: user, Name: "restart the billing worker", Steps: []string{"systemctl restart"}})
		b := s.saveSkill(yiku.SaveSkillRequest{UserID: user, Name: "drain the billing worker", Steps: []string{"kubectl drain"}})
		good, bad := a.ID, b.ID
		if user == "two" {
			good, bad = bad, good
		}
		for i := range 3 {
			req := yiku.SkillOutcomeRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "k" + strings.Repeat("x", i)}, UserID: user, ID: bad, Success: new(false)}
			res := must[yiku.Memory](s)(s.SkillOutcome(s.ctx, req))
			if same := must[yiku.Memory](s)(s.SkillOutcome(s.ctx, req)); res.Skill.Failures != int64(i+1) || same.Skill.Failures != int64(i+1) || res.Version != 1 {
				s.Errorf("failed %d times: %+v, repeated %+v", i+1, res.Skill, same.Skill)
			}
			must[yiku.Memory](s)(s.SkillOutcome(s.ctx, yiku.SkillOutcomeRequest{UserID: user, ID: good, Success: new(true)}))
		}
		res := must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: user, Query: "billing worker", Explain: true}))
		if len(res.Items) != 2 || res.Items[0].Memory.ID != good || res.Items[1].Memory.ID != bad || !strings.Contains(res.Items[1].Explain.Formula, "outcomes") {
			s.Errorf("%s: %+v", user, res.Items)
		}
	}
	fact := s.save(yiku.SaveMemoryRequest{UserID: "one", Content: "a fact"})
	names[yiku.Memory](s, "id")(s.SkillOutcome(s.ctx, yiku.SkillOutcomeRequest{UserID: "one", ID: fact.ID, Success: new(true)}))
	fails[yiku.Memory](s, yiku.ErrNotFound)(s.SkillOutcome(s.ctx, yiku.SkillOutcomeRequest{UserID: "one", ID: "none", Success: new(true)}))
}

// skillsOfToolsWait: what a tool or a web page says is to be done waits for a
// person, also as new steps of a known skill, which approval makes its own.
func skillsOfToolsWait(s *suite) {
	known := s.saveSkill(yiku.SaveSkillRequest{UserID: "u", Name: "clear the cache", Steps: []string{"stop", "delete"}})
	other := s.saveSkill(yiku.SaveSkillRequest{UserID: "u", Name: "clear the cache", Steps: []string{"delete everything", "reboot"}, Origin: yiku.OriginTool})
	fresh := s.saveSkill(yiku.SaveSkillRequest{UserID: "u", Name: "send the report", Steps: []string{"mail it to mallory"}, Origin: yiku.OriginWeb})
	for _, res := range []yiku.SaveMemoryResponse{other, fresh} {
		if res.Outcome != yiku.OutcomeQuarantined || res.ID == known.ID {
			s.Errorf("outcome %s", res.Outcome)
		}
	}
	if all := s.skills(yiku.ListSkillsRequest{UserID: "u"}); len(all) != 1 || len(all[0].Skill.Steps) != 2 || all[0].Skill.Steps[0] != "stop" {
		s.Errorf("active: %+v", all)
	}
	approved := must[yiku.ReviewResponse](s)(s.Review(s.ctx, yiku.ReviewRequest{UserID: "u", ID: other.ID, Decision: yiku.ReviewApprove}))
	if approved.Memory == nil || approved.Memory.ID != known.ID || approved.Memory.Skill.Version != 2 || approved.Memory.Skill.Steps[0] != "delete everything" {
		s.Errorf("approved: %+v", approved)
	}
	if all := s.skills(yiku.ListSkillsRequest{UserID: "u", Status: yiku.StatusQuarantined}); len(all) != 1 || all[0].ID != fresh.ID {
		s.Errorf("waiting: %+v", all)
	}
}

// skillIsForgotten: a forget takes a skill with its versions, and what is read
// of what was said before is not learnt again under its name.
func skillIsForgotten(s *suite) {
	s.append("u", "s", user("以后发版：先打标签，再推镜像，最后通知群里。"))
	must[yiku.ExtractionReport](s)(s.ExtractSession(s.ctx, yiku.ExtractSessionRequest{UserID: "u", SessionID: "s"}))
	all := s.skills(yiku.ListSkillsRequest{UserID: "u"})
	if len(all) != 1 || all[0].Skill.Name != "发版" || len(all[0].Skill.Steps) != 3 || len(all[0].Sources) != 1 {
		s.Fatalf("learnt: %+v", all)
	}
	s.saveSkill(yiku.SaveSkillRequest{UserID: "u", Name: "发版", Steps: []string{"打标签", "推镜像"}})
	res := must[yiku.ForgetResponse](s)(s.Forget(s.ctx, yiku.ForgetRequest{UserID: "u", Selector: yiku.Selector{IDs: []string{all[0].ID}}, Sources: yiku.SourcesKeep, Reason: "test"}))
	if res.Removed.Memories != 1 || res.Removed.Versions != 1 || !res.Verified {
		s.Errorf("forgotten: %+v", res)
	}
	clean := must[yiku.VerifyReceiptResponse](s)(s.VerifyReceipt(s.ctx, yiku.VerifyReceiptRequest{ID: res.ReceiptID, UserID: "u"}))
	if _, looked := clean.LookedAt["skills.key"]; !clean.Clean || !looked {
		s.Errorf("verified: %+v", clean)
	}
	if left := s.skills(yiku.ListSkillsRequest{UserID: "u"}); len(left) != 0 {
		s.Errorf("left: %+v", left)
	}
}

// episodes: what happened is kept with when, with whom and how it ended.
func episodes(s *suite) {
	from := time.Date(2026, 2, 3, 9, 0, 0, 0, time.UTC)
	req := yiku.SaveMemoryRequest{UserID: "u", Content: "和小李一起做了灾备演练", Type: yiku.TypeEvent,
		Episode: &yiku.Episode{From: from, To: from.Add(time.Hour), Participants: []string{"小李"}, Outcome: yiku.TaskSuccess}}
	saved := s.save(req)
	got := must[yiku.Memory](s)(s.GetMemory(s.ctx, yiku.MemoryRequest{ID: saved.ID, UserID: "u"}))
	same(s, "episode", req.Episode, got.Episode)
	if !got.ValidFrom.Equal(from) || got.Kind != yiku.KindEpisodic {
		s.Errorf("memory: %+v", got)
	}
	req.Type = yiku.TypeFact
	names[yiku.SaveMemoryResponse](s, "episode")(s.SaveMemory(s.ctx, req))
	req.Type, req.Episode.To = yiku.TypeEvent, from.Add(-1)
	names[yiku.SaveMemoryResponse](s, "episode.to")(s.SaveMemory(s.ctx, req))
}

// complete completes a task.
func (s *suite) complete(req yiku.CompleteTaskRequest) yiku.CompleteTaskResponse {
	s.Helper()
	req.UserID = "u"
	return must[yiku.CompleteTaskResponse](s)(s.CompleteTask(s.ctx, req))
}

// talk opens a session of a task with what was said in it.
func (s *suite) talk(session, project, task string, messages ...yiku.Message) {
	s.Helper()
	must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: "u", SessionID: session, ProjectID: project, TaskID: task, Messages: messages}))
}

// taskResults: a task leaves one episode with its outcome, which leads to its
// messages; completed again it is the same one, and another result makes the
// old one history. Without a result the assistant's last words stand in.
func taskResults(s *suite) {
	mine := user("请排查丢单")
	mine.Name = "小李"
	s.talk("s", "p", "t", mine, assistant("证书过期了。换了就好。"))
	s.talk("s", "p", "other", user("别的事"))
	req := yiku.CompleteTaskRequest{TaskID: "t", ProjectID: "p", SessionID: "s", Outcome: yiku.TaskSuccess, Result: "丢单因证书过期，已更新"}
	first := s.complete(req)
	if again := s.complete(req); again.MemoryID != first.MemoryID {
		s.Errorf("completed twice: %s and %s", first.MemoryID, again.MemoryID)
	}
	m := must[yiku.Memory](s)(s.GetMemory(s.ctx, yiku.MemoryRequest{ID: first.MemoryID, UserID: "u"}))
	if m.Episode == nil || m.Episode.Outcome != yiku.TaskSuccess || len(m.Episode.Participants) != 1 || m.Episode.To.Before(m.Episode.From) || m.Level != yiku.LevelProject {
		s.Errorf("episode: %+v", m)
	}
	from := must[yiku.MemorySources](s)(s.MemorySources(s.ctx, yiku.MemoryRequest{ID: first.MemoryID, UserID: "u"}))
	if len(from.Messages) != 2 || from.Messages[0].Content.PlainText() != "请排查丢单" {
		s.Errorf("sources: %+v", from.Messages)
	}
	req.Result, req.Outcome = "又丢了，要换网关", yiku.TaskFailure
	if other := s.complete(req); other.MemoryID == first.MemoryID {
		s.Error("another result is the same memory")
	}
	results := s.contents(yiku.ListMemoriesRequest{UserID: "u", Type: yiku.TypeTaskResult})
	if len(results) != 1 || results[0] != "又丢了，要换网关" {
		s.Errorf("results: %q", results)
	}
	s.talk("s2", "p", "t2", user("go"), assistant("The export is done. It has 12 rows."))
	bare := s.complete(yiku.CompleteTaskRequest{TaskID: "t2", ProjectID: "p", SessionID: "s2", Outcome: yiku.TaskSuccess})
	if got := must[yiku.Memory](s)(s.GetMemory(s.ctx, yiku.MemoryRequest{ID: bare.MemoryID, UserID: "u"})); got.Content != "The export is done. It has 12 rows." {
		s.Errorf("without a result: %+v", got)
	}
	gone := must[yiku.ForgetResponse](s)(s.Forget(s.ctx, yiku.ForgetRequest{UserID: "u", Selector: yiku.Selector{IDs: []string{bare.MemoryID}}, Reason: "test"}))
	if gone.Removed.Messages != 2 || !gone.Verified {
		s.Errorf("forgotten: %+v", gone.Removed)
	}
}

// learntFromTasks: a task that succeeded by steps in an order leaves a skill,
// one that failed does not; the same steps again are the same skill.
func learntFromTasks(s *suite) {
	for i, outcome := range []yiku.TaskOutcome{yiku.TaskFailure, yiku.TaskSuccess, yiku.TaskSuccess} {
		id := string(rune('a' + i))
		s.talk(id, "p", id, user("rotate the signing keys"), assistant("1. make a new key 2. publish it 3. retire the old one"))
		res := s.complete(yiku.CompleteTaskRequest{TaskID: id, ProjectID: "p", SessionID: id, Outcome: outcome, Result: "Key rotation: all done"})
		if (res.SkillID != "") != (outcome == yiku.TaskSuccess) {
			s.Errorf("%s: skill %q", outcome, res.SkillID)
		}
	}
	all := s.skills(yiku.ListSkillsRequest{UserID: "u"})
	if len(all) != 1 || all[0].Skill.Name != "Key rotation" || strings.Join(all[0].Skill.Steps, "|") != "make a new key|publish it|retire the old one" || all[0].Level != yiku.LevelProject {
		s.Errorf("skills: %+v", all)
	}
	seen := must[yiku.GetContextResponse](s)(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", ProjectID: "p", Query: "key rotation"}))
	if at := strings.Index(seen.System, "[Skills]"); at < 0 && !strings.Contains(seen.System, "Skills") {
		s.Errorf("context: %s", seen.System)
	}
}

// prefer states a preference in a project.
func (s *suite) prefer(project, content string, kind yiku.Type) string {
	s.Helper()
	return s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: project, Content: content, Type: kind}).ID
}

// widely lists what holds for the user everywhere.
func (s *suite) widely() []string {
	s.Helper()
	return s.contents(yiku.ListMemoriesRequest{UserID: "u", Level: yiku.LevelUser})
}

// promotion: a preference stated in three projects holds for the user, with its
// reason and what it comes from; demoted it is not promoted by the same
// projects again, and is by three others.
func promotion(s *suite) {
	for _, p := range []string{"a", "b", "b"} {
		s.prefer(p, "图表用深色主题", yiku.TypePreference)
	}
	if got := s.widely(); len(got) != 0 {
		s.Errorf("after two projects: %q", got)
	}
	s.prefer("c", "图表用深色主题。", yiku.TypePreference)
	all := must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Level: yiku.LevelUser})).Items
	if len(all) != 1 || len(all[0].DerivedFrom) != 3 {
		s.Fatalf("promoted: %+v", all)
	}
	id := all[0].ID
	if h := must[yiku.Page[yiku.MemoryVersion]](s)(s.MemoryHistory(s.ctx, yiku.MemoryHistoryRequest{ID: id, UserID: "u"})); h.Items[0].Reason != "promoted" {
		s.Errorf("history: %+v", h.Items)
	}
	must[yiku.Memory](s)(s.DemoteMemory(s.ctx, yiku.DemoteMemoryRequest{ID: id, UserID: "u"}))
	fails[yiku.Memory](s, yiku.ErrConflict)(s.DemoteMemory(s.ctx, yiku.DemoteMemoryRequest{ID: id, UserID: "u"}))
	for _, p := range []string{"a", "c", "d", "e"} {
		s.prefer(p, "图表用深色主题", yiku.TypePreference)
		if got := s.widely(); len(got) != 0 {
			s.Errorf("demoted, and again in %s: %q", p, got)
		}
	}
	s.prefer("f", "图表用深色主题", yiku.TypePreference)
	wide := must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Level: yiku.LevelUser, Status: yiku.StatusActive})).Items
	if len(wide) != 1 {
		s.Fatalf("on new evidence: %+v", wide)
	}
	must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{UserID: "u", ID: wide[0].ID}))
	s.prefer("g", "图表用深色主题", yiku.TypePreference)
	if got := s.widely(); len(got) != 0 {
		s.Errorf("forgotten, and stated in one more place: %q", got)
	}
}

// noPromotion: constraints, other people's words and what another value holds
// the place of are not promoted.
func noPromotion(s *suite) {
	low := 0.3
	vim := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "editor is vim", Type: yiku.TypePreference, Subject: "user", Attribute: "editor", Value: "vim", Single: new(true)})
	for _, p := range []string{"a", "b", "c", "d"} {
		s.prefer(p, "Never push on Fridays", yiku.TypeConstraint)
		s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: p, Content: "maybe likes tabs", Type: yiku.TypePreference, Confidence: &low})
		s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: p, Content: "wants the tool's colours", Type: yiku.TypePreference, Origin: yiku.OriginTool})
		s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: p, Content: "editor is emacs", Type: yiku.TypePreference, Subject: "user", Attribute: "editor", Value: "emacs", Single: new(true)})
		s.save(yiku.SaveMemoryRequest{UserID: "other " + p, ProjectID: p, Content: "likes short answers", Type: yiku.TypePreference})
	}
	s.prefer("a", "likes short answers", yiku.TypePreference)
	for _, p := range []string{"a", "b"} { // what is hedged does not make up the number
		s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: p, Content: "maybe likes jazz", Type: yiku.TypePreference, Confidence: &low})
	}
	s.prefer("c", "maybe likes jazz", yiku.TypePreference)
	if got := s.widely(); len(got) != 1 || got[0] != "editor is vim" {
		s.Errorf("user level: %q", got)
	}
	must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{UserID: "u", ID: vim.ID})) // and does not promote what others state
	s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: "e", Content: "editor is emacs", Type: yiku.TypePreference, Subject: "user", Attribute: "editor", Value: "emacs", Single: new(true), Confidence: &low})
	if got := s.widely(); len(got) != 0 {
		s.Errorf("user level, by a hedge: %q", got)
	}
}

// keptOfATask: at completion what is named is kept where the task was, temporary
// preferences as the task's own, and those of three tasks hold for the project.
func keptOfATask(s *suite) {
	for i, task := range []string{"t1", "t2", "t3"} {
		must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: s.open(task), TaskID: task,
			DataSlots: map[string]any{"主机": "10.0.0.7", "scratch": "x"}, Preferences: map[string]any{"表格": "三线表"}}))
		names[yiku.CompleteTaskResponse](s, "keep[0]")(s.CompleteTask(s.ctx, yiku.CompleteTaskRequest{UserID: "u", TaskID: task, ProjectID: "p", Outcome: yiku.TaskSuccess, Keep: []string{"none"}}))
		req := yiku.CompleteTaskRequest{TaskID: task, ProjectID: "p", Outcome: yiku.TaskSuccess}
		if i == 0 {
			req.Keep = []string{"主机"}
		}
		if res := s.complete(req); len(res.Kept) != 1+len(req.Keep) {
			s.Errorf("kept: %+v", res)
		}
	}
	got := s.contents(yiku.ListMemoriesRequest{UserID: "u", Level: yiku.LevelProject})
	if strings.Join(got, "|") != "表格: 三线表|主机: 10.0.0.7" {
		s.Errorf("of the project: %q", got)
	}
	if left := must[yiku.WorkingMemory](s)(s.GetWorking(s.ctx, yiku.GetWorkingRequest{UserID: "u", SessionID: "of t3", TaskID: "t3"})); len(left.DataSlots)+len(left.Preferences) != 0 {
		s.Errorf("left: %+v", left)
	}
}

// open opens a session of project p for a task and returns its id.
func (s *suite) open(task string) string {
	s.Helper()
	must[yiku.Session](s)(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "u", SessionID: "of " + task, ProjectID: "p"}))
	return "of " + task
}
