package reconcile

import (
	"strings"
	"unicode"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// Action is what becomes of a candidate.
type Action int

// The actions.
const (
	Create     Action = iota // it is new
	Reinforce                // Decision.Target says it already
	Supersede                // it takes the place of Decision.Retire, or stands in time beside the others (see Arrange)
	Quarantine               // it contradicts Decision.Target and may not overturn it: a person decides
)

// Decision is what to do, and about which of the neighbours.
type Decision struct {
	Action Action
	Single bool          // the attribute has one value at a time: Arrange says from when until when each holds
	Target *yiku.Memory  // of Reinforce and Quarantine
	Retire []yiku.Memory // of Supersede where the attribute has many values: those that it replaces
	Reason string        // in a few words, for the history
}

// firm is the confidence from which a statement is firm, not hedged.
const firm = 0.5

// Decide says what becomes of a candidate. twin is the active memory of the
// same scope with the same content, or nil. same are the active memories of
// the same scope with the same subject and attribute.
//
//	twin exists                                         → Reinforce it (a twin has no other subject, attribute or value)
//	no subject or no attribute, or nobody shares them   → Create
//	one of them has the same value                      → Reinforce it
//	the attribute has many values                       → Create; a correction retires those that it names,
//	                                                      or the only one there is
//	else, against each that is there (single-valued):
//	  it trusts its origin more than ours               → Quarantine
//	  the candidate corrects (type correction)          → Supersede
//	  it is firm and the candidate hedged               → Quarantine
//	  otherwise                                         → Supersede
//
// Nothing else retires a fact. The later valid_from wins, not the later
// arrival; of two that are equal the one that arrives later wins.
func Decide(candidate yiku.Memory, twin *yiku.Memory, same []yiku.Memory) Decision {
	if twin != nil {
		return Decision{Action: Reinforce, Target: twin, Reason: "same content"}
	}
	if candidate.Subject == "" || candidate.Attribute == "" {
		return Decision{Action: Create, Reason: "created"}
	}
	single := candidate.Single
	for i := range same {
		if saysTheSame(candidate, same[i]) {
			return Decision{Action: Reinforce, Target: &same[i], Reason: "same value"}
		}
		single = single || same[i].Single
	}
	conflicts := same
	if !single {
		conflicts = corrected(candidate, same)
	}
	for i := range conflicts {
		if mayNotOverturn(candidate, conflicts[i]) {
			return Decision{Action: Quarantine, Target: &conflicts[i], Reason: "contradicts a firmer or more trusted memory"}
		}
	}
	switch {
	case len(conflicts) == 0:
		return Decision{Action: Create, Single: single, Reason: "created"}
	case single:
		return Decision{Action: Supersede, Single: true, Reason: "another value"}
	}
	return Decision{Action: Supersede, Retire: conflicts, Reason: "corrected"}
}

// corrected are the values of a many-valued attribute that a correction sets
// right: those that it names, or the only one.
func corrected(candidate yiku.Memory, same []yiku.Memory) []yiku.Memory {
	if candidate.Type != yiku.TypeCorrection || len(same) == 1 {
		if candidate.Type == yiku.TypeCorrection {
			return same
		}
		return nil
	}
	var named []yiku.Memory
	said := lang.Fold(candidate.Content)
	for _, m := range same {
		if value := lang.Fold(m.Value); value != "" && strings.Contains(said, value) {
			named = append(named, m)
		}
	}
	return named
}

// saysTheSame reports whether two memories of one subject and attribute have
// one value. Without values their contents speak.
func saysTheSame(a, b yiku.Memory) bool {
	if a.Value != "" && b.Value != "" {
		return exact(a.Value) == exact(b.Value)
	}
	return ContentKey(a.Content) == ContentKey(b.Content)
}

// ContentKey is a content as duplicates are found by: widths, blanks and case
// made one, and without the punctuation at its end. Words whose case carries
// meaning (see exact) keep it.
func ContentKey(content string) string {
	return strings.TrimRight(exact(content), " .。!！…")
}

// StructuredKey is a content with what it says of whom: for memories whose
// contents are the same and whose subjects, attributes or values are not.
func StructuredKey(m yiku.Memory, attribute string) string {
	return strings.Join([]string{ContentKey(m.Content), SubjectKey(m.Subject), attribute, exact(m.Value)}, "\x00")
}

// SameStructure reports whether two memories do not contradict each other in
// what they say of whom; what one leaves out does not.
func SameStructure(a, b yiku.Memory) bool {
	differ := func(x, y string) bool { return x != "" && y != "" && x != y }
	return !differ(SubjectKey(a.Subject), SubjectKey(b.Subject)) && !differ(lang.Fold(a.Attribute), lang.Fold(b.Attribute)) && !differ(exact(a.Value), exact(b.Value))
}

// exact unifies widths, blanks and case, but for words that hold a digit or a
// capital behind a small letter: passwords, versions and identifiers differ by
// their case.
func exact(text string) string {
	words := strings.Fields(lang.Unify(text))
	for i, w := range words {
		if !caseMatters(w) {
			words[i] = strings.ToLower(w)
		}
	}
	return strings.Join(words, " ")
}

func caseMatters(word string) bool {
	small := false
	for _, r := range word {
		if unicode.IsDigit(r) || small && unicode.IsUpper(r) {
			return true
		}
		small = small || unicode.IsLower(r)
	}
	return false
}

// SubjectKey is a subject as it is compared. The first person is the user.
func SubjectKey(subject string) string {
	key := lang.Fold(subject)
	switch key {
	case "i", "me", "myself", "user", "the user", "我", "本人", "用户":
		return "user"
	}
	return key
}
