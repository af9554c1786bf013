package extract

import (
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

// TestC5_OffTheRecord: what the user forbids to keep is not kept, wherever in the
// message that is said; the control beside it is.
func TestC5_OffTheRecord(t *testing.T) {
	t.Parallel()
	for text, kept := range map[string]bool{
		"I live in Paris.": true,
		"I live in Paris, but please don't store it.":                   false,
		"Don't save this, but I live in Paris.":                         false,
		"I live in Paris and you should not store that.":                false,
		"I live in Paris. Never save this file to disk without asking.": true,
		"别记：我住在北京。":                                                     false,
		"我住在北京，别把这个存起来":                                                 false,
		"我住在北京，不要把这个记下来":                                                false,
		"Off the record: I live in Paris.":                              false,
		"I live in Paris. I don't remember that street.":                true,
		"Don't forget: I live in Paris.":                                true,
		"我住在北京。":                                                        true,
		"我住在北京，但是别记这个":                                                  false,
		"我住在北京。这个不要记。":                                                  false,
		"别记下来，我住在北京。":                                                   false,
		"我喜欢喝白酒（别记）":                                                    false,
		"别忘了，我住在北京。":                                                    true,
	} {
		if got := len(rulesOf(t, text, nil)) > 0; got != kept {
			t.Errorf("%q: kept %v, want %v", text, got, kept)
		}
	}
}

// TestE1_TopicsAreNotMemories: what is taken off a list, or put aside, stays known.
func TestE1_TopicsAreNotMemories(t *testing.T) {
	t.Parallel()
	known := []Neighbour{{Content: "I am allergic to penicillin", Type: yiku.TypeConstraint}}
	for text, deleted := range map[string]bool{
		"Remove penicillin from the shopping list.":        false,
		"Drop penicillin from the diagram":                 false,
		"Forget penicillin, what about aspirin?":           false,
		"Forget about penicillin for now.":                 false,
		"Forget about penicillin, let us talk about pears": false,
		"Please delete penicillin from your memory.":       true,
	} {
		got := false
		for _, c := range rulesOf(t, text, known) {
			got = got || c.Op == OpDelete
		}
		if got != deleted {
			t.Errorf("%q: deleted %v, want %v", text, got, deleted)
		}
	}
}

func rulesOf(t *testing.T, text string, known []Neighbour) []Candidate {
	t.Helper()
	w := Window{Neighbours: known, Messages: []Message{{Role: yiku.RoleUser, Content: text, At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}}}
	res, err := NewRules(nil).Extract(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return res.Candidates
}
