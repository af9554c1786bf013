package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/audit"
	"github.com/yiku-ai/yiku/internal/backup"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/internal/journal"
	"github.com/yiku-ai/yiku/store"
)

// RestoreOptions say what to restore, and how.
type RestoreOptions struct {
	From           string // the backup
	Replace        bool   // a database that is there, which is then gone
	Journal        string // a forget journal kept elsewhere, where the directory has none
	WithoutJournal bool   // take what was forgotten since the backup back
}

// Restored says what a restoration did.
type Restored struct {
	backup.Manifest
	engine.Replayed
	Keys KeysRestored
}

// Restore puts a backup in the place of a data directory's database. Nothing
// there changes until the new database is whole: it is made beside it, checked
// to the last byte, brought to the present schema, made to forget again what
// was forgotten since, and given a new generation. Where that fails, or stops
// in the middle, the old one stands.
func Restore(ctx context.Context, cfg config.Config, r RestoreOptions, opts *Options) (out Restored, err error) {
	o := opts.orDefaults()
	key, err := existingKey(cfg)
	if err != nil {
		return out, err
	}
	if err := settleReplaced(ctx, cfg, r, o); err != nil {
		return out, err
	}
	var last lastKeys
	if r.Replace { // read before the directory is taken: what is being replaced is not copied
		if last, err = readLastKeys(ctx, cfg, o); err != nil {
			last = lastKeys{}
		}
	}
	place, err := drivers.Replace(cfg.Store, cfg.DataDir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	if place.Occupied() && !r.Replace {
		return out, yiku.Errorf(yiku.ErrConflict, "%s has a database already, which --replace would take away", cfg.DataDir)
	}
	out.Manifest, err = backup.Extract(ctx, r.From, filepath.Join(place.Stage(), "yiku.db"), key.Derive(backupPurpose))
	if err != nil {
		return out, err
	}
	if out.Store != cfg.Store {
		return out, yiku.Errorf(yiku.ErrUnsupported, "the backup is of a store %q, not %q", out.Store, cfg.Store)
	}
	staged := cfg
	staged.AuditKey, staged.DataDir, staged.Events = auditKeyPath(cfg), place.Stage(), ""
	if staged.Journal, err = stageJournal(cfg, r, key); err != nil {
		return out, err
	}
	defer func() {
		if staged.Journal != JournalPath(cfg) {
			err = errors.Join(err, os.RemoveAll(staged.Journal)) // it is still there where something failed
		}
	}()
	if err := prepare(ctx, staged, r, &out, o, func(s store.Store) (err error) {
		out.Keys, err = carryKeys(ctx, s, last, place.Occupied(), o)
		return err
	}); err != nil {
		return out, err
	}
	if err := placeJournal(cfg, staged.Journal); err != nil {
		return out, err
	}
	if err := place.Commit(); err != nil {
		return out, err
	}
	if out.Keys.Closed {
		o.Log.Warn("there was a database whose keys could not be read, and the backup has none: the server is closed until you make a key with yiku key create")
	}
	if !out.Keys.Known {
		o.Log.Warn("API keys are as of the backup: revoke again what was revoked since", "backup", out.Time)
	}
	return out, nil
}

// settleReplaced brings what the database that goes away has begun to forget
// into the journal: it alone knows of that. Without a journal nobody asks.
func settleReplaced(ctx context.Context, cfg config.Config, r RestoreOptions, o Options) error {
	if !r.Replace || r.WithoutJournal {
		return nil
	}
	place, err := drivers.Replace(cfg.Store, cfg.DataDir)
	if err != nil {
		return err
	}
	occupied := place.Occupied()
	if err := place.Close(); err != nil {
		return err
	}
	if r.Journal != "" {
		cfg.Journal = r.Journal
	}
	if _, err := os.Stat(JournalPath(cfg)); !occupied || errors.Is(err, fs.ErrNotExist) {
		return nil // stageJournal says so
	}
	cfg.Events = ""
	s, err := drivers.Store(ctx, cfg.Store, drivers.Options{Dir: cfg.DataDir, Now: o.Now, NewID: o.NewID, Log: o.Log})
	if err != nil { // it is damaged, which is why it is replaced
		o.Log.Warn("the database that is replaced cannot be opened: what it had begun to forget and the forget journal lacks is to be forgotten again", "error", err)
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	core, err := Open(ctx, cfg, &o)
	if err == nil {
		err = core.Close()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", yiku.Errorf(yiku.ErrUnavailable, "the database of %s may have forgets that are not in the forget journal yet, and cannot be opened to bring them there (%s). "+
			"Mend that first; or move the database away, where it is lost, and forget them again", cfg.DataDir, plain(err)), err)
	}
	return nil
}

