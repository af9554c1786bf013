package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku/internal/lang"
)

// erased drops what is known of the matter that a sentence asks to forget;
// false where it does not ask, or nothing is known.
func (r *reading) erased(g *grammar, s string) bool {
	m := r.match(g, g.erase, s)
	if m == nil || r.is(g, g.question, strings.TrimRight(s, "吧。！!~～")) { // 忘掉吧 asks for it
		return false
	}
	what := trim(pointer.ReplaceAllString(strings.Join(m[1:], ""), ""))
	if !slices.ContainsFunc(r.pasts(len(r.found)), func(was past) bool { return holds(was.Content, what) }) {
		return false
	}
	r.forget(what)
	return true
}

// forget takes back what was just said, or marks for deletion what is known
// of a matter.
func (r *reading) forget(what string) {
	what = trim(pointer.ReplaceAllString(part.Split(what, 2)[0], ""))
	if what == "" || pronoun.MatchString(what) {
		r.found = slices.DeleteFunc(r.found, func(c Candidate) bool {
			return slices.Contains(c.Messages, r.at) || slices.Contains(c.Messages, r.before())
		})
		return
	}
	before := len(r.found)
	whose := r.named(what)
	r.found = slices.DeleteFunc(r.found, func(c Candidate) bool {
		return says(c.Value, c.Content, what) || slices.Contains(whose, c.Subject)
	})
	gone := len(r.found) < before
	for i, n := range r.window.Neighbours {
		if says(n.Value, n.Content, what) || slices.Contains(whose, n.Subject) {
			gone = true
			r.add(Candidate{Op: OpDelete, Target: i + 1, Content: n.Content, Urgent: true})
		}
	}
	if gone {
		return
	}
	was := r.older(len(r.found), func(was string) bool { return holds(was, what) }, thing)
	switch {
	case was != nil && was.found >= 0:
		r.found = slices.Delete(r.found, was.found, was.found+1)
	case was != nil:
		r.add(Candidate{Op: OpDelete, Target: was.number, Content: was.Content, Urgent: true})
	}
}

// named are the people of the user who have a name: what is to be forgotten of
// the name is to be forgotten of them.
func (r *reading) named(name string) []string {
	var out []string
	add := func(attribute, subject, value string) {
		if attribute == "name" && strings.HasPrefix(subject, theirs) && lang.Fold(value) == lang.Fold(name) {
			out = append(out, subject)
		}
	}
	for _, c := range r.found {
		add(c.Attribute, c.Subject, c.Value)
	}
	for _, n := range r.window.Neighbours {
		add(n.Attribute, n.Subject, n.Value)
	}
	return out
}

// elsewhere reports a sentence that has something taken away that is no memory:
// "drop the table", "delete the branch", 删掉那行代码. What is to be forgotten is
// obeyed, but where a topic is only let rest ("forget Rome, let us go to Oslo");
// what is to be deleted must name a memory: what was said or is known, a
// statement ("that I like apples"), something of the speaker's ("my phone
// number") or a datum ("the address").
func elsewhere(s string) bool {
	return taking.MatchString(s) && (aside.MatchString(s) || !toForget.MatchString(s)) && !ofMemory.MatchString(s) ||
		zhTaking.MatchString(s) && !zhOfMemory.MatchString(s)
}

var (
	taking   = regexp.MustCompile(`(?i)^(?:(?:please|ok|okay|no|and|so|now|actually|can you|could you),? )*(?:forget|remove|drop|delete|erase|wipe)\b`)
	aside    = regexp.MustCompile(`(?i)\bfrom (?:the|my|our|this|that|an?) |\bfor (?:now|today|the moment|a (?:moment|while))\b|, *(?:what|how) about\b|, *(?:let us|let's|let me|can we|shall we)\b`)
	toForget = regexp.MustCompile(`(?i)\b(?:forget|erase)\b|\b(?:delete|remove|wipe)(?: about)? (?:my|our)\b|\bthe [\w' -]{0,20}?\b(?:address|number|name|date|birthday|e-?mail|age|info(?:rmation)?|details?|entry|preference|allergy|figure|amount)\b`)
	ofMemory = regexp.MustCompile(`(?i)\b(?:memor(?:y|ies)|notes?|records?|profile|what you (?:know|have|remember)|(?:bit|part|thing|stuff|fact) (?:about|that)|(?:that|what|where|how) (?:i|we|my|our)|off the record)\b` +
		`|\b(?:what|everything|anything|all|whatever)(?: that)? (?:i|you)\b|\b(?:that|this|it|any of (?:that|this|it)|everything|what i (?:just )?said)[.! ]*$`)
	zhTaking   = regexp.MustCompile(`^(?:算了|不|那|好吧|对了|请你?|麻烦你?|你|帮我)*[，,]?(?:删掉|删了|删除|清除|清掉)`)
	zhOfMemory = regexp.MustCompile(`我|咱|关于|[说讲提]过?的|的(?:事情?|内容|信息|记忆|话)|[这那](?:个|条|件|些|事|句|一)|记忆|记录|记的|(?:删掉|删了|删除|清除|清掉)(?:它|吧|啦|哈)?[。.！!~～]*$`)
)

