package servicetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yiku-ai/yiku"
)

func sessionGroups() []group {
	return []group{
		{"A1_EveryFormOfMessage", everyForm},
		{"A1_SameMessageAgain", sameMessage},
		{"A1_AllOrNone", allOrNone},
		{"A1_IdempotencyKey", appendKey},
		{"A1_OrderUnderConcurrency", concurrentAppends},
		{"A6_ExportImport", exportImport},
		{"A6_PublicForms", publicForms},
		{"A7_CreateAndList", createAndList},
		{"A7_ListWhileItMoves", listWhileItMoves},
		{"A7_Fork", fork},
		{"A7_End", end},
		{"A7_Delete", deleteSession},
		{"A7_Tasks", tasks},
	}
}

// everyForm: A1, what is appended comes back as it was, in order, with
// references in the request's order.
func everyForm(s *suite) {
	var parts yiku.Content
	if err := json.Unmarshal([]byte(`[{"type":"text","text":"看图"},{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]`), &parts); err != nil {
		s.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 9, 30, 0, 123456000, time.UTC)
	sent := []yiku.Message{
		{ID: "m-1", Role: yiku.RoleSystem, Content: yiku.Text("You help. 你来帮忙。"), Pinned: true, CreatedAt: at},
		{ID: "m-2", Role: yiku.RoleUser, Name: "小明", Content: parts, CreatedAt: at.Add(time.Second), Metadata: yiku.Metadata{
			"lang": "zh", "n": json.Number("9007199254740993"), "deep": map[string]any{"list": []any{1.5, "a", nil, true}}}},
		{ID: "m-3", Role: yiku.RoleAssistant, CreatedAt: at.Add(2 * time.Second), ToolCalls: []yiku.ToolCall{
			{ID: "c-1", Type: "function", Function: yiku.ToolFunction{Name: "weather", Arguments: `{"city":"杭州"}`}}}},
		{ID: "m-4", Role: yiku.RoleTool, ToolCallID: "c-1", Content: yiku.Text("晴 \u200b 24°C 😀"), CreatedAt: at.Add(3 * time.Second)},
		{ID: "m-5", Role: yiku.RoleAssistant, Content: yiku.Text("It is sunny."), CreatedAt: at.Add(4 * time.Second), Origin: yiku.OriginWeb},
	}
	res := s.append("小明", "会话 1", sent...)
	got := s.messages("小明", "会话 1")
	for i := range sent { // what the server adds
		if sent[i].Origin == "" {
			sent[i].Origin = []yiku.Origin{yiku.OriginUser, yiku.OriginUser, yiku.OriginAgent, yiku.OriginTool}[i]
		}
	}
	same(s, "messages", sent, got, cmpopts.IgnoreFields(yiku.Message{}, "SessionID", "TaskID", "Seq"))
	var last int64
	for i, ref := range res.Messages {
		if i >= len(got) || ref.ID != sent[i].ID || ref.Seq != got[i].Seq || ref.Seq <= last || got[i].SessionID != "会话 1" {
			s.Errorf("reference %d is %+v after seq %d", i, ref, last)
		}
		last = ref.Seq
	}
	if made := s.append("小明", "会话 1", user("没有编号")); len(made.Messages) != 1 || made.Messages[0].ID == "" {
		s.Errorf("the server made no id: %+v", made)
	}
}

// sameMessage: A1, an id with the same content is written once; with other
// content it is a conflict and nothing of the batch is written.
func sameMessage(s *suite) {
	first := yiku.Message{ID: "a", Role: yiku.RoleUser, Content: yiku.Text("我住在杭州")}
	one := s.append("u", "s", first)
	two := s.append("u", "s", first, yiku.Message{ID: "b", Role: yiku.RoleAssistant, Content: yiku.Text("好")})
	if two.Messages[0] != one.Messages[0] || two.Messages[1].Seq <= one.Messages[0].Seq {
		s.Errorf("first %+v, then %+v", one, two)
	}
	other := yiku.Message{ID: "a", Role: yiku.RoleUser, Content: yiku.Text("我住在上海")}
	fails[yiku.AppendMessagesResponse](s, yiku.ErrConflict)(s.AppendMessages(s.ctx,
		yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: []yiku.Message{user("新的"), other}}))
	if got := texts(s.messages("u", "s")); got != "我住在杭州|好" {
		s.Errorf("messages %q", got)
	}
	s.append("u", "other session", other)
	s.append("other user", "s", other)
}

