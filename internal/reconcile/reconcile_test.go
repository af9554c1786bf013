package reconcile_test

import (
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

// TestC8_Decide walks the decision table of Decide, a row each (C7, C8).
func TestC8_Decide(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	base := func(change ...func(*yiku.Memory)) yiku.Memory {
		m := yiku.Memory{Content: "Lives in Hangzhou", Subject: "user", Attribute: "residence", Value: "Hangzhou",
			Confidence: 1, Trust: 1, Single: true, ValidFrom: day(10), Type: yiku.TypeProfile}
		for _, c := range change {
			c(&m)
		}
		return m
	}
	value := func(v string) func(*yiku.Memory) {
		return func(m *yiku.Memory) { m.Value, m.Content = v, "Lives in "+v }
	}
	many := func(m *yiku.Memory) { m.Single = false }
	trust := func(x float64) func(*yiku.Memory) { return func(m *yiku.Memory) { m.Trust = x } }
	hedged := func(m *yiku.Memory) { m.Confidence = 0.3 }
	from := func(n int) func(*yiku.Memory) { return func(m *yiku.Memory) { m.ValidFrom = day(n) } }
	correction := func(m *yiku.Memory) { m.Type = yiku.TypeCorrection }
	bare := func(m *yiku.Memory) { m.Subject, m.Attribute = "", "" }

	tests := []struct {
		name      string
		candidate yiku.Memory
		twin      bool
		same      []yiku.Memory
		want      reconcile.Action
	}{
		{"same content", base(), true, nil, reconcile.Reinforce},
		{"no attribute", base(bare), false, []yiku.Memory{base(value("上海"))}, reconcile.Create},
		{"nobody shares it", base(), false, nil, reconcile.Create},
		{"same value in other words", base(func(m *yiku.Memory) { m.Content = "The user's home is Hangzhou" }), false, []yiku.Memory{base()}, reconcile.Reinforce},
		{"many values", base(many, value("上海")), false, []yiku.Memory{base(many)}, reconcile.Create},
		{"another value", base(value("上海"), from(12)), false, []yiku.Memory{base()}, reconcile.Supersede},
		{"the neighbour says single", base(many, value("上海"), from(12)), false, []yiku.Memory{base()}, reconcile.Supersede},
		{"equal times: later arrival wins", base(value("上海")), false, []yiku.Memory{base()}, reconcile.Supersede},
		{"later valid_from wins", base(value("上海"), from(2)), false, []yiku.Memory{base()}, reconcile.Record},
		{"hedged against firm", base(value("上海"), from(12), hedged), false, []yiku.Memory{base()}, reconcile.Quarantine},
		{"hedged against hedged", base(value("上海"), from(12), hedged), false, []yiku.Memory{base(hedged)}, reconcile.Supersede},
		{"less trusted", base(value("上海"), from(12), trust(.4)), false, []yiku.Memory{base()}, reconcile.Quarantine},
		{"a correction wins over time and hedge", base(value("上海"), from(2), hedged, correction), false, []yiku.Memory{base()}, reconcile.Supersede},
		{"a correction by a tool does not", base(value("上海"), trust(.4), correction), false, []yiku.Memory{base()}, reconcile.Quarantine},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var twin *yiku.Memory
			if test.twin {
				twin = &test.candidate
			}
			if got := reconcile.Decide(test.candidate, twin, test.same); got.Action != test.want {
				t.Errorf("Decide: action %d (%s), want %d", got.Action, got.Reason, test.want)
			}
		})
	}
}

// TestC8_Vocabulary: the names of an attribute meet in both languages; what is
// not known has many values.
func TestC8_Vocabulary(t *testing.T) {
	t.Parallel()
	v := reconcile.NewVocabulary()
	for _, name := range []string{"居住地", "住址", "residence", "lives_in", "Lives in", "ＬＩＶＥＳ－ＩＮ"} {
		if got := v.Canonical(name); got != "residence" || !v.Single(name) {
			t.Errorf("%q: canonical %q, single %v; want residence, true", name, got, v.Single(name))
		}
	}
	for _, name := range []string{"likes", "喜欢", "favourite colour of the cat"} {
		if v.Single(name) {
			t.Errorf("%q is single; want many", name)
		}
	}
	if v.Canonical("Favourite Tea") != v.Canonical("favourite_tea") {
		t.Error("spellings of an unknown attribute do not meet")
	}
}
