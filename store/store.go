// Package store is the contract of truth: what was said and is remembered,
// its versions, and everything that must be durable. Whatever finds or derives
// (indexes, vectors, summaries) can be rebuilt from here.
//
// # Transactions
//
// All reads go through View, all writes through Update, as functions of a
// transaction; the logic stays in the engine and drivers stay thin. A View
// sees one state of the whole store. An Update belongs to one owner: updates
// of one owner happen one after the other, each sees the effects of those
// before it, and all its writes take effect together, durably, when Update
// returns nil, or not at all when the function returns an error. Where Update
// returns yiku.ErrUnavailable the outcome is unknown: the writes may be there
// after a restart. The function may run more than once; only its last run
// counts, so it must not have effects of its own.
//
// # Sequence
//
// Every owner has a sequence. Each row that a write adds, changes or deletes
// takes the owner's next number, in the same transaction; a deleted row leaves
// a tombstone (number, kind, key; no content). Changes gives what happened
// after a number. Access counts (Touch), outcomes of skills, idempotency
// records, jobs, summaries, the page log, snapshots and working memory are
// outside the sequence. What a driver derives by
// itself (a session's MessageCount) takes no number of its own.
//
// # Times
//
// Times are kept in UTC with microseconds. A write rounds the times of what it
// is given down in place, so that what was written equals what is read.
//
// # What is sealed and what is blind
//
// Drivers keep content, subject, attribute, value, names, metadata, slots, job
// arguments and snapshots as envelopes of internal/keyring, and equality of
// sealed texts through HMACs under the owner's blind-index key. Callers give
// and get plain values; the fields called Norm hold the normalised text whose
// HMAC is stored. Reads do not give the Norm fields back. An empty one in an
// update says that the mark stays where the text that it belongs to is as it
// was, and that there is none where the text has changed.
//
// # Errors
//
// Absent rows are yiku.ErrNotFound where one row is asked for, and missing
// from the result where several are. A unique constraint that does not hold is
// yiku.ErrConflict; the write method that answers it has written nothing, and
// the transaction can go on. A key of another owner is an absent row. A zero
// owner is yiku.ErrInvalid. A cancelled context gives
// its error, wrapped. Everything else is yiku.ErrUnavailable. No error holds a
// stored value.
package store

import (
	"context"
	"time"

	"github.com/yiku-ai/yiku"
)

// Store is a truth store. All methods may be called at once.
type Store interface {
	KeyVersioner
	Restoring
	VectorKeeper

	// Meta tells which store this is.
	Meta() Meta

	// View runs fn in one read transaction. fn's error is returned as it is.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn in one write transaction of the owner, which is created
	// where it is new. Several updates may be committed as one group; each
	// stands or falls by itself until the commit. A panic of fn undoes its
	// writes and goes on to the caller.
	Update(ctx context.Context, owner yiku.Owner, priority Priority, fn func(Tx) error) error

	// Owners lists the owners of all tenants in the order of their creation,
	// those created after the given one (zero: from the start), at most limit.
	Owners(ctx context.Context, after yiku.Owner, limit int) ([]yiku.Owner, error)

	// Forgets lists the forgets in progress of all owners, oldest first.
	Forgets(ctx context.Context) ([]Forget, error)

	// DueJobs lists waiting jobs of all owners whose time has come at now, those
	// that have been due for longest first, at most limit.
	DueJobs(ctx context.Context, now time.Time, limit int) ([]Job, error)

	// Check reads through the store and reports what is not as it must be.
	// The error is for a check that could not be done.
	Check(ctx context.Context) ([]string, error)

	// Close waits for the running transactions and frees everything.
	Close() error
}

// InUseError is yiku.ErrUnavailable: another process has the store's directory
// open, and will let go of it when it ends.
type InUseError struct {
	Dir    string
	Holder string // "process 4711" where it is known
}

// Error names the directory and who holds it.
func (e *InUseError) Error() string {
	return "unavailable: the data directory " + e.Dir + " is in use by " + e.Holder
}

// Unwrap returns the sentinel.
func (e *InUseError) Unwrap() error { return yiku.ErrUnavailable }

