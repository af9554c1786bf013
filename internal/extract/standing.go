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

// set is a list of words to look up.
type set map[string]bool

func words(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

var (
	addressed = words(`you your yours yourself ya u ur y'all`)
	deictic   = words(`this these those here`)
	dangling  = words(`it them they him her he she that one ones both such something anything everything nothing someone somebody anyone everybody everyone somewhere everywhere whatever`)
	periods   = words(`year month quarter season semester term spring summer autumn fall winter week monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december project repo repository house company team`)
	articles  = words(`a an the my our his her their its two three four five six seven eight nine ten no every each another`)
	degree    = words(`so such too totally literally absolutely truly insanely incredibly super extremely quite pretty kinda sorta rather more less bit damn`)
	copulas   = words(`am is are was were be been being feels feel felt looks look looked seems sounds sound sounded smells tastes`)
	finites   = words(`am is are was were has have had do does did will would can could may might must should shall cannot need needs`)
	// verdicts judge. They say how somebody finds a thing, not what is.
	verdicts = words(`good great nice bad better best worse worst fine okay ok awesome amazing wonderful fantastic incredible awful terrible horrible lovely beautiful pretty cute cool perfect brilliant excellent
		fun funny hilarious interesting exciting inspiring rewarding satisfying special important crucial essential key vital precious priceless proud grateful thankful lucky blessed glad happy sad angry upset
		excited nervous worried anxious scared stressed tired exhausted sleepy bored hungry thirsty sick furious miserable lonely overwhelmed confused curious jealous embarrassed annoyed disappointed frustrated
		ready sure certain afraid sorry busy late free stuck serious weird strange crazy insane nuts stupid silly dumb useless ridiculous easy hard tough difficult rough challenging huge tremendous powerful
		joyful fulfilling therapeutic calming relaxing peaceful delicious tasty yummy gorgeous stunning breathtaking impressive memorable unforgettable unreal wild epic solid legit surreal
		worth true wrong right real dead alive slow fast quick quiet loud hot cold warm freezing boiling dark bright tight messy fresh new old big small high low close done lost broken gone over back there
		up down off wonderful magical meaningful valuable helpful supportive kind sweet fabulous thrilled delighted pumped stoked psyched hooked obsessed honored fortunate motivated inspired determined
		passionate creative positive negative hopeful optimistic unbelievable invaluable appealing delightful refreshing uplifting eye-opening heartwarming nerve-wracking nerve-racking mind-blowing comforting cherished`)
	// fleeting are verbs and nouns of what is going on, not of what is.
	fleeting = words(`wait picture imagine believe wonder hope wish guess bet mean thank thanks appreciate congrats welcome hear heard chat chats talk talking chatting catch catching bounce
		feeling feelings vibe vibes blast thrill journey question questions favor favour minute moment sec thought thoughts faith point points idea clue doubt doubts doubt trouble luck fun break progress difference sense mind time ton lot lots way mood yet`)
	abstract = []string{"ness", "ity", "ship", "ment", "tion", "sion", "ance", "ence", "hood", "dom", "ism"}
)

// pointing reports whether a clause points at what is not in it, or, where it is
// no order, at whoever is spoken to.
func pointing(tokens []token, order bool) bool {
	named := false // something was named that a pronoun may stand for
	for i, t := range tokens {
		next, before := at(tokens, i+1), at(tokens, i-1)
		switch {
		case addressed[t.word] && !order:
			return true
		case deictic[t.word] && !periods[next.word] && !(t.word == "here" && before.word == "in"):
			return true
		case t.word == "that" && (before.word == "before" || before.word == "after"):
		case t.word == "that" && (next.word == "" || finites[next.word] && !named && i > 0):
			return true
		case t.word == "her" && next.word != "" && named:
		case dangling[t.word] && t.word != "that" && !named:
			return true
		case (t.word == "there" || t.word == "then") && next.word == "":
			return true
		}
		named = named || articles[t.word] && next.word != "" || t.capital || t.exact
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
		if !copulas[t.word] {
			continue
		}
		for j := i + 1; j < len(tokens) && j <= i+5; j++ {
			w := tokens[j].word
			if verdicts[w] {
				return true
			}
			if degree[w] || w == "a" || w == "an" || w == "the" || w == "really" || w == "very" || w == "just" || w == "also" || w == "always" || w == "all" || w == "not" || w == "my" || w == "still" || w == "been" || strings.HasSuffix(w, "ly") && w != "family" && w != "monthly" && w != "weekly" {
				continue
			}
			break
		}
	}
	return false
}

// weighty reports whether a clause has something that is worth the record: a
// number, a name, a date.
func weighty(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.capital || t.exact || numerals[t.word] })
}

var numerals = words(`two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand dozen daily weekly monthly yearly monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays weekdays weekends`)

// generic reports whether a name that begins a clause is none: a thing done, an
// abstract, or a word of the closed classes.
func generic(name string) bool {
	fields := strings.Fields(strings.ToLower(name))
	if len(fields) == 0 {
		return true
	}
	w := fields[0]
	if common[w] || verdicts[w] || degree[w] || dangling[w] || deictic[w] || addressed[w] || articles[w] || finites[w] || fleeting[w] {
		return true
	}
	if len(fields) > 1 {
		return false
	}
	return strings.HasSuffix(w, "ing") && len(w) > 5 || slices.ContainsFunc(abstract, func(end string) bool { return strings.HasSuffix(w, end) && len(w) > len(end)+3 })
}

