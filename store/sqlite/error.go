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
	case isDamage(err):
		return fmt.Errorf("%s: a page of the database or of its log is damaged: %w: %w", op, yiku.ErrUnavailable, err)
	}
	return unavailable(op, err)
}

func unavailable(op string, err error) error {
	return fmt.Errorf("%s: %w: %w", op, yiku.ErrUnavailable, err)
}

func unavailableIf(op string, err error) error {
	if err == nil {
		return nil
	}
	return unavailable(op, err)
}

// isDamage reports an error that says that a page of the database or of its
// log is not what was written, or that the database makes no sense.
func isDamage(err error) bool {
	return errors.Is(err, sqlite3.IOERR_DATA) || errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB)
}

func isUnique(err error) bool {
	return errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) || errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY) ||
		errors.Is(err, sqlite3.CONSTRAINT_ROWID)
}

func notFound(what string) error { return fmt.Errorf("%s: %w", what, yiku.ErrNotFound) }
