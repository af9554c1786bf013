package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/yiku-ai/yiku"
)

const (
	defaultLimit = 50
	cursorMAC    = 16 // bytes
)

// limitOf is the page size that a request asks for.
func limitOf(p yiku.Paging) int {
	if p.Limit == 0 {
		return defaultLimit
	}
	return p.Limit
}

// cursorOf seals a place in a list. scope is what the list depends on beside the
// place (owner and filters): a cursor works only for the list it came from.
func (c *call) cursorOf(place, scope any) (string, error) {
	body, err := json.Marshal(place)
	if err != nil {
		return "", err
	}
	mac, err := c.cursorMAC(body, scope)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(mac, body...)), nil
}

// cut takes the row too many off a list that was read one longer than its
// limit, and returns the cursor of what follows; "" at the end of the list.
func cut[R any](c *call, rows []R, limit int, scope any, place func(R) any) (kept []R, next string, err error) {
	if len(rows) <= limit {
		return rows, "", nil
	}
	rows = rows[:limit]
	next, err = c.cursorOf(place(rows[limit-1]), scope)
	return rows, next, err
}

// openCursor reads a cursor that cursorOf made for the same list into place.
func (c *call) openCursor(cursor string, place, scope any) error {
	invalid := yiku.Invalid("cursor", "is not one that this list gave")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorMAC || strings.ContainsAny(cursor, "\r\n") { // which the decoder passes over
		return invalid
	}
	mac, err := c.cursorMAC(raw[cursorMAC:], scope)
	if err != nil {
		return err
	}
	if !hmac.Equal(raw[:cursorMAC], mac) {
		return invalid
	}
	if err := json.Unmarshal(raw[cursorMAC:], place); err != nil {
		return invalid
	}
	return nil
}

func (c *call) cursorMAC(body []byte, scope any) ([]byte, error) {
	list, err := json.Marshal([]any{c.event.Operation, c.principal.Tenant, scope})
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, c.store.Meta().Secret)
	mac.Write([]byte("cursor\x00"))
	mac.Write(body)
	mac.Write([]byte{0})
	mac.Write(list)
	return mac.Sum(nil)[:cursorMAC], nil
}
