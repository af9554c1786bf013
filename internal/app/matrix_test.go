package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/internal/limit"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/wire"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// rule says who may run an operation, apart from what internal/wire says: a
// change there that is not made here fails.
type rule struct {
	least   yiku.Access
	tenant  bool   // of the whole tenant: not for a credential of one user
	id      string // what the path names: session, task, memory, receipt, snapshot, key, or nothing
	foreign int    // what another tenant's admin gets; 0: the same, on its own data
	body    string // beside user_id
}

const (
	read, write, admin = yiku.AccessRead, yiku.AccessWrite, yiku.AccessAdmin

	missing = http.StatusNotFound
)

// rules is the expected matrix. An operation without an entry fails TestR22.
func rules() map[string]rule {
	return map[string]rule{
		"create_session":   {least: write},
		"list_sessions":    {least: read},
		"get_session":      {least: read, id: "session", foreign: missing},
		"delete_session":   {least: write, id: "session", foreign: missing},
		"append_messages":  {least: write, id: "session", body: `"messages":[{"role":"user","content":"好"}]`},
		"list_messages":    {least: read, id: "session", foreign: missing},
		"end_session":      {least: write, id: "session", foreign: missing, body: `"reason":"user_left"`},
		"fork_session":     {least: write, id: "session", foreign: missing},
		"export_session":   {least: read, id: "session", foreign: missing},
		"import_session":   {least: write, body: `"document":[{"role":"user","content":"hi"}]`},
		"get_summary":      {least: read, id: "session", foreign: missing},
		"get_tools":        {least: read, tenant: true},
		"run_tool":         {least: write, id: "session", body: `"name":"core_memory_append","arguments":{"block":"b","content":"c"}`},
		"list_pages":       {least: read, id: "session", foreign: missing},
		"get_working":      {least: read, id: "session"},
		"put_working":      {least: write, id: "session", body: `"data_slots":{"a":1}`},
		"patch_working":    {least: write, id: "session", body: `"data_slots":{"a":1}`},
		"delete_working":   {least: write, id: "session"},
		"complete_task":    {least: write, id: "task", foreign: missing, body: `"outcome":"success"`},
		"get_context":      {least: read, body: `"query":"茶"`},
		"get_snapshot":     {least: read, id: "snapshot", foreign: missing},
		"replay_snapshot":  {least: read, id: "snapshot", foreign: missing},
		"save_memory":      {least: write, body: `"content":"likes tea"`},
		"search_memory":    {least: read, body: `"query":"tea"`},
		"list_memories":    {least: read},
		"get_memory":       {least: read, id: "memory", foreign: missing},
		"patch_memory":     {least: write, id: "memory", foreign: missing, body: `"importance":0.9`},
		"delete_memory":    {least: write, id: "memory", foreign: missing},
		"memory_history":   {least: read, id: "memory", foreign: missing},
		"memory_sources":   {least: read, id: "memory", foreign: missing},
		"restore_memory":   {least: write, id: "memory", foreign: missing},
		"confirm_memory":   {least: write, id: "memory", foreign: missing},
		"demote_memory":    {least: write, id: "promoted", foreign: missing},
		"save_skill":       {least: write, body: `"name":"brew tea","steps":["boil water"]`},
		"list_skills":      {least: read},
		"skill_outcome":    {least: write, id: "skill", foreign: missing, body: `"success":true`},
		"list_entities":    {least: read},
		"list_relations":   {least: read},
		"query_graph":      {least: read, body: `"relation":"employer"`},
		"extract":          {least: write, body: `"messages":[{"role":"user","content":"I live in Bergen."}]`},
		"extract_session":  {least: write, id: "session", foreign: missing},
		"list_extractions": {least: read},
		"list_review":      {least: read},
		"review":           {least: write, id: "waiting", foreign: missing, body: `"decision":"approve"`},
		"instructions":     {least: read, tenant: true},
		"list_jobs":        {least: admin, tenant: true},
		"replay_job":       {least: admin, tenant: true, id: "job", foreign: missing},
		"forget":           {least: write, body: `"selector":{"keyword":"nothing says this"},"reason":"test"`},
		"get_receipt":      {least: read, id: "receipt", foreign: missing},
		"verify_receipt":   {least: read, id: "receipt", foreign: missing},
		"forget_log":       {least: read},
		"verify_audit":     {least: admin, tenant: true},
		"verify_index":     {least: admin, tenant: true},
		"get_stats":        {least: admin, tenant: true},
		"get_settings":     {least: admin, tenant: true},
		"patch_settings":   {least: admin, tenant: true, body: `"budgets":{"day_calls":9}`},
		"create_key":       {least: admin, tenant: true, body: `"access":"read"`},
		"list_keys":        {least: admin, tenant: true},
		"revoke_key":       {least: admin, tenant: true, id: "key", foreign: missing},
		"create_token":     {least: admin, tenant: true, body: `"user_id":"ann"`},
	}
}

