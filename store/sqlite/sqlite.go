// Package sqlite is the truth store in one directory, on SQLite.
//
// One process owns the directory. All writes go through one connection, whose
// writer commits what waits as a group: a savepoint each, one COMMIT, and only
// then the answers. Reads go through a small pool of connections, each with
// its prepared statements. Content is sealed and compared blindly by
// internal/keyring on the way in and out, here and nowhere else.
package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/keyring"
	"github.com/yiku-ai/yiku/store"
)

// DefaultReaders is the number of reading connections.
const DefaultReaders = 4

// Options are the settings of a store. The zero value is right for a server.
type Options struct {
	Readers          int              // reading connections; DefaultReaders where 0
	SingleConnection bool             // one connection in all, in exclusive locking mode, for file systems without shared memory
	VFS              string           // the name of a registered VFS; the system's where empty
	GroupLimit       int              // at most this many updates a commit; DefaultGroupLimit where 0
	GroupWindow      time.Duration    // a group takes no further update after this; DefaultGroupWindow where 0
	WALLimit         int64            // bytes after which the log is cut back when no reader needs it; DefaultWALLimit where 0
	Ring             *keyring.Ring    // seals and opens; one without encryption where nil
	Now              func() time.Time // the clock; the system's where nil
	NewID            func() string    // makes ids; UUIDv7 where nil
	trusting         bool             // do not look for damage: the control of tests that make it
	Log              *slog.Logger     // nowhere where nil
}

// Store is an open directory. It implements store.Store.
type Store struct {
	dir     *directory
	guard   *guard
	meta    store.Meta
	self    *ownerRef // the store as the owner of what belongs to nobody else: owners' marks and names, tenants, keys, the audit log
	ring    *keyring.Ring
	now     func() time.Time
	newID   func() string
	log     *slog.Logger
	pool    *pool
	writer  *writer
	owners  ownerCache
	keys    atomic.Int64 // the version of the API keys
	closed  sync.Once
	broken  atomic.Pointer[error] // why nothing can be written until the store is opened again
	failing atomic.Pointer[error] // why the last write failed; nil where it did not
}

// Open opens the store in a directory, which it makes where it is missing.
// Options may be nil. A directory that another process has open is
// a *store.InUseError.
func Open(ctx context.Context, dir string, options *Options) (_ *Store, err error) {
	o := withDefaults(options)
	s := &Store{ring: o.Ring, now: o.Now, newID: o.NewID, log: o.Log}
	if s.dir, err = openDirectory(dir, o.VFS != "", o.Log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.free()
		}
	}()
	if s.guard, err = newGuard(s.dir, o.VFS, o.trusting, func(err error) { s.breakWith(adviceDamaged, err) }); err != nil {
		return nil, err
	}
	setup := connSetup{file: s.dir.database, vfs: s.guard.register(), exclusive: o.SingleConnection, unchecked: o.trusting}
	if err := s.create(ctx, setup); err != nil {
		return nil, err
	}
	if err := s.dir.secureFiles(); err != nil { // SQLite has taken the log away at the end of create
		return nil, err
	}
	if s.pool, err = openPool(ctx, setup, o); err != nil {
		return nil, err
	}
	s.writer = newWriter(s, o)
	return s, nil
}

func withDefaults(options *Options) Options {
	var o Options
	if options != nil {
		o = *options
	}
	if o.Readers <= 0 {
		o.Readers = DefaultReaders
	}
	if o.GroupLimit <= 0 {
		o.GroupLimit = DefaultGroupLimit
	}
	if o.GroupWindow <= 0 {
		o.GroupWindow = DefaultGroupWindow
	}
	if o.WALLimit <= 0 {
		o.WALLimit = DefaultWALLimit
	}
	if o.Ring == nil {
		o.Ring = keyring.New(nil)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// create makes the database where it is new and brings it to the present
// schema on a connection of its own, then syncs the directory: after that no
// power cut can bring back the journal of the creation over what was written
// since.
func (s *Store) create(ctx context.Context, setup connSetup) error {
	if err := s.dir.secureFiles(); err != nil {
		return err
	}
	if err := addChecksums(ctx, setup); err != nil {
		return err
	}
	c, err := openConn(ctx, setup)
	if err != nil {
		return err
	}
	defer c.close()
	if err := s.migrate(c, latest); err != nil {
		return err
	}
	if err := c.run(sqlHasChecksums, []byte{checksumSize}); err != nil {
		return foreign("write meta", err)
	}
	s.guard.demandChecksums()
	if err := s.readMeta(c); err != nil {
		return err
	}
	if err := s.nameTenants(c); err != nil {
		return err
	}
	if err := c.truncateLog(0); err != nil { // at the end of a connection SQLite would do it without a word where it fails
		return foreign("empty log", err)
	}
	if err := c.close(); err != nil {
		return foreign("close database", err)
	}
	return s.dir.sync()
}

// Meta tells which store this is.
func (s *Store) Meta() store.Meta {
	m := s.meta
	m.Secret = append([]byte(nil), m.Secret...)
	return m
}

// Close waits for the running transactions and frees everything. Updates that
// have not begun fail with ErrUnavailable.
func (s *Store) Close() error {
	var err error
	s.closed.Do(func() {
		s.writer.close()
		err = s.free()
	})
	return err
}

func (s *Store) free() error {
	var err error
	if s.pool != nil {
		err = s.pool.close()
	}
	if s.guard != nil {
		err = errors.Join(err, s.guard.close())
	}
	if e := s.dir.close(); err == nil {
		err = e
	}
	return err
}

// Stats counts what the store has done since it was opened.
type Stats struct {
	Commits      int64 // groups that were committed; each is one sync of the log
	Updates      int64 // updates whose effects stand
	Undone       int64 // updates that were undone by an error or a panic
	LargestGroup int64
	Failed       int64 // groups whose commit failed
	WALBytes     int64 // size of the log now
	Truncations  int64 // how often the log was cut back
	Readers      int
}

// Stats returns the counts of the store.
func (s *Store) Stats() Stats {
	st := s.writer.stats()
	st.WALBytes = s.dir.walSize()
	st.Readers = s.pool.size
	return st
}

// breakIfDamaged takes no more writes where a read or write has met a damaged
// page: what stands on it may not be what was there.
func (s *Store) breakIfDamaged(err error) {
	if isDamage(err) {
		s.breakWith(adviceDamaged, err)
	}
}

func errClosed() error { return yiku.Errorf(yiku.ErrUnavailable, "the store is closed") }

// View runs fn in one read transaction, on the caller's goroutine. fn must not
// call View or Update of the same store: with one connection it would wait for
// itself.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) (err error) {
	c, err := s.pool.take(ctx)
	if err != nil {
		return err
	}
	defer s.pool.give(c)
	if err := c.run(sqlBegin); err != nil {
		return foreign("begin view", err)
	}
	c.begin(ctx, true)
	defer func() {
		c.end()
		if e := c.run(sqlRollback); e != nil && err == nil {
			err = foreign("end view", e)
		}
		s.breakIfDamaged(err)
	}()
	return fn(&reader{s: s, c: c})
}

// Owners lists the owners in the order of their creation; see store.Store. An
// owner that the store does not know has none after it: ErrNotFound.
func (s *Store) Owners(ctx context.Context, after yiku.Owner, limit int) ([]yiku.Owner, error) {
	var list []yiku.Owner
	err := s.View(ctx, func(r store.Reader) error {
		var err error
		list, err = r.(*reader).ownersAfter(after, limit)
		return err
	})
	return list, err
}
