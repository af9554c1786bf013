package extract

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku"
)

// Rules for skills (C15): what the user states of how something is done, with
// its steps, and what they say of the steps that the assistant has just given.

var (
	// occasion begins a head that names when the steps apply; manner is a head's
	// noun that announces them.
	zhOccasion = regexp.MustCompile(`以后|今后|往后|每次|每当|每回|下次|凡是|遇到|碰到|碰上|一旦`)
	zhManner   = regexp.MustCompile(`步骤|流程|做法|办法|方法|诀窍|窍门|技巧|口径|套路|规程|章程|秘诀|配方|手法|顺序`)
	enOccasion = regexp.MustCompile(`(?i)^(?:from now on,? |in (?:the )?future,? |remember:? |note:? |and |so )*(?:to|in order to|how to|whenever|when|every time|each time|any ?time|next time)\b`)
	enManner   = regexp.MustCompile(`(?i)\b(?:tricks?|steps?|procedure|process|recipe|method|routine|checklist|playbook|workflow|drill|secret|way)\b.*\b(?:for|to|of|is|are|with)\b|^(?:here is )?how (?:to|i|we)\b`)

	// endorsed says that what was just done is to be done so again.
	zhEndorsed = regexp.MustCompile(`(?:以后|今后|下次|每次|往后)(?:再)?(?:遇到|碰到|碰上|出现|有|要|做)?(?P<w>[^，,。]{1,40}?)(?:的时候|时|都|就)*(?:照这个|按这个|照这样|按这样|这样|这么|照此|照着)(?:来|做|办|处理|弄|操作|搞)`)
	enEndorsed = regexp.MustCompile(`(?i)\b(?:handle|treat|fix|deal with|approach|solve|do) (?:every|all|any|each|such|these|future)? ?(?P<w>[^,.]{2,60}?) (?:like (?:that|this)|(?:this|that|the same) way)\b|\b(?:from now on|next time|every time|whenever)(?: (?:we|i|you) (?:see|hit|get|have))? ?(?P<x>[^,.]{2,60}?),? (?:do|use|follow) (?:it )?(?:like (?:that|this)|(?:this|that|the same|these) (?:way|steps))\b`)

	zhMatter = regexp.MustCompile(`^(?:请|你|记住|记一下|记得|[，,：:]|以后|今后|往后|每次|每当|每回|下次|凡是|一旦|再|要是|如果|遇到|碰到|碰上|出现|我们|我|咱们|咱|要|需要|做)+|(?:的时候|时候|时|了)?(?:你?记住|记一下|就|都|这么|这样|照这个|按这个|可以|是|为|如下|弄|做|办|处理|来|操作|要|需要|得|应该)*$`)
	enMatter = regexp.MustCompile(`(?i)^(?:(?:from now on|in (?:the )?future|remember(?: that)?|note|and|so|in order to|to|how to|how (?:i|we)|here is|whenever|when|every time|each time|any ?time|next time|the|my|our|this is|for|of|it does|it is|it shows|it gets|it throws|there is an?|i|we|you|every|all|any|each)[,:]?\s+)+|\s+(?:is|are|goes|works)(?: (?:this|that|like this|as follows))?$|,?\s*remember$`)
	enTrick  = regexp.MustCompile(`(?i)^(?:trick|steps?|procedure|process|recipe|method|routine|checklist|playbook|workflow|drill|secret|way)s? (?:for|to|of|with)\s+(?:an? |the )?`)
	zhTrick  = regexp.MustCompile(`的?(?:处理)?(?:步骤|流程|做法|办法|方法|诀窍|窍门|技巧|口径|套路|规程|章程|秘诀|配方|手法|顺序)$`)
)

// stated cuts a statement of how something is done into its head and its
// steps; nil where it is none.
func stated(s string) (head string, steps []string) {
	zh := grammarOf(s) == chinese()
	at, after := headEnd(s, zh)
	if at <= 0 {
		return "", nil
	}
	head = trim(s[:at])
	occasion, manner := enOccasion, enManner
	if zh {
		occasion, manner = zhOccasion, zhManner
	}
	listed := manner.MatchString(head)
	if !listed && !occasion.MatchString(head) || matterOf(head) == "" {
		return "", nil
	}
	tail := s[after:]
	if steps = numberedSteps(tail); steps == nil {
		steps = sequence(tail, listed && s[at:after] != "" || startsFirst(tail, zh) || !zh && strings.Contains(s[at:after], ":"))
	}
	if steps != nil && !listed && !ordered(tail, zh) {
		return "", nil
	}
	return head, steps
}

// ordered reports whether a list has words of order or numbers.
func ordered(tail string, zh bool) bool {
	if startsFirst(tail, zh) || numbered.MatchString(tail) {
		return true
	}
	if zh {
		return hasAny(tail, "再", "然后", "接着", "最后")
	}
	return hasAny(strings.ToLower(tail), " then ", "finally", "lastly")
}

func startsFirst(tail string, zh bool) bool {
	if zh {
		return zhFirst.MatchString(trim(tail))
	}
	return enFirst.MatchString(strings.TrimSpace(tail))
}

