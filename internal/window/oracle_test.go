package window_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/form"
	"github.com/yiku-ai/yiku/internal/token"
	"github.com/yiku-ai/yiku/internal/window"
)

// fact is what the requirement says about one message of a history, worked out
// apart from the package under test.
type fact struct {
	m      yiku.Message // with the calls that a request can hold
	leader int          // the index of the call that this result answers; its own for others
	sent   bool         // some request can hold it
	must   bool         // it has to stay, or its exchange has
	inside bool         // of the window of turns
}

// factsOf works out the facts of an input whose ids are "m0", "m1", …
func factsOf(in window.Input) []fact {
	facts := make([]fact, len(in.Messages))
	turnOf := make([]int, len(in.Messages))
	turn, newest := 0, -1
	for i, m := range in.Messages {
		if m.Role == yiku.RoleUser {
			turn++
			newest = i
		}
		turnOf[i] = turn
		facts[i] = fact{m: m, leader: i, sent: m.Role != yiku.RoleTool}
	}
	for i, m := range in.Messages {
		if m.Role == yiku.RoleTool {
			facts[i].leader, facts[i].sent = leaderOf(in.Messages, facts, i)
		}
	}
	last := lastLeader(in, facts)
	for i := range facts {
		f := &facts[i]
		m := f.m
		if m.Role == yiku.RoleAssistant && len(m.ToolCalls) > 0 {
			if i != last { // what nobody answered is taken out
				f.m.ToolCalls = slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c yiku.ToolCall) bool {
					return !slices.ContainsFunc(facts[i+1:], func(o fact) bool { return o.leader == i && o.sent && o.m.ToolCallID == c.ID })
				})
			}
			f.sent = len(f.m.ToolCalls) > 0 || !form.Empty(f.m)
		}
	}
	for i := range facts {
		f := &facts[i]
		tail := newest >= 0 && i >= newest && in.Turns != 0
		if f.m.Role == yiku.RoleSystem || f.m.Pinned || tail {
			f.must = true
			if f.sent {
				facts[f.leader].must = true
			}
		}
		if in.Turns < 0 || turnOf[i] > turn-in.Turns {
			f.inside = true
			if f.sent {
				facts[f.leader].inside = true
			}
		}
	}
	for i := range facts { // what its call must, or is inside, a result is too
		facts[i].must = facts[i].must || facts[facts[i].leader].must
		facts[i].inside = facts[i].inside || facts[facts[i].leader].inside
	}
	return facts
}

// leaderOf finds the latest call before a result with its id, if no result
// has answered it yet.
func leaderOf(messages []yiku.Message, facts []fact, i int) (int, bool) {
	for j := i - 1; j >= 0; j-- {
		if messages[j].Role == yiku.RoleTool && facts[j].sent && messages[j].ToolCallID == messages[i].ToolCallID {
			return i, false
		}
		for _, c := range messages[j].ToolCalls {
			if messages[j].Role == yiku.RoleAssistant && c.ID == messages[i].ToolCallID {
				return j, true
			}
		}
	}
	return i, false
}

// lastLeader is the message whose exchange may lack results: the last that is
// no result, system messages apart in Anthropic's format.
func lastLeader(in window.Input, facts []fact) int {
	for i := len(facts) - 1; i >= 0; i-- {
		role := facts[i].m.Role
		if role != yiku.RoleTool && (role != yiku.RoleSystem || in.Format == yiku.FormOpenAI) {
			return i
		}
	}
	return -1
}

func index(id string) int {
	i := -1
	_, _ = fmt.Sscanf(id, "m%d", &i)
	return i
}

// faultFits: A3, the result fits and its count is right.
func faultFits(in window.Input, r window.Result) string {
	total := in.Count.Reply()
	for _, m := range slices.Concat(r.System, r.Messages) {
		total += in.Count.Message(m)
	}
	switch {
	case total != r.Tokens:
		return fmt.Sprintf("costs %d, says %d", total, r.Tokens)
	case total > in.Budget:
		return fmt.Sprintf("costs %d of %d", total, in.Budget)
	}
	return ""
}

// faultValid: A4, the result is valid for the format, and can be written.
func faultValid(in window.Input, r window.Result) string {
	if err := form.Valid(in.Format, r.Messages); err != nil {
		return err.Error()
	}
	for _, m := range r.System {
		if m.Role != yiku.RoleSystem {
			return "System holds another role"
		}
	}
	if _, err := form.Write(in.Format, "", r.Messages); err != nil {
		return err.Error()
	}
	return ""
}

// faultKept: A4, what must stay is there, whole but for a marked cut of what
// is neither system nor pinned.
func faultKept(in window.Input, r window.Result) string {
	got := map[string]yiku.Message{}
	for _, m := range slices.Concat(r.System, r.Messages) {
		got[m.ID] = m
	}
	for _, f := range factsOf(in) {
		m, there := got[f.m.ID]
		if !there && f.must && f.sent {
			return f.m.ID + " must stay"
		}
		if !there || !slices.Contains(r.Cut, m.ID) {
			continue
		}
		text := m.Content.PlainText()
		switch {
		case f.m.Pinned || f.m.Role == yiku.RoleSystem:
			return f.m.ID + " may not be cut"
		case !strings.Contains(text, "…[已省略 ") && !strings.Contains(text, "…["):
			return f.m.ID + " is cut without a marker"
		}
	}
	return ""
}

