package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// checksumSize is what a page's checksum takes, at the page's end: SQLite's
// checksum VFS (sqlite.org/cksumvfs.html), which ncruces builds in.
const checksumSize = 8

const (
	sqlHasChecksums  = `INSERT INTO meta (name, value) VALUES ('checksums', ?) ON CONFLICT DO NOTHING`
	sqlPages         = `PRAGMA page_count`
	sqlHasMeta       = `SELECT count(*) FROM sqlite_schema WHERE name = 'meta'`
	sqlWithChecksums = `SELECT count(*) FROM meta WHERE name = 'checksums'`
)

// addChecksums rewrites a database whose pages have no checksums yet; that is
// one transaction of SQLite. Where its own meta table says that they have, it
// is not old but damaged.
func addChecksums(ctx context.Context, setup connSetup) (err error) {
	db, err := sqlite3.OpenContext(ctx, setup.uri())
	if err != nil {
		return foreign("open database", err)
	}
	c := &conn{db: db, statements: map[string]*sqlite3.Stmt{}}
	defer func() { err = errors.Join(err, foreign("close database", c.close())) }()
	if setup.exclusive {
		if err := db.Exec(`PRAGMA locking_mode=exclusive`); err != nil {
			return foreign("set locking_mode", err)
		}
	}
	pages, err := c.number(sqlPages)
	if err != nil || pages == 0 {
		return foreign("read size", err)
	}
	reserved, err := db.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES)
	if err != nil {
		return foreign("read reserved bytes", err)
	}
	if reserved == checksumSize || setup.unchecked {
		return nil
	}
	old, err := c.number(sqlHasMeta)
	if err == nil && old > 0 {
		old, err = c.number(sqlWithChecksums)
	}
	if err != nil {
		return foreign("read meta", err)
	}
	if reserved != 0 || old > 0 {
		return yiku.Errorf(yiku.ErrUnavailable, "the header of the database is damaged")
	}
	return foreign("add checksums to pages", db.EnableChecksums("main"))
}

// pagesAtOnce is how many pages are looked at while the writer waits.
const pagesAtOnce = 2048

// examinePages computes the checksums of all pages of the database and of its
// log, those among them that no row needs. It does so beside SQLite, which
// looks at what it reads only, and holds the writer meanwhile, so that nobody
// writes the log into the database.
func (s *Store) examinePages(ctx context.Context, e *store.Examination) error {
	if s.guard.off {
		return nil
	}
	f, err := s.guard.side(s.guard.database, vfs.OPEN_READONLY)
	if err != nil {
		return unavailable("read the database", err)
	}
	defer f.Close()
	for more := true; more; {
		var c *conn
		select {
		case c = <-s.pool.writing:
		case <-ctx.Done():
			return fmt.Errorf("wait for the writer: %w", ctx.Err())
		case <-s.pool.quit:
			return errClosed()
		}
		more, err = s.examineSome(c, f, e)
		s.pool.writing <- c
		if err != nil {
			return err
		}
	}
	return nil
}

// examineSome looks at the next pages, at the end at the log, and reports
// whether there is more.
func (s *Store) examineSome(c *conn, f sideFile, e *store.Examination) (more bool, err error) {
	log, done, err := c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
	if isDamage(err) {
		e.Faults = append(e.Faults, foreign("read the log", err).Error())
		return false, nil
	}
	if err != nil {
		return false, foreign("write log into database", err)
	}
	if log != done { // a reader needs what is older: the pages may be torn, and are in the log
		return false, nil
	}
	size, err := c.number(`PRAGMA page_size`)
	if err != nil {
		return false, foreign("read size", err)
	}
	page := make([]byte, size)
	for range pagesAtOnce {
		n, err := f.ReadAt(page, int64(e.Pages)*size)
		if n < len(page) && errors.Is(err, io.EOF) {
			frames, fault, err := s.guard.examine()
			if fault != nil {
				e.Faults = append(e.Faults, fault.Error())
			}
			e.Frames = frames
			return false, err
		}
		if err != nil && n < len(page) {
			return false, unavailable("read the database", err)
		}
		e.Pages++
		if !pageFits(page) && len(e.Faults) < mostFaults {
			e.Faults = append(e.Faults, fmt.Sprintf("page %d of the database is damaged", e.Pages))
		}
	}
	return true, nil
}

// pageFits reports whether a page ends with its checksum.
func pageFits(page []byte) bool {
	end := len(page) - checksumSize
	sum := logSum([2]uint32{}, page[:end]) // it is computed as the log's, and written the other way round
	return sum == [2]uint32{binary.LittleEndian.Uint32(page[end:]), binary.LittleEndian.Uint32(page[end+4:])}
}
