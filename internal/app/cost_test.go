//go:build unix

package app

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/store"
)

// The size of the store behind R25, and whether its figures are asserted. Small
// numbers only show that every request of the table is legal.
var (
	costDocs   = flag.Int("cost.docs", 200, "memories of the owner in TestR25; 50,000 for the figures of R25")
	costBytes  = flag.Int("cost.bytes", 150_000, "bytes of messages in the longest session, and of the largest body; 15,000,000 for the figures of R25")
	costAssert = flag.Bool("cost.assert", false, "fail where a request costs more CPU time than its entry allows")
)

// costLimit is R25's figure: the CPU time that no request may exceed.
const costLimit = 200 * time.Millisecond

// costly is one expensive legal request.
type costly struct {
	op    string
	name  string
	build func(*costRig) *http.Request
	// most is what it may cost where the work is inherent, with why; R25's
	// figure where 0.
	most time.Duration
	why  string
}

// costRig is a server whose owner "ann" has a great deal in store.
type costRig struct {
	*world
	rng    *rand.Rand
	memory string // an id of one of ann's memories
}

// request makes a request of an operation. body is nil, or a value that is
// sent as JSON with the user's id in it where there is no place for it elsewhere.
func (c *costRig) request(id string, path map[string]string, query url.Values, body any) *http.Request {
	c.t.Helper()
	op := operations(c.t)[id]
	at := op.Path
	for name, value := range path {
		at = strings.ReplaceAll(at, "{"+name+"}", url.PathEscape(value))
	}
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	raw := []byte{}
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			c.t.Fatal(err)
		}
	}
	r := httptest.NewRequest(op.Method, at, bytes.NewReader(raw))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// tree is a JSON object; user adds whose data it is about.
type tree map[string]any

func ann() url.Values { return url.Values{"user_id": {"ann"}} }

// prose is ordinary text of both languages, of n bytes.
func (c *costRig) prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		if c.rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "w%d ", c.rng.IntN(20_000))
		} else {
			b.WriteRune(rune(0x4e00 + c.rng.IntN(3000)))
			b.WriteRune(rune(0x4e00 + c.rng.IntN(3000)))
		}
	}
	return strings.ToValidUTF8(b.String()[:n], "")
}

// messages are messages of a size that fill n bytes.
func (c *costRig) messages(n, size int) []tree {
	var list []tree
	for left := n; left > 0; left -= size {
		role := []string{"user", "assistant"}[len(list)%2]
		list = append(list, tree{"role": role, "content": c.prose(min(size, left))})
	}
	return list[:min(len(list), 1000)]
}

// manyWords is a query of 996 bytes, each word another that many memories hold.
func manyWords() string {
	var b strings.Builder
	for n := 0; b.Len() < 996; n++ {
		fmt.Fprintf(&b, "w%d ", n)
	}
	return b.String()[:996]
}

// widest is the largest filter: 256 conditions, 8 deep, all of which must be
// looked at, and none of which matches.
func widest() *yiku.Filter {
	leaf := func(i int) yiku.Filter {
		return yiku.Filter{Field: "content", Op: yiku.OpContains, Value: fmt.Sprint("nothing says this ", i)}
	}
	f := yiku.Filter{Or: []yiku.Filter{leaf(0)}}
	for depth := 1; depth < yiku.MaxFilterDepth-2; depth++ {
		f = yiku.Filter{Or: []yiku.Filter{f}}
	}
	for i := range 60 {
		f.Or = append(f.Or, leaf(i))
	}
	for n := range 3 {
		branch := yiku.Filter{}
		for i := range 55 {
			branch.Or = append(branch.Or, leaf(n*100+i))
		}
		f.Or = append(f.Or, branch)
	}
	return &f
}

