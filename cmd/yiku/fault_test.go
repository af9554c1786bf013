package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/boardtest"
)

var faults = flag.Int("faults", 16, "points of TestR3_SystemCalls, evenly out of 400; make nightly takes all")

const faultPoints = 400

// fault is one system call that fails: the n-th of a thread on a file of the
// data directory.
type fault struct {
	call, how string // how as strace says it: error=EIO, retval=0
	when      string // 5: the fifth; 5+: the fifth and all after it
	fresh     bool   // the directory is new: the schema is made under the fault
}

func (f fault) String() string {
	return fmt.Sprintf("%s:%s:when=%s, fresh %v", f.call, f.how, f.when, f.fresh)
}

// faultsToTry are 400 points: each call that writes, each way to fail, and the
// n-th time of each. A write that takes nothing (retval=0) is the short write
// that a tracer can make without a lie.
func faultsToTry() []fault {
	var all []fault
	for _, k := range []struct {
		call, how   string
		fresh, used int // how many points in a new directory and in one that is in use
		step        int
	}{
		{"pwrite64", "error=EIO", 15, 45, 4}, {"pwrite64", "error=ENOSPC", 15, 45, 4}, {"pwrite64", "error=EINTR", 15, 45, 4}, {"pwrite64", "retval=0", 15, 45, 4},
		{"fdatasync", "error=EIO", 10, 20, 1}, {"fdatasync", "error=ENOSPC", 10, 20, 1}, {"fdatasync", "error=EINTR", 10, 20, 1},
		{"openat", "error=EIO", 8, 12, 2}, {"openat", "error=ENOSPC", 8, 12, 2},
		{"ftruncate", "error=EIO", 3, 5, 1}, {"fsync", "error=EIO", 3, 3, 1}, {"renameat", "error=EIO", 1, 1, 1}, {"unlinkat", "error=EIO", 2, 2, 1}, {"write", "error=ENOSPC", 5, 5, 1},
	} {
		for n := range k.fresh {
			all = append(all, fault{k.call, k.how, fmt.Sprint(1 + n*k.step*2), true})
		}
		for n := range k.used {
			all = append(all, fault{k.call, k.how, fmt.Sprint(1 + n*k.step), false})
		}
	}
	return all[:min(len(all), faultPoints)]
}

// traced starts the program under strace with a fault. Where it does not come
// up it returns nil and what it said.
func traced(t *testing.T, program, dir string, f fault) (p *process, log, said string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "strace")
	args := []string{"-D", "-f", "-y", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=" + f.call, "-e", "inject=" + f.call + ":" + f.how + ":when=" + f.when}
	for _, name := range []string{"", "lock", "server.json", "server.json.new", "yiku.db", "yiku.db-wal", "yiku.db-shm", "yiku.db-mark", "yiku.db-journal", "keys", "keys/audit.key"} {
		args = append(args, "-P", filepath.Join(dir, name))
	}
	args = append(args, program, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	p = &process{cmd: exec.Command("strace", args...), rest: make(chan string, 1)}
	p.cmd.Env = append(os.Environ(), "YIKU_EMBED_DRIVER=none")
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		if err := p.cmd.Wait(); err == nil {
			t.Errorf("%v: the server ended without an error and said nothing", f)
		}
		return nil, log, p.stderr.String()
	}
	p.url = strings.TrimPrefix(lines.Text(), "listening on ")
	go func() {
		for lines.Scan() {
		}
		p.rest <- ""
	}()
	return p, log, ""
}

// kill ends the server at once, and waits for it.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	<-p.rest
	_ = p.cmd.Wait() // killed
}

// deed is one write of the script with its idempotency key.
type deed struct {
	name string
	do   func(context.Context, *client.Client) error
	done bool // it was acknowledged
}

const faultUser, faultCanary = "林", "CANARY 金丝雀"

