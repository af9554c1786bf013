// Package journal keeps the forget journal: what was forgotten, in a file
// beside the database that outlives it, so that restoring an older backup does
// not bring it back (R39).
//
// The file is a header and one line an entry, each JSON, a tab and a MAC in
// hex over the line and the MAC before it, under a key that lies outside the
// database. It holds keyed marks, numbers and receipts without their words: no
// content, no name, and no hash that could be guessed at without the store's
// secret. An entry is durable before the forget is answered. Entries older
// than every backup are dropped by Compact; the header says where the journal
// begins, and what it does not cover cannot be restored with it.
//
// An edit, a deletion in the middle and a reordering show when the journal is
// read. A cut tail shows against a Position that was taken before, as every
// backup has one, and against the audit log.
package journal

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/yiku-ai/yiku"
)

// MarkSize is the length of each of an entry's marks in bytes.
const MarkSize = 16

// Entry is one forget that is done.
type Entry struct {
	N         int64         `json:"n"` // set by Append
	At        time.Time     `json:"at"`
	Action    string        `json:"action"` // as the audit log names it
	Ref       string        `json:"ref"`    // as its entry in the audit log refers to it
	Owner     []byte        `json:"owner"`  // store.Restoring's OwnerMark
	Epoch     int64         `json:"epoch"`  // where the owner stands after it
	Seq       int64         `json:"seq"`
	Withdrawn bool          `json:"withdrawn,omitempty"`
	Working   bool          `json:"working,omitempty"` // working memory of any session may say what was forgotten
	Receipt   *yiku.Receipt `json:"receipt,omitempty"` // without user and reason
	Marks     []byte        `json:"marks,omitempty"`   // of MarkSize bytes each: what it suppresses
}

// Position is a place in a journal: its last entry at some time.
type Position struct {
	ID  string `json:"id"` // of the journal
	N   int64  `json:"n"`
	MAC []byte `json:"mac"`
}

// header is the first line.
type header struct {
	ID    string    `json:"journal"`
	Base  int64     `json:"base"`  // the number of the last entry that was dropped; 0: none
	Last  []byte    `json:"last"`  // its MAC; of a new journal a MAC of its id
	Since time.Time `json:"since"` // what was forgotten from then on is here
}

// Journal is an open journal. Its methods may be called at once.
type Journal struct {
	path   string
	key    []byte
	turn   chan struct{} // holds one token: who has it may touch what follows
	file   *os.File
	header header
	last   Position
	size   int64 // of what holds
	broken error // why nothing can be added any more
}

// Open opens the journal in a file, or makes one that begins at now, and cuts
// off an entry that a crash left half written: its forget was never answered.
// The key is any secret of at least 16 bytes. One process has it open at a
// time, which is the caller's to see to.
func Open(path string, key []byte, now time.Time) (_ *Journal, err error) {
	j := &Journal{path: path, key: key, turn: make(chan struct{}, 1)}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := j.create(now); err != nil {
			return nil, err
		}
	}
	if j.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, unavailable("open forget journal", err)
	}
	read, err := readAll(j.file, key, nil)
	if err == nil && read.torn {
		err = errors.Join(j.file.Truncate(read.size), j.file.Sync())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), j.file.Close())
	}
	j.header, j.last, j.size = read.header, read.last, read.size
	j.turn <- struct{}{}
	return j, nil
}

// create writes an empty journal in its place at once.
func (j *Journal) create(now time.Time) error {
	h := header{ID: rand.Text(), Since: now.UTC()}
	h.Last = mac(j.key, []byte("yiku.journal.begin"), []byte(h.ID))
	return j.replace(h, nil)
}

// replace puts a journal of a header and entries, as lines, in the place of
// what is there.
func (j *Journal) replace(h header, entries []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(j.path), filepath.Base(j.path)+".*.tmp") // mode 0600
	if err != nil {
		return unavailable("write forget journal", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(unavailable("write forget journal", err), os.Remove(f.Name()))
		}
	}()
	text, err := json.Marshal(h)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = f.Write(append(line(text, headerMAC(j.key, text)), entries...))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), j.path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(j.path))
}

// Append adds an entry and sets its N. When it returns nil the entry is
// durable; otherwise it is not there, or the journal takes no more until it is
// opened again. Who appends an entry again whose outcome was unknown does no
// harm.
func (j *Journal) Append(ctx context.Context, e *Entry) error {
	if err := j.take(ctx); err != nil {
		return err
	}
	defer j.give()
	if j.broken != nil {
		return j.broken
	}
	entry := *e
	entry.N = j.last.N + 1
	text, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("write forget journal: %w", err)
	}
	sum := mac(j.key, j.last.MAC, text)
	full := line(text, sum)
	if _, err := j.file.WriteAt(full, j.size); err != nil {
		if e := j.file.Truncate(j.size); e != nil {
			j.broken = unavailable("cut forget journal", e)
		}
		return unavailable("write forget journal", err)
	}
	if err := j.file.Sync(); err != nil { // what the disk holds now nobody knows
		j.broken = unavailable("sync forget journal", err)
		return j.broken
	}
	j.size += int64(len(full))
	j.last.N, j.last.MAC = entry.N, sum
	e.N = entry.N
	return nil
}

