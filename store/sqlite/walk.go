package sqlite

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku/store"
)

// walkPage is how many rows of an owner's table are read at once.
const walkPage = 1000

// sealedTable is a table with envelopes: how its rows are listed and read, and
// how an envelope is put back. A test holds the list against the schema.
type sealedTable struct {
	name string
	list string // rows with keys from ?1 to ?2, at most ?3, in the order of keys, which come first
	read func(*reader, *ownerRef, *sqlite3.Stmt) error
}

const (
	walkRange = ` BETWEEN ?1 AND ?2 ORDER BY 1 LIMIT ?3`

	sqlWalkOwners      = `SELECT number, body, wrapped FROM owners WHERE number` + walkRange
	sqlWalkTenants     = `SELECT number, body FROM tenants WHERE number` + walkRange
	sqlWalkAudit       = `SELECT n, body FROM audit WHERE n` + walkRange
	sqlWalkKeys        = `SELECT rowid, id FROM api_keys WHERE rowid` + walkRange
	sqlWalkMemories    = memorySelect + ` WHERE m.key` + walkRange
	sqlWalkEntities    = `SELECT ` + entityColumns + ` FROM entities e WHERE e.key` + walkRange
	sqlWalkRelations   = `SELECT ` + relationColumns + ` FROM relations r WHERE r.key` + walkRange
	sqlWalkVersions    = `SELECT key, replaced_at, reason, body, memory FROM versions WHERE key` + walkRange
	sqlWalkSessions    = `SELECT ` + sessionColumns + ` FROM sessions WHERE key` + walkRange
	sqlWalkMessages    = `SELECT ` + messageColumns + ` FROM messages m WHERE m.key` + walkRange
	sqlWalkSummaries   = `SELECT ` + summaryColumns + ` FROM summaries WHERE key` + walkRange
	sqlWalkTasks       = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.key` + walkRange
	sqlWalkSnapshots   = `SELECT key, coalesce(expires_at, -62135596800000000), body FROM snapshots WHERE key` + walkRange
	sqlWalkIdempotency = `SELECT key, request, forgotten, at, expires_at, body FROM idempotency WHERE key` + walkRange
	sqlWalkJobs        = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.key` + walkRange
	sqlWalkExtractions = `SELECT ` + extractionColumns + ` FROM extractions WHERE key` + walkRange
	sqlWalkVectors     = `SELECT ` + vectorColumns + ` FROM vectors WHERE item` + walkRange
	sqlWalkForgets     = `SELECT key, epoch, created_at, body FROM forgets WHERE key` + walkRange
	sqlWalkReceipts    = `SELECT key, body FROM receipts WHERE key` + walkRange

	sqlWalkWorking = `SELECT ` + workingColumns + ` FROM working WHERE owner = ? AND body IS NOT NULL`
	sqlWalkKey     = sqlKeyColumns + `WHERE rowid = ?`
)

// ownTables are the tables whose rows belong to an owner and have keys of it.
// A memory's fact is read with it.
func ownTables() []sealedTable {
	return []sealedTable{
		{"sessions", sqlWalkSessions, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readSession(o, st); return err }},
		{"tasks", sqlWalkTasks, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readTask(o, st); return err }},
		{"messages", sqlWalkMessages, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readMessage(o, st); return err }},
		{"summaries", sqlWalkSummaries, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readSummary(o, st); return err }},
		{"memories", sqlWalkMemories, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readMemory(o, st); return err }},
		{"versions", sqlWalkVersions, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error {
			_, err := r.readVersion(o, st.ColumnInt64(4), st)
			return err
		}},
		{"snapshots", sqlWalkSnapshots, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readSnapshot(o, st); return err }},
		{"idempotency", sqlWalkIdempotency, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error {
			return r.readIdempotency(o, &store.Idempotency{}, st)
		}},
		{"jobs", sqlWalkJobs, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readJob(o, st); return err }},
		{"extractions", sqlWalkExtractions, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readExtraction(o, st); return err }},
		{"vectors", sqlWalkVectors, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readVector(o, st); return err }},
		{"forgets", sqlWalkForgets, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readForget(o, st); return err }},
		{"receipts", sqlWalkReceipts, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readReceipt(o, st); return err }},
	}
}

