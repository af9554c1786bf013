package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/wire"
	"github.com/yiku-ai/yiku/store"
)

var injections = flag.Float64("injections", 0.01, "the share of payloads × places that TestR24 tries; make nightly takes 1, all of them")

const (
	foreignCanary = "VICTIM9d2c 泄露"
	// ownerRun is how many requests one attacker makes before the next takes
	// over, so that none has much to be searched.
	ownerRun = 400
)

// attack is a server with people who are not to be reached, and what was found.
type attack struct {
	*world
	handler  http.Handler
	bearer   string
	user     string // the attacker
	sent     int
	state    uint64 // of the others, before
	snapshot string
	findings map[string]int // by kind
	shown    []string
}

func newAttack(t testing.TB, wrap func(*attack, http.Handler) http.Handler) *attack {
	t.Helper()
	a := &attack{world: newWorld(t), findings: map[string]int{}}
	_, boss := a.key("acme", yiku.CreateKeyRequest{Access: admin})
	a.key("globex", yiku.CreateKeyRequest{Access: read, Name: foreignCanary})
	a.bearer = boss.bearer
	for _, who := range a.others() {
		s, ctx := a.as(who[0]), t.Context()
		must[yiku.SaveMemoryResponse](a.world)(s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: who[1], Content: foreignCanary, Subject: "user", Attribute: "secret", Value: foreignCanary, Metadata: yiku.Metadata{"k": foreignCanary}}))
		must[yiku.AppendMessagesResponse](a.world)(s.AppendMessages(ctx, yiku.AppendMessagesRequest{UserID: who[1], SessionID: "s", Messages: []yiku.Message{{ID: "m", Role: yiku.RoleUser, Content: yiku.Text(foreignCanary)}}}))
		must[yiku.WorkingMemory](a.world)(s.PutWorking(ctx, yiku.PutWorkingRequest{UserID: who[1], SessionID: "s", DataSlots: map[string]any{"k": foreignCanary}}))
		must[yiku.ForgetResponse](a.world)(s.Forget(ctx, yiku.ForgetRequest{UserID: who[1], Selector: yiku.Selector{Keyword: "nothing says this"}, Reason: foreignCanary}))
		a.snapshot = must[yiku.GetContextResponse](a.world)(s.GetContext(ctx, yiku.GetContextRequest{UserID: who[1], SessionID: "s", Query: "secret"})).SnapshotID
	}
	a.handler = a.world.handler
	if wrap != nil {
		a.handler = wrap(a, a.world.handler)
	}
	a.state = a.digest()
	return a
}

// others are the people who are not to be reached: another user of the tenant,
// and the attacker's namesake in another tenant.
func (a *attack) others() [][2]string {
	return [][2]string{{"acme", "victim-of-it"}, {"globex", "mallory-0"}, {"globex", "ann"}}
}

// digest is a hash of everything that can be read of the others.
func (a *attack) digest() uint64 {
	a.t.Helper()
	h := fnv.New64a()
	note := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			a.t.Fatal(err)
		}
		_, _ = h.Write(text)
	}
	for _, who := range a.others() {
		s, ctx := a.as(who[0]), a.t.Context()
		for _, status := range []yiku.Status{yiku.StatusActive, yiku.StatusSuperseded, yiku.StatusStale, yiku.StatusArchived, yiku.StatusQuarantined} {
			for _, m := range must[yiku.Page[yiku.Memory]](a.world)(s.ListMemories(ctx, yiku.ListMemoriesRequest{UserID: who[1], Status: status, Paging: yiku.Paging{Limit: 500}})).Items {
				m.LastAccess, m.AccessCount = time.Time{}, 0 // written in batches, those of the seeding later
				note(m)
			}
		}
		note(must[yiku.Page[yiku.Session]](a.world)(s.ListSessions(ctx, yiku.ListSessionsRequest{UserID: who[1]})))
		note(must[yiku.Page[yiku.Message]](a.world)(s.ListMessages(ctx, yiku.ListMessagesRequest{UserID: who[1], SessionID: "s"})))
		note(must[yiku.WorkingMemory](a.world)(s.GetWorking(ctx, yiku.GetWorkingRequest{UserID: who[1], SessionID: "s"})))
		note(must[yiku.Page[yiku.Receipt]](a.world)(s.ForgetLog(ctx, yiku.ForgetLogRequest{UserID: who[1]})))
		if who[0] != "acme" {
			note(must[yiku.Page[yiku.Key]](a.world)(s.ListKeys(ctx, yiku.ListKeysRequest{})))
		}
	}
	return h.Sum64()
}

