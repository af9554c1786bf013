package form

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
)

// openAIMessage is a message as OpenAI's chat API has it, with the members of
// Yiku that may stand beside. Content is read by hand so that an error can
// name it.
type openAIMessage struct {
	ID           string             `json:"id"`
	Role         string             `json:"role"`
	Content      json.RawMessage    `json:"content"`
	Refusal      string             `json:"refusal"`
	Name         string             `json:"name"`
	ToolCalls    []yiku.ToolCall    `json:"tool_calls"`
	FunctionCall *yiku.ToolFunction `json:"function_call"`
	ToolCallID   string             `json:"tool_call_id"`
	CreatedAt    json.RawMessage    `json:"created_at"`
	Pinned       bool               `json:"pinned"`
	Metadata     yiku.Metadata      `json:"metadata"`
}

func readOpenAI(e envelope) ([]yiku.Message, error) {
	var messages []yiku.Message
	if e.System != nil {
		m, err := readSystem(e.System)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m...)
	}
	legacy := "" // the id made for the last function_call
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
		if w.FunctionCall != nil && len(m.ToolCalls) == 0 {
			legacy = fmt.Sprintf("call_%d", i)
			m.ToolCalls = []yiku.ToolCall{{ID: legacy, Type: "function", Function: *w.FunctionCall}}
		}
		if w.Role == "function" && m.ToolCallID == "" {
			m.ToolCallID = legacy
		}
		messages = append(messages, m)
	}
	return messages, nil
}

func dotted(field string) string {
	if field == "" {
		return ""
	}
	return "." + field
}

// message turns the form's message into Yiku's.
func (w openAIMessage) message(place string) (yiku.Message, error) {
	m := yiku.Message{
		ID: w.ID, Role: yiku.Role(w.Role), Name: w.Name, ToolCalls: w.ToolCalls, ToolCallID: w.ToolCallID,
		Pinned: w.Pinned, Metadata: w.Metadata,
	}
	switch w.Role {
	case "developer":
		m.Role = yiku.RoleSystem
	case "function":
		m.Role = yiku.RoleTool
	}
	if err := checkRole(place, m.Role); err != nil {
		return m, err
	}
	var err error
	if m.Content, err = readContent(place+".content", w.Content); err != nil {
		return m, err
	}
	if m.Content.IsZero() && w.Refusal != "" {
		m.Content = yiku.Text(w.Refusal)
	}
	m.CreatedAt, err = readTime(place+".created_at", w.CreatedAt)
	return m, err
}

// readContent reads a text, an array of parts, or nothing.
func readContent(place string, raw json.RawMessage) (yiku.Content, error) {
	var c yiku.Content
	if len(raw) == 0 {
		return c, nil
	}
	if raw[0] == '[' {
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			return c, yiku.Invalid(place, "must be a string or an array of parts")
		}
		for i, p := range parts {
			var part yiku.Part
			if err := json.Unmarshal(p, &part); err != nil {
				return c, yiku.Invalid(fmt.Sprintf("%s[%d]", place, i), "must be an object with a type")
			}
			c.Parts = append(c.Parts, part)
		}
		return c, nil
	}
	if err := c.UnmarshalJSON(raw); err != nil {
		return c, yiku.Invalid(place, "must be a string or an array of parts")
	}
	return c, nil
}

// lastSecond is the first second of the year 10,000, which RFC 3339 cannot say.
const lastSecond = 253_402_300_800

// readTime reads RFC 3339, or seconds since 1970.
func readTime(place string, raw json.RawMessage) (time.Time, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, nil
	}
	var at time.Time
	if json.Unmarshal(raw, &at) == nil {
		return at.UTC(), nil
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil && seconds >= 0 && seconds < lastSecond {
		return time.Unix(int64(seconds), 0).UTC(), nil
	}
	return time.Time{}, yiku.Invalid(place, "must be a time such as 2026-01-02T15:04:05Z, or seconds")
}

// openAIOut is how a message is written. Content is null only beside calls.
type openAIOut struct {
	Role       yiku.Role       `json:"role"`
	Content    any             `json:"content"`
	Name       string          `json:"name,omitempty"`
	ToolCalls  []yiku.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
}

type openAIDocument struct {
	Messages []openAIOut `json:"messages"`
}

func writeOpenAI(messages []yiku.Message) openAIDocument {
	out := openAIDocument{Messages: []openAIOut{}}
	for _, m := range messages {
		w := openAIOut{Role: m.Role, Name: m.Name, ToolCallID: m.ToolCallID, Content: m.Content.Text}
		var parts []yiku.Part
		for _, p := range m.Content.Parts {
			if p.Type != "thinking" && p.Type != "redacted_thinking" {
				parts = append(parts, openAIPart(p))
			}
		}
		switch {
		case len(parts) > 0:
			w.Content = parts
		case len(m.Content.Parts) > 0:
			w.Content = ""
		}
		for _, call := range m.ToolCalls {
			if call.Type == "" {
				call.Type = "function"
			}
			w.ToolCalls = append(w.ToolCalls, call)
		}
		if len(m.ToolCalls) > 0 && w.Content == "" {
			w.Content = nil
		}
		out.Messages = append(out.Messages, w)
	}
	return out
}

// imageBlock is Anthropic's image, imagePart is OpenAI's.
type imageBlock struct {
	Type   string      `json:"type"`
	Source imageSource `json:"source"`
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

type imagePart struct {
	Type  string `json:"type"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// openAIPart turns Anthropic's image into OpenAI's; other parts stay.
func openAIPart(p yiku.Part) yiku.Part {
	var block imageBlock
	if p.Type != "image" || decode(p, &block) != nil {
		return p
	}
	out := imagePart{Type: "image_url"}
	switch block.Source.Type {
	case "base64":
		out.Image.URL = "data:" + block.Source.MediaType + ";base64," + block.Source.Data
	case "url":
		out.Image.URL = block.Source.URL
	default:
		return p
	}
	return recode(p, out)
}

// anthropicPart turns OpenAI's image into Anthropic's; other parts stay.
func anthropicPart(p yiku.Part) yiku.Part {
	var part imagePart
	if p.Type != "image_url" || decode(p, &part) != nil || part.Image.URL == "" {
		return p
	}
	block := imageBlock{Type: "image", Source: imageSource{Type: "url", URL: part.Image.URL}}
	if data, ok := strings.CutPrefix(part.Image.URL, "data:"); ok {
		media, body, found := strings.Cut(data, ";base64,")
		if !found {
			return p
		}
		block.Source = imageSource{Type: "base64", MediaType: media, Data: body}
	}
	return recode(p, block)
}

func decode(p yiku.Part, into any) error {
	raw, err := p.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// recode makes a part of v, or returns p where that fails.
func recode(p yiku.Part, v any) yiku.Part {
	var out yiku.Part
	raw, err := json.Marshal(v)
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return p
	}
	return out
}
