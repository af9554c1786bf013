package form

import (
	"fmt"

	"github.com/yiku-ai/yiku"
)

// Valid reports, as yiku.ErrInvalid that names the message, why messages are
// not a request that an API takes.
//
// In every form: a known role; calls on assistants only, with ids that are
// set and differ within their message, and names; an answered call's id on
// tool results only.
//
// OpenAI and Anthropic: tool results follow the message with their calls
// directly, one each, and every call has one. Only at the very end may results
// be missing still: the caller is about to add them.
//
// Anthropic: no role system (that text travels apart), and the first message is
// the user's. Roles need not alternate in the list: [Write] joins neighbours,
// and the API would too.
func Valid(form yiku.MessageForm, messages []yiku.Message) error {
	var open map[string]bool // call ids of the running exchange → answered
	missing := 0
	for i, m := range messages {
		place := fmt.Sprintf("messages[%d]", i)
		if err := validAlone(place, m); err != nil {
			return err
		}
		if form != yiku.FormOpenAI && form != yiku.FormAnthropic {
			continue
		}
		if form == yiku.FormAnthropic && m.Role == yiku.RoleSystem {
			return yiku.Invalid(place+".role", "system stands apart from the messages")
		}
		if form == yiku.FormAnthropic && i == 0 && m.Role != yiku.RoleUser {
			return yiku.Invalid(place+".role", "the first message must be the user's")
		}
		if m.Role == yiku.RoleTool {
			answered, known := open[m.ToolCallID]
			if !known {
				return yiku.Invalid(place+".tool_call_id", "answers no call of the message before")
			}
			if answered {
				return yiku.Invalid(place+".tool_call_id", "the call has been answered")
			}
			open[m.ToolCallID] = true
			missing--
			continue
		}
		if missing > 0 {
			return yiku.Invalid(place, "stands before the results of the calls before it")
		}
		open, missing = map[string]bool{}, len(m.ToolCalls)
		for _, call := range m.ToolCalls {
			open[call.ID] = false
		}
	}
	return nil
}

// validAlone checks what a message must keep to whatever stands around it.
func validAlone(place string, m yiku.Message) error {
	if err := checkRole(place, m.Role); err != nil {
		return err
	}
	if m.Role != yiku.RoleAssistant && len(m.ToolCalls) > 0 {
		return yiku.Invalid(place+".tool_calls", "stand on role assistant only")
	}
	if m.Role == yiku.RoleTool && m.ToolCallID == "" {
		return yiku.Invalid(place+".tool_call_id", "is missing")
	}
	if m.Role != yiku.RoleTool && m.ToolCallID != "" {
		return yiku.Invalid(place+".tool_call_id", "stands on role tool only")
	}
	for i, call := range m.ToolCalls {
		at := fmt.Sprintf("%s.tool_calls[%d]", place, i)
		if call.ID == "" {
			return yiku.Invalid(at+".id", "is missing")
		}
		if call.Function.Name == "" {
			return yiku.Invalid(at+".function.name", "is missing")
		}
		for _, other := range m.ToolCalls[:i] {
			if other.ID == call.ID {
				return yiku.Invalid(at+".id", "stands on two calls")
			}
		}
	}
	return nil
}
