package lang

import (
	"sync"
	"unicode"

	"github.com/longbridgeapp/opencc"
)

// Simplify writes the traditional characters of a Chinese text as simplified
// ones, so that 張小華 and 张小华 are compared as one. Text without Han
// characters is returned as it is.
func Simplify(text string) string {
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			return simplify(text)
		}
	}
	return text
}

func simplify(text string) string {
	converter := traditional()
	if converter == nil {
		return text
	}
	plain, err := converter.Convert(text)
	if err != nil {
		return text
	}
	return plain
}

// traditional loads the dictionary when it is first needed: it takes some 30 ms
// and 1 MB. It is nil where the library cannot read its own dictionary.
var traditional = sync.OnceValue(func() *opencc.OpenCC {
	converter, err := opencc.New("t2s")
	if err != nil {
		return nil
	}
	return converter
})
