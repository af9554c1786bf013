package sqlite

import (
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/keyring"
)

// reseal seals the envelopes that a walk opens anew: from version 0 to 1, or
// back. It is a step of the schema, and runs in its transaction.
type reseal struct {
	ring *keyring.Ring
	up   bool
	made []resealed
}

// resealed is an envelope that is to be written.
type resealed struct {
	place    place
	envelope []byte
}

// putEnvelope are the statements that put an envelope back: ?1 the envelope,
// ?2 the number of its row, ?3 what names it otherwise.
func putEnvelope() map[string]string {
	return map[string]string{
		"owners":         `UPDATE owners SET body = ?1 WHERE number = ?2`,
		"owners.wrapped": `UPDATE owners SET wrapped = ?1 WHERE number = ?2`,
		"owners.state":   `UPDATE owners SET state = ?1 WHERE number = ?2`,
		"owners.held":    `UPDATE owners SET state = ?1 WHERE number = ?2`,
		"tenants":        `UPDATE tenants SET body = ?1 WHERE number = ?2`,
		"audit":          `UPDATE audit SET body = ?1 WHERE n = ?2`,
		"api_keys":       `UPDATE api_keys SET body = ?1 WHERE tenant = ?2 AND id = ?3`,
		"settings":       `UPDATE settings SET body = ?1 WHERE tenant = ?2 AND name = ?3`,
		"working":        `UPDATE working SET body = ?1 WHERE owner = ?2 AND place_mark = ?3`,
		"sessions":       `UPDATE sessions SET body = ?1 WHERE key = ?2`,
		"tasks":          `UPDATE tasks SET body = ?1 WHERE key = ?2`,
		"messages":       `UPDATE messages SET body = ?1 WHERE key = ?2`,
		"summaries":      `UPDATE summaries SET body = ?1 WHERE key = ?2`,
		"memories":       `UPDATE memories SET body = ?1 WHERE key = ?2`,
		"facts":          `UPDATE facts SET body = ?1 WHERE key = ?2`,
		"episodes":       `UPDATE episodes SET body = ?1 WHERE key = ?2`,
		"skills":         `UPDATE skills SET body = ?1 WHERE key = ?2`,
		"versions":       `UPDATE versions SET body = ?1 WHERE key = ?2`,
		"snapshots":      `UPDATE snapshots SET body = ?1 WHERE key = ?2`,
		"idempotency":    `UPDATE idempotency SET body = ?1 WHERE key = ?2`,
		"jobs":           `UPDATE jobs SET body = ?1 WHERE key = ?2`,
		"jobs.error":     `UPDATE jobs SET error = ?1 WHERE key = ?2`,
		"extractions":    `UPDATE extractions SET body = ?1 WHERE key = ?2`,
		"forgets":        `UPDATE forgets SET body = ?1 WHERE key = ?2`,
		"receipts":       `UPDATE receipts SET body = ?1 WHERE key = ?2`,
	}
}

// resealAll seals everything anew on the connection's transaction.
func (s *Store) resealAll(c *conn, up bool) error {
	wrapped, err := c.metaValue("key")
	if err != nil || wrapped == nil { // a store that is just being made holds nothing
		return err
	}
	r := &reader{s: s, c: c, reseal: &reseal{ring: s.ring, up: up}}
	p := c.at("meta", 0)
	key, err := r.rewrap(p, wrapped)
	if err != nil {
		return err
	}
	if err := c.run(`UPDATE meta SET value = ? WHERE name = 'key'`, r.reseal.made[0].envelope); err != nil {
		return foreign("seal meta", err)
	}
	r.reseal.made = nil
	s.self = &ownerRef{key: key}
	return r.walk(func(_ string, err error) error { return err })
}

// anew opens an envelope in the form that it has, and seals it in the one that
// it shall have.
func (x *reseal) anew(key keyring.OwnerKey, p place, envelope []byte) ([]byte, error) {
	plain, err := []byte(nil), error(nil)
	switch {
	case !x.up:
		plain, err = x.ring.Open(key, p.covers, envelope)
	case p.table != "owners.state": // which had no envelope
		plain, err = x.ring.OpenPlain(envelope)
	}
	if err != nil {
		return nil, damaged(p, err)
	}
	plain = append([]byte{}, plain...)
	var sealed []byte
	if x.up {
		if sealed, err = x.ring.Seal(key, p.covers, plain); err != nil {
			return nil, err
		}
	} else {
		sealed = x.ring.SealPlain(plain)
	}
	p.covers = nil
	x.made = append(x.made, resealed{p, sealed})
	return plain, nil
}

// rewrap is anew for an owner's key.
func (r *reader) rewrap(p place, envelope []byte) (key keyring.OwnerKey, err error) {
	x := r.reseal
	if x.up {
		key, err = x.ring.UnwrapPlain(envelope)
	} else {
		key, err = x.ring.Unwrap(envelope, p.covers)
	}
	if err != nil {
		return key, damaged(p, err)
	}
	_, err = x.anew(key, p, envelope)
	return key, err
}

// put writes what was sealed anew since the last time.
func (r *reader) put() error {
	if r.reseal == nil {
		return nil
	}
	statements := putEnvelope()
	for _, e := range r.reseal.made {
		args := []any{e.envelope, e.place.row}
		if e.place.id != nil {
			args = append(args, e.place.id)
		}
		if err := r.c.run(statements[e.place.table], args...); err != nil {
			return foreign("seal "+e.place.table, err)
		}
		if r.c.db.Changes() != 1 {
			return yiku.Errorf(yiku.ErrUnavailable, "row %d of table %s is not there", e.place.row, e.place.table)
		}
	}
	r.reseal.made = r.reseal.made[:0]
	return nil
}