// Compact drops the entries from before a time, from the front on. Backups
// that were made before one of them cannot be restored with the journal then.
func (j *Journal) Compact(ctx context.Context, before time.Time) (dropped int64, err error) {
	if err := j.take(ctx); err != nil {
		return 0, err
	}
	defer j.give()
	if j.broken != nil {
		return 0, j.broken
	}
	h, keep := j.header, int64(-1)
	read, err := readAll(io.NewSectionReader(j.file, 0, j.size), j.key, func(p place) error {
		if keep < 0 && !p.At.Before(before) {
			keep = p.from
		}
		if keep < 0 {
			h.Base, h.Last, h.Since = p.N, p.mac, before.UTC()
		}
		return nil
	})
	if err != nil || h.Base == j.header.Base {
		return 0, err
	}
	if keep < 0 {
		keep = read.size
	}
	rest := make([]byte, read.size-keep)
	if _, err := j.file.ReadAt(rest, keep); err != nil && len(rest) > 0 {
		return 0, unavailable("read forget journal", err)
	}
	if err := j.replace(h, rest); err != nil {
		return 0, err
	}
	dropped = h.Base - j.header.Base
	return dropped, j.reopen(h)
}

// reopen goes on in the file that has taken the place of the old one.
func (j *Journal) reopen(h header) error {
	file, err := os.OpenFile(j.path, os.O_RDWR, 0)
	if err == nil {
		var info fs.FileInfo
		if info, err = file.Stat(); err == nil {
			err = j.file.Close()
			j.file, j.size, j.header = file, info.Size(), h
		}
	}
	if err != nil {
		j.broken = unavailable("open forget journal", err)
	}
	return j.broken
}

// Position returns where the journal ends.
func (j *Journal) Position() Position {
	<-j.turn
	defer j.give()
	return j.last
}

// Since returns the time from which on the journal holds what was forgotten.
func (j *Journal) Since() time.Time {
	<-j.turn
	defer j.give()
	return j.header.Since
}

// Each calls fn for every entry, in order, after checking it.
func (j *Journal) Each(ctx context.Context, fn func(Entry) error) error {
	if err := j.take(ctx); err != nil {
		return err
	}
	size := j.size
	file, err := os.Open(j.path)
	j.give()
	if err != nil {
		return unavailable("open forget journal", err)
	}
	defer file.Close()
	_, err = readAll(io.LimitReader(file, size), j.key, func(p place) error {
		return errors.Join(ctx.Err(), fn(p.Entry))
	})
	return err
}

// After calls fn for every entry after a position, in order. A position that
// is not one of this journal, or lies before its beginning, is ErrConflict.
func (j *Journal) After(ctx context.Context, p Position, fn func(Entry) error) error {
	at, err := ReadPosition(j.path, j.key, p.N)
	switch {
	case err != nil:
		return err
	case at.ID != p.ID:
		return yiku.Errorf(yiku.ErrConflict, "the backup was made with another forget journal")
	case !hmac.Equal(at.MAC, p.MAC):
		return yiku.Errorf(yiku.ErrConflict, "the forget journal has other entries than the one that the backup was made with")
	}
	return j.Each(ctx, func(e Entry) error {
		if e.N <= p.N {
			return nil
		}
		return fn(e)
	})
}

// Close closes the file.
func (j *Journal) Close() error {
	<-j.turn
	defer j.give()
	j.broken = yiku.Errorf(yiku.ErrUnavailable, "the forget journal is closed")
	return j.file.Close()
}

func (j *Journal) take(ctx context.Context) error {
	select {
	case <-j.turn:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the forget journal: %w", ctx.Err())
	}
}

func (j *Journal) give() { j.turn <- struct{}{} }

func line(text, sum []byte) []byte {
	return append(append(bytes.Clone(text), '\t'), append(hex.AppendEncode(nil, sum), '\n')...)
}

// mac is HMAC-SHA256 over the MAC before and a text; the former has a fixed
// length or stands for the beginning.
func mac(key, previous, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(previous)
	h.Write([]byte{0})
	h.Write(text)
	return h.Sum(nil)
}

func headerMAC(key, text []byte) []byte { return mac(key, []byte("yiku.journal.header"), text) }

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
