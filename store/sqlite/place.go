package sqlite

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/keyring"
	"github.com/yiku-ai/yiku/store"
)

// place is where an envelope lies, and what stands beside it in plain: the
// table, the row, and the columns that decide what a reader gets. The MAC of
// the envelope covers it (R7), so that no row passes for another one, nor for
// an older one of itself. Each table has a function that says what its place
// covers; it takes the row as it is written and as it was read alike.
//
// Columns that only find rows (marks, and what indexes are made of) are not
// covered: where they are wrong a row is missing, which no MAC of the row can
// tell. The checksums of pages see that.
type place struct {
	table  string
	row    int64
	id     any // names the row where no number does
	covers []byte
}

// at begins the place of a row. It is valid until the next one of the connection.
func (c *conn) at(table string, row int64) place {
	b := append(c.covers[:0], table...)
	b = binary.BigEndian.AppendUint64(append(b, 0), uint64(row))
	return place{table: table, row: row, covers: b}
}

func (p place) ints(list ...int64) place {
	for _, n := range list {
		p.covers = binary.BigEndian.AppendUint64(p.covers, uint64(n))
	}
	return p
}

func (p place) floats(list ...float64) place {
	for _, f := range list {
		p.covers = binary.BigEndian.AppendUint64(p.covers, math.Float64bits(f))
	}
	return p
}

func (p place) times(list ...time.Time) place {
	for _, t := range list {
		p.covers = binary.BigEndian.AppendUint64(p.covers, uint64(t.UnixMicro()))
	}
	return p
}

func (p place) texts(list ...string) place {
	for _, s := range list {
		p.covers = binary.AppendUvarint(p.covers, uint64(len(s)))
		p.covers = append(p.covers, s...)
	}
	return p
}

func (p place) bools(list ...bool) place {
	for _, b := range list {
		bit := byte(0)
		if b {
			bit = 1
		}
		p.covers = append(p.covers, bit)
	}
	return p
}

func (c *conn) memoryPlace(m *store.Memory, fact bool) place {
	p := c.at("memories", m.Key).ints(m.Seq, m.Version).
		texts(m.ID, m.Reason, string(m.Kind), string(m.Type), string(m.Level), string(m.Status), string(m.Origin), m.Hash).
		floats(m.Importance, m.Confidence, m.Trust).bools(m.Pinned, fact).
		times(m.ValidFrom, m.ValidTo, m.ExpiresAt, m.ConfirmedAt, m.CreatedAt, m.UpdatedAt)
	if m.Episode != nil { // rows without one are as they were before there were any
		p = p.texts("episode")
	}
	if m.Skill != nil {
		p = p.texts("skill")
	}
	return p
}

// factPlace has the version of the memory, so that both are of one state.
func (c *conn) factPlace(m *store.Memory) place {
	return c.at("facts", m.Key).ints(m.Version).bools(m.Single)
}

func (c *conn) episodePlace(m *store.Memory) place {
	e := m.Episode
	return c.at("episodes", m.Key).ints(m.Version).times(e.From, e.To).texts(string(e.Outcome))
}

func (c *conn) skillPlace(m *store.Memory) place {
	return c.at("skills", m.Key).ints(m.Version, m.Skill.Successes, m.Skill.Failures)
}

func (c *conn) entityPlace(e *store.Entity) place { return c.at("entities", e.Key).texts(e.ID) }

func (c *conn) relationPlace(r *store.Relation) place {
	return c.at("relations", r.Key).ints(r.Memory, r.From.Key, r.To.Key)
}

func (c *conn) versionPlace(key, memory int64, v *store.Version) place {
	return c.at("versions", key).ints(memory).times(v.ReplacedAt).texts(v.Reason)
}

func (c *conn) messagePlace(m *store.Message) place {
	return c.at("messages", m.Key).ints(m.SessionKey).texts(string(m.Role), string(m.Origin)).bools(m.Pinned).
		times(m.CreatedAt, m.RecordedAt)
}

// sessionPlace leaves out the count of messages, which Check counts again.
func (c *conn) sessionPlace(s *store.Session) place {
	return c.at("sessions", s.Key).ints(s.RecentFrom, s.Cursor, s.EndedUpTo, s.Version).
		times(s.CreatedAt, s.LastMessageAt, s.EndedAt).texts(string(s.EndReason))
}

func (c *conn) summaryPlace(s *store.Summary) place {
	return c.at("summaries", s.Key).ints(s.SessionKey, s.From, s.To, s.Epoch).texts(s.Path).times(s.CreatedAt)
}

