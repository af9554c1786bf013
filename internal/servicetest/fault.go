package servicetest

import (
	"context"
	"errors"
	"strings"

	"github.com/yiku-ai/yiku"
)

func errorGroups() []group {
	return []group{
		{"F3_ForeignIsMissing", foreignIsMissing},
		{"I4_EveryFaultIsNamed", everyFault},
		{"F1_Cursors", cursors},
		{"I4_CancelledContext", cancelled},
	}
}

// foreignIsMissing: F3, what belongs to somebody else answers word for word as
// what does not exist.
func foreignIsMissing(s *suite) {
	m := s.save(yiku.SaveMemoryRequest{UserID: "owner", Content: "只有我知道"}).Memory
	s.append("owner", "s", user("私事"))
	for name, call := range map[string]func(id string) error{
		"get_memory": func(id string) error {
			_, err := s.GetMemory(s.ctx, yiku.MemoryRequest{ID: id, UserID: "thief"})
			return err
		},
		"memory_sources": func(id string) error {
			_, err := s.MemorySources(s.ctx, yiku.MemoryRequest{ID: id, UserID: "thief"})
			return err
		},
		"memory_history": func(id string) error {
			_, err := s.MemoryHistory(s.ctx, yiku.MemoryHistoryRequest{ID: id, UserID: "thief"})
			return err
		},
		"patch_memory": func(id string) error {
			_, err := s.PatchMemory(s.ctx, yiku.PatchMemoryRequest{ID: id, UserID: "thief", Pinned: yiku.Some(true)})
			return err
		},
		"delete_memory": func(id string) error {
			_, err := s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{ID: id, UserID: "thief"})
			return err
		},
		"restore_memory": func(id string) error {
			_, err := s.RestoreMemory(s.ctx, yiku.RestoreMemoryRequest{ID: id, UserID: "thief"})
			return err
		},
		"confirm_memory": func(id string) error {
			_, err := s.ConfirmMemory(s.ctx, yiku.ConfirmMemoryRequest{ID: id, UserID: "thief"})
			return err
		},
		"replay_snapshot": func(id string) error {
			_, err := s.ReplaySnapshot(s.ctx, yiku.ReplaySnapshotRequest{ID: id, UserID: "thief"})
			return err
		},
		"get_snapshot": func(id string) error {
			_, err := s.GetSnapshot(s.ctx, yiku.GetSnapshotRequest{ID: id, UserID: "thief"})
			return err
		},
	} {
		s.sameAnswer(name, call(m.ID), call("00000000-0000-7000-8000-000000000000"))
	}
	for name, call := range map[string]func(id string) error{
		"get_session": func(id string) error {
			_, err := s.GetSession(s.ctx, yiku.GetSessionRequest{SessionID: id, UserID: "thief"})
			return err
		},
		"list_messages": func(id string) error {
			_, err := s.ListMessages(s.ctx, yiku.ListMessagesRequest{SessionID: id, UserID: "thief"})
			return err
		},
		"export_session": func(id string) error {
			_, err := s.ExportSession(s.ctx, yiku.ExportSessionRequest{SessionID: id, UserID: "thief"})
			return err
		},
		"delete_session": func(id string) error {
			_, err := s.DeleteSession(s.ctx, yiku.DeleteSessionRequest{SessionID: id, UserID: "thief"})
			return err
		},
	} {
		s.sameAnswer(name, call("s"), call("none"))
	}
	if got := s.memory("owner", m.ID); got.Pinned || got.Status != yiku.StatusActive {
		s.Errorf("the owner's memory was changed: %+v", got)
	}
}

// sameAnswer asserts two not-found errors with the same words.
func (s *suite) sameAnswer(name string, foreign, missing error) {
	s.Helper()
	if !errors.Is(foreign, yiku.ErrNotFound) || !errors.Is(missing, yiku.ErrNotFound) || foreign.Error() != missing.Error() {
		s.Errorf("%s: foreign %q, missing %q", name, foreign, missing)
	}
}

