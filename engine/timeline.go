package engine

import (
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/reconcile"
	"github.com/yiku-ai/yiku/store"
)

// The values of a single-valued attribute stand one after the other in time:
// at any moment at most one of them holds, in whatever order they were saved.

// timeline reads the other values, present and past, of a memory's attribute.
func (c *call) timeline(r store.Reader, owner yiku.Owner, m store.Memory) ([]store.Memory, error) {
	return c.withAttribute(r, owner, m, yiku.StatusActive, yiku.StatusSuperseded)
}

// insert adds a value to the timeline of its attribute. One that is over
// already is history; the same statement about the same time stays one row.
func (c *call) insert(tx store.Tx, owner yiku.Owner, m store.Memory, sources []store.Item) (saved, error) {
	rows, err := c.timeline(tx, owner, m)
	if err != nil {
		return saved{}, err
	}
	fit := reconcile.Arrange(m.Memory, memoriesOf(rows), c.now)
	if fit.Against != nil {
		m.Status = yiku.StatusQuarantined
		return c.shelf(tx, owner, m, sources, yiku.OutcomeQuarantined)
	}
	m.Single, m.ValidTo = true, fit.ValidTo
	if c.over(m.Memory) || c.ended(m.ValidTo) {
		m.Status = yiku.StatusSuperseded
		for _, row := range rows {
			if sameStatement(row, m) && (row.ValidFrom.Equal(m.ValidFrom) || reconcile.Overlap(row.Memory, m.Memory)) {
				return saved{memory: row, outcome: yiku.OutcomeReinforced}, tx.Touch([]int64{row.Key}, c.now)
			}
		}
	}
	out := saved{outcome: yiku.OutcomeCreated}
	for _, changed := range fit.Changed {
		row := *rowOf(rows, changed.ID)
		retired := row.Status == yiku.StatusActive && (c.over(changed) || c.ended(changed.ValidTo))
		if err := c.reschedule(tx, owner, row, changed.ValidFrom, changed.ValidTo); err != nil {
			return saved{}, err
		}
		if retired || m.Status == yiku.StatusActive && row.Status == yiku.StatusActive {
			out.retired = append(out.retired, row.ID)
		}
	}
	if len(out.retired) > 0 {
		out.outcome, m.Supersedes = yiku.OutcomeSuperseded, out.retired[0]
	}
	return c.add(tx, m, sources, out)
}

// retire makes a memory history: it held until the moment given.
func (c *call) retire(tx store.Tx, owner yiku.Owner, row store.Memory, until time.Time) error {
	if until.Before(row.ValidFrom) {
		until = row.ValidFrom
	}
	return c.reschedule(tx, owner, row, row.ValidFrom, until)
}

// abreast is how far the clock readings of calls that run at once may differ.
const abreast = time.Second

// ended reports whether an interval that ends then is over: one that another
// call has begun at the same time is.
func (c *call) ended(to time.Time) bool {
	return !to.IsZero() && !to.After(c.now.Add(abreast))
}

// reschedule gives a memory another time. An active one that is over by it
// becomes history, and what was derived from it is stale until it is confirmed
// again (C9); one whose end is still to come stays true until then.
func (c *call) reschedule(tx store.Tx, owner yiku.Owner, row store.Memory, from, to time.Time) error {
	ends := row.Status == yiku.StatusActive && !to.IsZero() && (c.ended(to) || !to.After(from))
	row.ValidFrom, row.ValidTo, row.UpdatedAt = from, to, c.now
	if ends {
		row.Status = yiku.StatusSuperseded
	}
	if err := tx.UpdateMemory(&row, "superseded"); err != nil {
		return err
	}
	if !ends {
		return nil
	}
	return c.stale(tx, owner, row.Key, map[int64]bool{row.Key: true})
}

// overlaps reports whether another value of a memory's single-valued attribute
// holds in its time.
func (c *call) overlaps(r store.Reader, owner yiku.Owner, m store.Memory) (bool, error) {
	m = c.keyed(m)
	if m.SubjectNorm == "" || m.AttributeNorm == "" {
		return false, nil
	}
	rows, err := c.timeline(r, owner, m)
	if err != nil {
		return false, err
	}
	for _, row := range rows {
		if (m.Single || row.Single) && reconcile.Overlap(row.Memory, m.Memory) {
			return true, nil
		}
	}
	return false, nil
}