// script is what is asked of the server under a fault.
func script() []*deed {
	key := func(k string) yiku.Idempotent { return yiku.Idempotent{IdempotencyKey: k} }
	var all []*deed
	add := func(name string, do func(context.Context, *client.Client) error) {
		all = append(all, &deed{name: name, do: do})
	}
	save := func(name string) {
		add("save "+name, func(ctx context.Context, c *client.Client) error {
			_, err := c.SaveMemory(ctx, yiku.SaveMemoryRequest{Idempotent: key(name), UserID: faultUser, Content: faultCanary + " " + name})
			return err
		})
	}
	appendOne := func(name string) {
		add("append "+name, func(ctx context.Context, c *client.Client) error {
			_, err := c.AppendMessages(ctx, yiku.AppendMessagesRequest{Idempotent: key(name), UserID: faultUser, SessionID: "s",
				Messages: []yiku.Message{{ID: name, Role: yiku.RoleUser, Content: yiku.Text(faultCanary + " " + name)}}})
			return err
		})
	}
	save("alpha")
	appendOne("one")
	save("beta")
	appendOne("two")
	add("forget beta", func(ctx context.Context, c *client.Client) error {
		_, err := c.Forget(ctx, yiku.ForgetRequest{Idempotent: key("forget"), UserID: faultUser, Selector: yiku.Selector{Keyword: "beta"}, Reason: "asked"})
		return err
	})
	save("gamma")
	appendOne("three")
	add("working", func(ctx context.Context, c *client.Client) error {
		_, err := c.PutWorking(ctx, yiku.PutWorkingRequest{UserID: faultUser, SessionID: "s", DataSlots: map[string]any{"slot": faultCanary}})
		return err
	})
	save("delta")
	return all
}

// verdict is what one point showed.
type verdict struct {
	hit, refused, red, healed bool
}

// try runs the script under one fault, and after a restart without it finds
// every acknowledged effect.
func try(t *testing.T, program string, f fault) (v verdict) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if !f.fresh {
		p := start(t, program, dir)
		c := connect(t, p)
		for _, d := range script()[:1] {
			if err := d.do(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		p.kill(t)
	}
	deeds := script()
	p, log, said := traced(t, program, dir, f)
	if p == nil {
		v.refused = true
		if !strings.Contains(said, ":") {
			t.Errorf("%v: it did not start and does not say why: %q", f, said)
		}
	} else {
		c, err := client.New(p.url, &client.Options{Wait: func(context.Context, time.Duration) error { return errors.New("no second try") }})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range deeds {
			if d.done = d.do(t.Context(), c) == nil; !d.done {
				v.faulted(t, f, p, c, d)
			}
		}
		p.kill(t)
		said = p.stderr.String()
	}
	for _, bad := range []string{"panic", "goroutine ", "fatal error", "CANARY", "金丝雀"} {
		if strings.Contains(said, bad) {
			t.Errorf("%v: standard error holds %q:\n%s", f, bad, said)
		}
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	v.hit = bytes.Contains(trace, []byte("(INJECTED)"))
	if unsynced(trace) && !v.refused && !slices.ContainsFunc(deeds, func(d *deed) bool { return !d.done }) {
		t.Errorf("%v: a sync failed and every write was acknowledged\n%s\n%s", f, trace, said)
	}
	v.after(t, f, program, dir, deeds)
	return v
}

// unsynced tells whether a sync of the log failed for good. EINTR is repeated.
func unsynced(trace []byte) bool {
	for line := range bytes.Lines(trace) {
		if bytes.Contains(line, []byte("fdatasync")) && bytes.Contains(line, []byte("yiku.db-wal>")) &&
			bytes.Contains(line, []byte("(INJECTED)")) && !bytes.Contains(line, []byte("EINTR")) {
			return true
		}
	}
	return false
}

// faulted looks at a server that has just refused a write: within a second the
// same write succeeds, or /readyz is red. Where it is red it says what to do,
// or turns green by itself; reads go on.
func (v *verdict) faulted(t *testing.T, f fault, p *process, c *client.Client, d *deed) {
	t.Helper()
	deadline := time.Now().Add(time.Second)
	for status, detail := readiness(p); ; status, detail = readiness(p) {
		if status != http.StatusOK {
			v.red = true
			if strings.Contains(detail, "restart") {
				break
			}
		} else if d.done = d.do(t.Context(), c) == nil; d.done {
			v.healed = true
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("%v: %s fails, and after a second /readyz is %d: %s\n%s", f, d.name, status, detail, p.stderr.String())
			break
		}
	}
	if _, err := c.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: faultUser}); err != nil {
		t.Errorf("%v: after %s reads fail: %v", f, d.name, err)
	}
}