// everyFault: I4, one error names every field at fault, and nothing is done.
func everyFault(s *suite) {
	_, err := s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: "CANARY", Type: "poem", Importance: ptr(2.0), Level: "galaxy",
		Topics: []string{"ok", ""}, Metadata: yiku.Metadata{"k": "CANARY\x00"}, ProjectID: "CANARY\n"})
	var e *yiku.Error
	if !errors.Is(err, yiku.ErrInvalid) || !errors.As(err, &e) {
		s.Fatalf("error %v", err)
	}
	named := map[string]bool{}
	for _, f := range e.Fields {
		named[f.Field] = true
	}
	for _, field := range []string{"type", "importance", "level", "topics[1]", "metadata", "project_id"} {
		if !named[field] {
			s.Errorf("%v does not name %s", err, field)
		}
	}
	if strings.Contains(err.Error(), "CANARY") {
		s.Errorf("the error holds a value: %v", err)
	}
	if got := s.contents(yiku.ListMemoriesRequest{UserID: "u"}); len(got) != 0 {
		s.Errorf("something was saved: %v", got)
	}
	names[yiku.SaveMemoryResponse](s, "user_id")(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{Content: "x"}))
	names[yiku.SaveMemoryResponse](s, "content")(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: "a\xff"}))
	names[yiku.SaveMemoryResponse](s, "content")(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: strings.Repeat("字", 20001)}))
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: strings.Repeat("字", 20000)})
	names[yiku.Session](s, "session_id")(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "u", SessionID: strings.Repeat("会", 257)}))
	must[yiku.Session](s)(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "u", SessionID: strings.Repeat("会", 256)}))
	must[yiku.Session](s)(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "a/b", SessionID: ".."}))
	must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "a/b", SessionID: ".."}))
	must[yiku.Session](s)(s.CreateSession(s.ctx, yiku.CreateSessionRequest{UserID: "a b&c=d", SessionID: "a//b?c#d%2F+e"}))
	must[yiku.Session](s)(s.GetSession(s.ctx, yiku.GetSessionRequest{UserID: "a b&c=d", SessionID: "a//b?c#d%2F+e"}))
}

// cursors: F1, a cursor belongs to its list; any other text is refused.
func cursors(s *suite) {
	for i := range 7 {
		s.save(yiku.SaveMemoryRequest{UserID: "u", Content: numbered("事实", i)})
		s.append("u", "s", user(numbered("话", i)))
	}
	var got []string
	page := yiku.Paging{Limit: 3}
	for {
		res := must[yiku.Page[yiku.Message]](s)(s.ListMessages(s.ctx, yiku.ListMessagesRequest{UserID: "u", SessionID: "s", Paging: page}))
		if (page.Cursor == "") != (res.Total != nil) {
			s.Errorf("total %v on the page after %q", res.Total, page.Cursor)
		}
		got = append(got, texts(res.Items))
		if page.Cursor = res.NextCursor; page.Cursor == "" || len(got) > 5 {
			break
		}
	}
	same(s, "pages", []string{"话-000|话-001|话-002", "话-003|话-004|话-005", "话-006"}, got)

	first := must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: 3}}))
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "newer than the cursor"})
	rest := must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: 100, Cursor: first.NextCursor}}))
	if len(rest.Items) != 4 {
		s.Errorf("%d memories after the first page; want 4", len(rest.Items))
	}
	for _, cursor := range []string{"x", "AAAA", first.NextCursor + "A", strings.ToUpper(first.NextCursor), strings.Repeat("A", 500)} {
		names[yiku.Page[yiku.Memory]](s, "cursor")(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Cursor: cursor}}))
	}
	names[yiku.Page[yiku.Memory]](s, "cursor")(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "other", Paging: yiku.Paging{Cursor: first.NextCursor}}))
	names[yiku.Page[yiku.Message]](s, "cursor")(s.ListMessages(s.ctx, yiku.ListMessagesRequest{UserID: "u", SessionID: "s", Paging: yiku.Paging{Cursor: first.NextCursor}}))
	names[yiku.Page[yiku.Memory]](s, "limit")(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: 501}}))
	names[yiku.Page[yiku.Memory]](s, "limit")(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: -1}}))
}

// cancelled: I4, a call under a cancelled context fails with its error.
func cancelled(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	_, err := s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: "u", Content: "太晚了"})
	if !errors.Is(err, context.Canceled) {
		s.Errorf("error %v", err)
	}
	_, err = s.ListMemories(ctx, yiku.ListMemoriesRequest{UserID: "u"})
	if !errors.Is(err, context.Canceled) {
		s.Errorf("error %v", err)
	}
}
