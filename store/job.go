package store

import (
	"time"

	"github.com/yiku-ai/yiku"
)

// Job is a piece of work that was promised durably. It is deleted in the
// transaction of its effects.
type Job struct {
	Owner      yiku.Owner // set by the store
	Key        int64      // set by the store; jobs of an owner are ordered by it
	ID         string     // made by the driver where it is empty
	Kind       string
	Unique     string // at most one waiting job of an owner has this key; "" for none. Not read back.
	SessionKey int64  // the session that it is about, with which it goes; 0: none
	Epoch      int64  // of the owner when it was promised
	State      yiku.JobState
	Attempts   int
	NotBefore  time.Time
	Arguments  []byte // sealed
	Problem    string // why the last attempt failed; sealed
	CreatedAt  time.Time
}

// JobQuery narrows a list of jobs. Jobs are ordered by creation and id.
type JobQuery struct {
	State yiku.JobState // "": any
	After JobPlace      // of the last one seen
	Limit int           // 0: no bound
}

// JobPlace is a job's place in a list.
type JobPlace struct {
	CreatedAt time.Time
	ID        string
}

// Extraction is the record of a range of one session's messages that was read.
type Extraction struct {
	Key        int64 // set by the store
	SessionKey int64 // 0: of messages that were given, not stored
	From, To   int64 // keys of messages, both inclusive
	Epoch      int64
	ExpiresAt  time.Time // zero: never
	Report     yiku.ExtractionReport
}

// ExtractionQuery narrows a list of extractions, newest first.
type ExtractionQuery struct {
	SessionKey int64 // 0: any
	Before     int64 // key of the last one seen; 0: from the newest
	Limit      int
}

// JobReader is what a Reader adds for work that was promised and done.
type JobReader interface {
	// Job returns a job of an owner by its id.
	Job(owner yiku.Owner, id string) (Job, error)
	// Jobs lists the jobs of a tenant's owners; CountJobs counts them without
	// After and Limit. An unknown tenant has none.
	Jobs(tenant string, query JobQuery) ([]Job, error)
	CountJobs(tenant string, query JobQuery) (int, error)

	// Extractions lists the records of an owner; CountExtractions counts them
	// without Before and Limit.
	Extractions(owner yiku.Owner, query ExtractionQuery) ([]Extraction, error)
	CountExtractions(owner yiku.Owner, query ExtractionQuery) (int, error)
}

// JobWriter is what a Tx adds for it. Jobs and extractions are outside the
// sequence.
type JobWriter interface {
	// Enqueue promises a job and returns its id. Where a waiting job has the
	// same Unique key it returns that one's id and writes nothing, but that the
	// job may run from the earlier of both NotBefore.
	Enqueue(j *Job) (id string, err error)
	// PutJob replaces State, Attempts, NotBefore and Problem of a job (by ID).
	PutJob(j *Job) error
	// DeleteJob deletes a job.
	DeleteJob(id string) error

	// AddExtraction adds a record and sets its Key. The messages of From and
	// To need not exist any more, the session must.
	AddExtraction(e *Extraction) error
}
