package archtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// readmes are the pages whose examples are run.
var readmes = []string{"README.md", "README.zh-CN.md"}

// example returns the code block that follows the mark "<!-- example: name -->".
func example(t *testing.T, page, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- example: " + name + " -->\n```[a-z]*\n(.*?)```")
	match := block.FindSubmatch(text)
	if match == nil {
		t.Fatalf("%s has no example %q", page, name)
	}
	return string(match[1])
}

// goCommand runs the go command in the module's folder, without cgo, as the
// Makefile does.
func goCommand(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestReadmeGo_F2 builds the Go example of each README and runs it.
func TestReadmeGo_F2(t *testing.T) {
	t.Parallel()
	for _, page := range readmes {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "example")
			if err := os.WriteFile(source, []byte(example(t, page, "go")), 0o600); err != nil {
				t.Fatal(err)
			}
			goCommand(t, "build", "-o", program, source)
			cmd := exec.CommandContext(t.Context(), program)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{"You are a courier's assistant.", "不要给我发短信，用邮件", "1 message,"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("the output lacks %q:\n%s", want, out)
				}
			}
		})
	}
}

// TestReadmeCurl_F1 sends the curl examples of each README to a server that it
// starts from the real binary.
func TestReadmeCurl_F1(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "yiku")
	goCommand(t, "build", "-o", program, "./cmd/yiku")
	for _, page := range readmes {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			base := serve(t, program)
			var answer string
			for command := range strings.SplitSeq(strings.TrimSpace(example(t, page, "curl")), "\n\n") {
				answer = curl(t, command, base)
			}
			for _, want := range []string{"你是旅行助手。", "用户住在杭州", "周末这里有什么好玩的？"} {
				if !strings.Contains(answer, want) {
					t.Errorf("the last answer lacks %q:\n%s", want, answer)
				}
			}
		})
	}
}

// serve starts the server on a free port and returns its address. It is
// stopped at the end of the test and must then exit without an error.
func serve(t *testing.T, program string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, program, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), "YIKU_EMBED_DRIVER=none")
	cmd.WaitDelay = 30 * time.Second
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v:\n%s", err, &log)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		cancel()
		_ = cmd.Wait()
		t.Fatalf("the first line is %q (%v):\n%s", line, err, &log)
	}
	return address
}

var curlForm = regexp.MustCompile(`(?s)^curl -s (http://127\.0\.0\.1:7421)(\S+) -H '([^:']+): ([^']+)' -d '([^']+)'$`)

// curl does what the command does, in the one form that the pages use, against
// another address, and fails where the answer is not a success.
func curl(t *testing.T, command, base string) string {
	t.Helper()
	match := curlForm.FindStringSubmatch(command)
	if match == nil {
		t.Fatalf("not in the form of the pages' examples: %s", command)
	}
	body, err := post(t.Context(), base+match[2], match[3], match[4], match[5])
	if err != nil {
		t.Fatalf("%s\n%v", command, err)
	}
	return body
}

func post(ctx context.Context, url, header, value, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set(header, value)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("status %d: %s", res.StatusCode, answer)
	}
	return string(answer), err
}

// TestReadmesAgree holds the two READMEs against each other: the same sections
// in number, the same rows of tables, the same links, the same examples but
// for comments.
func TestReadmesAgree(t *testing.T) {
	t.Parallel()
	count := func(page, pattern string) int {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		return len(regexp.MustCompile(pattern).FindAll(text, -1))
	}
	for name, pattern := range map[string]string{
		"sections": `(?m)^## `, "table rows": `(?m)^\| `, "list items": `(?m)^- `, "links to docs": `\]\(docs/`,
	} {
		if a, b := count(readmes[0], pattern), count(readmes[1], pattern); a != b {
			t.Errorf("%s: %d and %d", name, a, b)
		}
	}
	comments := regexp.MustCompile(`//.*`)
	for _, name := range []string{"go", "curl"} {
		var texts []string
		for _, page := range readmes {
			code := example(t, page, name)
			if name == "go" {
				code = comments.ReplaceAllString(code, "")
			}
			texts = append(texts, code)
		}
		if texts[0] != texts[1] {
			t.Errorf("the %s examples differ", name)
		}
	}
}
