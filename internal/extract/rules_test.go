package extract_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

func read(t *testing.T, neighbours []extract.Neighbour, texts ...string) []extract.Candidate {
	t.Helper()
	w := extract.Window{Neighbours: neighbours}
	for _, s := range texts {
		w.Messages = append(w.Messages, extract.Message{Role: yiku.RoleUser, Content: s, At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)})
	}
	result, err := extract.NewRules(reconcile.NewVocabulary()).Extract(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	return result.Candidates
}

// TestC5_Statements reads statements of the usual forms in both languages: what
// is kept, as what, and under which attribute.
func TestC5_Statements(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string // type attribute=value: content
	}{
		{"My name is Anna Keller and I live in Hangzhou.", []string{"profile name=Anna Keller", "profile residence=Hangzhou"}},
		{"I'm a backend engineer, and I work at Foxglove Ltd.", []string{"profile occupation=backend engineer", "profile employer=Foxglove Ltd"}},
		{"I moved from Berlin to Lisbon last month.", []string{"profile residence=Lisbon"}},
		{"I'm allergic to peanuts.", []string{"constraint allergy=peanuts"}},
		{"I really love hiking but hate crowded trails.", []string{"preference likes=hiking", "preference dislikes=crowded trails"}},
		{"I usually drink my coffee black.", []string{"preference ="}},
		{"My favourite colour is teal.", []string{"preference favourite colour=teal"}},
		{"From now on, answer in English only.", []string{"constraint reply_language=English"}},
		{"Never push to main without a review.", []string{"constraint ="}},
		{"Please remember that the spare key is under the blue pot.", []string{"fact ="}},
		{"We use PostgreSQL as our database.", []string{"project database=PostgreSQL"}},
		{"The deadline is 12 March.", []string{"project deadline=12 March (2026-03-12)"}},
		{"My sister Emma lives in Oslo.", []string{"profile residence=Oslo"}},
		{"你好，我叫林夏，是后端工程师，住在杭州。", []string{"profile name=林夏", "profile occupation=后端工程师", "profile residence=杭州"}},
		{"我对花生过敏。", []string{"constraint 过敏=花生"}},
		{"我喜欢爬山，不喜欢人多的地方。", []string{"preference likes=爬山", "preference dislikes=人多的地方"}},
		{"以后不要再发短信，通知一律发邮件。", []string{"constraint ="}},
		{"请记住备用钥匙在蓝色花盆下面。", []string{"fact ="}},
		{"我们的数据库用的是PostgreSQL。", []string{"project 数据库=PostgreSQL"}},
		{"截止日期是3月12日。", []string{"project 截止日期=3月12日（2026-03-12）"}},
		{"我妹妹住在成都。", []string{"profile residence=成都"}},
		{"我一般喝美式咖啡，不加糖。", []string{"preference ="}},
		{"我从杭州搬到上海了。", []string{"profile residence=上海"}},
		{"我今年三十岁。", []string{"profile age=三十"}},
		{"我老家在四川。", []string{"profile hometown=四川"}},
		{"我养了一只猫叫团团。", []string{"profile ="}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range read(t, nil, test.text) {
				got = append(got, strings.TrimSpace(string(c.Type)+" "+c.Attribute+"="+c.Value))
			}
			if strings.Join(got, "; ") != strings.Join(test.want, "; ") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestC5_Nothing reads what is not worth keeping, in both languages: small
// talk, questions, guesses, moods, one-offs, what others said, text to work on.
func TestC5_Nothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Hi there!", "Thanks, that was great.", "What is my name?", "Do I like tea?", "I'm so tired today.", "Maybe I will move to Oslo.",
		"Just this once, write it as a poem.", "My boss said I live in a bubble.", "Translate this: I live in Paris and I love cheese.",
		"If I lived in Rome I would eat gelato every day.", "I'd like a coffee.", "Can you find me a flight?", "I like that idea.", "My password is hunter2.",
		"Remind me to call Ben.", "> I am a doctor", "```\nI live in a code block\n```",
		"你好！", "谢谢，太好了。", "我叫什么名字？", "我好累啊。", "我可能要搬到上海。", "这次就用顺丰吧。", "我同事说我住在月亮上。",
		"请翻译：我住在巴黎，我喜欢奶酪。", "如果我住在罗马，我每天都吃冰淇淋。", "帮我订一张票。", "我的密码是hunter2。", "提醒我给妈妈打电话。", "今天外面雨好大。",
	} {
		if got := read(t, nil, text); len(got) > 0 {
			t.Errorf("%q gave %q (%s)", text, got[0].Content, got[0].Type)
		}
	}
}

// TestC5_Corrections: "not X, we use Y" takes the place of what says X, whether
// it was just said or is known; "forget that" takes back.
func TestC5_Corrections(t *testing.T) {
	t.Parallel()
	known := []extract.Neighbour{{Content: "Orchid uses MySQL as its database.", Subject: "Orchid", Attribute: "database", Value: "MySQL"}, {Content: "住在杭州", Subject: "用户", Attribute: "residence", Value: "杭州"}}
	for _, test := range []struct {
		text, value string
		target      int
	}{
		{"It is not MySQL, we use PostgreSQL.", "PostgreSQL", 1},
		{"不是MySQL，是PostgreSQL。", "PostgreSQL", 1},
		{"我不住杭州，住在上海。", "上海", 2},
	} {
		got := read(t, known, test.text)
		if len(got) != 1 || got[0].Target != test.target || got[0].Value != test.value || got[0].Type != yiku.TypeCorrection || !got[0].Urgent {
			t.Errorf("%q gave %+v", test.text, got)
		}
	}
	if got := read(t, nil, "I live in Bern.", "No, sorry, I meant Basel, not Bern."); len(got) != 1 || got[0].Value != "Basel" || got[0].Attribute != "residence" {
		t.Errorf("a correction of what was just said: %+v", got)
	}
	if got := read(t, nil, "我住在杭州。", "别记这个。"); len(got) != 0 {
		t.Errorf("taken back: %+v", got)
	}
	if got := read(t, known, "Forget what I said about MySQL."); len(got) != 1 || got[0].Op != extract.OpDelete || got[0].Target != 1 {
		t.Errorf("forget what is known: %+v", got)
	}
}
