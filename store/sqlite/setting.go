package sqlite

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	settingColumns = `name, version, updated_at, body, tenant FROM settings`
	sqlSetting     = `SELECT ` + settingColumns + ` WHERE tenant = ? AND name = ?`
	sqlPutSetting  = `INSERT INTO settings (tenant, name, body, version, updated_at) VALUES (?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET body = excluded.body, version = excluded.version, updated_at = excluded.updated_at`
	sqlWalkSettings = `SELECT ` + settingColumns + ` WHERE tenant > 0`
)

// Setting returns a tenant's setting; see store.SettingReader.
func (r *reader) Setting(tenant, name string) (s store.Setting, err error) {
	number, err := r.tenant(tenant)
	if err != nil {
		return s, err
	}
	found, err := r.c.one(sqlSetting, func(st *sqlite3.Stmt) error {
		s, err = r.readSetting(st)
		return err
	}, number, name)
	if err == nil && !found {
		return store.Setting{}, notFound("setting")
	}
	return s, foreign("read setting", err)
}

func (r *reader) readSetting(st *sqlite3.Stmt) (store.Setting, error) {
	s := store.Setting{Name: st.ColumnText(0), Version: st.ColumnInt64(1), UpdatedAt: instant(st.ColumnInt64(2))}
	plain, err := r.open(r.s.self, r.c.settingPlace(&s, st.ColumnInt64(4)), st.ColumnRawBlob(3))
	s.Body = append([]byte(nil), plain...)
	return s, err
}

// PutSetting writes a tenant's setting; see store.SettingWriter.
func (t *tx) PutSetting(s *store.Setting) error {
	return t.atomic("write setting", func() error {
		number, err := t.addTenant(t.own.owner.Tenant())
		if err != nil {
			return err
		}
		row := *s
		micro(&row.UpdatedAt)
		have, err := t.Setting(t.own.owner.Tenant(), row.Name)
		if err != nil && !errors.Is(err, yiku.ErrNotFound) {
			return err
		}
		row.Version = have.Version + 1
		body, err := t.seal(t.s.self, t.c.settingPlace(&row, number), row.Body)
		if err != nil {
			return err
		}
		if err := t.c.run(sqlPutSetting, number, row.Name, body, row.Version, row.UpdatedAt); err != nil {
			return err
		}
		*s = row
		return nil
	})
}
