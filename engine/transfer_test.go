package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

// TestR25_TransfersAreBounded: a session is made with at most 5,000 messages
// at once, since everybody's writes wait for them; the error names the field.
func TestR25_TransfersAreBounded(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	const most = 5_000
	refused := func(err error, field string) {
		t.Helper()
		var e *yiku.Error
		if !errors.As(err, &e) || !errors.Is(err, yiku.ErrTooLarge) || len(e.Fields) != 1 || e.Fields[0].Field != field {
			t.Errorf("%v, want too_large on %s", err, field)
		}
	}
	document := func(n int) json.RawMessage {
		return json.RawMessage("[" + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"好"},`, n), ",") + "]")
	}
	_, err := s.ImportSession(t.Context(), yiku.ImportSessionRequest{UserID: "ann", SessionID: "s", Document: document(most + 1)})
	refused(err, "document")
	if _, err := s.ImportSession(t.Context(), yiku.ImportSessionRequest{UserID: "ann", SessionID: "s", Document: document(most)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "ann", SessionID: "s", NewSessionID: "all"}); err != nil {
		t.Error("control:", err)
	}
	last := yiku.Message{ID: "last", Role: yiku.RoleUser, Content: yiku.Text("one more")}
	if _, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{last}}); err != nil {
		t.Fatal(err)
	}
	_, err = s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "ann", SessionID: "s", NewSessionID: "more"})
	refused(err, "up_to")
	page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: "s", Paging: yiku.Paging{Limit: 5}})
	if err != nil || len(page.Items) != 5 {
		t.Fatal(fmt.Sprint(len(page.Items)), err)
	}
	if _, err := s.ForkSession(t.Context(), yiku.ForkSessionRequest{UserID: "ann", SessionID: "s", NewSessionID: "few", UpTo: page.Items[4].ID}); err != nil {
		t.Error(err)
	}
}

// TestE2_ImportUnderAnotherID: what was forgotten of a session does not come
// back with its document under another id, or under a new one: neither the
// messages nor the metadata. Control: what was not forgotten comes.
func TestE2_ImportUnderAnotherID(t *testing.T) {
	t.Parallel()
	title, color := yiku.Metadata{"title": "About pears 梨", "color": "red"}, yiku.Metadata{"color": "red"}
	for name, test := range map[string]struct {
		selector *yiku.Selector
		texts    []string
		metadata yiku.Metadata
	}{
		"control":       {nil, []string{"I like pears", "喜欢梨", "Good", "天气好"}, title},
		"keyword":       {&yiku.Selector{Keyword: "pears"}, []string{"喜欢梨", "Good", "天气好"}, color},
		"关键词":           {&yiku.Selector{Keyword: "梨"}, []string{"I like pears", "Good", "天气好"}, color},
		"message":       {&yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s", MessageID: "m2"}}, []string{"I like pears", "喜欢梨", "天气好"}, title},
		"whole session": {&yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s"}}, []string{}, nil},
		"everything":    {&yiku.Selector{All: true}, []string{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			if _, err := s.CreateSession(t.Context(), yiku.CreateSessionRequest{UserID: "ann", SessionID: "s", Metadata: title}); err != nil {
				t.Fatal(err)
			}
			req := yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s"}
			for i, text := range []string{"I like pears", "喜欢梨", "Good", "天气好"} {
				req.Messages = append(req.Messages, yiku.Message{ID: fmt.Sprint("m", i), Role: yiku.RoleUser, Content: yiku.Text(text)})
			}
			if _, err := s.AppendMessages(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			export, err := s.ExportSession(t.Context(), yiku.ExportSessionRequest{UserID: "ann", SessionID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			if test.selector != nil {
				forget(t, s, yiku.ForgetRequest{Selector: *test.selector})
			}
			nameless := export
			nameless.Session.ID = ""
			for i, document := range []yiku.SessionExport{export, nameless} {
				raw, err := json.Marshal(document)
				if err != nil {
					t.Fatal(err)
				}
				id := fmt.Sprint("other", i)
				got, err := s.ImportSession(t.Context(), yiku.ImportSessionRequest{UserID: "ann", SessionID: id, Document: raw})
				if err != nil {
					t.Fatal(err)
				}
				page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: id})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.texts, append([]string{}, texts(page.Items)...)); diff != "" {
					t.Errorf("%s: messages (-want +got):\n%s", id, diff)
				}
				if diff := cmp.Diff(test.metadata, got.Metadata); diff != "" {
					t.Errorf("%s: metadata (-want +got):\n%s", id, diff)
				}
			}
		})
	}
}
