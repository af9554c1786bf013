// Package form reads and writes conversations in their public forms (A6):
// OpenAI's chat messages, Anthropic's messages, plain role and content, and
// Yiku's own export. It also says whether a list of messages is a request that
// the OpenAI or the Anthropic API takes (A4).
//
// A [yiku.Message] is the widest of the forms, so reading loses nothing that
// the form's messages say; members that no form has are passed over. Writing
// loses what the other form cannot say: [Write] tells what.
package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/yiku-ai/yiku"
)

// envelope is the object around messages.
type envelope struct {
	Format   *string           `json:"format"`
	System   json.RawMessage   `json:"system"`
	Messages []json.RawMessage `json:"messages"`
	Version  string            `json:"anthropic_version"`
}

// open reads the envelope of a document, or puts one around a bare array.
func open(document []byte) (envelope, error) {
	var e envelope
	document = bytes.TrimSpace(document)
	switch {
	case len(document) == 0 || !json.Valid(document):
		return e, yiku.Invalid("document", "must be JSON")
	case document[0] == '[':
		if err := json.Unmarshal(document, &e.Messages); err != nil {
			return e, yiku.Invalid("messages", "must be an array")
		}
		return e, nil
	case document[0] != '{':
		return e, yiku.Invalid("document", "must be an object with messages, or an array of messages")
	}
	if err := json.Unmarshal(document, &e); err != nil {
		return e, yiku.Invalid(member(err, "document"), "has the wrong type")
	}
	if e.Messages == nil {
		return e, yiku.Invalid("messages", "is missing")
	}
	return e, nil
}

// member returns the member that a JSON type error is about.
func member(err error, otherwise string) string {
	if t, ok := err.(*json.UnmarshalTypeError); ok && t.Field != "" {
		return t.Field
	}
	return otherwise
}

// peek is what tells the forms apart.
type peek struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Name       json.RawMessage `json:"name"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID json.RawMessage `json:"tool_call_id"`
	Function   json.RawMessage `json:"function_call"`
}

// Detect recognises the form of a document. It looks for what only one form
// has: the export's format; Anthropic's system member and its blocks for tools,
// thinking and images; OpenAI's tool calls, roles and parts. Where neither
// shows, the document is plain. An error is yiku.ErrInvalid and names the field.
func Detect(document []byte) (yiku.MessageForm, error) {
	e, err := open(document)
	if err != nil {
		return "", err
	}
	if e.Format != nil {
		if *e.Format == yiku.SessionExportFormat {
			return yiku.FormYiku, nil
		}
		return "", yiku.Invalid("format", "must be %s", yiku.SessionExportFormat)
	}
	found := yiku.FormPlain
	if e.System != nil || e.Version != "" {
		found = yiku.FormAnthropic
	}
	for i, raw := range e.Messages {
		var p peek
		if err := json.Unmarshal(raw, &p); err != nil {
			return "", yiku.Invalid(fmt.Sprintf("messages[%d]", i), "must be an object with a role and content")
		}
		switch formOf(p) {
		case yiku.FormAnthropic:
			return yiku.FormAnthropic, nil
		case yiku.FormOpenAI:
			return yiku.FormOpenAI, nil
		}
	}
	return found, nil
}

// formOf returns the form that a message shows, plain where it shows none.
func formOf(p peek) yiku.MessageForm {
	switch {
	case p.ToolCalls != nil || p.ToolCallID != nil || p.Function != nil,
		p.Role == "tool", p.Role == "developer", p.Role == "function":
		return yiku.FormOpenAI
	case len(p.Content) == 0 || p.Content[0] != '[':
		return yiku.FormPlain
	}
	var blocks []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(p.Content, &blocks) != nil {
		return yiku.FormPlain
	}
	for _, b := range blocks {
		switch b.Type {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document":
			return yiku.FormAnthropic
		case "image_url", "input_audio", "file", "refusal":
			return yiku.FormOpenAI
		}
	}
	return yiku.FormPlain
}

// Read reads a document in a form. The export is nil but for
// [yiku.FormYiku]; its messages are those returned. Every error is
// yiku.ErrInvalid and names the field, such as messages[3].content, and never
// holds a value.
//
//   - OpenAI and plain: role developer is read as system, role function as
//     tool, function_call as a tool call with an id of its own, a refusal as
//     content. An id, created_at (RFC 3339, or seconds), metadata and pinned are
//     taken where they stand beside.
//   - Anthropic: the system text becomes the first message, with role system. A
//     tool_use block becomes a tool call; each tool_result becomes a message
//     with role tool before what else its message says, and a failed one has
//     is_error in its metadata. All other blocks stay parts.
func Read(form yiku.MessageForm, document []byte) ([]yiku.Message, *yiku.SessionExport, error) {
	if form == yiku.FormYiku {
		return readExport(document)
	}
	e, err := open(document)
	if err != nil {
		return nil, nil, err
	}
	var messages []yiku.Message
	switch form {
	case yiku.FormOpenAI, yiku.FormPlain:
		messages, err = readOpenAI(e)
	case yiku.FormAnthropic:
		messages, err = readAnthropic(e)
	default:
		return nil, nil, yiku.Invalid("format", "must be one of yiku, openai, anthropic, plain")
	}
	return messages, nil, err
}

func readExport(document []byte) ([]yiku.Message, *yiku.SessionExport, error) {
	e, err := open(document)
	if err != nil {
		return nil, nil, err
	}
	if e.Format == nil || *e.Format != yiku.SessionExportFormat {
		return nil, nil, yiku.Invalid("format", "must be %s", yiku.SessionExportFormat)
	}
	var head struct {
		Session yiku.Session `json:"session"`
	}
	if err := json.Unmarshal(document, &head); err != nil {
		return nil, nil, yiku.Invalid(member(err, "session"), "has the wrong type")
	}
	export := &yiku.SessionExport{Format: yiku.SessionExportFormat, Session: head.Session}
	for i, raw := range e.Messages {
		var m yiku.Message
		place := fmt.Sprintf("messages[%d]", i)
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, nil, yiku.Invalid(placeOf(err, place, raw), "has the wrong type")
		}
		if err := checkRole(place, m.Role); err != nil {
			return nil, nil, err
		}
		export.Messages = append(export.Messages, m)
	}
	return export.Messages, export, nil
}

// placeOf names the member at fault. Content has its own unmarshaller, whose
// errors bear no field.
func placeOf(err error, place string, raw []byte) string {
	if f := member(err, ""); f != "" {
		return place + "." + f
	}
	var p struct {
		Content yiku.Content `json:"content"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return place + ".content"
	}
	return place
}

