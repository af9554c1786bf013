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

// TestC5_Beside reads statements that stand beside questions, requests and
// guesses, in both languages: those are kept, the rest is not.
func TestC5_Beside(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"So my budget is 2k and I prefer aisle seats, can you find me a flight?", "My budget is 2k; I prefer aisle seats"},
		{"I've been a plumber for 20 years, can you check this quote?", "I have been a plumber for 20 years"},
		{"I have celiac disease, which is why I never eat at pizza places", "I have celiac disease, which is why I never eat at pizza places"},
		{"My sister got engaged. She moved to Oslo!", "My sister got engaged; My sister moved to Oslo"},
		{"Staging lives at https://stage.example.org:8443/a?b=c and I cycle to work.", "Staging lives at https://stage.example.org:8443/a?b=c; I cycle to work"},
		{`He wrote "I am a doctor and I live in Rome."`, ""},
		{"我姓欧阳，在青岛跑出租，能帮我写个简历吗？", "我姓欧阳；我在青岛跑出租"},
		{"医生说我对尘螨过敏。", "我对尘螨过敏"},
		{"我们服务器在东京，所以日志是日本时间。", "我们服务器在东京，所以日志是日本时间"},
		{"他说：“我是医生，我住在罗马。”", ""},
	} {
		var got []string
		for _, c := range read(t, nil, test.text) {
			got = append(got, c.Content)
		}
		if s := strings.ReplaceAll(test.want, "；", "; "); strings.Join(got, "; ") != s {
			t.Errorf("%q gave %q, want %q", test.text, got, s)
		}
	}
}

// TestC5_Revised reads what takes the place of what was said of the same matter.
func TestC5_Revised(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ was, text, want string }{
		{"我们的数据库是MySQL", "不对，我刚说错了，是PostgreSQL。", "我们的数据库是PostgreSQL"},
		{"我每天六点半起", "我现在都七点半才起", "我现在都七点半才起"},
		{"Our database is MySQL.", "No, wait, it's PostgreSQL.", "Our database is PostgreSQL"},
		{"I weigh 104 kg.", "Please erase my weight.", ""},
	} {
		var got []string
		for _, c := range read(t, nil, test.was, test.text) {
			got = append(got, c.Content)
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%q and %q gave %q, want %q", test.was, test.text, got, test.want)
		}
	}
}

func BenchmarkRules(b *testing.B) {
	rules := extract.NewRules(reconcile.NewVocabulary())
	for name, text := range map[string]string{
		"en": strings.Repeat("The results of the second run were rather close, and my budget is 2k, can you look at it? ", 11),
		"zh": strings.Repeat("这段话讲的是第二次实验的结果，我们的预算是两万，你帮我看看行不行？", 10),
	} {
		w := extract.Window{Messages: []extract.Message{{Role: yiku.RoleUser, Content: text, At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}}}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := rules.Extract(context.Background(), w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