// faultSequence: nothing is invented, repeated or moved but late results.
func faultSequence(in window.Input, r window.Result) string {
	facts := factsOf(in)
	kept, last := 0, -1
	for _, list := range [][]yiku.Message{r.System, r.Messages} {
		last = -1
		for n, m := range list {
			i := index(m.ID)
			if i < 0 {
				if n == 0 && in.Format == yiku.FormAnthropic && cmp.Equal(m, window.Opener(), cmp.AllowUnexported(yiku.Part{})) && len(list) > 1 && list[1].Role == yiku.RoleAssistant {
					continue
				}
				return "an invented message"
			}
			kept++
			want := facts[i].m
			at := facts[i].leader*len(facts) + i // results stand after their call
			if at <= last {
				return m.ID + " is out of place"
			}
			last = at
			if slices.Contains(r.Cut, m.ID) {
				want.Content = m.Content
			}
			if diff := cmp.Diff(want, m, cmp.AllowUnexported(yiku.Part{}), cmpopts.EquateEmpty()); diff != "" {
				return m.ID + " was changed: " + diff
			}
		}
	}
	if r.Trimmed != len(in.Messages)-kept {
		return fmt.Sprintf("%d trimmed, says %d", len(in.Messages)-kept, r.Trimmed)
	}
	return ""
}

// faultOrder: A4, small talk went before other assistant turns, and those
// before user turns; the oldest first; nothing went or was cut without need;
// A2, nothing stayed outside of the window.
func faultOrder(in window.Input, r window.Result) string {
	facts := factsOf(in)
	there := map[int]bool{}
	for _, m := range slices.Concat(r.System, r.Messages) {
		there[index(m.ID)] = true
	}
	const none = -1
	went := [3]int{none, none, none}  // the newest that went, by class
	stays := [3]int{none, none, none} // the oldest that stayed and could go
	all, led := in.Count.Reply(), false
	for i, f := range facts {
		if !f.sent || f.leader != i {
			continue
		}
		if !f.must && !f.inside && there[i] {
			return f.m.ID + " is outside of the last turns"
		}
		if f.m.Role == yiku.RoleSystem {
			continue
		}
		mayLead := in.Format != yiku.FormAnthropic || led || f.m.Role == yiku.RoleUser || f.must
		if f.must || f.inside && mayLead && !form.Empty(f.m) {
			led = true
		}
		if f.must || !f.inside || form.Empty(f.m) || !mayLead {
			continue
		}
		class := 1
		switch {
		case f.m.Role == yiku.RoleUser:
			class = 2
		case window.SmallTalk(f.m):
			class = 0
		}
		if there[i] && stays[class] == none {
			stays[class] = i
		} else if !there[i] {
			went[class] = i
		}
	}
	for class := range 3 {
		if went[class] == none {
			continue
		}
		if stays[class] != none && stays[class] < went[class] {
			return fmt.Sprintf("m%d went, but m%d, older and no better, stayed", went[class], stays[class])
		}
		for before := range class {
			if stays[before] != none {
				return fmt.Sprintf("m%d went, but m%d, which goes first, stayed", went[class], stays[before])
			}
		}
	}
	for i, f := range facts {
		if f.sent && (f.must || f.inside) && !slices.Contains(r.Cut, f.m.ID) {
			all += in.Count.Message(facts[i].m)
		}
	}
	if len(r.Cut) == 0 && all <= in.Budget-in.Count.Message(window.Opener()) && went != [3]int{none, none, none} {
		return "something went though all of it fits"
	}
	return ""
}

// faultRefused: A4, an error is justified and names the part at fault.
func faultRefused(in window.Input, err error) string {
	var e *yiku.Error
	if !errors.As(err, &e) || !errors.Is(err, yiku.ErrTooLarge) || len(e.Fields) != 1 {
		return fmt.Sprintf("not an ErrTooLarge with a field: %v", err)
	}
	reply := in.Count.Reply()
	system, pinned, rest := leastCost(in)
	opener := 0
	if in.Format == yiku.FormAnthropic {
		opener = in.Count.Message(window.Opener())
	}
	want := "messages"
	switch {
	case system > in.Budget && system > reply:
		want = "system"
	case system+pinned > in.Budget && pinned > 0:
		want = "pinned"
	case system+pinned+rest+opener <= in.Budget:
		return fmt.Sprintf("refused, but %d fit into %d", system+pinned+rest+opener, in.Budget)
	}
	if e.Fields[0].Field != want {
		return fmt.Sprintf("names %s, not %s", e.Fields[0].Field, want)
	}
	return ""
}

// leastCost is what the parts cost that must stay: the system messages with the
// reply, the pinned ones, and the others when only markers are left of them.
func leastCost(in window.Input) (system, pinned, rest int) {
	system = in.Count.Reply()
	for _, f := range factsOf(in) {
		if !f.sent || !f.must {
			continue
		}
		n := in.Count.Message(f.m)
		switch {
		case f.m.Role == yiku.RoleSystem:
			system += n
		case f.m.Pinned:
			pinned += n
		default:
			rest += min(n, in.Count.Message(least(f.m)))
		}
	}
	return system, pinned, rest
}

// least is a message with nothing left of its text but the marker.
func least(m yiku.Message) yiku.Message {
	text := m.Content.PlainText()
	if text == "" {
		return m
	}
	var parts []yiku.Part
	for _, p := range m.Content.Parts {
		if p.Type != "text" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		m.Content = yiku.Text(token.Marker(text))
	} else {
		m.Content = yiku.Content{Parts: append([]yiku.Part{{Type: "text", Text: token.Marker(text)}}, parts...)}
	}
	return m
}
