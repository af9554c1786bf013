// Package auth tells who sends a request: it turns the bearer credential in
// its header into a yiku.Principal (F3).
//
// The keys that are valid stand in memory, so that no request without a
// genuine credential reaches the store: what does not have the form of a
// credential is refused by its form, what has it is compared with what is in
// memory. Keys are read again when the store says that they changed, and after
// [MaxAge] in any case; where that fails, nobody is let in on old knowledge.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/store"
)

// MaxAge is how old the knowledge of the keys may be. Changes through the same
// store are seen at once; those of other processes within this time.
const MaxAge = 5 * time.Second

// pageSize is how many keys are read at a time.
const pageSize = 1000

// Options are the settings of an authenticator. The zero value lets nobody in
// without a key.
type Options struct {
	// Keyless is who calls while the store has never had a key; nobody where nil.
	Keyless *yiku.Principal
	// LocalSecret is the secret of the data directory's owner, who may act for
	// every tenant; there is none where it is empty.
	LocalSecret string
	Now         func() time.Time // time.Now where nil
}

// Authenticator tells who calls. It may be used by many goroutines at once.
type Authenticator struct {
	opts    Options
	store   store.Store
	mint    *credential.Mint
	nothing *store.Key // stands in for a key that does not exist
	known   atomic.Pointer[keys]
	loading chan struct{} // holds one token: who has it reads the keys
}

// keys are the valid keys at a time. They do not change.
type keys struct {
	byHash  map[[sha256.Size]byte]*store.Key
	byID    map[string]*store.Key
	any     bool // there is or was a key
	version int64
	at      time.Time
}

// New returns an authenticator that knows the keys of the store. Options may
// be nil.
func New(ctx context.Context, s store.Store, opts *Options) (*Authenticator, error) {
	a := &Authenticator{store: s, mint: credential.New(s.Meta().Secret), nothing: &store.Key{Hash: make([]byte, sha256.Size)}, loading: make(chan struct{}, 1)}
	if opts != nil {
		a.opts = *opts
	}
	if a.opts.Now == nil {
		a.opts.Now = time.Now
	}
	rand.Read(a.nothing.Hash) //nolint:errcheck // it never fails
	a.loading <- struct{}{}
	if _, err := a.current(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// Keyed reports whether the store has or had a key, so that credentials are
// required. Once it has been true it stays so: also where every key is
// revoked, nobody is let in without one.
func (a *Authenticator) Keyed(ctx context.Context) (bool, error) {
	if k := a.known.Load(); k != nil && k.any {
		return true, nil
	}
	k, err := a.current(ctx)
	if err != nil {
		return true, err
	}
	return k.any, nil
}

// openWait bounds the one case in which Open reads the keys.
const openWait = time.Second

// Open reports whether the store has never had a key, as far as is known
// without asking it: it may stand in front of requests that need no store. Only
// after keys were written for the first time does it read them. Where that
// fails, it reports what was known before.
func (a *Authenticator) Open() bool {
	k := a.known.Load()
	if !k.any && k.version != a.store.KeyVersion() {
		ctx, cancel := context.WithTimeout(context.Background(), openWait)
		defer cancel()
		if now, err := a.current(ctx); err == nil {
			k = now
		}
	}
	return !k.any
}

// Authenticate tells who sends a request, of which it reads the header
// Authorization only. It fails with ErrUnauthorized, the same whatever is
// wrong with the credential, and with ErrUnavailable or the context's error
// where the keys could not be read.
func (a *Authenticator) Authenticate(r *http.Request) (yiku.Principal, error) {
	bearer, ok := bearerOf(r.Header)
	if !ok {
		return yiku.Principal{}, yiku.ErrUnauthorized
	}
	return a.Bearer(r.Context(), bearer)
}

// Bearer tells whose a bearer credential is; see Authenticate.
func (a *Authenticator) Bearer(ctx context.Context, bearer string) (yiku.Principal, error) {
	switch credential.KindOf(bearer) {
	case credential.APIKey:
		return a.key(ctx, bearer)
	case credential.UserToken:
		return a.token(ctx, bearer)
	case credential.Local:
		return a.local(bearer)
	}
	return a.nobody(ctx)
}

// bearerOf gives the bearer credential of a header; it is empty where there is
// none, and false where there is more than one header or one that is too long.
func bearerOf(h http.Header) (string, bool) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", true
	}
	const scheme = "bearer "
	value := values[0]
	if len(values) > 1 || len(value) > credential.MaxBytes {
		return "", false
	}
	if len(value) < len(scheme) || !strings.EqualFold(value[:len(scheme)], scheme) {
		return "", true
	}
	return value[len(scheme):], true
}

