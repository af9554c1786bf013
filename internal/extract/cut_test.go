package extract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku/internal/extract"
)

// TestC3_WindowsSkipNothing cuts random conversations: every message is new in
// exactly one window, in order, windows are within their size, and a long
// message's pieces are the message.
func TestC3_WindowsSkipNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cut := extract.Cut{Window: rapid.IntRange(4, 60).Draw(t, "window"), Overlap: rapid.IntRange(0, 30).Draw(t, "overlap"), Count: utf8.RuneCountInString}
		texts := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab 好。\n")), 0, 90, -1), 0, 40).Draw(t, "texts")
		next := 0
		for _, s := range cut.Spans(texts) {
			if s.New != next || s.Begin > s.New || s.End <= s.New {
				t.Fatalf("span %+v after %d", s, next)
			}
			next = s.End
			if n := cut.Count(strings.Join(texts[s.New:s.End], "")); n > cut.Window && s.End-s.New > 1 {
				t.Fatalf("%d tokens in a window of %d", n, cut.Window)
			}
			if n := cut.Count(strings.Join(texts[s.Begin:s.New], "")); n > cut.Overlap {
				t.Fatalf("%d tokens of overlap, at most %d", n, cut.Overlap)
			}
		}
		if next != len(texts) {
			t.Fatalf("%d of %d messages", next, len(texts))
		}
		for _, text := range texts {
			pieces := cut.Pieces(text)
			if strings.Join(pieces, "") != text {
				t.Fatalf("pieces of %q: %q", text, pieces)
			}
			for _, p := range pieces {
				if cut.Count(p) > cut.Window || !utf8.ValidString(p) {
					t.Fatalf("piece %q in a window of %d", p, cut.Window)
				}
			}
		}
	})
}
