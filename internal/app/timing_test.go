package app

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/credential"
)

var timings = flag.Int("timings", 0, "samples of each pair of TestR30_Timing; make nightly takes 100,000, 0 measures nothing")

// told is the value of Welch's t from which two times differ (dudect).
const told = 4.5

// crops are the shares of the samples that t is taken of, the fastest first:
// what is slower was held up by something else (dudect).
var crops = [...]float64{1, 0.99, 0.95, 0.9, 0.75, 0.5}

// welch is Welch's t of two samples: the difference of their means in units of
// its own uncertainty. It is 0 where there is nothing to compare.
func welch(a, b []float64) float64 {
	ma, va := moments(a)
	mb, vb := moments(b)
	if d := math.Sqrt(va + vb); d > 0 {
		return (ma - mb) / d
	}
	return 0
}

// moments are the mean of a sample and the variance of that mean.
func moments(x []float64) (mean, variance float64) {
	n := float64(len(x))
	if n < 2 {
		return 0, 0
	}
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / (n - 1) / n
	}
	return mean, variance
}

// worst is Welch's t of largest size over the crops. Where a crop ends is taken
// from both samples together.
func worst(a, b []float64) float64 {
	both := slices.Sorted(slices.Values(append(slices.Clone(a), b...)))
	most := 0.0
	for _, share := range crops {
		end := both[int(share*float64(len(both)-1))]
		keep := func(x []float64) []float64 {
			return slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return v > end })
		}
		if t := welch(keep(a), keep(b)); math.Abs(t) > math.Abs(most) {
			most = t
		}
	}
	return most
}

// pair is two kinds of requests whose times must not differ. Each makes the
// next request of its kind.
type pair struct {
	name string
	a, b func(n int) *http.Request
}

// measure times n requests through a handler, of the two kinds in an order of
// chance, with the collector of garbage between them.
func measure(h http.Handler, p pair, n int, seed uint64, rest func()) (a, b []float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const batch = 500
	chance := rand.New(rand.NewPCG(seed, 30))
	for len(a)+len(b) < n {
		rest()
		runtime.GC()
		var asks [batch]*http.Request
		var second [batch]bool
		for i := range asks {
			if second[i] = chance.IntN(2) == 1; second[i] {
				asks[i] = p.b(i)
			} else {
				asks[i] = p.a(i)
			}
		}
		for i, r := range asks {
			rec := httptest.NewRecorder()
			begun := time.Now()
			h.ServeHTTP(rec, r)
			took := float64(time.Since(begun))
			switch {
			case i < batch/10: // after the collector nothing is in the caches
			case second[i]:
				b = append(b, took)
			default:
				a = append(a, took)
			}
		}
	}
	return a, b
}

// TestR30_Timing: how long an answer takes tells nothing. What belongs to
// somebody else takes as long as what does not exist, and a credential that is
// nearly right as long as one that is quite wrong. A difference counts when a
// second run shows it too. The control is a comparison that ends at the first
// byte that differs: it must be found. It measures nothing without -timings.
func TestR30_Timing(t *testing.T) {
	if *timings == 0 {
		t.Skip("not asked for: -timings N")
	}
	w := newWorld(t)
	rest := func() { w.logs.Reset() }
	pairs := w.timedPairs()
	largest := 0.0
	for _, p := range pairs {
		var results [2]float64
		for run := range results {
			a, b := measure(w.handler, p, *timings, uint64(run), rest)
			results[run] = worst(a, b)
			slices.Sort(a)
			slices.Sort(b)
			t.Logf("%-44s t %6.2f   median %.0f and %.0f ns, %d samples", p.name, results[run], a[len(a)/2], b[len(b)/2], len(a)+len(b))
			if math.Abs(results[run]) < told {
				largest = max(largest, math.Abs(results[run]))
				break
			}
		}
		if math.Abs(results[1]) >= told && results[0]*results[1] > 0 {
			t.Errorf("%s: the times differ, t %.1f and %.1f", p.name, results[0], results[1])
		}
	}
	early, p := earlyExit()
	a, b := measure(early, p, *timings, 0, rest)
	control := worst(a, b)
	t.Logf("%-44s t %6.2f", "control: "+p.name, control)
	if math.Abs(control) < told {
		t.Errorf("the control is not found: t %.1f", control)
	}
	boardtest.Report(t, boardtest.Row{ID: "R30", Trials: len(pairs), What: "pairs of answers differed in their times",
		Control: fmt.Sprintf("|t| = %.0f", math.Abs(control)), Note: fmt.Sprintf("%d samples each, largest |t| = %.1f", *timings, largest)})
}

