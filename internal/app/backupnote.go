package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/audit"
	"github.com/yiku-ai/yiku/internal/config"
)

// A backup holds what all tenants have and is made beside a server that may
// run, which alone writes the audit log. So who makes one leaves a note in the
// data directory, under a MAC, before the backup has its name; the server takes
// it into the audit log at its next maintenance, or the next start does.

const (
	notePurpose = "backup note"
	notePattern = "backup-*.note"
)

// backupNote says that a backup was made.
type backupNote struct {
	ID  string `json:"id"`
	MAC []byte `json:"mac"`
}

func noteMAC(key audit.Key, id string) []byte {
	h := hmac.New(sha256.New, key.Derive(notePurpose))
	h.Write([]byte(id))
	return h.Sum(nil)
}

// leaveNote writes the note of a backup, durably, and gives its file.
func leaveNote(cfg config.Config, key audit.Key, id string) (path string, err error) {
	path = filepath.Join(cfg.DataDir, "backup-"+id+".note")
	text, err := json.Marshal(backupNote{ID: id, MAC: noteMAC(key, id)})
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return "", yiku.Errorf(yiku.ErrUnavailable, "note the backup for the audit log in %s: %s", cfg.DataDir, reason(err))
	}
	return path, nil
}

// takeNotes takes the notes of backups into the audit log. One that is not
// whole, or that somebody else wrote, is left and warned of.
func (c *Core) takeNotes(ctx context.Context) error {
	notes, err := filepath.Glob(filepath.Join(c.dir, notePattern))
	if err != nil {
		return err
	}
	for _, path := range notes {
		text, err := os.ReadFile(path)
		if err != nil {
			return yiku.Errorf(yiku.ErrUnavailable, "read the note of a backup: %s", reason(err))
		}
		var note backupNote
		if json.Unmarshal(text, &note) != nil || !hmac.Equal(note.MAC, noteMAC(c.chain, note.ID)) {
			c.log.Warn("the note of a backup is not what this program writes: it is not in the audit log", "path", path)
			continue
		}
		if err := c.Engine.AuditBackup(ctx, DefaultTenant, note.ID); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return yiku.Errorf(yiku.ErrUnavailable, "remove the note of a backup: %s", reason(err))
		}
	}
	return nil
}