// allOrNone: A1 and I4, one bad message refuses the batch and names the field.
func allOrNone(s *suite) {
	for field, bad := range map[string]yiku.Message{
		"messages[1].role":                        {Role: "robot", Content: yiku.Text("x")},
		"messages[1].content":                     {Role: yiku.RoleUser},
		"messages[1].tool_call_id":                {Role: yiku.RoleTool, Content: yiku.Text("x")},
		"messages[1].id":                          {ID: " a", Role: yiku.RoleUser, Content: yiku.Text("x")},
		"messages[1].origin":                      {Role: yiku.RoleUser, Content: yiku.Text("x"), Origin: "moon"},
		"messages[1].tool_calls[0].function.name": {Role: yiku.RoleAssistant, ToolCalls: []yiku.ToolCall{{ID: "c"}}},
	} {
		names[yiku.AppendMessagesResponse](s, field)(s.AppendMessages(s.ctx,
			yiku.AppendMessagesRequest{UserID: "u", SessionID: "s", Messages: []yiku.Message{user("好"), bad}}))
	}
	names[yiku.AppendMessagesResponse](s, "messages")(s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: "u", SessionID: "s"}))
	fails[yiku.Session](s, yiku.ErrNotFound)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "s"}))
}

// appendKey: A1, the same key and body give the same answer and one write; the
// same key with another body is a conflict; keys of two users are apart.
func appendKey(s *suite) {
	req := yiku.AppendMessagesRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "键 1"}, UserID: "u", SessionID: "s",
		Messages: []yiku.Message{user("一"), assistant("二")}}
	one := must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, req))
	two := must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, req))
	same(s, "replay", one, two)
	if got := texts(s.messages("u", "s")); got != "一|二" {
		s.Errorf("messages %q", got)
	}
	req.Messages = req.Messages[:1]
	fails[yiku.AppendMessagesResponse](s, yiku.ErrConflict)(s.AppendMessages(s.ctx, req))
	req.UserID = "v"
	must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, req))
}

// concurrentAppends: A1, batches of many writers keep their order and stay
// together, and every message is there once.
func concurrentAppends(s *suite) {
	const writers, batches = 6, 8
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for b := range batches {
				name := strconv.Itoa(w) + "/" + strconv.Itoa(b)
				_, err := s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: "u", SessionID: "s",
					Messages: []yiku.Message{user(name + "/问"), assistant(name + "/答")}})
				if err != nil {
					s.Errorf("append %s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	got := s.messages("u", "s")
	if len(got) != 2*writers*batches {
		s.Fatalf("%d messages; want %d", len(got), 2*writers*batches)
	}
	next := map[string]int{}
	for i := 0; i < len(got); i += 2 {
		q := got[i].Content.Text
		writer := q[:1]
		if q != writer+"/"+strconv.Itoa(next[writer])+"/问" || got[i+1].Content.Text != q[:len(q)-len("问")]+"答" || got[i].Seq >= got[i+1].Seq {
			s.Fatalf("at %d: %q, then %q", i, q, got[i+1].Content.Text)
		}
		next[writer]++
	}
}

// exportImport: A6, an export is a document from which the same conversation
// is made again, for another user too.
func exportImport(s *suite) {
	must[yiku.Session](s)(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "u", SessionID: "s", ProjectID: "p", Metadata: yiku.Metadata{"topic": "天气"}}))
	s.append("u", "s", yiku.Message{ID: "1", Role: yiku.RoleUser, Content: yiku.Text("你好")}, yiku.Message{ID: "2", Role: yiku.RoleAssistant, Content: yiku.Text("Hello!")})
	doc := must[yiku.SessionExport](s)(s.ExportSession(s.ctx, yiku.ExportSessionRequest{UserID: "u", SessionID: "s"}))
	if doc.Format != yiku.SessionExportFormat || doc.Session.ID != "s" || texts(doc.Messages) != "你好|Hello!" {
		s.Errorf("export %+v", doc)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		s.Fatal(err)
	}
	made := must[yiku.Session](s)(s.ImportSession(s.ctx, yiku.ImportSessionRequest{UserID: "v", Document: raw}))
	if made.ID != "s" || made.UserID != "v" || made.ProjectID != "p" || made.MessageCount != 2 {
		s.Errorf("imported %+v", made)
	}
	same(s, "messages", s.messages("u", "s"), s.messages("v", "s"), cmpopts.IgnoreFields(yiku.Message{}, "Seq"))
	fails[yiku.Session](s, yiku.ErrConflict)(s.ImportSession(s.ctx, yiku.ImportSessionRequest{UserID: "v", Document: raw}))
	again := must[yiku.Session](s)(s.ImportSession(s.ctx, yiku.ImportSessionRequest{UserID: "v", SessionID: "s2", Document: raw}))
	if again.ID != "s2" {
		s.Errorf("imported as %q", again.ID)
	}
	fails[yiku.SessionExport](s, yiku.ErrNotFound)(s.ExportSession(s.ctx, yiku.ExportSessionRequest{UserID: "v", SessionID: "none"}))
}