// nobody is a caller without a credential of ours.
func (a *Authenticator) nobody(ctx context.Context) (yiku.Principal, error) {
	if a.opts.Keyless == nil {
		return yiku.Principal{}, yiku.ErrUnauthorized
	}
	keyed, err := a.Keyed(ctx)
	switch {
	case err != nil:
		return yiku.Principal{}, err
	case keyed:
		return yiku.Principal{}, yiku.ErrUnauthorized
	}
	return *a.opts.Keyless, nil
}

// key is a caller with an API key. It is found by the hash of its id and
// secret together, so that a wrong secret takes the same way as an id that does
// not exist (R30); both are compared too, with a hash that no key has.
func (a *Authenticator) key(ctx context.Context, bearer string) (yiku.Principal, error) {
	id, hash, ok := a.mint.Key(bearer)
	if !ok || len(hash) != sha256.Size {
		return yiku.Principal{}, yiku.ErrUnauthorized
	}
	k, err := a.current(ctx)
	if err != nil {
		return yiku.Principal{}, err
	}
	row, found := k.byHash[[sha256.Size]byte(hash)]
	if !found {
		row = a.nothing
	}
	if subtle.ConstantTimeCompare(row.Hash, hash) != 1 || !found || row.ID != id || !a.valid(row) {
		return yiku.Principal{}, yiku.ErrUnauthorized
	}
	return yiku.Principal{Tenant: row.Tenant, Access: row.Access, User: row.UserID, Key: row.ID}, nil
}

// token is a caller with a token. The key that it was made with must still be
// valid; one that the directory's owner made stands by itself.
func (a *Authenticator) token(ctx context.Context, bearer string) (yiku.Principal, error) {
	t, ok := a.mint.Token(bearer, a.opts.Now())
	if !ok || t.Tenant == "" || t.User == "" || (t.Access != yiku.AccessRead && t.Access != yiku.AccessWrite) {
		return yiku.Principal{}, yiku.ErrUnauthorized
	}
	if t.Key != "" {
		k, err := a.current(ctx)
		if err != nil {
			return yiku.Principal{}, err
		}
		if row, found := k.byID[t.Key]; !found || row.Tenant != t.Tenant || !a.valid(row) {
			return yiku.Principal{}, yiku.ErrUnauthorized
		}
	}
	return yiku.Principal{Tenant: t.Tenant, Access: t.Access, User: t.User, Key: t.Key}, nil
}

// local is the owner of the data directory.
func (a *Authenticator) local(bearer string) (yiku.Principal, error) {
	tenant, ok := credential.LocalTenant(bearer, a.opts.LocalSecret)
	if !ok {
		return yiku.Principal{}, yiku.ErrUnauthorized
	}
	return yiku.Principal{Tenant: tenant, Access: yiku.AccessAdmin}, nil
}

// valid reports whether a key's time is not over. Revoked ones are not kept.
func (a *Authenticator) valid(k *store.Key) bool {
	return k.ExpiresAt.IsZero() || a.opts.Now().Before(k.ExpiresAt)
}

// fresh returns the keys that are known, nil where they must be read again.
func (a *Authenticator) fresh() *keys {
	k := a.known.Load()
	if k == nil || k.version != a.store.KeyVersion() {
		return nil
	}
	if age := a.opts.Now().Sub(k.at); age < 0 || age >= MaxAge {
		return nil
	}
	return k
}

// current returns keys that are not too old. One caller reads them, the others
// wait for it.
func (a *Authenticator) current(ctx context.Context) (*keys, error) {
	if k := a.fresh(); k != nil {
		return k, nil
	}
	select {
	case <-a.loading:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the keys: %w", ctx.Err())
	}
	defer func() { a.loading <- struct{}{} }()
	if k := a.fresh(); k != nil {
		return k, nil
	}
	k, err := a.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	a.known.Store(k)
	return k, nil
}

// read reads the keys. The version is asked for before: what changes in
// between is read again.
func (a *Authenticator) read(ctx context.Context) (*keys, error) {
	k := &keys{byHash: map[[sha256.Size]byte]*store.Key{}, byID: map[string]*store.Key{}, version: a.store.KeyVersion(), at: a.opts.Now()}
	err := a.store.View(ctx, func(r store.Reader) error {
		for after := ""; ; {
			page, err := r.Keys("", after, pageSize)
			if err != nil {
				return err
			}
			for _, row := range page {
				k.any = true
				if row.RevokedAt.IsZero() && a.valid(&row) && len(row.Hash) == sha256.Size {
					k.byHash[[sha256.Size]byte(row.Hash)], k.byID[row.ID] = &row, &row
				}
			}
			if len(page) < pageSize {
				return nil
			}
			after = page[len(page)-1].ID
		}
	})
	return k, err
}
