package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku"
)

// isError is the metadata member of a tool result that failed.
const isError = "is_error"

// block is what tool_use and tool_result blocks hold.
type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

// readSystem reads Anthropic's system member: a text, or text blocks.
func readSystem(raw json.RawMessage) ([]yiku.Message, error) {
	c, err := readContent("system", raw)
	if err != nil || c.IsZero() {
		return nil, err
	}
	return []yiku.Message{{Role: yiku.RoleSystem, Content: c}}, nil
}

func readAnthropic(e envelope) ([]yiku.Message, error) {
	messages, err := readSystem(e.System)
	if err != nil {
		return nil, err
	}
	for i, raw := range e.Messages {
		place := fmt.Sprintf("messages[%d]", i)
		var w openAIMessage
		if err := json.Unmarshal(raw, &w); err != nil {
			return nil, yiku.Invalid(place+dotted(member(err, "")), "has the wrong type")
		}
		m, err := w.message(place)
		if err != nil {
			return nil, err
		}
		results, err := takeBlocks(place+".content", &m)
		if err != nil {
			return nil, err
		}
		messages = append(messages, results...)
		if len(results) == 0 || !m.Content.IsZero() || len(m.ToolCalls) > 0 {
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// takeBlocks takes the blocks for tools out of a message's parts: calls stay
// with the message, results are returned as messages of their own. A single
// plain text block that is left becomes the text.
func takeBlocks(place string, m *yiku.Message) ([]yiku.Message, error) {
	var results []yiku.Message
	var rest []yiku.Part
	for i, p := range m.Content.Parts {
		if p.Type != "tool_use" && p.Type != "tool_result" {
			rest = append(rest, p)
			continue
		}
		at := fmt.Sprintf("%s[%d]", place, i)
		var b block
		if err := decode(p, &b); err != nil {
			return nil, yiku.Invalid(at+dotted(member(err, "")), "has the wrong type")
		}
		if p.Type == "tool_use" {
			call, err := readCall(at, b)
			if err != nil {
				return nil, err
			}
			m.ToolCalls = append(m.ToolCalls, call)
			continue
		}
		result, err := readResult(at, b)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	if len(rest) < len(m.Content.Parts) {
		m.Content.Parts = rest
		if len(rest) == 1 && plainText(rest[0]) {
			m.Content = yiku.Text(rest[0].Text)
		}
	}
	return results, nil
}

// plainText reports whether a part is a text and nothing else, such as a
// mark for the cache or citations.
func plainText(p yiku.Part) bool {
	var members map[string]json.RawMessage
	return p.Type == "text" && decode(p, &members) == nil && len(members) <= 2
}

func readCall(at string, b block) (yiku.ToolCall, error) {
	call := yiku.ToolCall{ID: b.ID, Type: "function", Function: yiku.ToolFunction{Name: b.Name}}
	if b.ID == "" {
		return call, yiku.Invalid(at+".id", "is missing")
	}
	if b.Name == "" {
		return call, yiku.Invalid(at+".name", "is missing")
	}
	var input bytes.Buffer
	if len(b.Input) > 0 && json.Compact(&input, b.Input) == nil {
		call.Function.Arguments = input.String()
	}
	return call, nil
}

func readResult(at string, b block) (yiku.Message, error) {
	m := yiku.Message{Role: yiku.RoleTool, ToolCallID: b.ToolUseID}
	if b.ToolUseID == "" {
		return m, yiku.Invalid(at+".tool_use_id", "is missing")
	}
	if b.IsError {
		m.Metadata = yiku.Metadata{isError: true}
	}
	var err error
	m.Content, err = readContent(at+".content", b.Content)
	return m, err
}

// anthropicMessage is how a message is written. Content is a text or blocks.
type anthropicMessage struct {
	Role    yiku.Role `json:"role"`
	Content any       `json:"content"`

	blocks []any // of it, while messages are being joined
}

type anthropicDocument struct {
	System   string              `json:"system,omitempty"`
	Messages []*anthropicMessage `json:"messages"`
}

func writeAnthropic(system string, messages []yiku.Message) anthropicDocument {
	out := anthropicDocument{Messages: []*anthropicMessage{}}
	texts := []string{}
	if system != "" {
		texts = append(texts, system)
	}
	ids := newCallIDs()
	for _, m := range messages {
		if m.Role == yiku.RoleSystem {
			if text := m.Content.PlainText(); text != "" {
				texts = append(texts, text)
			}
			continue
		}
		role, blocks := anthropicBlocks(m, ids)
		if last := len(out.Messages) - 1; last >= 0 && out.Messages[last].Role == role {
			out.Messages[last].blocks = append(out.Messages[last].blocks, blocks...)
			continue
		}
		out.Messages = append(out.Messages, &anthropicMessage{Role: role, blocks: blocks})
	}
	for _, m := range out.Messages {
		m.Content = m.blocks
		if text, ok := m.blocks[0].(textBlock); ok && len(m.blocks) == 1 {
			m.Content = text.Text
		}
	}
	out.System = strings.Join(texts, "\n\n")
	return out
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// nothing stands for a message that says nothing: the API refuses blank text.
const nothing = "…"

// anthropicBlocks returns a message's role and blocks, at least one.
func anthropicBlocks(m yiku.Message, ids *callIDs) (yiku.Role, []any) {
	if m.Role == yiku.RoleTool {
		failed, _ := m.Metadata[isError].(bool)
		b := block{Type: "tool_result", ToolUseID: ids.answer(m.ToolCallID), IsError: failed}
		if c := contentOf(m.Content); c != nil {
			raw, err := encode(c)
			if err == nil {
				b.Content = raw
			}
		}
		return yiku.RoleUser, []any{b}
	}
	var blocks []any
	if len(m.Content.Parts) == 0 && strings.TrimSpace(m.Content.Text) != "" {
		blocks = append(blocks, textBlock{"text", m.Content.Text})
	}
	for _, p := range m.Content.Parts {
		if p.Type != "text" || strings.TrimSpace(p.Text) != "" {
			blocks = append(blocks, anthropicPart(p))
		}
	}
	for _, call := range m.ToolCalls {
		blocks = append(blocks, block{Type: "tool_use", ID: ids.call(call.ID), Name: call.Function.Name, Input: inputOf(call.Function.Arguments)})
	}
	if len(blocks) == 0 {
		blocks = append(blocks, textBlock{"text", nothing})
	}
	return m.Role, blocks
}

// contentOf returns a tool result's content: a text, parts, or nil.
func contentOf(c yiku.Content) any {
	if len(c.Parts) == 0 {
		if c.Text == "" {
			return nil
		}
		return c.Text
	}
	parts := make([]yiku.Part, len(c.Parts))
	for i, p := range c.Parts {
		parts[i] = anthropicPart(p)
	}
	return parts
}

// inputOf returns a call's arguments as the object that the API wants.
func inputOf(arguments string) json.RawMessage {
	trimmed := strings.TrimSpace(arguments)
	switch {
	case trimmed == "":
		return json.RawMessage("{}")
	case trimmed[0] == '{' && json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed)
	}
	raw, err := json.Marshal(map[string]string{"arguments": arguments})
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// callIDs gives calls the ids that the API takes: unique in the whole request.
type callIDs struct {
	used    map[string]bool
	written map[string]string // the session's id → the latest id written for it
}

func newCallIDs() *callIDs {
	return &callIDs{used: map[string]bool{}, written: map[string]string{}}
}

func (c *callIDs) call(id string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	if clean == "" {
		clean = "call"
	}
	free := clean
	for n := 2; c.used[free]; n++ {
		free = clean + "_" + strconv.Itoa(n)
	}
	c.used[free], c.written[id] = true, free
	return free
}

func (c *callIDs) answer(id string) string {
	if written, ok := c.written[id]; ok {
		return written
	}
	return id
}