// fillMemories writes memories of ann straight into the store.
func (c *costRig) fillMemories(name string, count int) {
	c.t.Helper()
	owner := must[yiku.Owner](c.world)(yiku.NewOwner("acme", "ann"))
	now := time.Now().UTC().Add(-time.Hour)
	for done := 0; done < count; done += 500 {
		err := c.store.Update(c.t.Context(), owner, store.Request, func(tx store.Tx) error {
			for i := range min(500, count-done) {
				text := c.prose(150)
				m := store.Memory{ContentNorm: text, SubjectNorm: "user", AttributeNorm: fmt.Sprint(name, done+i), Memory: yiku.Memory{ID: fmt.Sprintf("%s%d", name, done+i), Content: text,
					Type: yiku.TypeFact, Kind: yiku.KindSemantic, Level: yiku.LevelUser, Status: yiku.StatusActive, Importance: .5, Confidence: 1, Trust: 1,
					Subject: "user", Attribute: fmt.Sprint(name, done+i), Value: "v", Topics: []string{"t"}, Metadata: yiku.Metadata{"n": float64(i)},
					Origin: yiku.OriginUser, ValidFrom: now, CreatedAt: now, UpdatedAt: now, ConfirmedAt: now}}
				if err := tx.AddMemory(&m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	c.memory = fmt.Sprint(name, count/2)
}

// fillSession writes messages of ann straight into the store: the clock of
// the request is not the point.
func (c *costRig) fillSession(user, id string, total, size int) {
	c.t.Helper()
	for left := total; left > 0; left -= 1000 * size {
		req := yiku.AppendMessagesRequest{UserID: user, SessionID: id}
		for i := range min(1000, (left+size-1)/size) {
			req.Messages = append(req.Messages, yiku.Message{Role: []yiku.Role{yiku.RoleUser, yiku.RoleAssistant}[i%2], Content: yiku.Text(c.prose(size))})
		}
		must[yiku.AppendMessagesResponse](c.world)(c.as("acme").AppendMessages(c.t.Context(), req))
	}
}

// drop makes the index of a user cold.
func (c *costRig) drop(user string) {
	owner := must[yiku.Owner](c.world)(yiku.NewOwner("acme", user))
	if err := c.index.Drop(c.t.Context(), owner); err != nil {
		c.t.Fatal(err)
	}
}

// cpu is the CPU time of this process so far.
func cpu(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestR25_EveryRequestIsBounded sends, for every operation of the table, its
// most expensive legal requests to a server with a large owner, one at a time,
// and measures the CPU time of the process. An operation without an entry
// fails, and so does a request that is refused. With -cost.assert (in make
// nightly, at full size) the figures are asserted.
func TestR25_EveryRequestIsBounded(t *testing.T) {
	if !*costAssert {
		t.Parallel()
	}
	c := &costRig{world: newWorld(t), rng: rand.New(rand.NewPCG(25, 25))}
	c.fillMemories("m", *costDocs-100) // what the table saves comes beside, below the quota
	c.fillSession("ann", "long", min(*costBytes/4, 5_000*300), 300)
	c.fillSession("talk", "fat", *costBytes, min(*costBytes/15, 1_000_000))
	table := costlyRequests()
	for id := range operations(t) {
		if !slices.ContainsFunc(table, func(r costly) bool { return r.op == id }) {
			t.Errorf("%s has no entry: say what its most expensive request is", id)
		}
	}
	_, operator := c.key("acme", yiku.CreateKeyRequest{Access: admin})
	bounded, beyond, seen := 0, []string{}, false
	for _, e := range table {
		t.Run(e.op+"/"+e.name, func(t *testing.T) {
			c.t = t
			took := c.measure(t, e, operator.bearer)
			if e.most <= costLimit {
				bounded++
				return
			}
			seen = seen || took > costLimit
			beyond = append(beyond, fmt.Sprintf("%s, %s: %.1f s (%s)", e.op, e.name, took.Seconds(), e.why))
		})
	}
	if !*costAssert {
		return
	}
	if !seen {
		t.Error("control: not even what is known to cost more was seen to")
	}
	boardtest.Report(t, boardtest.Row{ID: "R25", Trials: bounded, What: "requests cost more than 200 ms of CPU time", Seeds: "25",
		Control: "those of another entry in the table did", Note: "beyond that, by what they do: " + strings.Join(beyond, "; ")})
}

// measure sends a request and takes its CPU time; where it is near the limit,
// three times, and takes the least: other work on the machine only adds.
func (c *costRig) measure(t *testing.T, e costly, bearer string) time.Duration {
	most := e.most
	if most == 0 {
		most = costLimit
	}
	best := time.Hour
	for range 3 {
		r := e.build(c)
		runtime.GC()
		before := cpu(t)
		rec := c.send(r, bearer)
		took := cpu(t) - before
		if rec.Code != operations(t)[e.op].Status {
			t.Fatalf("%d %.300s", rec.Code, rec.Body)
		}
		if best = min(best, took); !*costAssert || took < most/2 {
			break
		}
	}
	t.Logf("%.1f ms", float64(best.Microseconds())/1000)
	if *costAssert && best > most {
		t.Errorf("%v of CPU, at most %v", best.Round(time.Millisecond), most)
	}
	return best
}