func (a *attack) found(kind, format string, args ...any) {
	a.findings[kind]++
	if a.findings[kind] <= 5 {
		a.shown = append(a.shown, kind+": "+fmt.Sprintf(format, args...))
	}
}

// try sends one payload in one place and looks at the answer.
func (a *attack) try(op wire.Operation, l leaf, payload string) {
	if a.sent%ownerRun == 0 {
		a.user = fmt.Sprintf("mallory-%d", a.sent/ownerRun)
		a.world.user = a.user
	}
	a.sent++
	if op.ID == "save_memory" || op.ID == "complete_task" { // somebody who has said nothing that differs in widths only: that would be the same
		a.user = fmt.Sprintf("mallory-new-%d", a.sent)
		a.world.user = a.user
	}
	kind := rules()[op.ID].id
	id := a.seed(kind)
	d := newDraft(op, a.user, id)
	if _, ok := d.body["content"]; ok { // a memory of its own, not one more of the same
		d.body["content"] = fmt.Sprint("likes tea ", a.sent)
	}
	l.put(d, payload)
	rec := a.send(d)
	body := rec.Body.String()
	a.revoke(kind, id, body)
	where := fmt.Sprintf("%s with %.80q: %d %.200s", l.name, payload, rec.Code, body)
	if rec.Code >= 500 && rec.Code != http.StatusNotImplemented {
		a.found("5xx", "%s", where)
	}
	if strings.Contains(body, foreignCanary) || strings.Contains(body, "VICTIM9d2c") {
		a.found("leak", "%s", where)
	}
	if rec.Code >= 400 && strings.Contains(body, mark) && !plainName(l, payload) {
		a.found("error text", "%s", where)
	}
	for name, values := range rec.Header() {
		if name == "X-Injected" || strings.ContainsAny(strings.Join(values, ""), "\r\n") {
			a.found("header", "%s: %s", where, name)
		}
	}
	if rec.Code < 300 && keeps(l) && len(payload) > 3 && !a.comesBack(d, rec, payload) {
		a.found("bytes", "%s", where)
	}
}

// revoke takes back the keys that a request was about or has made: a tenant has
// a limited number of them.
func (a *attack) revoke(kind, id, body string) {
	var made struct{ Key struct{ ID string } }
	if json.Unmarshal([]byte(body), &made) == nil && made.Key.ID != "" {
		kind, id = "key", made.Key.ID
	}
	if kind != "key" {
		return
	}
	if _, err := a.as("acme").RevokeKey(a.t.Context(), yiku.RevokeKeyRequest{ID: id}); err != nil && !errors.Is(err, yiku.ErrNotFound) {
		a.t.Fatal(err)
	}
}

func (a *attack) send(d *draft) *httptest.ResponseRecorder {
	r := d.request()
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+a.bearer)
	}
	rec := httptest.NewRecorder()
	a.handler.ServeHTTP(rec, r)
	return rec
}

// plainName reports whether a payload is a plain word in the place of a field's
// name: errors name the field that there is not.
func plainName(l leaf, payload string) bool {
	return (strings.HasSuffix(l.name, " key") || strings.HasSuffix(l.name, "{key}")) && !strings.ContainsFunc(strings.Trim(payload, " "), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})
}

