package store

import (
	"time"

	"github.com/yiku-ai/yiku"
)

// Key is an API key's row. Its secret is nowhere; Hash is what a genuine one
// hashes to (internal/credential). Name and UserID are sealed.
type Key struct {
	yiku.Key
	Tenant string
	Hash   []byte
}

// KeyReader is what a Reader adds to tell credentials by. Keys belong to
// tenants, not to owners.
type KeyReader interface {
	// Keys lists the keys of a tenant, or of all tenants where it is empty, in
	// the order in which they were added, expired and revoked ones among them:
	// those after the one with the id after ("" from the first; an id that no
	// listed key has is ErrNotFound), at most limit. An unknown tenant has none.
	Keys(tenant, after string, limit int) ([]Key, error)
	// CountKeys counts what Keys would list without after and limit.
	CountKeys(tenant string) (int, error)
}

// KeyWriter is what a Tx adds to manage credentials. It writes keys of the
// tenant of the Tx's owner, usually the tenant's shared one. Keys are outside
// the sequence and are never deleted.
type KeyWriter interface {
	// PutKey adds a key; it sets Tenant. An ID or Hash that any tenant's key
	// has is ErrConflict. A tenant that has yiku.MaxLiveKeys keys that are not
	// revoked gets no further one: ErrLimited.
	PutKey(k *Key) error
	// RevokeKey sets when a key was revoked; one that is revoked already stays
	// as it is. A key of another tenant is an absent one.
	RevokeKey(id string, at time.Time) error
}

// KeyVersioner is what a Store adds so that credentials can be kept in memory.
type KeyVersioner interface {
	// KeyVersion is a number that is another one after every Update that wrote
	// keys through this Store, before that Update returns. It does no I/O: it
	// may be asked for on every request. What other processes write need not
	// show in it: whoever keeps keys reads them again every few seconds too.
	KeyVersion() int64
}
