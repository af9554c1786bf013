package llm

import (
	"encoding/json"
	"net/http"
)

// Tally is a count of tokens as an endpoint tells it. An answer is not lost for
// its count: what is no number, or below zero, is 0, which says that the
// endpoint did not count; a fraction is cut, and more than a billion is a billion.
type Tally int

const mostTokens = 1_000_000_000

// UnmarshalJSON reads any JSON value; it does not fail.
func (t *Tally) UnmarshalJSON(raw []byte) error {
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		n = 0
	}
	*t = Tally(min(max(n, 0), mostTokens))
	return nil
}

// NoRedirects is the client of those who name none. It follows no redirect: the
// key and the text go to the host that was configured, and nowhere else.
var NoRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
