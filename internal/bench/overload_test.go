package bench_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

var overloadTime = flag.Duration("overload.time", 10*time.Second, "how long BenchmarkOverload and BenchmarkNeighbour offer each load; nightly takes 60s")

// trafficUsers, with so many memories and messages each, are what traffic is
// about: more messages than a context reads of a session, so that it costs the
// same from the beginning of a run to its end.
const (
	trafficUsers    = 20
	trafficMemories = 500
	trafficMessages = 240
)

// fillTraffic makes a store that traffic makes sense on.
func fillTraffic(b *testing.B, dir string, tenants ...string) {
	b.Helper()
	r := newRig(b, dir, nil)
	defer r.close(b)
	w := newWords(11)
	for _, t := range tenants {
		s := r.engine.As(yiku.Principal{Tenant: t, Access: yiku.AccessAdmin})
		for n := range trafficUsers {
			fillOf(b, r.store, t, userName(n), trafficMemories, w)
			req := yiku.AppendMessagesRequest{UserID: userName(n), SessionID: "s"}
			for i := range trafficMessages {
				role := yiku.RoleUser
				if i%2 == 1 {
					role = yiku.RoleAssistant
				}
				req.Messages = append(req.Messages, yiku.Message{Role: role, Content: yiku.Text(w.sentence(i))})
			}
			if _, err := s.AppendMessages(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// apart puts this process on the second core and gives the environment and the
// words before a command that put another on the first.
func apart(b *testing.B) (before []string) {
	b.Helper()
	taskset, err := exec.LookPath("taskset")
	if err != nil || runtime.NumCPU() < 2 {
		b.Skip("two cores and taskset are needed to keep server and generator apart")
	}
	if out, err := exec.Command(taskset, "-a", "-cp", "1", fmt.Sprint(os.Getpid())).CombinedOutput(); err != nil {
		b.Skipf("taskset: %v: %s", err, out)
	}
	runtime.GOMAXPROCS(1)
	return []string{taskset, "-c", "0", "env", "GOMAXPROCS=1"}
}

// overloadRounds is how often the peak and the overload take turns, so that a
// machine which is slower for a while is slower for both.
const overloadRounds = 3

// BenchmarkOverload offers the real program, on one core, ten times what it can
// do at most (R17). Goodput and the times of what is accepted are compared with
// those at the peak, in the same run; so is the goodput in the second that
// follows.
func BenchmarkOverload(b *testing.B) {
	before := apart(b)
	dir := filepath.Join(b.TempDir(), "data")
	fillTraffic(b, dir, tenant)
	p := startProgram(b, dir, before...)
	defer p.stop(b)
	host := strings.TrimPrefix(p.url, "http://")
	l := load{traffic: newTraffic(b, host, "", trafficUsers, 20_000, 12), address: host}
	l.connections = 64
	l.run(b, 3*time.Second) // warm
	best, callers := 0.0, 0
	for _, connections := range []int{16, 32, 64} {
		l.connections = connections
		if r := l.run(b, *overloadTime/5); r.goodput() > best {
			best, callers = r.goodput(), connections
		}
	}
	var peak, over result
	for range overloadRounds {
		l.connections, l.rate = callers, 0
		peak.add(l.run(b, *overloadTime/overloadRounds))
		l.connections, l.rate = 1024, 10*peak.goodput()
		over.add(l.run(b, *overloadTime/overloadRounds))
	}
	recovery := time.Now()
	var after result
	for l.connections, l.rate = callers, 0; time.Since(recovery) < 15*time.Second; {
		if after = l.run(b, time.Second); after.goodput() >= .9*peak.goodput() {
			break
		}
	}
	for name, r := range map[string]result{"peak": peak, "overload": over, "after": after} {
		if r.bad > 0 {
			b.Errorf("%s: %d requests went wrong, one with %s", name, r.bad, r.failure)
		}
	}
	b.ReportMetric(peak.goodput(), "peak/s")
	b.ReportMetric(float64(over.sent)/over.took.Seconds()/peak.goodput(), "offered-x")
	b.ReportMetric(100*over.goodput()/peak.goodput(), "goodput-%")
	b.ReportMetric(peak.at(.99).Seconds()*1000, "peak-p99-ms")
	b.ReportMetric(over.at(.99).Seconds()/peak.at(.99).Seconds(), "p99-x")
	b.ReportMetric(time.Since(recovery).Seconds(), "recovery-s")
	b.ReportMetric(float64(over.refused), "refused")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRefusal gives the processor time that the server spends on a request
// that it does and on one that it refuses on a known connection: other work on
// the machine does not change it much. goodput-bound is what is left of the
// peak where nine of ten requests are refused and nothing else is lost (R17).
func BenchmarkRefusal(b *testing.B) {
	before := apart(b)
	dir := filepath.Join(b.TempDir(), "data")
	fillTraffic(b, dir, "t")
	key := makeKey(b, dir, "t")
	cost := func(rate string) (result, float64) { // without jobs: what they do is neither request nor refusal
		p := startProgram(b, dir, append(before, "YIKU_EXTRACT_JOBS=false", "YIKU_LIMITS_RATE="+rate, "YIKU_LIMITS_BURST=1000")...)
		defer p.stop(b)
		host := strings.TrimPrefix(p.url, "http://")
		l := load{traffic: newTraffic(b, host, key, trafficUsers, 5000, 15), address: host, connections: 64}
		l.run(b, *overloadTime/2) // warm, and the burst is over
		start := p.cpu(b)
		r := l.run(b, *overloadTime)
		return r, (p.cpu(b) - start).Seconds() * 1e6
	}
	done, work := cost("0")
	refused, idle := cost("0.01")
	if done.done == 0 || refused.refused == 0 || done.bad+refused.bad > 0 {
		b.Fatalf("%d done, %d refused, %d and %d went wrong", done.done, refused.refused, done.bad, refused.bad)
	}
	request, refusal := work/float64(done.done), idle/float64(refused.sent)
	b.ReportMetric(request, "request-us")
	b.ReportMetric(refusal, "refusal-us")
	b.ReportMetric(100*(1-9*refusal/request), "goodput-bound-%")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkNeighbour has one tenant ask ten times its rate while another works
// at a normal pace, a fifth of what the server can do (R18): the other's times
// are compared with those when it is alone, before and after, in the same run.
func BenchmarkNeighbour(b *testing.B) {
	before := apart(b)
	dir := filepath.Join(b.TempDir(), "data")
	fillTraffic(b, dir, "quiet", "loud")
	quietKey, loudKey := makeKey(b, dir, "quiet"), makeKey(b, dir, "loud")
	const quota = 50
	p := startProgram(b, dir, append(before, fmt.Sprint("YIKU_LIMITS_RATE=", quota), fmt.Sprint("YIKU_LIMITS_BURST=", quota))...)
	defer p.stop(b)
	host := strings.TrimPrefix(p.url, "http://")
	quiet := load{traffic: newTraffic(b, host, quietKey, trafficUsers, 20_000, 13), address: host, connections: 16, rate: .9 * quota}
	loud := load{traffic: newTraffic(b, host, loudKey, trafficUsers, 20_000, 14), address: host, connections: 64, rate: 10 * quota}
	quiet.run(b, 3*time.Second) // warm
	alone := quiet.run(b, *overloadTime)
	noise := make(chan result, 1)
	go func() { noise <- loud.run(b, *overloadTime) }()
	beside := quiet.run(b, *overloadTime)
	made := <-noise
	again := quiet.run(b, *overloadTime)
	alone.accepted = append(alone.accepted, again.accepted...)
	alone.bad, alone.refused = alone.bad+again.bad, alone.refused+again.refused
	if n := alone.bad + beside.bad + made.bad; n > 0 {
		b.Errorf("%d requests went wrong: %s %s", n, beside.failure, made.failure)
	}
	b.ReportMetric(float64(beside.refused), "refused-quiet")
	b.ReportMetric(float64(made.sent)/made.took.Seconds()/quota, "offered-x")
	b.ReportMetric(made.goodput()/quota, "loud-got-x")
	b.ReportMetric(alone.at(.5).Seconds()*1000, "alone-p50-ms")
	b.ReportMetric(alone.at(.99).Seconds()*1000, "alone-p99-ms")
	b.ReportMetric(beside.at(.5).Seconds()/alone.at(.5).Seconds(), "p50-x")
	b.ReportMetric(beside.at(.99).Seconds()/alone.at(.99).Seconds(), "p99-x")
	b.ReportMetric(0, "ns/op")
}
