package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestL99_TimesHaveZones: a time without a zone is not guessed: every field that
// takes a time refuses it by its name (L101), and takes the same time with one:
// the control. What words mean is read by TestD9_Times.
func TestL99_TimesHaveZones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, target, body, field string }{
		{"POST", "/v1/memories", `{"user_id":"u","content":"c","valid_from":"%s"}`, "valid_from"},
		{"POST", "/v1/memories", `{"user_id":"u","content":"c","valid_to":"%s"}`, "valid_to"},
		{"POST", "/v1/memories", `{"user_id":"u","content":"c","expires_at":"%s"}`, "expires_at"},
		{"POST", "/v1/sessions/s/messages", `{"user_id":"u","messages":[{"role":"user","content":"c","created_at":"%s"}]}`, "messages[0].created_at"},
		{"POST", "/v1/memories/search", `{"user_id":"u","query":"q","from":"%s"}`, "from"},
		{"POST", "/v1/memories/search", `{"user_id":"u","query":"q","to":"%s"}`, "to"},
		{"POST", "/v1/memories/search", `{"user_id":"u","query":"q","as_of":"%s"}`, "as_of"},
		{"POST", "/v1/context", `{"user_id":"u","options":{"as_of":"%s"}}`, "options.as_of"},
		{"GET", "/v1/stats?from=%s", "", "from"},
	} {
		for at, ok := range map[string]bool{"2026-03-04T10:00:00": false, "2026-03-04 10:00:00": false, "2026-03-04": false, "1772600000": false,
			"2026-03-04T10:00:00%2B08:00": true, "2026-03-04T02:00:00Z": true} {
			w := newWorld(t, settings{})
			target, body := c.target, c.body
			if body == "" {
				target = fmt.Sprintf(target, strings.ReplaceAll(at, " ", "%20"))
			} else {
				body = fmt.Sprintf(body, strings.ReplaceAll(at, "%2B", "+"))
			}
			rec := w.send(c.method, target, body)
			if !ok {
				refused(t, rec, 400, c.field)
			} else if rec.Code >= 300 {
				t.Errorf("%s with %s: %d %s", c.field, at, rec.Code, rec.Body)
			}
		}
	}
}
