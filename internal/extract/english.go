package extract

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
)

// english is the grammar of English.
var english = sync.OnceValue(func() *grammar {
	return filtered(&grammar{
		plain: plainEnglish, clauses: englishClauses, subject: englishSubject, stands: englishStands, judges: func(s string) bool { return judging(englishTokens(s)) }, rules: append(englishRules(), generalEnglish()...), passing: &pattern{Regexp: passing}, comma: ", ", own: word(`^(?:i|you|please|do not|can|could|let|just|thanks?|ok|so|keep|give|make|write|use)\b`), follows: &pattern{Regexp: follows}, milestone: word(`\b(?:engaged|married|born|died|passed away|hired|promoted|joined|graduated|bought|divorced|retired?|moved|surgery|operation|adopted|elected|quit|gave birth)\b`),
		person: pat(`(?i:\b(?:my|aunt|uncle) (?:(?:older|younger|elder|little|big) )?` + relation + `\b)(?: [A-Z]\w+)?|(?i:\b(?:dad|mum|mom|grandma|grandpa|granny)\b)`), pronoun: word(`^(?:he|she)\b`), object: word(`^((?:the|our|my) (?:[\w-]+ ){0,3}?[\w-]+) (?:is|are|has|runs?|uses?|lives?|sits?|needs?|starts?|ends?|costs?|meets?|goes|was|listens|ships|holds)\b`), neuter: word(`^it\b`),
		changes: englishChanges(), current: word(`\b(?:now|these days|nowadays|currently|instead|has changed)\b`), more: word(`\b(?:also|too|as well|another|in addition|on top of|besides|plus|both)\b`),
		mind: word(`\b(?:changed my mind|on reflection|(?:on )?second thoughts?|scratch that|scrap that|change of plans?)\b|^(?:actually|hm+|no),? (?:no,? )?(?:let us|use|call|put|make|answer|reply|keep|do not|stick|i would rather)\b`), frame: englishFrame, lead: leads,
		bare:     word(`^(?:(?:wait|no|sorry|oops|typo|correction),? )+(?P<w>\d[\w:.,/-]*)$|^(?:it is|it was|make (?:it|that)|it should be|that should be|should be|i meant|is) (?P<v>[^,;]{1,60})$`),
		task:     word(`^(?:hey,? |hi,? |please |can you |could you |would you |help me )*(?:translate|proofread|summari[sz]e|rewrite|paraphrase|polish|correct|fix|check|review|explain|edit|shorten|improve|convert|classify|analy[sz]e|write|draft|compose|complete|continue)\b[^:]*:|^(?:roleplay|role-play|pretend|imagine|let us pretend|act as|you are now)\b|^(?:lyrics|quote|excerpt|story|poem|text|email|subject|from|to|re|fwd)\s*:`),
		question: word(`\?["')\]]*$|\b(?:do|does|did|is|are|was|were|has|have|can|will|would|could) not (?:it|they|you|he|she|we|i)[.!]*$|^(?:what|who|whom|whose|which|when|where|why|how|do you|did you|does|did|is|are|am i|was|were|can you tell|will|would you|should|shall|have you|has|had)\b`),
		request:  word(`^(?:please |hey,? |ok,? |now,? )*(?:can|could|would|will) you\b|^(?:please )?(?:help|show|give|tell|find|list|make|create|send|book|order|run|open|write|draft|add|set|put|draw|schedule|look|search|play|read|let us|let me)\b`),
		once: word(`\b(?:just (?:this|for) (?:once|one|time|today|now|tonight)|just once|just for (?:today|now|tonight|this)|(?:for|only) this (?:once|time|one)|this (?:one )?time(?: only| around)?|for (?:now|today|tonight|the moment|the time being)|today only|only (?:today|tonight|this time)|temporarily|one[- ]off)\b` +
			`|^(?:if|suppose|supposing|imagine|assuming|let us say|say|what if|unless|hypothetically|in theory|once upon)\b`),
		idle: word(`\b(?:would|could|might|should|wish|want to|wanted to|hope to|plan to|thinking (?:of|about)|considering|about to|going to|tempted|kidding|joking|sarcas)\b` +
			`|\b(?:feel|feeling|felt|tired|exhausted|sleepy|hungry|thirsty|bored|sad|happy|angry|annoyed|upset|stressed|nervous|excited|sick of|in a (?:good|bad) mood|glad|thanks|thank you|haha|lol|ugh|wow)\b`),
		reported: word(`\b(?:said|says|saying|told|tells|claims?|claimed|thinks?|thought|believes?|wrote|writes|mentioned|asked|asks|according to|heard that|rumou?r|quotes?|quoted|quoting)\b|\b(?:article|movie|film|book|novel|song|character|protagonist|narrator|story|show|ad|advert|sign|poster|tweet|post|email|letter)\b.*\b(?:says|is about|goes|reads)\b|^["“].*["”]$`),
		hedge:    word(`\b(?:maybe|perhaps|probably|possibly|(?-i:may)|i think|i guess|i suppose|i believe|i assume|not sure|unsure|not certain|i doubt|seems?|apparently|presumably|likely|kind of|sort of|more or less|if i remember|could be|no idea|who knows|nobody knows)\b`),
		secret:   word(`\b(?:(?:recovery|seed|backup|mnemonic|secret) (?:phrase|codes?|words?|keys?)|passwords?|pw|pwd|passwd|passcode|passphrase|pin(?: code| number)?|api[- _]?keys?|access[- ]keys?|secret(?: key)?|private key|tokens?|credentials?|pass(?:word)?:? \S*\d\S*|code (?:is|:) \d+|eyJ[\w-]{10,}|jwt|cvv|cvc|otp|verification code|security code|credit card|card number|account number|routing number|social security|ssn|passport)\b|\bsk-[\w-]{8,}|\bAKIA[A-Z0-9]{12,}|\bgh[pousr]_\w{20,}|\b(?:\d[ -]?){13,19}\b`),
		remember: word(`^(?:(?:hey|hi|ok|okay|oh|also|and|please|so|just|can you|could you|would you|i want you to|i need you to|i would like you to),? )*(?:(?:remember|do not forget|never forget)(?: this| that|,? please)*\s*[:–—-]?|(?:note|make a note|keep in mind|keep (?:this|that) in mind|bear in mind|memori[sz]e|save (?:this|that)|for the record|for (?:your|future) reference|write (?:this|that) down|fyi|just so you know)(?: this| that| of| to your memory| for later| the following|,? please)*\s*[:：,，–—-]?)(?:\s+|[:：，]\s*)(.+)$`),
		noted:    word(`^(.{8,}?)(?:[,;.—–-]+ (?:and |so |please )*| (?:and|so) (?:please )?)(?:remember|note|store|save|record|log|keep|file|jot|write|put|hang on to|hold on to|bear) (?:that|this|it|them|em|those|these)(?: in mind)?(?: down| somewhere| on file)?(?: (?:for|in) .{2,40})?(?:,? please)?[.!]*$`),
		alone:    word(`^(?:(?:please|so|and|ok|can you|could you),? )*(?:remember|note|record|save|keep|store|write|jot|put|log|hang on to|hold on to|bear) (?:that|this|it|them|these|those|all (?:of )?(?:that|this))(?: (?:down|in mind|on file|safe|somewhere|in your memory))?(?: for (?:me|later|next time|future reference|all .{2,30}))?(?:,? (?:please|ok|thanks))?[.!]*$`),
		joke:     word(`^(?:(?:lol|haha|no|ok|i am|i was),? )*(?:jk|j/k|just kidding|just joking|only joking|only kidding|kidding|joking)\b`),
		listing:  word(`(?:\babout me\b|\bfor your (?:records|reference|memory)\b|\b(?:remember|note|keep in mind|save|know)\b)[^:]{0,40}:$`),
		reminder: word(`^(?:please |also |and |oh,? )*(?:remind me|(?:remember|do not forget|do not let me forget) to (?:[a-z]+ ){0,2}[a-z]+|set (?:an? )?(?:alarm|reminder|timer))`),
		forget:   word(`^(?:(?:please|actually|i would like you to|i want you to|could you|can you|no|ok|okay|cool|never mind|and|oh|wait),? )*(?:(?:forget|delete|erase|remove|drop|wipe)(?: (?:everything|anything|all|what|whatever))?(?: (?:that )?(?:i (?:just )?(?:said|told you|mentioned)|you (?:know|remember|have)))?(?: about| on)?(?: (.+?))?(?: from (?:your )?memor(?:y|ies))?|(?:do not|never) (?:remember|save|store|keep|record|memori[sz]e|note) (that|this|it|any of (?:that|this|it)|what i (?:just )?said)|scratch (that)|(?:that|this) (?:is|was) off the record())[.! ]*$`),
		erase:    word(`\b(?:the|my|our) (?P<x>[\w-]+(?: [\w-]+)?) (?:must not|should not|cannot|is not to|does not need to|need not) be (?:kept|stored|saved|remembered|on record)|^(?:.{0,40}?[,.] ?)?(?:please |and |but |cool, |i would like you to |i would rather you |can you |could you |you can |you may |you should |just |on second thoughts?,? )*(?:erase|wipe|forget|delete|do not (?:store|save|keep|record|remember))(?: (?:what|everything|anything|all|whatever)(?: that)? i (?:just )?(?:told you|said|mentioned)| (?:the )?(?:bit|part|thing|stuff))?(?: about)?(?: (?:where|what|how|who|that|the fact that))?(?: (?:my|i|the))? (?P<w>[\w-]+(?: [\w-]+)?)`),
		durable:  word(`\b(?:from now on|from here on|going forward|in (?:the )?future|henceforth|at all times|every time|no matter what|ever again|any ?more from (?:you|now))\b.*\b(?:\w+)|^(?:(?:please|and|also|so|but|oh|ok|hey|btw|by the way|you (?:must|should)|make sure (?:to|you)|remember to),? )*(?:always|never) (?:use|answer|reply|respond|write|speak|call|address|send|give|add|include|put|ask|tell|show|suggest|recommend|mention|book|order|commit|push|deploy|delete|share|format|start|end|keep|check|run|contact|text|email|schedule|assume|translate|explain|cite|quote|sign|round|say|refer|explain|skip|leave|do|be|let|make|buy|pay|post|touch|change|edit|overwrite|merge|disclose|reveal)\b|\b(?:when(?:ever)?|every time|any time|each time) (?:you [a-z]+|i ask (?:you )?(?:for|to|about)|suggesting|recommending|writing|planning|booking|answering|drafting|editing|replying)\b.*\b(?:i want|i need|i prefer|give|use|keep|skip|put|include|please|always|never|do not|only|make|add|leave|show|write|send|stick|avoid|start|end|get)\b.*|^for (?:anything|everything|any|all) [^,]{3,40}, (?:please )?(?:give|use|keep|skip|put|include|always|never|do not|only|make|add|show|write|send|stick|avoid|start|get|ask)\b.*|^(?:i )?(?:would )?(?:always |much |also )*(?:prefer|rather|like it|hate it|love it|cannot stand it|do not like it) (?:that |it if |if |it when |when )?you (?:[a-z]+ )+.{4,}|^(?:please )?always [a-z]+ (?:\S+ ){3,}\S+|^.{8,}\b(?:from now on|from here on|going forward|in future)[.!]*$|^(?:please )?do not (?:ever \w+|call me|address me) .{2,}|^(?:(?:please|and|also),? )*(?:do not|stop|quit) (?:ever |sending |using |calling |asking |adding |suggesting |recommending |giving |telling )?\w+.*\b(?:again|any ?more|ever|in (?:the )?future|under any circumstances)\b|^(?:please )?stop (?:sending|using|calling|asking|adding|suggesting|recommending|giving)\b`),
		telling:  word(`^(?:lemme|let me) know\b|\b(?:do not hesitate|feel free|reach out)\b|^always (?:here|there|down|up|ready|willing|open|been|had|the|an?|so|my|good|nice|great|fun|happy|\w+ed|\w+ing)\b|^(?:(?:and|but|so|well|also|honestly),? )*(?:(?:i|we|he|she|they) (?:\w+ )*?(?:am|is|are|was|were|have|has|had|will|do not|love|like|feel|get|got|know|see|think|cannot|keep|make|work|go|used to)\b|(?:it|this|that|there|what|life|nothing|something) |\w+ing\b|my \w+ (?:is|are|was)|cannot wait|excited|happy|glad|looking forward|good luck|never say never)`),
		replaced: []*pattern{
			word(`\b(?:it|that|this|he|she|they|which|my \w+|the \w+)? ?(?:is|was|are) not (?:called |named |in |at |on |a |an |the )?(?P<o>[^,;.]{1,60}?)[,;]? (?:but(?: rather)?|it is|that is|it should be|it was|she is|he is|they are|we use|i use|we are on|i live in|i work at|rather|the (?:right|correct) (?:one|\w+) is) (?:called |named |in |at |on |a |an |the )?(?P<v>[^,;]{1,80})`),
			word(`\b(?:i|we) (?:do not|does not) (?:use|live in|work at|work for|like|speak|drive|eat|drink) (?P<o>[^,;.]{1,60}?)[,;]? (?:but|i|we)(?: now| actually)? (?:use|live in|work at|work for|like|speak|drive|eat|drink) (?P<v>[^,;]{1,80})`),
			word(`\b(?:i meant|it is|it should be|that should be|should be|make that|i mean) (?P<v>[^,;]{1,80}?),? (?:not|instead of|rather than) (?P<o>[^,;.]{1,60})`),
			word(`^(?:(?:no|sorry|wait|oops|it is|make that|that is)[,:]? )*(?P<v>[^,;]{1,80}?)(?:, not| instead of|, rather than) (?P<o>[^,;.]{1,60})(?:,.*)?[.!]*$`),
		},
		correct: word(`\b(?:correction|i (?:was|am) wrong|that (?:is|was) (?:wrong|not right|incorrect|a mistake)|i made a mistake|my mistake|i misspoke|i misread|typo|to correct (?:that|myself)|i meant|(?:had|got) [^,.]{0,20}(?:wrong|mixed up)|(?:is|are|was) actually|actually (?:it is|the|my|our))\b|^(?:(?:oh|ah|gah|hm+|ok|okay),? )*(?:(?:no|nope|sorry|oops|wait|actually)\b[^,.?]{0,20}[,.!:;—–-]|actually (?:let us|make|use|call|put|change))`),
	})
})

