package engine_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/llmtest"
	"github.com/yiku-ai/yiku/rerank"
)

// judge is a reranker of one function.
type judge func(ctx context.Context, query string, documents []string) ([]float64, error)

func (j judge) Name() string { return "test/judge" }

func (j judge) Rerank(ctx context.Context, query string, documents []string) (rerank.Response, error) {
	scores, err := j(ctx, query, documents)
	return rerank.Response{Scores: scores, Tokens: rerank.Tokens{In: 33}}, err
}

// prefers puts documents that hold a text first.
func prefers(text string) judge {
	return func(_ context.Context, _ string, documents []string) ([]float64, error) {
		scores := make([]float64, len(documents))
		for i, d := range documents {
			scores[i] = -10 - float64(i) // below nought, as logits are
			if strings.Contains(d, text) {
				scores[i] = -1
			}
		}
		return scores, nil
	}
}

func rerankBench(t *testing.T, r rerank.Reranker, model llm.Model, settings *engine.Settings) (bench, yiku.Service) {
	t.Helper()
	b := newBenchWith(t, engine.Options{Reranker: r, Model: model, Settings: settings})
	s := b.operator()
	for _, text := range []string{"the bicycle is red", "the bicycle, my bicycle, stands in the shed of the house", "a bicycle was bought in Bergen last year, for the way to work", "自行车在车库里", "我的自行车是红色的，自行车很旧", "去年买了一辆自行车，上班用"} {
		saveText(t, s, text)
	}
	return b, s
}

// TestD11_Rerank: what the reranker prefers stands first, in both languages, by
// the documented formula and within the threshold; explanations and the ledger
// show it. Control: with the layer off the order is what it is without one.
func TestD11_Rerank(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, prefers, first string }{
		{"bicycle", "Bergen", "a bicycle was bought in Bergen last year, for the way to work"},
		{"自行车", "去年", "去年买了一辆自行车，上班用"},
	} {
		_, plain := rerankBench(t, nil, nil, nil)
		before, _ := found(t, plain, test.query)
		if len(before) != 3 || before[0] == test.first {
			t.Fatalf("without a reranker: %q", before)
		}
		b, s := rerankBench(t, prefers(test.prefers), nil, nil)
		after, degraded := found(t, s, test.query)
		want(t, "reranked", after, append([]string{test.first}, slices.DeleteFunc(slices.Clone(before), func(c string) bool { return c == test.first })...)...)
		want(t, "degraded", degraded, "dense")
		res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: test.query, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		top := res.Items[0]
		if top.Explain.Arms["rerank"] != -1 || !strings.Contains(strings.Join(top.Explain.Notes, "\n"), "the reranker put it at place 1 of 3") {
			t.Errorf("explanation: %+v", top.Explain)
		}
		off, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", Query: test.query, Layers: yiku.Layers{Rerank: yiku.Some(false)}})
		if err != nil || off.Items[0].Memory.Content != before[0] {
			t.Errorf("control, layer off: %+v, %v", off.Items, err)
		}
		if off.Items[0].Scores.Relevance != top.Scores.Relevance {
			t.Errorf("the reranker changed the scale: %v, %v", off.Items[0].Scores, top.Scores)
		}
		ctx := contextOf(t, s, yiku.GetContextRequest{Query: test.query})
		if len(ctx.Memories) == 0 || ctx.Memories[0].Content != test.first {
			t.Errorf("context: %+v", ctx.Memories)
		}
		rows := statsOf(t, b.operator()).Models
		if i := slices.IndexFunc(rows, func(m yiku.ModelStats) bool { return m.Operation == "rerank" }); i < 0 || rows[i].Model != "test/judge" || rows[i].Calls != 3 || rows[i].TokensIn != 99 || rows[i].Failures != 0 {
			t.Errorf("ledger: %+v", rows)
		}
	}
}