// publicForms: A6, OpenAI, Anthropic and plain forms are read.
func publicForms(s *suite) {
	for name, c := range map[string]struct {
		doc, want string
		form      yiku.MessageForm
	}{
		"openai": {`{"messages":[{"role":"user","content":"杭州天气？"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"晴"},{"role":"assistant","content":"晴天"}]}`,
			"杭州天气？||晴|晴天", yiku.FormOpenAI},
		"anthropic": {`{"system":"Be kind.","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"text","text":"Hello"}]}]}`,
			"Be kind.|Hi|Hello", yiku.FormAnthropic},
		"plain": {`[{"role":"user","content":"你好"},{"role":"assistant","content":"Hi"}]`, "你好|Hi", ""},
	} {
		made := must[yiku.Session](s)(s.ImportSession(s.ctx, yiku.ImportSessionRequest{UserID: "u", SessionID: name, Format: c.form, Document: yiku.RawJSON(c.doc)}))
		if got := texts(s.messages("u", made.ID)); got != c.want {
			s.Errorf("%s: messages %q; want %q", name, got, c.want)
		}
	}
	for _, doc := range []string{`{"messages":[{"role":"robot","content":"x"}]}`, `5`, `{}`, `[]`, `{"messages":"x"}`} {
		fails[yiku.Session](s, yiku.ErrInvalid)(s.ImportSession(s.ctx, yiku.ImportSessionRequest{UserID: "u", SessionID: "bad", Document: yiku.RawJSON(doc)}))
	}
	names[yiku.Session](s, "document")(s.ImportSession(s.ctx, yiku.ImportSessionRequest{UserID: "u"}))
	fails[yiku.Session](s, yiku.ErrNotFound)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "bad"}))
}

// createAndList: A7, sessions are made once, listed newest activity first,
// narrowed, and paged with a total on the first page only.
func createAndList(s *suite) {
	req := yiku.CreateSessionRequest{UserID: "u", SessionID: "s-000", ProjectID: "项目", AgentID: "agent", Metadata: yiku.Metadata{"k": "v"}}
	one := must[yiku.Session](s)(s.CreateSession(s.ctx, req))
	if one.ID != "s-000" || one.UserID != "u" || one.ProjectID != "项目" || one.AgentID != "agent" || one.CreatedAt.IsZero() || one.Version == 0 {
		s.Errorf("created %+v", one)
	}
	same(s, "the same again", one, must[yiku.Session](s)(s.CreateSession(s.ctx, req)))
	same(s, "read", one, must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "s-000"})))
	req.ProjectID = "other"
	fails[yiku.Session](s, yiku.ErrConflict)(s.CreateSession(s.ctx, req))
	if made := must[yiku.Session](s)(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "w"})); made.ID == "" {
		s.Errorf("no id: %+v", made)
	}
	for i := 1; i < 5; i++ {
		s.append("u", numbered("s", i), user("你好"))
	}
	s.append("u", "s-002", user("again"))
	list := func(limit int, cursor string) yiku.Page[yiku.Session] {
		return must[yiku.Page[yiku.Session]](s)(s.ListSessions(s.ctx, yiku.ListSessionsRequest{UserID: "u", Paging: yiku.Paging{Limit: limit, Cursor: cursor}}))
	}
	var got []string
	page := list(2, "")
	if page.Total == nil || *page.Total != 5 {
		s.Errorf("total %v", page.Total)
	}
	for {
		for _, x := range page.Items {
			got = append(got, x.ID)
		}
		if page.NextCursor == "" || len(got) > 10 {
			break
		}
		if page = list(2, page.NextCursor); page.Total != nil {
			s.Error("a total on a later page")
		}
	}
	if want := []string{"s-002", "s-004", "s-003", "s-001", "s-000"}; !slices.Equal(got, want) {
		s.Errorf("sessions %v; want %v", got, want)
	}
	narrow := must[yiku.Page[yiku.Session]](s)(s.ListSessions(s.ctx, yiku.ListSessionsRequest{UserID: "u", ProjectID: "项目"}))
	if len(narrow.Items) != 1 || narrow.Items[0].ID != "s-000" || narrow.NextCursor != "" {
		s.Errorf("narrowed to the project: %+v", narrow)
	}
	empty := must[yiku.Page[yiku.Session]](s)(s.ListSessions(s.ctx, yiku.ListSessionsRequest{UserID: "nobody"}))
	if len(empty.Items) != 0 || empty.Total == nil || *empty.Total != 0 {
		s.Errorf("a stranger's list %+v", empty)
	}
}