// keeps reports whether what stands in a place is stored, so that it must come
// back byte for byte. What is not is named here: a new field is expected to be.
func keeps(l leaf) bool {
	op, place, _ := strings.Cut(l.name, " ")
	switch op {
	case "create_session", "append_messages", "import_session", "fork_session", "put_working", "patch_working", "complete_task", "save_memory", "patch_memory", "forget", "create_key":
	default:
		return false // it stores nothing of its request
	}
	if strings.HasPrefix(place, "header ") || strings.HasPrefix(place, "query") || place == "body key" {
		return false
	}
	for _, unkept := range []string{"user_id", "selector", "path id", "document", "up_to", "path task_id", "task_id", "agent_id", "project_id", "session_id"} {
		if strings.HasPrefix(place, unkept) || strings.HasSuffix(place, unkept) {
			// names of what is written to, and what the answer does not repeat;
			// documents are looked at where they hold messages
			return place == "document[0].content"
		}
	}
	return true
}

// comesBack looks for the payload, byte for byte, in the answer and in what a
// read gives afterwards.
func (a *attack) comesBack(d *draft, rec *httptest.ResponseRecorder, payload string) bool {
	var answer map[string]any
	if json.Unmarshal(rec.Body.Bytes(), &answer) != nil {
		return false
	}
	if holds(answer, payload) {
		return true
	}
	read := func(id, what string) bool {
		for _, op := range wire.Operations() {
			if op.ID != id {
				continue
			}
			again := a.send(newDraft(op, a.user, what))
			var v any
			return json.Unmarshal(again.Body.Bytes(), &v) == nil && holds(v, payload)
		}
		return false
	}
	str := func(key string) string { s, _ := answer[key].(string); return s }
	switch d.op.ID {
	case "append_messages":
		return read("list_messages", d.path["session_id"])
	case "import_session", "fork_session":
		return read("export_session", str("session_id"))
	case "complete_task":
		return read("get_memory", str("memory_id"))
	case "forget":
		return read("get_receipt", str("receipt_id"))
	}
	return false
}

// holds looks for a text among the texts and keys of a JSON value.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return v == text
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return holds(e, text) })
	case map[string]any:
		for k, e := range v {
			if k == text || holds(e, text) {
				return true
			}
		}
	}
	return false
}

