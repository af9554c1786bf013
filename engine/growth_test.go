package engine_test

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/llm"
)

var (
	distinct    = flag.Int("distinct", 600, "facts of TestC7_DistinctFactsStay; make nightly takes 10,000")
	longSession = flag.Int("turns", 600, "turns of TestL124_TheCostOfATurnStays; make nightly takes 5,000")
)

// factual is a model that repeats what stands behind "fact:", in its own way,
// and counts what it is asked by tokens as the windows are measured.
type factual struct {
	calls  int
	tokens []int // of each call
}

func (m *factual) Name() string { return "factual" }

var factOf = regexp.MustCompile(`(?m)^(\d+)\. (.*?)fact: ([^"\\]+)`)

func (m *factual) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	if req.Schema == nil || req.Schema.Name != "memory_operations" { // a summary
		return llm.Response{Text: "{}"}, nil
	}
	m.calls++
	in := (len(req.System) + len(req.Messages[0].Content)) / 4
	m.tokens = append(m.tokens, in)
	_, messages, _ := strings.Cut(req.Messages[0].Content, "<messages>")
	var ops []string
	for _, f := range factOf.FindAllStringSubmatch(messages, -1) {
		if !strings.Contains(f[2], "(read before)") {
			ops = append(ops, `{"op":"create","content":"`+f[3]+`","messages":[`+f[1]+`]}`)
		}
	}
	return llm.Response{Text: `{"operations":[` + strings.Join(ops, ",") + `]}`, Usage: llm.Usage{In: in, Out: 30 * len(ops)}}, nil
}

// TestC7_TheSameByConversation: the same content said 1,000 times over many
// appends and windows, in Chinese and English, is one row, and one version
// more at most, by the rules and by a model.
func TestC7_TheSameByConversation(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"I live in Bergen. fact: Lives in Bergen", "我喜欢绿茶。fact: 喜欢绿茶"} {
		for _, model := range []llm.Model{nil, &factual{}} {
			b := newBenchWith(t, engine.Options{Model: model})
			for range 20 {
				var texts []string
				for range 50 {
					texts = append(texts, said)
				}
				utter(t, b.operator(), "s", texts...)
				b.clock.Advance(10 * time.Minute)
				if err := b.RunJobs(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			page, err := b.operator().ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "ann"})
			if err != nil || len(page.Items) != 1 || page.Items[0].Version > 2 {
				t.Errorf("%q, model %v: %+v, %v", said, model != nil, page.Items, err)
			}
		}
	}
}

// TestC7_DistinctFactsStay: as many distinct facts as were said are there, how
// like each other they may be; none is taken for another.
func TestC7_DistinctFactsStay(t *testing.T) {
	t.Parallel()
	b := newBenchWith(t, engine.Options{Model: &factual{}})
	said := 0
	for said < *distinct {
		var texts []string
		for range min(100, *distinct-said) {
			text := fmt.Sprintf("fact: Shelf %d holds box %d", said/10, said)
			if said%2 == 1 {
				text = fmt.Sprintf("fact: 第%d号架子上放着%d号箱", said/10, said)
			}
			texts = append(texts, text)
			said++
		}
		utter(t, b.operator(), fmt.Sprint("s", said/1000), texts...)
		b.clock.Advance(10 * time.Minute)
		if err := b.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := everything(t.Context(), b.operator(), "ann")
	seen := map[string]bool{}
	for _, m := range all {
		seen[m.Content] = m.Status == yiku.StatusActive
	}
	if err != nil || len(all) != said || len(seen) != said {
		t.Errorf("%d rows, %d contents of %d facts, %v", len(all), len(seen), said, err)
	}
	boardtest.Report(t, boardtest.Row{ID: "C7", Part: "distinct", Trials: said, Hits: said - len(seen), What: "distinct facts were taken for another or lost"})
}

// TestL124_TheCostOfATurnStays: in a session of many turns the model is asked
// about each turn once, and what a turn costs it in the last tenth of the
// session is what it costs in the first, however much is known by then.
func TestL124_TheCostOfATurnStays(t *testing.T) {
	t.Parallel()
	model := &factual{}
	b := newBenchWith(t, engine.Options{Model: model})
	spent := make([]int, 10)
	for tenth := range 10 {
		for turn := range *longSession / 10 {
			n := tenth**longSession/10 + turn
			text := fmt.Sprintf("Let us go on with part %d of the garden plan, as we said. fact: Bed %d of the garden grows plant %d", n, n, n*7)
			if n%2 == 1 {
				text = fmt.Sprintf("我们接着看花园计划的第%d部分，和上次说的一样。fact: 花园第%d畦种的是%d号植物", n, n, n*7)
			}
			if _, err := b.operator().AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{
				{Role: yiku.RoleUser, Content: yiku.Text(text)},
				{Role: yiku.RoleAssistant, Content: yiku.Text(fmt.Sprintf("好的 fine, part %d is noted in the plan.", n))},
			}}); err != nil {
				t.Fatal(err)
			}
			if n%20 == 19 {
				b.clock.Advance(10 * time.Minute)
				if err := b.RunJobs(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, n := range model.tokens {
			spent[tenth] += n
		}
		model.tokens = nil
	}
	first, last := float64(spent[0]), float64(spent[9])
	if first == 0 || last > 1.2*first {
		t.Errorf("tokens by tenth of the session: %v: the last is %.2f times the first", spent, last/first)
	}
	if _, err := ranges(t.Context(), b, "ann", "s"); err != nil {
		t.Error(err)
	}
	per := 100 * float64(model.calls) / float64(*longSession)
	t.Logf("%.1f calls of the model and %.0f tokens per 100 turns; the last tenth costs %.2f times the first", per, 1000*last/float64(*longSession), last/first)
	if per > 20 { // five of them read, the others summarize
		t.Errorf("%.1f calls per 100 turns", per)
	}
}
