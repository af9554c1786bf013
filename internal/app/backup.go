package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/audit"
	"github.com/yiku-ai/yiku/internal/backup"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
)

// backupPurpose is what the backups' key is made for out of the audit log's.
const backupPurpose = "backup"

// leftover is the age from which the folder of an interrupted backup is taken
// away: no running one takes that long.
const leftover = 24 * time.Hour

// workPattern names the folders in which backups are made.
const workPattern = ".yiku-backup.*.tmp"

// BackedUp is a backup that was made.
type BackedUp struct {
	Path string
	Size int64
	backup.Manifest
}

// Backup makes a backup of the data directory in a file, or in a new file in a
// directory. A server may run on the data directory meanwhile: all that it had
// acknowledged when the backup began is in it.
func Backup(ctx context.Context, cfg config.Config, to string, opts *Options) (out BackedUp, err error) {
	o := opts.orDefaults()
	key, err := existingKey(cfg)
	if err != nil {
		return out, err
	}
	m := backup.Manifest{ID: rand.Text(), Time: o.Now().UTC(), Version: o.Version, Store: cfg.Store}
	if out.Path, err = target(to, m.Time); err != nil {
		return out, err
	}
	if err := outside(out.Path, cfg.DataDir); err != nil {
		return out, err
	}
	// The position comes first: what is forgotten while the copy is made is
	// forgotten again when that is restored.
	if m.Journal, err = FindJournal(cfg, ""); err != nil {
		return out, err
	}
	work, err := workFolder(filepath.Dir(out.Path), o.Now())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	database := filepath.Join(work, "yiku.db")
	meta, err := drivers.Snapshot(ctx, cfg.Store, cfg.DataDir, database)
	if err != nil {
		return out, err
	}
	if meta.Journal != "" && meta.Journal != m.Journal.ID {
		return out, otherJournal(JournalPath(cfg))
	}
	m.Schema, m.Generation = meta.Schema, meta.Generation
	note, err := leaveNote(cfg, key, m.ID)
	if err != nil {
		return out, err
	}
	if err := backup.Write(ctx, out.Path, database, &m, key.Derive(backupPurpose)); err != nil {
		return out, errors.Join(err, os.Remove(note))
	}
	out.Manifest = m
	info, err := os.Stat(out.Path)
	if err == nil {
		out.Size = info.Size()
	}
	return out, err
}

// existingKey reads the audit key, which is not made here: a backup under a
// new key could be checked by nobody.
func existingKey(cfg config.Config) (audit.Key, error) {
	path := auditKeyPath(cfg)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return audit.Key{}, yiku.Errorf(yiku.ErrNotFound, "there is no audit key %s: backups are made and checked with it, and never hold it", path)
	}
	return audit.Load(path)
}

// target is the file that a backup is to be: a file, or a new one in a directory.
func target(to string, now time.Time) (string, error) {
	path, err := filepath.Abs(to)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", to, err)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		path = filepath.Join(path, "yiku-"+now.Format("20060102T150405Z")+".tar")
	case to != "" && os.IsPathSeparator(to[len(to)-1]): // a directory is meant, and would become a file
		return "", yiku.Errorf(yiku.ErrNotFound, "there is no directory %s", path)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", yiku.Errorf(yiku.ErrConflict, "%s exists already", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", yiku.Errorf(yiku.ErrNotFound, "there is no directory %s", filepath.Dir(path))
	}
	return path, nil
}

// outside refuses a file in the data directory or below it: a backup must
// outlive that, and some of the names there mean something to the next start.
// The directories are compared as they are, whatever they are called.
func outside(path, data string) error {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return yiku.Errorf(yiku.ErrUnavailable, "find %s: %s", filepath.Dir(path), reason(err))
	}
	for {
		if sameFile(dir, data) {
			return yiku.Invalid("to", "must lie outside of the data directory %s", data)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
}

// workFolder makes a folder beside the backup for the copy, and takes away
// what interrupted backups have left there: it holds content.
func workFolder(dir string, now time.Time) (string, error) {
	old, _ := filepath.Glob(filepath.Join(dir, workPattern))
	for _, name := range old {
		if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > leftover {
			if err := os.RemoveAll(name); err != nil {
				return "", yiku.Errorf(yiku.ErrUnavailable, "remove %s: %s", name, reason(err))
			}
		}
	}
	work, err := os.MkdirTemp(dir, workPattern) // mode 0700
	if err != nil {
		return "", yiku.Errorf(yiku.ErrUnavailable, "make a folder in %s: %s", dir, reason(err))
	}
	return work, nil
}
