package audit

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

// Result is what a check found. It holds numbers and MACs, no content.
type Result struct {
	Valid   bool
	Entries int64  // how many hold, from the first on
	Head    string // the last of them, as "N:hexMAC"; "0:" where there is none
	Fault   string // what is wrong, and at which entry; "" where the chain holds
}

// Verify checks a chain from its first entry on, and against an exported head
// where there is one. Without one, a tail that was cut off is not seen. The
// error is for a check that could not be done: a head that is none
// (ErrInvalid), an error of the iterator, a context that has ended.
func (k Key) Verify(ctx context.Context, entries iter.Seq2[store.AuditEntry, error], exportedHead string) (Result, error) {
	v := k.Verifier()
	if err := v.Against(exportedHead); err != nil {
		return Result{}, err
	}
	for e, err := range entries {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return Result{}, fmt.Errorf("verify audit log: %w", err)
		}
		if fault := v.Next(e); fault != "" {
			return v.result(fmt.Sprintf("entry %d: %s", v.Entries()+1, fault)), nil
		}
	}
	return v.result(v.End()), nil
}

// Verifier checks a chain entry by entry. It is used by one goroutine.
type Verifier struct {
	key      Key
	n        int64
	last     []byte
	wantN    int64  // of the exported head; 0 where there is none
	wantMAC  []byte // of the exported head
	wantSeen bool
}

// Verifier returns one that has seen no entry.
func (k Key) Verifier() *Verifier { return &Verifier{key: k} }

// Against makes the chain have to hold an exported head, "N:hexMAC"; "" and
// "0:", the head of an empty log, ask for nothing. It is called before Next.
func (v *Verifier) Against(head string) error {
	if head == "" || head == "0:" {
		return nil
	}
	number, text, _ := strings.Cut(head, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	mac, err2 := hex.DecodeString(text)
	if err != nil || err2 != nil || n <= 0 || len(mac) == 0 {
		return yiku.Invalid("head", "must be a number, a colon and a MAC in hex")
	}
	v.wantN, v.wantMAC = n, mac
	return nil
}

// Next checks the next entry and returns what is wrong with it, "" for
// nothing. After a fault the check is over.
func (v *Verifier) Next(e store.AuditEntry) string {
	switch {
	case e.N != v.n+1:
		return fmt.Sprintf("number %d stands here: entries are missing, double or in another order", e.N)
	case !hmac.Equal(e.MAC, v.key.Seal(v.last, e)):
		return "its MAC does not fit: it was changed or added, or the key is another one"
	case e.N == v.wantN && !bytes.Equal(e.MAC, v.wantMAC):
		return "it is not the one that the exported head names"
	}
	v.n, v.last = e.N, e.MAC
	v.wantSeen = v.wantSeen || e.N == v.wantN
	return ""
}

// End returns what is wrong with the end of the chain, "" for nothing.
func (v *Verifier) End() string {
	if v.wantN > 0 && !v.wantSeen {
		return fmt.Sprintf("the exported head names entry %d, and the log ends at %d: its tail is missing", v.wantN, v.n)
	}
	return ""
}

// Entries returns how many entries hold.
func (v *Verifier) Entries() int64 { return v.n }

// Head returns the last entry that holds, as "N:hexMAC".
func (v *Verifier) Head() string { return fmt.Sprintf("%d:%x", v.n, v.last) }

func (v *Verifier) result(fault string) Result {
	return Result{Valid: fault == "", Entries: v.Entries(), Head: v.Head(), Fault: fault}
}

// Pages iterates over a log that is read a page at a time, as
// store.ForgottenReader's AuditEntries does.
func Pages(limit int, read func(after int64, limit int) ([]store.AuditEntry, error)) iter.Seq2[store.AuditEntry, error] {
	return func(yield func(store.AuditEntry, error) bool) {
		for after := int64(0); ; {
			page, err := read(after, limit)
			if err != nil {
				yield(store.AuditEntry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.N
			}
			if len(page) == 0 {
				return
			}
		}
	}
}