// englishChanges are the forms in which something is said to have changed.
func englishChanges() []change {
	const (
		helping = `(?:(?:has|have|had|was|were|is|are|am|got|will|be|been|just|now|finally|also|already|recently|actually) )*`
		whose   = `(?:my |our |the |that |this |an? )?`
		tail    = `(?:$|[,.;!]| (?:and|but|so|because|last|yesterday|today|this|entirely|completely|altogether|ages ago|years ago)\b)`
	)
	return []change{
		{form: word(`(?:^|\b(?:my|our|the) )(?P<t>[\w' -]{2,40}?) ` + helping + `(?:moved|changed|switched|renamed|postponed|pushed(?: back| out)?|delayed|rescheduled|bumped|raised|lowered|increased|reduced|cut|extended|went up|gone up|dropped) (?:from [^,;]{1,40}? )?(?:to|until|till) (?P<v>[^,;]{1,60})`)},
		{form: word(`(?:^|\b(?:my|our|the) )(?P<t>[\w' -]{2,40}?) (?:is|are) (?:now|actually) (?:called |on |at |in )?(?P<v>[^,;]{1,60})`)},
		{form: word(`(?:^|\b(?:my|our|the) )(?P<t>[\w' -]{2,40}?) (?:is|are|runs on) (?:called |on |at |in )?(?P<v>[^,;]{1,60}?) (?:now|these days|instead)\b`)},
		{form: word(`\b(?:i|we|they) ` + helping + `(?:switched|migrated|moved|changed|swapped) ` + whose + `(?P<t>[\w' -]{2,30}?) (?:over )?(?:from [^,;]{1,40}? )?(?:to|with|for) (?P<v>[^,;]{1,60})`)},
		{form: word(`\bmake (?:the |my |that )(?P<t>[\w -]{2,30}?) (?P<v>[\w:-]{1,30}) instead\b`)},
		{form: word(`\b(?:switched|migrated|changed|went|swapped)(?: over)?(?: [\w' -]{2,30}?)? from (?P<o>[^,;]{2,40}?) to `)},
		{form: word(`\b(?:swapped|replaced) ` + whose + `(?P<o>[\w.&' -]{2,40}?) (?:with|for|by) `)},
		{form: word(`(?:^|\b(?:i|we|they|he|she|so|and|but|(?-i:\p{Lu})\p{L}+) )` + helping + `(?:sold|quit|closed|cancell?ed|ditched|dropped|gave up|given up|bailed on|got rid of|gotten rid of|returned|dumped|scrapped|retired from|resigned from|stopped using|done with|moved off(?: of)?|moved away from|gave away|broke up with) ` + whose + `(?P<o>[\w.&' -]{2,40}?)(?: (?:idea|plan|plans|account|subscription|job|membership))?` + tail), gone: true},
		{form: word(`\b(?:left|quit) (?P<o>(?-i:[A-Z])[\w.&'-]*(?: (?-i:[A-Z])[\w.&'-]*)*)`), gone: true},
		{form: word(`\b(?:do not|does not|am not|is not|are not|did not|cannot) (?P<p>[^,;.]{2,60}?) (?:any ?more|any longer)\b`)},
		{form: word(`\b(?:no longer|(?:has|have|had)? ?(?:stopped|quit|gave up|given up|went off|gone off)) (?P<p>[^,;]{2,60})`)},
	}
}

