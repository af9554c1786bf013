package summary

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/lang"
)

const (
	maxSentence = 300 // characters; what is longer is no sentence to be quoted
	minHan      = 4   // words that a sentence has at least: a Han character counts as one
	minWords    = 3   // of a sentence without Han characters
	fade        = 0.9 // of its worth a line keeps from summary to summary
	alike       = 0.6 // share of terms in common from which two lines say the same
)

// candidate is a sentence that may become a line.
type candidate struct {
	Line
	place int
	terms map[uint64]bool
	data  map[string]bool // what stands in it that must stay as it is, as figures finds it
}

// Extract chooses the sentences that say most of a batch, word for word and in
// the order in which they were said: those that hold what the whole speaks of
// (salience), that stand first in a message, that the user said, and that hold
// names and exact data. The lines of the present summary stand against the new
// ones with what they were worth, a little less each time.
func Extract(b Batch) []Line {
	analyzer := lang.NewAnalyzer(nil)
	var all []candidate
	for _, l := range b.Present {
		l.Score *= fade
		all = append(all, newCandidate(analyzer, l, len(all)))
	}
	known := len(all)
	for _, m := range b.Messages {
		if m.Role == yiku.RoleTool { // what a tool returns is no sentence
			continue
		}
		for i, sentence := range sentencesOf(m.Content) {
			line := Line{Text: sentence, Role: m.Role, Name: m.Name, At: m.At, From: m.Key, Score: float64(i)}
			all = append(all, newCandidate(analyzer, line, len(all)))
		}
	}
	score(all[known:])
	return choose(all, b.Tokens)
}

// sentencesOf are the sentences that somebody said in their own words.
func sentencesOf(content string) []string {
	var out []string
	for _, s := range extract.Sentences(extract.Own(content)) {
		s = strings.TrimSpace(s)
		if n := utf8.RuneCountInString(s); n <= maxSentence && says(s) {
			out = append(out, s)
		}
	}
	return out
}

// says reports whether a text is long enough to say something.
func says(s string) bool {
	han, words, inWord := 0, 0, false
	for _, r := range s {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case unicode.Is(unicode.Han, r):
			han, letter = han+1, false
		case letter && !inWord:
			words++
		}
		inWord = letter
	}
	return han == 0 && words >= minWords || han > 0 && han+words >= minHan
}

func newCandidate(a *lang.Analyzer, l Line, place int) candidate {
	c := candidate{Line: l, place: place, terms: map[uint64]bool{}, data: figures(l.Text)}
	for _, h := range a.Append(nil, l.Text) {
		c.terms[h] = true
	}
	return c
}

// figures are the words of a text that look like exact data: those with a
// digit, a slash or an at sign in them, and Chinese numerals of two characters
// or before a unit. It runs for every sentence of every context, where Find
// costs more than all the rest; a choice needs no more than that something is
// there and whether another sentence has it too.
func figures(text string) map[string]bool {
	found := map[string]bool{}
	start, exact := -1, false
	end := func(at int) {
		if word := strings.TrimRight(text[max(start, 0):at], ".:"); exact && start >= 0 {
			found[word] = true
		}
		start, exact = -1, false
	}
	numeral, from := 0, 0
	for i, r := range text {
		latin := r < unicode.MaxLatin1 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("_-./\\@:#%+", r)
		switch {
		case latin && start < 0:
			start = i
		case !latin:
			end(i)
		}
		exact = exact || latin && (unicode.IsDigit(r) || strings.ContainsRune("/\\@", r))
		if strings.ContainsRune(zhDigits, r) {
			if numeral++; numeral == 1 {
				from = i
			}
			continue
		}
		if numeral > 1 || numeral == 1 && strings.ContainsRune(zhUnits, r) {
			found[text[from:i]] = true
		}
		numeral = 0
	}
	end(len(text))
	if numeral > 1 {
		found[text[from:]] = true
	}
	return found
}

const (
	zhDigits = "〇零一二两三四五六七八九十百千万亿"
	zhUnits  = "年月日号点时分元块岁折%"
)

// repeats reports whether a sentence says nothing that the other does not say:
// the same words mostly, and no datum of its own.
func (c candidate) repeats(other candidate) bool {
	if overlap(c.terms, other.terms) <= alike {
		return false
	}
	for m := range c.data {
		if !other.data[m] {
			return false
		}
	}
	return true
}

// score gives each sentence its worth, 0 to about 3. It comes with its place in
// its message as Score.
func score(sentences []candidate) {
	in := map[uint64]int{} // sentences that have a term
	for _, s := range sentences {
		for t := range s.terms {
			in[t]++
		}
	}
	for i := range sentences {
		s := &sentences[i]
		salience := 0.0
		for t := range s.terms {
			if n := in[t]; n > 1 {
				salience += math.Log(float64(n))
			}
		}
		salience /= math.Sqrt(float64(max(len(s.terms), 1))) * math.Log(float64(len(sentences)+1))
		worth := math.Min(salience, 1) + 0.4/(1+s.Score)
		if s.Role == yiku.RoleUser {
			worth += 0.4
		}
		if question(s.Text) {
			worth -= 0.3
		}
		data := float64(len(s.data))
		worth += 0.5 * (1 - 1/(1+data))
		names := float64(countNames(s.Text))
		worth += 0.4 * (1 - 1/(1+names))
		if decides(s.Text) {
			worth += 0.4
		}
		s.Score = math.Max(worth, 0.01)
	}
}

// decides reports whether a sentence has a word by which people settle
// something. Every sentence of every context is asked: an expression would cost
// three times as much.
func decides(s string) bool {
	if slices.ContainsFunc(decidedZh, func(w string) bool { return strings.Contains(s, w) }) {
		return true
	}
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if decidedEn[strings.ToLower(w)] {
			return true
		}
	}
	return false
}

var (
	decidedZh = []string{"决定", "确定", "改成", "改为", "必须", "不要", "不能", "需要", "计划", "打算", "完成", "目标", "截止"}
	decidedEn = map[string]bool{"decide": true, "decided": true, "agreed": true, "must": true, "never": true, "always": true, "need": true,
		"plan": true, "deadline": true, "goal": true, "done": true, "finished": true, "prefer": true, "instead": true}
)

func question(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r == '?' || r == '？' || strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "呢")
}

// name matches what stands out as a name: capital letters within a sentence,
// Latin words within Chinese, titles and quotations.
var name = regexp.MustCompile(`[a-z,;:] [A-Z][a-z]+|\b[A-Z]{2,}\b|\p{Han}[A-Za-z][A-Za-z0-9]+|《[^》]+》|“[^”]{1,20}”|「[^」]{1,20}」`)

func countNames(s string) int { return len(name.FindAllStringIndex(s, 8)) }

// choose takes the best lines that fit, none that says what a better one says,
// and puts them in the order in which they were said.
func choose(all []candidate, tokens int) []Line {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b candidate) int { return cmp.Compare(b.Score, a.Score) })
	var taken []candidate
	for _, c := range order {
		price := cost(c.Line)
		if price > tokens || slices.ContainsFunc(taken, c.repeats) {
			continue
		}
		tokens -= price
		taken = append(taken, c)
	}
	slices.SortFunc(taken, func(a, b candidate) int { return a.place - b.place })
	lines := make([]Line, len(taken))
	for i, c := range taken {
		lines[i] = c.Line
	}
	return lines
}

// overlap is the share that two sets have in common of the smaller.
func overlap(a, b map[uint64]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}
