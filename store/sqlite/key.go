package sqlite

import (
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlTenantByMark = `SELECT number FROM tenants WHERE mark = ?`
	sqlNextTenant   = `SELECT coalesce(max(number), 0) + 1 FROM tenants`
	sqlAddTenant    = `INSERT INTO tenants (number, mark, body, created_at) VALUES (?, ?, ?, ?)`
	sqlTenantBody   = `SELECT body FROM tenants WHERE number = ?`

	sqlAddKey    = `INSERT INTO api_keys (id, hash, tenant, access, body, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`
	sqlLiveKeys  = `SELECT count(*) FROM api_keys WHERE tenant = ? AND revoked_at IS NULL`
	sqlRevokeKey = `UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`
	sqlKeyPlace  = `SELECT rowid FROM api_keys WHERE id = ?1 AND (?2 = 0 OR tenant = ?2)`
	sqlCountKeys = `SELECT count(*) FROM api_keys WHERE ?1 = 0 OR tenant = ?1`

	sqlKeyColumns = `SELECT id, hash, tenant, access, body, created_at, coalesce(expires_at, -62135596800000000),
		coalesce(revoked_at, -62135596800000000) FROM api_keys `
	sqlKeysOf  = sqlKeyColumns + `WHERE tenant = ?1 AND rowid > ?2 ORDER BY rowid LIMIT ?3`
	sqlAllKeys = sqlKeyColumns + `WHERE rowid > ?1 ORDER BY rowid LIMIT ?2`
)

// KeyVersion is the number of updates that wrote keys; see store.KeyVersioner.
func (s *Store) KeyVersion() int64 { return s.keys.Load() }

func (s *Store) tenantMark(tenant string) []byte { return s.ring.Blind(s.secret, "tenant", tenant) }

// tenant is a tenant's number; 0 where there is none.
func (r *reader) tenant(name string) (int64, error) {
	n, err := r.c.number(sqlTenantByMark, r.s.tenantMark(name))
	return n, foreign("read tenant", err)
}

// tenantName is the name of the tenant with a number.
func (r *reader) tenantName(number int64) (name string, err error) {
	_, err = r.c.one(sqlTenantBody, func(st *sqlite3.Stmt) error {
		plain, err := r.s.ring.Open(r.s.secret, place("tenants.body", number), st.ColumnRawBlob(0))
		name = string(plain)
		return err
	}, number)
	return name, foreign("read tenant", err)
}

// Keys lists keys; see store.KeyReader.
func (r *reader) Keys(tenant, after string, limit int) ([]store.Key, error) {
	var number, from int64
	if tenant != "" {
		var err error
		if number, err = r.tenant(tenant); err != nil || number == 0 {
			return nil, err
		}
	}
	if after != "" {
		var err error
		if from, err = r.c.number(sqlKeyPlace, after, number); err != nil {
			return nil, foreign("list keys", err)
		}
		if from == 0 {
			return nil, notFound("list keys")
		}
	}
	if number == 0 {
		return r.keys(sqlAllKeys, from, limit)
	}
	return r.keys(sqlKeysOf, number, from, limit)
}

// keys reads the rows of a list of keys, with their tenants.
func (r *reader) keys(sql string, args ...any) ([]store.Key, error) {
	var list []store.Key
	var tenants []int64
	err := r.c.each(sql, func(st *sqlite3.Stmt) error {
		k := store.Key{Hash: st.ColumnBlob(1, nil)}
		k.ID, k.Access = st.ColumnText(0), yiku.Access(st.ColumnText(3))
		k.CreatedAt = instant(st.ColumnInt64(5))
		for i, t := range []*time.Time{&k.ExpiresAt, &k.RevokedAt} {
			if us := st.ColumnInt64(6 + i); us != noTime {
				*t = instant(us)
			}
		}
		plain, err := r.s.ring.Open(r.s.secret, keyPlace(k.ID), st.ColumnRawBlob(4))
		if err != nil {
			return err
		}
		u := unpack(plain)
		k.Name, k.UserID = u.next(), u.next()
		list, tenants = append(list, k), append(tenants, st.ColumnInt64(2))
		return u.err()
	}, args...)
	if err != nil {
		return nil, foreign("list keys", err)
	}
	names := map[int64]string{}
	for i, number := range tenants {
		if names[number] == "" {
			if names[number], err = r.tenantName(number); err != nil {
				return nil, err
			}
		}
		list[i].Tenant = names[number]
	}
	return list, nil
}

// CountKeys counts keys; see store.KeyReader.
func (r *reader) CountKeys(tenant string) (int, error) {
	var number int64
	if tenant != "" {
		var err error
		if number, err = r.tenant(tenant); err != nil || number == 0 {
			return 0, err
		}
	}
	n, err := r.c.number(sqlCountKeys, number)
	return int(n), foreign("count keys", err)
}

// PutKey adds a key; see store.KeyWriter.
func (t *tx) PutKey(k *store.Key) error {
	return t.atomic("put key", func() error {
		k.Tenant = t.own.owner.Tenant()
		micro(&k.CreatedAt, &k.ExpiresAt)
		number, err := t.addTenant(k.Tenant)
		if err != nil {
			return err
		}
		live, err := t.c.number(sqlLiveKeys, number)
		if err != nil {
			return err
		}
		if live >= yiku.MaxLiveKeys {
			return yiku.Errorf(yiku.ErrLimited, "there are %d keys that are not revoked; revoke some first", live)
		}
		body, err := t.s.ring.Seal(t.s.secret, keyPlace(k.ID), pack(k.Name, k.UserID))
		if err != nil {
			return err
		}
		*t.keys = true
		return t.c.run(sqlAddKey, k.ID, k.Hash, number, string(k.Access), body, k.CreatedAt, k.ExpiresAt)
	})
}

// addTenant returns the tenant's number and adds it where it is new.
func (t *tx) addTenant(name string) (int64, error) {
	number, err := t.tenant(name)
	if err != nil || number != 0 {
		return number, err
	}
	if number, err = t.c.number(sqlNextTenant); err != nil {
		return 0, err
	}
	body, err := t.s.ring.Seal(t.s.secret, place("tenants.body", number), []byte(name))
	if err != nil {
		return 0, err
	}
	return number, t.c.run(sqlAddTenant, number, t.s.tenantMark(name), body, t.s.now())
}

// RevokeKey revokes a key; see store.KeyWriter.
func (t *tx) RevokeKey(id string, at time.Time) error {
	number, err := t.tenant(t.own.owner.Tenant())
	if err != nil {
		return err
	}
	if number == 0 {
		return notFound("revoke key")
	}
	row, err := t.c.number(sqlKeyPlace, id, number)
	if err != nil {
		return foreign("revoke key", err)
	}
	if row == 0 {
		return notFound("revoke key")
	}
	micro(&at)
	*t.keys = true
	return foreign("revoke key", t.c.run(sqlRevokeKey, at, id))
}

// keyPlace names a key's row as associated data of its envelope.
func keyPlace(id string) []byte { return append([]byte("api_keys.body\x00"), id...) }
