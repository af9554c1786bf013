package keyring_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/keyring"
	"pgregory.net/rapid"
)

func newKey(t *testing.T, ring *keyring.Ring) keyring.OwnerKey {
	t.Helper()
	key, err := ring.NewOwnerKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestI1_SealOpen: what was sealed opens again, under a key that was stored meanwhile.
func TestI1_SealOpen(t *testing.T) {
	t.Parallel()
	ring := keyring.New(nil)
	key := newKey(t, ring)
	for _, text := range []string{"", "likes tea", "喜欢喝茶", "\x00\xff"} {
		env, err := ring.Seal(key, []byte("place"), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		wrapped, err := ring.Wrap(key, []byte("owner"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := ring.Unwrap(wrapped, []byte("owner"))
		if err != nil {
			t.Fatal(err)
		}
		if !again.Equal(key) {
			t.Error("the key is another after Wrap and Unwrap")
		}
		plain, err := ring.Open(again, []byte("place"), env)
		if err != nil {
			t.Fatal(err)
		}
		if string(plain) != text {
			t.Errorf("opened %d bytes, want %d", len(plain), len(text))
		}
	}
}

// TestI1_Refusals: what cannot be opened says so, and says nothing of the content.
func TestI1_Refusals(t *testing.T) {
	t.Parallel()
	ring := keyring.New(nil)
	key := newKey(t, ring)
	for name, envelope := range map[string][]byte{
		"empty":           nil,
		"unknown version": append([]byte{9}, "secret words"...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ring.Open(key, nil, envelope)
			if !errors.Is(err, yiku.ErrUnavailable) {
				t.Fatalf("Open = %v, want ErrUnavailable", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Error("the error holds content")
			}
			if _, err := ring.Unwrap(envelope, nil); !errors.Is(err, yiku.ErrUnavailable) {
				t.Errorf("Unwrap = %v, want ErrUnavailable", err)
			}
		})
	}
	if _, err := ring.Seal(keyring.OwnerKey{}, nil, nil); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("Seal without a key = %v, want ErrUnavailable", err)
	}
	if _, err := keyring.New(&keyring.Options{Random: strings.NewReader("short")}).NewOwnerKey(); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("NewOwnerKey from a dry source = %v, want ErrUnavailable", err)
	}
}

// TestI1_KeyIsNotPrinted: a key that reaches a log by accident shows nothing.
func TestI1_KeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	key := newKey(t, keyring.New(nil))
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(format, key); got != "OwnerKey" {
			t.Errorf("Sprintf(%q) gives %d characters", format, len(got))
		}
	}
}

// TestI1_Blind: marks are equal for equal texts of one owner and domain, and
// only then; parts do not run into each other.
func TestI1_Blind(t *testing.T) {
	t.Parallel()
	ring := keyring.New(nil)
	key, other := newKey(t, ring), newKey(t, ring)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.StringN(0, 3, -1), 0, 3).Draw(t, "a")
		b := rapid.SliceOfN(rapid.StringN(0, 3, -1), 0, 3).Draw(t, "b")
		same := len(a) == len(b)
		for i := 0; same && i < len(a); i++ {
			same = a[i] == b[i]
		}
		markA, markB := ring.Blind(key, "d", a...), ring.Blind(key, "d", b...)
		if len(markA) != keyring.BlindSize {
			t.Fatalf("a mark has %d bytes", len(markA))
		}
		if bytes.Equal(markA, markB) != same {
			t.Fatalf("equal marks: %v, equal texts: %v", !same, same)
		}
		if bytes.Equal(markA, ring.Blind(key, "e", a...)) || bytes.Equal(markA, ring.Blind(other, "d", a...)) {
			t.Fatal("another domain or owner gives the same mark")
		}
	})
	if bytes.Equal(ring.Blind(key, "d", "ab", "c"), ring.Blind(key, "d", "a", "bc")) {
		t.Error("parts run into each other")
	}
}

func BenchmarkBlind(b *testing.B) {
	ring := keyring.New(nil)
	key, _ := ring.NewOwnerKey()
	for b.Loop() {
		ring.Blind(key, "message", "0197f0c2-1111-7000-8000-000000000001")
	}
}

// TestR7_FlippedBits: an envelope with any bit flipped does not open, nor does
// it open elsewhere, nor under another key; nor does one without a MAC. The
// control: a ring that does not look at MACs opens most of them.
func TestR7_FlippedBits(t *testing.T) {
	t.Parallel()
	ring, blind := keyring.New(nil), keyring.New(&keyring.Options{Unchecked: true})
	key, other := newKey(t, ring), newKey(t, ring)
	for _, text := range []string{"", "likes tea", "喜欢喝茶"} {
		envelope, err := ring.Seal(key, []byte("place"), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		wrapped, err := ring.Wrap(key, []byte("place"))
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for i := range 8 * len(envelope) {
			envelope[i/8] ^= 1 << (i % 8)
			if _, err := ring.Open(key, []byte("place"), envelope); !errors.Is(err, yiku.ErrUnavailable) {
				t.Fatalf("bit %d of %d: Open = %v, want ErrUnavailable", i, 8*len(envelope), err)
			}
			if _, err := blind.Open(key, []byte("place"), envelope); err == nil {
				passed++
			}
			envelope[i/8] ^= 1 << (i % 8)
		}
		if passed < 4*len(envelope) {
			t.Errorf("without a look at the MAC only %d of %d flips pass: the test cannot see what the MAC is for", passed, 8*len(envelope))
		}
		for i := range 8 * len(wrapped) {
			wrapped[i/8] ^= 1 << (i % 8)
			if _, err := ring.Unwrap(wrapped, []byte("place")); !errors.Is(err, yiku.ErrUnavailable) {
				t.Fatalf("bit %d of a wrapped key: Unwrap = %v, want ErrUnavailable", i, err)
			}
			wrapped[i/8] ^= 1 << (i % 8)
		}
		if _, err := ring.Open(key, []byte("elsewhere"), envelope); !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("in another place: Open = %v, want ErrUnavailable", err)
		}
		if _, err := ring.Open(other, []byte("place"), envelope); !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("under another key: Open = %v, want ErrUnavailable", err)
		}
		plain := ring.SealPlain([]byte(text))
		if _, err := ring.Open(key, []byte("place"), plain); !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("without a MAC: Open = %v, want ErrUnavailable", err)
		}
		if got, err := ring.OpenPlain(plain); err != nil || string(got) != text {
			t.Errorf("OpenPlain = %q, %v", got, err)
		}
		if _, err := ring.OpenPlain(envelope); !errors.Is(err, yiku.ErrUnavailable) {
			t.Errorf("OpenPlain of one with a MAC = %v, want ErrUnavailable", err)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	ring := keyring.New(nil)
	key, _ := ring.NewOwnerKey()
	place, text := make([]byte, 200, 2000), make([]byte, 600)
	for b.Loop() {
		_, _ = ring.Seal(key, place, text)
	}
}

func BenchmarkOpen(b *testing.B) {
	ring := keyring.New(nil)
	key, _ := ring.NewOwnerKey()
	place := make([]byte, 200, 2000)
	envelope, _ := ring.Seal(key, place, make([]byte, 600))
	for b.Loop() {
		_, _ = ring.Open(key, place, envelope)
	}
}
