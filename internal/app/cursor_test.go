package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/wire"
)

// lists are the operations that give pages.
func lists() []wire.Operation {
	return slices.DeleteFunc(wire.Operations(), func(op wire.Operation) bool {
		return !slices.ContainsFunc(wire.Params(op.Request, op.Method), func(p wire.Param) bool { return p.Name == "cursor" })
	})
}

// page asks for a page of a list; what stands in with is set in the query.
func page(op wire.Operation, user, id string, with map[string]string) *http.Request {
	r := rules()[op.ID].request(op, user, id)
	query := r.URL.Query()
	for name, value := range with {
		query.Set(name, value)
	}
	r.URL.RawQuery = query.Encode()
	return r
}

// fill makes three of everything that a list of a user shows, in one session
// and one memory, which it returns.
func (w *world) fill(user string) map[string]string {
	w.t.Helper()
	s, ctx := w.as("acme"), w.t.Context()
	ids := map[string]string{"session": "s-0"}
	for i := range 3 {
		must[yiku.AppendMessagesResponse](w)(s.AppendMessages(ctx, yiku.AppendMessagesRequest{UserID: user, SessionID: fmt.Sprintf("s-%d", i),
			Messages: slices.Repeat([]yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("好 ok")}}, 3)}))
		res := must[yiku.SaveMemoryResponse](w)(s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: user, Content: fmt.Sprintf("事实 %d", i)}))
		must[yiku.ForgetResponse](w)(s.Forget(ctx, yiku.ForgetRequest{UserID: user, Selector: yiku.Selector{Keyword: "nothing says this"}, Reason: "test"}))
		ids["memory"] = res.ID
		must[yiku.SaveMemoryResponse](w)(s.SaveSkill(ctx, yiku.SaveSkillRequest{UserID: user, Name: fmt.Sprint("skill ", i), Steps: []string{"go"}}))
		for _, confidence := range []float64{1, 0.2} { // a guess against something firm waits for a person
			must[yiku.SaveMemoryResponse](w)(s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: user, Content: fmt.Sprintf("home %d %v", i, confidence),
				Subject: fmt.Sprint("someone ", i), Attribute: "residence", Value: fmt.Sprint(confidence), Confidence: &confidence}))
		}
	}
	for i := range 3 {
		must[yiku.ExtractionReport](w)(s.ExtractSession(ctx, yiku.ExtractSessionRequest{UserID: user, SessionID: fmt.Sprintf("s-%d", i), DryRun: true}))
		must[yiku.Memory](w)(s.PatchMemory(ctx, yiku.PatchMemoryRequest{ID: ids["memory"], UserID: user, Content: yiku.Some(fmt.Sprintf("改 %d", i))}))
		must[yiku.RunToolResponse](w)(s.RunTool(ctx, yiku.RunToolRequest{UserID: user, SessionID: ids["session"], Name: "conversation_search", Arguments: yiku.RawJSON(`{"query":"ok"}`)}))
		w.key("acme", yiku.CreateKeyRequest{Access: read})
	}
	return ids
}

// TestI4_ForeignCursors: the cursor of a list works for this list alone. That
// of another list, user, tenant, row or filter, and one with any byte changed,
// is refused by name.
func TestI4_ForeignCursors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, c := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	_, other := w.key("globex", yiku.CreateKeyRequest{Access: admin})
	ids := map[string]map[string]string{"ann": w.fill("ann"), "bob": w.fill("bob")}
	cursors := map[string]string{}
	for _, op := range lists() {
		for user := range ids {
			rec := w.send(page(op, user, ids[user][rules()[op.ID].id], map[string]string{"limit": "1"}), c.bearer)
			next := nextOf(t, rec.Body.Bytes())
			if rec.Code != op.Status || next == "" {
				t.Fatalf("%s of %s gives no cursor: %d %.300s", op.ID, user, rec.Code, rec.Body)
			}
			cursors[op.ID+" "+user] = next
		}
	}
	for _, op := range lists() {
		own := cursors[op.ID+" ann"]
		id := ids["ann"][rules()[op.ID].id]
		var asks []ask
		try := func(name string, with map[string]string) {
			asks = append(asks, ask{name: name, field: "cursor", make: func() *http.Request { return page(op, "ann", id, with) }})
		}
		for from, cursor := range cursors {
			if from != op.ID+" ann" && !rules()[op.ID].tenant {
				try("the cursor of "+from, map[string]string{"cursor": cursor})
			}
		}
		for i, b := range []byte(own) {
			changed := []byte(own)
			changed[i] = 'A' + (b+1)%26
			try(fmt.Sprintf("byte %d changed", i), map[string]string{"cursor": string(changed)})
		}
		for name, text := range map[string]string{"cut": own[:len(own)-1], "longer": own + "A", "twice": own + own, "padded": own + "=", "with a line": own[:4] + "\n" + own[4:], "in the other alphabet": standardBase64(own)} {
			if text != own {
				try(name, map[string]string{"cursor": text})
			}
		}
		for _, p := range wire.Params(op.Request, op.Method) {
			if p.In == wire.InQuery && !slices.Contains([]string{"cursor", "limit", "user_id"}, p.Name) {
				try("with another "+p.Name, map[string]string{"cursor": own, p.Name: valuesOf(p).good[0]})
			}
		}
		faults := w.badInput(t, c.bearer, op.ID, asks)
		if rules()[op.ID].tenant {
			foreign := ask{name: "the cursor of another tenant", field: "cursor", make: func() *http.Request { return page(op, "ann", id, map[string]string{"cursor": own}) }}
			faults = append(faults, w.badInput(t, other.bearer, op.ID, []ask{foreign})...)
		}
		for _, f := range faults {
			t.Error(f)
		}
		rec := w.send(page(op, "ann", id, map[string]string{"cursor": own, "limit": "2"}), c.bearer)
		if rec.Code != op.Status {
			t.Errorf("%s: its own cursor: %d %.300s", op.ID, rec.Code, rec.Body)
		}
	}
}

func nextOf(t *testing.T, body []byte) string {
	t.Helper()
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		t.Fatal(err)
	}
	return page.NextCursor
}

// standardBase64 writes a cursor in the alphabet that cursors do not use; it is
// the same text where the two do not differ.
func standardBase64(cursor string) string {
	return strings.NewReplacer("-", "+", "_", "/").Replace(cursor)
}
