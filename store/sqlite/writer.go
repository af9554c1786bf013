package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// The limits of a group, as measured (see the benchmark of appends).
const (
	DefaultGroupLimit  = 64
	DefaultGroupWindow = 5 * time.Millisecond
)

// DefaultWALLimit is the size of the log, in bytes, from which it is cut back.
const DefaultWALLimit = 32 << 20

// maxRest bounds how long the writer rests from maintenance.
const maxRest = 20 * time.Millisecond

// checkpointWait is how long emptying the log waits for readers, while writers
// wait for it; owedPause is the time between two tries to empty it later.
const (
	checkpointWait = 50 * time.Millisecond
	owedPause      = time.Second
)

// queueLength is how many updates of one priority may wait before further
// callers wait to be queued.
const queueLength = 4096

// writer commits updates in groups. Its goroutine owns the writing connection
// and runs the callers' functions itself: lending the connection to each
// caller's goroutine and back cost a quarter of the appends a second.
type writer struct {
	s           *Store
	requests    chan *member
	maintenance chan *member
	quit        chan struct{}
	done        chan struct{}
	limit       int
	window      time.Duration
	walLimit    int64
	owed        atomic.Bool // the log holds what was deleted: it is cut as soon as no reader needs it
	owedAgain   time.Time   // when that is tried again; of who has the writing connection
	rest        time.Time   // until when maintenance waits; the loop's own

	mu     sync.Mutex
	counts Stats // guarded by mu
}

// member is one update on its way through the writer. What follows result is
// the writer's until it has sent there, and the caller's after.
type member struct {
	state  atomic.Int32
	do     func(*conn) (*ownerRef, error) // the update, between savepoints
	result chan error                     // what became of the commit

	own      *ownerRef
	err      error // fn's, or why it did not run to its end
	stands   bool  // its writes are part of the group
	panicked any
	exited   bool // fn ended its goroutine (runtime.Goexit)
	keys     bool // it wrote API keys
}

// The states of a member. Whoever leaves memberWaiting first, caller or
// writer, decides whether it runs.
const (
	memberWaiting int32 = iota
	memberRuns
	memberLeft
)

func newWriter(s *Store, o Options) *writer {
	w := &writer{
		s:           s,
		requests:    make(chan *member, queueLength),
		maintenance: make(chan *member, queueLength),
		quit:        make(chan struct{}),
		done:        make(chan struct{}),
		limit:       o.GroupLimit,
		window:      o.GroupWindow,
		walLimit:    o.WALLimit,
	}
	go w.loop()
	return w
}

