package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// A fork holds copies of another session's messages under the same ids. What
// is forgotten of a session is forgotten of its forks, and of their forks; of
// what a fork was made from nothing is forgotten with it.

// maxOrigins is how many sessions a fork or a working memory is known to come
// from: the last ones. Forks are followed beyond it as long as those between
// are there.
const maxOrigins = 256

// withOrigin adds a session to those that something comes from.
func withOrigin(origins []string, id string) []string {
	if id == "" {
		return origins
	}
	all := append(slices.DeleteFunc(slices.Clone(origins), func(o string) bool { return o == id }), id)
	return all[max(0, len(all)-maxOrigins):]
}

// originsOf are the sessions that one was forked from, as far as it knows.
func originsOf(s store.Session) []string {
	if len(s.Origins) == 0 && s.ForkedFrom != "" { // of before origins were kept
		return []string{s.ForkedFrom}
	}
	return s.Origins
}

// comesFrom reports whether a session was forked from one with the id.
func comesFrom(s store.Session, id string) bool { return slices.Contains(originsOf(s), id) }

// forksOf gives the forks of each session, also those of its forks.
func forksOf(sessions map[int64]store.Session) map[string][]store.Session {
	byID := map[string]store.Session{}
	for _, s := range sessions {
		byID[s.ID] = s
	}
	forks := map[string][]store.Session{}
	for _, s := range sessions {
		seen := map[string]bool{s.ID: true}
		for next := originsOf(s); len(next) > 0; next = next[1:] {
			if id := next[0]; !seen[id] {
				seen[id] = true
				forks[id] = append(forks[id], s)
				next = append(slices.Clip(next), originsOf(byID[id])...)
			}
		}
	}
	return forks
}

// withCopies gives messages with the copies that forks have of them.
func (c *call) withCopies(r store.Reader, owner yiku.Owner, h *haul, rows []store.Message) ([]store.Message, error) {
	all := slices.Clone(rows)
	for _, row := range rows {
		for _, fork := range h.forks[row.SessionID] {
			twin, err := r.MessageByID(owner, fork.Key, row.ID)
			switch {
			case errors.Is(err, yiku.ErrNotFound):
			case err != nil:
				return nil, err
			case messageMark("", twin.Message) == messageMark("", row.Message):
				all = append(all, twin)
			}
		}
	}
	return all, nil
}

// orphans finds the messages, by key, that forks have of a session and it has
// no more: they were deleted of it.
func (c *call) orphans(ctx context.Context, owner yiku.Owner, session string, forks []store.Session) (map[int64]bool, error) {
	if len(forks) == 0 {
		return nil, nil
	}
	keys := map[int64]bool{}
	err := c.store.View(ctx, func(r store.Reader) error {
		stand, err := c.marksOf(r, owner)
		if err != nil {
			return err
		}
		for _, fork := range forks {
			rows, err := r.Messages(owner, store.MessageQuery{SessionKey: fork.Key})
			if err != nil {
				return err
			}
			for _, row := range rows {
				if stand[c.blind(owner, []string{messageMark(session, row.Message)})[0]] {
					keys[row.Key] = true
				}
			}
		}
		return nil
	})
	return keys, err
}

// disown takes the name of a session that a forget takes out of the forks of it
// that stay.
func (c *call) disown(tx store.Tx, f *store.Forget, sel selection) error {
	source := f.Request.Selector.Source
	if source == nil || source.SessionID == "" {
		return nil
	}
	return c.eachSession(tx, f, sel, func(s store.Session) error {
		if !comesFrom(s, source.SessionID) {
			return nil
		}
		s.Origins = slices.DeleteFunc(slices.Clone(originsOf(s)), func(id string) bool { return id == source.SessionID })
		if s.ForkedFrom == source.SessionID {
			s.ForkedFrom = ""
		}
		return tx.PutSession(&s)
	})
}

// marksOf are the marks of all that was forgotten of an owner.
func (c *call) marksOf(r store.Reader, owner yiku.Owner) (map[string]bool, error) {
	list, err := r.Suppressions(owner, time.Time{})
	stand := map[string]bool{}
	for _, s := range list {
		stand[s.Mark] = true
	}
	return stand, err
}

// traced tells whether something of a session is there or was: the session,
// its working memory, a fork, a memory that names it, or the mark of its
// deletion.
func (c *call) traced(r store.Reader, owner yiku.Owner, id string) (bool, error) {
	for _, look := range []func() error{
		func() error { _, err := r.Session(owner, id); return err },
		func() error { _, err := r.Working(owner, "", "", id); return err },
	} {
		if err := look(); !errors.Is(err, yiku.ErrNotFound) {
			return err == nil, err
		}
	}
	named, err := r.CountMemories(owner, store.MemoryQuery{Filter: &yiku.Filter{Field: "session_id", Op: yiku.OpEq, Value: id}})
	if err != nil || named > 0 {
		return named > 0, err
	}
	stand, err := c.marksOf(r, owner)
	return stand[c.blind(owner, []string{sessionMark(id)})[0]], err
}

// unforgetting waits until nothing of an owner is being forgotten, and gives
// the epoch: as long as that is the same, nothing has begun to be.
func (c *call) unforgetting(ctx context.Context, owner yiku.Owner) (epoch int64, err error) {
	for {
		if err := c.settlePending(ctx, owner); err != nil {
			return 0, err
		}
		err := c.store.View(ctx, func(r store.Reader) error {
			state, err := r.Owner(owner)
			epoch = state.Epoch
			return err
		})
		if err != nil {
			return 0, err
		}
		pending, err := c.pendingOf(ctx, owner)
		pending = slices.DeleteFunc(pending, func(f store.Forget) bool { return f.Receipt == "" }) // what is deleted is gone
		if err != nil || len(pending) == 0 {
			return epoch, err
		}
		for _, f := range pending {
			if err := c.forgets.wait(ctx, f.Receipt); err != nil {
				return 0, err
			}
		}
	}
}
