// Package keyring keeps content sealed and equality blind (I1).
//
// Whatever holds a person's words is stored as an envelope: one version byte,
// then what that version says. Version 1 is the text in plain with a MAC under
// the owner's key, over the text and the place where the envelope lies (R7);
// later versions encrypt under the same key. Version 0, plain without a MAC,
// is what the first stores wrote: it is read once, by the step of the schema
// that seals them anew. A store handles envelopes only, so that sealing,
// rotation and shredding are changes of this package alone.
//
// Where the equality of sealed texts is needed, their HMAC under the owner's
// blind-index key stands beside them. That key is part of the owner's key and
// dies with it.
package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/yiku-ai/yiku"
)

// The versions of envelopes. They differ in many bits, so that no flipped bit
// makes one of the other.
const (
	versionPlain byte = 0x00
	versionMAC   byte = 0xb5
)

// BlindSize is the length of a blind mark in bytes. 16 bytes make a chance
// collision among 2^32 marks of one owner less likely than 2^-64.
const BlindSize = 16

// keySize is the length of an owner's key in bytes.
const keySize = 32

// macSize is what a MAC takes: a random nonce of 12 bytes and GMAC's 16 (NIST
// SP 800-38D). GMAC is several times faster than HMAC on what a row holds. Its
// nonces must not repeat under a key: with 2^32 envelopes of one owner the
// chance of it is 2^-33.
const macSize = 12 + 16

// OwnerKey is the secret of one owner, or of a store as the owner of what
// belongs to nobody else. The zero OwnerKey is refused by Seal
// and Open. It never stands in a log: it prints as "OwnerKey".
type OwnerKey struct {
	secret string // a string, so that it cannot be changed
	blind  string
	seal   cipher.AEAD // with random nonces
}

// IsZero reports whether there is no key.
func (k OwnerKey) IsZero() bool { return k.secret == "" }

// Equal reports whether two keys are the same.
func (k OwnerKey) Equal(other OwnerKey) bool { return k.secret == other.secret }

// String keeps the key out of logs and error texts.
func (k OwnerKey) String() string { return "OwnerKey" }

// GoString keeps the key out of logs and error texts.
func (k OwnerKey) GoString() string { return "OwnerKey" }

// Options are the settings of a ring. The zero value is right outside tests.
type Options struct {
	Random    io.Reader // where keys come from; the system's generator where nil
	Unchecked bool      // neither make nor look at MACs: the control of tests that damage what is stored
}

// Ring seals and opens envelopes. It may be used by many goroutines at once.
type Ring struct {
	random    io.Reader
	unchecked bool
}

// New returns a ring that writes envelopes with a MAC. Options may be nil.
func New(options *Options) *Ring {
	r := &Ring{random: rand.Reader}
	if options != nil {
		r.unchecked = options.Unchecked
		if options.Random != nil {
			r.random = options.Random
		}
	}
	return r
}

// NewOwnerKey makes a key for a new owner.
func (r *Ring) NewOwnerKey() (OwnerKey, error) {
	secret := make([]byte, keySize)
	if _, err := io.ReadFull(r.random, secret); err != nil {
		return OwnerKey{}, yiku.Errorf(yiku.ErrUnavailable, "make owner key: the random source failed")
	}
	return newKey(secret)
}

// Wrap returns a key as an envelope that may be stored. Its MAC is under the
// key itself: that tells damage, and a key in another one's place.
func (r *Ring) Wrap(key OwnerKey, associated []byte) ([]byte, error) {
	return r.Seal(key, associated, []byte(key.secret))
}

// Unwrap opens what Wrap returned, under the same associated data.
func (r *Ring) Unwrap(envelope, associated []byte) (OwnerKey, error) {
	if err := versionIs(versionMAC, envelope); err != nil {
		return OwnerKey{}, err
	}
	key, err := r.unwrap(envelope[1+macSize:])
	if err != nil {
		return OwnerKey{}, err
	}
	_, err = r.Open(key, associated, envelope)
	return key, err
}

