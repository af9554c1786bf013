package sqlite

import (
	"context"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/keyring"
	"github.com/yiku-ai/yiku/store"
)

// ownerShift places an owner's number above the numbers of its rows.
const ownerShift = 40

// maxOwners bounds the cache of owners; a full cache is emptied.
const maxOwners = 100_000

// ownerRef is what does not change of an owner's row.
type ownerRef struct {
	owner  yiku.Owner
	number int64
	key    keyring.OwnerKey
}

// first and last are the bounds of the owner's row keys, both inclusive.
func (o *ownerRef) first() int64 { return o.number << ownerShift }
func (o *ownerRef) last() int64  { return (o.number+1)<<ownerShift - 1 }

// has reports whether a row key is one of the owner's.
func (o *ownerRef) has(key int64) bool { return key>>ownerShift == o.number }

// seq is the number that a row key or a change has within its owner.
func seq(changed int64) int64 { return changed & (1<<ownerShift - 1) }

// ownerCache remembers owners whose rows are durable.
type ownerCache struct {
	mu   sync.RWMutex
	refs map[yiku.Owner]*ownerRef // guarded by mu
}

func (c *ownerCache) get(o yiku.Owner) *ownerRef {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.refs[o]
}

func (c *ownerCache) put(ref *ownerRef) {
	if c.get(ref.owner) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refs == nil || len(c.refs) >= maxOwners {
		c.refs = map[yiku.Owner]*ownerRef{}
	}
	c.refs[ref.owner] = ref
}

// reader implements store.Reader on one connection inside a transaction.
type reader struct {
	s      *Store
	c      *conn
	writer *tx     // the transaction that it belongs to; nil in a view
	reseal *reseal // set while a step of the schema seals everything anew
}

func errZeroOwner() error { return yiku.Invalid("owner", "must not be the zero owner") }

const sqlOwnerByMark = `SELECT number, wrapped, length(body) = 0 FROM owners WHERE mark = ?`

// find returns the owner's row, nil where there is none, or only a place is
// held for it.
func (r *reader) find(owner yiku.Owner) (*ownerRef, error) {
	if owner.IsZero() {
		return nil, errZeroOwner()
	}
	if r.writer != nil && r.writer.own.owner == owner {
		return r.writer.own, nil
	}
	if ref := r.s.owners.get(owner); ref != nil {
		return ref, nil
	}
	ref, held := &ownerRef{owner: owner}, false
	found, err := r.c.one(sqlOwnerByMark, func(st *sqlite3.Stmt) error {
		ref.number = st.ColumnInt64(0)
		if held = st.ColumnBool(2); held {
			return nil
		}
		var err error
		ref.key, err = r.unwrap(ref.number, st.ColumnRawBlob(1))
		return err
	}, r.s.OwnerMark(owner))
	if err == nil && held {
		_, _, err = r.held(ref.number)
	}
	if err != nil {
		return nil, foreign("read owner", err)
	}
	if !found || held {
		return nil, nil
	}
	if r.writer == nil { // a writer may see an owner whose creation is not yet committed
		r.s.owners.put(ref)
	}
	return ref, nil
}

// must is find for those who cannot go on without the owner.
func (r *reader) must(owner yiku.Owner, what string) (*ownerRef, error) {
	ref, err := r.find(owner)
	if err == nil && ref == nil {
		err = notFound(what)
	}
	return ref, err
}

// OwnerMark names an owner outside of the store; see store.Restoring.
func (s *Store) OwnerMark(o yiku.Owner) []byte {
	return s.ring.Blind(s.self.key, "owner", o.Tenant(), o.User())
}

// Standing tells where the owner of a mark stands; see store.Restoring.
func (s *Store) Standing(ctx context.Context, mark []byte) (st store.OwnerState, err error) {
	err = s.View(ctx, func(r store.Reader) error {
		own, number, held := r.(*reader), int64(0), false
		found, err := own.c.one(sqlOwnerByMark, func(q *sqlite3.Stmt) error {
			number, held = q.ColumnInt64(0), q.ColumnBool(2)
			return nil
		}, mark)
		switch {
		case err != nil:
			return foreign("read owner", err)
		case held:
			st, _, err = own.held(number)
			st.Known = false
		case found:
			st, _, err = own.state(number)
		}
		return err
	})
	return st, err
}

