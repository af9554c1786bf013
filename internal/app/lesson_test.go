package app

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/wire"
)

// TestL66_PeopleDeleteTheirOwn: with a token of their own people see, delete
// and forget what is theirs, and nothing of others'.
func TestL66_PeopleDeleteTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.key("acme", yiku.CreateKeyRequest{Access: admin}) // from the first key on nobody is let in without one
	own := w.token("ann", write, 60)
	table := operations(t)
	ask := func(id, body, user, path string) int {
		t.Helper()
		r := rules()[id]
		r.body = body
		return w.send(r.request(table[id], user, path), own.bearer).Code
	}
	for _, user := range []string{"ann", "bob"} {
		w.user = user
		want := map[string]int{"ann": http.StatusOK, "bob": http.StatusForbidden}[user]
		for _, selector := range []string{fmt.Sprintf(`{"ids":[%q]}`, w.seed("memory")), `{"keyword":"CANARY"}`, `{"all":true}`} {
			if got := ask("forget", `"selector":`+selector+`,"reason":"删除"`, user, ""); got != want {
				t.Errorf("%s forgets %s: %d, want %d", user, selector, got, want)
			}
		}
		deleted := map[string]int{"ann": http.StatusNoContent, "bob": http.StatusForbidden}[user]
		for _, kind := range []string{"memory", "session"} {
			if got := ask("delete_"+kind, "", user, w.seed(kind)); got != deleted {
				t.Errorf("%s deletes a %s: %d, want %d", user, kind, got, deleted)
			}
		}
	}
	for user, want := range map[string]int{"ann": 0, "bob": 2} {
		page := must[yiku.Page[yiku.Memory]](w)(w.as("acme").ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: user}))
		if *page.Total != want {
			t.Errorf("%s has %d memories, want %d", user, *page.Total, want)
		}
	}
}

// TestL128_MetricsStayFew: as many users, sessions and projects as there may
// be, the metrics have the same lines; and the probe of life asks no store.
func TestL128_MetricsStayFew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, boss := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	lines := func() int {
		rec := w.send(httptest.NewRequest(http.MethodGet, "/metrics", nil), boss.bearer)
		return bytes.Count(rec.Body.Bytes(), []byte("\n"))
	}
	visit := func(n int) {
		for i := range n {
			who := fmt.Sprintf("用户-%d", i)
			body := fmt.Sprintf(`{"user_id":%q,"project_id":"项目-%d","session_id":"s-%d","content":"喜欢茶 %d"}`, who, i, i, i)
			r := httptest.NewRequest(http.MethodPost, "/v1/memories", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if rec := w.send(r, boss.bearer); rec.Code != http.StatusCreated {
				t.Fatal(rec.Code, rec.Body)
			}
			w.core.Metrics.Record(t.Context(), observe.Event{Operation: "save_memory", Outcome: "ok", Tenant: who, User: who, Session: who})
		}
	}
	visit(1)
	before := lines()
	visit(60)
	if after := lines(); after != before || before < len(wire.Operations()) {
		t.Errorf("%d lines of metrics, %d after 60 users", before, after)
	}
	asked := w.store.calls.Load()
	if rec := w.send(httptest.NewRequest(http.MethodGet, "/healthz", nil), ""); rec.Code != http.StatusOK || w.store.calls.Load() != asked {
		t.Errorf("/healthz: %d, and asks the store %d times", rec.Code, w.store.calls.Load()-asked)
	}
}
