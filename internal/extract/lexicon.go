package extract

import (
	"strings"
	"sync"
)

// set is a list of words to look up.
type set map[string]bool

func words(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

// wordLists are the words by which English clauses are told apart, most of them
// of the closed classes.
type wordLists struct {
	addressed set
	deictic   set
	dangling  set
	periods   set
	articles  set
	degree    set
	copulas   set
	finites   set
	// verdicts judge. They say how somebody finds a thing, not what is.
	verdicts set
	// fleeting are verbs and nouns of what is going on, not of what is.
	fleeting set
	abiding  set
	towards  set
	// prizes are nouns that judge.
	prizes   set
	numerals set
	// common are words that begin sentences and name nobody.
	common set
	// wishes are what people have that is in their minds.
	wishes set
	// mental are verbs of what goes on in a mind.
	mental set
	past   set
	// telic are past verbs whose outcome holds.
	telic       set
	belonging   set
	whereabouts set
	adverbs     set
	// lastingVerbs say in the present tense what somebody does for a living, has
	// made a habit of, or holds to; the past ones tell the turns of a life.
	lastingVerbs set
	// vague are verbs and nouns that are said of every matter.
	vague set
	// fillers may stand in a statement or be left out, and it is the same.
	fillers set
	// parting words part a thing from what is said of it.
	parting set
}

var lexicon = sync.OnceValue(func() *wordLists {
	return &wordLists{
		addressed: words(`you your yours yourself ya u ur y'all`),
		deictic:   words(`this these those here`),
		dangling:  words(`it them they him her he she that one ones both such something anything everything nothing someone somebody anyone everybody everyone somewhere everywhere whatever`),
		periods:   words(`year month quarter season semester term spring summer autumn fall winter week monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december project days repo repository house company team`),
		articles:  words(`a an the my our his her their its two three four five six seven eight nine ten no every each another`),
		degree:    words(`so such too totally literally absolutely truly insanely incredibly super extremely quite pretty kinda sorta rather more less bit damn`),
		copulas:   words(`am is are was were be been being feels feel felt looks look looked seems sounds sound sounded smells tastes`),
		finites:   words(`am is are was were has have had do does did will would can could may might must should shall cannot need needs`),
		verdicts: words(`good great nice bad better best worse worst fine okay ok awesome amazing wonderful fantastic incredible awful terrible horrible lovely beautiful pretty cute cool perfect brilliant excellent
		fun funny hilarious interesting exciting inspiring rewarding satisfying special important possible impossible crucial essential key vital precious priceless proud grateful thankful lucky blessed glad happy sad angry upset
		excited nervous worried anxious scared stressed tired exhausted sleepy bored hungry thirsty sick furious miserable lonely overwhelmed confused curious jealous embarrassed annoyed disappointed frustrated
		ready sure certain afraid sorry busy late free stuck serious weird strange crazy insane nuts stupid silly dumb useless ridiculous easy hard tough difficult rough challenging huge tremendous powerful
		joyful fulfilling therapeutic calming relaxing peaceful delicious tasty yummy gorgeous stunning breathtaking impressive memorable unforgettable unreal wild epic solid legit surreal
		worth true wrong right real dead alive slow fast quick quiet loud hot cold warm freezing boiling dark bright tight messy fresh new old big small high low close done lost broken gone over back there
		up down off wonderful magical meaningful valuable helpful supportive kind sweet fabulous thrilled delighted pumped stoked psyched hooked obsessed honored fortunate motivated inspired determined
		passionate creative positive negative hopeful optimistic unbelievable invaluable appealing delightful refreshing uplifting eye-opening heartwarming nerve-wracking nerve-racking mind-blowing comforting cherished`),
		fleeting: words(`wait picture imagine believe wonder hope wish guess bet mean thank thanks appreciate congrats welcome hear heard talked kid boy girl teen teenager chat chats talk talking chatting catch catching bounce
		feeling feelings vibe vibes blast thrill journey question questions favor favour minute moment sec thought thoughts faith idea clue doubt doubts luck fun progress difference ton way mood yet`),
		abiding:  words(`new bad good great terrible awful hopeless afraid scared busy free slow sick short`),
		towards:  words(`of at to on in with`),
		prizes:   words(`blast thrill journey adventure dream nightmare challenge pleasure joy honor honour blessing gift treat delight relief hit winner game-changer lifesaver reminder roller coaster breeze mess shame pity pain must riot ride escape boost`),
		numerals: words(`two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand dozen daily weekly monthly yearly monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays weekdays weekends`),
		common: words(`here there much many most more some any all none both neither either few little only even just really still also again always never sometimes often usually maybe perhaps
	what who whom whose which when where why how if though although because since while after before until unless whether
	and but or nor for yet so as at by in of on to up with from into over under about than then now today tonight tomorrow yesterday
	i we us me mine ours theirs hers his their your its that this not no yes yeah yep nope ok okay well oh wow hey hi hello thanks please sorry sounds looks feels seems glad happy love like hope wish guess
	life love family food music art nature people time work home school money health hope joy peace dance balance kindness practice support hard trips moments things stuff change everyone everybody someone nobody everything something nothing`),
		wishes: words(`goal dream hope hopes memory memories motivation heart aim plan fear wish passion love favorite favourite fav thing`),
		mental: words(`start starts begin begins can will would could might may shall should gonna wanna gotta totally even last know think understand remember care mind want see feel hope guess suppose say said tell mean meant agree recommend suggest swear need love like enjoy find found try tried ask asked trust forget
		realize realise notice keep get let expect deserve miss support create inspire relate come go make encourage cherish value admire respect adore believe promise bet look seem apologize apologise assume recall wish`),
		past:        words(`went got won began saw had made did came said told thought knew felt kept left met put ran sat sent spoke spent stood took wrote ate drank drove fell flew forgot gave grew heard held hit hurt lost paid read rode sang slept swam threw wore woke was were been`),
		telic:       words(`moved joined started decided chose picked switched bought sold hired renamed graduated retired lived worked studied served migrated upgraded settled agreed enrolled registered founded opened closed quit turned got used taught`),
		belonging:   words(`based from responsible charge training learning studying born raised elected scared afraid allergic deaf blind married engaged divorced retired`),
		whereabouts: words(`phone way call meeting bus couch sofa line road fence hurry rush hunt lookout mission roll verge brink edge middle same point fan`),
		adverbs:     words(`also still now only mostly always usually already currently just recently mainly both never normally typically`),
		lastingVerbs: words(`work works live lives teach teaches own owns study studies speak speaks coach coaches volunteer volunteers commute commutes drive drives cycle cycles ride rides manage manages lead leads run runs
		shoot scan rent rents raise raises breed grow grows sell sells bake bakes play plays sing sings knit knits paint paints garden gardens carve swim swims serve served retired retire graduated married divorced engaged adopted
		hired promoted joined moved switched born bill invoice ship ships release publish test deploy deploys host support supports ingest store track merge record log charge belong wear avoid eat eats drink drinks sleep
		smoke smokes quit use uses bought sold hire practise practice travel collect pay prefer prefers hate hates lived worked handles handle covers forbids requires`),
		vague: words(`make makes made making keep keeps kept take takes took taken give gives given goes going went gone come comes coming came want wants wanted need needs needed know knows knew think thinks
	find finds found look looks looking help helps helped helping start starts started starting stop stops stopped tell told said show shows showed like likes liked love loves loved enjoy enjoys hate hates prefer prefers work works worked working
	play plays playing thing things year years time times week weeks month months today team world person place kind sort part side point back away down together around first last next long high real really much well good great best better
	wrong correction mistake sorry change changed changes changing chats moved switched instead anymore longer actually meant please should would could might must cannot never always still every each other another being been having doing done using used uses does`),
		fillers: words(`a an the my our i we now currently actually just these days anymore instead no wait sorry oops correction already also really still please ok always is are am was were has have had been will be`),
		parting: words(`in on at to for with from by of and but so or because since as that which who when where while about into over under before after until per named called costs starts ends runs lives expires leaves`),
	}
})
