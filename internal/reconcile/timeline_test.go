package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
)

func moment(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

// value is a residence that holds in [from, to); to 0: no end.
func value(id string, from, to int) yiku.Memory {
	m := yiku.Memory{ID: id, Content: "Lives in " + id, Subject: "user", Attribute: "residence", Value: id, Confidence: 1, Trust: 1, Single: true, ValidFrom: moment(from)}
	if to > 0 {
		m.ValidTo = moment(to)
	}
	return m
}

func span(m yiku.Memory) string {
	if m.ValidTo.IsZero() {
		return fmt.Sprintf("%s %d-", m.ID, m.ValidFrom.Day())
	}
	return fmt.Sprintf("%s %d-%d", m.ID, m.ValidFrom.Day(), m.ValidTo.Day())
}

// TestC8_Arrange walks the table of Arrange, a row each; the time is day 20.
func TestC8_Arrange(t *testing.T) {
	t.Parallel()
	fix := func(m yiku.Memory) yiku.Memory { m.Type = yiku.TypeCorrection; return m }
	hedged := func(m yiku.Memory) yiku.Memory { m.Confidence = 0.3; return m }
	web := func(m yiku.Memory) yiku.Memory { m.Trust = 0.2; return m }
	for _, test := range []struct {
		name      string
		candidate yiku.Memory
		others    []yiku.Memory
		want      string
	}{
		{"nothing else", value("x", 5, 0), nil, "x 5-"},
		{"the present ends", value("x", 15, 0), []yiku.Memory{value("a", 10, 0)}, "x 15- a 10-15"},
		{"equal beginnings: the later arrival wins", value("x", 10, 0), []yiku.Memory{value("a", 10, 0)}, "x 10- a 10-10"},
		{"before the present", value("x", 5, 0), []yiku.Memory{value("a", 10, 0)}, "x 5-10"},
		{"before history", value("x", 2, 0), []yiku.Memory{value("a", 10, 0), value("b", 5, 10)}, "x 2-5"},
		{"within history", value("x", 7, 0), []yiku.Memory{value("a", 10, 0), value("b", 5, 10)}, "x 7-10 b 5-7"},
		{"its own end comes first", value("x", 2, 4), []yiku.Memory{value("b", 5, 10)}, "x 2-4"},
		{"until a day to come", value("x", 15, 0), []yiku.Memory{value("a", 10, 25), value("plan", 25, 0)}, "x 15-25 a 10-15"},
		{"over: the present stays", value("x", 12, 14), []yiku.Memory{value("a", 10, 0)}, "x 12-14 a 14-"},
		{"what lost its time does not count", value("x", 2, 0), []yiku.Memory{value("b", 5, 5)}, "x 2-"},
		{"a correction takes what follows too", fix(value("x", 7, 0)), []yiku.Memory{value("a", 10, 0), value("b", 5, 10)}, "x 7- a 10-10 b 5-7"},
		{"hedged against firm history", hedged(value("x", 7, 0)), []yiku.Memory{value("b", 5, 10)}, "against b"},
		{"less trusted against history", web(value("x", 7, 0)), []yiku.Memory{value("b", 5, 10)}, "against b"},
		{"less trusted beside history", web(value("x", 2, 0)), []yiku.Memory{value("b", 5, 10)}, "x 2-5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fit := reconcile.Arrange(test.candidate, test.others, moment(20))
			x := test.candidate
			x.ValidTo = fit.ValidTo
			got := span(x)
			for _, m := range fit.Changed {
				got += " " + span(m)
			}
			if fit.Against != nil {
				got = "against " + fit.Against.ID
			}
			if got != test.want {
				t.Errorf("%s; want %s", got, test.want)
			}
		})
	}
}

// TestC8_ArrangeLaw: whatever arrives in whatever order, at any moment at most
// one value holds, and nothing changes but the intervals. Control: two that
// hold at once are found.
func TestC8_ArrangeLaw(t *testing.T) {
	t.Parallel()
	if !reconcile.Overlap(value("a", 1, 5), value("b", 4, 0)) || reconcile.Overlap(value("a", 1, 5), value("b", 5, 0)) {
		t.Fatal("control: the intervals are misread")
	}
	rapid.Check(t, func(t *rapid.T) {
		var all []yiku.Memory
		for i := range rapid.IntRange(1, 12).Draw(t, "values") {
			from := rapid.IntRange(1, 28).Draw(t, "from")
			m := value(fmt.Sprint(i), from, 0)
			if rapid.Bool().Draw(t, "ends") {
				m.ValidTo = moment(from + rapid.IntRange(1, 9).Draw(t, "for"))
			}
			if rapid.IntRange(0, 4).Draw(t, "corrects") == 0 {
				m.Type = yiku.TypeCorrection
			}
			fit := reconcile.Arrange(m, all, moment(rapid.IntRange(1, 28).Draw(t, "now")))
			for _, changed := range fit.Changed {
				for j := range all {
					if all[j].ID == changed.ID {
						all[j].ValidFrom, all[j].ValidTo = changed.ValidFrom, changed.ValidTo
					}
				}
			}
			m.ValidTo = fit.ValidTo
			all = append(all, m)
		}
		for i, a := range all {
			for _, b := range all[:i] {
				if reconcile.Overlap(a, b) {
					t.Fatalf("%s and %s hold at once", span(a), span(b))
				}
			}
		}
	})
}
