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
	sqlRevokeKey = `UPDATE api_keys SET revoked_at = ?, body = ? WHERE id = ?`
	sqlKeyPlace  = `SELECT rowid FROM api_keys WHERE id = ?`
	sqlCountKeys = `SELECT count(*) FROM api_keys WHERE ?1 = 0 OR tenant = ?1`

	// A key is looked for among its tenant's own: found by its id, another
	// tenant's would take longer to refuse than one that does not exist (R30).
	sqlTenantKeyPlace = `SELECT rowid FROM api_keys WHERE tenant = ?1 AND +id = ?2`

	sqlKeyColumns = `SELECT id, hash, tenant, access, body, created_at, coalesce(expires_at, -62135596800000000),
		coalesce(revoked_at, -62135596800000000) FROM api_keys `
	sqlKeysOf  = sqlKeyColumns + `WHERE tenant = ?1 AND rowid > ?2 ORDER BY rowid LIMIT ?3`
	sqlOneKey  = sqlKeyColumns + `WHERE tenant = ?2 AND +id = ?1` // as sqlTenantKeyPlace
	sqlAllKeys = sqlKeyColumns + `WHERE rowid > ?1 ORDER BY rowid LIMIT ?2`
)

// KeyVersion is the number of updates that wrote keys; see store.KeyVersioner.
func (s *Store) KeyVersion() int64 { return s.keys.Load() }

func (s *Store) tenantMark(tenant string) []byte { return s.ring.Blind(s.self.key, "tenant", tenant) }

// tenant is a tenant's number; 0 where there is none.
func (r *reader) tenant(name string) (int64, error) {
	n, err := r.c.number(sqlTenantByMark, r.s.tenantMark(name))
	return n, foreign("read tenant", err)
}

// tenantName is the name of the tenant with a number.
func (r *reader) tenantName(number int64) (name string, err error) {
	_, err = r.c.one(sqlTenantBody, func(st *sqlite3.Stmt) error {
		plain, err := r.open(r.s.self, r.c.at("tenants", number), st.ColumnRawBlob(0))
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
		if number == 0 {
			from, err = r.c.number(sqlKeyPlace, after)
		} else {
			from, err = r.c.number(sqlTenantKeyPlace, number, after)
		}
		if err != nil {
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
		k, err := r.readKey(st)
		list, tenants = append(list, k), append(tenants, st.ColumnInt64(2))
		return err
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

func (r *reader) readKey(st *sqlite3.Stmt) (k store.Key, err error) {
	k.ID, k.Hash, k.Access = st.ColumnText(0), st.ColumnBlob(1, nil), yiku.Access(st.ColumnText(3))
	k.CreatedAt, k.ExpiresAt, k.RevokedAt = instant(st.ColumnInt64(5)), instant(st.ColumnInt64(6)), instant(st.ColumnInt64(7))
	plain, err := r.open(r.s.self, r.c.keyPlace(&k, st.ColumnInt64(2)), st.ColumnRawBlob(4))
	if err != nil {
		return k, err
	}
	u := unpack(plain)
	k.Name, k.UserID = u.next(), u.next()
	return k, u.err()
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
		row := *k
		row.RevokedAt = time.Time{}
		body, err := t.sealKey(&row, number)
		if err != nil {
			return err
		}
		*t.keys = true
		return t.c.run(sqlAddKey, k.ID, k.Hash, number, string(k.Access), body, k.CreatedAt, k.ExpiresAt)
	})
}

func (t *tx) sealKey(k *store.Key, tenant int64) ([]byte, error) {
	return t.seal(t.s.self, t.c.keyPlace(k, tenant), pack(k.Name, k.UserID))
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
	body, err := t.seal(t.s.self, t.c.at("tenants", number), []byte(name))
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
	var k store.Key
	found, err := t.c.one(sqlOneKey, func(st *sqlite3.Stmt) error {
		k, err = t.readKey(st)
		return err
	}, id, number)
	if err == nil && !found {
		return notFound("revoke key")
	}
	if err != nil || !k.RevokedAt.IsZero() {
		return foreign("revoke key", err)
	}
	k.RevokedAt = at
	micro(&k.RevokedAt)
	body, err := t.sealKey(&k, number)
	if err != nil {
		return err
	}
	*t.keys = true
	return foreign("revoke key", t.c.run(sqlRevokeKey, k.RevokedAt, body, id))
}
