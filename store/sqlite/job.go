package sqlite

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	jobColumns = `j.key, j.id, j.kind, j.session, j.epoch, j.state, j.attempts, j.not_before, j.created_at, j.body, j.error`

	sqlWaitingJob = `SELECT id, not_before FROM jobs WHERE owner = ? AND unique_mark = ? AND state = 'waiting' AND unique_mark <> x''`
	sqlHastenJob  = `UPDATE jobs SET not_before = ? WHERE id = ?`
	sqlAddJob     = `INSERT INTO jobs (key, owner, id, kind, session, unique_mark, epoch, state, attempts, not_before, created_at, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlJob     = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.id = ? AND j.owner = ?`
	sqlJobKey  = `SELECT key FROM jobs WHERE id = ? AND owner = ?`
	sqlPutJob  = `UPDATE jobs SET state = ?, attempts = ?, not_before = ?, error = ? WHERE key = ?`
	sqlDropJob = `DELETE FROM jobs WHERE id = ? AND owner = ?`

	ownerOfJob = `, o.number, o.body, o.wrapped FROM jobs j JOIN owners o ON o.number = j.owner`
	sqlDueJobs = `SELECT ` + jobColumns + ownerOfJob + ` WHERE j.state = 'waiting' AND j.not_before <= ?
	ORDER BY j.not_before, j.key LIMIT ?`
	sqlJobsOf = `SELECT ` + jobColumns + ownerOfJob + ` WHERE o.tenant = ?1 AND (?2 = '' OR j.state = ?2)
	AND (j.created_at, j.id) > (?3, ?4) ORDER BY j.created_at, j.id LIMIT ?5`
	sqlCountJobs = `SELECT count(*) FROM jobs j JOIN owners o ON o.number = j.owner WHERE o.tenant = ?1 AND (?2 = '' OR j.state = ?2)`
)

// Enqueue promises a job; see store.JobWriter.
func (t *tx) Enqueue(j *store.Job) (string, error) {
	mark := t.mark(t.own, "job", j.Unique)
	row := *j
	if row.CreatedAt.IsZero() {
		row.CreatedAt = t.s.now()
	}
	micro(&row.NotBefore, &row.CreatedAt)
	if j.Unique != "" {
		id, err := t.hasten(mark, row.NotBefore)
		if err != nil || id != "" {
			return id, foreign("enqueue job", err)
		}
	}
	if j.SessionKey != 0 && !t.own.has(j.SessionKey) {
		return "", notFound("session")
	}
	if row.ID == "" {
		row.ID = t.s.newID()
	}
	row.Owner, row.State = t.own.owner, yiku.JobWaiting
	err := t.single("enqueue job", func() error {
		row.Key = t.nextOutside()
		body, err := t.seal(t.own, t.c.jobPlace(row.Key, &row), row.Arguments)
		if err != nil {
			return err
		}
		return t.c.run(sqlAddJob, row.Key, t.own.number, row.ID, row.Kind, row.SessionKey, mark, row.Epoch,
			string(row.State), row.Attempts, row.NotBefore.UnixMicro(), row.CreatedAt, body)
	})
	if err != nil {
		return "", err
	}
	*j = row
	return row.ID, nil
}

// hasten returns the waiting job with a mark, "" for none, which may run from
// then at the latest. Where it may already, as every append finds it, nothing
// is written.
func (t *tx) hasten(mark []byte, to time.Time) (id string, err error) {
	later := false
	_, err = t.c.one(sqlWaitingJob, func(st *sqlite3.Stmt) error {
		id, later = st.ColumnText(0), st.ColumnInt64(1) > to.UnixMicro()
		return nil
	}, t.own.number, mark)
	if err == nil && later {
		err = t.c.run(sqlHastenJob, to.UnixMicro(), id)
	}
	return id, err
}