func (r *Ring) unwrap(secret []byte) (OwnerKey, error) {
	if len(secret) != keySize {
		return OwnerKey{}, yiku.Errorf(yiku.ErrUnavailable, "unwrap owner key: it has %d bytes instead of %d", len(secret), keySize)
	}
	return newKey(secret)
}

// Seal puts a text into an envelope. The associated data names the place where
// the envelope is kept, with what else stands there in plain and must be
// believed; it is needed again to open the envelope, which opens nowhere else
// and beside nothing else. Within one table it must be of one form: where it
// ends and the text begins is not marked. What lies behind it, where it has
// room, is overwritten.
func (r *Ring) Seal(key OwnerKey, associated, plain []byte) ([]byte, error) {
	if key.IsZero() {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "seal: there is no key")
	}
	envelope := make([]byte, 1, 1+macSize+len(plain))
	envelope[0] = versionMAC
	if r.unchecked {
		envelope = envelope[:1+macSize]
	} else {
		envelope = key.seal.Seal(envelope, nil, nil, append(associated, plain...))
	}
	return append(envelope, plain...), nil
}

// Open returns the text of an envelope. It may share memory with the envelope.
// What lies behind the associated data, where it has room, is overwritten. An
// envelope that is empty, of an unknown version or not the one that was sealed here is
// ErrUnavailable.
func (r *Ring) Open(key OwnerKey, associated, envelope []byte) ([]byte, error) {
	if key.IsZero() {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "open: there is no key")
	}
	if err := versionIs(versionMAC, envelope); err != nil {
		return nil, err
	}
	mac, plain := envelope[1:1+macSize], envelope[1+macSize:]
	if r.unchecked {
		return plain, nil
	}
	if _, err := key.seal.Open(nil, nil, mac, append(associated, plain...)); err != nil {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "open envelope: its MAC does not fit")
	}
	return plain, nil
}

// OpenPlain returns the text of an envelope of version 0, which nothing
// vouches for, and UnwrapPlain a key from one. They are for the step of a
// schema that seals anew what was written before there were MACs.
func (r *Ring) OpenPlain(envelope []byte) ([]byte, error) {
	if err := versionIs(versionPlain, envelope); err != nil {
		return nil, err
	}
	return envelope[1:], nil
}

// SealPlain makes an envelope of version 0, for a program that is older.
func (r *Ring) SealPlain(plain []byte) []byte { return append([]byte{versionPlain}, plain...) }

// UnwrapPlain returns a key from an envelope of version 0; see OpenPlain.
func (r *Ring) UnwrapPlain(envelope []byte) (OwnerKey, error) {
	secret, err := r.OpenPlain(envelope)
	if err != nil {
		return OwnerKey{}, err
	}
	return r.unwrap(secret)
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

// newKey derives from a secret what stands for it in each use.
func newKey(secret []byte) (OwnerKey, error) {
	block, err := aes.NewCipher(derive(secret, "yiku.keyring.seal"))
	if err != nil {
		return OwnerKey{}, yiku.Errorf(yiku.ErrUnavailable, "make owner key: %v", err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return OwnerKey{}, yiku.Errorf(yiku.ErrUnavailable, "make owner key: %v", err)
	}
	return OwnerKey{secret: string(secret), blind: string(derive(secret, "yiku.keyring.blind")), seal: seal}, nil
}

func derive(secret []byte, use string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(use))
	return h.Sum(nil)
}

// versionIs reports an envelope that is not of a version. A version 1 has
// room for its MAC.
func versionIs(version byte, envelope []byte) error {
	if len(envelope) == 0 {
		return yiku.Errorf(yiku.ErrUnavailable, "open envelope: it is empty")
	}
	if v := envelope[0]; v != version {
		return yiku.Errorf(yiku.ErrUnavailable, "open envelope: version %d is not the one that is read here", v)
	}
	if version == versionMAC && len(envelope) < 1+macSize {
		return yiku.Errorf(yiku.ErrUnavailable, "open envelope: it is too short for its MAC")
	}
	return nil
}
