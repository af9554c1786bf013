package httpapi

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/limit"
	"github.com/yiku-ai/yiku/internal/wire"
)

// isLimited reports whether limits hold for a path: those who look after the
// server must get through when it is busy.
func isLimited(path string) bool { return isClosed(path) && path != "/metrics" }

// admit lets the request come in as far as its body. Where it is refused, it
// is answered.
func (s *server) admit(w http.ResponseWriter, r *http.Request, who yiku.Principal) (*stay, bool) {
	if s.Limits == nil || !isLimited(r.URL.Path) {
		return &stay{}, true
	}
	if c := connOf(r.Context()); c != nil {
		c.remember(who, r.Header.Get("Authorization"))
	}
	visit, refusal := s.Limits.Admit(who.Tenant, who.Key)
	if refusal != nil {
		s.refuse(w, r, refusal)
		return nil, false
	}
	return &stay{limits: s.Limits, visit: visit}, true
}

// refuse answers a request that is refused.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, refusal *limit.Refusal) {
	for _, h := range refusalHeaders(refusal) {
		w.Header().Set(h[0], h[1])
	}
	s.fail(w, r, refusalError(refusal))
}

// refusalError is a refusal as the error that it is.
func refusalError(r *limit.Refusal) error {
	detail := map[limit.Reason]string{
		limit.Rate:        "The rate of this key is used up.",
		limit.Day:         "The tenant's requests of this day are used up.",
		limit.Full:        "The server is busy.",
		limit.Late:        "The server is busy.",
		limit.Gone:        "The caller has gone.",
		limit.Connections: "The server has too many connections.",
		limit.Flights:     "Too many bodies and answers of the tenant are on their way.",
	}[r.Reason]
	return &yiku.Error{Sentinel: yiku.ErrLimited, Detail: detail, RetryAfter: r.Retry}
}

// refusalHeaders say which limit it was and when to come again, in the form of
// draft-ietf-httpapi-ratelimit-headers.
func refusalHeaders(r *limit.Refusal) [][2]string {
	retry := strconv.Itoa(limit.Seconds(r.Retry))
	policy := strconv.Quote(r.Reason.String()) + ";q=" + strconv.Itoa(r.Quota)
	if r.Window > 0 {
		policy += ";w=" + strconv.Itoa(limit.Seconds(r.Window))
	}
	return [][2]string{
		{"Retry-After", retry},
		{"RateLimit-Policy", policy},
		{"RateLimit", strconv.Quote(r.Reason.String()) + ";r=0;t=" + retry},
	}
}

// rawRefusal is the whole answer as it travels, for those who write it to a
// connection themselves. It has no request id: nothing of the request was
// looked at.
func rawRefusal(r limit.Refusal, end bool) []byte {
	body, err := json.Marshal(wire.NewProblem(refusalError(&r), ""), encodeOptions())
	if err != nil {
		body = []byte(`{"status":429,"code":"limited"}`)
	}
	out := []byte("HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\n" +
		"X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n")
	for _, h := range refusalHeaders(&r) {
		out = append(out, h[0]+": "+h[1]+"\r\n"...)
	}
	if end {
		out = append(out, "Connection: close\r\n"...)
	}
	return append(append(out, "\r\n"...), body...)
}
