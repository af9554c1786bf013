package lang

import (
	"testing"
	"unicode"
)

// TestInvisible: no format or control character passes as visible, and no
// letter, digit or blank as invisible.
func TestInvisible(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		switch {
		case unicode.IsSpace(r):
			if Invisible(r) {
				t.Errorf("the blank %U is taken for invisible", r)
			}
		case unicode.In(r, unicode.Cf, unicode.Cc):
			if !Invisible(r) {
				t.Errorf("the control %U is taken for visible", r)
			}
		case unicode.In(r, unicode.Han, unicode.Latin, unicode.Nd):
			if Invisible(r) {
				t.Errorf("the letter or digit %U is taken for invisible", r)
			}
		}
	}
}

// TestComparable: what the fast path leaves alone gives the same terms.
func TestComparable(t *testing.T) {
	t.Parallel()
	a := NewAnalyzer(nil)
	for _, text := range []string{"我们（上周）在“上海”：讨论，计划！好？", "Ada said “yes” – 5月18日，见《茶经》、【第3版】……"} {
		slow := scanner{a: a, mode: withText}
		slow.scan(normal(text))
		fast := a.Terms(text)
		if len(fast) != len(slow.terms) {
			t.Fatalf("%q: %d terms on the fast path, %d on the slow one", text, len(fast), len(slow.terms))
		}
		for i := range fast {
			if fast[i] != slow.terms[i] {
				t.Errorf("%q: term %d is %+v, want %+v", text, i, fast[i], slow.terms[i])
			}
		}
	}
}