// headEnd finds where a head ends and its steps begin: at a colon, or before
// the first step.
func headEnd(s string, zh bool) (at, after int) {
	if i := strings.IndexAny(s, ":："); i > 0 {
		if zh || i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' {
			return i, i + len(string([]rune(s[i:])[:1]))
		}
	}
	if zh {
		for _, w := range []string{"首先", "先", "第一步"} {
			if i := strings.Index(s, w); i > 0 && !strings.HasPrefix(s[i:], "先生") {
				return i, i
			}
		}
		return 0, 0
	}
	if i := strings.Index(strings.ToLower(s), " first"); i > 0 {
		return i, i + 1
	}
	return strings.Index(s, ", "), strings.Index(s, ", ") + 2
}

// matterOf is what a head is about, without the words that announce steps.
func matterOf(head string) string {
	if grammarOf(head) == chinese() {
		return brief(zhTrick.ReplaceAllString(trim(zhMatter.ReplaceAllString(trim(zhMatter.ReplaceAllString(head, "")), "")), ""))
	}
	return brief(enTrick.ReplaceAllString(trim(enMatter.ReplaceAllString(head, "")), ""))
}

// skills takes the skills out of a message and returns what is left of it. A
// sentence that states one is read no further, nor is "remember that" behind it.
func (r *reading) skills(text string) string {
	if !MayHoldSkill(text) {
		return text
	}
	var rest []string
	taken := false
	for _, piece := range pieces(text) {
		g := grammarOf(piece)
		plain := g.plain(piece)
		switch {
		case g.task.MatchString(plain):
			return strings.Join(append(rest, piece), "\n")
		case taken && r.remark(g, plain):
			last := &r.found[len(r.found)-1]
			last.Importance, last.Urgent = 0.8, true
			continue
		}
		if taken = r.skill(g, plain, piece); !taken {
			rest = append(rest, piece)
		}
	}
	return strings.Join(rest, "\n")
}

// remark reports whether a sentence only asks to remember what was just said.
func (r *reading) remark(g *grammar, s string) bool {
	m := g.remember.FindStringSubmatch(s)
	if m == nil {
		m = g.noted.FindStringSubmatch(s)
	}
	return m != nil && (asSaid.MatchString(m[1]) || pronoun.MatchString(m[1]))
}

// skill reads one statement, or what is said of the assistant's last steps.
func (r *reading) skill(g *grammar, plain, written string) bool {
	if len(written) > 4*maxSentence || strings.Contains(plain, omitted) || g.question.MatchString(plain) || g.once.MatchString(plain) ||
		g.secret.MatchString(plain) || g.reported.MatchString(plain) {
		return false
	}
	if head, steps := stated(plain); steps != nil {
		matter := matterOf(head)
		c := Candidate{Content: trim(written), Type: yiku.TypeSkill, Importance: 0.7, Skill: &yiku.Skill{Name: matter, Situation: matter, Steps: steps, Version: 1}}
		if hasAny(plain, "记住", "记一下", "remember", "Remember") {
			c.Importance, c.Urgent = 0.8, true
		}
		r.add(c)
		return true
	}
	return r.endorsed(g, plain)
}

// endorsed reads that the steps which the assistant gave last are to be
// followed again: in which situation the user says, and the steps are the
// assistant's words.
func (r *reading) endorsed(g *grammar, s string) bool {
	form := enEndorsed
	if g == chinese() {
		form = zhEndorsed
	}
	m := form.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	matter := matterOf(strings.Join(m[1:], ""))
	if matter == "" || pronoun.MatchString(matter) {
		return false
	}
	for n := r.at - 1; n > 0; n-- {
		message := r.window.Messages[n-1]
		if message.Role != yiku.RoleAssistant {
			continue
		}
		said := Own(message.Content)
		steps := Steps(said)
		if steps == nil {
			return false
		}
		colon := ": "
		if g == chinese() {
			colon = "："
		}
		r.add(Candidate{Content: matter + colon + strings.TrimSpace(said), Type: yiku.TypeSkill, Importance: 0.7,
			Skill: &yiku.Skill{Name: matter, Situation: matter, Steps: steps, Version: 1}})
		r.found[len(r.found)-1].Messages = []int{n, r.at}
		return true
	}
	return false
}

// MayHoldSkill reports whether a text has one of the words without which it
// states no skill. It costs little.
func MayHoldSkill(text string) bool {
	return hasAny(strings.ToLower(text), "first", "then", "step", "trick", "procedure", "process", "recipe", "method", "routine", "checklist", "playbook",
		"workflow", "drill", "secret", "like that", "like this", "way", "1.", "1)", "先", "步", "再", "然后", "流程", "做法", "办法", "方法", "诀窍", "窍门",
		"技巧", "口径", "套路", "秘诀", "配方", "手法", "顺序", "照这", "按这", "这么", "这样", "照此", "1、")
}

// pieces cuts a text into sentences, but for lists, which stay with their head.
func pieces(text string) []string {
	var out []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		end := i + 1
		for end < len(lines) && bullet.MatchString(lines[end]) {
			end++
		}
		switch {
		case strings.HasSuffix(line, ":") || strings.HasSuffix(line, "："):
			if end-i > minSteps {
				out = append(out, line+"\n"+numberedLines(lines[i+1:end]))
				i = end - 1
				continue
			}
		case numberedSteps(line) != nil:
			out = append(out, line)
			continue
		}
		out = append(out, statements(line)...)
	}
	return out
}

// numberedLines gives the items of a list their numbers where they have bullets.
func numberedLines(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strconv.Itoa(i+1) + ". " + bullet.ReplaceAllString(strings.TrimSpace(line), ""))
	}
	return b.String()
}
