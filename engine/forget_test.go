package engine_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// life is a person's data with a bit of everything: memories of several
// origins and times, two sessions, working memory, a derived memory.
func life(t *testing.T, b bench, s yiku.Service) map[string]string {
	t.Helper()
	ids := map[string]string{}
	put := func(name string, req yiku.SaveMemoryRequest) {
		t.Helper()
		ids[name] = save(t, s, req).ID
	}
	put("alpha", yiku.SaveMemoryRequest{Content: "Project Alpha ships in May", SessionID: "one"})
	put("阿尔法", yiku.SaveMemoryRequest{Content: "阿尔法项目的预算是五十万", Metadata: yiku.Metadata{"tag": "money"}})
	put("tool", yiku.SaveMemoryRequest{Content: "The build takes nine minutes", Origin: yiku.OriginTool})
	put("derived", yiku.SaveMemoryRequest{Content: "Summer is busy", DerivedFrom: []string{ids["alpha"]}})
	say(t, s, "one", "ALPHA is late", "noted", "今天好累", "休息一下吧")
	say(t, s, "two", "我们聊聊阿尔法", "好的")
	if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: "one", DataSlots: map[string]any{"project": "Ａlpha"}}); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Hour)
	put("late", yiku.SaveMemoryRequest{Content: "Prefers tea", Importance: new(0.9)})
	say(t, s, "two", "茶比咖啡好", "记住了")
	return ids
}

func forget(t *testing.T, s yiku.Service, req yiku.ForgetRequest) yiku.ForgetResponse {
	t.Helper()
	req.UserID, req.Reason = "ann", "asked"
	res, err := s.Forget(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// left lists the contents of a person's memories and messages.
func left(t *testing.T, s yiku.Service) []string {
	t.Helper()
	out := []string{}
	for _, status := range []yiku.Status{yiku.StatusActive, yiku.StatusArchived, yiku.StatusSuperseded, yiku.StatusStale, yiku.StatusQuarantined} {
		page, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "ann", Status: status, Paging: yiku.Paging{Limit: 500}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Items {
			out = append(out, m.Content)
		}
	}
	sessions, err := s.ListSessions(t.Context(), yiku.ListSessionsRequest{UserID: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range sessions.Items {
		page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: session.ID})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, texts(page.Items)...)
	}
	slices.Sort(out)
	return out
}

// TestE1_Selectors: each way of selecting takes what it names, and what is
// derived from it, and nothing else; a dry run says the same and changes nothing.
func TestE1_Selectors(t *testing.T) {
	t.Parallel()
	all := []string{"ALPHA is late", "Prefers tea", "Project Alpha ships in May", "Summer is busy", "The build takes nine minutes",
		"noted", "今天好累", "休息一下吧", "好的", "我们聊聊阿尔法", "茶比咖啡好", "记住了", "阿尔法项目的预算是五十万"}
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		name    string
		request func(ids map[string]string) yiku.ForgetRequest
		gone    []string
	}{
		{"all", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{All: true}}
		}, all},
		{"keyword", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "alpha"}}
		},
			[]string{"ALPHA is late", "Project Alpha ships in May", "Summer is busy"}},
		{"中文 keyword", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "阿尔法"}}
		},
			[]string{"我们聊聊阿尔法", "阿尔法项目的预算是五十万"}},
		{"keyword, sources kept", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "alpha"}, Sources: yiku.SourcesKeep}
		}, []string{"Project Alpha ships in May", "Summer is busy"}},
		{"ids", func(ids map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{IDs: []string{ids["tool"]}}}
		}, []string{"The build takes nine minutes"}},
		{"filter", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{Filter: &yiku.Filter{Field: "metadata.tag", Op: yiku.OpEq, Value: "money"}}}
		}, []string{"阿尔法项目的预算是五十万"}},
		{"time", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{From: begin.Add(30 * time.Minute)}}
		}, []string{"Prefers tea", "茶比咖啡好", "记住了"}},
		{"origin", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{Source: &yiku.SourceSelector{Origin: yiku.OriginTool}}}
		}, []string{"The build takes nine minutes"}},
		{"session", func(map[string]string) yiku.ForgetRequest {
			return yiku.ForgetRequest{Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "one"}}}
		}, []string{"ALPHA is late", "Project Alpha ships in May", "Summer is busy", "noted", "今天好累", "休息一下吧"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			s := b.operator()
			ids := life(t, b, s)
			if diff := cmp.Diff(all, left(t, s)); diff != "" {
				t.Fatalf("before: %s", diff)
			}
			req := test.request(ids)
			req.DryRun = true
			would := forget(t, s, req)
			if diff := cmp.Diff(all, left(t, s)); diff != "" || would.ReceiptID != "" || !would.DryRun {
				t.Fatalf("a dry run changed something: %s", diff)
			}
			req.DryRun = false
			did := forget(t, s, req)
			want := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return slices.Contains(test.gone, c) })
			if diff := cmp.Diff(want, left(t, s)); diff != "" {
				t.Errorf("after: %s", diff)
			}
			if diff := cmp.Diff(would.Removed, did.Removed); diff != "" || !cmp.Equal(would.IDs, did.IDs) {
				t.Errorf("the dry run said otherwise: %s", diff)
			}
			proven(t, s, did)
		})
	}
}

