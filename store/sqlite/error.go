package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
)

// foreign turns an error of SQLite into one of ours, once; errors that are
// ours already, or the context's, are passed on. SQLite's texts name columns
// and constraints, never values, since all values are bound.
func foreign(op string, err error) error {
	var ours *yiku.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", op, err)
	case isUnique(err):
		return fmt.Errorf("%s: %w", op, yiku.ErrConflict)
	}
	return unavailable(op, err)
}

func unavailable(op string, err error) error {
	return fmt.Errorf("%s: %w: %w", op, yiku.ErrUnavailable, err)
}

func isUnique(err error) bool {
	return errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) || errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY) ||
		errors.Is(err, sqlite3.CONSTRAINT_ROWID)
}

func notFound(what string) error { return fmt.Errorf("%s: %w", what, yiku.ErrNotFound) }
