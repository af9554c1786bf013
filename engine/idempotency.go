package engine

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// once does a write unless it was done before under the same idempotency key.
// Its result holds ids and enumerated words only: it is what the record keeps, and
// what the answer is rebuilt from. makes names the rows whose forgetting makes
// a replay answer ErrForgotten.
func once[R any](ctx context.Context, c *call, owner yiku.Owner, key string, req any,
	do func(store.Tx) (result R, makes []store.Item, err error)) (R, error) {
	return onceIn(c, key, req, owner, do, func(fn func(store.Tx) error) error { return c.update(ctx, owner, fn) })
}

// onceAlways is once for what also holds after consent was withdrawn.
func onceAlways[R any](ctx context.Context, c *call, owner yiku.Owner, key string, req any,
	do func(store.Tx) (result R, makes []store.Item, err error)) (R, error) {
	return onceIn(c, key, req, owner, do, func(fn func(store.Tx) error) error {
		return c.store.Update(ctx, owner, store.Request, fn)
	})
}

func onceIn[R any](c *call, key string, req any, owner yiku.Owner, do func(store.Tx) (R, []store.Item, error), update func(func(store.Tx) error) error) (R, error) {
	var result R
	if owner.IsShared() && key != "" { // keys are each user's own, also where what they write is shared
		key = mark("user", c.event.User, key)
	}
	err := update(func(tx store.Tx) error {
		if key == "" {
			var err error
			result, _, err = do(tx)
			return err
		}
		fingerprint, err := c.fingerprint(req)
		if err != nil {
			return err
		}
		record, err := tx.Idempotency(owner, c.event.Operation, key)
		switch {
		case errors.Is(err, yiku.ErrNotFound):
		case err != nil:
			return err
		case c.now.Sub(record.At) > c.settings.IdempotencyKeep:
		case !hmac.Equal(record.Request, fingerprint):
			return yiku.Errorf(yiku.ErrConflict, "the idempotency key was used with another request")
		case record.Forgotten:
			return yiku.Errorf(yiku.ErrForgotten, "what this request made has been forgotten since")
		default:
			return json.Unmarshal(record.Result, &result)
		}
		var makes []store.Item
		if result, makes, err = do(tx); err != nil {
			return err
		}
		kept, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return tx.PutIdempotency(&store.Idempotency{Operation: c.event.Operation, Key: key, Request: fingerprint, Result: kept, At: c.now}, makes)
	})
	return result, err
}

// fingerprint is a keyed hash of a request, so that the record tells nothing
// of its content.
func (c *call) fingerprint(req any) ([]byte, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, c.store.Meta().Secret)
	mac.Write([]byte("idempotency\x00"))
	mac.Write(body)
	return mac.Sum(nil), nil
}

// forgottenOn turns a replay whose rows are gone into ErrForgotten: the record
// was written with them, so they were there.
func forgottenOn(err error) error {
	if errors.Is(err, yiku.ErrNotFound) {
		return yiku.Errorf(yiku.ErrForgotten, "what this request made has been forgotten since")
	}
	return err
}
