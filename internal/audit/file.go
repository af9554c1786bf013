package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/yiku-ai/yiku"
)

// keyMode is the mode of a key's file: the user's alone.
const keyMode fs.FileMode = 0o600

// Load reads the key from a file, which it makes with a new key, durably,
// where it is missing. A file that others may use, that is no regular file or
// that does not hold KeySize bytes is ErrUnavailable. Keep the file outside
// the database's directory and its backups; a chain whose key is lost can be
// checked no more.
func Load(path string) (Key, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, keyMode)
	if errors.Is(err, fs.ErrExist) {
		return read(path)
	}
	if err != nil {
		return Key{}, unavailable("make audit key", err)
	}
	secret := make([]byte, KeySize)
	rand.Read(secret) //nolint:errcheck // it never fails
	_, err = f.Write(secret)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = syncDirectory(filepath.Dir(path))
	}
	if err != nil {
		return Key{}, errors.Join(unavailable("write audit key", err), os.Remove(path))
	}
	return NewKey(secret)
}

func read(path string) (Key, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Key{}, unavailable("look at audit key", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return Key{}, yiku.Errorf(yiku.ErrUnavailable, "the audit key %s is not a regular file", path)
	case info.Mode().Perm() != keyMode:
		return Key{}, yiku.Errorf(yiku.ErrUnavailable, "the audit key %s has mode %04o and must have %04o", path, info.Mode().Perm(), keyMode)
	case info.Size() != KeySize:
		return Key{}, yiku.Errorf(yiku.ErrUnavailable, "the audit key %s has %d bytes and must have %d", path, info.Size(), KeySize)
	}
	secret, err := os.ReadFile(path)
	if err != nil {
		return Key{}, unavailable("read audit key", err)
	}
	return NewKey(secret)
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func unavailable(op string, err error) error {
	return fmt.Errorf("%s: %w: %w", op, yiku.ErrUnavailable, err)
}