// keepNothingOf drops what a message told that is not to be kept: wherever in it
// that is said, the speaker means the message, and the one before where the
// message says nothing else.
func (r *reading) keepNothingOf(n int, own string) {
	if rest := offRecord.ReplaceAllString(own, ""); len(contentWords(rest)) == 0 {
		r.forget("")
	}
	r.found = slices.DeleteFunc(r.found, func(c Candidate) bool { return c.Op != OpDelete && slices.Contains(c.Messages, n) })
}

// offRecord matches an order not to keep what is being said, with nothing named
// behind "this": "I do not remember that" is none, nor is "never save this file",
// nor 别忘了.
var offRecord = regexp.MustCompile(`(?i)(?:^|[.,;:!?(—–-]\s*|\b(?:please|but|so|and|you (?:should|must))\s+)(?:please\s+)?(?:do not|don['’]?t|not|never)\s+(?:store|save|keep|record|remember|note|memori[sz]e|write)\s+(?:this|that|it|any of (?:this|that|it))(?:\s+(?:down|anywhere|please))?\s*(?:[.,;:!?)—–-]|$)|\boff the record\b` +
	`|\b(?:do not|don['’]?t|never|no need to) (?:keep|make|take|have|leave) (?:a |any )?(?:record|note|trace)s? of (?:this|that|it|any of (?:this|that|it))\b|\b(?:this|that|it|what i (?:just )?(?:said|told you))(?: has to| must| should| had better)? (?:stays?|remains?|is|be|goes no)(?: strictly| just)? (?:between (?:us|you and me)|further)\b|\bkeep (?:this|that|it) (?:between us|between you and me|to yourself)\b|\b(?:just )?between (?:us|you and me)\b` +
	`|(?:只|就)?(?:你知我知|你知道就(?:好|行))|别(?:跟|和|对)(?:别人|任何人|人|谁)(?:说|讲|提)|(?:别|不要|不用)留(?:下)?(?:记录|底|痕迹|案)|(?:这个|这些|这条|这事|这点|上面的|此事)?(?:先|就|都)?(?:别|不要|不用|不必|不许|勿|别再)(?:把(?:这个|这些|这条|这事|它))?(?:记住|记录|记下来?|保存|存下来?|存起来|存|记)(?:这个|这些|这条|这事|它|了|啊|哦|哈)?\s*(?:[，,。.！!）);；：:]|$)`)

// didIt is a report of what somebody forgot or deleted, which orders nothing.
var didIt = regexp.MustCompile(`^(?:我|他|她|他们|我们)(?:已经|刚刚?|也|又|都|全|就|早就?|不小心|居然|差点)*(?:(?:忘|删)(?:了|记了?|掉了?)|[把给][^我说讲提]{0,16}(?:忘了|忘记了?|删了|删掉了?))[。.！!~～]*$`)

// pointer is what stands around what is to be forgotten, and names nothing.
var pointer = regexp.MustCompile(`(?i)^(?:(?:the fact )?that (?:i|we|my|our)\b|(?:the )?(?:bit|part|thing|stuff) (?:about|that)\b)|^关于|[这那](?:件事情?|个|条|回事|事|句话?)$|的(?:一切|全部|所有(?:事情?|信息|内容)?|事情?)$`)

// part ends what is to be forgotten.
var part = regexp.MustCompile(`(?i),| from (?:your|the|whatever|all|any|memory)\b`)

// before is the number of the user's message before this one, 0 for none.
func (r *reading) before() int {
	for n := r.at - 1; n > 0; n-- {
		if userSpeaks(r.window.Messages[n-1]) {
			return n
		}
	}
	return 0
}