// Update runs fn in one write transaction of the owner; see store.Store. Its
// answer waits for the commit of the group, also where fn failed: what it saw
// may have been another member's writes. A panic of fn, or its
// runtime.Goexit, happens to the caller's goroutine as if fn had run there.
func (s *Store) Update(ctx context.Context, owner yiku.Owner, priority store.Priority, fn func(store.Tx) error) error {
	if owner.IsZero() {
		return errZeroOwner()
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if err := s.open(); err != nil {
		return err
	}
	m := &member{result: make(chan error, 1)}
	m.do = func(c *conn) (*ownerRef, error) { return s.runMember(ctx, c, m, owner, fn) }
	err := s.writer.admit(ctx, m, priority)
	if m.keys {
		s.keys.Add(1)
	}
	switch {
	case m.panicked != nil:
		panic(m.panicked)
	case m.exited:
		runtime.Goexit()
	case err != nil:
		return err
	case m.err == nil:
		s.owners.put(m.own)
	}
	return m.err
}

// admit queues the member and waits until its group is committed.
func (w *writer) admit(ctx context.Context, m *member, priority store.Priority) error {
	queue := w.requests
	if priority == store.Maintenance {
		queue = w.maintenance
	}
	select {
	case queue <- m:
	case <-ctx.Done():
		return fmt.Errorf("wait for the writer: %w", ctx.Err())
	case <-w.done:
		return errClosed()
	}
	var why error
	select {
	case err := <-m.result:
		return err
	case <-ctx.Done():
		why = fmt.Errorf("wait for the writer: %w", ctx.Err())
	case <-w.done:
		why = errClosed()
	}
	if m.state.CompareAndSwap(memberWaiting, memberLeft) {
		return why
	}
	return <-m.result
}

// run runs a member's function between savepoints, whatever becomes of the
// goroutine.
func (w *writer) run(c *conn, m *member) {
	ended := false
	defer func() {
		if !ended {
			m.panicked = recover()
			m.exited = m.panicked == nil
		}
		c.end()
		if !m.stands && !c.db.GetAutocommit() {
			if e := errors.Join(c.run(sqlUndo), c.run(sqlRelease)); e != nil {
				// The group cannot be told apart from these writes any more.
				_ = c.run(sqlRollback)
			}
		}
	}()
	m.own, m.err = m.do(c)
	m.stands, ended = m.err == nil, true
	w.s.breakIfDamaged(m.err)
}

func (s *Store) runMember(ctx context.Context, c *conn, m *member, owner yiku.Owner, fn func(store.Tx) error) (*ownerRef, error) {
	if err := c.run(sqlSave); err != nil {
		return nil, foreign("begin update", err)
	}
	c.begin(ctx, false)
	t, err := s.openTx(c, owner)
	if err != nil {
		return nil, err
	}
	t.keys = &m.keys
	if err := fn(t); err != nil {
		return nil, err
	}
	if err := t.flush(); err != nil {
		return nil, err
	}
	c.end()
	if err := c.run(sqlRelease); err != nil {
		return nil, foreign("end update", err)
	}
	return t.own, nil
}

// loop commits groups until the store is closed.
func (w *writer) loop() {
	closed := false
	defer func() {
		if closed {
			close(w.done)
			return
		}
		go w.loop() // a member's function has ended this goroutine
	}()
	for {
		m, priority := w.next()
		if m == nil {
			closed = true
			return
		}
		began := time.Now()
		w.group(m, priority)
		if ended := time.Now(); priority == store.Maintenance {
			w.rest = ended.Add(ended.Sub(began) * 2 / 3)
		}
	}
}

// next waits for a member, requests before maintenance. After maintenance the
// writer rests from it for two thirds of what that took: two fifths of a core
// and of the disk are left to the reads and appends of others.
func (w *writer) next() (*member, store.Priority) {
	select {
	case <-w.quit:
		return nil, 0
	case m := <-w.requests:
		return m, store.Request
	default:
	}
	if wait := time.Until(w.rest); wait > 0 {
		rested := time.NewTimer(min(wait, maxRest))
		defer rested.Stop()
		select {
		case <-w.quit:
			return nil, 0
		case m := <-w.requests:
			return m, store.Request
		case <-rested.C:
		}
	}
	select {
	case <-w.quit:
		return nil, 0
	case m := <-w.requests:
		return m, store.Request
	case m := <-w.maintenance:
		return m, store.Maintenance
	}
}

// group runs the first member and what else waits, up to the limits, in one
// transaction, and tells each member what became of it.
func (w *writer) group(first *member, priority store.Priority) {
	c := <-w.s.pool.writing
	defer func() { w.s.pool.writing <- c }()
	if why := w.s.broken.Load(); why != nil {
		w.refuse(first, *why)
		return
	}
	if err := c.run(sqlBeginNow); err != nil {
		err = fmt.Errorf("begin group: %w: %w", yiku.Errorf(yiku.ErrUnavailable, "%s", adviceStuck), err)
		w.s.wrote(err)
		w.refuse(first, err)
		return
	}
	before := c.db.TotalChanges()
	var members []*member
	defer func() { // also where a member's function ends the goroutine
		err := w.commit(c, members)
		if err != nil || anyStands(members) && c.db.TotalChanges() > before {
			w.s.wrote(err)
		}
		w.count(err, members)
		for _, m := range members {
			m.result <- err
		}
		w.boundLog(c)
	}()
	started := w.s.now()
	for m := first; m != nil; m = w.more(priority, len(members), started) {
		if !m.state.CompareAndSwap(memberWaiting, memberRuns) {
			continue
		}
		members = append(members, m)
		w.run(c, m)
		if c.db.GetAutocommit() {
			return // SQLite has undone the whole transaction
		}
	}
}

// more returns the next member of the running group, nil where it ends. A
// request never waits behind maintenance of the same group.
func (w *writer) more(priority store.Priority, size int, started time.Time) *member {
	if size >= w.limit || w.s.now().Sub(started) >= w.window {
		return nil
	}
	if priority == store.Maintenance {
		if len(w.requests) > 0 {
			return nil
		}
		select {
		case m := <-w.maintenance:
			return m
		default:
			return nil
		}
	}
	for range 2 {
		select {
		case m := <-w.requests:
			return m
		default:
			runtime.Gosched() // those who were answered may bring their next update
		}
	}
	return nil
}

func (w *writer) refuse(m *member, err error) {
	if m.state.CompareAndSwap(memberWaiting, memberRuns) {
		m.result <- err
	}
}

// commit ends the group's transaction. Where that fails, nobody can say
// whether the writes are durable: the log may hold them although the disk
// reported a failure. After such a failure the store takes no writes until it
// is opened again. A full disk is the exception: nothing was promised, and
// there is nothing to distrust once there is room. A group of which nothing
// stands is rolled back: what was refused costs no sync, and not a byte of the
// files changes.
func (w *writer) commit(c *conn, members []*member) error {
	if c.db.GetAutocommit() {
		return yiku.Errorf(yiku.ErrUnavailable, "the group was undone by the database; nothing was written")
	}
	end := sqlCommit
	if !anyStands(members) {
		end = sqlRollback
	}
	err := c.run(end)
	if err == nil {
		return nil
	}
	// A write that failed never reached its sync: nothing was promised. So it
	// is with a full disk, which the kernel reports as one or the other.
	full := errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.IOERR_WRITE)
	var undo error
	if !c.db.GetAutocommit() {
		undo = foreign("undo group", c.run(sqlRollback))
	}
	if full && undo == nil {
		return unknown(adviceFull, err)
	}
	failed := errors.Join(unknown(adviceBroken, err), undo)
	w.s.breakWith(adviceBroken, failed)
	return failed
}