// end looks at what the whole attack has left: the others' state, the log, and
// the metrics.
func (a *attack) end() {
	a.t.Helper()
	if a.digest() != a.state {
		a.found("state", "what is others' has changed")
	}
	for line := range bytes.Lines(a.logs.Bytes()) {
		if bytes.Contains(line, []byte(mark)) {
			a.found("log", "%.300s", line)
		}
		if !json.Valid(line) {
			a.found("log", "not one JSON object: %.300q", line)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	if rec := a.world.send(r, a.bearer); rec.Code != http.StatusOK || strings.Contains(rec.Body.String(), mark) || strings.Contains(rec.Body.String(), "VICTIM") {
		a.found("metric", "%d", rec.Code)
	}
}

// run tries a share of payloads × places: each place and, as far as there are
// places enough, each payload.
func (a *attack) run(share float64) (places int) {
	all := payloads()
	each := max(1, int(math.Round(share*float64(len(all)))))
	next := 0
	for _, op := range wire.Operations() {
		for _, l := range leaves(op) {
			places++
			for range each {
				if payload := all[next%len(all)]; utf8.ValidString(payload) {
					a.try(op, l, payload)
				}
				next++
			}
			if len(all)%each == 0 {
				next++ // so that the places do not meet the same ones
			}
		}
	}
	a.end()
	return places
}

// TestR24_Injections puts payloads into every field, key, header and path of
// every operation: nothing of others comes out or changes, no request ends in
// a fault of the server, what is stored comes back byte for byte, and no
// payload stands in a log line, a metric or an error.
// Lessons: L73.
func TestR24_Injections(t *testing.T) {
	t.Parallel()
	a := newAttack(t, nil)
	places := a.run(*injections)
	for _, s := range a.shown {
		t.Error(s)
	}
	if len(a.findings) > 0 {
		t.Errorf("findings by kind: %v", a.findings)
	}
	boardtest.Report(t, boardtest.Row{ID: "R24", Trials: a.sent, What: "requests with a payload leaked, changed others' data, failed in the server or showed the payload",
		Note: fmt.Sprintf("%d payloads, %d places, a share of %v of the pairs", len(payloads()), places, *injections)})
}

// TestR24_Controls runs the suite on servers with the faults that it is to find.
func TestR24_Controls(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, status int, text string) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
	// said is the text of a request as a program sees it that has decoded it.
	said := func(r *http.Request) string {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(raw))
		path, _ := url.PathUnescape(r.URL.Path)
		query, _ := url.QueryUnescape(r.URL.RawQuery)
		return path + query + strings.ReplaceAll(string(raw), `\"`, `"`)
	}
	controls := map[string]func(*attack, http.Handler) http.Handler{
		"leak": func(_ *attack, next http.Handler) http.Handler { // a WHERE that is put together
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(said(r), "' OR '1'='1") {
					answer(w, 200, foreignCanary)
					return
				}
				next.ServeHTTP(w, r)
			})
		},
		"5xx": func(_ *attack, next http.Handler) http.Handler { // a syntax error of the database
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Count(said(r), "'")%2 == 1 {
					answer(w, 500, "")
					return
				}
				next.ServeHTTP(w, r)
			})
		},
		"error text": func(_ *attack, next http.Handler) http.Handler { // an error that quotes its input
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				rec, text := httptest.NewRecorder(), said(r)
				next.ServeHTTP(rec, r)
				if rec.Code >= 400 {
					answer(w, rec.Code, text)
					return
				}
				answer(w, rec.Code, rec.Body.String())
			})
		},
		"bytes": func(_ *attack, next http.Handler) http.Handler { // input that is made tidy
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(strings.NewReader(norm.NFKC.String(string(raw))))
				r.ContentLength = -1
				next.ServeHTTP(w, r)
			})
		},
		"log": func(a *attack, next http.Handler) http.Handler {
			log := slog.New(slog.NewJSONHandler(a.logs, nil))
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				log.Info("request", "query", r.URL.RawQuery)
				next.ServeHTTP(w, r)
			})
		},
		"state": func(a *attack, next http.Handler) http.Handler { // a pattern where an id is meant
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete && strings.ContainsAny(r.URL.Path+r.URL.RawQuery, "%*?") {
					a.dropVictim()
				}
				next.ServeHTTP(w, r)
			})
		},
		"header": func(_ *attack, next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Echo", r.Header.Get("X-Request-Id"))
				next.ServeHTTP(w, r)
			})
		},
	}
	for kind, wrap := range controls {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newAttack(t, wrap)
			share := 0.004
			if kind == "header" { // few payloads may stand in one
				share = 0.012
			}
			a.run(share)
			if a.findings[kind] == 0 {
				t.Errorf("the fault was not found: %v", a.findings)
			}
		})
	}
	boardtest.Report(t, boardtest.Row{ID: "R24", Part: "control", Hits: len(controls), Trials: len(controls), What: "faults put into the server were found"})
}

// dropVictim deletes what a pattern would meet.
func (a *attack) dropVictim() {
	owner, err := yiku.NewOwner("acme", "victim-of-it")
	if err != nil {
		a.t.Fatal(err)
	}
	err = a.store.Update(a.t.Context(), owner, store.Request, func(tx store.Tx) error {
		rows, err := tx.Memories(owner, store.MemoryQuery{})
		for _, row := range rows {
			if err := tx.DeleteMemory(row.Key); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
}
