package credential

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
)

// FuzzCredential (R15, F3): whatever text comes as a credential, it is read as
// what its form says or not at all; no text but a signed one is a token, and
// none but that of this run is the directory owner's.
func FuzzCredential(f *testing.F) {
	m := New([]byte("a store's secret"))
	_, key, _ := m.NewKey()
	token, err := m.Sign(Token{Tenant: "acme", User: "小明", Access: yiku.AccessRead, Expires: at(60).Unix()})
	if err != nil {
		f.Fatal(err)
	}
	const secret = "SECRETOFTHISRUN"
	local := ForLocal(secret, "租户 acme")
	for _, s := range []string{key, token, local, "", "yk_", "yt_.", "yl_.", "yt_e30.", key + "A", token[:len(token)-1], token + "=", strings.ToLower(key), "yl_" + secret + ".", "sk-1", "yk_茶", "yt_a\n.b", "yl_" + secret + ".\r", "yk_" + strings.Repeat("A", MaxBytes), "yl_" + secret + ".IA"} {
		f.Add(s)
	}
	form := regexp.MustCompile(`^yk_[A-Z2-7]{16}_[A-Z2-7]{32}$`)
	f.Fuzz(func(t *testing.T, s string) {
		kind := KindOf(s)
		if kind != Unknown && len(s) > MaxBytes {
			t.Fatalf("a text of %d bytes is looked at", len(s))
		}
		id, hash, ok := m.Key(s)
		if ok != form.MatchString(s) || ok && (kind != APIKey || id != s[3:19] || len(hash) != 32) {
			t.Errorf("the key %q: %v, id %q", s, ok, id)
		}
		if got, ok := m.Token(s, at(0)); ok && s != token {
			t.Errorf("%q is taken for a token: %+v", s, got)
		}
		if tenant, ok := LocalTenant(s, secret); ok && (s != ForLocal(secret, tenant) || yiku.CheckID("tenant", tenant) != nil) {
			t.Errorf("%q is taken for the owner, of the tenant %q", s, tenant)
		}
		if _, ok := LocalTenant(s, ""); ok {
			t.Errorf("%q is taken where there is no secret", s)
		}
	})
}

// FuzzTokenRoundTrip: a token says what was signed until it is over, and not a
// byte of it can be changed.
func FuzzTokenRoundTrip(f *testing.F) {
	f.Add("acme", "小明", uint16(5), byte('A'))
	f.Add("租户", "u\"\\", uint16(70), byte('.'))
	f.Add("", "\x00\xff", uint16(0), byte(0))
	m := New([]byte("a store's secret"))
	f.Fuzz(func(t *testing.T, tenant, user string, place uint16, b byte) {
		said := Token{Tenant: strings.ToValidUTF8(tenant, "?"), User: strings.ToValidUTF8(user, "?"), Access: yiku.AccessWrite, Expires: at(60).Unix()}
		text, err := m.Sign(said)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.Token(text, at(59)); !ok || got != said {
			t.Fatalf("%+v came back as %+v, %v", said, got, ok)
		}
		if _, ok := m.Token(text, at(60)); ok {
			t.Error("a token is taken when it is over")
		}
		if _, ok := New([]byte("another secret")).Token(text, at(0)); ok {
			t.Error("a token of another store is taken")
		}
		changed := []byte(text)
		changed[int(place)%len(changed)] = b
		if got, ok := m.Token(string(changed), at(0)); ok && string(changed) != text {
			t.Errorf("byte %d changed, and it says %+v", int(place)%len(changed), got)
		}
	})
}