// caller is a credential with what it is.
type caller struct {
	bearer string
	access yiku.Access // empty: nobody
	tenant string
	user   string
}

func (r rule) want(c caller, success int) int {
	switch {
	case c.access == "":
		return http.StatusUnauthorized
	case !c.access.Allows(r.least), c.user != "" && (r.tenant || c.user != "ann"):
		return http.StatusForbidden
	case c.tenant != "acme" && r.foreign != 0:
		return r.foreign
	}
	return success
}

// counted is a store that counts what it is asked for.
type counted struct {
	store.Store
	calls atomic.Int64
}

func (c *counted) View(ctx context.Context, fn func(store.Reader) error) error {
	c.calls.Add(1)
	return c.Store.View(ctx, fn)
}

func (c *counted) Update(ctx context.Context, o yiku.Owner, p store.Priority, fn func(store.Tx) error) error {
	c.calls.Add(1)
	return c.Store.Update(ctx, o, p, fn)
}

// world is the whole server but for the network, with a clock of its own.
type world struct {
	t       testing.TB
	dir     string // of the data
	core    *Core
	index   *memindex.Index
	store   *counted
	handler http.Handler
	logs    *bytes.Buffer
	offset  atomic.Int64 // what the clock is ahead
	secrets []string     // every bearer text that was made
	n       int
	user    string // whose things seed makes
}

const localSecret = "LOCALSECRET"

func newWorld(t testing.TB) *world {
	w := &world{logs: &bytes.Buffer{}, user: "ann"}
	return w.open(t, w.logs, nil, func(s store.Store) store.Store { return s })
}

