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

// swap puts to in the place of the ending where the measure before it is
// above 0.
func swap(w []byte, suffix, to string) []byte {
	n := len(w) - len(suffix)
	if measure(w[:n]) == 0 {
		return w
	}
	return append(w[:n], to...)
}

// stemDouble is step 2.
func stemDouble(w []byte) []byte {
	for _, s := range [...][2]string{
		{"ational", "ate"},
		{"tional", "tion"},
		{"enci", "ence"},
		{"anci", "ance"},
		{"izer", "ize"},
		{"bli", "ble"},
		{"alli", "al"},
		{"entli", "ent"},
		{"eli", "e"},
		{"ousli", "ous"},
		{"ization", "ize"},
		{"ation", "ate"},
		{"ator", "ate"},
		{"alism", "al"},
		{"iveness", "ive"},
		{"fulness", "ful"},
		{"ousness", "ous"},
		{"aliti", "al"},
		{"iviti", "ive"},
		{"biliti", "ble"},
		{"logi", "log"},
	} {
		if ends(w, s[0]) {
			return swap(w, s[0], s[1])
		}
	}
	return w
}

// stemSingle is step 3.
func stemSingle(w []byte) []byte {
	for _, s := range [...][2]string{
		{"icate", "ic"},
		{"ative", ""},
		{"alize", "al"},
		{"iciti", "ic"},
		{"ical", "ic"},
		{"ful", ""},
		{"ness", ""},
	} {
		if ends(w, s[0]) {
			return swap(w, s[0], s[1])
		}
	}
	return w
}

// stemResidual is step 4.
func stemResidual(w []byte) []byte {
	for _, s := range [...]string{
		"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
	} {
		if !ends(w, s) {
			continue
		}
		rest := w[:len(w)-len(s)]
		if measure(rest) > 1 && (s != "ion" || ends(w, "sion") || ends(w, "tion")) {
			return rest
		}
		return w
	}
	return w
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