// common are words that begin sentences and name nobody.
var common = words(`here there much many most more some any all none both neither either few little only even just really still also again always never sometimes often usually maybe perhaps
	what who whom whose which when where why how if though although because since while after before until unless whether
	and but or nor for yet so as at by in of on to up with from into over under about than then now today tonight tomorrow yesterday
	i we us me mine ours theirs hers his their your its that this not no yes yeah yep nope ok okay well oh wow hey hi hello thanks please sorry sounds looks feels seems glad happy love like hope wish guess
	life love family food music art nature people time work home school money health hope joy peace dance balance kindness practice support hard trips moments things stuff everyone everybody someone nobody everything something nothing`)

// englishStands reports whether a clause stands. A general form must say more
// than its verb does.
func englishStands(clause, subject, rest string, rule rule) bool {
	tokens := englishTokens(clause)
	if pointing(tokens, rule.kind == yiku.TypeConstraint) || judging(tokens) {
		return false
	}
	body := englishTokens(rest)
	switch {
	case !rule.general:
		return !soft[rule.attribute] || taste(body)
	case perfect(body) || len(body) < 2:
		return false
	case others.covers(subject):
		return !slices.ContainsFunc(body, func(t token) bool { return fleeting[t.word] })
	case subject == user && (strings.HasPrefix(strings.ToLower(rest), "my ") || strings.HasPrefix(strings.ToLower(rest), "our ")):
		return owned(body)
	}
	return does(body)
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
			return next != "to" && next != "when" && next != "about" && next != "like" && next != "all" && next != "my" && !strings.HasSuffix(next, "ing") && !fleeting[body[i-1].word] && !wishes[body[i-1].word]
		}
		if i > 1 && (lastingVerbs[t.word] || finites[t.word]) {
			return t.word != "was" && t.word != "were" && !fleeting[at(body, i+1).word]
		}
	}
	return false
}

// wishes are what people have that is in their minds.
var wishes = words(`goal dream hope hopes memory memories motivation heart aim plan fear wish passion love favorite favourite fav thing`)

// does reports whether a predicate of the speakers says what holds: a verb of a
// living or a habit, what they are, what they have; or something weighty.
func does(body []token) bool {
	fades := func(from int) bool {
		return slices.ContainsFunc(body[min(from, len(body)):], func(t token) bool { return fleeting[t.word] })
	}
	i := 0
	for i < len(body) && (adverbs[body[i].word] || body[i].word == "do" || body[i].word == "does" || body[i].word == "not" || body[i].word == "cannot") {
		i++
	}
	verb, next := at(body, i).word, at(body, i+1).word
	switch {
	case copulas[verb] && being(body[i:]):
		return true
	case lastingVerbs[verb]:
		return !fades(i + 1)
	case (verb == "have" || verb == "keep" || verb == "take") && articles[next]:
		return !verdicts[at(body, i+2).word] && !fades(i+2)
	}
	return weighty(body) && !fleeting[next] && !fleeting[at(body, i+2).word]
}

// being reports whether a predicate says what somebody is, or where they belong.
func being(body []token) bool {
	for i, t := range body {
		switch {
		case articles[t.word] || belonging[t.word]:
			return !slices.ContainsFunc(body[i:], func(t token) bool { return fleeting[t.word] || whereabouts[t.word] })
		case copulas[t.word] || adverbs[t.word] || t.word == "in" || t.word == "on" || t.word == "at":
		default:
			return false
		}
	}
	return false
}

var (
	belonging   = words(`based from responsible charge training learning studying born raised elected scared afraid allergic deaf blind married engaged divorced retired`)
	whereabouts = words(`phone way call meeting bus couch sofa line road fence hurry rush hunt lookout mission roll verge brink edge middle same point fan`)
)

// soft are the attributes of tastes.
var soft = set{"likes": true, "dislikes": true, "preference": true}

// taste reports whether what follows a verb of liking is a kind of thing, and
// not the thing before one's eyes.
func taste(tokens []token) bool {
	for i, t := range tokens {
		switch t.word {
		case "how", "what", "when", "if", "me", "myself", "the", "that", "hear", "know", "see":
			if i > 0 && i <= 3 && !weighty(tokens) {
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
		if !adverbs[t.word] {
			return t.word
		}
	}
	return ""
}

var (
	adverbs = words(`also still now only mostly always usually already currently just recently mainly both never normally typically`)
	// lastingVerbs say in the present tense what somebody does for a living, has
	// made a habit of, or holds to; the past ones tell the turns of a life.
	lastingVerbs = words(`work works live lives teach teaches own owns study studies speak speaks coach coaches volunteer volunteers commute commutes drive drives cycle cycles ride rides manage manages lead leads run runs
		rent rents raise raises breed grow grows sell sells bake bakes play plays sing sings knit knits paint paints garden gardens carve swim swims serve served retired retire graduated married divorced engaged adopted
		hired promoted joined moved switched born bill invoice ship ships release publish test deploy deploys host support supports ingest store track merge record log charge belong wear avoid eat eats drink drinks sleep
		smoke smokes quit use uses bought sold hire practise practice travel collect pay prefer prefers hate hates lived worked handles handle covers got forbids requires`)
)
