package storetest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

func keyTests() map[string]func(*env) {
	return map[string]func(*env){
		"F3_Keys": keysKept, "F3_KeyRevoked": keyRevoked, "F3_KeyUnique": keyUnique, "F3_KeyVersion": keyVersion, "F3_KeyLimit": keyLimit,
	}
}

// apiKey is a key with a hash of its own.
func apiKey(id string) *store.Key {
	k := &store.Key{Hash: bytes.Repeat([]byte(id[len(id)-1:]), 31)}
	k.Hash = append(k.Hash, id[0])
	k.ID, k.Name, k.Access, k.CreatedAt = id, "名字 of "+id, yiku.AccessRead, At(0).Add(1234*time.Nanosecond)
	return k
}

// tenant is the shared owner of the tenant of an owner.
func (e *env) tenant(o yiku.Owner) yiku.Owner {
	e.t.Helper()
	shared, err := yiku.SharedOwner(o.Tenant())
	if err != nil {
		e.t.Fatal(err)
	}
	return shared
}

func (e *env) putKeys(o yiku.Owner, keys ...*store.Key) {
	e.t.Helper()
	e.updateAs(e.tenant(o), func(tx store.Tx) error {
		for _, k := range keys {
			if err := tx.PutKey(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// keysOf lists what a tenant's keys are, and asserts that the count is theirs.
func (e *env) keysOf(tenant, after string, limit int) (list []store.Key) {
	e.t.Helper()
	e.view(func(r store.Reader) (err error) {
		list, err = r.Keys(tenant, after, limit)
		return err
	})
	return list
}

func keyIDs(list []store.Key) string {
	var ids []string
	for _, k := range list {
		ids = append(ids, k.ID)
	}
	return strings.Join(ids, " ")
}

// keysKept: keys come back whole, in the order in which they were added, to
// their own tenant and to whoever asks for all.
func keysKept(e *env) {
	a, b, c := apiKey("zA"), apiKey("aB"), apiKey("mC")
	a.ExpiresAt, a.Access, b.UserID, b.Access, b.Name = At(9), yiku.AccessAdmin, "王小明", yiku.AccessWrite, ""
	e.putKeys(e.owner, a)
	e.putKeys(e.alien, c)
	e.putKeys(e.neighbour, b)
	if a.Tenant != "acme" || c.Tenant != "globex" || !a.CreatedAt.Equal(At(0).Add(time.Microsecond)) {
		e.t.Errorf("the key was set to %+v", a)
	}
	e.same("all", []store.Key{*a, *c, *b}, e.keysOf("", "", 9))
	e.same("of a tenant", []store.Key{*a, *b}, e.keysOf("acme", "", 9))
	e.same("after one", []store.Key{*b}, e.keysOf("acme", "zA", 9))
	e.same("all after one", []store.Key{*c}, e.keysOf("", "zA", 1))
	e.same("of another", []store.Key{*c}, e.keysOf("globex", "", 9))
	e.same("of none", 0, len(e.keysOf("nobody", "", 9))+len(e.keysOf("ACME", "", 9)))
	e.view(func(r store.Reader) error {
		for tenant, want := range map[string]int{"": 3, "acme": 2, "globex": 1, "nobody": 0} {
			n, err := r.CountKeys(tenant)
			if n != want || err != nil {
				e.t.Errorf("CountKeys(%q) = %d, %v; want %d", tenant, n, err, want)
			}
		}
		_, err := r.Keys("globex", "zA", 9)
		e.want("Keys after another tenant's", err, yiku.ErrNotFound)
		_, err = r.Keys("", "none", 9)
		e.want("Keys after none", err, yiku.ErrNotFound)
		return nil
	})
}

func keyRevoked(e *env) {
	a := apiKey("kA")
	e.putKeys(e.owner, a)
	e.putKeys(e.alien, apiKey("kC")) // a tenant that has keys, and one that has none
	for _, o := range []yiku.Owner{e.alien, Owner(e.t, "nobody", "x")} {
		err := e.s.Update(context.Background(), o, store.Request, func(tx store.Tx) error { return tx.RevokeKey("kA", At(1)) })
		e.want("RevokeKey of another tenant", err, yiku.ErrNotFound)
	}
	err := e.s.Update(context.Background(), e.tenant(e.owner), store.Request, func(tx store.Tx) error { return tx.RevokeKey("kB", At(1)) })
	e.want("RevokeKey of none", err, yiku.ErrNotFound)
	e.same("before", []store.Key{*a}, e.keysOf("acme", "", 9))
	for _, minute := range []int{2, 3} {
		e.updateAs(e.tenant(e.owner), func(tx store.Tx) error { return tx.RevokeKey("kA", At(minute)) })
	}
	a.RevokedAt = At(2)
	e.same("after", []store.Key{*a}, e.keysOf("acme", "", 9))
}

// keyUnique: an id or a hash stands once in the store, and what was refused
// has written nothing.
func keyUnique(e *env) {
	a := apiKey("kA")
	e.putKeys(e.owner, a)
	sameID, sameHash := apiKey("kA"), apiKey("kB")
	sameID.Hash, sameHash.Hash = apiKey("kC").Hash, a.Hash
	e.updateAs(e.tenant(e.alien), func(tx store.Tx) error {
		e.want("the same id", tx.PutKey(sameID), yiku.ErrConflict)
		e.want("the same hash", tx.PutKey(sameHash), yiku.ErrConflict)
		return tx.PutKey(apiKey("kD"))
	})
	e.same("keys", "kA kD", keyIDs(e.keysOf("", "", 9)))
}

// keyVersion: the number changes with what is written, not with other writes,
// and what was undone is not there.
func keyVersion(e *env) {
	v0 := e.s.KeyVersion()
	e.memories("m")
	if v := e.s.KeyVersion(); v != v0 {
		e.t.Errorf("a memory changed the version to %d", v)
	}
	e.putKeys(e.owner, apiKey("kA"))
	v1 := e.s.KeyVersion()
	e.updateAs(e.tenant(e.owner), func(tx store.Tx) error { return tx.RevokeKey("kA", At(1)) })
	v2 := e.s.KeyVersion()
	if v0 == v1 || v1 == v2 || v0 == v2 {
		e.t.Errorf("versions %d, %d, %d", v0, v1, v2)
	}
	undone := errors.New("undone")
	err := e.s.Update(context.Background(), e.tenant(e.owner), store.Request, func(tx store.Tx) error {
		return errors.Join(tx.PutKey(apiKey("kB")), undone)
	})
	e.want("an update that fails", err, undone)
	e.same("keys", "kA", keyIDs(e.keysOf("", "", 9)))
}

// keyLimit: a tenant has at most so many keys that are not revoked.
func keyLimit(e *env) {
	shared := e.tenant(e.owner)
	put := func(tx store.Tx, i int) error {
		k := apiKey("k" + number(i) + "A")
		k.Hash = []byte("hash of " + k.ID)
		return tx.PutKey(k)
	}
	e.updateAs(shared, func(tx store.Tx) error {
		for i := range yiku.MaxLiveKeys {
			if err := put(tx, i); err != nil {
				return err
			}
		}
		e.want("one more", put(tx, 9000), yiku.ErrLimited)
		if err := tx.RevokeKey("k007A", At(1)); err != nil {
			return err
		}
		return put(tx, 9001)
	})
	e.putKeys(e.alien, apiKey("other"))
}