// open starts the world with a writer of its logs, a sink of its events and a
// wrapper of its store.
func (w *world) open(t testing.TB, logs io.Writer, sink observe.Sink, wrap func(store.Store) store.Store) *world {
	t.Helper()
	w.t, w.dir = t, t.TempDir()
	now := func() time.Time { return time.Now().Add(time.Duration(w.offset.Load())) }
	log := slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := sqlite.Open(t.Context(), w.dir, &sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	w.store = &counted{Store: wrap(s)}
	w.index = memindex.New(nil)
	w.core = &Core{store: w.store, Metrics: newMetrics("test", nil, nil, limit.New(limit.Options{}))}
	sinks := observe.Sinks{w.core.Metrics}
	if sink != nil {
		sinks = append(sinks, sink)
	}
	if w.core.Engine, err = engine.New(engine.Options{Store: w.store, Index: w.index, Now: now, Sink: sinks, Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{w.core.Engine.Close, w.index.Close, s.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	o := (&Options{Now: now, Log: log, NewID: func() string { return "req" }}).orDefaults()
	door, err := w.core.door(t.Context(), localSecret, o)
	if err != nil {
		t.Fatal(err)
	}
	w.handler = w.core.handler(door, func(context.Context) error { return nil }, o)
	return w
}

func (w *world) as(tenant string) yiku.Service {
	return w.core.Engine.As(yiku.Principal{Tenant: tenant, Access: admin})
}

func must[T any](w *world) func(T, error) T {
	return func(v T, err error) T {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
		return v
	}
}

func (w *world) key(tenant string, req yiku.CreateKeyRequest) (id string, c caller) {
	w.t.Helper()
	res := must[yiku.CreateKeyResponse](w)(w.as(tenant).CreateKey(w.t.Context(), req))
	w.secrets = append(w.secrets, res.Secret)
	return res.Key.ID, caller{res.Secret, req.Access, tenant, req.UserID}
}

func (w *world) token(user string, access yiku.Access, seconds int) caller {
	w.t.Helper()
	res := must[yiku.CreateTokenResponse](w)(w.as("acme").CreateToken(w.t.Context(), yiku.CreateTokenRequest{UserID: user, Access: access, TTLSeconds: seconds}))
	w.secrets = append(w.secrets, res.Token)
	return caller{res.Token, access, "acme", user}
}

// callers are the credentials of the matrix. The clock goes on, so that some
// of them are over.
func (w *world) callers() map[string]caller {
	w.t.Helper()
	expired := must[yiku.CreateKeyResponse](w)(w.as("acme").CreateKey(w.t.Context(), yiku.CreateKeyRequest{Access: admin, ExpiresAt: time.Now().Add(time.Minute)}))
	oldToken := w.token("ann", write, 60)
	w.offset.Store(int64(2 * time.Minute))
	revokedID, revoked := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	must[yiku.Empty](w)(w.as("acme").RevokeKey(w.t.Context(), yiku.RevokeKeyRequest{ID: revokedID}))
	with := func(tenant string, access yiku.Access, user string) caller {
		_, c := w.key(tenant, yiku.CreateKeyRequest{Access: access, UserID: user})
		return c
	}
	return map[string]caller{
		"none": {}, "garbage": {bearer: "yk_garbage"}, "another scheme": {bearer: "sk-1234"},
		"expired": {bearer: expired.Secret}, "revoked": {bearer: revoked.bearer}, "expired token": {bearer: oldToken.bearer},
		"other tenant": with("globex", admin, ""),
		"read":         with("acme", read, ""), "write": with("acme", write, ""), "admin": with("acme", admin, ""),
		"bound read": with("acme", read, "ann"), "bound write": with("acme", write, "ann"), "bound to another": with("acme", write, "bob"),
		"token": w.token("ann", write, 60), "read token": w.token("ann", read, 60), "token of another": w.token("bob", write, 60),
		"owner of the directory": {credential.ForLocal(localSecret, "acme"), admin, "acme", ""},
	}
}

// seed makes what an operation's path names, anew for each call.
func (w *world) seed(kind string) string {
	w.t.Helper()
	w.n++
	id, s, ctx := fmt.Sprintf("%s-%d", kind, w.n), w.as("acme"), w.t.Context()
	switch kind {
	case "task":
		must[yiku.AppendMessagesResponse](w)(s.AppendMessages(ctx, yiku.AppendMessagesRequest{UserID: w.user, SessionID: "s-" + id, TaskID: id,
			Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("CANARY")}}}))
	case "session":
		must[yiku.AppendMessagesResponse](w)(s.AppendMessages(ctx, yiku.AppendMessagesRequest{UserID: w.user, SessionID: id,
			Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("CANARY 金丝雀")}}}))
	case "memory":
		return must[yiku.SaveMemoryResponse](w)(s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: w.user, Content: "CANARY " + id})).ID
	case "promoted":
		for i := range 3 {
			must[yiku.SaveMemoryResponse](w)(s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: w.user, ProjectID: fmt.Sprint(id, i), Content: "CANARY " + id, Type: yiku.TypePreference}))
		}
		all := must[yiku.Page[yiku.Memory]](w)(s.ListMemories(ctx, yiku.ListMemoriesRequest{UserID: w.user, Type: yiku.TypePreference, Level: yiku.LevelUser}))
		return all.Items[0].ID
	case "skill":
		return must[yiku.SaveMemoryResponse](w)(s.SaveSkill(ctx, yiku.SaveSkillRequest{UserID: w.user, Name: "CANARY " + id, Steps: []string{"金丝雀"}})).ID
	case "waiting":
		for _, confidence := range []float64{1, 0.2} {
			res := must[yiku.SaveMemoryResponse](w)(s.SaveMemory(ctx, yiku.SaveMemoryRequest{UserID: w.user, Content: fmt.Sprint("CANARY ", id, confidence), Subject: id, Attribute: "residence",
				Value: fmt.Sprint("CANARY", confidence), Confidence: &confidence}))
			id = res.ID
			if res.Outcome == yiku.OutcomeQuarantined {
				return id
			}
			id = fmt.Sprintf("waiting-%d", w.n)
		}
	case "job":
		return must[yiku.JobResponse](w)(s.EndSession(ctx, yiku.EndSessionRequest{UserID: w.user, SessionID: w.seed("session"), Reason: yiku.EndOther})).JobID
	case "receipt":
		return must[yiku.ForgetResponse](w)(s.Forget(ctx, yiku.ForgetRequest{UserID: w.user, Selector: yiku.Selector{IDs: []string{w.seed("memory")}}, Reason: "CANARY"})).ReceiptID
	case "snapshot":
		w.seed("memory") // of a user of whom nothing is stored none is kept
		return must[yiku.GetContextResponse](w)(s.GetContext(ctx, yiku.GetContextRequest{UserID: w.user, Query: "CANARY"})).SnapshotID
	case "key":
		id, _ := w.key("acme", yiku.CreateKeyRequest{Access: read, Name: "CANARY"})
		return id
	}
	return id
}