const sqlOwnerState = `SELECT epoch, seq, counter, withdrawn_at IS NOT NULL, state FROM owners WHERE number = ?`

// state reads what changes of an owner's row.
func (r *reader) state(number int64) (st store.OwnerState, counter int64, err error) {
	return r.readState(number, r.c.ownerStatePlace)
}

// held reads where an owner will stand for whom a place is held. That it is
// held is under the MAC: a row that lost its name to a fault passes for none.
func (r *reader) held(number int64) (st store.OwnerState, counter int64, err error) {
	return r.readState(number, r.c.heldPlace)
}

func (r *reader) readState(number int64, at func(int64, store.OwnerState, int64) place) (st store.OwnerState, counter int64, err error) {
	st.Known, err = r.c.one(sqlOwnerState, func(q *sqlite3.Stmt) error {
		st.Epoch, st.Seq, counter = q.ColumnInt64(0), q.ColumnInt64(1), q.ColumnInt64(2)
		st.ConsentWithdrawn = q.ColumnBool(3)
		plain, err := r.open(r.s.self, at(number, st, counter), q.ColumnRawBlob(4))
		st.Embedded = string(plain)
		return err
	}, number)
	return st, counter, foreign("read owner", err)
}

// Owner tells where an owner stands; see store.Reader.
func (r *reader) Owner(owner yiku.Owner) (store.OwnerState, error) {
	ref, err := r.find(owner)
	if err != nil || ref == nil {
		return store.OwnerState{}, err
	}
	if r.writer != nil && ref == r.writer.own {
		return r.writer.state, nil
	}
	st, _, err := r.state(ref.number)
	return st, err
}

const sqlOwnersAfter = `SELECT number, body FROM owners WHERE number > ? AND body <> x'' ORDER BY number LIMIT ?`

func (r *reader) ownersAfter(after yiku.Owner, most int) ([]yiku.Owner, error) {
	var from int64
	if !after.IsZero() {
		ref, err := r.must(after, "list owners")
		if err != nil {
			return nil, err
		}
		from = ref.number
	}
	var list []yiku.Owner
	err := r.c.each(sqlOwnersAfter, func(st *sqlite3.Stmt) error {
		o, err := r.readOwner(st.ColumnInt64(0), st.ColumnRawBlob(1))
		list = append(list, o)
		return err
	}, from, limit(most))
	return list, foreign("list owners", err)
}

// readOwner opens the name of an owner.
func (r *reader) readOwner(number int64, body []byte) (o yiku.Owner, err error) {
	plain, err := r.open(r.s.self, r.c.at("owners", number), body)
	if err != nil {
		return o, err
	}
	u := unpack(plain)
	if o, err = ownerOf(u.next(), u.next()); err == nil {
		err = u.err()
	}
	return o, err
}

func ownerOf(tenant, user string) (yiku.Owner, error) {
	if user == "" {
		return yiku.SharedOwner(tenant)
	}
	return yiku.NewOwner(tenant, user)
}

// tx implements store.Tx: a reader, and the owner whose rows it writes.
type tx struct {
	reader
	own     *ownerRef
	state   store.OwnerState
	counter int64 // the last number given to a row outside the sequence
	dirty   bool  // the owner's row must be written
	keys    *bool // set where API keys are written
}

// openTx begins an update of the owner, which it adds where it is new.
func (s *Store) openTx(c *conn, owner yiku.Owner) (*tx, error) {
	t := &tx{reader: reader{s: s, c: c}, own: &ownerRef{}}
	t.writer = t
	own, err := t.find(owner)
	if err != nil {
		return nil, err
	}
	if own == nil {
		if own, err = t.addOwner(owner); err != nil {
			return nil, err
		}
	}
	t.own = own
	t.state, t.counter, err = t.reader.state(own.number)
	return t, err
}

