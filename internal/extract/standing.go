package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
)

// A statement stands when it can be read alone, later, by somebody who was not
// there: it points at nothing that is outside of it, judges nothing, and holds
// beyond the moment. englishStands tells by the forms of words, most of them of
// the closed classes.

// token is a word of a clause, folded.
type token struct {
	word    string
	capital bool // written with a capital where no sentence begins
	exact   bool // has a digit
}

func englishTokens(s string) []token {
	var out []token
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,;:.!?()"“”…—–`, r) }) {
		w = strings.Trim(w, "'’-")
		if w == "" {
			continue
		}
		r, _ := utf8.DecodeRuneInString(w)
		low := strings.ToLower(w)
		out = append(out, token{low, len(out) > 0 && unicode.IsUpper(r) && low != "i", strings.ContainsAny(w, "0123456789")})
	}
	return out
}

var (
	abstract = []string{"ness", "ity", "ship", "ment", "tion", "sion", "ance", "ence", "hood", "dom", "ism"}
)

// pointing reports whether a clause points at what is not in it, or, where it is
// no order, at whoever is spoken to.
func pointing(tokens []token, order bool) bool {
	named := false // something was named that a pronoun may stand for
	for i, t := range tokens {
		next, before := at(tokens, i+1), at(tokens, i-1)
		switch {
		case lexicon().addressed[t.word] && !order:
			return true
		case lexicon().deictic[t.word] && !lexicon().periods[next.word] && !(t.word == "here" && before.word == "in"):
			return true
		case t.word == "that" && (before.word == "before" || before.word == "after"):
		case t.word == "that" && (next.word == "" || lexicon().finites[next.word] && !named && i > 0):
			return true
		case t.word == "her" && next.word != "" && named:
		case i == 0 && (strings.HasPrefix(t.word, "every") || strings.HasPrefix(t.word, "any") || t.word == "both"):
		case lexicon().dangling[t.word] && t.word != "that" && !named:
			return true
		case (t.word == "there" || t.word == "then") && next.word == "":
			return true
		}
		named = named || lexicon().articles[t.word] && next.word != "" && (i > 0 || t.word != "no") || t.capital || t.exact
	}
	return false
}

func at(tokens []token, i int) token {
	if i < 0 || i >= len(tokens) {
		return token{}
	}
	return tokens[i]
}

// judging reports whether a clause says how somebody finds a thing.
func judging(tokens []token) bool {
	for i, t := range tokens {
		if !lexicon().copulas[t.word] {
			continue
		}
		for j := i + 1; j < len(tokens) && j <= i+5; j++ {
			w := tokens[j].word
			if lexicon().abiding[w] && lexicon().towards[at(tokens, j+1).word] {
				break
			}
			if lexicon().verdicts[w] || j > i+1 && lexicon().prizes[w] {
				return true
			}
			if lexicon().degree[w] || w == "a" || w == "an" || w == "the" || w == "really" || w == "very" || w == "just" || w == "also" || w == "always" || w == "all" || w == "not" || w == "my" || w == "still" || w == "been" || strings.HasSuffix(w, "ly") && w != "family" && w != "monthly" && w != "weekly" {
				continue
			}
			break
		}
	}
	return false
}

// abiding judge for good, where it is said of what.

// weighty reports whether a clause has something that is worth the record: a
// number, a name, a date.
func weighty(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.capital || t.exact || lexicon().numerals[t.word] })
}

// concrete reports whether a clause has a number in figures or a name.
func concrete(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.capital || t.exact })
}

// generic reports whether a name that begins a clause is none: a thing done, an
// abstract, or a word of the closed classes.
func generic(name string) bool {
	fields := strings.Fields(strings.ToLower(name))
	if len(fields) == 0 {
		return true
	}
	w := fields[0]
	if lexicon().common[w] || lexicon().verdicts[w] || lexicon().degree[w] || lexicon().dangling[w] || lexicon().deictic[w] || lexicon().addressed[w] || lexicon().articles[w] || lexicon().finites[w] || lexicon().fleeting[w] {
		return true
	}
	if len(fields) > 1 {
		return false
	}
	if lexicon().periods[w] {
		return true
	}
	return strings.HasSuffix(w, "ing") && len(w) > 5 || slices.ContainsFunc(abstract, func(end string) bool { return strings.HasSuffix(w, end) && len(w) > len(end)+3 })
}

// englishStands reports whether a clause stands. A general form must say more
// than its verb does.
func englishStands(clause, subject, rest string, rule rule) bool {
	tokens := englishTokens(clause)
	if pointing(tokens, rule.kind == yiku.TypeConstraint) || judging(tokens) {
		return false
	}
	body := englishTokens(rest)
	verb := verbOf(body)
	switch {
	case rule.kind == "":
		return !fades(tokens) && !strings.HasSuffix(tokens[0].word, "ing") && tokens[0].word != "gonna"
	case subject == thing && !weighty(tokens) && strings.EqualFold(rest, clause) && rule.kind == yiku.TypeProject && !lexicon().articles[tokens[0].word]:
		return false // who does it is not said
	case proper(subject) && (verb == "like" || verb == "love" || lexicon().copulas[verb] && !describes(body)):
		return false
	case !rule.general:
		return (!soft[rule.attribute] || taste(body, rule.attribute == "preference")) && (rule.attribute != "" || rule.kind != yiku.TypeProfile && rule.kind != yiku.TypePreference || !fades(body))
	case perfect(body) || len(body) < 2:
		return false
	case rule.kind == yiku.TypeConstraint:
		return true
	case others.covers(subject):
		return !fades(body)
	case lexicon().articles[body[0].word]:
		return owned(body)
	}
	return does(body, subject == project)
}

