package token_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/token"
)

func TestA3_ModelChoosesTheTokenizer(t *testing.T) {
	t.Parallel()
	r := token.New()
	for model, want := range map[string]string{
		"": token.NameO200k, "gpt-4o": token.NameO200k, "gpt-4o-mini-2024-07-18": token.NameO200k, "gpt-4.1-nano": token.NameO200k,
		"gpt-5": token.NameO200k, "gpt-5.1": token.NameO200k, "o1": token.NameO200k, "o3-mini": token.NameO200k, "o4-mini": token.NameO200k,
		"openai/gpt-4o": token.NameO200k, "ft:gpt-4o-2024:org": token.NameO200k, "GPT-4O": token.NameO200k,
		"gpt-4": token.NameCL100k, "gpt-4-0613": token.NameCL100k, "gpt-4-turbo": token.NameCL100k, "gpt-3.5-turbo": token.NameCL100k,
		"gpt-35-turbo": token.NameCL100k, "text-embedding-3-small": token.NameCL100k,
		"claude-sonnet-4-5": token.NameFamily, "us.anthropic.claude-3-haiku": token.NameFamily, "gemini-2.5-pro": token.NameFamily,
		"qwen2.5-72b": token.NameFamily, "deepseek-chat": token.NameFamily, "meta-llama/Llama-3.1-8B": token.NameFamily,
		"llama-2-7b": token.NameBound, "our-model": token.NameBound, "gpt-40": token.NameBound, "o100": token.NameBound, "gpt-6": token.NameBound,
	} {
		if got := r.For(model).Name(); got != want {
			t.Errorf("For(%q) counts with %s, want %s", model, got, want)
		}
	}
}

func TestA3_Window(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int{
		"gpt-4o": 128_000, "gpt-4": 8_192, "gpt-4-turbo-2024-04-09": 128_000, "gpt-4.1": 1_047_576, "o1-mini": 128_000,
		"claude-opus-4-5": 200_000, "anthropic/claude-3-5-sonnet": 200_000, "gemini-1.5-flash": 1_048_576, "our-model": 0, "": 0,
	} {
		if got, known := token.Window(model); got != want || known != (want > 0) {
			t.Errorf("Window(%q) = %d, %v; want %d", model, got, known, want)
		}
	}
}

// The figures are those of the reference implementation.
func TestA3_CountsAreExact(t *testing.T) {
	t.Parallel()
	r := token.New()
	for _, c := range []struct {
		text       string
		o200k, cl1 int
	}{
		{"", 0, 0}, {"hello world", 2, 2}, {"你好", 1, 2}, {"<|endoftext|>", 7, 7}, {strings.Repeat(" ", 128), 1, 1},
	} {
		if got := r.For("gpt-4o").Text(c.text); got != c.o200k {
			t.Errorf("o200k_base %q: %d, want %d", c.text, got, c.o200k)
		}
		if got := r.For("gpt-4").Text(c.text); got != c.cl1 {
			t.Errorf("cl100k_base %q: %d, want %d", c.text, got, c.cl1)
		}
	}
}

// mixed draws text of Chinese, English, code, emoji, digits and white space.
func mixed() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"今天天气很好，", "我们用 PostgreSQL，", "龘靐齉", "𠮷野家", "hello ", "internationalization ", "func main() {\n\t", "😀👩‍👩‍👧", "\r\n \n\t", "0123456789abcdef", "カタカナ", "한국어", "e\u0301", "%%%$$$", "    "}),
		rapid.StringN(0, 20, -1),
		rapid.StringOfN(rapid.RuneFrom(nil, unicode.Han), 0, 20, -1),
		rapid.StringMatching(`[a-zA-Z0-9+/=]{0,40}`),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

func TestA3_BoundIsNeverBelowAVocabulary(t *testing.T) {
	t.Parallel()
	r := token.New()
	family, unknown, o200k, cl100k := r.For("claude-sonnet-4"), r.For("nobody-knows"), r.For("gpt-4o"), r.For("gpt-4")
	rapid.Check(t, func(t *rapid.T) {
		text := mixed().Draw(t, "text")
		real := max(o200k.Text(text), cl100k.Text(text))
		f, u := family.Text(text), unknown.Text(text)
		if f < real || u < f {
			t.Fatalf("family %d, unknown %d, vocabularies %d for %q", f, u, real, text)
		}
		wide := 0
		for _, c := range text {
			if c >= utf8.RuneSelf {
				wide += utf8.RuneLen(c)
			}
		}
		if u < wide {
			t.Fatalf("unknown %d, but %d bytes outside of ASCII in %q", u, wide, text)
		}
	})
}

