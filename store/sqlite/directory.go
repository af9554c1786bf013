package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
	"github.com/yiku-ai/yiku/store"
)

// The names of the files in a data directory.
const (
	databaseName = "yiku.db"
	lockName     = "lock"
)

// directory is a data directory that this process holds.
type directory struct {
	path     string
	database string
	virtual  bool // the database lies in another file system
	lock     *flock.Flock
	log      *slog.Logger
}

// openDirectory makes the directory where it is missing, takes away what
// others may do with it, and locks it (H1).
func openDirectory(path string, virtual bool, log *slog.Logger) (*directory, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, unavailable("open data directory", err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, unavailable("make data directory", err)
	}
	if err := tighten(abs, 0o700, log); err != nil {
		return nil, err
	}
	d := &directory{path: abs, database: filepath.Join(abs, databaseName), virtual: virtual, log: log}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	if err := tighten(d.lock.Path(), 0o600, log); err != nil {
		return nil, errors.Join(err, d.close())
	}
	if err := d.recoverReplacement(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// acquire locks the directory for this process and writes its id into the lock file.
func (d *directory) acquire() error {
	name := filepath.Join(d.path, lockName)
	d.lock = flock.New(name, flock.SetPermissions(0o600))
	ok, err := d.lock.TryLock()
	if err != nil {
		return unavailable("lock data directory", err)
	}
	if !ok {
		holder := "another process"
		if text, err := os.ReadFile(name); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				holder = fmt.Sprintf("process %d", pid)
			}
		}
		return &store.InUseError{Dir: d.path, Holder: holder}
	}
	if err := os.WriteFile(name, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return errors.Join(unavailable("write lock file", err), d.lock.Close())
	}
	return nil
}

// secureFiles makes the database and the files that SQLite keeps beside it
// while it is open, so that they belong to the user alone from their first
// byte: SQLite would make them with the mode that the process's umask leaves.
func (d *directory) secureFiles() error {
	if d.virtual {
		return nil
	}
	for _, name := range []string{d.database, d.database + "-wal", d.database + "-shm", d.database + markName} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return unavailable("make database", err)
		}
		if err := f.Close(); err != nil {
			return unavailable("make database", err)
		}
		if err := tighten(name, 0o600, d.log); err != nil {
			return err
		}
	}
	return nil
}

// tighten takes away the rights that others have on a file or directory.
func tighten(path string, mode fs.FileMode, log *slog.Logger) error {
	info, err := os.Stat(path)
	if err != nil {
		return unavailable("look at data directory", err)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(path, mode); err != nil {
		return unavailable("tighten data directory", err)
	}
	log.Warn("others had access to the data directory, which has been taken away",
		"path", path, "mode_before", info.Mode().Perm().String(), "mode", mode.String())
	return nil
}

// sync makes the directory's entries durable.
func (d *directory) sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return unavailable("sync data directory", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return unavailable("sync data directory", err)
	}
	return nil
}

// walSize is the size of the log in bytes; 0 where there is none.
func (d *directory) walSize() int64 {
	if d.virtual {
		return 0
	}
	info, err := os.Stat(d.database + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// close gives the directory back.
func (d *directory) close() error {
	if err := d.lock.Close(); err != nil {
		return unavailable("unlock data directory", err)
	}
	return nil
}
