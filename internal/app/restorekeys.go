package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/internal/drivers"
	"github.com/yiku-ai/yiku/store"
)

// lastKeys are the keys of a database that is about to be replaced: what was
// revoked since the backup must not work again because of a restoration.
type lastKeys struct {
	known  bool // they could be read
	secret []byte
	keys   []store.Key
}

// keyPage is how many keys are read at a time.
const keyPage = 1000

// readLastKeys reads the keys out of a copy of the database, which itself is
// not changed, not even to the present schema.
func readLastKeys(ctx context.Context, cfg config.Config, o Options) (last lastKeys, err error) {
	work, err := workFolder(cfg.DataDir, o.Now())
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if _, err := drivers.Snapshot(ctx, cfg.Store, cfg.DataDir, filepath.Join(work, "yiku.db")); err != nil {
		return last, err
	}
	s, err := drivers.Store(ctx, cfg.Store, drivers.Options{Dir: work, Now: o.Now, NewID: o.NewID, Log: o.Log})
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	keys, err := allKeys(ctx, s)
	return lastKeys{known: err == nil, secret: s.Meta().Secret, keys: keys}, err
}

func allKeys(ctx context.Context, s store.Store) (all []store.Key, err error) {
	err = s.View(ctx, func(r store.Reader) error {
		for after := ""; ; {
			page, err := r.Keys("", after, keyPage)
			all = append(all, page...)
			if err != nil || len(page) < keyPage {
				return err
			}
			after = page[len(page)-1].ID
		}
	})
	return all, err
}

// KeysRestored says what became of the keys.
type KeysRestored struct {
	Carried int  // keys that were made since the backup
	Revoked int  // keys that were revoked since
	Known   bool // whether there was something to compare with: else all keys are as of the backup
	Closed  bool // the store has no key, and nobody knows whether it should: it is closed until one is made
}

// carryKeys brings the keys of a restored store to where those of the one that
// it replaces were. A store that another secret proves to be a different one
// says nothing of these keys. Where replaced says that there was a database
// that said nothing, a store without keys is closed by a key that nobody has:
// it would let everyone on this machine in who needed a key before.
func carryKeys(ctx context.Context, s store.Store, last lastKeys, replaced bool, o Options) (done KeysRestored, err error) {
	now, err := allKeys(ctx, s)
	if err != nil {
		return done, err
	}
	if done.Known = last.known && bytes.Equal(last.secret, s.Meta().Secret); !done.Known {
		if done.Closed = replaced && len(now) == 0; done.Closed {
			id, _, hash := credential.New(s.Meta().Secret).NewKey()
			dead := store.Key{Hash: hash, Key: yiku.Key{ID: id, Name: "restore", Access: yiku.AccessRead, CreatedAt: o.Now()}, Tenant: DefaultTenant}
			dead.RevokedAt = o.Now()
			err = carryKey(ctx, s, dead, true)
		}
		return done, err
	}
	known := map[string]store.Key{}
	for _, k := range now {
		known[k.ID] = k
	}
	for _, k := range last.keys {
		old, there := known[k.ID]
		if there && (k.RevokedAt.IsZero() || !old.RevokedAt.IsZero()) {
			continue
		}
		err := carryKey(ctx, s, k, !there)
		if errors.Is(err, yiku.ErrLimited) && !k.RevokedAt.IsZero() {
			continue // no room for a key that lets nobody in anyway
		}
		if err != nil {
			return done, err
		}
		if there {
			done.Revoked++
		} else {
			done.Carried++
		}
	}
	return done, nil
}

// carryKey writes a key, where it is new, and its revocation.
func carryKey(ctx context.Context, s store.Store, k store.Key, add bool) error {
	shared, err := yiku.SharedOwner(k.Tenant)
	if err != nil {
		return err
	}
	return s.Update(ctx, shared, store.Request, func(tx store.Tx) error {
		if add {
			added := k
			if err := tx.PutKey(&added); err != nil {
				return err
			}
		}
		if k.RevokedAt.IsZero() {
			return nil
		}
		return tx.RevokeKey(k.ID, k.RevokedAt)
	})
}