// unknown is the error of a commit that failed, with what is to be done.
func unknown(advice string, err error) error {
	return fmt.Errorf("commit, outcome unknown: %w: %w", yiku.Errorf(yiku.ErrUnavailable, "%s", advice), err)
}

func anyStands(members []*member) bool {
	return slices.ContainsFunc(members, func(m *member) bool { return m.stands })
}

func (w *writer) count(err error, members []*member) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.counts.Failed++
		return
	case len(members) == 0: // the first member had left
		return
	}
	if anyStands(members) {
		w.counts.Commits++
	}
	w.counts.LargestGroup = max(w.counts.LargestGroup, int64(len(members)))
	for _, m := range members {
		if m.stands {
			w.counts.Updates++
		} else {
			w.counts.Undone++
		}
	}
}

func (w *writer) stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts
}

// boundLog cuts the log back to nothing once it has grown over its limit and
// no reader needs it. It never waits for a reader: after the next group it
// tries again.
func (w *writer) boundLog(c *conn) {
	owed := w.owed.Load() && !w.s.now().Before(w.owedAgain)
	if w.s.broken.Load() != nil || !owed && w.s.dir.walSize() < w.walLimit {
		return
	}
	if err := w.s.cutLog(c, 0); err != nil {
		w.owedAgain = w.s.now().Add(owedPause)
		if !errors.Is(err, sqlite3.BUSY) {
			w.s.log.Warn("log could not be cut back", "error", err)
		}
		return
	}
	w.owed.Store(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts.Truncations++
}

// truncateLog writes the log into the database and empties it, waiting for
// readers at most as long as said.
func (c *conn) truncateLog(wait time.Duration) error {
	if err := c.db.BusyTimeout(wait); err != nil {
		return err
	}
	_, _, err := c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	return errors.Join(err, c.db.BusyTimeout(busyTimeout*time.Millisecond))
}

// cutLog is truncateLog. All that was acknowledged is in the log also where it
// fails; but a disk that is damaged or does not sync is not trusted with more.
func (s *Store) cutLog(c *conn, wait time.Duration) error {
	err := c.truncateLog(wait)
	s.breakIfDamaged(err)
	if errors.Is(err, sqlite3.IOERR_FSYNC) || errors.Is(err, sqlite3.IOERR_DIR_FSYNC) {
		s.breakWith(adviceBroken, err)
	}
	return err
}

// Checkpoint writes the log into the database and empties it, so that what was
// deleted is gone from the files (E2). It waits for running updates, and so
// shortly for views that others hardly notice. Where one lasts longer, such as
// that of a backup, it is ErrUnavailable, and the log is emptied after the
// first group behind it.
func (s *Store) Checkpoint(ctx context.Context) error {
	select {
	case c := <-s.pool.writing:
		defer func() { s.pool.writing <- c }()
		err := foreign("empty log", s.cutLog(c, checkpointWait))
		s.writer.owed.Store(err != nil)
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the writer: %w", ctx.Err())
	case <-s.pool.quit:
		return errClosed()
	}
}

// close lets the running group end and refuses the members that wait.
func (w *writer) close() {
	close(w.quit)
	<-w.done
}
