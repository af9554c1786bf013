package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/store"
)

// world is an authenticator over keys in memory, with a clock that stands.
type world struct {
	store.Store // nil: nothing else may be called
	store.Reader
	t     testing.TB
	auth  *Authenticator
	mint  *credential.Mint
	local string

	mu      sync.Mutex
	now     time.Time
	keys    []store.Key
	version int64
	views   int
	err     error
}

func (w *world) Meta() store.Meta { return store.Meta{Secret: []byte("a store's secret")} }

func (w *world) KeyVersion() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

func (w *world) View(_ context.Context, fn func(store.Reader) error) error {
	w.mu.Lock()
	w.views++
	err := w.err
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return fn(w)
}

func (w *world) Keys(tenant, after string, limit int) ([]store.Key, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	from := 1 + slices.IndexFunc(w.keys, func(k store.Key) bool { return k.ID == after })
	if tenant != "" || (after != "" && from == 0) {
		return nil, yiku.ErrNotFound
	}
	return slices.Clone(w.keys[from:min(len(w.keys), from+limit)]), nil
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, now: time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC), local: credential.NewLocalSecret()}
	w.mint = credential.New(w.Meta().Secret)
	return w
}

func (w *world) start() *world {
	w.t.Helper()
	var err error
	w.auth, err = New(context.Background(), w, &Options{
		Keyless: &yiku.Principal{Tenant: "default", Access: yiku.AccessAdmin}, LocalSecret: w.local,
		Now: func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.views = 0
	return w
}

// add adds a key and returns its bearer text.
func (w *world) add(tenant string, access yiku.Access, change func(*store.Key)) string {
	id, bearer, hash := w.mint.NewKey()
	k := store.Key{Tenant: tenant, Hash: hash, Key: yiku.Key{ID: id, Access: access, CreatedAt: w.now}}
	if change != nil {
		change(&k)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys = append(w.keys, k)
	return bearer
}

func (w *world) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/v1/memories", nil)
	for _, h := range headers {
		r.Header.Add("Authorization", h)
	}
	return r
}

// ask authenticates a bearer text; nil where it is unauthorized.
func (w *world) ask(bearer string) *yiku.Principal {
	w.t.Helper()
	p, err := w.auth.Authenticate(request("Bearer " + bearer))
	switch {
	case errors.Is(err, yiku.ErrUnauthorized):
		return nil
	case err != nil:
		w.t.Fatal(err)
	}
	return &p
}

func (w *world) sign(t credential.Token) string {
	w.t.Helper()
	text, err := w.mint.Sign(t)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func TestF3_Credentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.add("acme", yiku.AccessAdmin, nil)
	bound := w.add("acme", yiku.AccessWrite, func(k *store.Key) { k.UserID = "王小明" })
	expiring := w.add("acme", yiku.AccessRead, func(k *store.Key) { k.ExpiresAt = w.now.Add(time.Second) })
	expired := w.add("acme", yiku.AccessRead, func(k *store.Key) { k.ExpiresAt = w.now })
	revoked := w.add("acme", yiku.AccessRead, func(k *store.Key) { k.RevokedAt = w.now })
	other := w.add("globex", yiku.AccessRead, nil)
	w.start()
	id := func(bearer string) string { return bearer[3:19] }
	token := credential.Token{Tenant: "acme", User: "bob", Access: yiku.AccessRead, Key: id(admin), Expires: w.now.Unix() + 60}
	with := func(change func(*credential.Token)) string {
		t := token
		change(&t)
		return w.sign(t)
	}
	unknownID, unknown, _ := w.mint.NewKey()
	for name, c := range map[string]struct {
		bearer string
		want   *yiku.Principal
	}{
		"admin":                  {admin, &yiku.Principal{Tenant: "acme", Access: yiku.AccessAdmin, Key: id(admin)}},
		"bound":                  {bound, &yiku.Principal{Tenant: "acme", Access: yiku.AccessWrite, User: "王小明", Key: id(bound)}},
		"still valid":            {expiring, &yiku.Principal{Tenant: "acme", Access: yiku.AccessRead, Key: id(expiring)}},
		"other tenant":           {other, &yiku.Principal{Tenant: "globex", Access: yiku.AccessRead, Key: id(other)}},
		"expired":                {expired, nil},
		"revoked":                {revoked, nil},
		"unknown":                {unknown, nil},
		"id with another secret": {admin[:20] + other[20:], nil},
		"none":                   {"", nil},
		"token":                  {with(func(*credential.Token) {}), &yiku.Principal{Tenant: "acme", Access: yiku.AccessRead, User: "bob", Key: id(admin)}},
		"token of the owner":     {with(func(t *credential.Token) { t.Key = "" }), &yiku.Principal{Tenant: "acme", Access: yiku.AccessRead, User: "bob"}},
		"token over":             {with(func(t *credential.Token) { t.Expires = w.now.Unix() }), nil},
		"token of a revoked key": {with(func(t *credential.Token) { t.Key = id(revoked) }), nil},
		"token of an old key":    {with(func(t *credential.Token) { t.Key = id(expired) }), nil},
		"token of no key":        {with(func(t *credential.Token) { t.Key = unknownID }), nil},
		"token across tenants":   {with(func(t *credential.Token) { t.Key = id(other) }), nil},
		"token of an admin":      {with(func(t *credential.Token) { t.Access = yiku.AccessAdmin }), nil},
		"token of nobody":        {with(func(t *credential.Token) { t.User = "" }), nil},
		"local":                  {credential.ForLocal(w.local, "租户"), &yiku.Principal{Tenant: "租户", Access: yiku.AccessAdmin}},
		"local of another run":   {credential.ForLocal(credential.NewLocalSecret(), "acme"), nil},
	} {
		if diff := cmp.Diff(c.want, w.ask(c.bearer)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if w.views != 0 {
		t.Errorf("the store was asked %d times", w.views)
	}
	w.change(func() { w.now = w.now.Add(time.Second) })
	if w.ask(expiring) != nil {
		t.Error("a key is valid after its time")
	}
	if w.ask(with(func(t *credential.Token) { t.Key = id(expiring) })) != nil {
		t.Error("a token is valid after its key's time")
	}
	if w.views != 0 {
		t.Error("the keys were read again: this says nothing of keys that end between two readings")
	}
}

// TestF3_KeylessIsAChoice: a store without keys lets nobody in where the
// options name nobody, and where they do, not with a credential that is too
// long to be looked at.
func TestF3_KeylessIsAChoice(t *testing.T) {
	t.Parallel()
	closed, err := New(t.Context(), newWorld(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := closed.Authenticate(request()); !errors.Is(err, yiku.ErrUnauthorized) {
		t.Errorf("let in as %+v, %v", p, err)
	}
	w := newWorld(t).start()
	if w.ask("x") == nil {
		t.Error("the operator of a store without keys is not let in")
	}
	if p := w.ask(strings.Repeat("x", credential.MaxBytes)); p != nil {
		t.Errorf("a credential that is too long was let in as %+v", p)
	}
}

// TestR21_HostileHeaders: whatever stands in the header, it is refused alike,
// without a look at the store.
func TestR21_HostileHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := w.add("acme", yiku.AccessAdmin, nil)
	w.start()
	headers := map[string][]string{
		"none": nil, "empty": {""}, "scheme only": {"Bearer"}, "blank": {"Bearer "}, "basic": {"Basic " + good}, "no scheme": {good},
		"twice": {"Bearer " + good, "Bearer " + good}, "two blanks": {"Bearer  " + good}, "tab": {"Bearer\t" + good}, "a list": {"Bearer " + good + ", Bearer x"},
		"1 MB": {"Bearer yk_" + strings.Repeat("A", 1<<20)}, "1 MB token": {"Bearer yt_" + strings.Repeat("A", 1<<20)}, "8 KB token": {"Bearer yt_" + strings.Repeat("A.", 4000)},
		"cut": {"Bearer " + good[:51]}, "long": {"Bearer " + good + "A"}, "lower": {"Bearer " + strings.ToLower(good)},
	}
	for i, text := range []string{"' OR '1'='1", "'; DROP TABLE api_keys; --", "\x00", "\xff\xfe\xc0\x80", "%s%n", "${jndi:ldap://x}", "../../etc/passwd", "密钥", "\r\nX-Admin: 1", "null", "[]", "{}"} {
		headers[fmt.Sprint("text ", i)] = []string{"Bearer " + text}
		headers[fmt.Sprint("key ", i)] = []string{"Bearer yk_" + text + "_" + text}
		headers[fmt.Sprint("in a key ", i)] = []string{"Bearer " + good[:20] + text + good[min(len(good), 20+len(text)):]}
		headers[fmt.Sprint("token ", i)] = []string{"Bearer yt_" + text + "." + text}
		headers[fmt.Sprint("local ", i)] = []string{"Bearer yl_" + text + "." + text}
	}
	for name, values := range headers {
		r := request()
		if values != nil {
			r.Header["Authorization"] = values
		}
		p, err := w.auth.Authenticate(r)
		if !errors.Is(err, yiku.ErrUnauthorized) || err.Error() != yiku.ErrUnauthorized.Error() || p != (yiku.Principal{}) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if w.views != 0 {
		t.Errorf("the store was asked %d times", w.views)
	}
	if p, err := w.auth.Authenticate(request("bEARER " + good)); err != nil || p.Tenant != "acme" {
		t.Errorf("the scheme is not case-insensitive: %v", err)
	}
	boardtest.Report(t, boardtest.Row{ID: "R21", Part: "headers", Trials: len(headers), What: "hostile headers were let in or reached the store"})
}

// TestF3_Reload: what changes through the store is seen at once, what another
// process changed within five seconds, and where the keys cannot be read
// nobody is let in.
func TestF3_Reload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.add("acme", yiku.AccessAdmin, nil)
	w.start()
	second := w.add("acme", yiku.AccessRead, nil)
	if w.ask(second) != nil {
		t.Error("seen before anything said so")
	}
	w.change(func() { w.version++ })
	if w.ask(second) == nil {
		t.Error("a new key is not seen at once")
	}
	w.change(func() { w.keys[1].RevokedAt, w.version = w.now, w.version+1 })
	if w.ask(second) != nil || w.ask(first) == nil {
		t.Error("a revoked key is let in, or the other is not")
	}
	// Another process revokes: the version stays.
	w.change(func() { w.keys[0].RevokedAt, w.now = w.now, w.now.Add(MaxAge-time.Millisecond) })
	if w.ask(first) == nil {
		t.Error("read again too early")
	}
	w.change(func() { w.now = w.now.Add(time.Millisecond) })
	if w.ask(first) != nil {
		t.Error("let in five seconds after it was revoked")
	}
	views := w.views
	for range 100 {
		w.ask(first)
		w.ask("")
	}
	if w.views != views {
		t.Errorf("%d reads for strangers", w.views-views)
	}
	w.change(func() { w.err, w.now = yiku.Errorf(yiku.ErrUnavailable, "no disk"), w.now.Add(MaxAge) })
	if p, err := w.auth.Authenticate(request("Bearer " + second)); !errors.Is(err, yiku.ErrUnavailable) || p != (yiku.Principal{}) {
		t.Errorf("without the store: %+v, %v", p, err)
	}
	if _, err := w.auth.Authenticate(request()); !errors.Is(err, yiku.ErrUnauthorized) {
		t.Errorf("without the store and without a key: %v", err)
	}
}

// TestF3_Keyless: until there is a key everyone is the operator, but for a
// credential that claims to be one; after that nobody is, whatever becomes of
// the keys.
func TestF3_Keyless(t *testing.T) {
	t.Parallel()
	w := newWorld(t).start()
	_, unknown, _ := w.mint.NewKey()
	keyed := func() bool {
		is, err := w.auth.Keyed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if p := w.ask(""); p == nil || p.Tenant != "default" || p.Access != yiku.AccessAdmin || w.ask("sk-other") == nil || keyed() {
		t.Errorf("keyless: %+v", p)
	}
	if w.ask(unknown) != nil {
		t.Error("an unknown key is the operator")
	}
	token := w.sign(credential.Token{Tenant: "default", User: "bob", Access: yiku.AccessRead, Expires: w.now.Unix() + 9})
	if p := w.ask(token); p == nil || p.User != "bob" {
		t.Errorf("a token: %+v", p)
	}
	if p := w.ask(credential.ForLocal(w.local, "acme")); p == nil || p.Tenant != "acme" {
		t.Errorf("local: %+v", p)
	}
	w.change(func() { w.views, w.now, w.err = 0, w.now.Add(MaxAge), yiku.ErrUnavailable })
	if !w.auth.Open() || w.views != 0 {
		t.Errorf("open: the store was asked %d times", w.views)
	}
	if _, err := w.auth.Authenticate(request()); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("keyless without the store: %v", err)
	}
	key := w.add("acme", yiku.AccessAdmin, nil)
	w.change(func() { w.version++ })
	if !w.auth.Open() {
		t.Error("closed without knowing of a key")
	}
	w.change(func() { w.err = nil })
	if w.auth.Open() {
		t.Error("open with a key")
	}
	if w.ask("") != nil || w.ask("sk-other") != nil || w.ask(key) == nil || !keyed() {
		t.Error("still open with a key")
	}
	w.change(func() { w.keys[0].RevokedAt, w.version = w.now, w.version+1 })
	if w.ask("") != nil || w.ask(key) != nil || !keyed() {
		t.Error("open again without keys")
	}
}

// TestF3_ManyKeys: keys beyond one page are known, and many callers at once
// read them once.
func TestF3_ManyKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t).start()
	var bearers []string
	for range 2*pageSize + 1 {
		bearers = append(bearers, w.add("acme", yiku.AccessRead, nil))
	}
	w.change(func() { w.version++ })
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if w.ask(bearers[len(bearers)-1-i]) == nil {
				t.Error("a key is not known")
			}
		})
	}
	all.Wait()
	if w.views != 1 {
		t.Errorf("read %d times", w.views)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	<-w.auth.loading
	w.change(func() { w.version++ })
	if _, err := w.auth.Authenticate(request("Bearer " + bearers[0]).WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: %v", err)
	}
	w.auth.loading <- struct{}{}
}

// BenchmarkR30_Authenticate compares a hit with misses. Whether their times
// tell them apart is TestR30_Timing's to say (internal/app).
func BenchmarkR30_Authenticate(b *testing.B) {
	w := newWorld(b)
	var good string
	for range 1000 {
		good = w.add("acme", yiku.AccessRead, nil)
	}
	w.start()
	w.auth.opts.Now = func() time.Time { return w.now }
	_, unknown, _ := w.mint.NewKey()
	for _, c := range []struct{ name, bearer string }{{"hit", good}, {"unknown_id", unknown}, {"wrong_secret", good[:20] + unknown[20:]}, {"none", ""}} {
		b.Run(c.name, func(b *testing.B) {
			r := request("Bearer " + c.bearer)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = w.auth.Authenticate(r)
			}
		})
	}
}
