package store

import (
	"time"

	"github.com/yiku-ai/yiku"
)

// Forget is a forget in progress: what must go on after a crash. Request is
// sealed and goes with the row, since it may hold words of the person. What
// went is not noted here: the tombstones after UpTo tell it. One
// without Receipt is a deletion that is done and only to be written into the
// forget journal: Deletion says which, and Request is empty.
type Forget struct {
	Key     int64 // set by the driver
	Owner   yiku.Owner
	Epoch   int64
	UpTo    int64  // the owner's seq when it began: what came later stays
	Receipt string // the id that its receipt will have; "" for a deletion
	Actor   string // who asked, as AuditEntry has it
	At      time.Time
	Request yiku.ForgetRequest
	Removed yiku.Removed // so far
	IDs     []string     // of the memories, at most 1,000

	Deletion Deletion `json:",omitzero"` // instead of a receipt
}

// Deletion names a deletion as the audit log does.
type Deletion struct{ Action, Ref string }

// Receipt is a receipt with the keys of what went, for a later scan, and the
// ids of the memories, at most 1,000.
type Receipt struct {
	yiku.Receipt
	Gone []Item
	IDs  []string
}

// AuditEntry says what was done, without content (E8). Subject is a keyed mark
// of the owner's name. MAC is over the entry and the MAC of the one before.
type AuditEntry struct {
	N       int64
	At      time.Time
	Owner   int64  // the owner's number, set by the driver; 0: none
	Subject []byte // HMAC of tenant and user under the audit key
	Actor   string // role of the credential, and its key's id
	Action  string // forget, delete_session, …
	Trigger string
	Ref     string         // a receipt's id, or another opaque id
	Counts  map[string]int //
	MAC     []byte
}

// Suppression is a mark of something that was forgotten, and when. The mark is
// a keyed hash that the engine makes; the driver keeps it as it is.
type Suppression struct {
	Mark string
	At   time.Time
}

// Copies say which copies of content are to be deleted.
type Copies struct {
	Snapshot   func(Snapshot) bool
	Extraction func(Extraction) bool
}

// Forgetting is what a Tx adds to forget by. Where a method fails, what it was
// to count into removed is as it was; removed may be nil. Since a function of
// an Update may run more than once, it begins each run with counts of its own.
type Forgetting interface {
	// PutForget adds (Key 0, which it sets) or replaces the row of a forget in
	// progress, of the transaction's owner. EndForget deletes it. A key that
	// is not there is ErrNotFound: another has ended it.
	PutForget(f *Forget) error
	EndForget(key int64) error

	// Purge deletes memories and messages as DeleteMemory and DeleteMessages
	// do, and adds what went from each layer to removed. Keys that name none
	// are passed over.
	Purge(memories, messages []int64, removed *yiku.Removed) error
	// PurgeSession deletes a session as DeleteSession does, and counts; one
	// that still holds messages is ErrConflict.
	PurgeSession(key int64, removed *yiku.Removed) error
	// PurgeWorking deletes the owner's working memories for which drop says
	// so, and the tasks that these belong to; all of both where drop is nil.
	// Each task takes a number of the sequence and leaves no tombstone.
	PurgeWorking(drop func(Working) bool, removed *yiku.Removed) error
	// PurgeTasks deletes the owner's tasks for which drop says so, with or
	// without a working memory, which it leaves. They are counted as by
	// PurgeWorking.
	PurgeTasks(drop func(Task) bool, removed *yiku.Removed) error
	// PurgeCopies deletes what holds copies of content for a while: of the
	// owner's snapshots and records of extractions those for which drop says
	// so, and undo images; where drop is nil, all. Jobs stay: they name what is
	// to be read, and read what is there then.
	PurgeCopies(drop *Copies, removed *yiku.Removed) error

	// PutReceipt stores a receipt; an ID that the owner has is ErrConflict.
	PutReceipt(r *Receipt) error
	// Audit appends an entry: it sets N and Owner, asks seal for the MAC over the
	// entry and the MAC before it (nil for the first), and stores it. The
	// chain is one over all owners, without gaps.
	Audit(e *AuditEntry, seal func(previous []byte, e AuditEntry) []byte) error
}

// ForgottenReader is what a Reader adds to prove it by.
type ForgottenReader interface {
	// OwnerMemories and OwnerMessages list all of an owner's rows of any
	// status and session with keys greater than after that were added when
	// the owner's number was at most upTo, in the order of keys, at most
	// limit. When they were last changed does not matter: what a forget finds
	// goes, also where somebody touches it meanwhile.
	OwnerMemories(owner yiku.Owner, after, upTo int64, limit int) ([]Memory, error)
	OwnerMessages(owner yiku.Owner, after, upTo int64, limit int) ([]Message, error)

	// Receipt returns a receipt; Receipts lists them, newest first, those
	// older than the one with the id before ("" from the newest; an unknown
	// one is ErrNotFound), in the order in which they were stored.
	Receipt(owner yiku.Owner, id string) (Receipt, error)
	Receipts(owner yiku.Owner, before string, limit int) ([]Receipt, error)

	// Residue counts, place by place, the rows that still speak of items that
	// are gone. Every place that was searched has an entry, 0 where clean.
	// Keys of other owners are passed over.
	Residue(owner yiku.Owner, items []Item) (map[string]int, error)

	// Weight counts what goes with items where Purge and PurgeSession delete
	// them, layer by layer; what PurgeWorking and PurgeCopies count is left to
	// them. Items that are not there weigh nothing.
	Weight(owner yiku.Owner, items []Item) (yiku.Removed, error)
	// Suppressions lists an owner's marks in no order, those of one time where
	// it is not zero.
	Suppressions(owner yiku.Owner, at time.Time) ([]Suppression, error)

	// AuditEntries lists entries of all owners with numbers greater than
	// after, in their order. An entry that cannot be read is given without
	// its texts, for a check of the chain to find.
	AuditEntries(after int64, limit int) ([]AuditEntry, error)
}