// word compiles an expression that does not look at case.
func word(expression string) *pattern { return pat(`(?i)` + expression) }

// plainEnglish writes out the contractions that mean one thing only.
func plainEnglish(s string) string {
	s = tag.ReplaceAllString(s, ".")
	s = strings.TrimSpace(englishShort().Replace(" " + strings.Join(strings.Fields(s), " ")))
	return role.ReplaceAllString(s, "I am $1, $2 ")
}

// tag is a question that a statement ends with.
var tag = regexp.MustCompile(`(?i)[,;—–-]+\s+(?:(?:so|and|but) )?(?:was|is|were|are|do|does|did|will|would|could|can|should|have|has|what|how|where|which|any|shall)\b[^,;.?]*\?+$`)

// role is what users say they are by the way: "As a midwife I see …".
var role = regexp.MustCompile(`(?i)^(?:speaking )?as (an? (?:[\w-]+ ){0,3}?(?:[\w-]*(?:er|or|ist|ian|ant|man|woman|wife|nurse|mum|mom|dad|parent|student)|` + profession + `)(?: (?:of|in|at|from|with|for) [^,]{2,40}?)?),? (i|my|we)\b ?`)

var englishShort = sync.OnceValue(func() *strings.Replacer {
	pairs := []string{" hes got ", " he has got ", " shes got ", " she has got ", " im ", " I am ", " ive ", " I have ", " dont ", " do not ", " doesnt ", " does not ", " cant ", " cannot ", " hes ", " he is ", " shes ", " she is ", " isnt ", " is not ", " thats ", " that is ", " pls ", " please ", " btw ", " by the way ", "can’t", "cannot", "can't", "cannot", "won’t", "will not", "won't", "will not", "Can’t", "Cannot", "Can't", "Cannot", "Won’t", "Will not", "Won't", "Will not"}
	for _, quote := range []string{"'", "’"} {
		pairs = append(pairs, "n"+quote+"t ", " not ", "I"+quote+"m ", "I am ", "i"+quote+"m ", "I am ", quote+"re ", " are ", quote+"ve ", " have ", quote+"ll ", " will ", quote+"d ", " would ")
		for _, w := range []string{"it", "It", "that", "That", "he", "He", "she", "She", "what", "What", "there", "There", "who", "Who", "Here", "here"} {
			for _, done := range []string{"been", "got", "had", "become"} {
				pairs = append(pairs, w+quote+"s "+done+" ", w+" has "+done+" ")
			}
			pairs = append(pairs, w+quote+"s ", w+" is ")
		}
		pairs = append(pairs, "name"+quote+"s ", "name is ", "let"+quote+"s ", "let us ", "Let"+quote+"s ", "Let us ")
	}
	return strings.NewReplacer(pairs...)
})