// earlyExit is the control: a door that compares a credential byte by byte and
// stops at the first that differs.
func earlyExit() (http.Handler, pair) {
	secret := credential.NewLocalSecret()
	door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization")
		for i := range min(len(given), len(secret)) {
			if given[i] != secret[i] {
				break
			}
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	ask := func(bearer string) func(int) *http.Request {
		return func(int) *http.Request {
			r := httptest.NewRequest(http.MethodGet, "/v1/keys", nil)
			r.Header.Set("Authorization", bearer)
			return r
		}
	}
	return door, pair{"a comparison that ends early", ask("!" + secret[1:]), ask(secret[:len(secret)-1] + "!")}
}

// timedIDs is how many of each thing there are; a measurement goes through them.
const timedIDs = 64

// timedPairs are what TestR30_Timing compares, through the whole door: the ids
// of ann, asked for by bob or by another tenant, beside ids that nothing has.
func (w *world) timedPairs() []pair {
	w.t.Helper()
	_, own := w.key("acme", yiku.CreateKeyRequest{Access: admin})
	_, other := w.key("globex", yiku.CreateKeyRequest{Access: admin})
	w.seedFor("acme", "bob")
	w.seedFor("globex", "ann")
	all := w.credentialPairs(own)
	table := operations(w.t)
	for _, id := range []string{"get_memory", "patch_memory", "memory_history", "memory_sources", "get_session", "list_messages", "export_session", "get_receipt", "verify_receipt", "get_snapshot", "revoke_key"} {
		r := rules()[id]
		var theirs, nobodys [timedIDs]string
		for i := range timedIDs {
			theirs[i] = w.seed(r.id)
			nobodys[i] = likeID(theirs[i], i)
		}
		ask := func(user, bearer string, ids [timedIDs]string) func(int) *http.Request {
			return func(n int) *http.Request {
				req := r.request(table[id], user, ids[n%timedIDs])
				req.Header.Set("Authorization", "Bearer "+bearer)
				return req
			}
		}
		if !r.tenant {
			all = append(all, pair{id + ": another user's, nobody's", ask("bob", own.bearer, theirs), ask("bob", own.bearer, nobodys)})
		}
		all = append(all, pair{id + ": another tenant's, nobody's", ask("ann", other.bearer, theirs), ask("ann", other.bearer, nobodys)})
	}
	return append(all, w.idempotencyPair(own))
}

// seedFor gives a user something of everything, so that they are known.
func (w *world) seedFor(tenant, user string) {
	w.t.Helper()
	s := w.as(tenant)
	must[yiku.SaveMemoryResponse](w)(s.SaveMemory(w.t.Context(), yiku.SaveMemoryRequest{UserID: user, Content: "喜欢 tea"}))
	must[yiku.AppendMessagesResponse](w)(s.AppendMessages(w.t.Context(), yiku.AppendMessagesRequest{UserID: user, SessionID: "own", Messages: []yiku.Message{{Role: yiku.RoleUser, Content: yiku.Text("好")}}}))
	must[yiku.GetContextResponse](w)(s.GetContext(w.t.Context(), yiku.GetContextRequest{UserID: user, Query: "茶"}))
}

// likeID is an id of the same form that nothing has.
func likeID(id string, n int) string {
	switch parsed, err := uuid.Parse(id); {
	case err == nil: // of the same millisecond
		parsed[15]++
		parsed[8] ^= 0x15
		return parsed.String()
	case strings.Contains(id, "-"):
		return strings.Repeat("x", len(id)-4) + fmt.Sprintf("%04d", n)
	}
	return strings.Repeat("A", len(id)-2) + string(rune('A'+n%26)) + string(rune('A'+n/26))
}

// credentialPairs are credentials that are wrong in different ways.
func (w *world) credentialPairs(own caller) []pair {
	w.t.Helper()
	op := operations(w.t)["list_sessions"]
	ask := func(bearers ...string) func(int) *http.Request {
		return func(n int) *http.Request {
			r := rules()[op.ID].request(op, "ann", "")
			r.Header.Set("Authorization", "Bearer "+bearers[n%len(bearers)])
			return r
		}
	}
	const idEnd = len("yk_") + 16 + len("_")
	var unknown, wrong, first, last []string
	for range timedIDs {
		_, known := w.key("acme", yiku.CreateKeyRequest{Access: read})
		_, fresh, _ := credential.New([]byte("another store")).NewKey()
		// An unknown id is a known one turned by a character: the processor
		// learns ids that come again, and takes letters and digits differently.
		unknown = append(unknown, known.bearer[:3]+known.bearer[4:idEnd-1]+known.bearer[3:4]+fresh[idEnd-1:])
		wrong = append(wrong, known.bearer[:idEnd]+fresh[idEnd:])
		first = append(first, own.bearer[:idEnd]+flip(own.bearer[idEnd:idEnd+1])+own.bearer[idEnd+1:])
		last = append(last, own.bearer[:len(own.bearer)-1]+flip(own.bearer[len(own.bearer)-1:]))
	}
	token := w.token("ann", read, 3600).bearer
	dot := strings.IndexByte(token, '.')
	local := credential.ForLocal(localSecret, "acme")
	return []pair{
		{"key: unknown id, wrong secret of a known id", ask(unknown...), ask(wrong...)},
		{"key: first, last character of the secret wrong", ask(first...), ask(last...)},
		{"token: first, last character of the MAC wrong", ask(token[:dot+1] + flip(token[dot+1:dot+2]) + token[dot+2:]), ask(token[:len(token)-2] + flip(token[len(token)-2:len(token)-1]) + token[len(token)-1:])},
		{"local: first, last character of the secret wrong", ask(strings.Replace(local, localSecret, "!"+localSecret[1:], 1)), ask(strings.Replace(local, localSecret, localSecret[:len(localSecret)-1]+"!", 1))},
	}
}

// flip is another character of base32 and of base64.
func flip(c string) string {
	if c == "A" {
		return "B"
	}
	return "A"
}

// idempotencyPair is bob's write under a key that ann has used, and under one
// that nobody has. The write is refused, so that nothing is kept of it.
func (w *world) idempotencyPair(own caller) pair {
	w.t.Helper()
	op := operations(w.t)["confirm_memory"]
	ask := func(prefix string) func(int) *http.Request {
		return func(n int) *http.Request {
			r := rules()[op.ID].request(op, "bob", likeID(uuid.Nil.String(), 0))
			r.Header.Set("Authorization", "Bearer "+own.bearer)
			r.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%d", prefix, n%timedIDs))
			return r
		}
	}
	for i := range timedIDs {
		id := w.seed("memory")
		must[yiku.Memory](w)(w.as("acme").ConfirmMemory(w.t.Context(), yiku.ConfirmMemoryRequest{ID: id, UserID: "ann", Idempotent: yiku.Idempotent{IdempotencyKey: fmt.Sprintf("used-%d", i)}}))
	}
	return pair{"idempotency key: another user's, nobody's", ask("used"), ask("free")}
}

// TestR30_WelchControl: the measure itself tells a difference of a thousandth
// of the spread in enough samples, tells none where there is none, and is not
// led astray by samples that something held up.
func TestR30_WelchControl(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 30))
	draw := func(shift, heldUp float64) []float64 {
		x := make([]float64, 50_000)
		for i := range x {
			if x[i] = 1000 + shift + 20*chance.NormFloat64(); chance.Float64() < 0.01 {
				x[i] += heldUp * chance.Float64()
			}
		}
		return x
	}
	if got := worst(draw(0, 0), draw(0, 0)); math.Abs(got) >= told {
		t.Errorf("equal samples: t %.1f", got)
	}
	if got := worst(draw(1, 1e6), draw(0, 1e6)); got < told {
		t.Errorf("a difference of 1 in a spread of 20, with outliers: t %.1f", got)
	}
	if got := welch([]float64{1, 2, 3}, []float64{4, 5, 6}); math.Abs(got+3.674) > 0.001 { // -3 / sqrt(1/3 + 1/3)
		t.Errorf("t %.4f", got)
	}
}
