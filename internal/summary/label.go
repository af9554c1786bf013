package summary

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	labelHan   = 8 // characters of a Chinese label
	labelWords = 3 // words of an English one
)

var (
	clauseEnd = regexp.MustCompile(`[，。；！？、,;!?\n()（）]|[.:] `)
	// linking are the words between what is named and its value.
	linking   = regexp.MustCompile(`(?i)(?:[\s:：=“"'#]|是|为|在|到|于|叫|改成|改为|共有|共|大约|约|有|要|定在|就|的|了|(?:^|\b)(?:is|are|was|were|be|at|to|on|by|the|a|an|of|in|for|from|with|until|about|around|will|has|have|had|costs?|called|no|number)\b)+$`)
	withDigit = regexp.MustCompile(`[A-Za-z0-9_./-]*[0-9][A-Za-z0-9_./-]*`)
	pronoun   = regexp.MustCompile(`(?i)^(?:我们|你们|他们|我|你|您|他|她|它|这个|那个|这|那|请|把|的|和|与|而|并|所以|然后|那么|还有|\s|(?:my|your|our|his|her|their|its|the|a|an|and|or|but|so|then|please|i|we|you|he|she|they|it|this|that|there)\b)+`)
)

// Label names a datum by the words that stand before it in its clause, and by
// its kind where there are none. named tells which.
func Label(text string, d Datum) (label string, named bool) {
	before := text[max(0, d.Start-200):d.Start]
	before = strings.ToValidUTF8(before, "")
	whole := strings.TrimRight(before, ":： ") // a colon names what follows it
	if at := clauseEnd.FindAllStringIndex(whole, -1); len(at) > 0 {
		whole = whole[at[len(at)-1][1]:]
	}
	if at := withDigit.FindAllStringIndex(whole, -1); len(at) > 0 { // another datum names nothing
		whole = whole[at[len(at)-1][1]:]
	}
	words := pronoun.ReplaceAllString(linking.ReplaceAllString(whole, ""), "")
	if label = tail(strings.TrimSpace(words)); label != "" {
		return label, true
	}
	return string(d.Kind), false
}

// tail is the last few words of a text.
func tail(s string) string {
	r, _ := utf8.DecodeLastRuneInString(s)
	if unicode.Is(unicode.Han, r) {
		runes := []rune(s)
		from := len(runes)
		for from > 0 && len(runes)-from < labelHan && unicode.IsLetter(runes[from-1]) {
			from--
		}
		return pronoun.ReplaceAllString(string(runes[from:]), "")
	}
	fields := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' })
	if len(fields) == 0 || utf8.RuneCountInString(fields[len(fields)-1]) > 40 {
		return ""
	}
	return strings.TrimSpace(pronoun.ReplaceAllString(strings.Join(fields[max(0, len(fields)-labelWords):], " "), ""))
}

// questionBytes is how much of a text on each side of a datum asks for it.
const questionBytes = 300

// Question is what somebody would ask a datum by: the words of its sentence
// without the datum itself.
func Question(text string, d Datum) string {
	before, after := text[max(0, d.Start-questionBytes):d.Start], text[d.End:min(len(text), d.End+questionBytes)]
	if at := sentenceMark.FindAllStringIndex(before, -1); len(at) > 0 {
		before = before[at[len(at)-1][1]:]
	}
	if at := sentenceMark.FindStringIndex(after); at != nil {
		after = after[:at[0]]
	}
	return strings.TrimSpace(strings.ToValidUTF8(before, "") + " " + strings.ToValidUTF8(after, ""))
}

var sentenceMark = regexp.MustCompile(`[。！？\n]|[.!?](?:\s|$)`)
