package servicetest

import (
	"strings"

	"github.com/yiku-ai/yiku"
)

func forgetGroups() []group {
	return []group{
		{"E1_ForgetAndProve", forgetAndProve},
		{"E1_ForgetPreview", forgetPreview},
		{"E1_ForgetRefusals", forgetRefusals},
		{"E1_ForgetRepeated", forgetRepeated},
		{"E2_SnapshotsOfWhatIsGone", snapshotsOfWhatIsGone},
		{"E8_AuditIsWhole", auditIsWhole},
		{"E8_IndexAgrees", indexAgrees},
	}
}

// alphaLife is a person with a memory and a message that say Alpha, in two
// languages, and one of each that do not.
func (s *suite) alphaLife() {
	s.Helper()
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "Project Alpha ships in May"})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "ＡＬＰＨＡ 项目的预算是五十万"})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "喜欢喝茶"})
	s.save(yiku.SaveMemoryRequest{UserID: "other", Content: "Alpha of somebody else"})
	s.append("u", "s", yiku.Message{Role: yiku.RoleUser, Content: yiku.Text("alpha is late")}, yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text("好的")})
}

func (s *suite) forget(req yiku.ForgetRequest) yiku.ForgetResponse {
	s.Helper()
	if req.Reason == "" {
		req.Reason = "用户要求"
	}
	req.UserID = "u"
	return must[yiku.ForgetResponse](s)(s.Forget(s.ctx, req))
}

// remembered joins what a user's active memories say, newest first.
func (s *suite) remembered(user string) string {
	s.Helper()
	return strings.Join(s.contents(yiku.ListMemoriesRequest{UserID: user}), "|")
}

// forgetAndProve: E1, E2, a keyword goes from memories and messages in both
// widths, somebody else's stays, and the receipt can be read, verified and found.
func forgetAndProve(s *suite) {
	s.alphaLife()
	res := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "alpha"}, Trigger: yiku.TriggerLegal})
	if res.Removed.Memories != 2 || res.Removed.Messages != 1 || len(res.IDs) != 2 || !res.Verified || res.DryRun {
		s.Errorf("forgot %+v", res)
	}
	if got := s.remembered("u"); got != "喜欢喝茶" {
		s.Errorf("left: %s", got)
	}
	if got := s.remembered("other"); got != "Alpha of somebody else" {
		s.Errorf("somebody else's: %s", got)
	}
	if got := s.messages("u", "s"); len(got) != 1 || got[0].Content.Text != "好的" {
		s.Errorf("messages left: %s", texts(got))
	}
	if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "alpha", IncludeMessages: true, MinRelevance: ptr(0.0)}); len(got) != 0 {
		s.Errorf("found: %v", got)
	}
	receipt := must[yiku.Receipt](s)(s.GetReceipt(s.ctx, yiku.ReceiptRequest{UserID: "u", ID: res.ReceiptID}))
	if receipt.Selector != "keyword" || receipt.Reason != "用户要求" || receipt.Trigger != yiku.TriggerLegal || receipt.Removed != res.Removed || receipt.Audit == 0 {
		s.Errorf("receipt %+v", receipt)
	}
	check := must[yiku.VerifyReceiptResponse](s)(s.VerifyReceipt(s.ctx, yiku.VerifyReceiptRequest{UserID: "u", ID: res.ReceiptID}))
	if !check.Clean || len(check.LookedAt) == 0 {
		s.Errorf("verify %+v", check)
	}
	fails[yiku.Receipt](s, yiku.ErrNotFound)(s.GetReceipt(s.ctx, yiku.ReceiptRequest{UserID: "other", ID: res.ReceiptID}))
	fails[yiku.VerifyReceiptResponse](s, yiku.ErrNotFound)(s.VerifyReceipt(s.ctx, yiku.VerifyReceiptRequest{UserID: "other", ID: res.ReceiptID}))
	s.forget(yiku.ForgetRequest{Selector: yiku.Selector{All: true}})
	log := must[yiku.Page[yiku.Receipt]](s)(s.ForgetLog(s.ctx, yiku.ForgetLogRequest{UserID: "u", Paging: yiku.Paging{Limit: 1}}))
	if len(log.Items) != 1 || log.Items[0].Selector != "all" || log.NextCursor == "" {
		s.Fatalf("log %+v", log)
	}
	log = must[yiku.Page[yiku.Receipt]](s)(s.ForgetLog(s.ctx, yiku.ForgetLogRequest{UserID: "u", Paging: yiku.Paging{Limit: 1, Cursor: log.NextCursor}}))
	if len(log.Items) != 1 || log.Items[0].ID != res.ReceiptID || log.NextCursor != "" {
		s.Errorf("second page %+v", log)
	}
}

// forgetPreview: E1, a dry run says what would go and changes nothing.
func forgetPreview(s *suite) {
	s.alphaLife()
	before := s.remembered("u")
	would := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{All: true}, DryRun: true})
	if !would.DryRun || would.ReceiptID != "" || would.Removed.Memories != 3 || would.Removed.Messages != 2 || s.remembered("u") != before {
		s.Errorf("preview %+v", would)
	}
	did := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{All: true}})
	if did.Removed != would.Removed || s.remembered("u") != "" {
		s.Errorf("forgot %+v; the preview said %+v", did.Removed, would.Removed)
	}
}