// request makes the request of an operation for a user, with an id in its path.
func (r rule) request(op wire.Operation, user, id string) *http.Request {
	path := strings.NewReplacer("{id}", url.PathEscape(id), "{session_id}", url.PathEscape(id), "{task_id}", url.PathEscape(id)).Replace(op.Path)
	var body io.Reader
	inBody, bodyText := op.Method == http.MethodPost && !r.tenant && user != "", r.body
	if inBody {
		bodyText = strings.TrimSuffix(fmt.Sprintf(`"user_id":%q,%s`, user, r.body), ",")
	} else if !r.tenant && user != "" {
		path += "?user_id=" + url.QueryEscape(user)
	}
	if op.Method != http.MethodGet && op.Method != http.MethodDelete {
		body = strings.NewReader("{" + bodyText + "}")
	}
	req := httptest.NewRequest(op.Method, path, body)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("X-Request-ID", "same")
	return req
}

func (w *world) send(r *http.Request, bearer string) *httptest.ResponseRecorder {
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}

// operations gives every route with its rule.
func operations(t testing.TB) map[string]wire.Operation {
	t.Helper()
	table, all := rules(), map[string]wire.Operation{}
	for _, op := range wire.Operations() {
		all[op.ID] = op
		r, ok := table[op.ID]
		if !ok {
			t.Errorf("%s has no entry in the matrix: say who may run it", op.ID)
			continue
		}
		if op.Access != r.least || (op.Scope == wire.ScopeTenant) != r.tenant {
			t.Errorf("%s: internal/wire says %s of the %s, the matrix something else", op.ID, op.Access, op.Scope)
		}
	}
	for id := range table {
		if _, ok := all[id]; !ok {
			t.Errorf("the matrix has an entry for %s, which is no operation", id)
			delete(table, id)
		}
	}
	return all
}

// TestR22_Matrix runs every operation with every credential on ann's data, and
// asserts the status of each, that no refusal holds anything of hers, and that
// no credential stands in a log.
// Lessons: L75.
func TestR22_Matrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	callers := w.callers()
	cells := 0
	for id, op := range operations(t) {
		r, ok := rules()[id]
		if !ok {
			continue
		}
		for name, c := range callers {
			cells++
			rec := w.send(r.request(op, "ann", w.seed(r.id)), c.bearer)
			if want := r.want(c, op.Status); rec.Code != want {
				t.Errorf("%s with %s: %d, want %d: %.300s", id, name, rec.Code, want, rec.Body)
			}
			if text := rec.Body.String(); rec.Code >= 400 && (strings.Contains(text, "CANARY") || strings.Contains(text, "ann")) {
				t.Errorf("%s with %s: the refusal tells something: %s", id, name, text)
			}
			if c.tenant != "acme" && strings.Contains(rec.Body.String(), "CANARY") {
				t.Errorf("%s with %s gives what is another tenant's", id, name)
			}
			if id == "create_key" || id == "create_token" {
				w.keep(rec)
			} else {
				w.clean(id+" with "+name, rec.Body.String())
			}
		}
	}
	w.clean("the log", w.logs.String())
	if want := len(wire.Operations()) * len(callers); cells != want {
		t.Errorf("%d cells, want %d", cells, want)
	}
	boardtest.Report(t, boardtest.Row{ID: "R22", Part: "matrix", Trials: cells, What: "cells of operation × credential were answered otherwise than the table says", Note: fmt.Sprint(len(callers), " credentials")})
}

// keep notes the secret of an answer.
func (w *world) keep(rec *httptest.ResponseRecorder) {
	var made struct{ Secret, Token string }
	if json.Unmarshal(rec.Body.Bytes(), &made) == nil && made.Secret+made.Token != "" {
		w.secrets = append(w.secrets, made.Secret+made.Token)
	}
}

// clean asserts that a text holds no credential: not whole, nor its secret part.
func (w *world) clean(what, text string) {
	w.t.Helper()
	for _, secret := range append(slices.Clone(w.secrets), "yk_garbage", localSecret) {
		if strings.Contains(text, secret) || (len(secret) > 25 && strings.Contains(text, secret[20:])) {
			w.t.Errorf("%s holds a credential", what)
		}
	}
}