// proven checks a receipt: it verifies, it stands in the forget log, and the
// audit log is whole.
func proven(t *testing.T, s yiku.Service, res yiku.ForgetResponse) {
	t.Helper()
	if !res.Verified {
		t.Error("not verified")
	}
	check, err := s.VerifyReceipt(t.Context(), yiku.VerifyReceiptRequest{UserID: "ann", ID: res.ReceiptID})
	if err != nil || !check.Clean || len(check.LookedAt) < 10 {
		t.Errorf("verify: %+v, %v", check, err)
	}
	log, err := s.ForgetLog(t.Context(), yiku.ForgetLogRequest{UserID: "ann"})
	if err != nil || len(log.Items) == 0 || log.Items[0].ID != res.ReceiptID || log.Items[0].Reason != "asked" {
		t.Errorf("forget log: %+v, %v", log, err)
	}
	audit, err := s.VerifyAudit(t.Context(), yiku.VerifyAuditRequest{})
	if err != nil || !audit.Valid || audit.Entries == 0 {
		t.Errorf("audit: %+v, %v", audit, err)
	}
}

// TestE1_Archive: archiving takes memories out of retrieval and deletes nothing.
func TestE1_Archive(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	ids := life(t, b, s)
	before := left(t, s)
	res := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{IDs: []string{ids["tool"]}}, Mode: yiku.ForgetArchive})
	if res.Removed.Archived != 1 || res.Removed.Memories != 0 {
		t.Errorf("removed %+v", res.Removed)
	}
	if diff := cmp.Diff(before, left(t, s)); diff != "" {
		t.Error(diff)
	}
	if got := search(t, s, "build minutes"); len(got) != 0 {
		t.Errorf("found: %q", got)
	}
	if _, err := s.RestoreMemory(t.Context(), yiku.RestoreMemoryRequest{UserID: "ann", ID: ids["tool"]}); err != nil {
		t.Error(err)
	}
}