const (
	linking = `(?:and|but|so|while|though|although|plus|also|because|since|which is why|that is why|therefore|yet|however|then|now)`
	opens   = `(?:(?:i|we|he|she|they|it|there|you|that|this) [a-z]|(?:my|our|his|her|their|its) (?:[\w-]+ ){1,3}(?:is|are|was|has|have|needs?|must|can|cannot|costs?|starts?|ends?)\b|the (?:[\w-]+ ){1,3}(?:is|are|was|has|uses?|runs?|listens?|ships?|needs?|must|can|cannot|starts?|ends?|costs?|sits|lives|leaves|holds|meets|goes|opens|closes|lies)\b|(?-i:[A-Z])[\w-]+ (?:is|has|was|does|runs|handles|prefers|teaches|covers|owns|manages|speaks|plays|drives|needs|leads|handles|lives|works|likes|cannot|does not|moved|sold|got)\b|[a-z]+ (?:is|are|was|costs?|starts?|ends?) |(?:please|can you|could you|would you|do not|never|always|keep|what|how|any|should|need)\b)`
	// state begins what people and teams say of themselves; englishStands tells
	// whether it holds for more than a day.
	state = `(?:(?:also|still|now|only|mostly|always|usually|already|currently|just|recently|mainly|both|never) )*(?:do not|does not|cannot|have|has|[a-z]+)`
)

