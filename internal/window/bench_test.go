package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/token"
	"github.com/yiku-ai/yiku/internal/window"
)

// BenchmarkFit fits 1,000 messages of 1 MB in all into 8,000 tokens. Nearly all
// of its time is counting.
func BenchmarkFit(b *testing.B) {
	var list []yiku.Message
	for i := range 1000 {
		role := []yiku.Role{yiku.RoleUser, yiku.RoleAssistant}[i%2]
		list = append(list, yiku.Message{ID: fmt.Sprintf("m%d", i), Role: role, Content: yiku.Text(strings.Repeat("你好 words 1 ", 62))})
	}
	for _, model := range []string{"gpt-4o", "claude"} {
		in := window.Input{Messages: list, Count: token.New().For(model), Budget: 8000, Turns: window.AllTurns, Format: yiku.FormOpenAI}
		b.Run(model, func(b *testing.B) {
			for b.Loop() {
				if _, err := window.Fit(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