// Examiner is what a store adds that can say what a check has looked at.
type Examiner interface {
	// Examine is Check, with what it looked at. It reads every row and every
	// page, and keeps writers waiting for moments only.
	Examine(ctx context.Context) (Examination, error)
}

// Examination is what a look at the whole of a store has found.
type Examination struct {
	Faults []string       `json:"faults"` // what is not as it must be, by table and number; never content
	Rows   map[string]int `json:"rows"`   // how many rows with a MAC were read, by table
	Pages  int            `json:"pages"`  // pages of the database whose checksums were computed
	Frames int            `json:"frames"` // pages of the log, likewise
}

// Meta tells which store this is. Generation is made anew when a store is
// created or restored from a backup, so that what was derived from another
// one is not mistaken for this one's. Secret is a random key of this store,
// for cursors. Journal is the forget journal that the store was told to keep to,
// Model the one of vectors.
type Meta struct {
	Generation string
	Journal    string
	Model      string
	Schema     int
	Secret     []byte
}

// Priority orders waiting updates: maintenance waits until no request does.
type Priority int

// The priorities.
const (
	Request Priority = iota
	Maintenance
)

// OwnerState is where an owner stands. The zero value is an owner that the
// store has never seen.
type OwnerState struct {
	Known            bool
	Epoch            int64 // raised by every forget
	Seq              int64 // the last number given out
	ConsentWithdrawn bool
	Embedded         string `json:",omitzero"` // the model by whose vectors the owner is found, see VectorWriter; "" where none was whole yet
}

// Usage is how much of the store an owner has. Bytes are what the driver keeps
// of sessions, messages, tasks, working memory and memories with their
// versions, in its own measure: more with each row, and 0 when all is deleted.
// TenantOwners counts the owners of the owner's tenant of whom there are Bytes:
// one who was forgotten whole takes no place.
type Usage struct {
	Messages     int
	Memories     int
	Bytes        int64
	TenantOwners int
}

// Session is a session's row.
type Session struct {
	yiku.Session
	Key        int64 // never used again; sessions of an owner are ordered by it
	RecentFrom int64 // the key of the first message of the recent list (A5); 0: from the start
	Cursor     int64 // the key of the last message that extraction has covered
	EndedUpTo  int64 // the key of the last message at the time of the last end
	Unread     int   `json:",omitzero"` // about how many tokens were appended since Cursor moved
	RawTurns   int   `json:",omitzero"` // user messages that no summary covers
	RawTokens  int   `json:",omitzero"` // about how many tokens of messages no summary covers
	Offset     int   `json:",omitzero"` // seconds east of UTC of whoever spoke last with a zone of their own

	Origins []string `json:",omitempty"` // the sessions that it was forked from, one of another, the first first
}

// LastActivity is what sessions are listed by: the time of the last message,
// or of the creation where there is none.
func (s Session) LastActivity() time.Time {
	if s.LastMessageAt.IsZero() {
		return s.CreatedAt
	}
	return s.LastMessageAt
}

// Place returns the session's place in the list of [Reader.Sessions].
func (s Session) Place() SessionPlace {
	return SessionPlace{LastActivity: s.LastActivity(), Key: s.Key}
}

// Message is a message's row. Keys of an owner's messages grow in the order of
// the appends.
type Message struct {
	yiku.Message
	Key        int64
	SessionKey int64
	RecordedAt time.Time // when the server took it in; CreatedAt is the caller's
}

// Memory is a memory's row: the life cycle shared by all kinds and what its
// kind has of its own.
type Memory struct {
	yiku.Memory
	Key           int64
	Seq           int64  // of its last change
	ContentNorm   string // normalised content: duplicates within one scope are found by it
	SubjectNorm   string // normalised subject and attribute, for exact lookup and conflicts
	AttributeNorm string
	Hash          string // set by the driver: HMAC of ContentNorm, hex; stands for the content where content may not stand
	Reason        string // set by the driver: what made the present state, as yiku.MemoryVersion says it; AddMemory takes it as given, "created" where empty

	// Relations are what it says of whom. Reads do not give them back. In an
	// update nil leaves them where content, subject, attribute and value are as
	// they were, and takes them away where not.
	Relations []Relation `json:",omitzero"`
}

