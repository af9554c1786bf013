package sqlite

import (
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlSpend = `INSERT INTO usage (tenant, day, operation, model, path, calls, failures, tokens_in, tokens_out, estimated, history)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, failures = failures + excluded.failures,
	tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
	estimated = estimated + excluded.estimated, history = history + excluded.history`
	sqlSpent = `SELECT day, operation, model, path, calls, failures, tokens_in, tokens_out, estimated, history FROM usage
	WHERE tenant = ? AND day BETWEEN ? AND ? ORDER BY day, operation, model, path`
)

const secondsOfDay = 24 * 60 * 60

// dayOf counts the days since 1970-01-01, UTC.
func dayOf(t time.Time) int64 {
	seconds := t.Unix()
	if seconds < 0 {
		seconds -= secondsOfDay - 1
	}
	return seconds / secondsOfDay
}

// Spend adds to the ledger; see store.SpendWriter. There is one writer.
func (t *tx) Spend(rows ...store.Spending) error {
	return t.atomic("write the ledger", func() error {
		tenant, err := t.addTenant(t.own.owner.Tenant())
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := t.c.run(sqlSpend, tenant, dayOf(r.Day), r.Operation, r.Model, r.Path,
				r.Calls, r.Failures, r.TokensIn, r.TokensOut, r.Estimated, r.History); err != nil {
				return err
			}
		}
		return nil
	})
}

// Spent lists rows of the ledger; see store.SpendReader.
func (r *reader) Spent(tenant string, from, to time.Time) ([]store.Spending, error) {
	number, err := r.tenant(tenant)
	if err != nil || number == 0 {
		return nil, err
	}
	var list []store.Spending
	err = r.c.each(sqlSpent, func(st *sqlite3.Stmt) error {
		list = append(list, store.Spending{
			Day: time.Unix(st.ColumnInt64(0)*secondsOfDay, 0).UTC(), Operation: st.ColumnText(1), Model: st.ColumnText(2), Path: st.ColumnText(3),
			Spent: store.Spent{Calls: st.ColumnInt64(4), Failures: st.ColumnInt64(5), TokensIn: st.ColumnInt64(6), TokensOut: st.ColumnInt64(7),
				Estimated: st.ColumnInt64(8), History: st.ColumnInt64(9)},
		})
		return nil
	}, number, dayOf(from), dayOf(to))
	return list, foreign("read the ledger", err)
}
