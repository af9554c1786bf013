package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

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
