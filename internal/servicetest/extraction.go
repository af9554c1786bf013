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
		{"B1_Summary", sessionSummary},
		{"B6_Tools", memoryTools},
		{"B6_Pages", pageLog},
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

// sessionSummary: B1, D8, a short session has no summary and says so; its
// messages are read from one to another.
func sessionSummary(s *suite) {
	s.append("u", "s", yiku.Message{ID: "a", Role: yiku.RoleUser, Content: yiku.Text("one")}, yiku.Message{ID: "b", Role: yiku.RoleAssistant, Content: yiku.Text("two")},
		yiku.Message{ID: "c", Role: yiku.RoleUser, Content: yiku.Text("three")})
	got := must[yiku.SessionSummary](s)(s.GetSummary(s.ctx, yiku.GetSummaryRequest{UserID: "u", SessionID: "s"}))
	same(s, "summary of a short session", yiku.SessionSummary{SessionID: "s", Uncovered: 3}, got)
	page := must[yiku.Page[yiku.Message]](s)(s.ListMessages(s.ctx, yiku.ListMessagesRequest{UserID: "u", SessionID: "s", From: "b", To: "b"}))
	if len(page.Items) != 1 || page.Items[0].ID != "b" {
		s.Errorf("from b to b: %+v", page.Items)
	}
	names[yiku.Page[yiku.Message]](s, "from")(s.ListMessages(s.ctx, yiku.ListMessagesRequest{UserID: "u", SessionID: "s", From: "z"}))
	names[yiku.Page[yiku.Message]](s, "to")(s.ListMessages(s.ctx, yiku.ListMessagesRequest{UserID: "u", SessionID: "s", To: "z"}))
	fails[yiku.SessionSummary](s, yiku.ErrNotFound)(s.GetSummary(s.ctx, yiku.GetSummaryRequest{UserID: "u", SessionID: "none"}))
	fails[yiku.SessionSummary](s, yiku.ErrNotFound)(s.GetSummary(s.ctx, yiku.GetSummaryRequest{UserID: "v", SessionID: "s"}))
}

// tool runs a memory tool and returns what the model is given.
func (s *suite) tool(key, name, arguments string) string {
	s.Helper()
	return must[yiku.RunToolResponse](s)(s.RunTool(s.ctx, yiku.RunToolRequest{Idempotent: yiku.Idempotent{IdempotencyKey: key}, UserID: "u", SessionID: "s", Name: name, Arguments: yiku.RawJSON(arguments)})).Content
}

