package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/boardtest"
)

var stops = flag.Int("stops", 10, "how often the server is stopped under load")

// TestMain lets the test binary be the program where it is called yiku, so that
// the tests run main itself, and run again whenever it changes.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "yiku" {
		main()
	}
	os.Exit(m.Run())
}

// program gives the path of the program.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "yiku")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr log
	rest   chan string // what followed the first line of standard output
}

func start(t *testing.T, program, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, "serve", "--data", dir, "--addr", "127.0.0.1:0"), rest: make(chan string, 1)}
	p.cmd.Env = append(os.Environ(), "YIKU_EMBED_DRIVER=none") // whatever was fetched on this machine
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatalf("the server said nothing: %v\n%s", p.cmd.Wait(), &p.stderr)
	}
	url, ok := strings.CutPrefix(lines.Text(), "listening on ")
	if !ok {
		t.Fatalf("the first line is %q", lines.Text())
	}
	p.url = url
	go func() {
		var rest strings.Builder
		for lines.Scan() {
			rest.WriteString(lines.Text() + "\n")
		}
		p.rest <- rest.String()
	}()
	return p
}

// end sends SIGTERM and asserts an orderly end.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest := <-p.rest
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("the server ended with %v\n%s", err, &p.stderr)
	}
	if rest != "" {
		t.Errorf("more on standard output: %q", rest)
	}
}

// writer appends to one session until the server is gone, and keeps what was
// acknowledged.
type writer struct {
	session string
	acked   []string
	fault   error // an answer of the server that is no success
}

func (w *writer) run(ctx context.Context, c *client.Client, acked func()) {
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-%d", w.session, n)
		_, err := c.AppendMessages(ctx, yiku.AppendMessagesRequest{SessionID: w.session, UserID: "林", Messages: []yiku.Message{
			{ID: id, Role: yiku.RoleUser, Content: yiku.Text("message 消息 " + id)},
		}})
		if err == nil {
			w.acked = append(w.acked, id)
			acked()
			continue
		}
		var e *yiku.Error
		if errors.As(err, &e) && e.RequestID != "" || !errors.Is(err, yiku.ErrUnavailable) {
			w.fault = err
		}
		return
	}
}

// TestR19_StopUnderLoad starts the real program, appends from many clients,
// sends SIGTERM in the middle, starts it again, and finds every message that
// was acknowledged (A1, A5). No request is answered with an error. A hundred
// stops: go test ./cmd/yiku -run StopUnderLoad -stops 100
func TestR19_StopUnderLoad(t *testing.T) {
	t.Parallel()
	program, dir := program(t), t.TempDir()
	var all []*writer
	for round := range *stops {
		p := start(t, program, dir)
		writers := load(t, p, round)
		all = append(all, writers...)
	}
	p := start(t, program, dir)
	c, err := client.New(p.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, w := range all {
		if w.fault != nil {
			t.Errorf("%s: the server answered with an error: %v", w.session, w.fault)
		}
		total += len(w.acked)
		assertKept(t, c, w)
	}
	if total < *stops*200 {
		t.Errorf("only %d messages were acknowledged", total)
	}
	p.end(t)
	if _, err := os.Stat(filepath.Join(dir, "server.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("server.json after the end: %v", err)
	}
	boardtest.Report(t, boardtest.Row{ID: "R19", Trials: *stops, What: "stops under load lost a message or answered with an error", Note: fmt.Sprint(total, " acknowledged messages")})
}

// load runs eight writers and stops the server after 200 acknowledgements.
func load(t *testing.T, p *process, round int) []*writer {
	t.Helper()
	c, err := client.New(p.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	acks := make(chan struct{}, 1<<16)
	var writers []*writer
	var running sync.WaitGroup
	for n := range 8 {
		w := &writer{session: fmt.Sprintf("s-%d-%d", round, n)}
		writers = append(writers, w)
		running.Go(func() { w.run(t.Context(), c, func() { acks <- struct{}{} }) })
	}
	for range 200 {
		<-acks
	}
	p.end(t)
	running.Wait()
	return writers
}

// assertKept finds every acknowledged message, once and in order. More may be
// there: what was committed and not answered.
func assertKept(t *testing.T, c *client.Client, w *writer) {
	t.Helper()
	var kept []string
	cursor := ""
	for {
		page, err := c.ListMessages(t.Context(), yiku.ListMessagesRequest{SessionID: w.session, UserID: "林", Paging: yiku.Paging{Limit: 500, Cursor: cursor}})
		if errors.Is(err, yiku.ErrNotFound) && len(w.acked) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Items {
			kept = append(kept, m.ID)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(kept) < len(w.acked) || len(kept) > len(w.acked)+1 {
		t.Fatalf("%s: %d messages kept, %d acknowledged", w.session, len(kept), len(w.acked))
	}
	for i, id := range w.acked {
		if kept[i] != id {
			t.Fatalf("%s: message %d is %s, want %s", w.session, i, kept[i], id)
		}
	}
}

// TestH1_BinarySize builds the program as it is shipped, without cgo and
// stripped, and holds it below 45 MB.
func TestH1_BinarySize(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	path := filepath.Join(t.TempDir(), "yiku")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if info.Size() > 45e6 {
		t.Errorf("%d bytes", info.Size())
	}
}
