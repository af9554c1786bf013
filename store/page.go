package store

import (
	"time"

	"github.com/yiku-ai/yiku"
)

// Page is an entry of a session's page log: that messages or a memory came into
// its context or left it, and why. It goes with what it names.
type Page struct {
	Key        int64 // set by the store; entries of a session are ordered by it
	SessionKey int64
	Direction  yiku.PageDirection
	Reason     yiku.PageReason
	From, To   int64 // keys of messages, both inclusive; 0: none
	Memory     int64 // the key of a memory; 0: none
	CreatedAt  time.Time
}

// PageQuery narrows a list of a session's page log, newest first.
type PageQuery struct {
	SessionKey int64
	Reason     yiku.PageReason // "": any
	Before     int64           // key of the last one seen; 0: from the newest
	Limit      int             // 0: all
}

// PageReader is what a Reader adds for the page log.
type PageReader interface {
	// Pages lists entries; CountPages counts them without Before and Limit.
	Pages(owner yiku.Owner, query PageQuery) ([]Page, error)
	CountPages(owner yiku.Owner, query PageQuery) (int, error)
}

// PageWriter is what a Tx adds for it. The page log is outside the sequence.
type PageWriter interface {
	// AddPages adds entries of one session, which must exist, in their order,
	// sets their Keys, and deletes the oldest of the session beyond keep.
	AddPages(sessionKey int64, pages []*Page, keep int) error
}
