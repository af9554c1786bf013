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
		{"an older state: Arrange finds its time", base(value("上海"), from(2)), false, []yiku.Memory{base()}, reconcile.Supersede},
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

// TestC8_OwnVocabulary: somebody's own names meet each other and those that
// are known, say which attributes have one value at a time, and change nothing
// else; what cannot be read is refused.
func TestC8_OwnVocabulary(t *testing.T) {
	t.Parallel()
	base := reconcile.NewVocabulary()
	v, err := base.With("Car Plate! = 车牌, licence; 户籍地 = hukou; residence = Wohnort; likes! ")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"车牌": "car_plate", "LICENCE": "car_plate", "hukou": "户籍地", "wohnort": "residence", "住址": "residence", "喜欢": "likes"} {
		if got := v.Canonical(name); got != want {
			t.Errorf("%q: canonical %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"licence": true, "hukou": false, "Wohnort": true, "喜欢": true, "friend": false} {
		if v.Single(name) != want {
			t.Errorf("%q: single %v, want %v", name, v.Single(name), want)
		}
	}
	if base.Canonical("wohnort") != "wohnort" || base.Single("likes") {
		t.Error("the vocabulary that was extended has changed")
	}
	for _, bad := range []string{"=x", "a=b,,c", "a=b;c=b", "!", "a=a"} {
		if _, err := base.With(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestC7_ContentKey: what a reader would call the same is one content; what
// differs by a case that carries meaning is not.
func TestC7_ContentKey(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"I prefer Dark Mode.", "i prefer ｄａｒｋ mode"}, {"我对花生过敏。", "我对花生过敏"}, {"a  b", "A b!"}} {
		if reconcile.ContentKey(pair[0]) != reconcile.ContentKey(pair[1]) {
			t.Errorf("%q and %q are two", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"密码 AbC", "密码 abc"}, {"version V1a", "version v1A"}, {"喜欢茶", "不喜欢茶"}} {
		if reconcile.ContentKey(pair[0]) == reconcile.ContentKey(pair[1]) {
			t.Errorf("%q and %q are one", pair[0], pair[1])
		}
	}
}

// TestC8_CorrectionOfManyValues: a correction retires the values that it names,
// or the only one, also of an attribute that has many.
func TestC8_CorrectionOfManyValues(t *testing.T) {
	t.Parallel()
	like := func(v string) yiku.Memory {
		return yiku.Memory{ID: v, Content: "likes " + v, Subject: "user", Attribute: "likes", Value: v, Confidence: 1, Trust: 1}
	}
	fix := like("coffee")
	fix.Type, fix.Content = yiku.TypeCorrection, "Not tea, the user likes coffee"
	if d := reconcile.Decide(fix, nil, []yiku.Memory{like("tea"), like("bananas")}); d.Action != reconcile.Supersede || len(d.Retire) != 1 || d.Retire[0].ID != "tea" {
		t.Errorf("named: %+v", d)
	}
	fix.Content = "The user likes coffee"
	if d := reconcile.Decide(fix, nil, []yiku.Memory{like("tea"), like("bananas")}); d.Action != reconcile.Create {
		t.Errorf("none named: %+v", d)
	}
	if d := reconcile.Decide(fix, nil, []yiku.Memory{like("tea")}); d.Action != reconcile.Supersede {
		t.Errorf("the only one: %+v", d)
	}
}
