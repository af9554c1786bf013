// Package backup is the form of a backup: one file, a tar archive that holds
// the database and, last, a manifest that says what it is, where the forget
// journal stood, and the size and SHA-256 of every file, under a MAC. Keys are
// never in it.
//
// A file that is cut, or in which a bit has changed, does not pass Extract:
// every byte of it is under a sum, under the MAC, or must be zero.
package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/journal"
)

// Format is the version of the form.
const Format = 1

// The names inside the archive.
const (
	databaseName = "yiku.db"
	manifestName = "manifest.json"
)

// block is the unit of a tar archive. The manifest is filled up to it with
// spaces, and a database is a multiple of it, so that no byte is padding.
const block = 512

// maxManifest is the longest manifest that is read.
const maxManifest = 1 << 20

// Manifest says what a backup is of.
type Manifest struct {
	Format     int              `json:"format"`
	ID         string           `json:"id"`
	Time       time.Time        `json:"time"`
	Version    string           `json:"version"` // of the program that made it
	Store      string           `json:"store"`   // driver
	Schema     int              `json:"schema"`
	Generation string           `json:"generation"`
	Journal    journal.Position `json:"journal"` // where the forget journal stood before the copy was made
	Files      []File           `json:"files"`
	MAC        []byte           `json:"mac"` // HMAC-SHA256 over the manifest without it
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 []byte `json:"sha256"`
}

// Write makes a backup of a database's copy. The file has its name only when
// it is whole and durable; one that is there is not replaced. It sets Format,
// Files and MAC of the manifest.
func Write(ctx context.Context, to, database string, m *Manifest, key []byte) (err error) {
	if _, err := os.Lstat(to); err == nil {
		return yiku.Errorf(yiku.ErrConflict, "%s exists already", to)
	}
	out, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*.tmp") // mode 0600
	if err != nil {
		return unavailable("make backup", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.Close(), os.Remove(out.Name()))
		}
	}()
	if err := write(ctx, out, database, m, key); err != nil {
		return unavailable("write backup", err)
	}
	if err := errors.Join(out.Sync(), os.Rename(out.Name(), to)); err != nil {
		return unavailable("write backup", err)
	}
	return errors.Join(out.Close(), syncDirectory(filepath.Dir(to)))
}

func write(ctx context.Context, out io.Writer, database string, m *Manifest, key []byte) error {
	in, err := os.Open(database)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	if err := archive.WriteHeader(head(databaseName, info.Size(), m.Time)); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(archive, sum), readerOf(ctx, in)); err != nil {
		return err
	}
	m.Format = Format
	m.Files = []File{{Name: databaseName, Size: info.Size(), SHA256: sum.Sum(nil)}}
	if m.MAC, err = m.mac(key); err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, bytes.Repeat([]byte{' '}, (block-(len(text)+1)%block)%block)...)
	text = append(text, '\n')
	if err := archive.WriteHeader(head(manifestName, int64(len(text)), m.Time)); err != nil {
		return err
	}
	if _, err := archive.Write(text); err != nil {
		return err
	}
	return archive.Close()
}

func head(name string, size int64, at time.Time) *tar.Header {
	return &tar.Header{Format: tar.FormatGNU, Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at.Truncate(time.Second)}
}

// mac is over the manifest as JSON without its MAC.
func (m *Manifest) mac(key []byte) ([]byte, error) {
	bare := *m
	bare.MAC = nil
	text, err := json.Marshal(bare)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil), nil
}

// Extract checks a backup and writes its database into a new file, synced.
// Where it fails there may be a file, which is not to be used. A backup that is
// cut or changed, or was made under another key, is ErrUnavailable.
func Extract(ctx context.Context, from, database string, key []byte) (m Manifest, err error) {
	in, err := os.Open(from)
	if err != nil {
		return m, unavailable("open backup", err)
	}
	defer in.Close()
	out, err := os.OpenFile(database, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return m, unavailable("write database", err)
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err == nil {
			err = syncDirectory(filepath.Dir(database))
		}
	}()
	sum := sha256.New()
	archive := tar.NewReader(readerOf(ctx, in))
	size, err := extract(archive, databaseName, io.MultiWriter(out, sum))
	if err != nil {
		return m, err
	}
	var text bytes.Buffer
	length, err := extract(archive, manifestName, &text)
	if err != nil {
		return m, err
	}
	if m, err = readManifest(text.Bytes(), key, size, sum); err != nil {
		return m, err
	}
	if err := atEnd(in, 4*block+size+length); err != nil {
		return m, err
	}
	if err := out.Sync(); err != nil {
		return m, unavailable("write database", err)
	}
	return m, nil
}

// extract copies the next file of the archive, which must have the name.
func extract(archive *tar.Reader, name string, to io.Writer) (int64, error) {
	h, err := archive.Next()
	if err != nil {
		return 0, broken("it cannot be read: %v", err)
	}
	if h.Name != name || h.Typeflag != tar.TypeReg || h.Size%block != 0 || name == manifestName && h.Size > maxManifest {
		return 0, broken("%s does not stand where it must", name)
	}
	n, err := io.Copy(to, archive)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", broken("%s cannot be read", name), err)
	}
	return n, nil
}

func readManifest(text, key []byte, size int64, sum hash.Hash) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, broken("its manifest cannot be read")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return m, broken("something follows its manifest")
	}
	if m.Format != Format {
		return m, yiku.Errorf(yiku.ErrUnsupported, "the backup has format %d, this program knows %d", m.Format, Format)
	}
	want, err := m.mac(key)
	switch {
	case err != nil:
		return m, err
	case !hmac.Equal(want, m.MAC):
		return m, broken("its manifest does not hold: it was changed, or the audit key is another one than when it was made")
	case len(m.Files) != 1 || m.Files[0].Name != databaseName:
		return m, broken("its manifest names other files")
	case m.Files[0].Size != size || !bytes.Equal(m.Files[0].SHA256, sum.Sum(nil)):
		return m, broken("%s is not what its manifest says", databaseName)
	}
	return m, nil
}

// atEnd checks that an archive of a length is all that the file holds, and
// that it ends with zeros.
func atEnd(in *os.File, length int64) error {
	info, err := in.Stat()
	if err != nil {
		return unavailable("read backup", err)
	}
	tail := make([]byte, 2*block)
	if info.Size() != length {
		return broken("it has %d bytes and must have %d", info.Size(), length)
	}
	if _, err := in.ReadAt(tail, length-2*block); err != nil {
		return unavailable("read backup", err)
	}
	if len(bytes.Trim(tail, "\x00")) > 0 {
		return broken("something follows its manifest")
	}
	return nil
}

// contextReader ends a long copy with its context.
type contextReader struct {
	io.Reader
	err func() error
}

func readerOf(ctx context.Context, r io.Reader) io.Reader { return contextReader{r, ctx.Err} }

// Read reads while the context lives.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return unavailable("sync directory", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

func broken(format string, args ...any) error {
	return yiku.Errorf(yiku.ErrUnavailable, "the backup is broken: "+format, args...)
}

func unavailable(op string, err error) error {
	return fmt.Errorf("%s: %w: %w", op, yiku.ErrUnavailable, err)
}
