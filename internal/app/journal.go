package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/audit"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/journal"
)

// journalPurpose is what the journal's key is made for out of the audit log's.
const journalPurpose = "forget journal"

// JournalPath is where the forget journal lies.
func JournalPath(cfg config.Config) string {
	if cfg.Journal != "" {
		return cfg.Journal
	}
	return filepath.Join(cfg.DataDir, "forgets.log")
}

// openJournal opens the journal that the store keeps to, and no other: a
// command that lacks the setting would begin a second one, and a restored
// backup would bring back what only one of them knows.
func (c *Core) openJournal(ctx context.Context, cfg config.Config, chain audit.Key, o Options) (err error) {
	path, kept := JournalPath(cfg), c.store.Meta().Journal
	if _, err := os.Stat(path); kept != "" && !o.NewJournal && errors.Is(err, fs.ErrNotExist) {
		return noJournal(path)
	}
	c.journal, err = journal.Open(path, chain.Derive(journalPurpose), o.Now())
	if err != nil {
		return err
	}
	c.closers = append(c.closers, closer{"forget journal", c.journal.Close})
	id := c.journal.Position().ID
	if id == kept && !o.replays {
		return c.notBehind(ctx, path)
	}
	if kept != "" && !o.NewJournal {
		return otherJournal(path)
	}
	return c.store.KeepJournal(ctx, id)
}

// notBehind refuses a database that is older than its journal, as a file is
// that somebody put in its place by hand: it holds what was forgotten since.
// A forget raises its owner's epoch before the journal has it.
func (c *Core) notBehind(ctx context.Context, path string) error {
	epochs := map[string]int64{}
	err := c.journal.Each(ctx, func(e journal.Entry) error {
		epochs[string(e.Owner)] = max(epochs[string(e.Owner)], e.Epoch)
		return nil
	})
	if err != nil {
		return err
	}
	for mark, epoch := range epochs {
		st, err := c.store.Standing(ctx, []byte(mark))
		if err != nil {
			return err
		}
		if st.Epoch < epoch {
			return yiku.Errorf(yiku.ErrConflict, "the database is older than its forget journal, %s, and holds what was forgotten since. Put the newer one back, or restore a backup with `yiku restore`, "+
				"which forgets it again. Where this one is to stay with all that it holds, move the journal away and begin a new one with `yiku verify --new-journal`", path)
		}
	}
	return nil
}

// FindJournal reads where the journal ends that a store, which may be in use,
// keeps to; kept is its id, "" where the store has had none.
func FindJournal(cfg config.Config, kept string) (journal.Position, error) {
	path := JournalPath(cfg)
	key, err := existingKey(cfg)
	if err != nil {
		return journal.Position{}, err
	}
	at, err := journal.ReadPosition(path, key.Derive(journalPurpose), -1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, noJournal(path)
	case err == nil && kept != "" && at.ID != kept:
		return at, otherJournal(path)
	}
	return at, err
}

const journalAdvice = "Name the file in which it lies with the setting journal (--set journal=FILE, as the server has it). " +
	"Where it is lost, `yiku verify --new-journal` begins a new one; what was forgotten before comes back with any backup that is older"

func noJournal(path string) error {
	return yiku.Errorf(yiku.ErrConflict, "the store's forget journal is not there: there is no file %s. %s", path, journalAdvice)
}

func otherJournal(path string) error {
	return yiku.Errorf(yiku.ErrConflict, "%s is not the store's forget journal, but another one. %s", path, journalAdvice)
}