// memoryTools: B6, a model's calls change core blocks, working memory and
// long-term memory, and find both; wrong arguments are named.
func memoryTools(s *suite) {
	tools := must[yiku.Tools](s)(s.GetTools(s.ctx, yiku.ToolsRequest{}))
	if tools.Format != "openai" || tools.Lang != "en" || len(tools.Tools) != 6 || !strings.Contains(string(tools.Tools[0]), `"parameters"`) {
		s.Errorf("tools: %+v", tools)
	}
	if tools = must[yiku.Tools](s)(s.GetTools(s.ctx, yiku.ToolsRequest{Format: "anthropic", Lang: "zh"})); !strings.Contains(string(tools.Tools[0]), `"input_schema"`) || !strings.Contains(string(tools.Tools[0]), "核心记忆块") {
		s.Errorf("tools for the other API: %s", tools.Tools[0])
	}
	names[yiku.Tools](s, "lang")(s.GetTools(s.ctx, yiku.ToolsRequest{Lang: "fr"}))

	s.append("u", "s", user("The spare key hangs in cabinet 4711."), assistant("Noted."))
	s.tool("", "core_memory_append", `{"block":"human","content":"Name: Ann"}`)
	for range 2 { // the same key does it once
		s.tool("k", "core_memory_append", `"{\"block\":\"human\",\"content\":\"住在杭州\"}"`)
	}
	if got := s.tool("", "core_memory_replace", `{"block":"human","old":"杭州","new":"上海"}`); got != `{"block":"human","value":"Name: Ann\n住在上海"}` {
		s.Errorf("core block: %s", got)
	}
	s.tool("", "working_update", `{"task_state":{"step":2,"gone":1},"data_slots":{"order":"A-1"},"todos":["one"]}`)
	if got := s.tool("", "working_update", `{"task_state":{"gone":null},"add_todos":["two"]}`); got != `{"data_slots":{"order":"A-1"},"task_state":{"step":2},"todos":["one","two"]}` {
		s.Errorf("working memory: %s", got)
	}
	if got := s.tool("", "conversation_search", `{"query":"where is the spare key","limit":1}`); !strings.Contains(got, "cabinet 4711") {
		s.Errorf("conversation: %s", got)
	}
	s.tool("", "archival_memory_insert", `{"content":"Ann likes green tea","type":"preference"}`)
	if got := s.tool("", "archival_memory_search", `{"query":"green tea"}`); !strings.Contains(got, "Ann likes green tea") {
		s.Errorf("archive: %s", got)
	}
	for field, call := range map[string][2]string{
		"arguments.old": {"core_memory_replace", `{"block":"human","old":"nowhere","new":"x"}`}, "arguments.block": {"core_memory_append", `{"content":"x"}`},
		"arguments.query": {"conversation_search", `{}`}, "arguments.limit": {"archival_memory_search", `{"query":"x","limit":99}`},
		"arguments.content": {"archival_memory_insert", `{}`}, "arguments": {"working_update", `{"other":1}`}, "name": {"no_such_tool", `{}`},
	} {
		names[yiku.RunToolResponse](s, field)(s.RunTool(s.ctx, yiku.RunToolRequest{UserID: "u", SessionID: "s", Name: call[0], Arguments: yiku.RawJSON(call[1])}))
	}
	must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: "s", Blocks: map[string]yiku.Block{"rules": {Value: "stay", ReadOnly: true}}}))
	fails[yiku.RunToolResponse](s, yiku.ErrForbidden)(s.RunTool(s.ctx, yiku.RunToolRequest{UserID: "u", SessionID: "s", Name: "core_memory_append", Arguments: yiku.RawJSON(`{"block":"rules","content":"go"}`)}))
}

// pageLog: B6, what leaves the window and what a query or a tool brings back is
// noted with its reason, newest first, and goes with the session.
func pageLog(s *suite) {
	var said []yiku.Message
	for i := range 12 {
		m := user(strings.Repeat("word ", i) + "about matters")
		m.ID = string(rune('a' + i))
		said = append(said, m)
	}
	said[0].Content = yiku.Text("The spare key hangs in cabinet 4711.")
	s.append("u", "s", said...)
	for range 2 { // the second time nothing leaves
		must[yiku.GetContextResponse](s)(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", SessionID: "s", Query: "where is the spare key"}))
	}
	s.tool("", "conversation_search", `{"query":"spare key","limit":1}`)
	page := must[yiku.Page[yiku.PageEntry]](s)(s.ListPages(s.ctx, yiku.ListPagesRequest{UserID: "u", SessionID: "s"}))
	var got []string
	for _, e := range page.Items {
		got = append(got, string(e.Direction)+" "+string(e.Reason)+" "+e.FromID+"-"+e.ToID)
	}
	if text := strings.Join(got, ", "); text != "in conversation_search a-a, in recalled a-a, in recalled a-a, out window a-b" || *page.Total != 4 {
		s.Errorf("page log: %s", text)
	}
	must[yiku.ForgetResponse](s)(s.Forget(s.ctx, yiku.ForgetRequest{UserID: "u", Reason: "test", Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s", MessageID: "a"}}}))
	if page = must[yiku.Page[yiku.PageEntry]](s)(s.ListPages(s.ctx, yiku.ListPagesRequest{UserID: "u", SessionID: "s"})); len(page.Items) != 0 {
		s.Errorf("after a forget: %+v", page.Items)
	}
	fails[yiku.Page[yiku.PageEntry]](s, yiku.ErrNotFound)(s.ListPages(s.ctx, yiku.ListPagesRequest{UserID: "u", SessionID: "none"}))
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
