package eval_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/eval"
	"github.com/yiku-ai/yiku/index"
	"github.com/yiku-ai/yiku/index/memindex"
	"github.com/yiku-ai/yiku/internal/recall"
)

type lexical struct {
	index *memindex.Index
	users map[string]*user
	f     recall.Fusion
	thr   float64
}

type user struct {
	owner    yiku.Owner
	messages []yiku.Message
	sessions map[string]int64
}

func (l *lexical) AppendMessages(ctx context.Context, r yiku.AppendMessagesRequest) (yiku.AppendMessagesResponse, error) {
	u, ok := l.users[r.UserID]
	if !ok {
		owner, err := yiku.NewOwner("t", r.UserID)
		if err != nil {
			return yiku.AppendMessagesResponse{}, err
		}
		u = &user{owner: owner, sessions: map[string]int64{}}
		l.users[r.UserID] = u
	}
	key, ok := u.sessions[r.SessionID]
	if !ok {
		key = int64(len(u.sessions) + 1)
		u.sessions[r.SessionID] = key
	}
	pos, err := l.index.Position(ctx, u.owner)
	if err != nil {
		return yiku.AppendMessagesResponse{}, err
	}
	b := index.Batch{From: pos, To: index.Position{Generation: "g", Seq: pos.Seq + 1}}
	for _, m := range r.Messages {
		u.messages = append(u.messages, m)
		b.Upserts = append(b.Upserts, index.Doc{Ref: index.Ref{Kind: index.Message, Key: int64(len(u.messages))}, Session: key, Text: recall.MessageText(m)})
	}
	return yiku.AppendMessagesResponse{}, l.index.Apply(ctx, u.owner, b)
}

func (l *lexical) SearchMemory(ctx context.Context, r yiku.SearchMemoryRequest) (yiku.SearchMemoryResponse, error) {
	u := l.users[r.UserID]
	res, err := l.index.Search(ctx, u.owner, index.Query{Text: r.Query, K: 200})
	if err != nil {
		return yiku.SearchMemoryResponse{}, err
	}
	least := r.MinRelevance
	if least == nil {
		least = &l.thr
	}
	items := make([]recall.Item, len(res.Candidates))
	for i, c := range res.Candidates {
		items[i] = recall.OfMessage(&u.messages[c.Key-1], c, recall.Calibrate(c, res.MaxLexical, l.f))
	}
	var out yiku.SearchMemoryResponse
	for _, r := range recall.Rank(items, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), r.Limit, &recall.Options{MinRelevance: least}) {
		out.Items = append(out.Items, yiku.SearchItem{Message: &u.messages[r.Candidate.Key-1], Score: r.Score, Scores: r.Scores})
	}
	return out, nil
}

func envf(name string, d float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return d
}

func TestExperiment(t *testing.T) {
	var sets []*eval.Set
	names := []string{"locomo", "lifebench_zh", "beam_100K", "madial_zh", "xquad_zh"}
	if v := os.Getenv("SETS"); v != "" {
		names = nil
		fmt.Sscan(v, &v)
		names = append(names, v)
	}
	for _, n := range names {
		s, err := eval.Load("../../shared/data/" + n)
		if err != nil {
			t.Fatal(err)
		}
		if n == "locomo" && os.Getenv("ALL") == "" {
			var q []eval.Question
			for _, x := range s.Questions {
				if x.Category != "5" {
					q = append(q, x)
				}
			}
			s.Questions = q
		}
		sets = append(sets, s)
	}
	f := recall.Fusion{Context: envf("CTX", 1), Neighbor: envf("NB", .4)}
	r, err := eval.Run(context.Background(), sets, func() (eval.Searcher, error) {
		return &lexical{index: memindex.New(nil), users: map[string]*user{}, f: f, thr: envf("THR", 0)}, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.WriteTable(os.Stdout)
}
