package sqlite

import (
	"encoding/json"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	sqlAddReceipt  = `INSERT INTO receipts (key, owner, id, created_at, body) VALUES (?, ?, ?, ?, ?)`
	sqlReceipt     = `SELECT key, body FROM receipts WHERE owner = ? AND id = ?`
	sqlReceiptsOld = `SELECT key, body FROM receipts WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?`
)

// receiptBody is the JSON inside the envelope of a receipt.
type receiptBody struct {
	Receipt yiku.Receipt
	Gone    []byte // packItems
	IDs     []string
}

// PutReceipt stores a receipt; see store.Forgetting.
func (t *tx) PutReceipt(r *store.Receipt) error {
	if r.ID == "" {
		return yiku.Invalid("id", "must not be empty")
	}
	row := *r
	micro(&row.CreatedAt)
	row.UserID = t.own.owner.User()
	plain, err := json.Marshal(receiptBody{Receipt: row.Receipt, Gone: packItems(row.Gone), IDs: row.IDs})
	if err != nil {
		return yiku.Errorf(yiku.ErrInvalid, "the receipt cannot be written as JSON")
	}
	return t.atomic("write receipt", func() error {
		key := t.nextOutside()
		body, err := t.seal(t.own, t.c.at("receipts", key), plain)
		if err != nil {
			return err
		}
		if err := t.c.run(sqlAddReceipt, key, t.own.number, row.ID, row.CreatedAt.UnixMicro(), body); err != nil {
			return err
		}
		*r = row
		return nil
	})
}

// Receipt returns a receipt; see store.ForgottenReader.
func (r *reader) Receipt(owner yiku.Owner, id string) (rec store.Receipt, err error) {
	o, err := r.must(owner, "receipt")
	if err != nil {
		return rec, err
	}
	found, err := r.c.one(sqlReceipt, func(st *sqlite3.Stmt) error {
		rec, err = r.readReceipt(o, st)
		return err
	}, o.number, id)
	if err == nil && !found {
		return store.Receipt{}, notFound("receipt")
	}
	return rec, foreign("read receipt", err)
}

func (r *reader) readReceipt(o *ownerRef, st *sqlite3.Stmt) (rec store.Receipt, err error) {
	plain, err := r.open(o, r.c.at("receipts", st.ColumnInt64(0)), st.ColumnRawBlob(1))
	if err != nil {
		return rec, err
	}
	var b receiptBody
	if err := fromJSON(string(plain), &b); err != nil {
		return rec, err
	}
	rec.Receipt, rec.IDs = b.Receipt, b.IDs
	rec.Gone, err = unpackItems(b.Gone)
	return rec, err
}

// Receipts lists receipts, newest first; see store.ForgottenReader.
func (r *reader) Receipts(owner yiku.Owner, before string, most int) ([]store.Receipt, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	upTo := o.last()
	if before != "" {
		key, err := r.c.number(sqlReceipt, o.number, before)
		if err != nil {
			return nil, foreign("list receipts", err)
		}
		if key == 0 {
			return nil, notFound("receipt")
		}
		upTo = key - 1
	}
	var list []store.Receipt
	err = r.c.each(sqlReceiptsOld, func(st *sqlite3.Stmt) error {
		rec, err := r.readReceipt(o, st)
		list = append(list, rec)
		return err
	}, o.first(), upTo, limit(most))
	return list, foreign("list receipts", err)
}

const (
	sqlOwnerMemories = memorySelect + ` WHERE m.key BETWEEN ? AND ? ORDER BY m.key LIMIT ?`
	sqlOwnerMessages = `SELECT ` + messageColumns + ` FROM messages m WHERE m.key BETWEEN ? AND ? ORDER BY m.key LIMIT ?`
)

// window returns the keys after one and with numbers up to another.
func (o *ownerRef) window(after, upTo int64) (from, to int64) {
	return max(o.first(), after+1), o.first() | min(max(upTo, 0), 1<<ownerShift-1)
}

// OwnerMemories lists an owner's memories; see store.ForgottenReader.
func (r *reader) OwnerMemories(owner yiku.Owner, after, upTo int64, most int) ([]store.Memory, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	from, to := o.window(after, upTo)
	var list []store.Memory
	err = r.c.each(sqlOwnerMemories, func(st *sqlite3.Stmt) error {
		m, err := r.readMemory(o, st)
		list = append(list, m)
		return err
	}, from, to, limit(most))
	return list, foreign("list memories", err)
}

// OwnerMessages lists an owner's messages; see store.ForgottenReader.
func (r *reader) OwnerMessages(owner yiku.Owner, after, upTo int64, most int) ([]store.Message, error) {
	o, err := r.find(owner)
	if err != nil || o == nil {
		return nil, err
	}
	from, to := o.window(after, upTo)
	var list []store.Message
	err = r.c.each(sqlOwnerMessages, func(st *sqlite3.Stmt) error {
		m, err := r.readMessage(o, st)
		list = append(list, m)
		return err
	}, from, to, limit(most))
	if err == nil {
		err = r.nameSessions(o, list, sessionIDs{})
	}
	return list, foreign("list messages", err)
}
