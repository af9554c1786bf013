package cli_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/yiku-ai/yiku/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"yiku": func() { os.Exit(cli.Main()) }})
}

func TestF6_Scripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Values[serverKey{}] = new(*server)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "count": count, "start": start, "stop": stop, "key": key, "revoke": revoke, "first": first,
		},
	})
}

// code N program args... runs a program and asserts its exit code. Its outputs
// are looked at with the usual commands.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// count N stream asserts the number of lines of the last program's stdout or
// stderr, or of its lines of errors.
func count(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: count N stdout|stderr|errors")
	}
	text := ts.ReadFile(strings.Replace(args[1], "errors", "stderr", 1))
	n := 0
	for line := range strings.Lines(text) {
		if args[1] != "errors" || strings.HasPrefix(line, "yiku: ") {
			n++
		}
	}
	if strconv.Itoa(n) != args[0] {
		ts.Fatalf("%d lines of %s, want %s", n, args[1], args[0])
	}
}

// first NAME sets a variable to the first word of the last program's stdout.
func first(ts *testscript.TestScript, neg bool, args []string) {
	words := strings.Fields(ts.ReadFile("stdout"))
	if neg || len(args) != 1 || len(words) == 0 {
		ts.Fatalf("usage: first NAME, behind a program that has said something")
	}
	ts.Setenv(args[0], words[0])
}

// server is a program that start has started.
type server struct {
	cmd    *exec.Cmd
	ended  chan error
	stderr *strings.Builder
}

type serverKey struct{}

// start program args... starts a server and waits until it says where it
// listens, which is then in URL and ADDR.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: start program args...")
	}
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	s := &server{cmd: exec.Command(path, args[1:]...), ended: make(chan error, 1), stderr: &strings.Builder{}}
	s.cmd.Dir, s.cmd.Stderr = ts.MkAbs("."), s.stderr
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "YIKU_CONFIG", "YIKU_ADDR"} {
		if value := ts.Getenv(name); value != "" {
			s.cmd.Env = append(s.cmd.Env, name+"="+value)
		}
	}
	stdout, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	ts.Defer(func() { _ = s.cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		_ = s.cmd.Wait()
		ts.Fatalf("the server said nothing: %s", s.stderr)
	}
	url, ok := strings.CutPrefix(lines.Text(), "listening on ")
	if !ok {
		ts.Fatalf("the first line is %q", lines.Text())
	}
	go func() {
		for lines.Scan() {
		}
		s.ended <- s.cmd.Wait()
	}()
	ts.Setenv("URL", url)
	ts.Setenv("ADDR", strings.TrimPrefix(url, "http://"))
	*ts.Value(serverKey{}).(**server) = s
}

// stop asks the server that start has started to end, and asserts that it does
// so without a fault.
func stop(ts *testscript.TestScript, _ bool, _ []string) {
	s := *ts.Value(serverKey{}).(**server)
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	if err := <-s.ended; err != nil {
		ts.Fatalf("the server ended with %v: %s", err, s.stderr)
	}
}

// key FILE puts the key or token in a file into YIKU_KEY; without a file it
// takes it away.
func key(ts *testscript.TestScript, _ bool, args []string) {
	text := ""
	if len(args) == 1 {
		text = strings.TrimSpace(ts.ReadFile(args[0]))
	}
	ts.Setenv("YIKU_KEY", text)
}

// revoke FILE revokes the key in a file with itself, at URL.
func revoke(ts *testscript.TestScript, _ bool, args []string) {
	secret := strings.TrimSpace(ts.ReadFile(args[0]))
	ts.Check(ts.Exec("yiku", "key", "revoke", "--url", ts.Getenv("URL"), "--key", secret, secret[3:19]))
}
