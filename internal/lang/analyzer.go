package lang

import (
	"unicode"
	"unicode/utf8"
)

// Term is one term of a text. Weight says how much a query's term counts,
// 0 to 1: single Han characters and pairs that hold a function character say
// less than words do.
type Term struct {
	Hash   uint64
	Text   string
	Weight float32
}

// HashBits is how many low bits of a term's hash are used; the others are zero.
const HashBits = 40

// Weights of query terms; measured together on the Chinese sets, where they are
// flat: half or twice of each changes recall by about .01.
const (
	weightWord      = 1
	weightHan       = 0.3 // one Han character
	weightHanPair   = 1   // two neighbours
	weightLoosePair = 0.2 // two neighbours of which one is a function character
)

// maxWhole is the longest compound in bytes that is also kept whole.
const maxWhole = 128

// Analyzer cuts text into terms. It has no state that changes: one may be used
// by many goroutines at once.
type Analyzer struct {
	stopWords   map[string]struct{}
	stopPairs   map[string]struct{}
	stopHan     hanSet
	keepEndings bool
	pairStart   hanSet // the first characters of stopPairs
}

// hanSet is a set of characters of the main Han block.
type hanSet [(hanLast - hanFirst + 64) / 64]uint64

const hanFirst, hanLast = 0x4e00, 0x9fff

func (s *hanSet) add(r rune) { s[(r-hanFirst)/64] |= 1 << ((r - hanFirst) % 64) }

func (s *hanSet) has(r rune) bool {
	return r >= hanFirst && r <= hanLast && s[(r-hanFirst)/64]>>((r-hanFirst)%64)&1 == 1
}

// Options switch parts of an Analyzer off, to measure what they bring.
type Options struct {
	KeepEndings       bool // English words are not stemmed
	KeepFunctionWords bool // function words of both languages are terms like others
}

// NewAnalyzer returns the analyzer of Chinese, English and mixed text. nil
// options are the defaults.
func NewAnalyzer(options *Options) *Analyzer {
	if options == nil {
		options = &Options{}
	}
	a := &Analyzer{keepEndings: options.KeepEndings}
	if options.KeepFunctionWords {
		return a
	}
	a.stopWords, a.stopPairs = setOf(englishStop), setOf(hanStopPairs)
	for _, r := range hanStop {
		a.stopHan.add(r)
	}
	for pair := range a.stopPairs {
		r, _ := utf8.DecodeRuneInString(pair)
		a.pairStart.add(r)
	}
	return a
}

// Append appends the hashes of the text's terms to dst, once for each time a
// term occurs, in the order of the text, and returns the longer slice. It is
// the fast path for documents.
func (a *Analyzer) Append(dst []uint64, text string) []uint64 {
	s := scanner{a: a, hashes: dst}
	s.scan(comparable(text))
	return s.hashes
}

// Terms returns the terms of a text in its order, once for each time they
// occur, with their texts: for explanations.
func (a *Analyzer) Terms(text string) []Term {
	s := scanner{a: a, mode: withText}
	s.scan(comparable(text))
	return s.terms
}

// Query returns the terms of a query as Terms does, without their texts: the
// fast path for searches.
func (a *Analyzer) Query(text string) []Term {
	s := scanner{a: a, mode: withWeight, terms: make([]Term, 0, len(text)/2+8)}
	s.scan(comparable(text))
	return s.terms
}

// mode is what a scanner keeps of the terms.
type mode uint8

const (
	hashOnly mode = iota
	withWeight
	withText
)

// scanner walks over one text.
type scanner struct {
	a      *Analyzer
	mode   mode
	hashes []uint64
	terms  []Term
	chunk  []byte // the compound being read, as written
	low    []byte // scratch: one word in lower case
}

// emit adds one term.
func (s *scanner) emit(text []byte, weight float32) {
	h := hashOf(text)
	switch s.mode {
	case hashOnly:
		s.hashes = append(s.hashes, h)
	case withWeight:
		s.terms = append(s.terms, Term{Hash: h, Weight: weight})
	default:
		s.terms = append(s.terms, Term{Hash: h, Text: string(text), Weight: weight})
	}
}

// hashOf is FNV-1a of 64 bits, mixed and cut to HashBits.
func hashOf(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h >> (64 - HashBits)
}