// laterTables are those of ownTables that came after envelopes were sealed anew
// (reseal.go), which finds nothing in them.
func laterTables() []sealedTable {
	return []sealedTable{
		{"entities", sqlWalkEntities, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readEntity(o, st); return err }},
		{"relations", sqlWalkRelations, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error { _, err := r.readRelation(o, st); return err }},
	}
}

// walk opens every envelope of the store, table by table. After each row it
// calls seen with what became of it; an error of seen ends the walk.
func (r *reader) walk(seen func(table string, err error) error) error {
	tenants := sealedTable{"tenants", sqlWalkTenants, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error {
		_, err := r.open(o, r.c.at("tenants", st.ColumnInt64(0)), st.ColumnRawBlob(1))
		return err
	}}
	audit := sealedTable{"audit", sqlWalkAudit, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error {
		_, err := r.open(o, r.c.at("audit", st.ColumnInt64(0)), st.ColumnRawBlob(1))
		return err
	}}
	keys := sealedTable{"api_keys", sqlWalkKeys, func(r *reader, o *ownerRef, st *sqlite3.Stmt) error {
		_, err := r.c.one(sqlWalkKey, func(st *sqlite3.Stmt) error { _, err := r.readKey(st); return err }, st.ColumnInt64(0))
		return err
	}}
	for _, t := range []sealedTable{tenants, audit, keys} {
		if err := r.walkTable(t, r.s.self, 0, 1<<62, seen); err != nil {
			return err
		}
	}
	err := r.c.each(sqlWalkSettings, func(st *sqlite3.Stmt) error {
		_, err := r.readSetting(st)
		return seen("settings", err)
	})
	if err := errors.Join(err, r.put()); err != nil {
		return err
	}
	var owners []*ownerRef
	err = r.walkTable(sealedTable{"owners", sqlWalkOwners, func(r *reader, _ *ownerRef, st *sqlite3.Stmt) error {
		o := &ownerRef{number: st.ColumnInt64(0)}
		if len(st.ColumnRawBlob(1)) == 0 {
			_, _, err := r.held(o.number)
			return err
		}
		var err, err2, err3 error
		o.owner, err = r.readOwner(o.number, st.ColumnRawBlob(1))
		if st.ColumnType(2) != sqlite3.NULL { // it is, once consent was withdrawn
			if o.key, err2 = r.unwrap(o.number, st.ColumnRawBlob(2)); err2 == nil {
				owners = append(owners, o)
			}
		}
		_, _, err3 = r.state(o.number)
		return errors.Join(err, err2, err3)
	}}, r.s.self, 0, 1<<62, seen)
	if err != nil {
		return err
	}
	for _, o := range owners {
		if err := r.walkOwner(o, seen); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) walkOwner(o *ownerRef, seen func(string, error) error) error {
	tables := ownTables()
	if r.reseal == nil {
		tables = append(tables, laterTables()...)
	}
	for _, t := range tables {
		if err := r.walkTable(t, o, o.first(), o.last(), seen); err != nil {
			return err
		}
	}
	err := r.c.each(sqlWalkWorking, func(st *sqlite3.Stmt) error {
		_, err := r.readWorking(o, st)
		return seen("working", err)
	}, o.number)
	if err != nil {
		return err
	}
	return r.put()
}

// walkTable reads the rows of a table page by page. What was sealed anew is
// written between the pages, when no statement reads.
func (r *reader) walkTable(t sealedTable, o *ownerRef, from, to int64, seen func(string, error) error) error {
	for {
		n := 0
		err := r.c.each(t.list, func(st *sqlite3.Stmt) error {
			n++
			from = st.ColumnInt64(0) + 1
			return seen(t.name, t.read(r, o, st))
		}, from, to, walkPage)
		if err != nil {
			return foreign("walk "+t.name, err)
		}
		if err := r.put(); err != nil {
			return err
		}
		if n < walkPage {
			return nil
		}
	}
}