// plain is what an error says to a person.
func plain(err error) string {
	if e := (*yiku.Error)(nil); errors.As(err, &e) && e.Detail != "" {
		return e.Detail
	}
	return err.Error()
}

// stageJournal sees to it that there is a journal, or that none is wanted, and
// gives the file: the journal that is there, or else one beside its place,
// a copy of what was named or a name for a new one. It is put in its place
// when all that it says was found to fit the backup, and with it only.
func stageJournal(cfg config.Config, r RestoreOptions, key audit.Key) (string, error) {
	path := JournalPath(cfg)
	_, err := os.Stat(path)
	switch there := !errors.Is(err, fs.ErrNotExist); {
	case r.WithoutJournal && r.Journal != "":
		return "", yiku.Errorf(yiku.ErrInvalid, "--journal and --without-journal exclude each other")
	case r.WithoutJournal && there:
		return "", yiku.Errorf(yiku.ErrConflict, "there is a forget journal, %s: restore with it, or move it away first if it is lost for this backup", path)
	case r.Journal == "" && !there && !r.WithoutJournal:
		return "", yiku.Errorf(yiku.ErrNotFound, "there is no forget journal %s: without it everything that was forgotten since the backup would come back; "+
			"name a copy of it with --journal, or accept that with --without-journal", path)
	case r.Journal != "" && there && !sameFile(r.Journal, path):
		return "", yiku.Errorf(yiku.ErrConflict, "there is a forget journal, %s, beside the one of --journal; move the older one away", path)
	case there:
		return path, nil
	}
	staged := path + "." + rand.Text() + ".tmp"
	if r.WithoutJournal {
		return staged, nil
	}
	if _, err := journal.ReadPosition(r.Journal, key.Derive(journalPurpose), -1); err != nil {
		return "", err
	}
	return staged, copyFile(r.Journal, staged)
}

// placeJournal puts a staged journal in its place. From then on a restoration
// that fails leaves it there: it is the right one.
func placeJournal(cfg config.Config, staged string) error {
	path := JournalPath(cfg)
	if staged == path {
		return nil
	}
	err := os.Rename(staged, path)
	if err == nil {
		var dir *os.File
		if dir, err = os.Open(filepath.Dir(path)); err == nil {
			err = errors.Join(dir.Sync(), dir.Close())
		}
	}
	if err != nil {
		return yiku.Errorf(yiku.ErrUnavailable, "write %s: %s", path, reason(err))
	}
	return nil
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// copyFile puts a copy in its place at once, durably.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return yiku.Errorf(yiku.ErrUnavailable, "read %s: %s", from, reason(err))
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.tmp") // mode 0600
	if err != nil {
		return yiku.Errorf(yiku.ErrUnavailable, "write %s: %s", to, reason(err))
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		return errors.Join(yiku.Errorf(yiku.ErrUnavailable, "write %s: %s", to, reason(err)), os.Remove(out.Name()))
	}
	return nil
}

// prepare makes a staged database fit to serve: checked, in a new generation,
// with what was forgotten since forgotten again, and with an entry in the
// audit log.
func prepare(ctx context.Context, cfg config.Config, r RestoreOptions, out *Restored, o Options, carry func(store.Store) error) (err error) {
	if err := checkStaged(ctx, cfg, o); err != nil {
		return err
	}
	o.NewJournal, o.replays = true, true // whether it is the backup's, its entries say
	core, err := Open(ctx, cfg, &o)
	if err != nil {
		return fmt.Errorf("open what was restored: %w", err)
	}
	defer func() { err = errors.Join(err, core.Close()) }()
	res, err := core.Service().VerifyAudit(ctx, yiku.VerifyAuditRequest{})
	if err != nil {
		return err
	}
	if !res.Valid {
		return yiku.Errorf(yiku.ErrUnavailable, "the audit log in the backup: %s", res.Fault)
	}
	if err := core.store.Renew(ctx); err != nil {
		return err
	}
	if err := carry(core.store); err != nil {
		return err
	}
	each := func(fn func(journal.Entry) error) error { return core.journal.After(ctx, out.Journal, fn) }
	if r.WithoutJournal {
		each = func(func(journal.Entry) error) error { return nil }
	}
	out.Replayed, err = core.Engine.Replay(ctx, DefaultTenant, out.ID, each)
	return err
}

// checkStaged reads through the staged database before anything is done to it.
func checkStaged(ctx context.Context, cfg config.Config, o Options) (err error) {
	s, err := drivers.Store(ctx, cfg.Store, drivers.Options{Dir: cfg.DataDir, Now: o.Now, NewID: o.NewID, Log: o.Log})
	if err != nil {
		return fmt.Errorf("open what was restored: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	faults, err := s.Check(ctx)
	if err == nil && len(faults) > 0 {
		err = yiku.Errorf(yiku.ErrUnavailable, "the database in the backup is not sound: %s", faults[0])
	}
	return err
}
