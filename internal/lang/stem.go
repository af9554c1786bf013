package lang

// stem takes the common endings off an English word, in place, and returns
// what is left: plurals, -ed, -ing, -ly and a last e or y. It is light on
// purpose: it never joins words that only share a root (organ, organise), and
// costs some ten nanoseconds. The word is lower-case ASCII letters.
func stem(w []byte) []byte {
	if len(w) < 4 {
		return w
	}
	w = stemPlural(w)
	w = stemVerb(w)
	if n := len(w); n > 4 && w[n-2] == 'l' && w[n-1] == 'y' && hasVowel(w[:n-2]) {
		w = w[:n-2]
	}
	n := len(w)
	switch {
	case n > 3 && w[n-1] == 'e' && hasVowel(w[:n-1]):
		w = w[:n-1]
	case n > 3 && w[n-1] == 'y' && !vowel(w[n-2]):
		w[n-1] = 'i'
	}
	return w
}

func stemPlural(w []byte) []byte {
	n := len(w)
	if w[n-1] != 's' {
		return w
	}
	switch {
	case w[n-2] == 's', w[n-2] == 'u', w[n-2] == 'i':
		return w
	case n > 4 && w[n-2] == 'e' && w[n-3] == 'i':
		w[n-3] = 'y'
		return w[:n-2]
	case w[n-2] == 'e' && n > 4 && (w[n-3] == 's' || w[n-3] == 'x' || w[n-3] == 'z' ||
		w[n-3] == 'h' && (w[n-4] == 'c' || w[n-4] == 's')):
		return w[:n-2]
	}
	return w[:n-1]
}

func stemVerb(w []byte) []byte {
	n := len(w)
	if n > 4 && string(w[n-3:]) == "ied" {
		w[n-3] = 'y'
		return w[:n-2]
	}
	cut := 0
	switch {
	case n > 5 && string(w[n-3:]) == "ing":
		cut = 3
	case n > 4 && w[n-2] == 'e' && w[n-1] == 'd' && w[n-3] != 'e':
		cut = 2
	}
	if cut == 0 || !hasVowel(w[:n-cut]) {
		return w
	}
	w = w[:n-cut]
	if n = len(w); n > 3 && w[n-1] == w[n-2] && !vowel(w[n-1]) && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z' {
		w = w[:n-1]
	}
	return w
}

func vowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'
}

func hasVowel(w []byte) bool {
	for _, c := range w {
		if vowel(c) || c == 'y' {
			return true
		}
	}
	return false
}