func readiness(p *process) (status int, body string) {
	res, err := http.Get(p.url + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}

// after starts the server without a fault. What was acknowledged is there, what
// was not can be asked for again, and then everything is there once.
func (v *verdict) after(t *testing.T, f fault, program, dir string, deeds []*deed) {
	t.Helper()
	p := start(t, program, dir)
	defer p.kill(t)
	c := connect(t, p)
	before := found(t, c)
	done := map[string]bool{}
	for _, d := range deeds {
		done[d.name] = d.done
	}
	for _, d := range deeds {
		kind, name, _ := strings.Cut(d.name, " ")
		switch {
		case !d.done || name == "beta" && kind == "save":
		case kind == "forget" && before["beta"] > 0:
			t.Errorf("%v: what was forgotten is there", f)
		case (kind == "save" || kind == "append") && before[name] != 1:
			t.Errorf("%v: %s was acknowledged and is there %d times", f, d.name, before[name])
		}
		if err := d.do(t.Context(), c); err != nil && !(d.name == "save beta" && errors.Is(err, yiku.ErrForgotten)) {
			t.Errorf("%v: %s asked for again: %v", f, d.name, err)
		}
	}
	all := found(t, c)
	for _, name := range []string{"alpha", "gamma", "delta", "one", "two", "three"} {
		if all[name] != 1 {
			t.Errorf("%v: in the end %s is there %d times", f, name, all[name])
		}
	}
	if status, body := readiness(p); status != http.StatusOK || all["beta"] != 0 {
		t.Errorf("%v: in the end /readyz is %d (%s), and what was forgotten is there %d times", f, status, body, all["beta"])
	}
}

// found counts memories and messages by the last word of their text.
func found(t *testing.T, c *client.Client) map[string]int {
	t.Helper()
	n := map[string]int{}
	memories, err := c.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: faultUser})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range memories.Items {
		n[strings.TrimPrefix(m.Content, faultCanary+" ")]++
	}
	messages, err := c.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: faultUser, SessionID: "s"})
	if err != nil && !errors.Is(err, yiku.ErrNotFound) {
		t.Fatal(err)
	}
	for _, m := range messages.Items {
		n[strings.TrimPrefix(m.Content.PlainText(), faultCanary+" ")]++
	}
	return n
}

func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		fmt.Fprintln(os.Stderr, "SKIPPED: the faults of system calls (R3) need strace, a package of that name")
		t.Skip("strace is not installed")
	}
}