// What begins a clause of its own, and where a second statement shares the
// subject of the first.
var (
	joined   = regexp.MustCompile(`(?i)(?:(?:[,;:]|\s[—–-]+)\s*(?:` + linking + `\b,?\s+)*|\s` + linking + `\s+)(` + opens + `)`)
	relative = regexp.MustCompile(`(?i)^(?:which|who|where|when|that|what|as|if) (?:is|are|was|costs?|starts?|ends?)\b`)
	// bePart needs a form of to be before it.
	bePart = regexp.MustCompile(`^(?:(?:also|just|really|currently|mostly) )*(?:allergic|vegetarian|vegan|retired|married|single|based|born|living|working|using|running|learning|studying|training)\b`)
	// elidedSelf begins what users say of themselves without saying "I".
	elidedSelf = regexp.MustCompile(`(?i)^(?:(?:also|just|really|currently|usually|mostly) )*(?:allergic to|vegetarian|vegan|retired|married|single|based in|born in|living in|working (?:as|at|for|in|on)|using|running|learning|studying|training for|prefer|hate|love|like|enjoy|dislike|cannot (?:stand|eat|drink|have|do|drive)|never|do not (?:eat|drink|like|use|have|own|drive|speak|work)|have (?:an?|no|two|three|four|\d)|got (?:an?|no|two|three|four|\d)|own|use|drive|cycle|play|teach|study|speak|work|live|commute|rent|call me)\b .`)
	// withMe is a person with whom the speaker shares a predicate: "my wife and I".
	withMe  = regexp.MustCompile(`(?i)(?:^|\b(?:so|because|that|when|if|while|but|since|and) )(?:my|our) (?:[\w-]+ )?[\w-]+$`)
	follows = regexp.MustCompile(`(?i)^(?:so|therefore|which is why|that is why|hence),?\s+`)
	elided  = regexp.MustCompile(`(?i),? (?:and|but|then) ((?:(?:also|still|now|only|always|usually|never) )*(?:am|have|own|work|live|teach|study|speak|play|make|build|run|use|love|like|prefer|hate|enjoy|drive|cycle|hike|scan|ship|host|deploy|test|need|keep|store|charge|grow|sell|read|bake|cannot|do not|do|eat|drink|avoid|sleep|was|joined|moved|started|got) )`)
	leads   = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|hey there|hi there|ok|okay|well|so|and|but|also|oh|yes|yeah|yep|no|nope|actually|by the way|btw|anyway|honestly|personally|as you know|you know|in fact|basically|besides|again|sorry|correction|good morning|good evening|to be clear|to clarify|just|right|sure|great|nice to meet you|update|quick update|turns out|it turns out|heads up|decided|update|for context|context|fun fact|in this (?:repo|project|house|team|company)|sir|madam|now|these days|currently|nowadays|please)\s*[,!:;.—-]*\s+)+`)
)

func englishClauses(s string) []string {
	var out []string
	add := func(piece string) {
		piece = trim(piece)
		if len(out) > 0 && follows.MatchString(piece) {
			out = append(out, piece)
			return
		}
		piece = leads.ReplaceAllString(piece, "")
		subject := "I "
		if strings.HasPrefix(strings.ToLower(piece), "we ") {
			subject = "We "
		}
		for {
			at := elided.FindStringSubmatchIndex(piece)
			if at == nil || !strings.HasPrefix(strings.ToLower(piece), strings.ToLower(subject)) {
				break
			}
			out = append(out, capital(piece[:at[0]]))
			piece = subject + piece[at[2]:]
		}
		out = append(out, capital(piece))
	}
	last := 0
	for _, at := range joined.FindAllStringSubmatchIndex(s, -1) {
		if relative.MatchString(s[at[2]:]) || strings.TrimSpace(s[at[0]:at[2]]) == "and" && withMe.MatchString(s[last:at[0]]) {
			continue
		}
		if at[0] > last {
			add(s[last:at[0]])
		}
		last = at[2]
		if i := follows.FindStringIndex(strings.TrimLeft(s[at[0]:], ",; ")); i != nil {
			last = at[0] + len(s[at[0]:]) - len(strings.TrimLeft(s[at[0]:], ",; "))
		}
	}
	add(s[last:])
	return out
}

func lowered(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// relation are the words for people and animals of the user.
const relation = `(?:wife|husband|spouse|partner|girlfriend|boyfriend|fiancée?|son|daughter|kid|child|baby|mother|mom|mum|father|dad|parents|brother|sister|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew|friend|best friend|roommate|flatmate|neighbou?r|colleague|coworker|co-worker|boss|manager|teammate|assistant|teacher|doctor|dentist|dog|cat|puppy|kitten|horse|rabbit|parrot)`

var (
	bareKin  = regexp.MustCompile(`(?i)^(wife|husband|girlfriend|boyfriend|fiancée?|mom|mum|dad|grandma|grandpa|flatmate|roommate|sister|brother|son|daughter)(?:,? ((?-i:\p{Lu})[\p{L}-]+))? ((?:is|was|has|had|cannot|does|works|lives|likes|loves|hates|uses|needs|drives|teaches|plays|moved|just|also|still|studies|started|got|turned|turns|retired)\b.+)$`)
	mine     = regexp.MustCompile(`(?i)^my ((?:older |younger |elder |little |big |twin |eldest |youngest |oldest |step|ex-)*` + relation + `)(?:,? ((?-i:\p{Lu})[\p{L}-]+(?: (?-i:\p{Lu})[\p{L}-]+)?|\p{Han}{2,4}))?,? (?:also |still |now )?(.+)$`)
	myself   = regexp.MustCompile(`(?i)^(?:my [\w-]+(?: [\w-]+)? and )?(?:(?:in|at|on|for|during|outside|since|after|as|with) [^,]{2,50}?,? )?i(?: also| still| now| currently| personally| actually| really)* (.+)$`)
	ours     = regexp.MustCompile(`(?i)^(?:(?:in|at|on|for|during|since|after|as) [^,]{2,50}?,? )?(?:we|our team|the team|our company|our project|the project|this project|project [A-Z]\w+)(?: all| also| now| currently| still)? (.+)$`)
	theThing = regexp.MustCompile(`(?i)^((?:the|our|its) (?:[\w.-]+ ){0,3}?[\w.-]+?) ((?:is|are|was|has|uses?|runs?|listens?|ships?|must|may|can|costs?|starts?|ends?|lives?|relies|rely|depends?|belongs?|supports?|needs?)\b.*)$`)
	named    = regexp.MustCompile(`^((?:[A-Z][a-z]+ )?\p{Lu}[\p{L}\w.-]+(?: \p{Lu}[\p{L}\w-]+)?) ((?:is|are|has|was|lives?|works?|likes?|loves?|prefers?|hates?|uses?|runs?|moved|listens?|ships?|leads|handles|needs|cannot|does not|sold|bought|got|owns|manages|teaches|covers|joined|speaks|plays|wants|drives|goes|retired|[a-z]{3,}s)\b.*)$`)
)

// englishSubject tells whom a clause is about and what it says of them.
func englishSubject(s string) (subject, rest string) {
	if m := myself.FindStringSubmatch(s); m != nil {
		return user, m[1]
	}
	if m := mine.FindStringSubmatch(s); m != nil {
		if m[2] != "" {
			return m[2], m[3]
		}
		return "my " + strings.ToLower(m[1]), m[3]
	}
	if m := bareKin.FindStringSubmatch(s); m != nil {
		if m[2] != "" {
			return m[2], m[3]
		}
		return "my " + strings.ToLower(m[1]), m[3]
	}
	if m := ours.FindStringSubmatch(s); m != nil {
		return project, m[1]
	}
	if strings.HasPrefix(strings.ToLower(s), "my ") {
		return user, s
	}
	if m := theThing.FindStringSubmatch(s); m != nil {
		return thing + strings.ToLower(strings.SplitN(m[1], " ", 2)[1]), s
	}
	if m := named.FindStringSubmatch(s); m != nil && !generic(m[1]) {
		return m[1], m[2]
	}
	if elidedSelf.MatchString(s) {
		rest = lowered(s)
		if bePart.MatchString(rest) {
			rest = "am " + rest
		}
		return user, rest
	}
	return thing, s
}

// englishRules are tried in this order.
func englishRules() []rule {
	p, prefer, fact := yiku.TypeProfile, yiku.TypePreference, yiku.TypeProject
	form := func(e string) *pattern { return word(`^(?:` + e + `)[\s.!]*$`) }
	return []rule{
		{form: form(`(?:my (?:full )?name is|am called|is called|is named|am named) (?P<v>[^,]{1,60})`), kind: p, attribute: "name", about: persons, importance: 0.9},
		{form: form(`(?:you can |please )?(?:call me|go by) (?P<v>[^,]{1,40})`), kind: p, attribute: "nickname", about: persons, importance: 0.8},
		{form: form(`(?:everyone|everybody|people|friends|my friends|colleagues|folks|they)(?: just| all| usually)? calls? me (?P<v>[^,]{1,30}?)(?: by the way| though| btw)?`), kind: p, attribute: "nickname", about: anyone, importance: 0.8},
		{form: form(`(?:real|full|legal|first|last|middle|maiden) name(?: is|'s|:) (?P<v>[^,]{1,60})`), kind: p, attribute: "name", about: anyone, importance: 0.8},
		{form: form(`(?:now |currently )?(?:lives?|resides?|(?:am|is) (?:now |currently )?(?:based|living)) in (?P<v>.{2,80})`), kind: p, attribute: "residence", about: persons, importance: 0.8},
		{form: form(`(?:have |has |just |recently |finally |already )*(?:moved|relocated) (?:from (?P<o>.{2,60}?) )?to (?P<v>.{2,80})`), kind: p, attribute: "residence", about: persons, importance: 0.8, changed: true},
		{form: form(`(?:now |currently )?(?:works?|(?:am|is) (?:now |currently )?(?:working|employed)) (?:at|for|by) (?P<v>.{2,80})`), kind: p, attribute: "employer", about: persons, importance: 0.8},
		{form: form(`(?:now |currently )?(?:works?|(?:am|is) (?:now |currently )?(?:working|employed)) as an? (?P<v>.{2,80})`), kind: p, attribute: "occupation", about: persons, importance: 0.8},
		{form: form(`(?:am|is) (?:now )?an? (?P<v>(?:[\w-]+ ){0,4}` + profession + `)(?: by (?:trade|profession|training)| for a living)?`), kind: p, attribute: "occupation", about: persons, importance: 0.8},
		{form: form(`(?:am|is) (?:now )?(?P<v>\d{1,3})(?: years? old)?`), kind: p, attribute: "age", about: persons, importance: 0.7},
		{form: form(`(?:am|is|comes?) (?:originally )?from (?P<v>[^,]{2,60})`), kind: p, attribute: "hometown", about: persons, importance: 0.6},
		{form: form(`(?:was|were) born (?:in|on) (?P<v>.{2,60})`), kind: p, about: persons, importance: 0.7},
		{form: form(`(?:grew up|was raised|went to (?:school|college|university)|graduated|majored|studied|studies|study|(?:am|is) studying|(?:am|is) learning|teach(?:es)?|speaks?|can speak|served|volunteers?|coach(?:es)?|plays? (?:the|in)|practi[sc]es?) .{2,120}`), kind: p, about: persons, importance: 0.6},
		{form: form(`(?:am|is) (?:severely |very |highly |deathly |mildly |also )?allergic to (?P<v>.{2,80})`), kind: yiku.TypeConstraint, attribute: "allergy", about: persons, importance: 1},
		{form: form(`(?:have|has) (?:an? )?(?:severe |bad |serious |mild )?(?:[\w-]+ )?(?:allergy|intolerance)(?: to .{2,60})?|(?:have|has) (?:type [12] )?(?:diabetes|asthma|epilepsy|hypertension|high blood pressure|celiac disease|migraines|arthritis|adhd|dyslexia)`), kind: yiku.TypeConstraint, about: persons, importance: 0.9},
		{form: form(`(?:am|is) (?:now )?(?:an? )?(?:strict |lifelong )?(?P<v>vegetarian|vegan|pescatarian|flexitarian)`), kind: p, attribute: "diet", single: true, about: persons, importance: 0.8},
		{form: form(`(?:am|is) (?:now )?(?P<v>married|single|divorced|engaged|widowed)(?: to .{2,60})?`), kind: p, attribute: "marital_status", about: persons, importance: 0.6},
		{form: form(`(?:am|is) (?:an? )?(?:lactose[- ]intolerant|gluten[- ]free|diabetic|left[- ]handed|right[- ]handed|colou?r[- ]?blind|deaf|blind|(?:pre-?)?diabetic|an(?:a)?emic|autistic|epileptic|hypertensive|immunocompromised|coeliac|celiac|bipolar|ambidextrous|(?:near|far|short|long)-?sighted|hard of hearing|visually impaired|dyslexic|pregnant|retired|bilingual|asthmatic|an? (?:only child|night owl|early bird|morning person|introvert|extrovert|father|mother|parent)(?: of .{2,40})?)`), kind: p, about: persons, importance: 0.7},
		{form: form(`(?:do not|does not|never|cannot|can not|avoids?) (?:eat|drink|consume)s? (?P<v>.{2,80})|(?:have |has )?(?:stopped|quit|gave up|given up) (?:eating |drinking )?(?:smoking|[\w ]{2,60})`), kind: prefer, about: persons, importance: 0.7},
		{form: form(`(?:am|is|are) (?:no longer .{2,80}|not .{2,60} any ?more)|(?:no longer|do not|does not) (?:have|eat|drink|use|like|love|live|work|want|need|drive|play|take|smoke)s? .{2,80}(?: any ?more| any longer)(?:,.{2,20})?|no longer .{2,80}`), kind: yiku.TypeCorrection, about: anyone, importance: 0.7},
		{form: form(`(?:really |also |absolutely |do |generally |usually |much |still |always |strongly |now )*prefers? (?P<v>.{2,120})`), kind: prefer, attribute: "preference", about: persons, importance: 0.6},
		{form: form(`(?:really |also |absolutely |do |still |just |particularly |especially )*(?:loves?|likes?|enjoys?|adores?|(?:am|is) (?:really )?(?:(?:way |much )?more (?:into|of an?)|into|fond of|an? (?:big |huge |great )?fan of)) (?P<v>.{2,120})`), kind: prefer, attribute: "likes", about: persons, importance: 0.5},
		{form: form(`(?:really |also |absolutely |still )*(?:hates?|dislikes?|detests?|despises?|cannot stand|can not stand|(?:do|does) not (?:really |particularly )?(?:like|enjoy)|(?:am|is) not (?:really )?(?:into|fond of|a (?:big |huge )?fan of)) (?P<v>.{2,120})`), kind: prefer, attribute: "dislikes", about: persons, importance: 0.5},
		{form: form(`(?:have|has|own|owns|adopted|got) (?:an?|one|two|three|four|five|\d) (?:[\w-]+ ){0,3}(?:dogs?|cats?|sons?|daughters?|kids?|child|children|brothers?|sisters?|siblings?|pupp(?:y|ies)|kittens?|rabbits?|parrots?|horses?|hamsters?|fish|turtles?|twins|grandchildren|grandsons?|granddaughters?)\b.{0,80}`), kind: p, about: persons, importance: 0.7},
		{form: form(`went (?:blind|deaf|vegan|vegetarian|freelance)\b.{0,60}|lost (?:my|his|her) (?:sight|hearing|sense of smell|left \w+|right \w+)\b.{0,60}|(?:takes?|(?:am|is) (?:taking|on)) (?:\d[\w.]* ?\w* of )?[a-z]{4,}(?:in|ol|ine|one|ide|am|ate|pam|pril|statin|cillin|insulin|aspirin|ibuprofen|mab|xaban|lukast)\b.{0,60}`), kind: p, about: persons, importance: 0.8},
		{form: form(`(?:am|is) (?:really |just |definitely )*not (?:much of )?an? (?:big |huge |great )?(?:[\w-]+ ){0,2}(?:person|drinker|eater|reader|gamer|cook|talker|traveller|traveler|sleeper)`), kind: prefer, about: persons, importance: 0.5},
		{form: form(`(?:always |usually |generally |mostly |normally |typically |tends? to )+(?:goe?s? for|opts? for|leans? towards?|gravitates? towards?) .{2,80}|(?:swears? by|(?:am|is) (?:partial to|keen on|big on|hooked on)|(?:has|have) a (?:soft spot|weakness|thing) for|cannot (?:do|live) without|steers? clear of|stays? away from) .{2,80}`), kind: prefer, about: persons, importance: 0.5, general: true},
		{form: form(`(?P<v>[\w' -]{2,40}?) (?:is|are) (?:just |really |definitely |simply )*(?:a no(?:[ -]go)? for me|not (?:my (?:thing|cup of tea|style)|for me)|my (?:go-to|default|pet peeve|comfort food)|a deal ?-?breaker(?: for me)?)`), kind: prefer, about: things, importance: 0.5, general: true},
		{form: form(`(?:owns?|drives?|rides?) an? .{2,80}`), kind: p, about: persons, importance: 0.5},
		{form: form(`(?:usually|normally|typically|generally|always) (?:[a-z]+ )+.{2,100}|[a-z]+ .{2,80} (?:every (?:day|morning|afternoon|evening|night|week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|on (?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekdays|weekends)|(?:once|twice|three times) a (?:day|week|month|year))(?: .{2,40})?`), kind: prefer, about: persons, importance: 0.5},
		{form: form(`my (?P<a>favou?rite [\w ]{2,40}?|preferred [\w ]{2,40}?|default [\w ]{2,40}?) (?:is|are) (?:now )?(?P<v>.{1,80})`), kind: prefer, single: true, about: persons, importance: 0.6},
		{form: form(`name is (?P<v>[^,]{1,60})|(?:is )?(?:called|named) (?P<x>[^,]{1,60})`), kind: p, about: persons, importance: 0.7},
		{form: form(`my (?P<a>[\w' -]{2,40}?) (?:is|are|has changed to|changed to) (?:now )?(?P<v>.{1,120})`), kind: p, known: true, about: persons, importance: 0.7},
		{form: form(`birthday is (?:on )?(?P<v>.{3,40})`), kind: p, attribute: "birthday", about: persons, importance: 0.7},
		{form: form(`(?:is|are) an? (?:[\w-]+ ){0,5}[\w-]+(?: (?:at|in|for|with|from|of) .{2,60})?`), kind: p, about: persons, importance: 0.5},

		{form: form(`(?:have |has |just |recently |finally |already )*(?:switched|migrated|moved|changed|upgraded) (?:from (?P<o>.{2,60}?) )?to (?P<v>.{2,80})`), kind: fact, about: things, importance: 0.8, changed: true},
		{form: form(`(?:(?:the|our|its) (?:[\w.-]+ ){0,3}?[\w.-]+? )?(?:use|uses|(?:is|are) using|runs? on|(?:is|are) running on|relies on|rely on|chose|picked|decided on|went with|settled on) (?P<v>.{2,80}?) (?:as|for) (?:our|the|its) (?P<a>[\w -]{2,40})`), kind: fact, about: things, importance: 0.8},
		{form: form(`(?:(?:the|our|its) (?:[\w.-]+ ){0,3}?[\w.-]+? )?(?:use|uses|(?:is|are) using|runs? on|(?:is|are) running on|relies on|rely on|chose|picked|decided (?:on|to use)|went with|settled on|deploys? (?:to|on)|hosts? .{2,40} on|ships?|(?:is|are) (?:written|built|implemented|hosted|deployed|based) (?:in|with|on|at)) .{2,100}`), kind: fact, about: things, importance: 0.7},
		{form: form(`.*\blistens? on (?:port )?(?P<v>\d{2,5})`), kind: fact, attribute: "port", about: things, importance: 0.8},
		{form: form(`(?:the|our|its) (?:(?P<x>[\w.-]+(?: [\w.-]+)?)'s )?(?P<a>[\w -]{2,40}?) (?:is|are|will be|has (?:been )?(?:changed|moved|set) to|(?:was|is) (?:changed|moved|set|pushed back) to) (?:now |on |at )?(?P<v>.{1,120})`), kind: fact, known: true, about: things, importance: 0.8},
		{form: form(`(?:the|our|its) .{2,60} (?:is|are|was|were|has been|have been) (?:now )?(?:done|finished|complete|completed|deployed|released|shipped|merged|fixed|live|in production)\b.{0,80}`), kind: yiku.TypeTaskResult, about: things, importance: 0.6},
		{form: form(`(?:the|our|its) .{2,60} (?:must|may|can|has to|needs to|should) (?:not |only |at most |never )?.{2,100}`), kind: fact, about: things, importance: 0.7},
	}
}

