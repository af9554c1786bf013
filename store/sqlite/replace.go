package sqlite

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/yiku-ai/yiku"
)

// The folders of a data directory whose database is being replaced. The new
// one is made in stageName. Renaming that to readyName is the one instant at
// which the new one takes the old one's place: before it the old one is whole,
// and from then on whoever opens the directory finishes what is left.
const (
	stageName = "restore.tmp"
	readyName = "restore.ready"
	asideName = "replaced.tmp" // the old files, until the new one stands in their place
)

// Replacement puts another database in the place of a data directory's. It
// holds the directory's lock.
type Replacement struct{ dir *directory }

// Replace locks a data directory, which it makes where it is missing, for the
// replacement of its database. What an interrupted one has left is finished or
// taken away. A directory in use is ErrUnavailable.
func Replace(dir string) (*Replacement, error) {
	d, err := openDirectory(dir, false, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(d.path, stageName), 0o700); err != nil {
		return nil, errors.Join(unavailable("make "+stageName, err), d.close())
	}
	return &Replacement{d}, nil
}

// Stage is the directory in which the new database is to be made, as a data
// directory of its own.
func (r *Replacement) Stage() string { return filepath.Join(r.dir.path, stageName) }

// Occupied reports whether the data directory has a database.
func (r *Replacement) Occupied() bool {
	info, err := os.Stat(r.dir.database)
	return err == nil && info.Size() > 0
}

// Commit puts the staged database, which nobody has open, in its place. When
// it returns nil the old one is gone. Where it fails, either the old one
// stands, or the new one as soon as the directory is opened.
func (r *Replacement) Commit() error {
	for _, step := range append(r.dir.commit(), r.dir.finish()...) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the directory back and takes away what was not committed.
func (r *Replacement) Close() error {
	err := os.RemoveAll(r.Stage())
	if err != nil {
		err = unavailable("remove "+stageName, err)
	}
	return errors.Join(err, r.dir.close())
}

// commit is what leads to the instant, step by step.
func (d *directory) commit() []func() error {
	stage := filepath.Join(d.path, stageName)
	return []func() error{
		func() error { return syncFile(filepath.Join(stage, databaseName)) },
		func() error { return (&directory{path: stage}).sync() },
		func() error { return move(stage, filepath.Join(d.path, readyName)) },
		d.sync,
	}
}

// finish is what is left after it. It may stop after any step and begin again.
func (d *directory) finish() []func() error {
	ready, aside := filepath.Join(d.path, readyName), filepath.Join(d.path, asideName)
	fresh := filepath.Join(ready, databaseName)
	steps := []func() error{func() error {
		if err := os.Mkdir(aside, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return unavailable("make "+asideName, err)
		}
		return nil
	}}
	for _, name := range []string{databaseName + "-wal", databaseName + "-shm", databaseName} {
		steps = append(steps, func() error {
			if _, err := os.Stat(fresh); errors.Is(err, fs.ErrNotExist) {
				return nil // it stands in its place already
			}
			return move(filepath.Join(d.path, name), filepath.Join(aside, name))
		})
	}
	return append(steps,
		d.sync, // a log of the old one may not be found beside the new one after a power cut
		func() error { return move(fresh, d.database) },
		d.sync,
		func() error { return os.RemoveAll(ready) },
		func() error { return os.RemoveAll(aside) },
		d.sync)
}

// recoverReplacement finishes a replacement that was interrupted, or takes
// away what it had begun. The directory is locked.
func (d *directory) recoverReplacement() error {
	if err := os.RemoveAll(filepath.Join(d.path, stageName)); err != nil {
		return unavailable("remove "+stageName, err)
	}
	if _, err := os.Stat(filepath.Join(d.path, readyName)); errors.Is(err, fs.ErrNotExist) {
		if err := os.RemoveAll(filepath.Join(d.path, asideName)); err != nil {
			return unavailable("remove "+asideName, err)
		}
		return nil
	}
	d.log.Warn("a restoration that was interrupted is finished now", "path", d.path)
	for _, step := range d.finish() {
		if err := step(); err != nil {
			return yiku.Errorf(yiku.ErrUnavailable, "finish the restoration of %s: %v", d.path, err)
		}
	}
	return nil
}

// move renames a file; one that is missing was moved before.
func move(from, to string) error {
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable("move "+filepath.Base(from), err)
	}
	return nil
}