// PutJob changes where a job stands; see store.JobWriter.
func (t *tx) PutJob(j *store.Job) error {
	row := *j
	micro(&row.NotBefore)
	key, err := t.c.number(sqlJobKey, row.ID, t.own.number)
	if err != nil || key == 0 {
		return notFoundOr("job", err)
	}
	return t.single("write job", func() error {
		problem, err := t.seal(t.own, t.c.problemPlace(key), []byte(row.Problem))
		if err != nil {
			return err
		}
		if err := t.c.run(sqlPutJob, string(row.State), row.Attempts, row.NotBefore.UnixMicro(), problem, key); err != nil {
			return err
		}
		*j = row
		return nil
	})
}

// DeleteJob deletes a job; see store.JobWriter.
func (t *tx) DeleteJob(id string) error {
	n := 0
	err := t.c.count(&n, sqlDropJob, id, t.own.number)
	if err != nil || n == 0 {
		return notFoundOr("job", err)
	}
	return nil
}

func notFoundOr(what string, err error) error {
	if err != nil {
		return foreign("read "+what, err)
	}
	return notFound(what)
}

// Job returns one job; see store.JobReader.
func (r *reader) Job(owner yiku.Owner, id string) (j store.Job, err error) {
	o, err := r.must(owner, "job")
	if err != nil {
		return j, err
	}
	found, err := r.c.one(sqlJob, func(st *sqlite3.Stmt) error {
		j, err = r.readJob(o, st)
		return err
	}, id, o.number)
	if err == nil && !found {
		return store.Job{}, notFound("job")
	}
	return j, foreign("read job", err)
}

func (r *reader) readJob(o *ownerRef, st *sqlite3.Stmt) (store.Job, error) {
	j := store.Job{Owner: o.owner, Key: st.ColumnInt64(0), ID: st.ColumnText(1), Kind: st.ColumnText(2), SessionKey: st.ColumnInt64(3),
		Epoch: st.ColumnInt64(4), State: yiku.JobState(st.ColumnText(5)), Attempts: st.ColumnInt(6),
		NotBefore: instant(st.ColumnInt64(7)), CreatedAt: instant(st.ColumnInt64(8))}
	plain, err := r.open(o, r.c.jobPlace(j.Key, &j), st.ColumnRawBlob(9))
	if err != nil {
		return j, err
	}
	j.Arguments = append([]byte(nil), plain...)
	if st.ColumnType(10) != sqlite3.NULL {
		plain, err = r.open(o, r.c.problemPlace(j.Key), st.ColumnRawBlob(10))
		j.Problem = string(plain)
	}
	return j, err
}

// Jobs lists a tenant's jobs; see store.JobReader.
func (r *reader) Jobs(tenant string, q store.JobQuery) ([]store.Job, error) {
	number, err := r.tenant(tenant)
	if err != nil || number == 0 {
		return nil, err
	}
	after := int64(noTime)
	if q.After.ID != "" {
		after = q.After.CreatedAt.UnixMicro()
	}
	return r.jobs(sqlJobsOf, number, string(q.State), after, q.After.ID, limit(q.Limit))
}

// CountJobs counts a tenant's jobs; see store.JobReader.
func (r *reader) CountJobs(tenant string, q store.JobQuery) (int, error) {
	number, err := r.tenant(tenant)
	if err != nil || number == 0 {
		return 0, err
	}
	n, err := r.c.number(sqlCountJobs, number, string(q.State))
	return int(n), foreign("count jobs", err)
}

// jobs reads jobs with their owners.
func (r *reader) jobs(sql string, args ...any) ([]store.Job, error) {
	var list []store.Job
	err := r.c.each(sql, func(st *sqlite3.Stmt) error {
		o, err := r.readOwnerAt(st, 11)
		if err != nil {
			return err
		}
		j, err := r.readJob(o, st)
		list = append(list, j)
		return err
	}, args...)
	return list, foreign("list jobs", err)
}

