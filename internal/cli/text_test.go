package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		to   int
		want []string
	}{
		{"the quick brown fox", 10, []string{"the quick", "brown fox"}},
		{"林夏住在上海，不在杭州。", 12, []string{"林夏住在上", "海，不在杭", "州。"}},
		{"abcdefghijkl", 5, []string{"abcde", "fghij", "kl"}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"", 5, []string{""}},
	} {
		if diff := cmp.Diff(c.want, wrap(c.text, c.to)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

// Wrapping keeps every character but blanks, and every line fits.
func TestWrapFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab c。，上海\n忆库x1-")), 0, 60, -1).Draw(t, "text")
		to := rapid.IntRange(2, 30).Draw(t, "to")
		lines := wrap(text, to)
		for _, line := range lines {
			if width(line) > to {
				t.Fatalf("%q takes %d columns of %d", line, width(line), to)
			}
		}
		dense := strings.NewReplacer(" ", "", "\n", "")
		if got, want := dense.Replace(strings.Join(lines, "")), dense.Replace(text); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestCutAndPad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab 上海。"))).Draw(t, "text")
		to := rapid.IntRange(1, 20).Draw(t, "to")
		if got := cut(text, to); width(got) > to {
			t.Fatalf("%q is too wide", got)
		}
		if got := pad(cut(text, to), to); width(got) != to {
			t.Fatalf("%q is not padded", got)
		}
	})
}

func TestClean(t *testing.T) {
	t.Parallel()
	if got, want := clean("a\x1b[31m\u202eb\u200b\n忆\t"), "a\\u001b[31m\\u202eb\\u200b\n忆\t"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 72000000000: "72,000,000,000"} {
		if got := thousands(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for x, want := range map[float64]string{10800: "10,800", 0.5: "0.50", 52.2: "52.20", 1234.6: "1,235", -5: "-5", 0: "0"} {
		if got := money(x); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestJSONHasLists(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := writeJSON(&out, yiku.SearchMemoryResponse{Items: []yiku.SearchItem{{Explain: &yiku.Explain{Formula: "<"}}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"degraded": []`, `"arms": {}`, `"formula": "<"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "terms") {
		t.Error("a list that may be left out is shown")
	}
}