func (s *scanner) scan(text string) {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch classOf(r) {
		case classWord:
			i = s.compound(text, i)
		case classHan:
			i = s.han(text, i)
		case classRun:
			i = s.run(text, i)
		default:
			i += size
		}
	}
}

// han reads a run of Han characters: each of them, and each two neighbours.
func (s *scanner) han(text string, i int) int {
	var last rune
	var lastStop bool
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if classOf(r) != classHan {
			if Invisible(r) {
				i += size
				continue
			}
			break
		}
		stop := s.a.stopHan.has(r)
		s.low = utf8.AppendRune(s.low[:0], r)
		if !stop {
			s.emit(s.low, weightHan)
		}
		if last != 0 {
			s.low = utf8.AppendRune(utf8.AppendRune(s.low[:0], last), r)
			s.pair(s.low, last, stop, lastStop)
		}
		last, lastStop = r, stop
		i += size
	}
	return i
}

// pair adds two neighbouring Han characters, the first of which is last, unless
// they are a function word.
func (s *scanner) pair(pair []byte, last rune, stop, lastStop bool) {
	if stop && lastStop {
		return
	}
	if s.a.pairStart.has(last) {
		if _, skip := s.a.stopPairs[string(pair)]; skip {
			return
		}
	}
	weight := float32(weightHanPair)
	if stop || lastStop {
		weight = weightLoosePair
	}
	s.emit(pair, weight)
}

// run reads a run of a script that does not set words apart, or whose words
// carry endings: its pairs of neighbours, or the one character that it has.
func (s *scanner) run(text string, i int) int {
	s.chunk = s.chunk[:0]
	start, n := 0, 0
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if classOf(r) != classRun {
			break
		}
		at := len(s.chunk)
		s.chunk = utf8.AppendRune(s.chunk, r)
		if n > 0 {
			s.emit(s.chunk[start:], weightWord)
		}
		start = at
		n++
		i += size
	}
	if n == 1 {
		s.emit(s.chunk, weightHan)
	}
	return i
}

// compound reads letters and digits and the connectors between them, adds the
// whole where it has parts, and then each part. A Han character that follows a
// number at once (5月, 18岁) makes a term with it.
func (s *scanner) compound(text string, i int) int {
	s.chunk = s.chunk[:0]
	connectors := 0
	for i < len(text) {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if classOf(r) == classWord {
			s.chunk = utf8.AppendRune(s.chunk, bare(r))
			i += size
			continue
		}
		if Invisible(r) {
			i += size
			continue
		}
		if r == '’' {
			r = '\''
		}
		if !connects(r) || !startsWord(text[i+size:]) {
			break
		}
		if r == ',' { // between digits only: 1,000 is 1000
			if !isDigit(s.chunk[len(s.chunk)-1]) || !isDigit(text[i+1]) {
				break
			}
			i++
			continue
		}
		s.chunk = append(s.chunk, byte(r))
		connectors++
		i += size
	}
	s.parts(connectors)
	s.unit(text[i:])
	return i
}

// unit adds the number just read with the Han character that follows it.
func (s *scanner) unit(rest string) {
	n := len(s.chunk)
	if n == 0 || !isDigit(s.chunk[n-1]) {
		return
	}
	r, _ := utf8.DecodeRuneInString(rest)
	if classOf(r) != classHan {
		return
	}
	from := n
	for from > 0 && isDigit(s.chunk[from-1]) {
		from--
	}
	s.low = append(s.low[:0], short(s.chunk[from:])...)
	s.low = utf8.AppendRune(s.low, r)
	s.emit(s.low, weightWord)
}

// connects reports whether a character may join the parts of one compound.
func connects(r rune) bool {
	switch r {
	case '_', '-', '.', '/', '@', ':', '\'', ',', '+', '#', '\\':
		return true
	}
	return false
}

