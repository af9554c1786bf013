package lang

import "unicode"

// Script is the language that a text is taken to be in.
type Script string

// The scripts that are told apart.
const (
	Chinese Script = "zh"
	English Script = "en"
	Other   Script = "other"
)

// ScriptOf returns the script of most of a text's words: a Han character
// counts as one word, a run of Latin letters as one. Text with kana or Hangul,
// or without letters, is Other.
func ScriptOf(text string) Script {
	var han, latin, other int
	inWord := false
	for _, r := range text {
		switch classOf(r) {
		case classHan:
			han++
			inWord = false
		case classRun:
			other += 2 // kana stand between Han characters: they outweigh them
			inWord = false
		case classWord:
			if !inWord && unicode.IsLetter(r) {
				if r < 0x250 || r >= 0x1e00 && r <= 0x1eff {
					latin++
				} else {
					other++
				}
				inWord = true
			}
		default:
			inWord = false
		}
	}
	switch {
	case other > 0 && other >= han && other >= latin, han+latin == 0:
		return Other
	case han >= latin:
		return Chinese
	default:
		return English
	}
}

// class says how the characters of a text are put together into terms.
type class uint8

const (
	classNone class = iota // sets words apart
	classWord              // letters and digits of scripts that set words apart
	classHan               // single characters and pairs
	classRun               // pairs: kana, Hangul, Thai and its neighbours
)

func classOf(r rune) class {
	if r < 0x80 {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return classWord
		}
		return classNone
	}
	if r >= 0x4e00 && r <= 0x9fff || r == 0x3007 {
		return classHan
	}
	switch {
	case r >= 0x3041 && r <= 0x30ff && r != 0x30fb, r >= 0x31f0 && r <= 0x31ff, // kana
		r >= 0xac00 && r <= 0xd7a3,                            // Hangul syllables
		r >= 0x0e01 && r <= 0x0e4e, r >= 0x0e81 && r <= 0xedf, // Thai, Lao
		r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17d3: // Burmese, Khmer
		return classRun
	case unicode.Is(unicode.Han, r) && unicode.IsLetter(r):
		return classHan
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.Mn, r), unicode.Is(unicode.Mc, r):
		return classWord
	}
	return classNone
}
