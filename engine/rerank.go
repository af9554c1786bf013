package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/recall"
	"github.com/yiku-ai/yiku/internal/rewrite"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/rerank"
	"github.com/yiku-ai/yiku/store"
)

// The operations of model calls that reads make, as ledger and events have them.
const (
	operationRerank  = "rerank"
	operationRewrite = "rewrite"
)

// rerankBytes is how much of each document the reranker reads.
const rerankBytes = 2000

// seek is find for those who read, with the reranker's judgement where that
// layer is on (D11). What fails beside finding leaves the order as it was and
// is named in degraded.
func (c *call) seek(ctx context.Context, owners []yiku.Owner, q question, on Layers) (hits []hit, degraded []string, err error) {
	q.off = on.off()
	wanted := q.limit
	judged := on.Rerank && c.reranker != nil
	if judged {
		q.limit = max(q.limit, c.settings.RerankCandidates)
	}
	hits, degraded, err = c.find(ctx, owners, q)
	if err == nil && judged && len(hits) > 1 {
		before := hits
		if hits, err = c.rerank(ctx, owners[0], q, hits); err != nil && ctx.Err() == nil {
			hits, err, degraded = before, nil, append(degraded, operationRerank)
			c.count("rerank_failed", 1)
		}
	}
	for _, h := range hits[min(wanted, len(hits)):] {
		c.cut(yiku.CutLimit, h)
	}
	return hits[:min(wanted, len(hits))], degraded, err
}

// rerank orders the best of the hits by the reranker. Its scores have a scale of
// their own, so they only say which of them is the most relevant, the second
// and so on: the relevances that were calibrated are dealt out in that order,
// and the documented formula (D3) orders by them.
func (c *call) rerank(ctx context.Context, owner yiku.Owner, q question, hits []hit) ([]hit, error) {
	head := hits[:min(len(hits), c.settings.RerankCandidates)]
	documents := make([]string, len(head))
	for i, h := range head {
		documents[i] = strings.ToValidUTF8(h.Text[:min(len(h.Text), rerankBytes)], "")
	}
	scores, err := c.judge(ctx, owner, q.text, documents)
	if err != nil {
		return nil, err
	}
	items := make([]recall.Item, len(hits))
	at := map[itemKey]int{}
	for i, h := range hits {
		items[i] = h.Item
		at[keyOf(h.Item)] = i
	}
	places := byDescending(len(head), func(i int) float64 { return scores[i] })
	dealt := byDescending(len(head), func(i int) float64 { return head[i].Scores.Relevance })
	for place, i := range places {
		items[i].Scores.Relevance = head[dealt[place]].Scores.Relevance
	}
	none := 0.0
	out := make([]hit, 0, len(hits))
	for _, r := range recall.Rank(items, c.now, len(hits), &recall.Options{Weights: c.settings.Weights, MinRelevance: &none, Explain: q.explain, Query: q.text, Exact: exactOf(q.text)}) {
		i := at[keyOf(r.Item)]
		h := hits[i]
		if r.Explain != nil {
			r.Explain.Notes = h.Explain.Notes
			if i < len(head) {
				r.Explain.Arms[operationRerank] = scores[i]
				r.Explain.Notes = append(r.Explain.Notes, fmt.Sprintf("the reranker put it at place %d of %d: relevance %.3f became %.3f",
					slices.Index(places, i)+1, len(head), h.Scores.Relevance, r.Scores.Relevance))
			}
		}
		h.Ranked = r
		out = append(out, h)
	}
	return out, nil
}

// byDescending are the numbers below n by their values, the highest first, and
// equal ones as they stand.
func byDescending(n int, value func(int) float64) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	return out
}

// judge asks the reranker, within the tenant's budget and on its ledger (G6).
func (c *call) judge(ctx context.Context, owner yiku.Owner, query string, documents []string) (scores []float64, err error) {
	began := c.Engine.now().UTC()
	name := c.reranker.Name()
	counter := c.tokens.For(name)
	reserved := store.Spent{Calls: 1}
	for _, d := range documents { // a cross-encoder reads the query with each
		reserved.TokensIn += int64(counter.Text(d) + counter.Text(query))
	}
	row := store.Spending{Day: usage.Day(began), Operation: operationRerank, Model: name, Path: pathModel, Spent: reserved}
	var res rerank.Response
	var used store.Spent
	if err = c.reserve(ctx, owner, row, began); err == nil {
		if res, err = c.reranker.Rerank(ctx, query, documents); err == nil && len(res.Scores) != len(documents) {
			err = yiku.Errorf(yiku.ErrUnavailable, "the reranker scored %d of %d documents", len(res.Scores), len(documents))
		}
		switch {
		case err != nil:
			used = store.Spent{Failures: 1}
		case res.Tokens == rerank.Tokens{}:
			used = store.Spent{TokensIn: reserved.TokensIn, Estimated: reserved.TokensIn}
		default:
			used = store.Spent{TokensIn: int64(res.Tokens.In), TokensOut: int64(res.Tokens.Out)}
		}
		c.correct(ctx, owner, row, used)
	}
	c.sink.Record(ctx, observe.Event{Time: began, Layer: observe.ModelLayer, Operation: operationRerank, Tenant: owner.Tenant(),
		Tokens:   map[string]int{"in": int(used.TokensIn), "out": int(used.TokensOut)},
		Duration: c.Engine.now().Sub(began), Outcome: outcome(err)})
	return res.Scores, err
}

// clarify is a query as the language model makes it clear by what was said before
// (D11), or as it is where that layer is off, there is no model or it fails;
// degraded then says so.
func (c *call) clarify(ctx context.Context, owner yiku.Owner, query string, said []yiku.Message, on Layers) (clear string, degraded []string) {
	model := c.modelFor(owner, operationRewrite)
	if !on.Rewrite || model == nil {
		return query, nil
	}
	within, cancel := context.WithTimeout(ctx, c.settings.RewriteTimeout)
	defer cancel()
	clear, err := rewrite.Query(within, model, query, said, c.now)
	if err != nil {
		c.count("rewrite_failed", 1)
		return query, []string{operationRewrite}
	}
	if c.told != nil && clear != query {
		c.told.Rewritten = clear
	}
	return clear, nil
}

// saidBefore are the last messages of a session, for what makes a query clear
// by them; none where nothing does.
func (c *call) saidBefore(ctx context.Context, owner yiku.Owner, sessionID string, on Layers) (said []yiku.Message, err error) {
	if sessionID == "" || !on.Rewrite || c.model == nil {
		return nil, nil
	}
	err = c.store.View(ctx, func(r store.Reader) error {
		session, err := r.Session(owner, sessionID)
		if errors.Is(err, yiku.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		rows, err := r.Messages(owner, store.MessageQuery{SessionKey: session.Key, Last: true, Limit: rewrite.Messages})
		said = messagesOf(rows)
		return err
	})
	return said, err
}

// union is a list with what another has beside it.
func union(list, other []string) []string {
	for _, s := range other {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
