package sqlite

import (
	"context"
	"fmt"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// A probe is a write that leaves nothing behind and still has to reach the disk.
const (
	sqlProbe   = `INSERT INTO settings (tenant, name, body, version, updated_at) VALUES (0, 'probe', x'', 0, 0)`
	sqlUnprobe = `DELETE FROM settings WHERE tenant = 0 AND name = 'probe'`
)

// What a person is told about a disk that fails, and what to do.
const (
	adviceBroken = "The disk reported a failure where nobody can say what it has kept. " +
		"Nothing is written until the server is started again: look at the disk, then restart it. Reads go on."
	adviceDamaged = "What is stored was found damaged. Nothing is written any more: " +
		"look at the disk, and put back a backup. What is whole can still be read."
	adviceStuck = "Writing cannot begin. Where it does not go on by itself, look at the disk and restart the server. Reads go on."
	adviceFull  = "The disk is full or cannot be written. Make room; writing goes on by itself then. Reads go on."
)

// Ready reports why the store cannot take writes; nil means that it can. Where
// the last write failed it tries one of its own, so that it tells the truth
// also while nobody else writes.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.failing.Load() == nil {
		return nil
	}
	m := &member{result: make(chan error, 1)}
	m.do = func(c *conn) (*ownerRef, error) {
		for _, sql := range []string{sqlSave, sqlProbe, sqlUnprobe, sqlRelease} {
			if err := c.run(sql); err != nil {
				return nil, foreign("try to write", err)
			}
		}
		return nil, nil
	}
	if err := s.writer.admit(ctx, m, store.Request); err != nil {
		return err
	}
	return m.err
}

// open reports why an update cannot even be tried.
func (s *Store) open() error {
	if why := s.broken.Load(); why != nil {
		return *why
	}
	select {
	case <-s.writer.quit:
		return errClosed()
	default:
		return nil
	}
}

// wrote notes how the last group of writes ended.
func (s *Store) wrote(err error) {
	if err != nil {
		if s.failing.Swap(&err) == nil {
			s.log.Warn("writes fail", "error", err)
		}
		return
	}
	if s.failing.Swap(nil) != nil {
		s.log.Info("writes succeed again")
	}
}

// breakWith ends writing until the store is opened again.
func (s *Store) breakWith(advice string, err error) {
	why := fmt.Errorf("%w: %w", yiku.Errorf(yiku.ErrUnavailable, "%s", advice), err)
	if s.broken.CompareAndSwap(nil, &why) {
		s.log.Error("store refuses writes until it is opened again", "error", err)
	}
}
