package lang

import "strings"

// englishStop are the English function words: articles, pronouns,
// prepositions, conjunctions, auxiliaries and question words, and what an
// apostrophe leaves of them. Words of content are not here, however common, nor
// is may: it is a month.
const englishStop = `a about above after again all also am an and any are as at be because been before being
below between both but by ca can could did do does doing done down during each few for from further had has have having he
her here hers herself him himself his how i if in into is it its itself just let ll me might mine more most much must my
myself no nor not of off on once only or other ought our ours ourselves out over own re same shall she should so some
such than that the their theirs them themselves then there these they this those through to too under until up upon us ve
very was we were what when where which while who whom whose why will with wo would you your yours yourself yourselves`

// hanStop are the Chinese function characters: particles, pronouns,
// prepositions, conjunctions, measure words of anything, copulas and the
// characters that question words are made of.
const hanStop = `的了着吗呢吧啊呀哦嗯么们我你他她它您是在和与及或就也都还又很把被让给对从到这那哪之其而但并且所以因为什怎谁几个有没不会要能可`

// hanStopPairs are Chinese function words of two characters.
const hanStopPairs = `什么 怎么 怎样 如何 哪些 哪个 哪里 哪儿 哪种 哪位 为何 为什 多少 是否 请问 我们 你们 他们 她们 它们 咱们
自己 这个 那个 这些 那些 这样 那样 这里 那里 因为 所以 但是 可是 不过 而且 并且 或者 还是 如果 虽然 然后 以及 关于 对于
可以 已经 一个 一下 一些 没有 不是 就是 只是 也是 都是 有没 是不 的是 了吗 的吗 了呢 的呢 是什 么的`

func setOf(list string) map[string]struct{} {
	set := make(map[string]struct{})
	for _, w := range strings.Fields(list) {
		set[w] = struct{}{}
	}
	return set
}