// TestR22_ForeignIsMissing: an id of another tenant, or of another user, is
// answered byte by byte as one that does not exist.
func TestR22_ForeignIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, other := w.key("globex", yiku.CreateKeyRequest{Access: admin})
	_, own := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	table := rules()
	compared := 0
	for id, op := range operations(t) {
		r := table[id]
		if r.foreign == 0 {
			continue
		}
		asks := map[string][2]*httptest.ResponseRecorder{
			"another tenant": {w.send(r.request(op, "ann", w.seed(r.id)), other.bearer), w.send(r.request(op, "ann", "none"), other.bearer)},
		}
		if !r.tenant {
			asks["another user"] = [2]*httptest.ResponseRecorder{w.send(r.request(op, "bob", w.seed(r.id)), own.bearer), w.send(r.request(op, "bob", "none"), own.bearer)}
		}
		for name, got := range asks {
			compared++
			if got[0].Code != missing || got[1].Code != missing {
				t.Errorf("%s, %s: %d and %d", id, name, got[0].Code, got[1].Code)
			}
			if diff := cmp.Diff(got[1].Body.String(), got[0].Body.String()) + cmp.Diff(got[1].Header(), got[0].Header()); diff != "" {
				t.Errorf("%s, %s (-missing +foreign):\n%s", id, name, diff)
			}
		}
	}
	boardtest.Report(t, boardtest.Row{ID: "R22", Part: "foreign", Trials: compared, What: "answers told a foreign id from one that does not exist"})
}

// TestR21_StrangersReachNothing asks every route without a genuine credential:
// the store is not asked for anything, and little memory is taken. It does not
// run beside other tests, which would take memory too.
func TestR21_StrangersReachNothing(t *testing.T) {
	w := newWorld(t)
	w.key("acme", yiku.CreateKeyRequest{Access: admin})
	foreignID, foreign, _ := credential.New([]byte("another store")).NewKey()
	bearers := []string{"", "x", "yk_x", foreign, "yt_e30.e30", "yl_x.dA", "' OR 1=1 --", "yt_" + strings.Repeat("A", 100_000)}
	var requests []*http.Request
	for _, op := range wire.Operations() {
		requests = append(requests, rules()[op.ID].request(op, "ann", "none"))
	}
	for _, path := range []string{"/v1", "/v1/", "/v1/nothing", "/v1/../metrics", "/metrics"} {
		requests = append(requests, httptest.NewRequest(http.MethodGet, path, nil))
	}
	w.send(requests[0], foreign) // the keys are read once
	asked := w.store.calls.Load()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for _, r := range requests {
		for _, bearer := range bearers {
			n++
			if rec := w.send(r, bearer); rec.Code != http.StatusUnauthorized || rec.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s with %.20q: %d", r.Method, r.URL.Path, bearer, rec.Code)
			}
			r.Header.Del("Authorization")
		}
	}
	runtime.ReadMemStats(&after)
	if calls := w.store.calls.Load() - asked; calls != 0 {
		t.Errorf("the store was asked %d times", calls)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(n); each > 64<<10 {
		t.Errorf("%d bytes a request", each)
	}
	if strings.Contains(w.logs.String(), foreignID) {
		t.Error("the log holds a refused key")
	}
	boardtest.Report(t, boardtest.Row{ID: "R21", Part: "routes", Trials: n, What: "requests of strangers were let in or reached the store"})
}

// TestF3_OpenRoutes: what tells nothing is open, metrics are for admins.
func TestF3_OpenRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := func(path, bearer string) int {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "127.0.0.1:7421"
		return w.send(r, bearer).Code
	}
	if got := []int{get("/metrics", ""), get("/readyz", ""), get("/v1/keys", "")}; !slices.Equal(got, []int{200, 200, 200}) {
		t.Errorf("without keys: %v", got)
	}
	foreign := httptest.NewRequest(http.MethodGet, "/v1/keys", nil)
	foreign.Host = "memory.example.org"
	if got := w.send(foreign, "").Code; got != http.StatusForbidden {
		t.Errorf("without keys under another name: %d", got)
	}
	_, boss := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	_, reader := w.key("acme", yiku.CreateKeyRequest{Access: read})
	for path, want := range map[string][3]int{"/metrics": {401, 403, 200}, "/healthz": {200, 200, 200}, "/readyz": {200, 200, 200}, "/openapi.json": {200, 200, 200}, "/v1/keys": {401, 403, 200}} {
		if got := [3]int{get(path, ""), get(path, reader.bearer), get(path, boss.bearer)}; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if got := w.send(foreign, boss.bearer).Code; got != http.StatusOK {
		t.Errorf("with a key under another name: %d", got)
	}
}