// TestD11_RerankFails: however a reranker fails, the answer is what it would be
// without one and says so; a spent budget keeps it away. Control: one that does
// not fail changes the order.
func TestD11_RerankFails(t *testing.T) {
	t.Parallel()
	_, plain := rerankBench(t, nil, nil, nil)
	before, _ := found(t, plain, "bicycle")
	answer := func(scores ...float64) judge {
		return func(context.Context, string, []string) ([]float64, error) { return scores, nil }
	}
	var now judge
	b, s := rerankBench(t, judge(func(ctx context.Context, query string, documents []string) ([]float64, error) {
		res, err := rerank.NewSteady(now, time.Millisecond).Rerank(ctx, query, documents)
		return res.Scores, err
	}), nil, nil)
	calls := int64(0)
	for name, r := range map[string]judge{
		"broken":  failing(yiku.Errorf(yiku.ErrUnavailable, "no")),
		"refuses": failing(yiku.Errorf(yiku.ErrInvalid, "no")),
		"late": func(ctx context.Context, _ string, _ []string) ([]float64, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"too few":   answer(1, 2),
		"too many":  answer(1, 2, 3, 4),
		"no scores": answer(),
	} {
		now = r
		after, degraded := found(t, s, "bicycle")
		want(t, name, after, before...)
		want(t, name+": degraded", degraded, "dense", "rerank")
		if res := contextOf(t, s, yiku.GetContextRequest{Query: "bicycle"}); !slices.Contains(res.Degraded, "rerank") || len(res.Memories) == 0 {
			t.Errorf("%s: context %+v", name, res.Degraded)
		}
		calls += 2
		if m := statsOf(t, b.operator()).Models[0]; m.Calls != calls || m.Failures != calls || m.TokensIn != 0 {
			t.Errorf("%s: ledger %+v", name, m)
		}
	}
	if _, err := rerank.Scores([]rerank.Ranked{{Index: new(int), Score: ptr(math.NaN())}}, 1); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("NaN: %v", err)
	}
	settings := engine.DefaultSettings()
	settings.Budget = usage.Budget{DayCalls: 1}
	_, s = rerankBench(t, prefers("Bergen"), nil, &settings)
	first, _ := found(t, s, "bicycle")
	after, degraded := found(t, s, "bicycle")
	if first[0] == before[0] {
		t.Error("control: the reranker changed nothing")
	}
	want(t, "budget spent", after, before...)
	want(t, "budget spent: degraded", degraded, "dense", "rerank")
}

func failing(err error) judge {
	return func(context.Context, string, []string) ([]float64, error) { return nil, err }
}

func ptr[T any](v T) *T { return &v }

// TestD11_RewriteInSearch: with the layer on a query is made clear by what was
// said in the session, and finds what it means. Controls: with the layer off,
// as by default, and with a model that fails, it finds what it says.
func TestD11_RewriteInSearch(t *testing.T) {
	t.Parallel()
	clear := llmtest.NewScript(llmtest.Step{Text: `{"query":"自行车"}`, Usage: llm.Usage{In: 50, Out: 5}})
	b, s := rerankBench(t, nil, clear, nil)
	say(t, s, "s", "我们说说我的自行车吧")
	on := yiku.Layers{Rewrite: yiku.Some(true)}
	search := func(s yiku.Service, layers yiku.Layers) yiku.SearchMemoryResponse {
		res, err := s.SearchMemory(t.Context(), yiku.SearchMemoryRequest{UserID: "ann", SessionID: "s", Query: "那个呢", Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := search(s, yiku.Layers{}); len(res.Items) != 0 || len(clear.Asked()) != 0 {
		t.Fatalf("control, layer off: %+v", res)
	}
	if res := search(s, on); len(res.Items) != 3 || slices.Contains(res.Degraded, "rewrite") {
		t.Errorf("rewritten: %+v", res)
	}
	if asked := clear.Asked(); len(asked) != 1 || !strings.Contains(asked[0].Messages[0].Content, "我们说说我的自行车吧") {
		t.Errorf("asked: %+v", asked)
	}
	res := contextOf(t, s, yiku.GetContextRequest{SessionID: "s", Query: "那个呢", Options: yiku.ContextOptions{Layers: on}})
	if len(res.Memories) != 3 || len(clear.Asked()) != 2 {
		t.Errorf("context: %+v", res.Memories)
	}
	rows := statsOf(t, b.operator()).Models
	if i := slices.IndexFunc(rows, func(m yiku.ModelStats) bool { return m.Operation == "rewrite" }); i < 0 || rows[i].Calls != 2 || rows[i].TokensIn != 100 {
		t.Errorf("ledger: %+v", rows)
	}
	settings := engine.DefaultSettings()
	settings.RewriteTimeout = time.Millisecond
	faults := []llmtest.Step{{Hang: true}, {Err: yiku.Errorf(yiku.ErrUnavailable, "no")}, {Text: "[]"}, {Text: `{"query":"自行车 A-4711"}`}}
	_, s = rerankBench(t, nil, llmtest.NewScript(faults...), &settings)
	for i := range faults {
		if res := search(s, on); len(res.Items) != 0 || !slices.Contains(res.Degraded, "rewrite") {
			t.Errorf("fault %d: %+v", i, res)
		}
	}
}
