package window

import (
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/form"
)

// unit is what goes or stays together: one message, or a message with tool
// calls and its results.
type unit struct {
	items  []item
	turn   int  // the turn that its first message stands in; 0 before the first user message
	last   int  // the turn that its last message stands in
	system bool // a system message
	pinned bool // one of its messages is pinned
	keep   bool // it must stay
	gone   bool // it does not go into the request
	tokens int  // of its items, once counted
}

// item is a message with its tokens, once counted.
type item struct {
	message yiku.Message
	tokens  int
	whole   *yiku.Content // before the message was cut; nil where that was not tried
	cut     bool
}

func (u *unit) user() bool { return u.items[0].message.Role == yiku.RoleUser }

// empty reports whether a unit is a message that says nothing.
func (u *unit) empty() bool {
	m := u.items[0].message
	return len(u.items) == 1 && m.Role != yiku.RoleSystem && form.Empty(m)
}

// pair puts the messages into units, in the order of their first messages.
// Results go to the latest call with their id; those that answer no call, or
// one that has been answered, are left out.
func pair(messages []yiku.Message, format yiku.MessageForm) []*unit {
	var units []*unit
	calls := map[string]*unit{} // open call id → its unit
	turn := 0
	for _, m := range messages {
		switch m.Role {
		case yiku.RoleTool:
			u := calls[m.ToolCallID]
			if u == nil {
				continue
			}
			delete(calls, m.ToolCallID)
			m.ToolCalls = nil
			u.items = append(u.items, item{message: m})
			u.last, u.pinned = turn, u.pinned || m.Pinned
			continue
		case yiku.RoleUser:
			turn++
		case yiku.RoleAssistant, yiku.RoleSystem:
		default:
			continue // no API knows it
		}
		if m.Role == yiku.RoleAssistant {
			m.ToolCalls = callsOf(m, func(yiku.ToolCall) bool { return true })
		} else {
			m.ToolCalls = nil
		}
		m.ToolCallID = ""
		u := &unit{items: []item{{message: m}}, turn: turn, last: turn, system: m.Role == yiku.RoleSystem, pinned: m.Pinned}
		units = append(units, u)
		for _, c := range m.ToolCalls {
			calls[c.ID] = u
		}
	}
	return strip(units, format)
}

// callsOf returns the calls of a message that an API would take and that pass.
func callsOf(m yiku.Message, pass func(yiku.ToolCall) bool) []yiku.ToolCall {
	if len(m.ToolCalls) == 0 {
		return nil
	}
	seen := map[string]bool{}
	var calls []yiku.ToolCall
	for _, c := range m.ToolCalls {
		if c.ID != "" && c.Function.Name != "" && !seen[c.ID] && pass(c) {
			seen[c.ID] = true
			calls = append(calls, c)
		}
	}
	return calls
}

// strip takes out the calls that stayed unanswered, but for the unit at the
// very end. A message that only made such calls is left out.
func strip(units []*unit, format yiku.MessageForm) []*unit {
	last := len(units) - 1
	for format == yiku.FormAnthropic && last >= 0 && units[last].system {
		last-- // system messages travel apart
	}
	kept := units[:0]
	for i, u := range units {
		m := &u.items[0].message
		if had := len(m.ToolCalls); i != last && len(u.items)-1 < had {
			answered := map[string]bool{}
			for _, it := range u.items[1:] {
				answered[it.message.ToolCallID] = true
			}
			m.ToolCalls = callsOf(*m, func(c yiku.ToolCall) bool { return answered[c.ID] })
			if len(m.ToolCalls) == 0 && u.empty() {
				continue
			}
		}
		kept = append(kept, u)
	}
	return kept
}
