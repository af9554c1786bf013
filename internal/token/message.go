package token

import (
	"strings"

	"github.com/yiku-ai/yiku"
)

// What a message costs beside its texts, in tokens. The first three are the
// figures that OpenAI publishes for its chat models; the others are estimates
// on the high side, because no vendor says how it writes calls and images.
const (
	perMessage  = 3    // around each message
	perName     = 1    // for a name
	perReply    = 3    // the opening of the answer
	perCall     = 8    // around each tool call, and around a result's id
	perImage    = 1600 // Anthropic's largest image; OpenAI's is 1,105
	perFileByte = 16   // one token for so many bytes of a file or of audio sent in the message
)

// Message counts a message as it stands in a request: role, name, content,
// tool calls with their ids, names and arguments, the id of the call that it
// answers, and what stands around them.
//
// Parts that are no text are estimated: an image counts 1,600 tokens, a file,
// audio or video one token for 16 bytes and at least 1,600, any other part
// what its JSON counts as text.
func (c *Counter) Message(m yiku.Message) int {
	n := perMessage + c.Text(string(m.Role))
	if len(m.Content.Parts) == 0 {
		n += c.Text(m.Content.Text)
	}
	for _, p := range m.Content.Parts {
		n += c.part(p)
	}
	if m.Name != "" {
		n += perName + c.Text(m.Name)
	}
	for _, call := range m.ToolCalls {
		n += perCall + c.Text(call.ID) + c.Text(call.Function.Name) + c.Text(call.Function.Arguments)
	}
	if m.ToolCallID != "" {
		n += perCall + c.Text(m.ToolCallID)
	}
	return n
}

// Reply counts the opening of the answer, once for each request.
func (c *Counter) Reply() int { return perReply }

func (c *Counter) part(p yiku.Part) int {
	switch kind := strings.ToLower(p.Type); {
	case kind == "text" || kind == "input_text" || kind == "output_text":
		return c.Text(p.Text)
	case strings.Contains(kind, "image"):
		return perImage
	case kind == "file" || kind == "document" || strings.Contains(kind, "audio") || strings.Contains(kind, "video"):
		raw, err := p.MarshalJSON()
		if err != nil {
			return perImage
		}
		return max(perImage, len(raw)/perFileByte)
	default:
		raw, err := p.MarshalJSON()
		if err != nil {
			return c.Text(p.Type) + c.Text(p.Text)
		}
		return c.Text(string(raw))
	}
}

// overChunk is how much of a text [Counter.Over] counts at a time, and
// overSlack how many tokens a cut between two of them may add.
const (
	overChunk = 16 << 10
	overSlack = 16
)

// Over reports that a message surely counts more than limit, after counting
// not much more of it than that. It answers false where only counting all of
// it would tell; messages of less than eight bytes for each token of the limit
// are not looked at.
func (c *Counter) Over(m yiku.Message, limit int) bool {
	texts := []string{m.Content.Text}
	for _, p := range m.Content.Parts {
		if strings.EqualFold(p.Type, "text") {
			texts = append(texts, p.Text)
		}
	}
	for _, call := range m.ToolCalls {
		texts = append(texts, call.Function.Arguments)
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size <= 8*max(limit, 0) || size <= overChunk {
		return false
	}
	n := 0
	for _, text := range texts {
		for len(text) > 0 {
			part := head(text, overChunk)
			if part == "" {
				break
			}
			text = text[len(part):]
			if n += c.Text(part) - overSlack; n > limit {
				return true
			}
		}
	}
	return false
}
