package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// Snapshot writes a copy of the database of a data directory into a new file,
// as it stands at one instant, and checks it. A server may run on the
// directory and go on writing meanwhile: the copy is made through SQLite's own
// locks, in one step, since one in several steps never ends under writes. The
// file is complete and synced when Snapshot returns nil.
func Snapshot(ctx context.Context, dir, to string) (store.Meta, error) {
	d := directory{path: dir, database: filepath.Join(dir, databaseName)}
	if err := d.whole(); err != nil {
		return store.Meta{}, err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // before SQLite would make it for others to read
	if err != nil {
		return store.Meta{}, unavailable("make copy", err)
	}
	if err := f.Close(); err != nil {
		return store.Meta{}, unavailable("make copy", err)
	}
	// The copy is a database before anything is copied: SQLite writes pages in
	// any order, and only of a database that has checksums it makes those.
	empty, err := openConn(ctx, connSetup{file: to})
	if err != nil {
		return store.Meta{}, err
	}
	if err := empty.close(); err != nil {
		return store.Meta{}, foreign("make copy", err)
	}
	c, err := openConn(ctx, connSetup{file: d.database, readOnly: true})
	if err != nil {
		return store.Meta{}, err
	}
	err = c.db.Backup("main", connSetup{file: to}.uri())
	if err := errors.Join(err, c.close()); err != nil {
		return store.Meta{}, foreign("copy database", err)
	}
	if err := d.whole(); err != nil {
		return store.Meta{}, err
	}
	return inspect(ctx, to)
}

// whole reports why the directory has no database to copy now.
func (d *directory) whole() error {
	for _, name := range []string{stageName, readyName} {
		if _, err := os.Stat(filepath.Join(d.path, name)); err == nil {
			return yiku.Errorf(yiku.ErrUnavailable, "the data directory %s is being restored, or was when that was interrupted: start the server or restore again", d.path)
		}
	}
	if info, err := os.Stat(d.database); err != nil || info.Size() == 0 {
		return yiku.Errorf(yiku.ErrNotFound, "there is no database in %s", d.path)
	}
	return nil
}

// inspect reads a copy through, tells which store it is of, and leaves it as
// one synced file.
func inspect(ctx context.Context, file string) (meta store.Meta, err error) {
	c, err := openConn(ctx, connSetup{file: file, exclusive: true})
	if err != nil {
		return meta, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for sql, want := range map[string]string{`PRAGMA integrity_check(1)`: "ok", `PRAGMA foreign_key_check`: ""} {
		found, err := c.text(sql)
		if err != nil {
			return meta, foreign("check copy", err)
		}
		if found != want {
			return meta, yiku.Errorf(yiku.ErrUnavailable, "the copy is damaged, and so is the database: %s", found)
		}
	}
	generation, err := c.metaValue("generation")
	if err != nil {
		return meta, err
	}
	journal, err := c.metaValue("journal")
	if err != nil {
		return meta, err
	}
	meta.Generation, meta.Journal = string(generation), string(journal)
	meta.Schema, err = c.schema()
	if err != nil {
		return meta, err
	}
	return meta, syncFile(file)
}

func syncFile(name string) error {
	f, err := os.Open(name)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return unavailable("sync "+filepath.Base(name), err)
	}
	return nil
}