// DueJobs lists what is to be done; see store.Store.
func (s *Store) DueJobs(ctx context.Context, now time.Time, most int) ([]store.Job, error) {
	var list []store.Job
	err := s.View(ctx, func(r store.Reader) (err error) {
		list, err = r.(*reader).jobs(sqlDueJobs, now.UnixMicro(), limit(most))
		return err
	})
	return list, err
}

const (
	extractionColumns = `key, coalesce(session, 0), from_key, to_key, state, dry_run, epoch, created_at, coalesce(expires_at, -62135596800000000), body`

	sqlAddExtraction = `INSERT INTO extractions (key, owner, session, from_key, to_key, state, dry_run, epoch, created_at, expires_at, body)
	VALUES (?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlExtractions = `SELECT ` + extractionColumns + ` FROM extractions WHERE owner = ?1 AND (?2 = 0 OR session = ?2) AND (?3 = 0 OR key < ?3)
	ORDER BY key DESC LIMIT ?4`
	sqlCountExtractions   = `SELECT count(*) FROM extractions WHERE owner = ?1 AND (?2 = 0 OR session = ?2)`
	sqlDropOldExtractions = `DELETE FROM extractions WHERE key IN
	(SELECT key FROM extractions WHERE owner = ? AND expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?)`
)

// AddExtraction records what was read; see store.JobWriter.
func (t *tx) AddExtraction(e *store.Extraction) error {
	row := *e
	micro(&row.Report.CreatedAt, &row.ExpiresAt)
	plain, err := json.Marshal(row.Report)
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the report cannot be written as JSON")
	}
	if row.SessionKey != 0 {
		if err := t.mustHave(store.Item{Kind: store.ItemSession, Key: row.SessionKey}); err != nil {
			return err
		}
	}
	return t.single("write extraction", func() error {
		row.Key = t.nextOutside()
		body, err := t.seal(t.own, t.c.extractionPlace(&row), plain)
		if err != nil {
			return err
		}
		err = t.c.run(sqlAddExtraction, row.Key, t.own.number, row.SessionKey, row.From, row.To, string(row.Report.Status), row.Report.DryRun,
			row.Epoch, row.Report.CreatedAt.UnixMicro(), row.ExpiresAt, body)
		if err != nil {
			return err
		}
		*e = row
		return nil
	})
}

// Extractions lists what was read; see store.JobReader.
func (r *reader) Extractions(owner yiku.Owner, q store.ExtractionQuery) ([]store.Extraction, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	var list []store.Extraction
	err = r.c.each(sqlExtractions, func(st *sqlite3.Stmt) error {
		e, err := r.readExtraction(o, st)
		list = append(list, e)
		return err
	}, o.number, q.SessionKey, q.Before, limit(q.Limit))
	return list, foreign("list extractions", err)
}

// CountExtractions counts them; see store.JobReader.
func (r *reader) CountExtractions(owner yiku.Owner, q store.ExtractionQuery) (int, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return 0, err
	}
	n, err := r.c.number(sqlCountExtractions, o.number, q.SessionKey)
	return int(n), foreign("count extractions", err)
}

func (r *reader) readExtraction(o *ownerRef, st *sqlite3.Stmt) (e store.Extraction, err error) {
	e = store.Extraction{Key: st.ColumnInt64(0), SessionKey: st.ColumnInt64(1), From: st.ColumnInt64(2), To: st.ColumnInt64(3),
		Epoch: st.ColumnInt64(6), ExpiresAt: instant(st.ColumnInt64(8))}
	e.Report.Status, e.Report.DryRun, e.Report.CreatedAt = yiku.ExtractionStatus(st.ColumnText(4)), st.ColumnBool(5), instant(st.ColumnInt64(7))
	plain, err := r.open(o, r.c.extractionPlace(&e), st.ColumnRawBlob(9))
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(plain, &e.Report); err != nil {
		return e, unreadable()
	}
	return e, nil
}
