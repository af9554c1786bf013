package lang

// stem takes the endings off an English word, in place, and returns what is
// left, so that words of one family meet: the steps of M. F. Porter, An
// algorithm for suffix stripping, Program 14 (3), 1980. The word is lower-case
// ASCII letters.
func stem(w []byte) []byte {
	if len(w) < 3 {
		return w
	}
	w = stemPlural(w)
	w = stemPast(w)
	if n := len(w); w[n-1] == 'y' && hasVowel(w[:n-1]) {
		w[n-1] = 'i'
	}
	w = stemDouble(w)
	w = stemSingle(w)
	w = stemResidual(w)
	return stemLast(w)
}

// consonant reports whether the letter at i is one: not a vowel, nor a y after
// a consonant.
func consonant(w []byte, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !consonant(w, i-1)
	}
	return true
}

// measure is Porter's m: how often a vowel is followed by a consonant.
func measure(w []byte) int {
	m, vowel := 0, false
	for i := range w {
		if consonant(w, i) {
			if vowel {
				m++
			}
			vowel = false
		} else {
			vowel = true
		}
	}
	return m
}

func hasVowel(w []byte) bool {
	for i := range w {
		if !consonant(w, i) {
			return true
		}
	}
	return false
}

func doubled(w []byte) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && consonant(w, n-1)
}

// short syllable: consonant, vowel, consonant other than w, x, y at the end.
func closed(w []byte) bool {
	n := len(w)
	return n > 2 && consonant(w, n-3) && !consonant(w, n-2) && consonant(w, n-1) &&
		w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}

func ends(w []byte, suffix string) bool {
	return len(w) > len(suffix) && string(w[len(w)-len(suffix):]) == suffix
}

// stemPlural is step 1a.
func stemPlural(w []byte) []byte {
	n := len(w)
	switch {
	case w[n-1] != 's':
		return w
	case ends(w, "sses"), ends(w, "ies"):
		return w[:n-2]
	case w[n-2] == 's':
		return w
	}
	return w[:n-1]
}

// stemPast is step 1b.
func stemPast(w []byte) []byte {
	n := len(w)
	switch {
	case ends(w, "eed"):
		if measure(w[:n-3]) > 0 {
			return w[:n-1]
		}
		return w
	case ends(w, "ed") && hasVowel(w[:n-2]):
		w = w[:n-2]
	case ends(w, "ing") && hasVowel(w[:n-3]):
		w = w[:n-3]
	default:
		return w
	}
	n = len(w)
	switch {
	case ends(w, "at"), ends(w, "bl"), ends(w, "iz"):
		return append(w, 'e')
	case doubled(w) && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z':
		return w[:n-1]
	case closed(w) && measure(w) == 1:
		return append(w, 'e')
	}
	return w
}

// first looks for the first of the endings, given in pairs with what takes
// their place, and swaps it where the measure before it is above 0.
func first(w []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		if ends(w, pairs[i]) {
			n := len(w) - len(pairs[i])
			if measure(w[:n]) == 0 {
				return w
			}
			return append(w[:n], pairs[i+1]...)
		}
	}
	return w
}

// stemDouble is step 2; the letter before the last tells which endings to try.
func stemDouble(w []byte) []byte {
	if len(w) < 4 {
		return w
	}
	switch w[len(w)-2] {
	case 'a':
		return first(w, "ational", "ate", "tional", "tion")
	case 'c':
		return first(w, "enci", "ence", "anci", "ance")
	case 'e':
		return first(w, "izer", "ize")
	case 'g':
		return first(w, "logi", "log")
	case 'l':
		return first(w, "bli", "ble", "alli", "al", "entli", "ent", "eli", "e", "ousli", "ous")
	case 'o':
		return first(w, "ization", "ize", "ation", "ate", "ator", "ate")
	case 's':
		return first(w, "alism", "al", "iveness", "ive", "fulness", "ful", "ousness", "ous")
	case 't':
		return first(w, "aliti", "al", "iviti", "ive", "biliti", "ble")
	}
	return w
}

// stemSingle is step 3; the last letter tells which endings to try.
func stemSingle(w []byte) []byte {
	switch w[len(w)-1] {
	case 'e':
		return first(w, "icate", "ic", "ative", "", "alize", "al")
	case 'i':
		return first(w, "iciti", "ic")
	case 'l':
		return first(w, "ical", "ic", "ful", "")
	case 's':
		return first(w, "ness", "")
	}
	return w
}

// stemResidual is step 4.
func stemResidual(w []byte) []byte {
	n := residual(w)
	if n == 0 || measure(w[:len(w)-n]) < 2 {
		return w
	}
	return w[:len(w)-n]
}

// residual returns the length of the ending that step 4 takes off.
func residual(w []byte) int {
	if len(w) < 4 {
		return 0
	}
	switch w[len(w)-2] {
	case 'a':
		return longest(w, "al")
	case 'c':
		return longest(w, "ance", "ence")
	case 'e':
		return longest(w, "er")
	case 'i':
		return longest(w, "ic")
	case 'l':
		return longest(w, "able", "ible")
	case 'n':
		return longest(w, "ement", "ment", "ant", "ent")
	case 'o':
		if ends(w, "sion") || ends(w, "tion") {
			return len("ion")
		}
		return longest(w, "ou")
	case 's':
		return longest(w, "ism")
	case 't':
		return longest(w, "ate", "iti")
	case 'u':
		return longest(w, "ous")
	case 'v':
		return longest(w, "ive")
	case 'z':
		return longest(w, "ize")
	}
	return 0
}

// longest returns the length of the first ending that the word has, 0 where
// it has none; they are given longest first.
func longest(w []byte, endings ...string) int {
	for _, e := range endings {
		if ends(w, e) {
			return len(e)
		}
	}
	return 0
}

// stemLast is step 5.
func stemLast(w []byte) []byte {
	n := len(w)
	if w[n-1] == 'e' {
		if m := measure(w[:n-1]); m > 1 || m == 1 && !closed(w[:n-1]) {
			w = w[:n-1]
		}
	}
	if n = len(w); w[n-1] == 'l' && doubled(w) && measure(w) > 1 {
		w = w[:n-1]
	}
	return w
}
