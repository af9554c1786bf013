package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/credential"
)

// ServerFile is what a running server writes into its data directory, so that
// the command line finds it.
type ServerFile struct {
	Address   string    `json:"address"` // http://host:port, as this machine reaches it
	PID       int       `json:"pid"`
	Version   string    `json:"version,omitempty"`
	StartedAt time.Time `json:"started_at"`
	Secret    string    `json:"secret,omitempty"` // of this run, for the owner of the directory
}

// Credential is what the directory's owner sends to act for a tenant; empty
// where the server has left no secret.
func (f ServerFile) Credential(tenant string) string {
	if f.Secret == "" {
		return ""
	}
	return credential.ForLocal(f.Secret, tenant)
}

// ServerFileName is the file's name in the data directory.
const ServerFileName = "server.json"

// ReadServerFile reads the file of a data directory; ErrNotFound where there
// is none. A server that was killed leaves its file behind: whoever reads it
// asks at the address.
func ReadServerFile(dir string) (ServerFile, error) {
	text, err := os.ReadFile(filepath.Join(dir, ServerFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return ServerFile{}, yiku.Errorf(yiku.ErrNotFound, "no server runs on this data directory")
	}
	if err != nil {
		return ServerFile{}, yiku.Errorf(yiku.ErrUnavailable, "cannot read %s: %s", ServerFileName, reason(err))
	}
	var f ServerFile
	if err := json.Unmarshal(text, &f); err != nil || f.Address == "" {
		return ServerFile{}, yiku.Errorf(yiku.ErrUnavailable, "%s is not what a server writes", ServerFileName)
	}
	return f, nil
}

// write puts the file in its place at once, so that no reader sees a half.
func (f ServerFile) write(dir string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, ServerFileName+".new")
	if err := os.WriteFile(tmp, append(text, '\n'), 0o600); err != nil {
		return yiku.Errorf(yiku.ErrUnavailable, "cannot write %s: %s", ServerFileName, reason(err))
	}
	if err := os.Rename(tmp, filepath.Join(dir, ServerFileName)); err != nil {
		return fmt.Errorf("rename %s: %w", ServerFileName, err)
	}
	return nil
}

func removeServerFile(dir string) error {
	if err := os.Remove(filepath.Join(dir, ServerFileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", ServerFileName, err)
	}
	return nil
}
