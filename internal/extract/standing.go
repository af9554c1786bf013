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
	periods   = words(`year month quarter season semester term spring summer autumn fall winter week monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december project days repo repository house company team`)
	articles  = words(`a an the my our his her their its two three four five six seven eight nine ten no every each another`)
	degree    = words(`so such too totally literally absolutely truly insanely incredibly super extremely quite pretty kinda sorta rather more less bit damn`)
	copulas   = words(`am is are was were be been being feels feel felt looks look looked seems sounds sound sounded smells tastes`)
	finites   = words(`am is are was were has have had do does did will would can could may might must should shall cannot need needs`)
	// verdicts judge. They say how somebody finds a thing, not what is.
	verdicts = words(`good great nice bad better best worse worst fine okay ok awesome amazing wonderful fantastic incredible awful terrible horrible lovely beautiful pretty cute cool perfect brilliant excellent
		fun funny hilarious interesting exciting inspiring rewarding satisfying special important possible impossible crucial essential key vital precious priceless proud grateful thankful lucky blessed glad happy sad angry upset
		excited nervous worried anxious scared stressed tired exhausted sleepy bored hungry thirsty sick furious miserable lonely overwhelmed confused curious jealous embarrassed annoyed disappointed frustrated
		ready sure certain afraid sorry busy late free stuck serious weird strange crazy insane nuts stupid silly dumb useless ridiculous easy hard tough difficult rough challenging huge tremendous powerful
		joyful fulfilling therapeutic calming relaxing peaceful delicious tasty yummy gorgeous stunning breathtaking impressive memorable unforgettable unreal wild epic solid legit surreal
		worth true wrong right real dead alive slow fast quick quiet loud hot cold warm freezing boiling dark bright tight messy fresh new old big small high low close done lost broken gone over back there
		up down off wonderful magical meaningful valuable helpful supportive kind sweet fabulous thrilled delighted pumped stoked psyched hooked obsessed honored fortunate motivated inspired determined
		passionate creative positive negative hopeful optimistic unbelievable invaluable appealing delightful refreshing uplifting eye-opening heartwarming nerve-wracking nerve-racking mind-blowing comforting cherished`)
	// fleeting are verbs and nouns of what is going on, not of what is.
	fleeting = words(`wait picture imagine believe wonder hope wish guess bet mean thank thanks appreciate congrats welcome hear heard talked kid boy girl teen teenager chat chats talk talking chatting catch catching bounce
		feeling feelings vibe vibes blast thrill journey question questions favor favour minute moment sec thought thoughts faith idea clue doubt doubts luck fun progress difference ton way mood yet`)
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
		named = named || articles[t.word] && next.word != "" && (i > 0 || t.word != "no") || t.capital || t.exact
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
			if abiding[w] && towards[at(tokens, j+1).word] {
				break
			}
			if verdicts[w] || j > i+1 && prizes[w] {
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

// abiding judge for good, where it is said of what.
var (
	abiding = words(`new bad good great terrible awful hopeless afraid scared busy free slow sick short`)
	towards = words(`of at to on in with`)
)

// prizes are nouns that judge.
var prizes = words(`blast thrill journey adventure dream nightmare challenge pleasure joy honor honour blessing gift treat delight relief hit winner game-changer lifesaver reminder roller coaster breeze mess shame pity pain must riot ride escape boost`)

// weighty reports whether a clause has something that is worth the record: a
// number, a name, a date.
func weighty(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.capital || t.exact || numerals[t.word] })
}