func (c *conn) taskPlace(t *store.Task) place {
	return c.at("tasks", t.Key).ints(t.SessionKey).times(t.StartedAt, t.CompletedAt).texts(string(t.Outcome))
}

func (c *conn) workingPlace(o *ownerRef, mark []byte, w *store.Working) place {
	p := c.at("working", o.number).texts(string(mark)).ints(w.Version).times(w.UpdatedAt).bools(w.Open)
	p.id = mark
	return p
}

func (c *conn) snapshotPlace(key int64, s *store.Snapshot) place {
	return c.at("snapshots", key).times(s.ExpiresAt)
}

func (c *conn) idempotencyPlace(key int64, r *store.Idempotency) place {
	return c.at("idempotency", key).texts(string(r.Request)).bools(r.Forgotten).times(r.At, r.ExpiresAt)
}

// jobPlace leaves out what changes while a job waits and runs.
func (c *conn) jobPlace(key int64, j *store.Job) place {
	return c.at("jobs", key).ints(j.SessionKey, j.Epoch).texts(j.ID, j.Kind).times(j.CreatedAt)
}

// problemPlace is that of a job's problem, which has an envelope of its own
// because it changes.
func (c *conn) problemPlace(key int64) place { return c.at("jobs.error", key) }

func (c *conn) extractionPlace(e *store.Extraction) place {
	return c.at("extractions", e.Key).ints(e.SessionKey, e.From, e.To, e.Epoch).texts(string(e.Report.Status)).
		bools(e.Report.DryRun).times(e.Report.CreatedAt, e.ExpiresAt)
}

func (c *conn) vectorPlace(item store.Item, model string, changed, epoch int64) place {
	p := c.at("vectors", item.Key).ints(int64(item.Kind), changed, epoch).texts(model)
	p.id = model
	return p
}

func (c *conn) forgetPlace(f *store.Forget) place {
	return c.at("forgets", f.Key).ints(f.Epoch).times(f.At)
}

func (c *conn) keyPlace(k *store.Key, tenant int64) place {
	p := c.at("api_keys", tenant).texts(k.ID, string(k.Hash), string(k.Access)).times(k.CreatedAt, k.ExpiresAt, k.RevokedAt)
	p.id = k.ID
	return p
}

func (c *conn) settingPlace(s *store.Setting, tenant int64) place {
	p := c.at("settings", tenant).texts(s.Name).ints(s.Version).times(s.UpdatedAt)
	p.id = s.Name
	return p
}

func (c *conn) ownerStatePlace(number int64, st store.OwnerState, counter int64) place {
	return c.at("owners.state", number).ints(st.Epoch, st.Seq, counter).bools(st.ConsentWithdrawn)
}

// heldPlace is ownerStatePlace of an owner for whom a place is held.
func (c *conn) heldPlace(number int64, st store.OwnerState, counter int64) place {
	return c.at("owners.held", number).ints(st.Epoch, st.Seq, counter).bools(st.ConsentWithdrawn)
}

// seal and open keep an owner's texts in their places.
func (r *reader) seal(o *ownerRef, p place, plain []byte) ([]byte, error) {
	r.grow(&p, len(plain))
	return r.s.ring.Seal(o.key, p.covers, plain)
}

func (r *reader) open(o *ownerRef, p place, envelope []byte) ([]byte, error) {
	if r.reseal != nil {
		return r.reseal.anew(o.key, p, envelope)
	}
	r.grow(&p, len(envelope))
	plain, err := r.s.ring.Open(o.key, p.covers, envelope)
	if err != nil {
		return nil, damaged(p, err)
	}
	return plain, nil
}

// unwrap opens an owner's key.
func (r *reader) unwrap(number int64, envelope []byte) (keyring.OwnerKey, error) {
	p := r.c.at("owners.wrapped", number)
	if r.reseal != nil {
		return r.rewrap(p, envelope)
	}
	key, err := r.s.ring.Unwrap(envelope, p.covers)
	if err != nil {
		return key, damaged(p, err)
	}
	return key, nil
}

// grow makes room behind a place for what is covered with it, and keeps it for
// the connection's next place.
func (r *reader) grow(p *place, room int) {
	p.covers = slices.Grow(p.covers, room)
	r.c.covers = p.covers[:0]
}

// damaged names a row that cannot be read, by table and number.
func damaged(p place, err error) error {
	return fmt.Errorf("row %d of table %s is damaged: %w", p.row, p.table, err)
}

// unreadable is a row whose envelope opens and holds what nobody wrote there.
func unreadable() error { return yiku.Errorf(yiku.ErrUnavailable, "a stored row cannot be read") }