// Version is what a memory was until it was changed. Reason says what made it
// what it is, as yiku.MemoryVersion does.
type Version struct {
	Memory     yiku.Memory
	ReplacedAt time.Time
	Reason     string
}

// Task is a task's row; it is named by project and id.
type Task struct {
	yiku.Task
	Key        int64
	SessionKey int64
}

// Working is the row of one working memory. It belongs to a task (Project and
// TaskID) or, without TaskID, to one session.
type Working struct {
	yiku.WorkingMemory
	Project   string
	SessionID string // the session that wrote it last
	AgentID   string
	Open      bool // it holds work that goes on: a session of the same project may carry it over

	Origins []string `json:",omitempty"` // the sessions that wrote it before
	// Found says of data slots, by name, which message each was found in; the
	// slot goes with its message. What callers have set is not among them.
	Found map[string]Found `json:",omitempty"`
}

// Found is where a data slot comes from.
type Found struct {
	Message int64     // its key
	Uses    int       // how often it was said
	At      time.Time // when it was said last
}

// ItemKind says what a change or a lineage edge is about.
type ItemKind int

// The kinds of items.
const (
	ItemMemory  ItemKind = 1
	ItemMessage ItemKind = 2
	ItemSession ItemKind = 3
)

// Item names a row of one owner.
type Item struct {
	Kind ItemKind
	Key  int64
}

// Change says that a row was added, changed or deleted. Of several changes of
// one row only the last is given.
type Change struct {
	Item
	Seq     int64
	Deleted bool
}

// Idempotency is the record of a write that was done under a key. Result holds
// ids only, as JSON. Forgotten is set where a forget took what it made.
type Idempotency struct {
	Operation string
	Key       string
	Request   []byte // keyed hash of the request
	Result    []byte
	Forgotten bool
	At        time.Time
	ExpiresAt time.Time // when its time is over; zero: DefaultIdempotencyTTL after At
}

// DefaultIdempotencyTTL is how long the record of a write is kept.
const DefaultIdempotencyTTL = 24 * time.Hour

// Snapshot is a stored context with the rows that it cites: the owner's, or
// memories that the owner's tenant shares.
type Snapshot struct {
	yiku.Snapshot
	Cites     []Item
	Working   *WorkingPlace `json:",omitempty"` // the working memory that it shows; nil for none
	Summary   int64         `json:",omitempty"` // the key of the summary that it shows, with which it goes; 0 for none
	ExpiresAt time.Time
}

// WorkingPlace names a working memory: a task's, or, without Task, a session's own.
type WorkingPlace struct {
	Project, Task, Session string
}

