package sqlite

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlUsage = `SELECT o.messages, o.memories, o.bytes, coalesce(t.owners, 0)
	FROM owners o LEFT JOIN tenants t ON t.number = o.tenant WHERE o.number = ?`
	sqlTenantless = `SELECT number, body FROM owners WHERE tenant IS NULL AND body <> x'' ORDER BY number`
	sqlPutTenant  = `UPDATE owners SET tenant = ? WHERE number = ?`
)

// Usage tells how much an owner has; see store.Reader. Triggers keep the
// numbers (migrations 3 and 8).
func (r *reader) Usage(owner yiku.Owner) (u store.Usage, err error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return u, err
	}
	_, err = r.c.one(sqlUsage, func(st *sqlite3.Stmt) error {
		u.Messages, u.Memories = st.ColumnInt(0), st.ColumnInt(1)
		u.Bytes, u.TenantOwners = st.ColumnInt64(2), st.ColumnInt(3)
		return nil
	}, o.number)
	return u, foreign("read usage", err)
}

// nameTenants gives the owners that are older than the count of owners their
// tenant, which stands in their envelopes only.
func (s *Store) nameTenants(c *conn) (err error) {
	t := &tx{reader: reader{s: s, c: c}}
	tenants := map[int64]string{}
	err = c.each(sqlTenantless, func(st *sqlite3.Stmt) error {
		o, err := t.readOwner(st.ColumnInt64(0), st.ColumnRawBlob(1))
		tenants[st.ColumnInt64(0)] = o.Tenant()
		return err
	})
	if err != nil || len(tenants) == 0 {
		return foreign("read owners", err)
	}
	if err := c.run(sqlBeginNow); err != nil {
		return foreign("begin", err)
	}
	defer func() {
		if err != nil && !c.db.GetAutocommit() {
			err = errors.Join(err, c.run(sqlRollback))
		}
	}()
	for number, tenant := range tenants {
		n, err := t.addTenant(tenant)
		if err == nil {
			err = c.run(sqlPutTenant, n, number)
		}
		if err != nil {
			return foreign("write tenant of owner", err)
		}
	}
	return foreign("commit tenants of owners", c.run(sqlCommit))
}
