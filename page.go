package yiku

import (
	"bytes"
	"encoding/json"
)

// Page is one page of a list, in the list's order.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Give it as cursor to get the next page; absent on the last."`
	Total      *int   `json:"total,omitempty" doc:"How many there are in all; on the first page only."`
}

// Paging asks for one page of a list.
type Paging struct {
	Limit  int    `json:"limit,omitempty" in:"query" minimum:"1" maximum:"500" doc:"At most this many; 50 where absent."`
	Cursor string `json:"cursor,omitempty" in:"query" maxLength:"4096" doc:"The next_cursor of the page before."`
}

// Idempotent lets a write be repeated safely: the same key and body give the
// same answer again, rebuilt from what is stored now.
type Idempotent struct {
	IdempotencyKey string `json:"idempotency_key,omitempty" in:"header:Idempotency-Key" maxLength:"256"`
}

// Conditional makes a write depend on the version that the caller has seen.
type Conditional struct {
	IfMatch string `json:"if_match,omitempty" in:"header:If-Match" maxLength:"1024" doc:"An ETag, a list of them, or *."`
}

// Opt is a field of a merge patch (RFC 7396): absent, null or a value.
type Opt[T any] struct {
	Present bool // the field stands in the patch
	Null    bool // it is null: the value is taken away
	Value   T
}

// Some returns a present value.
func Some[T any](v T) Opt[T] { return Opt[T]{Present: true, Value: v} }

// Null returns a present null.
func Null[T any]() Opt[T] { return Opt[T]{Present: true, Null: true} }

// IsZero reports whether the field is absent; with omitzero it then is not written.
func (o Opt[T]) IsZero() bool { return !o.Present }

// MarshalJSON writes the value or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Present || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON reads a value or null; it runs only where the field is present.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{Present: true}
	if bytes.Equal(b, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.Value)
}
