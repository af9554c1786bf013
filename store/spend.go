package store

import "time"

// Spending is a row of the ledger: what the model calls of one tenant, day,
// operation, model and path took. It holds counts only and names no user, so
// that it stays right, and says nothing, when one is forgotten.
type Spending struct {
	Day       time.Time // its beginning in UTC
	Operation string    // what was asked for: extract, summary, …; get_context for contexts
	Model     string    // as it is configured; what counted the tokens, for contexts
	Path      string    // llm, rules where these stood in, context
	Spent
}

// Spent are the counts of a row.
type Spent struct {
	Calls     int64 // attempts at the endpoint, or contexts
	Failures  int64 // those that brought nothing that could be used
	TokensIn  int64
	TokensOut int64
	Estimated int64 // those of the tokens that the endpoint did not report
	History   int64 // tokens of the whole history for which TokensIn stood; contexts only
}

// Add adds the counts of another row.
func (s *Spent) Add(o Spent) {
	s.Calls, s.Failures = s.Calls+o.Calls, s.Failures+o.Failures
	s.TokensIn, s.TokensOut = s.TokensIn+o.TokensIn, s.TokensOut+o.TokensOut
	s.Estimated, s.History = s.Estimated+o.Estimated, s.History+o.History
}

// SpendReader is what a Reader adds to read the ledger.
type SpendReader interface {
	// Spent lists a tenant's rows of the days from the one of from up to the
	// one of to, both inclusive, in the order of day, operation, model and
	// path. An unknown tenant has none.
	Spent(tenant string, from, to time.Time) ([]Spending, error)
}

// SpendWriter is what a Tx adds to keep the ledger.
type SpendWriter interface {
	// Spend adds to rows of the tenant of the Tx's owner, all or none; counts
	// may be negative, where less was used than had been reserved. Updates that
	// write one tenant's ledger happen one after the other, whoever their
	// owners are: what Spent gives within an Update holds until it ends. The
	// ledger is outside the sequence, and no forget takes from it.
	Spend(rows ...Spending) error
}