const (
	sqlNextOwner = `SELECT coalesce(max(number), 0) + 1 FROM owners`
	sqlAddOwner  = `INSERT INTO owners (mark, body, wrapped, created_at, number, epoch, seq, state, tenant) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlTakePlace = `UPDATE owners SET mark = ?, body = ?, wrapped = ?, created_at = ?, epoch = ?6, seq = ?7, state = ?8, tenant = ?9 WHERE number = ?5`
	sqlPutOwner  = `UPDATE owners SET epoch = ?, seq = ?, counter = ?, state = ? WHERE number = ?`
)

// addOwner adds the owner, in the place that is held for it where there is one.
func (t *tx) addOwner(owner yiku.Owner) (*ownerRef, error) {
	sql, state, counter := sqlTakePlace, store.OwnerState{}, int64(0)
	number, err := t.c.number(sqlHeldOwner, t.s.OwnerMark(owner))
	switch {
	case err == nil && number == 0:
		sql = sqlAddOwner
		number, err = t.c.number(sqlNextOwner)
	case err == nil:
		state, counter, err = t.held(number)
	}
	if err != nil {
		return nil, foreign("add owner", err)
	}
	key, err := t.s.ring.NewOwnerKey()
	if err != nil {
		return nil, err
	}
	wrapped, err := t.s.ring.Wrap(key, t.c.at("owners.wrapped", number).covers)
	if err != nil {
		return nil, err
	}
	body, err := t.seal(t.s.self, t.c.at("owners", number), pack(owner.Tenant(), owner.User()))
	if err != nil {
		return nil, err
	}
	sealed, err := t.seal(t.s.self, t.c.ownerStatePlace(number, state, counter), []byte(state.Embedded))
	if err != nil {
		return nil, err
	}
	tenant, err := t.addTenant(owner.Tenant())
	if err != nil {
		return nil, foreign("add owner", err)
	}
	if err := t.c.run(sql, t.s.OwnerMark(owner), body, wrapped, t.s.now(), number, state.Epoch, state.Seq, sealed, tenant); err != nil {
		return nil, foreign("add owner", err)
	}
	return &ownerRef{owner: owner, number: number, key: key}, nil
}

// next gives the owner's next number in the sequence, as a row key.
func (t *tx) next() int64 {
	t.state.Seq++
	t.dirty = true
	return t.own.first() | t.state.Seq
}

// nextOutside gives the owner's next number outside the sequence, as a row key.
func (t *tx) nextOutside() int64 {
	t.counter++
	t.dirty = true
	return t.own.first() | t.counter
}

// flush writes the owner's row, at the end of the transaction.
func (t *tx) flush() error {
	if !t.dirty {
		return nil
	}
	t.dirty = false
	state, err := t.seal(t.s.self, t.c.ownerStatePlace(t.own.number, t.state, t.counter), []byte(t.state.Embedded))
	if err != nil {
		return err
	}
	return foreign("write owner", t.c.run(sqlPutOwner, t.state.Epoch, t.state.Seq, t.counter, state, t.own.number))
}

// atomic runs the statements of one write method, so that they take effect
// together or not at all, also where the caller goes on after the error.
func (t *tx) atomic(op string, write func() error) error {
	state, counter := t.state, t.counter
	if err := t.c.run(sqlSaveCall); err != nil {
		return foreign(op, err)
	}
	err := write()
	if err == nil {
		return foreign(op, t.c.run(sqlKeepCall))
	}
	t.state, t.counter = state, counter
	stop := t.c.stop
	t.c.stop = nil // undone also where the context has ended
	defer func() { t.c.stop = stop }()
	if !t.c.db.GetAutocommit() {
		if e := t.c.run(sqlUndoCall); e != nil {
			return foreign(op, e)
		}
		if e := t.c.run(sqlKeepCall); e != nil {
			return foreign(op, e)
		}
	}
	return foreign(op, err)
}

// single runs a write method whose last statement is its only write: that
// takes effect as a whole or not at all by itself.
func (t *tx) single(op string, write func() error) error {
	state, counter := t.state, t.counter
	err := write()
	if err != nil {
		t.state, t.counter = state, counter
	}
	return foreign(op, err)
}

// RaiseEpoch raises the owner's epoch; see store.Tx.
func (t *tx) RaiseEpoch() (int64, error) {
	t.state.Epoch++
	t.dirty = true
	return t.state.Epoch, nil
}

// mark is the blind mark of texts; that of one empty text is empty.
func (r *reader) mark(o *ownerRef, domain string, parts ...string) []byte {
	if len(parts) == 1 && parts[0] == "" {
		return []byte{}
	}
	return r.s.ring.Blind(o.key, domain, parts...)
}
