// Package credential is the form of credentials: API keys, tokens of end
// users, and the secret of a running server for the owner of its directory
// (F3). It makes them and tells whether one is genuine; who may do what with
// them is not decided here.
//
//	yk_ID_SECRET       an API key: 16 and 32 characters of base32
//	yt_PAYLOAD.MAC     a token: base64url of what it says and of its HMAC
//	yl_SECRET.TENANT   for the owner of the data directory: base64url of a tenant
//
// The prefixes let scanners find credentials where they do not belong:
// yk_[A-Z2-7]{16}_[A-Z2-7]{32}.
package credential

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

// MaxBytes is the longest credential that is looked at. The longest token, of
// a tenant and a user with 256 characters of 4 bytes, is well below.
const MaxBytes = 8 << 10

const (
	keyPrefix   = "yk_"
	tokenPrefix = "yt_"
	localPrefix = "yl_"

	idSize     = 16 // characters of base32, 80 bits: unique, no secret
	secretSize = 32 // characters of base32, 160 bits
)

// Kind is what a text claims to be.
type Kind int

// The kinds.
const (
	Unknown Kind = iota
	APIKey
	UserToken
	Local
)

// KindOf tells what a text claims to be, by its prefix.
func KindOf(s string) Kind {
	switch {
	case len(s) > MaxBytes:
		return Unknown
	case strings.HasPrefix(s, keyPrefix):
		return APIKey
	case strings.HasPrefix(s, tokenPrefix):
		return UserToken
	case strings.HasPrefix(s, localPrefix):
		return Local
	}
	return Unknown
}

// Mint makes and checks the credentials of one store. It may be used by many
// goroutines at once.
type Mint struct {
	keys   []byte // HMAC keys, derived from the store's secret
	tokens []byte
}

// New returns the mint of the store with that secret (store.Meta.Secret).
// Each use has a key of its own: HMAC-SHA256 (RFC 2104) of its name under the
// secret.
func New(secret []byte) *Mint {
	return &Mint{keys: mac(secret, "yiku.credential.key"), tokens: mac(secret, "yiku.credential.token")}
}

// NewKey makes an API key: its id, the text that its user sends, and the hash
// that is stored. The secret has 160 random bits.
func (m *Mint) NewKey() (id, bearer string, hash []byte) {
	id = rand.Text()[:idSize]
	secret := (rand.Text() + rand.Text())[:secretSize]
	return id, keyPrefix + id + "_" + secret, m.hash(id, secret)
}

// Key reads an API key: its id, and the hash that a genuine key with this id
// has. It is false where the text is not of the form. Its work does not depend
// on whether such a key exists.
func (m *Mint) Key(bearer string) (id string, hash []byte, ok bool) {
	rest, ok := strings.CutPrefix(bearer, keyPrefix)
	if !ok || len(rest) != idSize+1+secretSize || rest[idSize] != '_' {
		return "", nil, false
	}
	id, secret := rest[:idSize], rest[idSize+1:]
	if !isBase32(id) || !isBase32(secret) {
		return "", nil, false
	}
	return id, m.hash(id, secret), true
}

// hash is HMAC-SHA256 over id and secret. A stored hash is worth nothing
// without the store's secret, and moved to another key's row it fits no key.
func (m *Mint) hash(id, secret string) []byte { return mac(m.keys, id+"_"+secret) }

// Token is what a token says. Its JSON is signed with it.
type Token struct {
	Tenant  string      `json:"t"`
	User    string      `json:"u"`
	Access  yiku.Access `json:"a"`
	Key     string      `json:"k,omitempty"` // the id of the API key that it was made with
	Expires int64       `json:"e"`           // seconds since 1970; from then on it is refused
}

// Sign writes a token.
func (m *Mint) Sign(t Token) (string, error) {
	payload, err := json.Marshal(t)
	if err != nil {
		return "", yiku.Errorf(yiku.ErrInvalid, "a token cannot be written")
	}
	return tokenPrefix + encode(payload) + "." + encode(mac(m.tokens, string(payload))), nil
}

// Token reads a token. It is false where the text is not of the form, was not
// signed by this mint, or is over at now. Nothing of the payload is looked at
// before the signature holds.
func (m *Mint) Token(bearer string, now time.Time) (Token, bool) {
	rest, ok := strings.CutPrefix(bearer, tokenPrefix)
	body, signature, found := strings.Cut(rest, ".")
	if !ok || !found {
		return Token{}, false
	}
	payload, ok1 := decode(body)
	given, ok2 := decode(signature)
	if !hmac.Equal(given, mac(m.tokens, string(payload))) || !ok1 || !ok2 {
		return Token{}, false
	}
	var t Token
	if err := json.Unmarshal(payload, &t); err != nil {
		return Token{}, false
	}
	return t, now.Unix() < t.Expires
}

// NewLocalSecret makes the secret that a running server leaves in its data
// directory: whoever can read it there owns the data. It has 260 random bits.
func NewLocalSecret() string { return rand.Text() + rand.Text() }

// ForLocal writes the credential of the directory's owner who acts for a tenant.
func ForLocal(secret, tenant string) string {
	return localPrefix + secret + "." + encode([]byte(tenant))
}

// LocalTenant reads a credential that [ForLocal] wrote with the same secret:
// the tenant that its owner acts for.
func LocalTenant(bearer, secret string) (tenant string, ok bool) {
	rest, ok := strings.CutPrefix(bearer, localPrefix)
	given, name, found := strings.Cut(rest, ".")
	if !same(given, secret) || !ok || !found || secret == "" {
		return "", false
	}
	raw, ok := decode(name)
	if !ok || yiku.CheckID("tenant", string(raw)) != nil {
		return "", false
	}
	return string(raw), true
}

// same compares two texts in a time that depends on neither.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func isBase32(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decode is strict: one text for one value.
func decode(s string) ([]byte, bool) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return b, err == nil
}
