package credential

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
)

// at is the time of the tests.
func at(seconds int64) time.Time { return time.Unix(1_800_000_000+seconds, 0) }

func TestF3_KeyForm(t *testing.T) {
	t.Parallel()
	m, other := New([]byte("secret of a store")), New([]byte("secret of another"))
	form := regexp.MustCompile(`^yk_[A-Z2-7]{16}_[A-Z2-7]{32}$`)
	seen := map[string]bool{}
	for range 100 {
		id, bearer, hash := m.NewKey()
		if !form.MatchString(bearer) || seen[id] || len(hash) != 32 || bytes.Contains(hash, []byte(bearer[20:])) {
			t.Fatalf("a bad key; id %s", id)
		}
		seen[id] = true
		if got, again, ok := m.Key(bearer); !ok || got != id || !bytes.Equal(again, hash) {
			t.Fatal("a key does not read back")
		}
		if _, foreign, _ := other.Key(bearer); bytes.Equal(foreign, hash) {
			t.Fatal("two stores give one hash")
		}
		_, changed, ok := m.Key(bearer[:len(bearer)-1] + string("AB"[strings.Count(bearer[51:], "A")]))
		if !ok || bytes.Equal(changed, hash) {
			t.Fatal("another secret gives the same hash")
		}
	}
	_, good, _ := m.NewKey()
	for _, bad := range []string{"", "yk_", good[1:], good + "A", good[:51], strings.ToLower(good), good[:19] + "-" + good[20:],
		good[:30] + "\x00" + good[31:], good[:30] + "1" + good[31:], strings.Replace(good, "yk_", "yt_", 1)} {
		if _, _, ok := m.Key(bad); ok {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

func TestF3_Tokens(t *testing.T) {
	t.Parallel()
	m, other := New([]byte("one")), New([]byte("two"))
	want := Token{Tenant: "租户", User: "王小明", Access: yiku.AccessRead, Key: "ID", Expires: at(60).Unix()}
	text, err := m.Sign(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := m.Token(text, at(59)); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	for name, ok := range map[string]bool{
		"over":          second(m.Token(text, at(60))),
		"another store": second(other.Token(text, at(0))),
		"cut":           second(m.Token(text[:len(text)-1], at(0))),
		"no signature":  second(m.Token(text[:strings.IndexByte(text, '.')+1], at(0))),
		"no point":      second(m.Token(strings.ReplaceAll(text, ".", ""), at(0))),
		"newline":       second(m.Token(text+"\n", at(0))),
		"another body":  second(m.Token(tokenPrefix+encode([]byte(`{"t":"x"}`))+text[strings.IndexByte(text, '.'):], at(0))),
		"a key's hash":  second(m.Token(tokenPrefix+encode([]byte("{}"))+"."+encode(mac(m.keys, "{}")), at(0))),
	} {
		if ok {
			t.Errorf("%s: taken", name)
		}
	}
	long := strings.Repeat("𠀀", yiku.MaxIDRunes)
	if text, err := m.Sign(Token{Tenant: long, User: long, Access: yiku.AccessWrite, Key: strings.Repeat("A", idSize), Expires: 1 << 40}); err != nil || len(text) > MaxBytes {
		t.Errorf("the longest token has %d bytes, %v", len(text), err)
	}
}

func second[T any](_ T, ok bool) bool { return ok }

// TestF3_TokenFlips: no byte of a token can be another one.
func TestF3_TokenFlips(t *testing.T) {
	t.Parallel()
	m := New([]byte("one"))
	text, err := m.Sign(Token{Tenant: "t", User: "u", Access: yiku.AccessRead, Expires: at(60).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(text)-1).Draw(t, "i")
		b := rapid.Byte().Draw(t, "b")
		forged := text[:i] + string([]byte{b}) + text[i+1:]
		if _, ok := m.Token(forged, at(0)); ok && forged != text {
			t.Fatalf("byte %d can be %q", i, b)
		}
	})
}

func TestF3_Local(t *testing.T) {
	t.Parallel()
	secret := NewLocalSecret()
	good := ForLocal(secret, "租户")
	if tenant, ok := LocalTenant(good, secret); !ok || tenant != "租户" {
		t.Errorf("%q, %v", tenant, ok)
	}
	for _, bad := range []string{"", "yl_", "yl_.", ForLocal("", "t"), ForLocal(secret[1:], "t"), ForLocal(secret, ""), ForLocal(secret, "a\x00b"), good + "=", strings.Replace(good, "yl_", "yk_", 1)} {
		if _, ok := LocalTenant(bad, secret); ok {
			t.Errorf("%q is taken", bad)
		}
	}
	if _, ok := LocalTenant(ForLocal("", "t"), ""); ok {
		t.Error("no secret is a secret")
	}
	for text, want := range map[string]Kind{good: Local, "yk_": APIKey, "yt_": UserToken, "sk-x": Unknown, "": Unknown, "yk_" + strings.Repeat("A", MaxBytes): Unknown} {
		if KindOf(text) != want {
			t.Errorf("%.10q is of kind %d", text, KindOf(text))
		}
	}
}