// TestR3_SystemCalls lets the n-th write, sync, open, truncation or rename of
// the real program on its data directory fail in the kernel's place, once: EIO,
// ENOSPC, EINTR, or nothing written. No write is acknowledged that is not there
// after a restart, a server that cannot write is red within a second, and it
// goes on by itself or says what to do. All 400: -faults 400
func TestR3_SystemCalls(t *testing.T) {
	t.Parallel()
	needStrace(t)
	program, all := program(t), faultsToTry()
	count := min(*faults, len(all))
	points := make(chan fault)
	var wg sync.WaitGroup
	var hit, refused, red, healed atomic.Int64
	tally := func(n *atomic.Int64, yes bool) {
		if yes {
			n.Add(1)
		}
	}
	for range 2 {
		wg.Go(func() {
			for f := range points {
				v := try(t, program, f)
				tally(&hit, v.hit)
				tally(&refused, v.refused)
				tally(&red, v.red)
				tally(&healed, v.healed)
			}
		})
	}
	for n := range count {
		points <- all[n*len(all)/count]
	}
	close(points)
	wg.Wait()
	note := fmt.Sprintf("%d hit a call; %d starts refused, %d times red, %d times the same write succeeded at once", hit.Load(), refused.Load(), red.Load(), healed.Load())
	t.Logf("%d points, %s", count, note)
	if hit.Load() == 0 {
		t.Error("no point hit a call")
	}
	boardtest.Report(t, boardtest.Row{ID: "R3", Part: "system-calls", Trials: count, What: "system calls that failed made a false acknowledgement, a crash or a server that is green and cannot write", Note: note})
}

// TestR3_Controls: a run in which a sync of the log failed for good is told from
// one in which it was repeated, or another file's failed. A server that had
// acknowledged everything in the first is what TestR3_SystemCalls reports.
func TestR3_Controls(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`7 fdatasync(9</d/yiku.db-wal>) = -1 EIO (Input/output error) (INJECTED)`:         true,
		`7 fdatasync(9</d/yiku.db-wal>) = -1 ENOSPC (No space left on device) (INJECTED)`: true,
		`7 fdatasync(9</d/yiku.db-wal>) = -1 EINTR (Interrupted system call) (INJECTED)`:  false,
		`7 fdatasync(9</d/yiku.db>) = -1 EIO (Input/output error) (INJECTED)`:             false,
		`7 fdatasync(9</d/yiku.db-wal>) = 0`:                                              false,
	} {
		if got := unsynced([]byte("7 read(3) = 0\n" + line + "\n")); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

// TestR3_SyncFailsForEver: where the disk syncs no more, nothing is
// acknowledged from then on, /readyz is red and says what to do, and reads go on.
func TestR3_SyncFailsForEver(t *testing.T) {
	t.Parallel()
	needStrace(t)
	program, dir := program(t), t.TempDir()
	first := start(t, program, dir)
	if err := script()[0].do(t.Context(), connect(t, first)); err != nil {
		t.Fatal(err)
	}
	first.kill(t)
	p, _, said := traced(t, program, dir, fault{call: "fdatasync", how: "error=EIO", when: "10+"})
	if p == nil {
		t.Fatal(said)
	}
	defer p.kill(t)
	c, err := client.New(p.url, &client.Options{Wait: func(context.Context, time.Duration) error { return errors.New("no second try") }})
	if err != nil {
		t.Fatal(err)
	}
	save := func(n int) error {
		_, err := c.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: faultUser, Content: fmt.Sprintf("%s fact%d", faultCanary, n)})
		return err
	}
	acknowledged := 0
	for acknowledged < 200 && save(acknowledged) == nil {
		acknowledged++
	}
	for n := range 20 {
		if save(1000+n) == nil {
			t.Error("a write was acknowledged on a disk that does not sync")
		}
		if status, body := readiness(p); status != http.StatusServiceUnavailable || !strings.Contains(body, "restart") {
			t.Errorf("/readyz is %d: %s", status, body)
		}
	}
	page, err := c.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: faultUser, Paging: yiku.Paging{Limit: 500}})
	if err != nil || len(page.Items) < 1+acknowledged {
		t.Errorf("%d memories are read of %d acknowledged: %v", len(page.Items), 1+acknowledged, err)
	}
	boardtest.Report(t, boardtest.Row{ID: "R3", Part: "sync-for-ever", Trials: 20, What: "writes were acknowledged by the real program once its disk had stopped to sync",
		Note: "/readyz red and saying what to do each time"})
}
