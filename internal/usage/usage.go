// Package usage is what tokens cost, and what is saved by sending a small
// context instead of the whole history (G6).
package usage

// Plan is a load of model calls: each task makes Calls requests, and each
// request carries either the whole history or a composed context.
type Plan struct {
	HistoryTokens int     `json:"history_tokens"` // of the whole history, a call
	ContextTokens int     `json:"context_tokens"` // of the composed context, a call
	Calls         int     `json:"calls"`          // a task
	Tasks         int     `json:"tasks"`          // a day
	Days          int     `json:"days"`           // a month
	Price         float64 `json:"price"`          // of a million input tokens, in USD
}

// DefaultPlan is the example of the requirements: 10,800 USD a month with the
// whole history, 360 with a context of 2,000 tokens.
func DefaultPlan() Plan {
	return Plan{HistoryTokens: 60000, ContextTokens: 2000, Calls: 8, Tasks: 5000, Days: 30, Price: 0.15}
}

// Cost is what one way of sending costs.
type Cost struct {
	TokensDay   int64   `json:"tokens_day"`
	TokensMonth int64   `json:"tokens_month"`
	USDDay      float64 `json:"usd_day"`
	USDMonth    float64 `json:"usd_month"`
}

// Comparison is both ways beside each other.
type Comparison struct {
	Plan     Plan    `json:"plan"`
	History  Cost    `json:"history"`
	Context  Cost    `json:"context"`
	SavedUSD float64 `json:"saved_usd_month"`
	Share    float64 `json:"saved_share"` // 0 to 1; negative where the context is the larger
}

// Compare works out both costs:
// tokens a call × calls a task × tasks a day × days × price / 1,000,000.
func (p Plan) Compare() Comparison {
	c := Comparison{Plan: p, History: p.cost(p.HistoryTokens), Context: p.cost(p.ContextTokens)}
	c.SavedUSD = c.History.USDMonth - c.Context.USDMonth
	if p.HistoryTokens > 0 {
		c.Share = 1 - float64(p.ContextTokens)/float64(p.HistoryTokens)
	}
	return c
}

func (p Plan) cost(tokens int) Cost {
	day := int64(tokens) * int64(p.Calls) * int64(p.Tasks)
	month := day * int64(p.Days)
	return Cost{TokensDay: day, TokensMonth: month, USDDay: Price(day, p.Price), USDMonth: Price(month, p.Price)}
}

// Price returns what tokens cost at a price per million.
func Price(tokens int64, perMillion float64) float64 { return float64(tokens) * perMillion / 1e6 }
