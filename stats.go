package yiku

import "time"

// GetStatsRequest asks what the model calls of the tenant took, and what its
// contexts saved, over some days (G6).
type GetStatsRequest struct {
	UserID string    `json:"user_id,omitempty" in:"query" maxLength:"256" doc:"Tell also how much is kept of this user. Calls and tokens are counted by tenant, never by user."`
	From   time.Time `json:"from,omitzero" in:"query" doc:"The first day, in UTC; 29 days before the last where absent."`
	To     time.Time `json:"to,omitzero" in:"query" doc:"The last day, in UTC; today where absent."`
}

// Stats are the ledger of some days. Costs are absent where no price is configured.
type Stats struct {
	Tenant   string       `json:"tenant"`
	From     time.Time    `json:"from" doc:"The beginning of the first day."`
	To       time.Time    `json:"to" doc:"The beginning of the last day."`
	Models   []ModelStats `json:"models" doc:"By operation, model and path."`
	Days     []DayStats   `json:"days" doc:"Of all models together, oldest first; days without a call are left out."`
	Contexts ContextStats `json:"contexts"`
	Budgets  BudgetStats  `json:"budgets"`
	User     *UserStats   `json:"user,omitempty"`
}

// DayStats are the calls of one day to all models.
type DayStats struct {
	Day       time.Time `json:"day"`
	Calls     int64     `json:"calls"`
	Failures  int64     `json:"failures"`
	TokensIn  int64     `json:"tokens_in"`
	TokensOut int64     `json:"tokens_out"`
	CostUSD   *float64  `json:"cost_usd,omitempty" doc:"Absent where a model of the day has no price."`
}

// BudgetStats are what is left of the tenant's budgets now; those without a
// bound are absent.
type BudgetStats struct {
	DayCalls    *BudgetLeft `json:"day_calls,omitempty"`
	DayTokens   *BudgetLeft `json:"day_tokens,omitempty"`
	MonthCalls  *BudgetLeft `json:"month_calls,omitempty"`
	MonthTokens *BudgetLeft `json:"month_tokens,omitempty"`
}

// BudgetLeft is one bound.
type BudgetLeft struct {
	Limit int64 `json:"limit"`
	Used  int64 `json:"used"`
	Left  int64 `json:"left" doc:"Never below 0."`
}

// ModelStats are the calls of one operation to one model.
type ModelStats struct {
	Operation string   `json:"operation" doc:"extract, summary and others."`
	Model     string   `json:"model,omitempty" doc:"Driver and model, as configured."`
	Path      string   `json:"path" enum:"llm,rules" doc:"rules: these stood in for a model."`
	Calls     int64    `json:"calls" doc:"Attempts at the endpoint."`
	Failures  int64    `json:"failures" doc:"Those that brought nothing that could be used."`
	TokensIn  int64    `json:"tokens_in"`
	TokensOut int64    `json:"tokens_out"`
	Estimated int64    `json:"estimated" doc:"Those of the tokens that we counted because the endpoint did not."`
	CostUSD   *float64 `json:"cost_usd,omitempty"`
}

// ContextStats compare contexts with the whole histories in whose place they
// were sent. Contexts without a session stand for nothing and are not among them.
type ContextStats struct {
	Contexts       int64    `json:"contexts"`
	Tokens         int64    `json:"tokens"`
	HistoryTokens  int64    `json:"history_tokens"`
	SavedTokens    int64    `json:"saved_tokens" doc:"Negative where the contexts were larger."`
	SavedShare     float64  `json:"saved_share"`
	CostUSD        *float64 `json:"cost_usd,omitempty"`
	HistoryCostUSD *float64 `json:"history_cost_usd,omitempty" doc:"What the whole histories would have cost."`
	SavedUSD       *float64 `json:"saved_usd,omitempty"`
}

// UserStats are how much is kept of one user.
type UserStats struct {
	Messages int   `json:"messages"`
	Memories int   `json:"memories"`
	Bytes    int64 `json:"bytes" doc:"In the store's own measure."`
}
