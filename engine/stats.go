package engine

import (
	"context"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/store"
)

// statsDays is how many days are told of where a request does not say.
const statsDays = 30

// getStats reads the tenant's ledger (G6).
func (c *call) getStats(ctx context.Context, req yiku.GetStatsRequest) (yiku.Stats, error) {
	stats := yiku.Stats{Tenant: c.principal.Tenant, From: usage.Day(req.From), To: usage.Day(req.To)}
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
		stats.Models, stats.Days, stats.Contexts = c.modelStats(rows), c.dayStats(rows), c.contextStats(rows)
		if stats.Budgets, err = c.budgetStats(r); err != nil {
			return err
		}
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

// dayStats adds up the calls to models of each day.
func (c *call) dayStats(rows []store.Spending) []yiku.DayStats {
	list, unpriced := []yiku.DayStats{}, map[time.Time]bool{}
	for _, row := range rows {
		if row.Path != pathModel {
			continue
		}
		i, found := slices.BinarySearchFunc(list, row.Day, func(d yiku.DayStats, day time.Time) int { return d.Day.Compare(day) })
		if !found {
			list = slices.Insert(list, i, yiku.DayStats{Day: row.Day, CostUSD: new(float64)})
		}
		d := &list[i]
		d.Calls, d.Failures, d.TokensIn, d.TokensOut = d.Calls+row.Calls, d.Failures+row.Failures, d.TokensIn+row.TokensIn, d.TokensOut+row.TokensOut
		rate, known := c.settings.Prices.Of(row.Model)
		*d.CostUSD += rate.Cost(row.TokensIn, row.TokensOut)
		unpriced[row.Day] = unpriced[row.Day] || !known
	}
	for i := range list {
		if unpriced[list[i].Day] {
			list[i].CostUSD = nil
		}
	}
	return list
}

// budgetStats is what is left of the tenant's budgets.
func (c *call) budgetStats(r store.Reader) (s yiku.BudgetStats, err error) {
	budget, err := c.budgetOf(r, c.principal.Tenant)
	if err != nil || budget.None() {
		return s, err
	}
	day, month, err := spentBy(r, c.principal.Tenant, c.now)
	left := func(limit, used int64) *yiku.BudgetLeft {
		if limit == 0 {
			return nil
		}
		return &yiku.BudgetLeft{Limit: limit, Used: used, Left: max(limit-used, 0)}
	}
	return yiku.BudgetStats{DayCalls: left(budget.DayCalls, day.Calls), DayTokens: left(budget.DayTokens, day.Tokens),
		MonthCalls: left(budget.MonthCalls, month.Calls), MonthTokens: left(budget.MonthTokens, month.Tokens)}, err
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