// exact is what is worth keeping to the letter: addresses, numbers, identifiers.
const exact = `(?:https?://[^\s,，]+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|[\w.+-]+@[\w-]+\.[\w.]+|\b(?:[A-Za-z]+[-_]?)?\d[\w-]*[A-Za-z_-][\w-]*|\b[A-Z]{2,}[\w-]*\d[\w-]*|\b\w+(?:_\w+)+\b|~?(?:/[\w.-]+){2,}|\b\d{3,}[\d -]*\b|-?\d+\.\d+\S*|[$€£¥]\d[\d,.]*[kKmM]?|\d[\d,.]*%)`

// passing is what a statement of the general forms must not be: of the moment,
// about what is being worked on, or an appraisal.
var passing = regexp.MustCompile(`(?i)\b(?:yesterday|last night|earlier|see you|talk (?:to you|again|tomorrow|later|soon)|the weather|it is (?:raining|snowing|sunny|cloudy)|catch up|good luck|my life|fed up|cry(?:ing)?|dying|again|ever|today|tonight|this (?:morning|afternoon|evening|time|one|part|line|page|paragraph|draft|file|chapter|is|was|week)|right now|just now|at the moment|(?:as|see|the) (?:above|below)|(?:above|below)[.!]?$|a (?:failure|mess|wreck|fool|disaster|genius|moron|loser|idiot|fraud))\b` +
	`|^(?:just |also |still )*(?:am|are|is) (?:not )?(?:just |also |still )*(?:wondering|looking|trying|having (?:some|trouble|issues?|difficult\w*|problems?|a (?:hard|tough|great|good|bad))|debating|struggling|facing|hoping|stuck|seeing|dealing|concerned|worried|asking|reading|thinking|getting|walking|asleep|awake|sleeping|doing|going|drafting|on (?:the|my) (?:phone|way|bus|train))\b` +
	`|^(?:was|were) (?:just )?\w+ing\b|\b(?:is not working|does not work|not working either|each other|one another)\b|^(?:owe|owed|bet|stop|start|begin|finish|end up) |\ba (?:little )?(?:bit|touch|tad) of an?\b|\b(?:is|are) (?:now |still |currently )?(?:showing|reading|reporting|sitting at|hovering|returning|throwing|printing)\b|^(?:to|given) [a-z]|^(?:mis\w+|mixed up|mistyped|forgot|goofed|messed up)\b|^(?:was|were) (?:about |only |just )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|a (?:kid|child|boy|girl|teenager|baby))\b.{0,12}$`)

