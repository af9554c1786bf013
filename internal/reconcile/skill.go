package reconcile

import (
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/lang"
)

// SkillKey is a skill's name as it is compared: folded, its words one blank
// apart, without the punctuation around it. A skill is known by its name (C15),
// so this is what duplicates of skills are found by.
func SkillKey(name string) string {
	return strings.Trim(strings.Join(strings.Fields(lang.Fold(name)), " "), " \t,，.。;；:：!！?？\"“”'‘’「」")
}

// SameSituation reports whether two skills apply in the same situation.
func SameSituation(a, b yiku.Skill) bool {
	return SkillKey(a.Situation) != "" && SkillKey(a.Situation) == SkillKey(b.Situation)
}

// SameSteps reports whether two skills have the same steps in the same order.
func SameSteps(a, b yiku.Skill) bool {
	return slices.EqualFunc(a.Steps, b.Steps, func(x, y string) bool { return ContentKey(x) == ContentKey(y) })
}