// forgetRefusals: E1, I4, what is unclear is refused by name.
func forgetRefusals(s *suite) {
	s.alphaLife()
	before := s.remembered("u")
	try := func(sel yiku.Selector) (yiku.ForgetResponse, error) {
		return s.Forget(s.ctx, yiku.ForgetRequest{UserID: "u", Reason: "r", Selector: sel})
	}
	names[yiku.ForgetResponse](s, "selector")(try(yiku.Selector{}))
	names[yiku.ForgetResponse](s, "selector")(try(yiku.Selector{All: true, Keyword: "x"}))
	fails[yiku.ForgetResponse](s, yiku.ErrNotFound)(try(yiku.Selector{IDs: []string{"nobody"}}))
	fails[yiku.ForgetResponse](s, yiku.ErrNotFound)(try(yiku.Selector{Source: &yiku.SourceSelector{SessionID: "nowhere"}}))
	fails[yiku.ForgetResponse](s, yiku.ErrUnsupported)(try(yiku.Selector{Query: "what I said about work"}))
	names[yiku.ForgetResponse](s, "reason")(s.Forget(s.ctx, yiku.ForgetRequest{UserID: "u", Selector: yiku.Selector{All: true}}))
	if s.remembered("u") != before {
		s.Error("a refusal changed something")
	}
}

// forgetRepeated: E1, F1, the same key gives the same receipt again.
func forgetRepeated(s *suite) {
	s.alphaLife()
	req := yiku.ForgetRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "once"}, Selector: yiku.Selector{Keyword: "alpha"}}
	first, second := s.forget(req), s.forget(req)
	same(s, "the repetition", first, second)
}

// auditIsWhole: E8, the log grows with every deletion and stays whole.
func auditIsWhole(s *suite) {
	empty := must[yiku.VerifyAuditResponse](s)(s.VerifyAudit(s.ctx, yiku.VerifyAuditRequest{}))
	s.alphaLife()
	id := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "one more"}).ID
	must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{UserID: "u", ID: id}))
	must[yiku.Empty](s)(s.DeleteSession(s.ctx, yiku.DeleteSessionRequest{UserID: "u", SessionID: "s"}))
	s.forget(yiku.ForgetRequest{Selector: yiku.Selector{All: true}})
	audit := must[yiku.VerifyAuditResponse](s)(s.VerifyAudit(s.ctx, yiku.VerifyAuditRequest{}))
	if !audit.Valid || audit.Entries != empty.Entries+3 || audit.Head == empty.Head {
		s.Errorf("audit %+v after %+v", audit, empty)
	}
}

// indexAgrees: what the index holds of one user or of all is compared with the
// store, and a user of whom nothing was asked is not held. Rebuilding what
// agrees changes nothing.
func indexAgrees(s *suite) {
	s.alphaLife()
	find := func() []string {
		return s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "alpha 喝茶", IncludeMessages: true, MinRelevance: ptr(0.0)})
	}
	before := find()
	one := must[yiku.VerifyIndexResponse](s)(s.VerifyIndex(s.ctx, yiku.VerifyIndexRequest{UserID: "u"}))
	if !one.Clean || one.Users != 1 || one.Unloaded != 0 || one.Documents != 5 {
		s.Errorf("u: %+v", one)
	}
	if none := must[yiku.VerifyIndexResponse](s)(s.VerifyIndex(s.ctx, yiku.VerifyIndexRequest{UserID: "nobody"})); !none.Clean || none.Users != 0 || none.Unloaded != 1 {
		s.Errorf("nobody: %+v", none)
	}
	all := must[yiku.VerifyIndexResponse](s)(s.VerifyIndex(s.ctx, yiku.VerifyIndexRequest{Rebuild: true}))
	if !all.Clean || all.Users < 1 || all.Documents < 5 || all.Rebuilt != 0 || len(all.Items) != 0 {
		s.Errorf("all: %+v", all)
	}
	same(s, "found afterwards", before, find())
	names[yiku.VerifyIndexResponse](s, "user_id")(s.VerifyIndex(s.ctx, yiku.VerifyIndexRequest{UserID: "a\x00b"}))
}

// snapshotsOfWhatIsGone: E2, a snapshot goes with each thing that it shows: a
// shared memory takes those of every user, a cleared working memory those that
// show it. Others stay.
func snapshotsOfWhatIsGone(s *suite) {
	take := func(who, session string) string {
		s.Helper()
		return must[yiku.GetContextResponse](s)(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: who, SessionID: session, Query: "规则"})).SnapshotID
	}
	there := func(what, who, id string, want bool) {
		s.Helper()
		_, err := s.GetSnapshot(s.ctx, yiku.GetSnapshotRequest{ID: id, UserID: who})
		if (err == nil) != want || id == "" {
			s.Errorf("%s: snapshot %q of %s: %v; want there: %v", what, id, who, err, want)
		}
	}
	for _, who := range []string{"u", "v"} { // of a user without anything no context is kept
		s.save(yiku.SaveMemoryRequest{UserID: who, Content: "喝茶"})
	}
	before := take("u", "")
	rule := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "公司规则：不发短信", Type: yiku.TypeConstraint, Level: yiku.LevelShared})
	ours, theirs := take("u", ""), take("v", "")
	must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{UserID: "u", ID: rule.ID}))
	there("taken before the shared memory", "u", before, true)
	there("shows the shared memory", "u", ours, false)
	there("shows the shared memory", "v", theirs, false)

	for _, session := range []string{"a", "b"} {
		s.append("u", session, user("你好"))
		must[yiku.WorkingMemory](s)(s.PutWorking(s.ctx, yiku.PutWorkingRequest{UserID: "u", SessionID: session, DataSlots: map[string]any{"phone": "138-" + session}}))
	}
	a, b := take("u", "a"), take("u", "b")
	must[yiku.Empty](s)(s.DeleteWorking(s.ctx, yiku.DeleteWorkingRequest{UserID: "u", SessionID: "a"}))
	there("shows the cleared working memory", "u", a, false)
	there("shows another working memory", "u", b, true)
}