// TestE2_NothingComesBack: each way back for what was forgotten is closed; the
// control beside it shows that the way is open otherwise.
func TestE2_NothingComesBack(t *testing.T) {
	t.Parallel()
	message := yiku.AppendMessagesRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "k-append"}, UserID: "ann", SessionID: "s",
		Messages: []yiku.Message{{ID: "m1", Role: yiku.RoleUser, Content: yiku.Text("my locker is 4711")}}}
	memory := yiku.SaveMemoryRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "k-save"}, UserID: "ann", Content: "The locker is 4711"}
	for _, forgotten := range []bool{false, true} {
		t.Run(fmt.Sprint("forgotten=", forgotten), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			s := b.operator()
			if _, err := s.AppendMessages(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			saved := save(t, s, memory)
			export, err := s.ExportSession(t.Context(), yiku.ExportSessionRequest{UserID: "ann", SessionID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			snapshot := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "locker"}).SnapshotID
			want := error(nil)
			if forgotten {
				forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "locker"}})
				want = yiku.ErrForgotten
			}
			if _, err := s.AppendMessages(t.Context(), message); !errors.Is(err, want) {
				t.Errorf("replayed append: %v", err)
			}
			if _, err := s.SaveMemory(t.Context(), memory); !errors.Is(err, want) {
				t.Errorf("replayed save: %v", err)
			}
			again := message
			again.IdempotencyKey = ""
			res, err := s.AppendMessages(t.Context(), again)
			if err != nil || res.Messages[0].Forgotten != forgotten {
				t.Errorf("the same message again: %+v, %v", res, err)
			}
			importsNothing(t, s, export, forgotten)
			if _, err := s.GetSnapshot(t.Context(), yiku.GetSnapshotRequest{UserID: "ann", ID: snapshot}); (err == nil) == forgotten {
				t.Errorf("snapshot: %v", err)
			}
			if _, err := s.RestoreMemory(t.Context(), yiku.RestoreMemoryRequest{UserID: "ann", ID: saved.ID}); (err == nil) == forgotten {
				t.Errorf("restore: %v", err)
			}
			if got := search(t, s, "locker 4711"); (len(got) == 1) == forgotten {
				t.Errorf("found %q", got)
			}
			if got := left(t, s); forgotten && len(got) > 0 || !forgotten && len(got) != 3 {
				t.Errorf("left %q", got)
			}
			if !forgotten {
				return
			}
			if m := save(t, s, yiku.SaveMemoryRequest{Content: "The locker is 4711"}); m.Outcome != yiku.OutcomeCreated {
				t.Errorf("said anew: %s; want created", m.Outcome)
			}
		})
	}
}

// importsNothing imports an export over its session, which is refused, and
// under another id, where of a message that was forgotten nothing comes.
func importsNothing(t *testing.T, s yiku.Service, export yiku.SessionExport, forgotten bool) {
	t.Helper()
	document, err := json.Marshal(export)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.ImportSession(t.Context(), yiku.ImportSessionRequest{UserID: "ann", SessionID: "s", Document: yiku.RawJSON(document)})
	if !errors.Is(err, yiku.ErrConflict) {
		t.Errorf("import over the session: %v", err)
	}
	session, err := s.ImportSession(t.Context(), yiku.ImportSessionRequest{UserID: "ann", SessionID: "imported", Document: yiku.RawJSON(document)})
	if err != nil || (session.MessageCount == 0) != forgotten {
		t.Errorf("import under another id: %d messages, %v", session.MessageCount, err)
	}
	page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: "imported"})
	if err != nil || (len(page.Items) == 0) != forgotten {
		t.Errorf("imported are %q, %v", texts(page.Items), err)
	}
}

// TestE1_RefusesWhatIsUnclear: bad selectors are refused by name and change nothing.
func TestE1_RefusesWhatIsUnclear(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	ids := life(t, b, s)
	before := left(t, s)
	for field, sel := range map[string]yiku.Selector{
		"selector":                   {},
		"selector.keyword":           {Keyword: " 。"},
		"selector.source":            {Source: &yiku.SourceSelector{}},
		"selector.source.session_id": {Source: &yiku.SourceSelector{MessageID: "m", Origin: yiku.OriginWeb}},
		"selector.to":                {From: time.Unix(10, 0), To: time.Unix(5, 0)},
		"selector.min_relevance":     {All: true, MinRelevance: new(0.5)},
	} {
		_, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "r", Selector: sel})
		var e *yiku.Error
		if !errors.As(err, &e) || !errors.Is(err, yiku.ErrInvalid) || len(e.Fields) == 0 || e.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	two := yiku.Selector{All: true, Keyword: "x"}
	if _, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "r", Selector: two}); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("two ways: %v", err)
	}
	if _, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "r", Selector: yiku.Selector{IDs: []string{ids["tool"], "nobody"}}}); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
	if diff := cmp.Diff(before, left(t, s)); diff != "" {
		t.Error(diff)
	}
}