// Reader reads within one transaction. Its methods are called from one
// goroutine, and not after the transaction's function has returned.
type Reader interface {
	ForgottenReader
	KeyReader
	JobReader
	VectorReader
	SpendReader
	SettingReader
	GraphReader
	SummaryReader
	PageReader

	// Owner tells where an owner stands; an unknown one is the zero value.
	Owner(owner yiku.Owner) (OwnerState, error)
	// Usage tells how much an owner has; of an unknown one it is the zero
	// value. It counts what the transaction has written, and costs the same
	// however much there is.
	Usage(owner yiku.Owner) (Usage, error)

	// Session returns a session by the caller's id.
	Session(owner yiku.Owner, id string) (Session, error)
	// SessionByKey returns a session by its key.
	SessionByKey(owner yiku.Owner, key int64) (Session, error)
	// Sessions lists sessions, last activity first.
	Sessions(owner yiku.Owner, query SessionQuery) ([]Session, error)
	// CountSessions counts what Sessions would list without After and Limit.
	CountSessions(owner yiku.Owner, query SessionQuery) (int, error)

	// Messages lists messages of one session in the order of their keys.
	Messages(owner yiku.Owner, query MessageQuery) ([]Message, error)
	// CountMessages counts a session's messages.
	CountMessages(owner yiku.Owner, sessionKey int64) (int, error)
	// MessageByID returns a session's message by the caller's id.
	MessageByID(owner yiku.Owner, sessionKey int64, id string) (Message, error)
	// MessagesByKey returns those of the keys that exist, in the order of keys.
	MessagesByKey(owner yiku.Owner, keys []int64) ([]Message, error)

	// Task returns a task. SessionTasks lists those that a session's messages
	// name, in the order in which they began.
	Task(owner yiku.Owner, project, id string) (Task, error)
	SessionTasks(owner yiku.Owner, sessionKey int64) ([]Task, error)

	// Working returns a task's working memory (task not empty) or a session's
	// own (task empty).
	Working(owner yiku.Owner, project, task, sessionID string) (Working, error)
	// OpenWorking returns the open working memory of the project that was
	// written last, and of the agent where one is given.
	OpenWorking(owner yiku.Owner, project, agent string) (Working, error)

	// Memory returns a memory by its id.
	Memory(owner yiku.Owner, id string) (Memory, error)
	// MemoriesByKey returns those of the keys that exist, in the order of keys.
	MemoriesByKey(owner yiku.Owner, keys []int64) ([]Memory, error)
	// Memories lists memories, the newest (by key) first.
	Memories(owner yiku.Owner, query MemoryQuery) ([]Memory, error)
	// CountMemories counts what Memories would list without Before and Limit.
	CountMemories(owner yiku.Owner, query MemoryQuery) (int, error)
	// Duplicate returns the active memory of the same scope (level, project,
	// task, agent) whose ContentNorm equals m's.
	Duplicate(owner yiku.Owner, m Memory) (Memory, error)
	// Versions lists what a memory was, newest first; the present state is not among them.
	Versions(owner yiku.Owner, memoryKey int64) ([]Version, error)

	// Sources lists what an item was made from, Derived what was made from it;
	// both in the order in which the edges were added.
	Sources(owner yiku.Owner, item Item) ([]Item, error)
	Derived(owner yiku.Owner, item Item) ([]Item, error)

	// Changes lists the changes after a number in ascending order, at most limit.
	Changes(owner yiku.Owner, after int64, limit int) ([]Change, error)

	// Snapshot returns a stored context that has not expired at now.
	Snapshot(owner yiku.Owner, id string, now time.Time) (Snapshot, error)

	// Idempotency returns the record of a write.
	Idempotency(owner yiku.Owner, operation, key string) (Idempotency, error)
}

