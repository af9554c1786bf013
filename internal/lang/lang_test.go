package lang_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku/internal/lang"
)

func texts(terms []lang.Term) []string {
	out := []string{}
	for _, t := range terms {
		out = append(out, t.Text)
	}
	return out
}

// TestD2_Terms shows how both languages and what stands between them are cut.
func TestD2_Terms(t *testing.T) {
	t.Parallel()
	a := lang.NewAnalyzer(nil)
	for text, want := range map[string][]string{
		"":                            {},
		"The cats were running":       {"cat", "run"},
		"Caroline's and I don't know": {"carolin", "know"},
		"上海天气":                        {"上", "海", "上海", "天", "海天", "天气", "气"},
		"我的书":                         {"书", "的书"},
		"为什么是这样":                      {"样"},
		"getUserName":                 {"get", "user", "name", "getusernam"},
		"HTTPServer v2":               {"http", "server", "httpserver", "2", "v2"},
		"error_code_42":               {"error_code_42", "error", "code", "42"},
		"2024-03-15":                  {"2024-03-15", "2024", "3", "15"},
		"v1.2.3":                      {"v1.2.3", "1", "v1", "2", "3"},
		"13800138000":                 {"13800138000"},
		"ada@example.com":             {"ada@example.com", "ada", "exampl", "com"},
		"/usr/local/bin":              {"usr/local/bin", "usr", "local", "bin"},
		"1,000 yen":                   {"1000", "yen"},
		"on 8th May, 05:30":           {"8", "mai", "05:30", "5", "30"},
		"5月18日":                       {"5", "5月", "月", "18", "18日", "日"},
		"用Go写的API接口":                  {"用", "go", "写", "写的", "api", "接", "接口", "口"},
		"ＡＢＣ１２３":                      {"abc", "123", "abc123"},
		"Café résumé":                 {"cafe", "resum"},
		"東京タワー":                       {"東", "京", "東京", "タワ", "ワー"},
		"서울 날씨":                       {"서울", "날씨"},
		"Привет мир":                  {"привет", "мир"},
		"a\u200bda":                   {"ada"},
		"上\u200b海":                    {"上", "海", "上海"},
	} {
		if diff := cmp.Diff(sorted(want), sorted(texts(a.Terms(text)))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

// TestD2_Forms: forms of one word meet, other words do not.
func TestD2_Forms(t *testing.T) {
	t.Parallel()
	a := lang.NewAnalyzer(nil)
	term := func(w string) string {
		out := texts(a.Terms(w))
		if len(out) != 1 {
			t.Fatalf("%q has terms %q", w, out)
		}
		return out[0]
	}
	for _, family := range [][]string{
		{"paint", "paints", "painted", "painting"},
		{"study", "studies", "studied"},
		{"plan", "plans", "planned", "planning"},
		{"move", "moves", "moved", "moving"},
		{"relational", "relate"},
		{"hopeful", "hope", "hopefulness"},
		{"adoption", "adopt"},
		{"happy", "HAPPY"},
	} {
		for _, w := range family[1:] {
			if term(w) != term(family[0]) {
				t.Errorf("%q gives %q, %q gives %q", family[0], term(family[0]), w, term(w))
			}
		}
	}
}

// TestTermsAgree: documents and queries are cut alike, and nothing makes the
// analyzer fail.
func TestTermsAgree(t *testing.T) {
	t.Parallel()
	a := lang.NewAnalyzer(nil)
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9_.@'/,: 我们在上海的5月日カタ서울\-]{0,40}`)).Draw(r, "text")
		var hashes []uint64
		for i, term := range a.Terms(text) {
			hashes = append(hashes, term.Hash)
			if term.Text == "" || term.Hash>>lang.HashBits != 0 || term.Weight <= 0 || term.Weight > 1 {
				r.Fatalf("term %d: %+v", i, term)
			}
		}
		if got := a.Append(nil, text); !slices.Equal(got, hashes) {
			r.Fatalf("documents have %d terms, queries %d", len(got), len(hashes))
		}
		for i, term := range a.Query(text) {
			if term.Hash != hashes[i] || term.Text != "" {
				r.Fatalf("the fast path for queries differs at %d", i)
			}
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	a := lang.NewAnalyzer(&lang.Options{KeepEndings: true, KeepFunctionWords: true})
	if diff := cmp.Diff([]string{"the", "cats", "我", "的", "我的"}, texts(a.Terms("The cats 我的"))); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		"  Hello\t\n World ":          "hello world",
		"ＦＵＬＬ　ｗｉｄｔｈ":                  "full width",
		"ÉCOLE":                       "école",
		"e\u0301":                     "é",
		"zero\u200bwidth\u202e":       "zerowidth",
		"ｱ ㍿":                         "ア 株式会社",
		"Ⅷ 号":                         "viii 号",
		"上海\u3000浦东":                  "上海 浦东",
		"soft\u00adhyphen \U000e0041": "softhyphen",
	} {
		if got := lang.Fold(text); got != want {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestE1_Caseless: what a reader takes for the same is the same for a forget.
// Control: other words stay others.
func TestE1_Caseless(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{
		"cafe\u200b\u0301": "CAFÉ", "σοφος": "ΣΟΦΟΣ", "Straße": "STRASSE", "ſ": "S", "张\u200d三\ufe0f丰": "张三丰", "ＡＢＣ　张": "abc 张",
	} {
		if x, y := lang.Caseless(a), lang.Caseless(b); x != y {
			t.Errorf("%q is %q, %q is %q", a, x, b, y)
		}
	}
	if lang.Caseless("cafe") == lang.Caseless("café") || lang.Caseless("张三") == lang.Caseless("张山") {
		t.Error("control: others are the same")
	}
}

// TestE1_Unescape: escapes are resolved also where the JSON around is not whole.
func TestE1_Unescape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"n":"\u5f20\u4e09\u4e30`: `{"n":"张三丰`, `\ud83d\ude00 a\/b \"c\" d\ne`: `😀 a/b "c" d e`, `\\u5f20`: `\u5f20`,
		`\ud83d\u5f20`: `\ud83d张`, `\u5f`: `\u5f`, `\`: `\`, `\x 好`: `\x 好`, "": "",
	} {
		if got := lang.Unescape(text); got != want {
			t.Errorf("Unescape(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Ｈｅｌｌｏ 世界")
	f.Fuzz(func(t *testing.T, s string) {
		got := lang.Fold(s)
		if strings.ContainsFunc(got, lang.Invisible) || got != strings.TrimSpace(got) {
			t.Errorf("Fold(%q) = %q", s, got)
		}
	})
}

func TestScriptOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]lang.Script{
		"我喜欢喝茶":                         lang.Chinese,
		"I like tea":                    lang.English,
		"用 Go 写一个服务":                    lang.Chinese,
		"The word 茶 means tea in China": lang.English,
		"お茶が好きです":                       lang.Other,
		"차를 좋아해요":                       lang.Other,
		"Я люблю чай":                   lang.Other,
		"12345 !?":                      lang.Other,
		"":                              lang.Other,
	} {
		if got := lang.ScriptOf(text); got != want {
			t.Errorf("ScriptOf(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestD9_DateWords: a day is found by the words of both languages.
func TestD9_DateWords(t *testing.T) {
	t.Parallel()
	a := lang.NewAnalyzer(nil)
	held := a.Append(nil, lang.DateWords(time.Date(2024, 3, 5, 23, 30, 0, 0, time.UTC)))
	for _, question := range []string{"March", "2024", "Tuesday", "3月", "3月5日", "2024年", "星期二", "2024-03-05", "March 5th"} {
		for _, term := range a.Terms(question) {
			if !slices.Contains(held, term.Hash) {
				t.Errorf("asked for by %q, the date lacks %q", question, term.Text)
			}
		}
	}
	if got := lang.DateWords(time.Time{}); got != "" {
		t.Errorf("the zero time has words: %q", got)
	}
	tokyo := time.FixedZone("", 9*3600)
	if got := lang.DateWords(time.Date(2024, 3, 5, 23, 30, 0, 0, time.UTC).In(tokyo)); !strings.Contains(got, "3月6日") {
		t.Errorf("the day in the time's zone is not used: %q", got)
	}
}

func BenchmarkAppend(b *testing.B) {
	a := lang.NewAnalyzer(nil)
	for name, text := range map[string]string{
		"English": strings.Repeat("We were planning the relational adoption of several painted studies in Kyoto. ", 4),
		"Chinese": strings.Repeat("我们上周在上海浦东讨论了新的项目计划，下个月开始实施。", 8),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var buf []uint64
			for b.Loop() {
				buf = a.Append(buf[:0], text)
			}
		})
	}
}
