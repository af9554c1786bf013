package sqlite

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestPackUnpack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.String()).Draw(t, "parts")
		list := rapid.SliceOf(rapid.String()).Draw(t, "list")
		u := unpack(pack(append(parts, packList(list))...))
		for i, want := range parts {
			if got := u.next(); got != want {
				t.Fatalf("part %d is %q, want %q", i, got, want)
			}
		}
		if diff := cmp.Diff(list, u.list(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		if u.next() != "" || u.err() != nil {
			t.Fatal("there is more than was packed")
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack("a", "喜欢", ""))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		u := unpack(b)
		for range len(b) + 1 {
			u.next()
		}
		if u.rest != "" {
			t.Error("input is left although more parts were read than it has bytes")
		}
		unpack(b).list()
	})
}

// TestNumbersAreExact: a float64 comes back as one, and a number that no
// float64 holds keeps its digits.
func TestNumbersAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		if math.IsInf(f, 0) || math.IsNaN(f) || (f == 0 && math.Signbit(f)) {
			t.Skip("JSON has no such number")
		}
		text, err := toJSON(map[string]any{"n": f}, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := object(text)
		if err != nil || got["n"] != any(f) {
			t.Fatalf("%v came back as %v, %v", f, got["n"], err)
		}
	})
	for _, digits := range []string{"12345678901234567890", "9007199254740993", "-9007199254740993", "0.12345678901234567890123", "1e400"} {
		got, err := object(`{"n":{"m":[` + digits + `]}}`)
		want := map[string]any{"n": map[string]any{"m": []any{json.Number(digits)}}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", digits, err, diff)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	if !instant(noTime).IsZero() || instant(noTime) != (time.Time{}) || (time.Time{}).UnixMicro() != noTime {
		t.Error("noTime is not the zero time")
	}
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(noTime+1, 253402300799999999).Draw(t, "microseconds")
		at := time.UnixMicro(us).In(time.FixedZone("x", 3600)).Add(999)
		micro(&at)
		if at != instant(us) {
			t.Fatalf("%v is not %v", at, instant(us))
		}
	})
}
