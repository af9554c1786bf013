package sqlite

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// The schema's versions. latest is what this program reads and writes.
const latest = 8

// resealing is the migration that gives envelopes a MAC.
const resealing = 2

// migrations holds the files NNNN_name.up.sql and NNNN_name.down.sql.
//
//go:embed migration/*.sql
var migrations embed.FS

const (
	sqlCreateMeta = `CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID`
	sqlNewStore   = `INSERT INTO meta (name, value) VALUES ('key', ?), ('generation', ?)`
)

// migration is one step of the schema.
type migration struct {
	number   int
	up, down string
}

// checksum tells a migration from one that was changed after it ran.
func (m migration) checksum() []byte {
	sum := sha256.Sum256([]byte(m.up))
	return sum[:]
}

func (m migration) name() string { return fmt.Sprintf("migration.%04d", m.number) }

// steps reads the embedded migrations in their order.
func steps() ([]migration, error) {
	var list []migration
	for n := 1; n <= latest; n++ {
		m := migration{number: n}
		for suffix, into := range map[string]*string{"up": &m.up, "down": &m.down} {
			names, err := migrations.ReadDir("migration")
			if err != nil {
				return nil, unavailable("read migrations", err)
			}
			for _, f := range names {
				var number int
				if _, err := fmt.Sscanf(f.Name(), "%04d_", &number); err != nil || number != n ||
					!bytes.HasSuffix([]byte(f.Name()), []byte("."+suffix+".sql")) {
					continue
				}
				text, err := migrations.ReadFile("migration/" + f.Name())
				if err != nil {
					return nil, unavailable("read migrations", err)
				}
				*into = string(text)
			}
		}
		if m.up == "" || m.down == "" {
			return nil, yiku.Errorf(yiku.ErrUnavailable, "migration %d is not complete", n)
		}
		list = append(list, m)
	}
	return list, nil
}

// migrate brings the schema to a version, up or down, one transaction a step.
// A step that ran with another text than this program's is refused, and so is
// a schema that is newer than the program.
func (s *Store) migrate(c *conn, to int) error {
	list, err := steps()
	if err != nil {
		return err
	}
	if err := c.run(sqlCreateMeta); err != nil {
		return foreign("make meta", err)
	}
	have, err := c.schema()
	if err != nil {
		return err
	}
	if have > latest {
		return yiku.Errorf(yiku.ErrUnavailable, "the store has schema %d, this program knows %d", have, latest)
	}
	for _, m := range list[:have] {
		sum, err := c.metaValue(m.name())
		if err != nil {
			return err
		}
		if !bytes.Equal(sum, m.checksum()) {
			return yiku.Errorf(yiku.ErrUnavailable, "migration %d was another one when it ran", m.number)
		}
	}
	for ; have < to; have++ {
		if err := s.step(c, list[have], true); err != nil {
			return err
		}
	}
	for ; have > to; have-- {
		if err := s.step(c, list[have-1], false); err != nil {
			return err
		}
	}
	return nil
}

// step runs one migration in one transaction. The second one is more than its
// text: all envelopes are sealed anew.
func (s *Store) step(c *conn, m migration, up bool) (err error) {
	if err := c.run(sqlBeginNow); err != nil {
		return foreign("begin migration", err)
	}
	defer func() {
		if err != nil && !c.db.GetAutocommit() {
			err = errors.Join(err, c.run(sqlRollback))
		}
	}()
	text := m.up
	if !up {
		text = m.down
	}
	if m.number == resealing && !up {
		if err := s.resealAll(c, up); err != nil {
			return err
		}
	}
	if err := c.db.Exec(text); err != nil {
		return foreign(fmt.Sprintf("migrate to %d", m.number), err)
	}
	if m.number == resealing && up {
		if err := s.resealAll(c, up); err != nil {
			return err
		}
	}
	if up {
		err = c.run(`INSERT INTO meta (name, value) VALUES (?, ?)`, m.name(), m.checksum())
	} else {
		err = c.run(`DELETE FROM meta WHERE name = ?`, m.name())
	}
	if err != nil {
		return foreign("record migration", err)
	}
	s.log.Info("schema migrated", "migration", m.number, "up", up)
	return foreign("commit migration", c.run(sqlCommit))
}

// schema is the number of migrations that have run.
func (c *conn) schema() (int, error) {
	n, err := c.number(`SELECT count(*) FROM meta WHERE name GLOB 'migration.*'`)
	return int(n), foreign("read schema", err)
}

func (c *conn) metaValue(name string) (value []byte, err error) {
	_, err = c.one(`SELECT value FROM meta WHERE name = ?`, func(st *sqlite3.Stmt) error {
		value = st.ColumnBlob(0, nil)
		return nil
	}, name)
	return value, foreign("read meta", err)
}

// readMeta reads which store this is, and makes a new one's generation and key.
// The store's key makes owners' marks, and the secret for cursors.
func (s *Store) readMeta(c *conn) error {
	at := c.at("meta", 0)
	wrapped, err := c.metaValue("key")
	if err != nil {
		return err
	}
	if wrapped == nil {
		key, err := s.ring.NewOwnerKey()
		if err != nil {
			return err
		}
		if wrapped, err = s.ring.Wrap(key, at.covers); err != nil {
			return err
		}
		if err := c.run(sqlNewStore, wrapped, []byte(s.newID())); err != nil {
			return foreign("write meta", err)
		}
	}
	own, err := s.ring.Unwrap(wrapped, c.at("meta", 0).covers)
	if err != nil {
		return damaged(at, err)
	}
	s.self = &ownerRef{key: own}
	generation, err := c.metaValue("generation")
	if err != nil {
		return err
	}
	if len(generation) == 0 {
		return yiku.Errorf(yiku.ErrUnavailable, "the store's meta table is not complete")
	}
	journal, err := c.metaValue("journal")
	if err != nil {
		return err
	}
	model, err := c.metaValue("model")
	if err != nil {
		return err
	}
	schema, err := c.schema()
	if err != nil {
		return err
	}
	secret := append(s.ring.Blind(own, "meta.secret", "1"), s.ring.Blind(own, "meta.secret", "2")...)
	s.meta = store.Meta{Generation: string(generation), Journal: string(journal), Model: string(model), Schema: schema, Secret: secret}
	return nil
}