// fork: A7, a fork has the messages up to one of them, and a life of its own.
func fork(s *suite) {
	for _, id := range []string{"1", "2", "3"} {
		s.append("u", "s", yiku.Message{ID: id, Role: yiku.RoleUser, Content: yiku.Text("话" + id)})
	}
	f := must[yiku.Session](s)(s.ForkSession(s.ctx, yiku.ForkSessionRequest{UserID: "u", SessionID: "s", NewSessionID: "f", UpTo: "2"}))
	if f.ID != "f" || f.ForkedFrom != "s" || f.MessageCount != 2 {
		s.Errorf("fork %+v", f)
	}
	s.append("u", "f", user("另一条路"))
	if got := texts(s.messages("u", "f")); got != "话1|话2|另一条路" {
		s.Errorf("fork %q", got)
	}
	if got := texts(s.messages("u", "s")); got != "话1|话2|话3" {
		s.Errorf("original %q", got)
	}
	all := must[yiku.Session](s)(s.ForkSession(s.ctx, yiku.ForkSessionRequest{UserID: "u", SessionID: "s"}))
	if all.ID == "" || all.ID == "s" || all.MessageCount != 3 {
		s.Errorf("whole fork %+v", all)
	}
	fails[yiku.Session](s, yiku.ErrConflict)(s.ForkSession(s.ctx, yiku.ForkSessionRequest{UserID: "u", SessionID: "s", NewSessionID: "f"}))
	names[yiku.Session](s, "up_to")(s.ForkSession(s.ctx, yiku.ForkSessionRequest{UserID: "u", SessionID: "s", UpTo: "9"}))
	fails[yiku.Session](s, yiku.ErrNotFound)(s.ForkSession(s.ctx, yiku.ForkSessionRequest{UserID: "u", SessionID: "none"}))
}

// end: A7, a session ends with a reason, and goes on when something is said.
func end(s *suite) {
	s.append("u", "s", user("再见"))
	job := must[yiku.JobResponse](s)(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: "u", SessionID: "s", Reason: yiku.EndUserLeft}))
	if job.JobID == "" {
		s.Error("no job")
	}
	got := must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "s"}))
	if got.EndReason != yiku.EndUserLeft || got.EndedAt.IsZero() {
		s.Errorf("ended %+v", got)
	}
	s.append("u", "s", user("又来了"))
	got = must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "s"}))
	if got.EndReason != "" || !got.EndedAt.IsZero() || got.MessageCount != 2 || got.LastMessageAt.IsZero() {
		s.Errorf("going on %+v", got)
	}
	names[yiku.JobResponse](s, "reason")(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: "u", SessionID: "s", Reason: "tired"}))
	names[yiku.JobResponse](s, "reason")(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: "u", SessionID: "s"}))
	fails[yiku.JobResponse](s, yiku.ErrNotFound)(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: "u", SessionID: "none", Reason: yiku.EndOther}))
}

// deleteSession: A7, a deleted session is gone with its messages; a replay of
// what made it is ErrForgotten; If-Match is honoured.
func deleteSession(s *suite) {
	create := yiku.CreateSessionRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "k"}, UserID: "u", SessionID: "s"}
	made := must[yiku.Session](s)(s.CreateSession(s.ctx, create))
	same(s, "replay", made, must[yiku.Session](s)(s.CreateSession(s.ctx, create)))
	s.append("u", "s", user("秘密"))
	remove := yiku.DeleteSessionRequest{UserID: "u", SessionID: "s", Conditional: yiku.Conditional{IfMatch: `"999"`}}
	fails[yiku.Empty](s, yiku.ErrPreconditionFailed)(s.DeleteSession(s.ctx, remove))
	now := must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "s"}))
	remove.IfMatch = `"999", ` + now.ETag()
	must[yiku.Empty](s)(s.DeleteSession(s.ctx, remove))
	fails[yiku.Empty](s, yiku.ErrNotFound)(s.DeleteSession(s.ctx, yiku.DeleteSessionRequest{UserID: "u", SessionID: "s"}))
	fails[yiku.Session](s, yiku.ErrNotFound)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "s"}))
	fails[yiku.Page[yiku.Message]](s, yiku.ErrNotFound)(s.ListMessages(s.ctx, yiku.ListMessagesRequest{UserID: "u", SessionID: "s"}))
	fails[yiku.Session](s, yiku.ErrForgotten)(s.CreateSession(s.ctx, create))
}

