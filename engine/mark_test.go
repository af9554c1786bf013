package engine

import (
	"testing"

	"github.com/yiku-ai/yiku"
)

// TestE2_OldMarksHold: the marks of messages of plain text are those that
// stores and journals hold since the first version. Control: what has tool
// calls has another.
func TestE2_OldMarksHold(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]yiku.Message{
		"message|1|s|1|m|8|看 look": {ID: "m", Content: yiku.Text("看 look")},
		"message|1|s|1|m|7|好\n茶":   {ID: "m", Content: yiku.Content{Parts: []yiku.Part{{Type: "text", Text: "好"}, {Type: "text", Text: "茶"}}}},
		"message|1|s|1|m|0|":       {ID: "m", Role: yiku.RoleTool, ToolCallID: "c"},
	} {
		if got := messageMark("s", m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		m.ToolCalls = []yiku.ToolCall{{ID: "c"}}
		if messageMark("s", m) == want || textMark("s", m) != want {
			t.Errorf("control: %q", messageMark("s", m))
		}
	}
}
