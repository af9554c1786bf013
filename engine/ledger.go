package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/observe"
	"github.com/yiku-ai/yiku/internal/usage"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/store"
)

// The paths of the ledger's rows.
const (
	pathModel   = "llm"
	pathRules   = "rules"
	pathContext = "context"
)

// answerTokens are reserved for an answer whose length the request leaves open.
const answerTokens = 4096

// settleLedgerTimeout bounds the correction of a reservation, which happens
// also where the call that made it has ended.
const settleLedgerTimeout = 5 * time.Second

// modelFor is the language model as calls for an owner and an operation
// (extract, summary, …) use it: every use of a model goes through here, so that
// each call is in the tenant's ledger and within its budget (G6). It is nil
// where no model is configured. A spent budget is llm.ErrBudget.
func (e *Engine) modelFor(owner yiku.Owner, operation string) llm.Model {
	if e.model == nil {
		return nil
	}
	wrap := func(m llm.Model) llm.Model { return meter{Model: m, engine: e, owner: owner, operation: operation} }
	if steady, ok := e.model.(interface {
		With(wrap func(llm.Model) llm.Model) llm.Model
	}); ok {
		return steady.With(wrap) // further attempts are calls too
	}
	return wrap(e.model)
}

// meter is a model whose calls are reserved in the ledger before they are made
// and corrected by what they took. A call whose program ends on the way keeps
// what was reserved.
type meter struct {
	llm.Model
	engine    *Engine
	owner     yiku.Owner
	operation string
}

// Complete runs one exchange.
func (m meter) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	began := m.engine.now().UTC()
	row := m.row(began)
	row.Spent = store.Spent{Calls: 1, TokensIn: m.promptTokens(req), TokensOut: int64(req.MaxTokens)}
	if req.MaxTokens == 0 {
		row.TokensOut = answerTokens
	}
	var res llm.Response
	var used store.Spent
	err := m.reserve(ctx, row)
	if err == nil {
		res, err = m.Model.Complete(ctx, req)
		used = m.used(ctx, row.Spent, res, err)
		m.engine.correct(ctx, m.owner, row, used)
		m.engine.spoils.ended(m.owner.Tenant(), m.engine.now(), err)
	}
	m.engine.sink.Record(ctx, observe.Event{Time: began, Layer: observe.ModelLayer, Operation: m.operation, Tenant: m.owner.Tenant(),
		Tokens:   map[string]int{"in": int(used.TokensIn), "out": int(used.TokensOut)},
		Duration: m.engine.now().Sub(began), Outcome: outcome(err)})
	return res, err
}

func (m meter) row(at time.Time) store.Spending {
	return store.Spending{Day: usage.Day(at), Operation: m.operation, Model: m.Name(), Path: pathModel}
}

// reserve is the engine's, unless the model is left alone for the tenant.
func (m meter) reserve(ctx context.Context, row store.Spending) error {
	at := m.engine.now()
	if err := m.engine.spoils.refused(m.owner.Tenant(), at); err != nil {
		return err
	}
	return m.engine.reserve(ctx, m.owner, row, at)
}

// reserve writes a call into the ledger, unless the budget has no room for it.
func (e *Engine) reserve(ctx context.Context, owner yiku.Owner, row store.Spending, at time.Time) error {
	return e.store.Update(ctx, owner, store.Maintenance, func(tx store.Tx) error {
		if err := e.withinBudget(tx, owner.Tenant(), usage.Amount{Calls: 1, Tokens: row.TokensIn + row.TokensOut}, at); err != nil {
			return err
		}
		return tx.Spend(row)
	})
}

// correct sets a reservation right. Where it cannot be written, what was reserved stays.
func (e *Engine) correct(ctx context.Context, owner yiku.Owner, reserved store.Spending, used store.Spent) {
	reserved.Calls = 0
	reserved.TokensIn, reserved.TokensOut = used.TokensIn-reserved.TokensIn, used.TokensOut-reserved.TokensOut
	reserved.Failures, reserved.Estimated = used.Failures, used.Estimated
	e.spend(ctx, owner, reserved)
}

// spend writes rows of the ledger behind whatever they belong to.
func (e *Engine) spend(ctx context.Context, owner yiku.Owner, rows ...store.Spending) {
	fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLedgerTimeout)
	defer cancel()
	err := e.store.Update(fresh, owner, store.Maintenance, func(tx store.Tx) error { return tx.Spend(rows...) })
	if err != nil {
		e.log.Warn("ledger not written", "error", err)
	}
}

// used is what a call took: as the endpoint says, else as we count. A call that
// failed took nothing, unless it was broken off: then the prompt had been sent.
func (m meter) used(ctx context.Context, reserved store.Spent, res llm.Response, err error) store.Spent {
	switch {
	case err != nil && ctx.Err() != nil:
		return store.Spent{Failures: 1, TokensIn: reserved.TokensIn, Estimated: reserved.TokensIn}
	case err != nil:
		return store.Spent{Failures: 1}
	case res.Usage.Total() > 0:
		return store.Spent{TokensIn: int64(res.Usage.In), TokensOut: int64(res.Usage.Out)}
	}
	out := int64(m.engine.tokens.For(m.Name()).Text(res.Text))
	return store.Spent{TokensIn: reserved.TokensIn, TokensOut: out, Estimated: reserved.TokensIn + out}
}

// messageTokens are what a message takes beside its text, never less than
// endpoints count.
const messageTokens = 8

// promptTokens counts a request with the model's own tokenizer or a bound of it.
func (m meter) promptTokens(req llm.Request) int64 {
	counter := m.engine.tokens.For(m.Name())
	n := counter.Text(req.System) + messageTokens
	for _, msg := range req.Messages {
		n += counter.Text(msg.Content) + messageTokens
	}
	if req.Schema != nil {
		n += counter.Text(string(req.Schema.JSON)) + messageTokens
	}
	return int64(n)
}

// withinBudget refuses what a tenant's budget has no room for.
func (e *Engine) withinBudget(r store.Reader, tenant string, need usage.Amount, at time.Time) error {
	budget, err := e.budgetOf(r, tenant)
	if err != nil || budget.None() {
		return err
	}
	day, month, err := spentBy(r, tenant, at)
	if err != nil {
		return err
	}
	bound, again := budget.Exceeded(day, month, need, at)
	if bound == "" {
		return nil
	}
	spent := yiku.Errorf(yiku.ErrLimited, "the budget budget.%s of model calls has no room for this one", bound)
	spent.RetryAfter = again.Sub(at)
	return fmt.Errorf("%w: %w", llm.ErrBudget, spent)
}

// spentBy is what the model calls of a tenant have taken in a time's day and month.
func spentBy(r store.Reader, tenant string, at time.Time) (day, month usage.Amount, err error) {
	rows, err := r.Spent(tenant, usage.Month(at), at)
	for _, row := range rows {
		if row.Path != pathModel {
			continue
		}
		month.Calls, month.Tokens = month.Calls+row.Calls, month.Tokens+row.TokensIn+row.TokensOut
		if row.Day.Equal(usage.Day(at)) {
			day.Calls, day.Tokens = day.Calls+row.Calls, day.Tokens+row.TokensIn+row.TokensOut
		}
	}
	return day, month, err
}