func startsWord(rest string) bool {
	if rest == "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return classOf(r) == classWord
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parts adds the compound in s.chunk: whole where it has connectors, and each part.
func (s *scanner) parts(connectors int) {
	if connectors == 0 {
		s.word(s.chunk)
		return
	}
	apostrophes := 0
	for _, c := range s.chunk {
		if c == '\'' {
			apostrophes++
		}
	}
	if connectors > apostrophes && len(s.chunk) <= maxWhole {
		s.low = appendLower(s.low[:0], s.chunk)
		s.emit(s.low, weightWord)
	}
	from := 0
	for j := 0; j <= len(s.chunk); j++ {
		if j < len(s.chunk) && (s.chunk[j] >= utf8.RuneSelf || !connects(rune(s.chunk[j]))) {
			continue
		}
		part := s.chunk[from:j]
		if j < len(s.chunk) && s.chunk[j] == '\'' {
			if end := clitic(s.chunk[j+1:]); end > 0 { // Caroline's, don't
				if end == 1 && s.chunk[j+1]|0x20 == 't' && len(part) > 1 && part[len(part)-1]|0x20 == 'n' {
					part = part[:len(part)-1]
				}
				j += end
			}
		}
		if len(part) > 0 {
			s.word(part)
		}
		from = j + 1
	}
}

// clitic returns the length of an English ending after an apostrophe, 0 where
// there is none.
func clitic(rest []byte) int {
	n := 0
	for n < len(rest) && n < 3 && (rest[n] >= utf8.RuneSelf || !connects(rune(rest[n]))) {
		n++
	}
	if n == 1 {
		switch rest[0] | 0x20 {
		case 's', 't', 'd', 'm':
			return 1
		}
	}
	if n == 2 {
		switch string(rest[:2]) {
		case "re", "ve", "ll", "RE", "VE", "LL":
			return 2
		}
	}
	return 0
}

// word adds one part without connectors: whole, and cut where case or kind of
// character changes (getUserName, v2, 5pm).
func (s *scanner) word(w []byte) {
	if n := len(w); n > 2 && isDigit(w[n-3]) && ordinal(w[n-2:]) {
		w = w[:n-2]
	}
	from, cuts := 0, 0
	for j := 1; j < len(w); j++ {
		if !boundary(w, j) {
			continue
		}
		cuts++
		s.plain(w[from:j], true)
		from = j
	}
	if cuts > 0 {
		s.plain(w[from:], true)
	}
	s.plain(w, false)
}

// boundary reports whether a new part begins at j: digit beside letter, a
// capital after a small letter, or the last capital of several before one.
func boundary(w []byte, j int) bool {
	a, b := w[j-1], w[j]
	if isDigit(a) != isDigit(b) {
		return a < utf8.RuneSelf && b < utf8.RuneSelf
	}
	if !isUpper(b) {
		return false
	}
	return a >= 'a' && a <= 'z' || isUpper(a) && j+1 < len(w) && w[j+1] >= 'a' && w[j+1] <= 'z' && j+2 < len(w)
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// plain adds one word in lower case, stemmed, unless it is a function word. A
// part of a word is left out where it is one letter.
func (s *scanner) plain(w []byte, part bool) {
	if len(w) == 0 || part && len(w) == 1 && !isDigit(w[0]) {
		return
	}
	if isDigit(w[0]) {
		s.number(w)
		return
	}
	s.low = appendLower(s.low[:0], w)
	if _, stop := s.a.stopWords[string(s.low)]; stop {
		return
	}
	for _, c := range s.low {
		if c < 'a' || c > 'z' || s.a.keepEndings {
			s.emit(s.low, weightWord)
			return
		}
	}
	s.emit(stem(s.low), weightWord)
}

// number adds a word that begins with a digit; 03 is 3.
func (s *scanner) number(w []byte) {
	s.low = appendLower(s.low[:0], w)
	s.emit(short(s.low), weightWord)
}

// ordinal reports whether two letters make an ordinal of the number before
// them: 8th is 8.
func ordinal(w []byte) bool {
	switch string([]byte{w[0] | 0x20, w[1] | 0x20}) {
	case "st", "nd", "rd", "th":
		return true
	}
	return false
}

// short takes the leading zero off a number of two digits, as dates and times have it.
func short(w []byte) []byte {
	if len(w) == 2 && w[0] == '0' && isDigit(w[1]) {
		return w[1:]
	}
	return w
}

// appendLower appends w in lower case.
func appendLower(dst, w []byte) []byte {
	for i := 0; i < len(w); {
		c := w[i]
		if c < utf8.RuneSelf {
			if isUpper(c) {
				c |= 0x20
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(w[i:])
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		i += size
	}
	return dst
}
