// Package audit seals the audit log into a chain (E8): every entry bears a MAC
// over itself and the MAC of the entry before it, under a key that is kept
// outside the database. Who can write the database but does not have the key
// cannot edit, delete, insert or reorder entries without Verify naming the
// first place where the chain does not hold.
//
// A tail that is cut off leaves a shorter chain that is whole. It shows only
// against a head that was exported before: keep the head that a check returns
// in another place, and hand it to the next check. Who has the key can forge
// everything up to a head that was exported.
package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// version is the first byte of what a MAC is over.
const version = 1

// Key seals entries and marks subjects. It never stands in a log: it prints as
// "Key". The zero Key is not usable.
type Key struct{ secret string }

// NewKey returns the key of KeySize secret bytes.
func NewKey(secret []byte) (Key, error) {
	if len(secret) != KeySize {
		return Key{}, yiku.Errorf(yiku.ErrInvalid, "an audit key has %d bytes, not %d", KeySize, len(secret))
	}
	return Key{secret: string(secret)}, nil
}

// String keeps the key out of logs and error texts.
func (k Key) String() string { return "Key" }

// GoString keeps the key out of logs and error texts.
func (k Key) GoString() string { return "Key" }

// Seal returns the MAC of an entry behind the one whose MAC is previous, nil
// for the first. It is HMAC-SHA256 (RFC 2104) over the version, the domain and
// the previous MAC and every field but the MAC, in a fixed order: texts
// prefixed with their length and numbers as 8 bytes, big-endian; times as
// microseconds since 1970; counts as their number and then name and value, in
// the order of names.
func (k Key) Seal(previous []byte, e store.AuditEntry) []byte {
	buf := appendText([]byte{version}, "yiku.audit.entry")
	buf = appendText(buf, string(previous))
	buf = appendNumber(buf, e.N)
	buf = appendNumber(buf, e.At.UnixMicro())
	buf = appendNumber(buf, e.Owner)
	for _, s := range []string{string(e.Subject), e.Actor, e.Action, e.Trigger, e.Ref} {
		buf = appendText(buf, s)
	}
	buf = appendNumber(buf, int64(len(e.Counts)))
	for _, name := range slices.Sorted(maps.Keys(e.Counts)) {
		buf = appendNumber(appendText(buf, name), int64(e.Counts[name]))
	}
	return k.mac(buf)
}

// Subject returns the mark of an owner's name: equal for equal owners, and
// telling nothing without the key. It is HMAC-SHA256 over the version, the
// domain, tenant and user, each prefixed with its length.
func (k Key) Subject(owner yiku.Owner) []byte {
	buf := appendText([]byte{version}, "yiku.audit.subject")
	return k.mac(appendText(appendText(buf, owner.Tenant()), owner.User()))
}

func (k Key) mac(text []byte) []byte {
	h := hmac.New(sha256.New, []byte(k.secret))
	h.Write(text)
	return h.Sum(nil)
}

func appendNumber(buf []byte, n int64) []byte { return binary.BigEndian.AppendUint64(buf, uint64(n)) }

func appendText(buf []byte, s string) []byte {
	return append(appendNumber(buf, int64(len(s))), s...)
}

// Derive makes a key of another purpose out of this one (HMAC-SHA256), so that
// one secret outside the database is enough.
func (k Key) Derive(purpose string) []byte {
	return k.mac(appendText([]byte{version}, "yiku.audit.derive "+purpose))
}
