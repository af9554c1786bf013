package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku/internal/lang"
)

// Own returns what a message says in its writer's own words: without blocks of
// code, quoted lines, tables, and what Yiku itself put into a prompt.
func Own(text string) string { return quoted.ReplaceAllString(Unfenced(text), "\n") }

// omitted stands for quoted words in a sentence: they are somebody's, and say
// nothing of the user.
const omitted = "\uFFFC"

var (
	quotation = regexp.MustCompile(`“[^”]{1,1000}”|"[^"\n]{1,1000}"|「[^」]{1,1000}」|『[^』]{1,1000}』`)
	spoken    = regexp.MustCompile(`(?i)[,，。!！?？;；]|\b(?:i|we|you|my|am|are)\b|[我你您]`)
)

// unspoken replaces the quotations of a text that are more than a name.
func unspoken(text string) string {
	if !strings.ContainsAny(text, `“"「『`) {
		return text
	}
	return quotation.ReplaceAllStringFunc(text, func(q string) string {
		if utf8.RuneCountInString(q) > 40 || spoken.MatchString(q) {
			return omitted
		}
		return q
	})
}

// Sentences cuts a text into sentences, each with what ends it.
func Sentences(text string) []string { return sentences(text) }

// sentences cuts a text into sentences, each with what ends it.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		for line = strings.TrimSpace(line); line != ""; {
			end := sentenceLength(line)
			out = append(out, strings.TrimSpace(line[:end]))
			line = strings.TrimSpace(line[end:])
		}
	}
	return out
}

// isCode reports whether a line is none that a person says.
func isCode(s string) bool {
	return (strings.ContainsAny(s, "(){}[];<>=$#|*") || hasAny(s, "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER")) && code.MatchString(s)
}

// pastedAt is where a sentence leads in somebody else's text; nil for nowhere.
func pastedAt(s string) []int {
	if !strings.ContainsAny(s, ":：") {
		return nil
	}
	return pasted.FindStringIndex(s)
}

// sentenceLength is where the first sentence of a line ends.
func sentenceLength(line string) int {
	for from := 0; from < len(line); {
		at := sentenceEnd.FindStringIndex(line[from:])
		if at == nil {
			break
		}
		at[0], at[1] = at[0]+from, at[1]+from
		if !abbreviated(line[:at[0]]) && !inWord(line, at) {
			return at[1]
		}
		from = at[1]
	}
	return len(line)
}

// inWord reports whether a mark stands within an address or the like, where it
// ends nothing.
func inWord(line string, at []int) bool {
	next, _ := utf8.DecodeRuneInString(line[at[1]:])
	return strings.IndexByte("!?;", line[at[0]]) >= 0 && next < utf8.RuneSelf && (unicode.IsLetter(next) || unicode.IsDigit(next))
}

// abbreviated reports whether a text ends with a short form that carries a point.
func abbreviated(s string) bool {
	i := strings.LastIndexAny(s, " (")
	switch strings.ToLower(s[i+1:]) {
	case "dr", "mr", "mrs", "ms", "st", "prof", "e.g", "i.e", "etc", "vs", "no", "inc", "ltd", "cllr", "jr", "sr", "a.m", "p.m":
		return true
	}
	return false
}

// trim takes off what stands around a clause without being part of it.
func trim(s string) string {
	return strings.Trim(s, " \t,，.。;；:：!！?？~～…、—\"“”")
}

// value is a value without what goes on behind it.
func value(s string) string { return trim(inverted.ReplaceAllString(s, "")) }

// grammarOf is the grammar by which a sentence is read.
func grammarOf(sentence string) *grammar {
	if lang.ScriptOf(sentence) == lang.English || namesChinese(sentence) {
		return english()
	}
	return chinese()
}

// namesChinese reports whether a sentence is English that names somebody or
// something in Chinese: three words or more, and none of the characters without
// which no Chinese sentence is made.
func namesChinese(s string) bool {
	words := 0
	for _, w := range strings.Fields(s) {
		if c := w[0] | 0x20; c >= 'a' && c <= 'z' {
			words++
		}
	}
	return words >= 3 && !strings.ContainsAny(s, "的了是我你他她在不吗呢吧们这那有要会用叫，。？！；")
}

var (
	// code is a line that no person says.
	code = regexp.MustCompile(`^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER) .*|(?:报错|[：:] ?)(?:SELECT|INSERT|UPDATE) |[{};]\s*$|^\s*(?:import|from|func|def|class|var|let|const|return|for|while|if) .*[(:{=].*[):{]|^\s*(?:\w+\.)*\w+\([^)]*\)[;:.]?\s*$|=>|->|</?\w+>|^\s*(?:[$#>]|at \w+[.(])`)
	// promised says that the speaker noted something, and asks for nothing.
	promised = regexp.MustCompile(`(?:我|帮你|给你)(?:已经?|会|都|也|刚)*$`)
	// pasted leads in a text that is another's, or a machine's.
	pasted      = regexp.MustCompile(`(?i)\b(?:errors?|exception|traceback|warning|log|output|query|snippet|headline|breaking|news|plot|lyrics|excerpt|passage|paragraph|sentence|poem|prompt|essay|letter|caption|tweet|abstract|\w+Error) ?: |(?:报错|错误|日志|输出|返回|新闻|快讯|头条|故事|段子|歌词|原文|文案|作文|摘要|如下|(?:这|下面|以下)(?:段|句|篇|首|封|份|些)?[^，。：:]{0,12})(?:了|是)?[：:]`)
	quoted      = regexp.MustCompile("(?s)```.*?(```|$)|(?m:^[ \t]*[>|].*$)|(?ms:^[ \t]*-{3,}[ \t]*$.*?(?:^[ \t]*-{3,}[ \t]*$|\\z))")
	sentenceEnd = regexp.MustCompile(`[。！？!?；;…]+["”’』」)）]*|[.]["”')]*(\s+|$)`)
	asSaid      = regexp.MustCompile(`(?i)^(?:哈|啊|哦|嗯)?[，,]?(?:每次|以后|下[次回])?\p{Han}{0,6}(?:都|就)?(?:是|要)?(?:这样|这么|照这个|按这个).{0,6}$|^(?:works?|worked) `)
	pronoun     = regexp.MustCompile(`(?i)^(it|this|that|these|those|them|you|your|me|him|her|us|one|what|how|the way|so|too|very|more|some|any|all|bit|little|lot|few|nothing|everything|something|这个|那个|这些|那些|这|那|它|他|她|你|您|什么|谁|那样|这样)\b|^(这|那|它|你|您)|^(刚才|刚刚|上面|前面)`)
	inverted    = regexp.MustCompile(`[,，]?\s*(because|since|but|so|which|who|though|although|when|where|因为|所以|但是|不过)\b.*$`)
)
