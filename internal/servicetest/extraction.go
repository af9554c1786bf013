package servicetest

import (
	"strings"

	"github.com/yiku-ai/yiku"
)

func extractionGroups() []group {
	return []group{
		{"C3_ExtractSession", extractSession},
		{"C3_ExtractGiven", extractGiven},
		{"C3_WhatCannotWait", whatCannotWait},
		{"C11_Instructions", instructionTexts},
		{"C12_Review", reviewQueue},
		{"C6_Jobs", jobList},
	}
}

// extractSession: C3, C12, a dry run reports and writes nothing; reading
// stores, and reading again finds nothing new.
func extractSession(s *suite) {
	s.append("u", "s", user("I live in Bergen."), assistant("Nice."), user("我喜欢爬山。"))
	read := func(dry bool) yiku.ExtractionReport {
		return must[yiku.ExtractionReport](s)(s.ExtractSession(s.ctx, yiku.ExtractSessionRequest{UserID: "u", SessionID: "s", DryRun: dry}))
	}
	if r := read(true); !r.DryRun || r.Status != yiku.ExtractionStored || len(r.Operations) != 2 || r.Messages != 3 || r.Path != "rules" {
		s.Errorf("dry run: %+v", r)
	}
	if got := s.contents(yiku.ListMemoriesRequest{UserID: "u"}); len(got) != 0 {
		s.Errorf("after a dry run: %q", got)
	}
	first := read(false)
	if len(first.Operations) != 2 || first.Operations[0].MemoryID == "" || len(first.Operations[0].Sources) != 1 {
		s.Errorf("read: %+v", first)
	}
	if r := read(false); r.Status != yiku.ExtractionNothing || len(r.Operations) != 0 {
		s.Errorf("read again: %+v", r)
	}
	if got := strings.Join(s.contents(yiku.ListMemoriesRequest{UserID: "u"}), "|"); got != "我喜欢爬山|I live in Bergen" {
		s.Errorf("memories: %q", got)
	}
	page := must[yiku.Page[yiku.ExtractionReport]](s)(s.ListExtractions(s.ctx, yiku.ListExtractionsRequest{UserID: "u", SessionID: "s"}))
	if len(page.Items) != 2 || *page.Total != 2 || page.Items[0].DryRun || !page.Items[1].DryRun {
		s.Errorf("reports: %+v", page)
	}
	fails[yiku.ExtractionReport](s, yiku.ErrNotFound)(s.ExtractSession(s.ctx, yiku.ExtractSessionRequest{UserID: "u", SessionID: "none"}))
	fails[yiku.Page[yiku.ExtractionReport]](s, yiku.ErrNotFound)(s.ListExtractions(s.ctx, yiku.ListExtractionsRequest{UserID: "u", SessionID: "none"}))
	end := must[yiku.JobResponse](s)(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: "u", SessionID: "s", Reason: yiku.EndUserLeft, Wait: true}))
	if end.ExtractionReport == nil || end.Status != yiku.ExtractionNothing {
		s.Errorf("end and wait: %+v", end)
	}
}

// whatCannotWait: C3, what is asked to be remembered is there when the append
// returns, and the answer says so; a repetition under the same key says the same.
func whatCannotWait(s *suite) {
	req := yiku.AppendMessagesRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "k"}, UserID: "u", SessionID: "s",
		Messages: []yiku.Message{user("请记住我的储物柜是42号。"), user("Never send me text messages again.")}}
	first := must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, req))
	if len(first.Applied) != 2 || first.Applied[0].Content != "我的储物柜是42号" || first.Applied[1].Type != yiku.TypeConstraint {
		s.Errorf("applied: %+v", first.Applied)
	}
	same(s, "repeated", first, must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, req)))
	if got := s.contents(yiku.ListMemoriesRequest{UserID: "u"}); len(got) != 2 {
		s.Errorf("memories: %q", got)
	}
}

// instructionTexts: C11, in both languages.
func instructionTexts(s *suite) {
	for _, lang := range []string{"", "en", "zh"} {
		in := must[yiku.Instructions](s)(s.Instructions(s.ctx, yiku.InstructionsRequest{Lang: lang}))
		if !strings.Contains(in.Text, "<memory_commands>") || in.Lang == "" {
			s.Errorf("%q: %+v", lang, in)
		}
	}
	names[yiku.Instructions](s, "lang")(s.Instructions(s.ctx, yiku.InstructionsRequest{Lang: "fr"}))
}

