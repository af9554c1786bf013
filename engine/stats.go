package engine

import (
	"context"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/store"
)

// statsDays is how many days are told of where a request does not say.
const statsDays = 30

// getStats reads the tenant's ledger (G6).
func (c *call) getStats(ctx context.Context, req yiku.GetStatsRequest) (yiku.Stats, error) {
	stats := yiku.Stats{From: usage.Day(req.From), To: usage.Day(req.To)}
	if req.To.IsZero() {
		stats.To = usage.Day(c.now)
	}
	if req.From.IsZero() {
		stats.From = stats.To.AddDate(0, 0, 1-statsDays)
	}
	if stats.From.After(stats.To) {
		return yiku.Stats{}, yiku.Invalid("from", "must not lie after to")
	}
	err := c.store.View(ctx, func(r store.Reader) error {
		rows, err := r.Spent(c.principal.Tenant, stats.From, stats.To)
		if err != nil {
			return err
		}
		stats.Models, stats.Contexts = c.modelStats(rows), c.contextStats(rows)
		if req.UserID != "" {
			stats.User, err = c.userStats(r, req.UserID)
		}
		return err
	})
	return stats, err
}

func (c *call) userStats(r store.Reader, user string) (*yiku.UserStats, error) {
	owner, err := c.owner(user)
	if err != nil {
		return nil, err
	}
	u, err := r.Usage(owner)
	return &yiku.UserStats{Messages: u.Messages, Memories: u.Memories, Bytes: u.Bytes}, err
}

// modelStats adds up the days of each operation, model and path.
func (c *call) modelStats(rows []store.Spending) []yiku.ModelStats {
	list := []yiku.ModelStats{}
	for _, row := range rows {
		if row.Path == pathContext {
			continue
		}
		i := slices.IndexFunc(list, func(m yiku.ModelStats) bool {
			return m.Operation == row.Operation && m.Model == row.Model && m.Path == row.Path
		})
		if i < 0 {
			i, list = len(list), append(list, yiku.ModelStats{Operation: row.Operation, Model: row.Model, Path: row.Path})
		}
		m := &list[i]
		m.Calls, m.Failures = m.Calls+row.Calls, m.Failures+row.Failures
		m.TokensIn, m.TokensOut, m.Estimated = m.TokensIn+row.TokensIn, m.TokensOut+row.TokensOut, m.Estimated+row.Estimated
	}
	for i := range list {
		if rate, known := c.settings.Prices.Of(list[i].Model); known && list[i].Path == pathModel {
			cost := rate.Cost(list[i].TokensIn, list[i].TokensOut)
			list[i].CostUSD = &cost
		}
	}
	return list
}

func (c *call) contextStats(rows []store.Spending) (s yiku.ContextStats) {
	for _, row := range rows {
		if row.Path == pathContext {
			s.Contexts, s.Tokens, s.HistoryTokens = s.Contexts+row.Calls, s.Tokens+row.TokensIn, s.HistoryTokens+row.History
		}
	}
	s.SavedTokens = s.HistoryTokens - s.Tokens
	if s.HistoryTokens > 0 {
		s.SavedShare = float64(s.SavedTokens) / float64(s.HistoryTokens)
	}
	if price := c.settings.ContextPrice; price > 0 {
		cost, history := usage.Price(s.Tokens, price), usage.Price(s.HistoryTokens, price)
		saved := history - cost
		s.CostUSD, s.HistoryCostUSD, s.SavedUSD = &cost, &history, &saved
	}
	return s
}