// Tx reads and writes within one transaction of one owner. Writes are of the
// owner that Update was called with; reads may be of any owner.
type Tx interface {
	Reader
	Forgetting
	KeyWriter
	JobWriter
	VectorWriter
	SpendWriter
	SettingWriter
	SummaryWriter
	PageWriter

	// PutSession adds a session (Key 0, which it sets) or replaces one. It
	// counts the version up and sets it in s. MessageCount is the driver's, and
	// UserID is the owner's. Tasks are not stored (see SessionTasks).
	PutSession(s *Session) error
	// DeleteSession deletes a session with its messages, its own working
	// memory (not that of a task), waiting jobs and the snapshots taken in it.
	// Snapshots that cite a deleted row, of any kind, go with it, and what
	// idempotency records say of it becomes forgotten, without their Result;
	// so it is with DeleteMessages and DeleteMemory. Tasks that name the
	// session stay and do not name it any more.
	DeleteSession(key int64) error

	// AddMessages appends to a session in the order given and sets each
	// message's Key and Seq. A message id that the session has is ErrConflict.
	AddMessages(sessionKey int64, messages []*Message) error
	// DeleteMessages deletes messages, with their lineage, the summaries and
	// extractions whose ranges cover them, and the data slots that were found
	// in them; snapshots that show one of those go with it. Keys that name no
	// message are passed over.
	DeleteMessages(keys []int64) error

	// PutTask adds (Key 0) or replaces a task.
	PutTask(t *Task) error

	// PutWorking replaces the working memory of a task or session and sets its
	// Version to one above both the row's and the one given, so that it never
	// goes back, also where the memory moves from one session to the next. DeleteWorking clears it; where there is
	// none it does nothing.
	PutWorking(w *Working) error
	DeleteWorking(project, task, sessionID string) error
	// DropShowing deletes the snapshots that show a working memory.
	DropShowing(place WorkingPlace) error

	// AddMemory adds a memory and sets its Key, Seq, Version, Hash, and Reason
	// where it is empty.
	// Its ID is unique within the owner; while it is active, so are its
	// ContentNorm within its scope and, where it is Single and has no end yet
	// (ValidTo), its SubjectNorm and AttributeNorm together within its scope.
	// Empty ones are not compared. An Episode is kept of kind episodic only, a
	// Skill of kind procedural.
	AddMemory(m *Memory) error
	// UpdateMemory replaces a memory (by Key), keeps what it was as a version,
	// counts the version up and sets Seq and Version. Reason says what made
	// the new state; the old state keeps its own, and was replaced at the new
	// state's UpdatedAt. ID and CreatedAt stay; LastAccess and AccessCount are
	// Touch's alone.
	UpdateMemory(m *Memory, reason string) error
	// RecordOutcome counts one outcome of a skill, of the present steps. Like
	// Touch it is outside the sequence and makes no version. A key that names
	// no skill of the owner is ErrNotFound.
	RecordOutcome(key int64, success bool) error
	// DeleteMemory deletes a memory with its versions, lineage, vectors,
	// terms, access, relations, the entities of which nothing else speaks, and
	// the snapshots that cite it; what idempotency records say of it becomes
	// forgotten.
	DeleteMemory(key int64) error

	// AddLineage records that an item was made from others of the same owner,
	// which must exist. An edge that stands already is passed over.
	AddLineage(item Item, sources []Item) error

	// Touch counts an access of each memory at a time; unknown keys are passed over.
	Touch(keys []int64, at time.Time) error

	// PutSnapshot stores a context; an ID that is there is ErrConflict. DropExpired deletes snapshots and
	// idempotency records whose time is over, at most limit, and returns how many.
	PutSnapshot(s *Snapshot) error
	// KeepSnapshots deletes the owner's oldest snapshots beyond so many, and
	// those with which the newer ones take more bytes in the driver's measure,
	// but never the newest; 0: no bound.
	KeepSnapshots(most, bytes int) error
	DropExpired(now time.Time, limit int) (int, error)

	// PutIdempotency records a write; a key that is there, and whose time is
	// not over at the new record's At, is ErrConflict. Makes names what it made, so that a
	// forget of one of them marks the record.
	PutIdempotency(r *Idempotency, makes []Item) error

	// RaiseEpoch raises the owner's epoch and returns it.
	RaiseEpoch() (int64, error)
	// Advance moves the owner on to at least a state: its numbers never go
	// back, and consent that was withdrawn stays so.
	Advance(state OwnerState) error
	// Suppress adds marks of what was forgotten at a time; one that stands
	// takes the later time. Suppressed tells which of the marks stand.
	Suppress(marks []string, at time.Time) error
	Suppressed(marks []string) ([]bool, error)
	// SuppressedAt tells when each mark was added last; the zero time where it does not stand.
	SuppressedAt(marks []string) ([]time.Time, error)
}

// SessionQuery narrows a list of sessions. Empty fields do not narrow.
type SessionQuery struct {
	ProjectID string
	AgentID   string
	// After is where the page before ended; zero for the first page.
	After SessionPlace
	// Only sessions whose last change has a number of the owner's sequence
	// greater than ChangedAfter and at most ChangedUpTo; 0: no bound.
	ChangedAfter int64
	ChangedUpTo  int64
	Limit        int
}

// SessionPlace is a session's place in the list.
type SessionPlace struct {
	LastActivity time.Time
	Key          int64
}

// MessageQuery narrows a list of one session's messages.
type MessageQuery struct {
	SessionKey int64
	After      int64 // only keys greater
	UpTo       int64 // only keys up to; 0: no bound
	Kept       bool  // only those that are pinned or of role system
	Last       bool  // the last Limit instead of the first; the order stays ascending
	Limit      int   // 0: all
}

// MemoryQuery narrows a list of memories. Empty fields do not narrow; all
// conditions hold at once. SubjectNorm and AttributeNorm are normalised.
type MemoryQuery struct {
	ProjectID     string
	TaskID        string
	AgentID       string
	Kinds         []yiku.Kind
	Types         []yiku.Type
	Levels        []yiku.Level
	Statuses      []yiku.Status
	SubjectNorm   string
	AttributeNorm string
	Topic         string
	Pinned        bool         // only pinned ones
	Filter        *yiku.Filter // any further conditions, on the row as it is read
	Before        int64        // only keys less; 0: no bound
	Limit         int          // 0: all
}
