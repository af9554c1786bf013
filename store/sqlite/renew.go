package sqlite

import (
	"context"
	"errors"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// jump is how far an owner's numbers go ahead when a store is restored: more
// than anyone changes between a backup and its restoration, and so little that
// 60,000 restorations fit in an owner's numbers.
const jump = 1 << 24

const (
	sqlSetMeta   = `UPDATE meta SET value = ? WHERE name = 'generation'`
	sqlJournal   = `INSERT INTO meta (name, value) VALUES ('journal', ?) ON CONFLICT DO UPDATE SET value = excluded.value`
	sqlModel     = `INSERT INTO meta (name, value) VALUES ('model', ?) ON CONFLICT DO UPDATE SET value = excluded.value`
	sqlAllOwners = `SELECT number, length(body) = 0 FROM owners`
	sqlHeldOwner = `SELECT number FROM owners WHERE mark = ? AND body = x''`
	sqlKnown     = `SELECT number FROM owners WHERE mark = ? AND body <> x''`
	sqlHold      = `INSERT INTO owners (number, mark, body, created_at) VALUES (?, ?, x'', ?)`
	sqlWithdraw  = `UPDATE owners SET withdrawn_at = coalesce(withdrawn_at, ?) WHERE number = ?`
)

// Renew begins a new generation; see store.Restoring.
func (s *Store) Renew(ctx context.Context) error {
	generation := s.newID()
	err := s.maintain(ctx, "renew store", func(r *reader) error {
		held := map[int64]bool{}
		err := r.c.each(sqlAllOwners, func(st *sqlite3.Stmt) error {
			held[st.ColumnInt64(0)] = st.ColumnBool(1)
			return nil
		})
		if err != nil {
			return err
		}
		for number, held := range held {
			at := r.c.ownerStatePlace
			if held {
				at = r.c.heldPlace
			}
			st, counter, err := r.readState(number, at)
			if err != nil {
				return err
			}
			st.Epoch, st.Seq, counter = st.Epoch+1, st.Seq+jump, counter+jump
			if err := r.writeState(number, st, counter, at); err != nil {
				return err
			}
		}
		return r.c.run(sqlSetMeta, []byte(generation))
	})
	if err == nil {
		s.meta.Generation = generation
	}
	return err
}

// KeepModel remembers a model of vectors; see store.VectorKeeper.
func (s *Store) KeepModel(ctx context.Context, model string) error {
	err := s.maintain(ctx, "keep model", func(r *reader) error { return r.c.run(sqlModel, []byte(model)) })
	if err == nil {
		s.meta.Model = model
	}
	return err
}

// KeepJournal remembers a forget journal; see store.Restoring.
func (s *Store) KeepJournal(ctx context.Context, id string) error {
	err := s.maintain(ctx, "keep journal", func(r *reader) error { return r.c.run(sqlJournal, []byte(id)) })
	if err == nil {
		s.meta.Journal = id
	}
	return err
}

// writeState writes where an owner stands, under a MAC.
func (r *reader) writeState(number int64, st store.OwnerState, counter int64, at func(int64, store.OwnerState, int64) place) error {
	state, err := r.seal(r.s.self, at(number, st, counter), []byte(st.Embedded))
	if err != nil {
		return err
	}
	return r.c.run(sqlPutOwner, st.Epoch, st.Seq, counter, state, number)
}

// HoldOwner keeps a place for an owner; see store.Restoring.
func (s *Store) HoldOwner(ctx context.Context, h store.HeldOwner) error {
	return s.maintain(ctx, "hold owner", func(r *reader) error {
		if known, err := r.c.number(sqlKnown, h.Mark); err != nil || known > 0 {
			return errors.Join(err, yiku.Errorf(yiku.ErrConflict, "the owner is known"))
		}
		number, st, counter, err := r.place(h.Mark)
		if err != nil {
			return err
		}
		st.Epoch, st.Seq = max(st.Epoch, h.State.Epoch), max(st.Seq, h.State.Seq)
		if h.State.ConsentWithdrawn {
			st.ConsentWithdrawn = true
			if err := r.c.run(sqlWithdraw, s.now(), number); err != nil {
				return err
			}
		}
		if err := r.writeState(number, st, counter, r.c.heldPlace); err != nil {
			return err
		}
		for _, m := range h.Marks {
			if err := r.c.run(sqlSuppress, number, []byte(m.Mark), m.At); err != nil {
				return err
			}
		}
		return nil
	})
}

// place finds the place that is held for a mark, or makes one.
func (r *reader) place(mark []byte) (number int64, st store.OwnerState, counter int64, err error) {
	number, err = r.c.number(sqlHeldOwner, mark)
	if err != nil {
		return 0, st, 0, err
	}
	if number > 0 {
		st, counter, err = r.held(number)
		return number, st, counter, err
	}
	if number, err = r.c.number(sqlNextOwner); err == nil {
		err = r.c.run(sqlHold, number, mark, r.s.now())
	}
	return number, st, 0, err
}

// maintain runs one transaction that belongs to no owner, on the writer's
// connection.
func (s *Store) maintain(ctx context.Context, op string, fn func(*reader) error) error {
	if err := s.Ready(ctx); err != nil {
		return err
	}
	var c *conn
	select {
	case c = <-s.pool.writing:
		defer func() { s.pool.writing <- c }()
	case <-ctx.Done():
		return ctx.Err()
	case <-s.pool.quit:
		return errClosed()
	}
	if err := c.run(sqlBeginNow); err != nil {
		return foreign(op, err)
	}
	err := fn(&reader{s: s, c: c})
	if err == nil {
		err = c.run(sqlCommit)
	}
	if err != nil && !c.db.GetAutocommit() {
		err = errors.Join(err, c.run(sqlRollback))
	}
	return foreign(op, err)
}

// Advance moves the owner on; see store.Tx.
func (t *tx) Advance(state store.OwnerState) error {
	if state.ConsentWithdrawn && !t.state.ConsentWithdrawn {
		if err := t.single("withdraw consent", func() error { return t.c.run(sqlWithdraw, t.s.now(), t.own.number) }); err != nil {
			return err
		}
		t.state.ConsentWithdrawn = true
	}
	t.state.Epoch, t.state.Seq = max(t.state.Epoch, state.Epoch), max(t.state.Seq, state.Seq)
	t.dirty = true
	return nil
}
