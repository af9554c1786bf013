package compose_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku/internal/compose"
)

// FuzzVisible (R15, R35): cleaning takes characters out and adds, changes and
// moves none; no format or control character but joiners after something
// visible stays; and what is clean stays as it is.
func FuzzVisible(f *testing.F) {
	for _, s := range attacks {
		f.Add(s)
	}
	for _, s := range []string{"", "茶 tea", "a\u200b\u202e茶\ufeff", "👨\u200d👩\u200d👧", "می\u200cخواهم", "\u200d\u200d\ufe0f", "☺\ufe0f\ufe0f", "\U000e0041\U000e007f", "\u2028\u2029\u0085", "a\x00b\x7f", "\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		got := compose.Visible(s)
		if !utf8.ValidString(got) || compose.Visible(got) != got {
			t.Fatalf("%q gives %q, and that gives %q", s, got, compose.Visible(got))
		}
		rest := s
		before := ' '
		for _, r := range got {
			i := strings.IndexRune(rest, r)
			if i < 0 {
				t.Fatalf("%q gives %q: %U was not there", s, got, r)
			}
			rest = rest[i+utf8.RuneLen(r):]
			joiner := strings.ContainsRune("\u200c\u200d\ufe0e\ufe0f", r)
			if joiner && (unicode.IsSpace(before) || strings.ContainsRune("\u200c\u200d\ufe0e\ufe0f", before)) || !joiner && unicode.Is(unicode.Cf, r) {
				t.Errorf("%q gives %q: %U stays", s, got, r)
			}
			before = r
		}
		for _, r := range s {
			if unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !strings.ContainsRune(got, r) && !blankLetter(r) {
				t.Errorf("%q gives %q: %U is gone", s, got, r)
			}
		}
	})
}

// blankLetter reports the letters that have no ink.
func blankLetter(r rune) bool { return strings.ContainsRune("\u115f\u1160\u3164\uffa0", r) }