// reviewQueue: C12, what waits is listed; approved it takes the place of what
// it contradicts, rejected it goes, and it is decided once.
func reviewQueue(s *suite) {
	hedged := 0.3
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "住在杭州", Subject: "用户", Attribute: "居住地", Value: "杭州"})
	var waiting []string
	for _, city := range []string{"上海", "成都"} {
		res := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "好像住在" + city, Subject: "用户", Attribute: "居住地", Value: city, Confidence: &hedged})
		if res.Outcome != yiku.OutcomeQuarantined {
			s.Fatalf("outcome %s", res.Outcome)
		}
		waiting = append(waiting, res.ID)
	}
	page := must[yiku.Page[yiku.Memory]](s)(s.ListReview(s.ctx, yiku.ListReviewRequest{UserID: "u"}))
	if len(page.Items) != 2 || *page.Total != 2 {
		s.Errorf("waiting: %+v", page)
	}
	decide := func(id string, d yiku.ReviewDecision, content string) (yiku.ReviewResponse, error) {
		return s.Review(s.ctx, yiku.ReviewRequest{UserID: "u", ID: id, Decision: d, Content: content})
	}
	approved := must[yiku.ReviewResponse](s)(decide(waiting[0], yiku.ReviewApprove, "住在上海徐汇"))
	if approved.Outcome != yiku.OutcomeSuperseded || approved.Memory == nil || approved.Memory.Content != "住在上海徐汇" || len(approved.Superseded) != 1 {
		s.Errorf("approved: %+v", approved)
	}
	if rejected := must[yiku.ReviewResponse](s)(decide(waiting[1], yiku.ReviewReject, "")); rejected.Memory != nil {
		s.Errorf("rejected: %+v", rejected)
	}
	fails[yiku.ReviewResponse](s, yiku.ErrConflict)(decide(waiting[0], yiku.ReviewReject, ""))
	fails[yiku.ReviewResponse](s, yiku.ErrNotFound)(decide(waiting[1], yiku.ReviewApprove, ""))
	names[yiku.ReviewResponse](s, "content")(decide(waiting[0], yiku.ReviewReject, "x"))
	if got := strings.Join(s.contents(yiku.ListMemoriesRequest{UserID: "u"}), "|"); got != "住在上海徐汇" {
		s.Errorf("active: %q", got)
	}
}

// jobList: C6, what was promised is listed, and can be asked to run now.
func jobList(s *suite) {
	s.append("u", "s", user("hello"))
	job := must[yiku.JobResponse](s)(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: "u", SessionID: "s", Reason: yiku.EndOther}))
	page := must[yiku.Page[yiku.Job]](s)(s.ListJobs(s.ctx, yiku.ListJobsRequest{State: yiku.JobWaiting}))
	if len(page.Items) == 0 || page.Items[len(page.Items)-1].ID != job.JobID || page.Items[0].UserID != "u" || *page.Total != len(page.Items) {
		s.Errorf("jobs: %+v", page)
	}
	if again := must[yiku.Job](s)(s.ReplayJob(s.ctx, yiku.ReplayJobRequest{ID: job.JobID})); again.State != yiku.JobWaiting || again.Attempts != 0 {
		s.Errorf("replayed: %+v", again)
	}
	fails[yiku.Job](s, yiku.ErrNotFound)(s.ReplayJob(s.ctx, yiku.ReplayJobRequest{ID: "none"}))
}

// extractGiven: C3, C12, messages of no session are kept as a session of their
// own before they are read; waited for, the answer is the report; a repetition
// under the same key gives it again and reads nothing twice; a dry run keeps
// its report only, and what is forgotten by the session goes.
func extractGiven(s *suite) {
	req := yiku.ExtractRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "k"}, UserID: "u", Messages: []yiku.Message{user("I live in Bergen."), assistant("Nice."), user("我喜欢爬山。")}, Wait: true}
	dry := req
	dry.IdempotencyKey, dry.DryRun = "", true
	tried := must[yiku.JobResponse](s)(s.Extract(s.ctx, dry))
	if !tried.Settled() || !tried.DryRun || len(tried.Operations) != 2 || tried.JobID != "" || tried.Messages != 3 {
		s.Fatalf("dry run: %+v", tried.ExtractionReport)
	}
	if list := must[yiku.Page[yiku.Session]](s)(s.ListSessions(s.ctx, yiku.ListSessionsRequest{UserID: "u"})); len(list.Items) != 0 || len(s.contents(yiku.ListMemoriesRequest{UserID: "u"})) != 0 {
		s.Errorf("a dry run left %+v", list.Items)
	}
	first := must[yiku.JobResponse](s)(s.Extract(s.ctx, req))
	if !first.Settled() || first.Status != yiku.ExtractionStored || len(first.Operations) != 2 || first.SessionID == "" {
		s.Fatalf("read: %+v", first.ExtractionReport)
	}
	again := must[yiku.JobResponse](s)(s.Extract(s.ctx, req))
	if again.JobID != first.JobID || !again.Settled() || len(again.Operations) != 2 || again.Operations[0].MemoryID != first.Operations[0].MemoryID {
		s.Errorf("repeated: %+v", again.ExtractionReport)
	}
	session := must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: first.SessionID}))
	if session.MessageCount != 3 || session.EndedAt.IsZero() {
		s.Errorf("session: %+v", session)
	}
	if got := strings.Join(s.contents(yiku.ListMemoriesRequest{UserID: "u"}), "|"); got != "我喜欢爬山|I live in Bergen" {
		s.Errorf("memories: %q", got)
	}
	if page := must[yiku.Page[yiku.ExtractionReport]](s)(s.ListExtractions(s.ctx, yiku.ListExtractionsRequest{UserID: "u"})); len(page.Items) != 2 || !page.Items[1].DryRun {
		s.Errorf("reports: %+v", page.Items)
	}
	req.IdempotencyKey, req.Wait = "l", false
	if later := must[yiku.JobResponse](s)(s.Extract(s.ctx, req)); later.Settled() || later.JobID == "" {
		s.Errorf("not waited for: %+v", later)
	}
	names[yiku.JobResponse](s, "messages")(s.Extract(s.ctx, yiku.ExtractRequest{UserID: "u"}))
}
