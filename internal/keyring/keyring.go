// Package keyring keeps content sealed and equality blind (I1).
//
// Whatever holds a person's words is stored as an envelope: one version byte,
// then what that version says. Version 0 is plain; later versions seal under
// the owner's key. A store handles envelopes only, so that sealing, rotation
// and shredding are changes of this package alone.
//
// Where the equality of sealed texts is needed, their HMAC under the owner's
// blind-index key stands beside them. That key is part of the owner's key and
// dies with it.
package keyring

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/yiku-ai/yiku"
)

// The versions of envelopes.
const (
	versionPlain byte = 0
)

// BlindSize is the length of a blind mark in bytes. 16 bytes make a chance
// collision among 2^32 marks of one owner less likely than 2^-64.
const BlindSize = 16

// keySize is the length of an owner's key in bytes.
const keySize = 32

// OwnerKey is the secret of one owner, or of a store as the owner of what
// belongs to nobody else. The zero OwnerKey is refused by Seal
// and Open. It never stands in a log: it prints as "OwnerKey".
type OwnerKey struct {
	secret string // a string, so that keys are comparable and cannot be changed
	blind  string
}

// IsZero reports whether there is no key.
func (k OwnerKey) IsZero() bool { return k.secret == "" }

// String keeps the key out of logs and error texts.
func (k OwnerKey) String() string { return "OwnerKey" }

// GoString keeps the key out of logs and error texts.
func (k OwnerKey) GoString() string { return "OwnerKey" }

// Options are the settings of a ring. The zero value is right outside tests.
type Options struct {
	Random io.Reader // where keys come from; the system's generator where nil
}

// Ring seals and opens envelopes. It may be used by many goroutines at once.
type Ring struct {
	random io.Reader
}

// New returns a ring that writes plain envelopes. Options may be nil.
func New(options *Options) *Ring {
	r := &Ring{random: rand.Reader}
	if options != nil && options.Random != nil {
		r.random = options.Random
	}
	return r
}

// NewOwnerKey makes a key for a new owner.
func (r *Ring) NewOwnerKey() (OwnerKey, error) {
	secret := make([]byte, keySize)
	if _, err := io.ReadFull(r.random, secret); err != nil {
		return OwnerKey{}, yiku.Errorf(yiku.ErrUnavailable, "make owner key: the random source failed")
	}
	return newKey(secret), nil
}

// Wrap returns a key as an envelope that may be stored.
func (r *Ring) Wrap(key OwnerKey, associated []byte) ([]byte, error) {
	if key.IsZero() {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "wrap owner key: there is no key")
	}
	return append([]byte{versionPlain}, key.secret...), nil
}

// Unwrap opens what Wrap returned, under the same associated data.
func (r *Ring) Unwrap(envelope, associated []byte) (OwnerKey, error) {
	secret, err := open(envelope)
	if err != nil {
		return OwnerKey{}, err
	}
	if len(secret) != keySize {
		return OwnerKey{}, yiku.Errorf(yiku.ErrUnavailable, "unwrap owner key: it has %d bytes instead of %d", len(secret), keySize)
	}
	return newKey(secret), nil
}

// Seal puts a text into an envelope. The associated data names the place where
// the envelope is kept; it is needed again to open it, so that an envelope
// moved to another row does not open there.
func (r *Ring) Seal(key OwnerKey, associated, plain []byte) ([]byte, error) {
	if key.IsZero() {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "seal: there is no key")
	}
	return append([]byte{versionPlain}, plain...), nil
}

// Open returns the text of an envelope. It may share memory with the envelope.
// An unknown version, or an empty envelope, is ErrUnavailable.
func (r *Ring) Open(key OwnerKey, associated, envelope []byte) ([]byte, error) {
	if key.IsZero() {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "open: there is no key")
	}
	return open(envelope)
}

// Blind returns the mark of some texts: equal for equal texts of one owner in
// one domain, and telling nothing without the owner's key. It is HMAC-SHA256
// (RFC 2104) over the domain and the parts, each prefixed with its length in
// bytes (8 bytes, big-endian), cut to BlindSize bytes.
func (r *Ring) Blind(key OwnerKey, domain string, parts ...string) []byte {
	h := hmac.New(sha256.New, []byte(key.blind))
	buf := make([]byte, 0, 256)
	buf = appendPart(buf, domain)
	for _, p := range parts {
		buf = appendPart(buf, p)
	}
	h.Write(buf)
	return h.Sum(make([]byte, 0, sha256.Size))[:BlindSize]
}

func appendPart(buf []byte, s string) []byte {
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(s)))
	return append(buf, s...)
}

func newKey(secret []byte) OwnerKey {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("yiku.keyring.blind"))
	return OwnerKey{secret: string(secret), blind: string(h.Sum(nil))}
}

func open(envelope []byte) ([]byte, error) {
	if len(envelope) == 0 {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "open envelope: it is empty")
	}
	if v := envelope[0]; v != versionPlain {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "open envelope: version %d is not known to this program", v)
	}
	return envelope[1:], nil
}