// concrete reports whether a clause has a number in figures or a name.
func concrete(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.capital || t.exact })
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
	life love family food music art nature people time work home school money health hope joy peace dance balance kindness practice support hard trips moments things stuff change everyone everybody someone nobody everything something nothing`)

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
	case subject == thing && !weighty(tokens) && strings.EqualFold(rest, clause) && rule.kind == yiku.TypeProject && !articles[tokens[0].word]:
		return false // who does it is not said
	case proper(subject) && (verb == "like" || verb == "love" || copulas[verb] && !describes(body)):
		return false
	case !rule.general:
		return (!soft[rule.attribute] || taste(body, rule.attribute == "preference")) && (rule.attribute != "" || rule.kind != yiku.TypeProfile && rule.kind != yiku.TypePreference || !fades(body))
	case perfect(body) || len(body) < 2:
		return false
	case rule.kind == yiku.TypeConstraint:
		return true
	case others.covers(subject):
		return !fades(body)
	case articles[body[0].word]:
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
		if !copulas[t.word] {
			continue
		}
		next := at(body, i+1)
		return articles[next.word] || next.capital || next.exact || belonging[next.word] || next.word == "in" || next.word == "on" || next.word == "at" || next.word == "with" || next.word == "not" ||
			next.word == "also" || next.word == "now" || strings.HasSuffix(next.word, "ing") || strings.HasSuffix(next.word, "ed") || strings.HasSuffix(next.word, "ian") || strings.HasSuffix(next.word, "an")
	}
	return true
}

// fades reports whether a clause is of what is going on.
func fades(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return fleeting[t.word] })
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
// living, a habit or a rule, what they are, what they have; or something of
// weight that is not over.
func does(body []token, team bool) bool {
	i, rule := 0, false
	for i < len(body) && (adverbs[body[i].word] || body[i].word == "do" && at(body, i+1).word == "not" || body[i].word == "not" || body[i].word == "cannot") {
		rule = rule || body[i].word == "not" || body[i].word == "never" || body[i].word == "always" || body[i].word == "only"
		i++
	}
	verb, next := at(body, i).word, at(body, i+1).word
	switch {
	case copulas[verb]:
		return being(body[i:]) || concrete(body) && !fades(body) || body[len(body)-1].word == "now" && !fades(body)
	case verb == "took" && next == "over", verb == "keep" && (articles[next] || next == "all"), verb == "got" && (belonging[next] || next == "promoted"), verb == "left" && at(body, i+1).capital:
		return true
	case mental[verb] || fades(body) || verdicts[next]:
		return false
	case next == "well" || next == "hard" || next == "together":
		return false
	case lastingVerbs[verb], verb == "have" && next == "never":
		return true
	case verb == "have" || verb == "take":
		return next == "a" || next == "an" || next == "no" || numerals[next] || weighty(body)
	case verb == "do":
		return next != "" && !articles[next] && !dangling[next]
	case over(verb):
		return telic[verb] && weighty(body)
	}
	return rule || team || weighty(body) || len(body) > 2
}

// over reports whether a verb is in the past.
func over(verb string) bool { return strings.HasSuffix(verb, "ed") || past[verb] }

var (
	// mental are verbs of what goes on in a mind.
	mental = words(`know think understand remember care mind want see feel hope guess suppose say said tell mean meant agree recommend suggest swear need love like enjoy find found try tried ask asked trust forget
		realize realise notice keep get let expect deserve miss support create inspire relate come go make encourage cherish value admire respect adore believe promise bet look seem apologize apologise assume recall wish`)
	past = words(`went saw had made did came said told thought knew felt kept left met put ran sat sent spoke spent stood took wrote ate drank drove fell flew forgot gave grew heard held hit hurt lost paid read rode sang slept swam threw wore woke was were been`)
	// telic are past verbs whose outcome holds.
	telic = words(`moved joined started decided chose picked switched bought sold hired renamed graduated retired lived worked studied served migrated upgraded settled agreed enrolled registered founded opened closed quit turned got used taught`)
)

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
// not the thing before one's eyes; what is chosen may be one of several things.
func taste(tokens []token, chosen bool) bool {
	for i, t := range tokens {
		switch t.word {
		case "how", "what", "when", "if", "i", "we", "he", "she", "they", "me", "myself", "the", "that", "hear", "know", "see":
			if i > 0 && i <= 3 && !weighty(tokens) && !(chosen && t.word == "the") {
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
		shoot scan rent rents raise raises breed grow grows sell sells bake bakes play plays sing sings knit knits paint paints garden gardens carve swim swims serve served retired retire graduated married divorced engaged adopted
		hired promoted joined moved switched born bill invoice ship ships release publish test deploy deploys host support supports ingest store track merge record log charge belong wear avoid eat eats drink drinks sleep
		smoke smokes quit use uses bought sold hire practise practice travel collect pay prefer prefers hate hates lived worked handles handle covers forbids requires`)
)
