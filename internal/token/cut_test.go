package token_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/token"
)

func TestA4_MarkerSpeaksTheTextsLanguage(t *testing.T) {
	t.Parallel()
	c := token.New().For("gpt-4o")
	for want, text := range map[string]string{
		"字]…":               strings.Repeat("我们明天去北京开会，用 Go 写程序。", 100),
		" characters cut]…": strings.Repeat("We meet in Beijing (北京) tomorrow. ", 100),
	} {
		got := token.Middle(c, text, 60)
		if !strings.Contains(got, want) || c.Text(got) > 60 || c.Text(got) < 40 {
			t.Errorf("%d tokens: %s", c.Text(got), got)
		}
	}
}

func marker() *regexp.Regexp {
	return regexp.MustCompile(`…\[(?:已省略 (\d+) 字|(\d+) characters cut)\]…`)
}

// cutFault says what is wrong with a cut of text, "" where nothing is.
func cutFault(c token.Texts, text, cut string, limit int) string {
	switch {
	case c.Text(cut) > limit:
		return "too long"
	case !utf8.ValidString(cut):
		return "a character was split"
	case cut == "" || cut == text:
		return ""
	}
	at := marker().FindStringSubmatchIndex(cut)
	if at == nil {
		return "no marker"
	}
	said, _ := strconv.Atoi(strings.Trim(marker().FindStringSubmatch(cut)[1]+marker().FindStringSubmatch(cut)[2], " "))
	front, back := cut[:at[0]], cut[at[1]:]
	if !strings.HasPrefix(text, front) || !strings.HasSuffix(text, back) {
		return "not the text's ends"
	}
	if utf8.RuneCountInString(front)+utf8.RuneCountInString(back)+said != utf8.RuneCountInString(text) {
		return "the marker's number is wrong"
	}
	return ""
}

func TestA4_CutInTheMiddle(t *testing.T) {
	t.Parallel()
	r := token.New()
	rapid.Check(t, func(t *rapid.T) {
		c := r.For(rapid.SampledFrom([]string{"gpt-4o", "gpt-4", "claude", "x"}).Draw(t, "model"))
		text := strings.Repeat(mixed().Draw(t, "text"), rapid.IntRange(1, 20).Draw(t, "times"))
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		if marker().MatchString(text) {
			t.Skip("the text has a marker of its own")
		}
		cut := token.Middle(c, text, limit)
		if fault := cutFault(c, text, cut, limit); fault != "" {
			t.Fatalf("%s: %q", fault, cut)
		}
		head := token.Truncate(c, text, limit)
		if !strings.HasPrefix(text, head) || !utf8.ValidString(head) || c.Text(head) > limit {
			t.Fatalf("not a beginning of %d tokens: %q", limit, head)
		}
		if whole := c.Text(text); whole <= limit && cut != text && len(text) < 400 && whole < limit/2 {
			t.Fatalf("a text that fits was cut: %q", cut)
		}
	})
}

func TestA4_CutCheckerSeesFaults(t *testing.T) {
	t.Parallel()
	c := token.New().For("")
	text := strings.Repeat("记住这件事。", 50)
	good := token.Middle(c, text, 40)
	if fault := cutFault(c, text, good, 40); fault != "" || good == text {
		t.Fatal(fault, good)
	}
	for name, bad := range map[string]string{
		"too long": text, "split": good[:1] + good, "no marker": "记住", "ends": "x" + good, "number": strings.Replace(good, "省略 2", "省略 3", 1),
	} {
		if bad != good && cutFault(c, text, bad, 40) == "" {
			t.Errorf("%s was not seen", name)
		}
	}
}

func TestA4_CutOfAMegabyteReadsLittle(t *testing.T) {
	t.Parallel()
	c := &meter{c: token.New().For("gpt-4o")}
	text := strings.Repeat("日志 line 12345 of a log, ", 1<<20/28)
	cut := token.Middle(c, text, 1000)
	if n := c.c.Text(cut); n > 1000 || n < 900 {
		t.Errorf("%d tokens", n)
	}
	if c.bytes > 100_000 {
		t.Errorf("%d bytes were counted for a cut to 1,000 tokens", c.bytes)
	}
}

// TestA3_OverIsSure: what is said to be over a limit is, in every model's
// tokens.
func TestA3_OverIsSure(t *testing.T) {
	t.Parallel()
	r, seen := token.New(), 0
	for _, unit := range []string{"日志 line 12345 of a log, ", "a", "记", " \n\t", "={}();", "https://example.org/a?b=c&"} {
		text := strings.Repeat(unit, 40_000/len(unit))
		m := yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(text)}
		for _, model := range []string{"gpt-4o", "gpt-4", "claude", "x"} {
			c := r.For(model)
			n := c.Message(m)
			for _, limit := range []int{-1, 0, 10, n / 10, n / 2, n - 1, n, n + 1} {
				over := c.Over(m, limit)
				if over && n <= limit {
					t.Errorf("%q, %s: %d tokens were said to be over %d", unit, model, n, limit)
				}
				if over {
					seen++
				}
			}
		}
	}
	if seen < 6*4*3 {
		t.Errorf("only %d were seen to be over", seen)
	}
	c, m := r.For("gpt-4o"), yiku.Message{Role: yiku.RoleUser, Content: yiku.Text(strings.Repeat("日志 line 12345 of a log, ", 40_000))}
	if !c.Over(m, 1000) {
		t.Error("a megabyte is not over 1,000 tokens")
	}
}

// meter sums what is counted.
type meter struct {
	c     *token.Counter
	bytes int
}

func (m *meter) Text(s string) int { m.bytes += len(s); return m.c.Text(s) }