// proper reports whether a subject is a name.
func proper(subject string) bool {
	return others.covers(subject) && subject != "" && !strings.HasPrefix(subject, theirs)
}

// describes reports whether what follows a form of to be is more than a bare
// word, as it is of names.
func describes(body []token) bool {
	for i, t := range body {
		if !lexicon().copulas[t.word] {
			continue
		}
		next := at(body, i+1)
		return lexicon().articles[next.word] || next.capital || next.exact || lexicon().belonging[next.word] || next.word == "in" || next.word == "on" || next.word == "at" || next.word == "with" || next.word == "not" ||
			next.word == "also" || next.word == "now" || strings.HasSuffix(next.word, "ing") || strings.HasSuffix(next.word, "ed") || strings.HasSuffix(next.word, "ian") || strings.HasSuffix(next.word, "an")
	}
	return true
}

// fades reports whether a clause is of what is going on.
func fades(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return lexicon().fleeting[t.word] })
}

// owned reports whether what is said of something of the user's is what it is
// or has, and not how it goes.
func owned(body []token) bool {
	if weighty(body) {
		return true
	}
	for i, t := range body {
		if i > 1 && (t.word == "is" || t.word == "are") {
			next := at(body, i+1).word
			return next != "to" && next != "when" && next != "about" && next != "like" && next != "all" && next != "my" && !strings.HasSuffix(next, "ing") && !lexicon().fleeting[body[i-1].word] && !lexicon().wishes[body[i-1].word]
		}
		if i > 1 && (lexicon().lastingVerbs[t.word] || lexicon().finites[t.word]) {
			return t.word != "was" && t.word != "were" && !lexicon().fleeting[at(body, i+1).word]
		}
	}
	return false
}

// does reports whether a predicate of the speakers says what holds: a verb of a
// living, a habit or a rule, what they are, what they have; or something of
// weight that is not over.
func does(body []token, team bool) bool {
	i, rule := 0, false
	for i < len(body) && (lexicon().adverbs[body[i].word] || strings.HasSuffix(body[i].word, "ly") && i+1 < len(body) && len(body[i].word) > 5 || body[i].word == "do" && at(body, i+1).word == "not" || body[i].word == "not" || body[i].word == "cannot") {
		rule = rule || body[i].word == "not" || body[i].word == "never" || body[i].word == "always" || body[i].word == "only"
		i++
	}
	verb, next := at(body, i).word, at(body, i+1).word
	switch {
	case lexicon().copulas[verb]:
		return being(body[i:]) || concrete(body) && !fades(body) || body[len(body)-1].word == "now" && !fades(body)
	case verb == "took" && next == "over", verb == "keep" && (lexicon().articles[next] || next == "all"), verb == "got" && (lexicon().belonging[next] || next == "promoted"), verb == "left" && at(body, i+1).capital:
		return true
	case lexicon().mental[verb] || fades(body) || lexicon().verdicts[next]:
		return false
	case next == "well" || next == "hard" || next == "together":
		return false
	case lexicon().lastingVerbs[verb], verb == "have" && next == "never":
		return true
	case verb == "have" || verb == "take":
		return next == "a" || next == "an" || next == "no" || lexicon().numerals[next] || weighty(body)
	case verb == "do":
		return next != "" && !lexicon().articles[next] && !lexicon().dangling[next]
	case over(verb):
		return lexicon().telic[verb] && weighty(body)
	}
	return rule || team || weighty(body) || len(body) > 2
}

// over reports whether a verb is in the past.
func over(verb string) bool { return strings.HasSuffix(verb, "ed") || lexicon().past[verb] }

// being reports whether a predicate says what somebody is, or where they belong.
func being(body []token) bool {
	for i, t := range body {
		switch {
		case lexicon().articles[t.word] || lexicon().belonging[t.word]:
			return !slices.ContainsFunc(body[i:], func(t token) bool { return lexicon().fleeting[t.word] || lexicon().whereabouts[t.word] })
		case lexicon().copulas[t.word] || lexicon().adverbs[t.word] || t.word == "in" || t.word == "on" || t.word == "at":
		default:
			return false
		}
	}
	return false
}

// soft are the attributes of tastes.
var soft = set{"likes": true, "dislikes": true, "preference": true}

// taste reports whether what follows a verb of liking is a kind of thing, and
// not the thing before one's eyes; what is chosen may be one of several things.
func taste(tokens []token, chosen bool) bool {
	for i, t := range tokens {
		switch t.word {
		case "how", "what", "when", "if", "i", "we", "he", "she", "they", "me", "myself", "the", "that", "hear", "know", "see":
			if i > 0 && i <= 3 && !weighty(tokens) && !(t.word == "the" && (chosen || tokens[i-1].word == "in" || tokens[i-1].word == "at" || tokens[i-1].word == "on")) {
				return false
			}
		}
	}
	return len(tokens) > 1
}

// perfect reports whether a predicate tells what somebody has been doing, and
// not since when.
func perfect(body []token) bool {
	i := 0
	for i < len(body) && (body[i].word == "also" || body[i].word == "just" || body[i].word == "still") {
		i++
	}
	if w := at(body, i).word; w != "have" && w != "has" && w != "had" {
		return false
	}
	for j := i + 1; j <= i+4; j++ {
		w := at(body, j).word
		if w == "been" || w == "gone" || w == "come" || w == "done" || w == "made" || w == "seen" || w == "found" || w == "gotten" || w == "learned" {
			return !slices.ContainsFunc(body, func(t token) bool { return t.word == "since" || t.word == "for" || t.word == "years" || t.exact })
		}
	}
	return false
}

// verbOf is the verb that begins a predicate.
func verbOf(body []token) string {
	for _, t := range body {
		if !lexicon().adverbs[t.word] {
			return t.word
		}
	}
	return ""
}