// generalEnglish are the general forms, tried after the others.
func generalEnglish() []rule {
	form := func(e string) *pattern { return word(`^(?:` + e + `)[\s.!]*$`) }
	return []rule{
		{form: form(`(?:the |our |my |each |every |all )?[\w' -]{2,60}?(?: ?[=:]| is| are| was| has| have| \w{2,}s| run| sit| go| come| cost| start| end| meet| open| close| leave| hold| seat)\s.*?(?:` + exact + `|\b\d+\b|(?-i:[A-Z][a-z]+[A-Z]\w*)).{0,100}`), kind: yiku.TypeFact, about: anyone, importance: 0.7, general: true},
		{form: form(`(?:the |our |my )?[\w' -]{2,40}? (?:is now|are now|(?:has |have |was |were )?(?:moved|changed|renamed|switched) to|(?:is|are) (?:on|in|at) (?:the )?\w+ \d|(?:is|are) (?:called |an? )?(?-i:\p{Lu})|(?:is|are) due) ?.{1,100}`), kind: yiku.TypeFact, about: anyone, importance: 0.6, general: true},
		{form: form(`(?i:my|our) [\w' -]{2,60}? (?:is|are|has|have|needs?|forbids?|requires?|must|cannot|allows?|costs?|starts?|ends?|goes?|meets?|was|were|runs?|sits?|lives?|uses?|works?|go|come|start|end|meet|happen|ship|talks?|should never|can never|do not|does not) .{2,140}`), kind: yiku.TypeFact, about: anyone, importance: 0.6, general: true},
		{form: form(state + ` .{2,160}`), kind: yiku.TypeProfile, about: speakers, importance: 0.5, general: true},
		{form: form(`(?:also |still |now |just )*(?:is|has|have|was|lives?|works?|leads?|handles?|runs?|needs?|cannot|does not|likes?|loves?|hates?|prefers?|uses?|speaks?|plays?|teaches|studies|started|got|moved|sold|bought|drives?|cycles|can|must|[a-z]{2,}s|owns?|manages?|goes|wants|looks after|takes care of|covers|owns|retired|joined|turned) .{2,140}`), kind: yiku.TypeProfile, about: others, importance: 0.5, general: true},
		{form: form(`(?:speaking )?as (?:an? )(?P<v>(?:[\w-]+ ){0,4}` + profession + `)(?: (?:at|in|for|from|of|with) .{2,60})?`), kind: yiku.TypeProfile, attribute: "occupation", about: anyone, importance: 0.7, general: true},
		{form: form(`(?:-|\*|•)?\s*(?P<a>[\w ]{2,20}): (?P<v>[^?]{2,60})`), kind: yiku.TypeFact, about: anyone, importance: 0.6, known: true, general: true},
		{form: form(`(?:nobody|no one|none of us|neither of us|all of us|both of us)(?: (?:here|at home|in (?:our|my|the) [\w-]+))? (?:[a-z]+s|eat|drink|drive|speak|have|use|like|can|cannot|do not|is|are)\b.{2,100}`), kind: yiku.TypeProfile, about: anyone, importance: 0.6, general: true},
		{form: form(`(?:all|every) (?:of )?(?:our |my |the )?[\w -]{2,40}? (?:goes?|must|should|needs?|has to|have to|gets?) (?:through|to|via|in|on|into|out|be|under|by)\b.{2,100}`), kind: yiku.TypeConstraint, about: anyone, importance: 0.7, general: true},
		{form: form(`(?:makes?|sells?|builds?|produces?|distributes?|imports?|exports?|publishes|serves?) (?:[a-z-]+ ){0,3}[a-z-]{4,}(?: (?:for|in|to|at) .{2,60})?`), kind: yiku.TypeProfile, about: teams, importance: 0.6, general: true},
		{form: form(`(?:the|all|every|everything) .{2,60}? (?:must|has to|have to|needs? (?:to|\w+)|wants|insists|requires|expects|cannot|can never|can only|may only|is frozen|are frozen|is forbidden|are forbidden)\b.{2,120}`), kind: yiku.TypeConstraint, about: anyone, importance: 0.7, general: true},
	}
}

// profession ends the usual names of occupations: an open list; one that is
// missing is kept without its attribute.
const profession = `(?:engineer|developer|programmer|designer|teacher|nurse|doctor|physician|lawyer|attorney|chef|cook|pilot|student|architect|analyst|consultant|accountant|auditor|scientist|journalist|reporter|manager|director|researcher|professor|lecturer|photographer|carpenter|electrician|plumber|dentist|pharmacist|translator|interpreter|editor|writer|author|musician|singer|actor|actress|farmer|driver|mechanic|barista|cashier|secretary|veterinarian|vet|surgeon|physicist|chemist|biologist|economist|librarian|firefighter|paramedic|therapist|psychologist|psychiatrist|administrator|founder|entrepreneur|freelancer|intern|technician|operator|salesperson|realtor|banker|trader|statistician|mathematician|historian|geologist|astronomer|artist|painter|illustrator|sculptor|dancer|coach|trainer|tutor|principal|soldier|officer|detective|judge|clerk|waiter|waitress|bartender|baker|butcher|tailor|hairdresser|gardener|CEO|CTO|CFO|COO)`
