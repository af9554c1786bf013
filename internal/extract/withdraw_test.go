package extract

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
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
		"I live in Paris. Don't keep a record of this.":                 false,
		"I live in Paris, and this stays between us.":                   false,
		"I live in Paris. Just between you and me.":                     false,
		"I live in Paris. The office is between the bank and the park.": true,
		"我住在北京。这事别记":                                                    false,
		"我住在北京，别跟别人说":                                                   false,
		"我住在北京，不要留记录":                                                   false,
		"我住在北京，每天记录体重。":                                                 true,
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

// TestE1_WhatNamesAMemory: an order to forget is obeyed in whatever form it names
// what was said; an order to delete a thing that is no memory deletes none.
func TestE1_WhatNamesAMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		known   Neighbour
		text    string
		deleted bool
	}{
		{Neighbour{Content: "I like apples"}, "Forget that I like apples.", true},
		{Neighbour{Content: "I like apples"}, "Please delete the bit about apples.", true},
		{Neighbour{Content: "I have got a locker at the gym, number 212"}, "You can forget my locker number, I gave it up.", true},
		{Neighbour{Content: "I suffer from migraines"}, "On second thoughts, please forget what I told you about the migraines. It's private.", true},
		{Neighbour{Content: "My phone number is 555 0199"}, "Remove my phone number.", true},
		{Neighbour{Content: "We use Postgres"}, "Drop Postgres", false},
		{Neighbour{Content: "Our cache is Redis"}, "Delete Redis from the diagram.", false},
		{Neighbour{Content: "The staging table is called orders_tmp"}, "Drop the orders_tmp table.", false},
		{Neighbour{Content: "我喜欢吃苹果"}, "忘掉我喜欢苹果这件事", true},
		{Neighbour{Content: "我对花生过敏"}, "把我对花生过敏这条删了", true},
		{Neighbour{Content: "我海鲜过敏"}, "海鲜过敏那个当我没说，医生说不是。", true},
		{Neighbour{Content: "我前同事叫周岚"}, "把关于周岚的一切都忘了，以后别提", true},
		{Neighbour{Content: "我们的缓存用 Redis"}, "删掉 Redis 那行配置里的注释", false},
	} {
		got := false
		for _, f := range rulesOf(t, c.text, []Neighbour{c.known}) {
			got = got || f.Op == OpDelete
		}
		if got != c.deleted {
			t.Errorf("%q of %q: deleted %v, want %v", c.text, c.known.Content, got, c.deleted)
		}
	}
	// Whose name is to be forgotten is forgotten with what is known of them.
	people := []Neighbour{{Content: "我前同事叫周岚", Subject: "my 前同事", Attribute: "name", Value: "周岚"}, {Content: "我前同事在苏州", Subject: "my 前同事"}, {Content: "我住在苏州", Subject: "user"}}
	gone := map[int]bool{}
	for _, f := range rulesOf(t, "周岚的事情请你全部忘掉", people) {
		gone[f.Target] = f.Op == OpDelete
	}
	if !gone[1] || !gone[2] || gone[3] {
		t.Errorf("of a person who is to be forgotten: %v", gone)
	}
}

// TestC5_WhoseClause: a clause without a subject is about whom the clause before
// was about, and never about the speaker where that was somebody else or a thing.
func TestC5_WhoseClause(t *testing.T) {
	t.Parallel()
	for text, not := range map[string]string{
		"我前男友叫周岚，在竹科当工程师": "我在竹科当工程师",
		"我房东姓赵，住在楼上":      "我住在楼上",
		"我二姨在苏州开面馆，会唱评弹":  "我会唱评弹",
		"我的车是比亚迪，在杭州上的牌":  "我在杭州上的牌",
		"我教练是山东人，住在城西":    "我住在城西",
	} {
		for _, c := range rulesOf(t, text, nil) {
			if strings.Contains(c.Content, not) {
				t.Errorf("%q keeps %q", text, c.Content)
			}
		}
	}
}

// TestC5_Idioms: verbs of naming, living and the like that say something else
// give no fact, nor do debts, readings of an instrument and moments.
func TestC5_Idioms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"我叫了车":                             "",
		"我叫他别来":                            "",
		"我叫了两份外卖":                          "",
		"我叫王伟":                             "我叫王伟",
		"我对花生不过敏":                          "",
		"我对花生过敏":                           "我对花生过敏",
		"I live in fear":                   "",
		"I live in a van":                  "I live in a van",
		"i live in leeds":                  "I live in leeds",
		"I'm a bit of a mess":              "",
		"I owe my wife a fiver.":           "",
		"The gauge is showing 3.91":        "",
		"My wife and I live in Leeds":      "My wife and I live in Leeds",
		"我教的是数学，不是语文":                      "我教的是数学，不是语文",
		"I'm not a morning person":         "I am not a morning person",
		"I usually go for window seats":    "I usually go for window seats",
		"Anything spicy is a no for me":    "Anything spicy is a no for me",
		"That's not my thing":              "",
		"我吃不惯辣":                            "我吃不惯辣",
		"我更愿意去小馆子":                         "我更愿意去小馆子",
		"我早餐基本上都吃蛋饼":                       "我早餐基本上都吃蛋饼",
		"老规矩，少糖去冰":                         "老规矩，少糖去冰",
		"My netflix pw is Gumbo!Pot88":     "",
		"I'd rather stay in than go today": "",
	} {
		got := ""
		for _, c := range rulesOf(t, text, nil) {
			got += c.Content
		}
		if got != want {
			t.Errorf("%q gave %q, want %q", text, got, want)
		}
	}
}

// TestE1_ForgettingIsNoOrder: who says that they forgot or deleted a thing orders nothing.
func TestE1_ForgettingIsNoOrder(t *testing.T) {
	t.Parallel()
	known := []Neighbour{{Content: "我在上海有一把钥匙"}}
	for text, deleted := range map[string]bool{"我把钥匙忘了": false, "我忘了": false, "我不小心把钥匙删了": false, "把我在上海有一把钥匙这条删了": true} {
		got := slices.ContainsFunc(rulesOf(t, text, known), func(c Candidate) bool { return c.Op == OpDelete })
		if got != deleted {
			t.Errorf("%q: deleted %v, want %v", text, got, deleted)
		}
	}
}

func rulesOf(t *testing.T, text string, known []Neighbour) []Candidate {
	t.Helper()
	w := Window{Neighbours: known, Messages: []Message{{Role: yiku.RoleUser, Content: text, At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}}}
	res, err := NewRules(reconcile.NewVocabulary()).Extract(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return res.Candidates
}
