package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func spendTests() map[string]func(*env) {
	return map[string]func(*env){"G6_Ledger": ledger, "G6_LedgerOfForgotten": ledgerOfForgotten, "G6_LedgerAtOnce": ledgerAtOnce, "G6_Settings": settings}
}

func spending(day time.Time, operation, path string, tokens int64) store.Spending {
	return store.Spending{Day: day, Operation: operation, Model: "openai/m", Path: path, Spent: store.Spent{Calls: 1, TokensIn: tokens, TokensOut: 1}}
}

func (e *env) spent(tenant string, from, to time.Time) (list []store.Spending) {
	e.t.Helper()
	e.view(func(r store.Reader) (err error) {
		list, err = r.Spent(tenant, from, to)
		return err
	})
	return list
}

// ledger: rows add up by day in UTC, operation, model and path, over all
// owners of a tenant, and what is undone does not count.
func ledger(e *env) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	late := time.Date(2026, 3, 2, 1, 30, 0, 0, time.FixedZone("", 2*3600)) // 23:30 the day before, in UTC
	for _, o := range []yiku.Owner{e.owner, e.neighbour} {
		e.updateAs(o, func(tx store.Tx) error {
			return errors.Join(tx.Spend(spending(late, "extract", "llm", 10)), tx.Spend(spending(day, "extract", "rules", 0), spending(day.AddDate(0, 0, 1), "summary", "llm", 7)))
		})
	}
	e.updateAs(e.owner, func(tx store.Tx) error {
		correction := store.Spending{Day: day, Operation: "extract", Model: "openai/m", Path: "llm", Spent: store.Spent{Failures: 1, TokensIn: -4, Estimated: 3, History: 2}}
		return tx.Spend(correction)
	})
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		err := tx.Spend(spending(day, "extract", "llm", 1000))
		within, err2 := tx.Spent("acme", day, day)
		if len(within) != 2 || within[0].TokensIn != 1016 {
			e.t.Errorf("within its own update: %+v", within)
		}
		return errors.Join(err, err2, errOwn)
	})
	e.want("Update", err, errOwn)
	want := []store.Spending{
		{Day: day, Operation: "extract", Model: "openai/m", Path: "llm", Spent: store.Spent{Calls: 2, Failures: 1, TokensIn: 16, TokensOut: 2, Estimated: 3, History: 2}},
		{Day: day, Operation: "extract", Model: "openai/m", Path: "rules", Spent: store.Spent{Calls: 2, TokensOut: 2}},
		{Day: day.AddDate(0, 0, 1), Operation: "summary", Model: "openai/m", Path: "llm", Spent: store.Spent{Calls: 2, TokensIn: 14, TokensOut: 2}},
	}
	e.same("both days", want, e.spent("acme", day.Add(23*time.Hour), day.AddDate(0, 0, 1)))
	e.same("the second day", want[2:], e.spent("acme", day.AddDate(0, 0, 1), day.AddDate(0, 0, 9)))
	e.same("another tenant", []store.Spending(nil), e.spent("globex", day, day.AddDate(0, 0, 9)))
	e.same("an unknown tenant", []store.Spending(nil), e.spent("nobody", day, day.AddDate(0, 0, 9)))
}

// ledgerOfForgotten: what was spent for a user stays when the user is forgotten.
func ledgerOfForgotten(e *env) {
	day := At(0)
	m := e.memories("m")[0]
	e.update(func(tx store.Tx) error { return tx.Spend(spending(day, "extract", "llm", 10)) })
	before := e.spent("acme", day, day)
	e.update(func(tx store.Tx) error {
		_, err := tx.RaiseEpoch()
		return errors.Join(err, tx.Purge([]int64{m.Key}, nil, nil))
	})
	e.same("after a forget", before, e.spent("acme", day, day))
}

// ledgerAtOnce: updates of several owners of one tenant that read the ledger
// and add to it see each other, so that none goes beyond a bound.
func ledgerAtOnce(e *env) {
	const bound, workers, tries = 40, 8, 10
	day := At(0)
	done := make(chan error, workers)
	for i := range workers {
		owner := Owner(e.t, "acme", string(rune('a'+i%4)))
		go func() {
			var all error
			for range tries {
				all = errors.Join(all, e.s.Update(context.Background(), owner, store.Maintenance, func(tx store.Tx) error {
					rows, err := tx.Spent("acme", day, day)
					if err != nil || len(rows) > 0 && rows[0].Calls >= bound {
						return err
					}
					return tx.Spend(spending(day, "extract", "llm", 1))
				}))
			}
			done <- all
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			e.t.Error(err)
		}
	}
	if rows := e.spent("acme", day, day); len(rows) != 1 || rows[0].Calls != bound {
		e.t.Errorf("%d calls of %d tries at once, bound %d: %+v", workers*tries, workers, bound, rows)
	}
}

// settings: what a tenant has set is read again, counted up by each write, and
// another tenant's is absent.
func settings(e *env) {
	body := []byte(`{"budgets":{"day_calls":5}} 设置`)
	for version := int64(1); version <= 2; version++ {
		s := store.Setting{Name: "tenant", Body: body, UpdatedAt: At(int(version))}
		e.updateAs(e.tenant(e.owner), func(tx store.Tx) error { return tx.PutSetting(&s) })
		e.same("as written", store.Setting{Name: "tenant", Body: body, Version: version, UpdatedAt: At(int(version))}, s)
	}
	err := e.s.Update(context.Background(), e.owner, store.Request, func(tx store.Tx) error {
		return errors.Join(tx.PutSetting(&store.Setting{Name: "tenant", Body: []byte("undone")}), errOwn)
	})
	e.want("Update", err, errOwn)
	e.view(func(r store.Reader) error {
		got, err := r.Setting("acme", "tenant")
		e.same("as read", store.Setting{Name: "tenant", Body: body, Version: 2, UpdatedAt: At(2)}, got)
		_, err2 := r.Setting("acme", "other")
		_, err3 := r.Setting("globex", "tenant")
		e.want("another name", err2, yiku.ErrNotFound)
		e.want("another tenant", err3, yiku.ErrNotFound)
		return err
	})
}
