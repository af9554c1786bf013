package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
)

// maxStatements bounds a connection's cache of prepared statements.
const maxStatements = 256

// busyTimeout is how long a connection waits for a lock, in milliseconds.
const busyTimeout = 5000

// The statements of transactions.
const (
	sqlBegin    = `BEGIN DEFERRED`
	sqlBeginNow = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`
	sqlSave     = `SAVEPOINT member`
	sqlRelease  = `RELEASE member`
	sqlUndo     = `ROLLBACK TO member`
	sqlSaveCall = `SAVEPOINT call`
	sqlKeepCall = `RELEASE call`
	sqlUndoCall = `ROLLBACK TO call`
)

// errStop ends the reading of rows early.
var errStop = errors.New("enough rows")

// connSetup says how connections are opened.
type connSetup struct {
	file      string
	vfs       string
	exclusive bool // locking mode; needs no shared memory
	readOnly  bool // refuses writes
	unchecked bool // does not look at the checksums of pages
}

// conn is one connection with its prepared statements. It is used by one
// goroutine at a time.
type conn struct {
	db         *sqlite3.Conn
	statements map[string]*sqlite3.Stmt
	stop       func() error // the running transaction's context's Err
	covers     []byte       // room for the place of an envelope
}

// openConn opens a connection, sets its pragmas and asserts them.
func openConn(ctx context.Context, setup connSetup) (*conn, error) {
	db, err := sqlite3.OpenContext(ctx, setup.uri())
	if err != nil {
		return nil, foreign("open database", err)
	}
	c := &conn{db: db, statements: map[string]*sqlite3.Stmt{}}
	// A database that is made now has room for checksums from its first page on.
	if _, err := db.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, checksumSize); err != nil {
		return nil, errors.Join(foreign("set reserved bytes", err), c.close())
	}
	// A plan depends on the statement alone: where it may depend on the values,
	// each new value has the statement prepared again, which took nine tenths
	// of the time of reading a memory.
	if _, err := db.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		return nil, errors.Join(foreign("fix the plans", err), c.close())
	}
	for _, p := range setup.pragmas() {
		if err := db.Exec("PRAGMA " + p.name + "=" + p.set); err != nil {
			return nil, errors.Join(foreign("set "+p.name, err), c.close())
		}
	}
	if err := c.assert(setup); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (s connSetup) uri() string {
	u := "file:" + (&url.URL{Path: s.file}).EscapedPath()
	if s.vfs != "" {
		u += "?vfs=" + url.QueryEscape(s.vfs)
	}
	return u
}

// pragma is a setting with what it must read afterwards.
type pragma struct{ name, set, want string }

// pragmas are set on every connection, in this order, and asserted (R5).
func (s connSetup) pragmas() []pragma {
	locking := "normal"
	if s.exclusive {
		locking = "exclusive"
	}
	checksums, queryOnly := "1", "0"
	if s.unchecked {
		checksums = "0"
	}
	if s.readOnly {
		queryOnly = "1"
	}
	return []pragma{
		{"busy_timeout", strconv.Itoa(busyTimeout), strconv.Itoa(busyTimeout)},
		{"locking_mode", locking, locking},
		{"journal_mode", "WAL", "wal"},
		{"synchronous", "FULL", "2"},
		{"foreign_keys", "ON", "1"},
		{"secure_delete", "ON", "1"},
		{"trusted_schema", "OFF", "0"},
		{"temp_store", "MEMORY", "2"},
		{"recursive_triggers", "OFF", "0"},
		{"query_only", queryOnly, queryOnly},
		{"cache_size", "-8192", "-8192"},
		{"checksum_verification", checksums, checksums},
	}
}

// assert reports a setting that is not as it must be, or an SQLite that is too old.
func (c *conn) assert(setup connSetup) error {
	version, err := c.text(`SELECT sqlite_version()`)
	if err != nil {
		return foreign("read version", err)
	}
	if !atLeast(version, minVersion()) {
		return yiku.Errorf(yiku.ErrUnavailable, "SQLite %s is too old", version)
	}
	for _, p := range setup.pragmas() {
		have, err := c.text("PRAGMA " + p.name)
		if err != nil {
			return foreign("read "+p.name, err)
		}
		if !strings.EqualFold(have, p.want) {
			return yiku.Errorf(yiku.ErrUnavailable, "pragma %s is %q and must be %q", p.name, have, p.want)
		}
	}
	return nil
}

// minVersion is the oldest SQLite without the WAL-reset bug.
func minVersion() [3]int { return [3]int{3, 51, 3} }

func atLeast(version string, least [3]int) bool {
	for i, part := range strings.SplitN(version, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil || n < least[i] {
			return false
		}
		if n > least[i] {
			return true
		}
	}
	return true
}

// begin binds the connection to a transaction's context. Reads are interrupted
// in the middle; a write is not, since that would undo the whole group: its
// context is asked before each statement.
func (c *conn) begin(ctx context.Context, interrupt bool) {
	c.stop = ctx.Err
	if ctx.Done() == nil {
		c.stop = nil
	} else if interrupt {
		c.db.SetInterrupt(ctx)
	}
}

// end frees the connection of the transaction's context.
func (c *conn) end() {
	c.stop = nil
	c.db.SetInterrupt(context.Background())
}

// close frees the connection. It may be called twice.
func (c *conn) close() error {
	for sql, st := range c.statements {
		_ = st.Close() // reports the last error of the statement once more
		delete(c.statements, sql)
	}
	return c.db.Close()
}

func (c *conn) prepare(sql string) (*sqlite3.Stmt, error) {
	if st := c.statements[sql]; st != nil {
		return st, nil
	}
	if len(c.statements) >= maxStatements {
		for sql, st := range c.statements {
			if !st.Busy() {
				_ = st.Close()
				delete(c.statements, sql)
			}
		}
	}
	st, tail, err := c.db.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	if st == nil || strings.TrimSpace(tail) != "" {
		return nil, errors.New("not one statement")
	}
	c.statements[sql] = st
	return st, nil
}

// bound returns the statement with its values bound, if the transaction's
// context still lives.
func (c *conn) bound(sql string, args []any) (*sqlite3.Stmt, error) {
	if c.stop != nil {
		if err := c.stop(); err != nil {
			return nil, err
		}
	}
	st, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		if err := bind(st, i+1, arg); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func bind(st *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return st.BindNull(i)
	case int64:
		return st.BindInt64(i, v)
	case int:
		return st.BindInt64(i, int64(v))
	case bool:
		return st.BindBool(i, v)
	case float64:
		return st.BindFloat(i, v)
	case string:
		return st.BindText(i, v)
	case []byte:
		if v == nil {
			return st.BindNull(i)
		}
		return st.BindBlob(i, v)
	case time.Time:
		if v.IsZero() {
			return st.BindNull(i)
		}
		return st.BindInt64(i, v.UnixMicro())
	}
	return fmt.Errorf("a value of type %T cannot be bound", arg)
}

// run executes a statement that gives no rows.
func (c *conn) run(sql string, args ...any) error {
	st, err := c.bound(sql, args)
	if err != nil {
		return err
	}
	return c.interrupted(st.Exec())
}

// count executes a statement and adds the number of rows that it changed to
// into, which may be nil. Rows that go by a foreign key are not counted.
func (c *conn) count(into *int, sql string, args ...any) error {
	if err := c.run(sql, args...); err != nil {
		return err
	}
	if into != nil {
		*into += int(c.db.Changes())
	}
	return nil
}

// each calls row for each row of the result. errStop from it ends the reading.
func (c *conn) each(sql string, row func(*sqlite3.Stmt) error, args ...any) (err error) {
	st, err := c.bound(sql, args)
	if err != nil {
		return err
	}
	defer func() {
		if e := st.Reset(); err == nil {
			err = c.interrupted(e)
		}
	}()
	for st.Step() {
		if err := row(st); err == errStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return c.interrupted(st.Err())
}

// one calls row for the first row, and reports whether there was one.
func (c *conn) one(sql string, row func(*sqlite3.Stmt) error, args ...any) (found bool, err error) {
	err = c.each(sql, func(st *sqlite3.Stmt) error {
		found = true
		if err := row(st); err != nil {
			return err
		}
		return errStop
	}, args...)
	return found, err
}

// number returns the first column of the first row as an integer; 0 without a row.
func (c *conn) number(sql string, args ...any) (n int64, err error) {
	_, err = c.one(sql, func(st *sqlite3.Stmt) error {
		n = st.ColumnInt64(0)
		return nil
	}, args...)
	return n, err
}

// text returns the first column of the first row as a text; "" without a row.
func (c *conn) text(sql string, args ...any) (s string, err error) {
	_, err = c.one(sql, func(st *sqlite3.Stmt) error {
		s = st.ColumnText(0)
		return nil
	}, args...)
	return s, err
}

// numbers returns the first column of all rows.
func (c *conn) numbers(sql string, args ...any) (list []int64, err error) {
	err = c.each(sql, func(st *sqlite3.Stmt) error {
		list = append(list, st.ColumnInt64(0))
		return nil
	}, args...)
	return list, err
}

// interrupted names the context's error where it was the context that
// interrupted a statement.
func (c *conn) interrupted(err error) error {
	if err != nil && c.stop != nil && errors.Is(err, sqlite3.INTERRUPT) {
		if why := c.stop(); why != nil {
			return why
		}
	}
	return err
}