// Every ideograph alone: neither bound is below either vocabulary.
func TestA3_BoundHoldsForEveryIdeograph(t *testing.T) {
	t.Parallel()
	r := token.New()
	family, unknown, o200k, cl100k := r.For("qwen3"), r.For("x"), r.For(""), r.For("gpt-4")
	for c := rune(0x4E00); c <= 0x9FFF; c++ {
		s := string(c)
		if real := max(o200k.Text(s), cl100k.Text(s)); family.Text(s) < real || unknown.Text(s) < real {
			t.Fatalf("%s: family %d, unknown %d, vocabularies %d", s, family.Text(s), unknown.Text(s), real)
		}
	}
}

func TestA3_ExactAsTheCodecWhole(t *testing.T) {
	t.Parallel()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	c := token.New().For("gpt-4o")
	rapid.Check(t, func(t *rapid.T) {
		text := mixed().Draw(t, "text")
		want, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Text(text); got != want {
			t.Fatalf("%d, the codec says %d for %q", got, want, text)
		}
	})
}

func TestA3_MessageCountsEverything(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"gpt-4o", "gpt-4", "claude-3", "unknown"} {
		c := token.New().For(model)
		bare := yiku.Message{Role: yiku.RoleAssistant, Content: yiku.Text("好的 ok")}
		named, called, answer := bare, bare, bare
		named.Name = "小明"
		called.ToolCalls = []yiku.ToolCall{{ID: "call_1", Function: yiku.ToolFunction{Name: "find", Arguments: `{"q":"天气"}`}}}
		answer.ToolCallID = "call_1"
		base := c.Message(bare)
		if want := 3 + c.Text("assistant") + c.Text("好的 ok"); base != want {
			t.Errorf("%s: %d, want %d", model, base, want)
		}
		if got, want := c.Message(named)-base, 1+c.Text("小明"); got != want {
			t.Errorf("%s: a name counts %d, want %d", model, got, want)
		}
		if got, least := c.Message(called)-base, c.Text("call_1")+c.Text("find")+c.Text(`{"q":"天气"}`); got < least {
			t.Errorf("%s: a call counts %d, at least %d", model, got, least)
		}
		if got := c.Message(answer) - base; got < c.Text("call_1") {
			t.Errorf("%s: an answer's id counts %d", model, got)
		}
		if c.Reply() != 3 {
			t.Errorf("%s: reply %d", model, c.Reply())
		}
	}
}

func TestA3_PartsThatAreNoText(t *testing.T) {
	t.Parallel()
	c := token.New().For("")
	empty := c.Message(yiku.Message{Role: yiku.RoleUser})
	for document, want := range map[string]int{
		`[{"type":"text","text":"hello world"}]`:                                                    2,
		`[{"type":"image_url","image_url":{"url":"data:` + strings.Repeat("A", 100_000) + `"}}]`:    1600,
		`[{"type":"file","file":{"file_id":"f"}}]`:                                                  1600,
		`[{"type":"input_audio","input_audio":{"data":"` + strings.Repeat("A", 159_953) + `"}}]`:    10_000,
		`[{"type":"text","text":"hello world"},{"type":"image","source":{"type":"url","url":"u"}}]`: 1602,
	} {
		var m yiku.Message
		if err := json.Unmarshal([]byte(`{"role":"user","content":`+document+`}`), &m); err != nil {
			t.Fatal(err)
		}
		if got := c.Message(m) - empty; got < want || got > want+want/100 {
			t.Errorf("%.40s counts %d, want %d", document, got, want)
		}
	}
}

// The time of a megabyte of one thing is bounded by its number of tokens, so
// this ends quickly or not at all; no clock is looked at.
func TestA3_LongMonotonousText(t *testing.T) {
	t.Parallel()
	r := token.New()
	for _, unit := range []string{"a", "中", " ", " \n", "\t\r\n\u3000", "!", "1", "龘", "\u0301", "aA"} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		for _, model := range []string{"gpt-4o", "gpt-4"} {
			if n := r.For(model).Text(text); n <= 0 || n > len(text) {
				t.Errorf("%q: %d tokens", unit, n)
			}
		}
	}
}

func TestA3_CountersAreShared(t *testing.T) {
	t.Parallel()
	r := token.New()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if n := r.For([]string{"gpt-4o", "gpt-4", "claude", "x"}[i%4]).Text("并发 concurrency"); n == 0 {
				t.Error("nothing counted")
			}
		})
	}
	wg.Wait()
}
