package yiku

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Role says who speaks in a message.
type Role string

// The roles of messages.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Origin says where a text came from. It decides trust (see [Origin.Trust]).
type Origin string

// The origins, most trusted first.
const (
	OriginUser   Origin = "user"
	OriginImport Origin = "import"
	OriginAgent  Origin = "agent"
	OriginTool   Origin = "tool"
	OriginWeb    Origin = "web"
)

// Trust is the trust that an origin's own words have, 0 to 1. What is derived
// has the lowest trust of its sources.
func (o Origin) Trust() float64 {
	switch o {
	case OriginUser:
		return 1
	case OriginImport:
		return 0.8
	case OriginAgent:
		return 0.6
	case OriginTool:
		return 0.4
	default:
		return 0.2
	}
}

// Metadata is the caller's own JSON object. Filters reach its top-level keys
// as "metadata.key".
type Metadata map[string]any

// Message is one entry of a conversation, in the widest of the public forms:
// OpenAI's chat messages fit as they are.
type Message struct {
	ID         string     `json:"id,omitempty" maxLength:"256" doc:"The caller's own id, unique within the session; made by the server where it is absent."`
	Role       Role       `json:"role" enum:"system,user,assistant,tool"`
	Content    Content    `json:"content,omitzero" doc:"Text, or an array of parts. May be absent only beside tool_calls."`
	Name       string     `json:"name,omitempty" maxLength:"256" doc:"The speaker's name."`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty" maxItems:"128"`
	ToolCallID string     `json:"tool_call_id,omitempty" maxLength:"256" doc:"On role tool: the call that this answers."`
	CreatedAt  time.Time  `json:"created_at,omitzero" doc:"When it was said; the server's clock where absent."`
	Pinned     bool       `json:"pinned,omitempty" doc:"Never trimmed from a window."`
	Metadata   Metadata   `json:"metadata,omitempty"`
	Origin     Origin     `json:"origin,omitempty" enum:"user,import,agent,tool,web" doc:"Absent: user for role user and system, agent for assistant, tool for tool."`
	// What the server adds when it gives messages back.
	SessionID string `json:"session_id,omitempty" readOnly:"true"`
	TaskID    string `json:"task_id,omitempty" readOnly:"true"`
	Seq       int64  `json:"seq,omitempty" readOnly:"true" doc:"The owner's sequence number of the append."`
}

// ToolCall is an assistant's request to run a function.
type ToolCall struct {
	ID       string       `json:"id" maxLength:"256"`
	Type     string       `json:"type,omitempty" maxLength:"64"`
	Function ToolFunction `json:"function"`
}

// ToolFunction names the function and holds its arguments as JSON text, as
// the model wrote them.
type ToolFunction struct {
	Name      string `json:"name" minLength:"1" maxLength:"256"`
	Arguments string `json:"arguments,omitempty"`
}

// Content is a message's text, or its parts. Parts wins where both are set.
type Content struct {
	Text  string
	Parts []Part
}

// Text returns a content of plain text.
func Text(s string) Content { return Content{Text: s} }

// IsZero reports whether there is neither text nor a part.
func (c Content) IsZero() bool { return c.Text == "" && len(c.Parts) == 0 }

// PlainText returns what a person would read: the text, or the text parts
// joined by newlines.
func (c Content) PlainText() string {
	if len(c.Parts) == 0 {
		return c.Text
	}
	var texts []string
	for _, p := range c.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// MarshalJSON writes a string, or an array of parts.
func (c Content) MarshalJSON() ([]byte, error) {
	if len(c.Parts) > 0 {
		return json.Marshal(c.Parts)
	}
	return json.Marshal(c.Text)
}

// UnmarshalJSON reads a string, an array of parts, or null.
func (c *Content) UnmarshalJSON(b []byte) error {
	*c = Content{}
	switch {
	case string(b) == "null":
		return nil
	case len(b) > 0 && b[0] == '[':
		return json.Unmarshal(b, &c.Parts)
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &c.Text)
	}
	return errors.New("must be a string or an array of parts")
}

// Part is one piece of a multi-part message. Members other than type and text
// (an image's URL, say) are kept as they came.
type Part struct {
	Type string
	Text string
	raw  json.RawMessage // the part as it came; nil for a part made in Go
}

// MarshalJSON writes the part as it came.
func (p Part) MarshalJSON() ([]byte, error) {
	if p.raw != nil {
		return p.raw, nil
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text,omitempty"`
	}{p.Type, p.Text})
}

// UnmarshalJSON reads an object with a type. Names are matched exactly, so
// that the text is the one that stands in the part as it came.
func (p *Part) UnmarshalJSON(b []byte) error {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(b, &v); err != nil || v == nil {
		return errors.New("a part must be an object with a type")
	}
	var kind, text string
	if err := json.Unmarshal(v["type"], &kind); err != nil || kind == "" {
		return errors.New("a part must have a type")
	}
	if raw, ok := v["text"]; ok {
		if err := json.Unmarshal(raw, &text); err != nil {
			return errors.New("a part's text must be a string")
		}
	}
	p.Type, p.Text, p.raw = kind, text, append(json.RawMessage(nil), b...)
	return nil
}

// MaxMessageBytes is the most text that one message may hold, in bytes: its
// content, and the arguments of each of its tool calls.
const MaxMessageBytes = 1 << 20

// Check names what is wrong with a message beyond the limits in its tags. An
// empty tool result is a result, so it may have no content.
func (m Message) Check(path string) []FieldError {
	var faults []FieldError
	fault := func(field, message string) {
		faults = append(faults, FieldError{Field: path + field, Message: message})
	}
	if m.Content.IsZero() && len(m.ToolCalls) == 0 && m.Role != RoleTool {
		fault(".content", "must not be empty without tool_calls")
	}
	if len(m.ToolCalls) > 0 && m.Role != RoleAssistant {
		fault(".tool_calls", "stand on role assistant only")
	}
	if m.Role == RoleTool && m.ToolCallID == "" {
		fault(".tool_call_id", "is required on role tool")
	}
	size := len(m.Content.Text)
	for _, p := range m.Content.Parts {
		size += len(p.Text)
	}
	if size > MaxMessageBytes {
		fault(".content", "must have at most 1 MB of text")
	}
	for i, c := range m.ToolCalls {
		if len(c.Function.Arguments) > MaxMessageBytes {
			fault(".tool_calls["+strconv.Itoa(i)+"].function.arguments", "must have at most 1 MB")
		}
	}
	return faults
}