func checkRole(place string, role yiku.Role) error {
	switch role {
	case yiku.RoleSystem, yiku.RoleUser, yiku.RoleAssistant, yiku.RoleTool:
		return nil
	case "":
		return yiku.Invalid(place+".role", "is missing")
	}
	return yiku.Invalid(place+".role", "must be one of system, user, assistant, tool")
}

// Write writes messages in a form, after system where it is not empty.
//
//   - OpenAI: {"messages": [...]}; the system text is the first message.
//     Anthropic's images become image_url parts; its thinking is left out.
//   - Anthropic: {"system": "...", "messages": [...]}. Messages with role
//     system join the system text, neighbours of one role become one message,
//     tool results stand first in theirs; images become image blocks, a
//     message with nothing in it says "…", arguments that are no JSON object
//     stand under "arguments", and ids of calls are made unique and
//     kept to letters, digits, - and _.
//   - Plain: [{"role", "content"}], the text alone; calls are left out.
//   - Yiku: an export with the messages and an empty session.
//
// Ids, times, metadata and pins are written in Yiku's form only. Names are
// written in OpenAI's and Yiku's. An error is yiku.ErrInvalid.
func Write(form yiku.MessageForm, system string, messages []yiku.Message) ([]byte, error) {
	for i, m := range messages {
		if err := checkRole(fmt.Sprintf("messages[%d]", i), m.Role); err != nil {
			return nil, err
		}
	}
	if form == yiku.FormAnthropic {
		return encode(writeAnthropic(system, messages))
	}
	if system != "" {
		first := yiku.Message{Role: yiku.RoleSystem, Content: yiku.Text(system)}
		messages = append([]yiku.Message{first}, messages...)
	}
	switch form {
	case yiku.FormOpenAI:
		return encode(writeOpenAI(messages))
	case yiku.FormPlain:
		return encode(writePlain(messages))
	case yiku.FormYiku:
		if messages == nil {
			messages = []yiku.Message{}
		}
		return encode(yiku.SessionExport{Format: yiku.SessionExportFormat, Messages: messages})
	}
	return nil, yiku.Invalid("format", "must be one of yiku, openai, anthropic, plain")
}

// encode writes JSON as it is read best: without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, yiku.Errorf(yiku.ErrInvalid, "a part of a message is not JSON")
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

type plainMessage struct {
	Role    yiku.Role `json:"role"`
	Content string    `json:"content"`
}

func writePlain(messages []yiku.Message) []plainMessage {
	out := []plainMessage{}
	for _, m := range messages {
		text := m.Content.PlainText()
		if text == "" && len(m.ToolCalls) > 0 {
			continue
		}
		out = append(out, plainMessage{m.Role, text})
	}
	return out
}

// Empty reports whether a message says nothing: neither a visible character
// nor a part of another kind, nor a call. A tool result is never empty.
func Empty(m yiku.Message) bool {
	if len(m.ToolCalls) > 0 || m.Role == yiku.RoleTool {
		return false
	}
	if len(m.Content.Parts) == 0 {
		return strings.TrimSpace(m.Content.Text) == ""
	}
	for _, p := range m.Content.Parts {
		if p.Type != "text" || strings.TrimSpace(p.Text) != "" {
			return false
		}
	}
	return true
}
