package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// A forget or a deletion is pending from its first transaction until its entry
// in the forget journal is durable. As long as one is, a restored backup would
// bring back what it took, so that nobody gets a receipt for that owner.

// pendingOf lists what is pending of an owner.
func (e *Engine) pendingOf(ctx context.Context, owner yiku.Owner) ([]store.Forget, error) {
	all, err := e.store.Forgets(ctx)
	var own []store.Forget
	for _, f := range all {
		if f.Owner == owner {
			own = append(own, f)
		}
	}
	return own, err
}

// settlePending completes what is pending of an owner, before anything else of
// theirs is forgotten. What runs now is left to whoever runs it: record covers it.
func (c *call) settlePending(ctx context.Context, owner yiku.Owner) error {
	pending, err := c.pendingOf(ctx, owner)
	if err != nil {
		return err
	}
	for _, f := range pending {
		if err := c.complete(ctx, f); err != nil {
			return detailed(err, "An earlier forget or deletion of this person could not be completed, and nothing was done for this one. Repeating the call completes both.")
		}
	}
	return nil
}

// complete goes on with what is pending until the journal has it.
func (e *Engine) complete(ctx context.Context, f store.Forget) error {
	c := e.ownCall(f.Owner)
	if f.Receipt == "" {
		return c.settle(ctx, f)
	}
	_, err := c.resume(ctx, f.Owner, f.Receipt)
	if errors.Is(err, yiku.ErrConflict) { // it runs
		return nil
	}
	return err
}

// Recover carries out what is pending. It runs before the engine serves, and
// at each maintenance.
func (e *Engine) Recover(ctx context.Context) error {
	pending, err := e.store.Forgets(ctx)
	if err != nil {
		return err
	}
	for i, f := range pending {
		if err := e.complete(ctx, f); err != nil {
			return detailed(err, fmt.Sprintf("Forgets and deletions that are not completed yet: %d.", len(pending)-i))
		}
	}
	return nil
}

// resume goes on with a forget that an error or a crash has interrupted. One
// that runs is a conflict; one that has ended gives its receipt.
func (c *call) resume(ctx context.Context, owner yiku.Owner, id string) (store.Receipt, error) {
	return c.forgets.run(ctx, id, func(ctx context.Context) (store.Receipt, error) { return c.goOn(ctx, owner, id) })
}

// goOn carries out what there is of a forget.
func (c *call) goOn(ctx context.Context, owner yiku.Owner, id string) (store.Receipt, error) {
	begun, err := c.store.Forgets(ctx)
	if err != nil {
		return store.Receipt{}, err
	}
	for _, f := range begun {
		if f.Receipt == id {
			return c.carryOut(ctx, f)
		}
	}
	return c.readReceipt(ctx, owner, id)
}

// goesOn tells of a forget that has begun and that an error stopped.
func goesOn(err error) error {
	return detailed(err, "The forget has begun and is not finished: it goes on by itself once that is possible. Repeating the call under its idempotency key gives its receipt.")
}

// unjournaled tells of a forget or a deletion that is done but for the journal.
func (c *call) unjournaled(err error) error {
	c.log.Warn("a forget is not in the forget journal yet", "error", err)
	return detailed(err, "What was to be forgotten is deleted, but not yet in the forget journal: a backup that is restored now would bring it back. Repeating the call completes it.")
}

// detailed says more about an error of an unavailable part, in front of what
// there is to be done about it.
func detailed(err error, text string) error {
	if !errors.Is(err, yiku.ErrUnavailable) {
		return err
	}
	if e := (*yiku.Error)(nil); errors.As(err, &e) && e.Detail != "" {
		text += " " + e.Detail
	}
	return fmt.Errorf("%w: %w", yiku.Errorf(yiku.ErrUnavailable, "%s", text), err)
}
