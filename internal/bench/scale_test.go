package bench_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
)

var (
	scaleOwners = flag.Int("scale.owners", 200, "owners of 100 memories in BenchmarkScale; make bench takes 10,000")
	scaleBinary = flag.String("scale.binary", "", "the built program; BenchmarkScale builds it where empty")
)

const memoriesAnOwner = 100

// BenchmarkScale fills a store with many owners of 100 memories, starts the real
// program on it, and measures start to ready, its memory before any query, and
// queries of owners that are not loaded yet.
func BenchmarkScale(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	fillOwners(b, dir, *scaleOwners)
	p := startProgram(b, dir)
	defer p.stop(b)
	b.ReportMetric(p.ready.Seconds(), "ready-s")
	b.ReportMetric(p.rssMB(b), "rss-MB")
	c, err := client.New(p.url, nil)
	if err != nil {
		b.Fatal(err)
	}
	w := newWords(6)
	rng := rand.New(rand.NewPCG(9, 9))
	var cold timings
	for _, n := range rng.Perm(*scaleOwners)[:min(200, *scaleOwners)] {
		cold.time(b, func() error {
			_, err := c.SearchMemory(b.Context(), yiku.SearchMemoryRequest{UserID: userName(n), Query: w.query()})
			return err
		})
	}
	cold.report(b, "cold")
	b.ReportMetric(p.rssMB(b), "rss-after-MB")
	b.ReportMetric(0, "ns/op")
}

func userName(n int) string { return fmt.Sprintf("user-%05d", n) }

func fillOwners(b *testing.B, dir string, owners int) {
	b.Helper()
	r := newRig(b, dir, nil)
	defer r.close(b)
	w := newWords(5)
	for n := range owners {
		fill(b, r.store, userName(n), memoriesAnOwner, w)
	}
}

// program is a running server.
type program struct {
	cmd   *exec.Cmd
	url   string
	ready time.Duration
}

// startProgram starts the server on a directory; before are words to put before
// the command.
func startProgram(b *testing.B, dir string, before ...string) program {
	b.Helper()
	args := append(before, builtProgram(b), "serve", "--data", dir, "--addr", "127.0.0.1:0")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "YIKU_EMBED_DRIVER=none")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return program{cmd: cmd, url: strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), ready: time.Since(start)}
}

// makeKey makes a key of a tenant on a directory that no server has open.
func makeKey(b *testing.B, dir, tenant string) string {
	b.Helper()
	out, err := exec.Command(builtProgram(b), "key", "create", "--data", dir, "--tenant", tenant, "--access", "write").CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for word := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(word, "yk_") {
			return word
		}
	}
	b.Fatalf("no key in %s", out)
	return ""
}

// builtProgram is the program's path.
func builtProgram(b *testing.B) string {
	b.Helper()
	binary := *scaleBinary
	if binary == "" {
		binary = filepath.Join(b.TempDir(), "yiku")
		build := exec.Command("go", "build", "-o", binary, "github.com/yiku-ai/yiku/cmd/yiku")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	return binary
}

// rssMB is the program's resident memory (VmRSS of /proc).
func (p program) rssMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("no /proc on this system")
	}
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	return 0
}

// cpu is the processor time that the program has used (utime and stime of /proc).
func (p program) cpu(b *testing.B) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("no /proc on this system")
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

func (p program) stop(b *testing.B) {
	b.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		b.Error(err)
	}
}
