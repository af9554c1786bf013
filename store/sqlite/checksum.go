package sqlite

import (
	"context"
	"errors"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
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
