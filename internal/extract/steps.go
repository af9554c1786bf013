package extract

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
)

const (
	minSteps     = 2
	maxSteps     = 64
	maxStep      = 500 // characters
	maxSkillName = 120 // characters
)

var (
	// numbered is the mark of a list's item, at its start or within a line.
	numbered = regexp.MustCompile(`(?:^|[\s:：;；,，])(?:(?i:step) ?(\d{1,2})[:.)：]|(\d{1,2})[.)、．）](?:\s|\p{Han})|第([一二三四五六七八九十])步[:：，,、]?|步骤([一二三四五六七八九十\d])[:：，,、]?)`)
	bullet   = regexp.MustCompile(`^\s*(?:[-*•·]|\d{1,2}[.)、．）])\s*`)

	zhFirst = regexp.MustCompile(`^(?:首先|先|第一步[:：，,、]?|一是)`)
	zhNext  = regexp.MustCompile(`^(?:再|然后|接着|接下来|随后|之后|跟着|最后|第[二三四五六七八九十]步[:：，,、]?|完了再?|并且?)+`)
	zhLast  = regexp.MustCompile(`^(?:最后|末了)`)
	zhCut   = regexp.MustCompile(`[，,；;。！!]`)
	enFirst = regexp.MustCompile(`(?i)^first(?:ly| of all)?[,:]?(?:\s+|$)`)
	enNext  = regexp.MustCompile(`(?i)^(?:(?:and|then|next|after (?:that|this)|afterwards|second(?:ly)?|third(?:ly)?|finally|lastly|last|once (?:that is|it is) done)[,:]?(?:\s+|$))+`)
	enLast  = regexp.MustCompile(`(?i)^(?:and )?(?:finally|lastly)\b`)
	enCut   = regexp.MustCompile(`[,;]\s*|[.!]\s+|[.!]$|\s+(?:and )?then\s+`)
)

// Steps reads an ordered list out of a text: numbered items from 1 on, or
// clauses that "first … then …" or “先……再……” put into an order. They are the
// text's own words; nil where it holds no list of two steps.
func Steps(text string) []string {
	if list := numberedSteps(text); list != nil {
		return list
	}
	for _, s := range statements(text) {
		if _, after := headEnd(s, grammarOf(s) == chinese()); after > 0 && strings.ContainsAny(s[:after], ":：") {
			s = s[after:]
		}
		if list := sequence(s, false); list != nil {
			return list
		}
	}
	return nil
}

// statements are the sentences of a text, those together that semicolons part.
func statements(text string) []string {
	var out []string
	open := false
	for _, s := range sentences(text) {
		if open {
			out[len(out)-1] += " " + s
		} else {
			out = append(out, s)
		}
		open = strings.HasSuffix(s, ";") || strings.HasSuffix(s, "；")
	}
	return out
}

// numberedSteps are the items of the first list that counts from 1.
func numberedSteps(text string) []string {
	var starts, ends []int // where the mark of an item begins and ends
	for at := 0; ; {
		m := numbered.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		n := 0
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				n = ordinal(text[at+m[g] : at+m[g+1]])
			}
		}
		end := at + m[1]
		if r, size := utf8.DecodeLastRuneInString(text[:end]); r > utf8.RuneSelf && m[4] >= 0 && !strings.ContainsRune("、．）", r) {
			end -= size // the item's first character
		}
		if n == len(starts)+1 {
			starts, ends = append(starts, at+m[0]), append(ends, end)
		} else if n == 1 {
			starts, ends = []int{at + m[0]}, []int{end}
		}
		at = end
	}
	if len(starts) < minSteps {
		return nil
	}
	var list []string
	for i := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		item := text[ends[i]:end]
		if line, _, more := strings.Cut(strings.TrimSpace(item), "\n"); more && i+1 == len(starts) {
			item = line // what follows the list
		}
		list = append(list, strings.Join(strings.Fields(item), " "))
	}
	return checkedSteps(list)
}

func ordinal(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return strings.Index("一二三四五六七八九十", s)/len("一") + 1
}

// sequence reads the steps of one sentence. Where its head has said that steps
// follow, each clause is one; else the words of order must stand there.
func sequence(s string, listed bool) []string {
	first, next, last, cut := enFirst, enNext, enLast, enCut
	if grammarOf(s) == chinese() {
		first, next, last, cut = zhFirst, zhNext, zhLast, zhCut
	}
	var list []string
	ordered := false
	at := 0
	for _, c := range append(cut.FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		clause := trim(s[at:c[0]])
		then := strings.Contains(strings.ToLower(s[at:c[0]]+s[c[0]:c[1]]), "then")
		at = c[1]
		switch {
		case clause == "":
			continue
		case len(list) == 0 && !listed && !first.MatchString(clause):
			continue // what leads up to the list
		}
		ordered = ordered || len(list) > 0 && next.MatchString(clause) || then
		final := last.MatchString(clause)
		list = append(list, trim(next.ReplaceAllString(first.ReplaceAllString(clause, ""), "")))
		if final {
			break
		}
	}
	if !ordered && (!listed || len(list) < minSteps) {
		return nil
	}
	return checkedSteps(list)
}

// narrated is a clause that tells what somebody did or does: no step.
var narrated = regexp.MustCompile(`(?i)^(?:i|we|he|she|they|it|the user|there|that|this)\b|^(?:我|他|她|它|他们|她们)`)

// checkedSteps are the items of a list that may be steps; nil where they are not.
func checkedSteps(list []string) []string {
	var steps []string
	for _, item := range list {
		item = trim(item)
		if item == "" {
			continue
		}
		if utf8.RuneCountInString(item) > maxStep || narrated.MatchString(item) {
			return nil
		}
		steps = append(steps, item)
	}
	if len(steps) < minSteps || len(steps) > maxSteps {
		return nil
	}
	return steps
}

// SkillOf reads a skill out of what was saved as one: its name is what leads in
// its steps, or its first words; its steps are its list, or else its sentences.
func SkillOf(content string) *yiku.Skill {
	if head, steps := stated(content); steps != nil {
		matter := matterOf(head)
		return &yiku.Skill{Name: matter, Situation: matter, Steps: steps, Version: 1}
	}
	lead := sentences(content)
	s := &yiku.Skill{Steps: Steps(content), Version: 1}
	if len(lead) > 0 {
		s.Name = brief(lead[0])
	}
	if s.Steps == nil {
		s.Steps = lead
	}
	return s
}

// brief is the beginning of a text that may stand as a name.
func brief(s string) string {
	if head, _, ok := strings.Cut(strings.Replace(s, "：", ":", 1), ":"); ok && trim(head) != "" {
		s = head
	}
	r := []rune(trim(s))
	return string(r[:min(len(r), maxSkillName)])
}

// NameOf is what a text begins with, as a name: up to its colon, or its first
// sentence; "" where it says nothing.
func NameOf(text string) string {
	lead := sentences(text)
	if len(lead) == 0 {
		return ""
	}
	return brief(lead[0])
}

// maxLead is how long the sentences are that stand for a text, in bytes.
const maxLead = 600

// Lead is the beginning of a text in whole sentences, each as it was written; ""
// where its first is too long.
func Lead(text string) string {
	var b strings.Builder
	for _, s := range sentences(Own(text)) {
		if b.Len()+len(s) > maxLead {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}
