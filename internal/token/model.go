package token

import "strings"

type family int

const (
	familyUnknown family = iota
	familyO200k
	familyCL100k
	familyKnown
)

// model describes the models whose names begin with prefix.
type model struct {
	prefix string
	family family
	window int // tokens; 0 where it is not known
}

// models is the table of what is known, the longest prefix deciding. Windows
// are those that the vendors state in public; where models of one prefix
// differ, the smallest stands.
func models() []model {
	return []model{
		{"gpt-5", familyO200k, 400_000}, {"gpt-5-chat", familyO200k, 128_000},
		{"gpt-4.1", familyO200k, 1_047_576}, {"gpt-4.5", familyO200k, 128_000},
		{"gpt-4o", familyO200k, 128_000}, {"chatgpt-4o", familyO200k, 128_000}, {"gpt-oss", familyO200k, 131_072},
		{"o1", familyO200k, 200_000}, {"o1-preview", familyO200k, 128_000}, {"o1-mini", familyO200k, 128_000},
		{"o3", familyO200k, 200_000}, {"o4", familyO200k, 200_000},
		{"gpt-4", familyCL100k, 8_192}, {"gpt-4-32k", familyCL100k, 32_768}, {"gpt-4-turbo", familyCL100k, 128_000},
		{"gpt-4-1106", familyCL100k, 128_000}, {"gpt-4-0125", familyCL100k, 128_000},
		{"gpt-3.5", familyCL100k, 16_385}, {"gpt-35", familyCL100k, 16_385}, {"gpt-3.5-turbo-instruct", familyCL100k, 4_096},
		{"text-embedding", familyCL100k, 8_191},

		{"claude", familyKnown, 200_000}, {"claude-2.0", familyKnown, 100_000}, {"claude-instant", familyKnown, 100_000},
		{"gemini", familyKnown, 1_048_576}, {"gemini-1.0", familyKnown, 32_760}, {"gemini-pro", familyKnown, 32_760},
		{"qwen", familyKnown, 32_768}, {"qwq", familyKnown, 32_768}, {"deepseek", familyKnown, 64_000},
		{"glm", familyKnown, 128_000}, {"kimi", familyKnown, 128_000}, {"moonshot", familyKnown, 8_192},
		{"moonshot-v1-32k", familyKnown, 32_768}, {"moonshot-v1-128k", familyKnown, 131_072},
		{"doubao", familyKnown, 32_768}, {"ernie", familyKnown, 0}, {"hunyuan", familyKnown, 0},
		{"baichuan", familyKnown, 0}, {"minimax", familyKnown, 0}, {"yi-", familyKnown, 0},
		{"llama-3", familyKnown, 8_192}, {"llama3", familyKnown, 8_192}, {"llama-4", familyKnown, 131_072}, {"llama4", familyKnown, 131_072},
		{"llama-3.1", familyKnown, 131_072}, {"llama-3.2", familyKnown, 131_072}, {"llama-3.3", familyKnown, 131_072},
		{"llama3.1", familyKnown, 131_072}, {"llama3.2", familyKnown, 131_072}, {"llama3.3", familyKnown, 131_072},
		{"llama-2", familyUnknown, 4_096}, {"llama2", familyUnknown, 4_096},
	}
}

// Window returns a model's context window in tokens, and whether it is known.
func Window(name string) (tokens int, known bool) {
	if name == "" {
		return 0, false
	}
	m := lookUp(name)
	return m.window, m.window > 0
}

// familyOf returns how a model counts. No model counts as o200k_base.
func familyOf(name string) family {
	if name == "" {
		return familyO200k
	}
	return lookUp(name).family
}

// lookUp finds the longest prefix in the table that ends at a word's end:
// "o1" is a prefix of "o1-mini" but not of "o100".
func lookUp(name string) model {
	name = bare(name)
	var best model
	for _, m := range models() {
		if len(m.prefix) > len(best.prefix) && strings.HasPrefix(name, m.prefix) && ends(m.prefix, name[len(m.prefix):]) {
			best = m
		}
	}
	return best
}

// ends reports whether a prefix that ends in a digit is not followed by
// another one. "qwen2.5" begins with "qwen"; "gpt-40" does not with "gpt-4".
func ends(prefix, rest string) bool {
	last := prefix[len(prefix)-1]
	return rest == "" || last < '0' || last > '9' || rest[0] < '0' || rest[0] > '9'
}

// bare takes away a vendor's path, region and the mark of a fine-tuned model.
func bare(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimPrefix(name, "ft:")
	for _, vendor := range []string{"anthropic.", "openai.", "meta.", "meta-", "deepseek.", "qwen."} {
		if _, rest, ok := strings.Cut(name, vendor); ok {
			return rest
		}
	}
	return name
}