// TestE2_R37_BytesAreGone: after a forget no file of the data directory holds what
// was forgotten, in any of its encodings; before it, one does.
func TestE2_R37_BytesAreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := sqlite.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, st, &engine.Options{}).As(yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin})
	const canary = "金丝雀canary4711"
	save(t, s, yiku.SaveMemoryRequest{Content: canary, Subject: canary, Attribute: "x" + canary, Value: canary, Topics: []string{canary}, Metadata: yiku.Metadata{canary: canary}})
	say(t, s, canary, canary, "noted "+canary)
	if _, err := s.PutWorking(t.Context(), yiku.PutWorkingRequest{UserID: "ann", SessionID: canary, Todos: []any{canary}}); err != nil {
		t.Fatal(err)
	}
	contextOf(t, s, yiku.GetContextRequest{SessionID: canary, Query: canary})
	if _, err := s.EndSession(t.Context(), yiku.EndSessionRequest{UserID: "ann", SessionID: canary, Reason: yiku.EndUserLeft}); err != nil {
		t.Fatal(err)
	}
	before := holders(t, dir, canary)
	if before == 0 {
		t.Fatal("the scan sees nothing before")
	}
	if res := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{All: true}}); !res.Verified {
		t.Errorf("not verified: %+v", res)
	}
	if n := holders(t, dir, canary); n != 0 {
		t.Errorf("%d files hold it after", n)
	}
	boardtest.Report(t, boardtest.Row{ID: "R37", Part: "engine", Trials: 1, What: "forgets left the canary in a file", Control: fmt.Sprintf("%d files held it before", before)})
}

// holders counts the files that hold a text, in UTF-8, UTF-16, base64, hex or
// JSON escapes.
func holders(t *testing.T, dir, text string) int {
	t.Helper()
	wide := func(order binary.AppendByteOrder) []byte {
		var b []byte
		for _, u := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, u)
		}
		return b
	}
	forms := [][]byte{[]byte(text), wide(binary.LittleEndian), wide(binary.BigEndian), []byte(hex.EncodeToString([]byte(text))),
		[]byte(base64.StdEncoding.EncodeToString([]byte(text))), []byte(strconv.QuoteToASCII(text)[1:]), []byte("canary4711")}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if slices.ContainsFunc(forms, func(f []byte) bool { return bytes.Contains(raw, f) }) {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestE1_PreviewAndForgetAgree: a message that is named itself takes all that
// was learnt from it, whether it is met first or by way of one of its memories;
// with the message of another word its memories stay. Chinese and English.
func TestE1_PreviewAndForgetAgree(t *testing.T) {
	t.Parallel()
	for text, keyword := range map[string]string{
		"我叫李雷，住在成都，对海鲜过敏。":                                              "海鲜",
		"My name is Robert. I live in Leeds. I am allergic to shrimps.": "shrimps",
	} {
		s := newBench(t, nil).operator()
		for session, said := range map[string]string{"s": text, "other": "I work at Acme."} {
			req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: session, Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text(said)}}}
			if _, err := s.AppendMessages(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if _, err := s.EndSession(t.Context(), yiku.EndSessionRequest{UserID: "ann", SessionID: session, Reason: yiku.EndOther, Wait: true}); err != nil {
				t.Fatal(err)
			}
		}
		would := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: keyword}, DryRun: true}).Removed
		did := forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Keyword: keyword}}).Removed
		if did.Memories < 3 || would.Memories != did.Memories || would.Messages != did.Messages {
			t.Errorf("%s: would %+v, did %+v", keyword, would, did)
		}
		if got := search(t, s, "Acme"); len(got) == 0 {
			t.Errorf("%s: what another message told went too", keyword)
		}
	}
}