// tasks: A7, a session holds several tasks; each is completed by itself, and
// its result is remembered.
func tasks(s *suite) {
	say := func(task, text string) {
		must[yiku.AppendMessagesResponse](s)(s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{
			UserID: "u", SessionID: "s", ProjectID: "p", TaskID: task, Messages: []yiku.Message{user(text)}}))
	}
	say("t-1", "部署数据库")
	say("t-2", "write the report")
	done := must[yiku.CompleteTaskResponse](s)(s.CompleteTask(s.ctx, yiku.CompleteTaskRequest{
		UserID: "u", ProjectID: "p", TaskID: "t-1", SessionID: "s", Outcome: yiku.TaskSuccess, Result: "数据库部署在 db-7，端口 5433。"}))
	if done.Task.ID != "t-1" || done.Task.Outcome != yiku.TaskSuccess || done.Task.CompletedAt.IsZero() || done.MemoryID == "" {
		s.Errorf("completed %+v", done)
	}
	if m := s.memory("u", done.MemoryID); m.Type != yiku.TypeTaskResult || m.Content != "数据库部署在 db-7，端口 5433。" || m.Kind != yiku.KindEpisodic {
		s.Errorf("result %+v", m)
	}
	got := must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "u", SessionID: "s"}))
	open := map[string]bool{}
	for _, task := range got.Tasks {
		open[task.ID] = task.CompletedAt.IsZero()
	}
	if len(open) != 2 || open["t-1"] || !open["t-2"] {
		s.Errorf("tasks %+v", got.Tasks)
	}
	names[yiku.CompleteTaskResponse](s, "outcome")(s.CompleteTask(s.ctx, yiku.CompleteTaskRequest{UserID: "u", TaskID: "t-2", Outcome: "maybe"}))
	fails[yiku.CompleteTaskResponse](s, yiku.ErrNotFound)(s.CompleteTask(s.ctx, yiku.CompleteTaskRequest{UserID: "u", ProjectID: "p", TaskID: "none", Outcome: yiku.TaskFailure}))
}

// listWhileItMoves: A7, while sessions are listed page by page others go on,
// begin, end and are deleted. Every session that is there all the while is
// listed exactly once, in the order of the walk's beginning. What moves is that
// of the seed.
func listWhileItMoves(s *suite) {
	const sessions, moves = 30, 4
	for seed := range uint64(6) {
		r, who := rand.New(rand.NewPCG(seed, 7)), fmt.Sprint("u", seed)
		for i := range sessions {
			s.append(who, numbered("s", i), user("开始"))
		}
		for range 10 {
			s.append(who, numbered("s", r.IntN(sessions)), user("go on"))
		}
		var want []string
		for _, x := range must[yiku.Page[yiku.Session]](s)(s.ListSessions(s.ctx, yiku.ListSessionsRequest{UserID: who})).Items {
			want = append(want, x.ID)
		}
		var got []string
		for cursor := ""; ; {
			page := must[yiku.Page[yiku.Session]](s)(s.ListSessions(s.ctx, yiku.ListSessionsRequest{UserID: who, Paging: yiku.Paging{Cursor: cursor, Limit: 1 + r.IntN(4)}}))
			for _, x := range page.Items {
				got = append(got, x.ID)
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
			for range moves {
				id := numbered("s", r.IntN(sessions))
				switch r.IntN(8) {
				case 0:
					_, err := s.DeleteSession(s.ctx, yiku.DeleteSessionRequest{UserID: who, SessionID: id})
					if err == nil {
						want = slices.DeleteFunc(want, func(x string) bool { return x == id })
						got = slices.DeleteFunc(got, func(x string) bool { return x == id })
					}
				case 1:
					s.append(who, "new-"+id, user("新的"))
				case 2:
					if slices.Contains(want, id) {
						must[yiku.JobResponse](s)(s.EndSession(s.ctx, yiku.EndSessionRequest{UserID: who, SessionID: id, Reason: yiku.EndOther}))
					}
				default:
					if slices.Contains(want, id) {
						s.append(who, id, user("继续"), assistant("好"))
					}
				}
			}
		}
		same(s, who, want, got)
	}
}
