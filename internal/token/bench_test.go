package token_test

import (
	"strings"
	"testing"

	"github.com/yiku-ai/yiku/internal/token"
)

// BenchmarkText counts 100 kB of different kinds, the worst known among them.
func BenchmarkText(b *testing.B) {
	r := token.New()
	for name, unit := range map[string]string{
		"mixed": "我们用 PostgreSQL 存数据，the port is 5432。\n", "one letter": "a", "one ideograph": "中", "mixed space": " \n", "spaces": " ",
	} {
		text := strings.Repeat(unit, 100_000/len(unit))
		for _, model := range []string{"gpt-4o", "gpt-4", "claude"} {
			c := r.For(model)
			c.Text("load")
			b.Run(name+"/"+model, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					c.Text(text)
				}
			})
		}
	}
}
