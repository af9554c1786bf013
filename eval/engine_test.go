package eval_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/eval"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/recall"
	"github.com/yiku-ai/yiku/store"
	"github.com/yiku-ai/yiku/store/sqlite"
)

// whole is a service with what it stands on, for one set.
type whole struct {
	yiku.Service
	engine *engine.Engine
	index  index.Index
	store  store.Store
}

func (w *whole) Close() error { return errors.Join(w.engine.Close(), w.index.Close(), w.store.Close()) }

func openWhole(ctx context.Context, dir string) (eval.Searcher, error) {
	s, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	x := memindex.New(nil)
	e, err := engine.New(engine.Options{Store: s, Index: x})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &whole{Service: e.As(yiku.Principal{Tenant: "eval", Access: yiku.AccessAdmin}), engine: e, index: x, store: s}, nil
}

// TestD2_EngineRecall measures the whole engine on the smaller sets in
// ../shared/data (or YIKU_EVAL_DATA); without them it skips.
// Lessons: L129.
func TestD2_EngineRecall(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"locomo", "madial_zh"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := without(data(t, name), "5")
			report, err := eval.Run(t.Context(), []*eval.Set{set}, func() (eval.Searcher, error) { return openWhole(t.Context(), t.TempDir()) }, nil)
			if err != nil {
				t.Fatal(err)
			}
			var table bytes.Buffer
			if err := report.WriteTable(&table); err != nil {
				t.Fatal(err)
			}
			t.Logf("\n%s", table.String())
			floor := floors()[name]
			if m := report.Sets[0].All; m.Recall[2] < floor[0] || m.Within[1] < floor[1] {
				t.Errorf("recall@10 %.3f, evidence within 1,024 tokens %.3f; must be at least %v", m.Recall[2], m.Within[1], floor)
			}
		})
	}
}

// TestD5_FewMemories: a person with a handful of memories is answered from
// them, and a question about nothing known recalls nothing, in both languages.
func TestD5_FewMemories(t *testing.T) {
	t.Parallel()
	memories := []string{
		"Ada lives in Lisbon near the river", "她对花生过敏", "The deadline of the Apollo project is 2026-05-18", "我住在上海浦东",
		"Prefers short answers without emojis", "公司的报销流程是先找王经理签字",
	}
	ctx, x := t.Context(), memindex.New(nil)
	owner, err := yiku.NewOwner("t", "u")
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]yiku.Memory, len(memories))
	batch := index.Batch{To: index.Position{Generation: "g", Seq: 1}}
	for i, content := range memories {
		rows[i] = yiku.Memory{Content: content, Type: yiku.TypeFact}
		batch.Upserts = append(batch.Upserts, index.Doc{Ref: index.Ref{Kind: index.Memory, Key: int64(i)}, Text: recall.MemoryText(rows[i])})
	}
	if err := x.Apply(ctx, owner, batch); err != nil {
		t.Fatal(err)
	}
	const nothing = -1
	for query, want := range map[string]int64{
		"Where does Ada live?": 0, "她对什么过敏？": 1, "When is the Apollo deadline?": 2, "我住在哪里": 3, "emojis": 4, "报销找谁签字？": 5, "上海": 3,
		"How did the surgery of the neighbour's horse go?": nothing, "昨天的足球比赛谁赢了？": nothing, "What is the capital of Mongolia?": nothing, "怎么做红烧肉": nothing,
	} {
		found, err := x.Search(ctx, owner, index.Query{Text: query, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		var items []recall.Item
		for _, c := range found.Candidates {
			items = append(items, recall.OfMemory(&rows[c.Key], c, recall.Calibrate(c, found.MaxLexical, recall.DefaultFusion())))
		}
		got := int64(nothing)
		if ranked := recall.Rank(items, rows[0].CreatedAt, 1, nil); len(ranked) > 0 {
			got = ranked[0].Candidate.Key
		}
		if got != want {
			t.Errorf("%q recalls %d, want %d", query, got, want)
		}
	}
}
