package cli

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/boardtest"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/sample"
)

// run runs the tool in this process and returns its outputs.
func run(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	env := Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err, Now: time.Now, Version: "test"}
	if got := Run(t.Context(), env); got != want {
		t.Fatalf("exit code %d, want %d\n%s\n%s", got, want, out.String(), err.String())
	}
	return out.String(), err.String()
}

// answers cuts the output of a demo into what was shown for each question.
func answers(t *testing.T, out string) []string {
	t.Helper()
	parts := strings.Split(out, "\n? ")
	if len(parts) != 4 {
		t.Fatalf("%d questions are shown", len(parts)-1)
	}
	return parts[1:]
}

// TestDemo runs the whole show in both languages. It holds D5 (nothing is
// recalled for what nobody said), C8 (the old residence and database stay out),
// D4 (constraints always stand there) and G6 (the saving is shown).
func TestDemo(t *testing.T) {
	t.Parallel()
	for lang, word := range map[string]struct{ nothing, recalled, forgotten, saved, honest, stranger string }{
		"en": {"recalled for this question: nothing", "memories recalled for this question", "forgotten", "saved: ", "No model and no key is needed", "(demo-sam): 0 memories, 0 past messages"},
		"zh": {"为这个问题召回的：没有", "为这个问题召回的记忆", "已忘掉", "节省：", "不需要模型，也不需要密钥", "（demo-sam）提出第一个问题：记忆 0 条，过去的消息 0 条"},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			out, _ := run(t, 0, "demo", "--once", "--lang", lang, "--data", t.TempDir(), "--addr", "127.0.0.1:0")
			if !strings.HasPrefix(out, "listening on http://127.0.0.1:") {
				t.Error("the first line does not say where it listens")
			}
			flat := strings.Join(strings.Fields(out), " ") // lines are broken where they are full
			for _, want := range []string{word.forgotten, word.saved, word.honest, word.stranger, "10,800", "360", "PostgreSQL", "我从杭州搬到上海徐汇了"} {
				if !strings.Contains(out, want) && !strings.Contains(flat, want) {
					t.Errorf("%q is not shown", want)
				}
			}
			for i, line := range strings.Split(out, "\n") {
				if width(line) > columns {
					t.Errorf("line %d takes %d columns: %s", i+1, width(line), line)
				}
			}
			for i, a := range answers(t, out) {
				if !strings.Contains(a, "以后不要再发短信") {
					t.Errorf("question %d: the prohibition is missing", i+1)
				}
				if strings.Contains(a, "我住在杭州") || strings.Contains(a, `user: "The database is MySQL and version 2.0 ships at the end of the quarter"`) {
					t.Errorf("question %d: a superseded memory is shown", i+1)
				}
				if unknown := i == 2; unknown != strings.Contains(a, word.nothing) || unknown == strings.Contains(a, word.recalled) {
					t.Errorf("question %d: recalled something unknown, or nothing known:\n%s", i+1, a)
				}
			}
			if second := answers(t, out)[1]; !strings.Contains(second, "5433") {
				t.Error("the port is not recalled")
			}
		})
	}
}

// TestR31_NoTextInEventsAndLogs plays the sample with every log line and event
// written, and looks for pieces of every text of it (G4, R31).
func TestR31_NoTextInEventsAndLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	events := filepath.Join(dir, "events.jsonl")
	_, log := run(t, 0, "demo", "--once", "--data", filepath.Join(dir, "data"), "--addr", "127.0.0.1:0", "--events", events, "--set", "log.level=debug")
	written, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(written, []byte("\n")); n < 30 || !strings.Contains(log, "server started") {
		t.Fatalf("only %d events, log:\n%s", n, log)
	}
	found := 0
	for _, text := range sampleTexts(t) {
		for _, piece := range pieces(text) {
			if strings.Contains(string(written), piece) || strings.Contains(log, piece) {
				t.Errorf("%q stands in events or logs", piece)
			}
			found++
		}
	}
	if found < 500 {
		t.Errorf("only %d pieces were looked for", found)
	}
	boardtest.Report(t, boardtest.Row{ID: "R31", Part: "logs-and-events", Trials: found, What: "pieces of the sample's text stood in logs or events"})
}

func sampleTexts(t *testing.T) []string {
	t.Helper()
	c, err := sample.Load()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range c.Sessions {
		for _, step := range s.Steps {
			texts = append(texts, step.Text)
			if step.Save != nil {
				texts = append(texts, step.Save.Content, step.Save.Subject, step.Save.Value)
			}
		}
	}
	for _, q := range c.Questions {
		texts = append(texts, q.Query)
	}
	return texts
}

// pieces cuts a text into overlapping pieces: 4 Chinese characters or 12 others.
func pieces(text string) []string {
	runes := []rune(text)
	n := 12
	if slices.ContainsFunc(runes, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		n = 4
	}
	var all []string
	for i := 0; i+n <= len(runes); i += n / 2 {
		if piece := string(runes[i : i+n]); strings.Trim(piece, "0123456789 .,:") != "" {
			all = append(all, piece)
		}
	}
	return all
}

// rows is everything that the sample's user has.
func rows(t *testing.T, dir string) (memories []yiku.Memory, messages []yiku.Message) {
	t.Helper()
	cfg := config.Default()
	cfg.Embed.Driver = "none"
	cfg.DataDir = dir
	core, err := app.Open(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = core.Close() }()
	c, err := sample.Load()
	if err != nil {
		t.Fatal(err)
	}
	service := core.Service()
	for _, status := range []yiku.Status{yiku.StatusActive, yiku.StatusSuperseded} {
		page, err := service.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: c.UserID, Status: status})
		if err != nil {
			t.Fatal(err)
		}
		memories = append(memories, page.Items...)
	}
	for _, s := range c.Sessions {
		page, err := service.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: c.UserID, SessionID: s.ID})
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, page.Items...)
	}
	for i := range memories { // what reading changes
		memories[i].AccessCount, memories[i].LastAccess = 0, time.Time{}
	}
	return memories, messages
}

// TestC5_DemoJudgesTheSample plays the sample in without a model: the rules keep
// what is worth keeping, in both languages, and nothing of what the sample says
// is small talk, a mood, a guess, a one-off or forgotten.
func TestC5_DemoJudgesTheSample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, 0, "demo", "--once", "--data", dir, "--addr", "127.0.0.1:0")
	memories, _ := rows(t, dir)
	status := map[string]yiku.Status{}
	for _, m := range memories {
		status[m.Content] = m.Status
	}
	for content, want := range map[string]yiku.Status{
		"我叫林夏": yiku.StatusActive, "我是后端工程师": yiku.StatusActive, "我对花生过敏，以后推荐餐厅或者点餐都要避开花生": yiku.StatusActive, "先说两件事：以后回答尽量简短，先给结论再给理由": yiku.StatusActive, "我一般喝美式咖啡，不加糖": yiku.StatusActive,
		"以后不要再发短信，通知一律发邮件": yiku.StatusActive, "我从杭州搬到上海徐汇了，忙了一整个周末": yiku.StatusActive, "我住在杭州": yiku.StatusSuperseded,
		"The p99 latency must stay under 120 ms": yiku.StatusActive, "Our hosting costs at most 4,000 USD a month": yiku.StatusActive, "It is not MySQL, we use PostgreSQL": yiku.StatusActive,
		"The database is MySQL and version 2.0 ships at the end of the quarter": yiku.StatusSuperseded,
	} {
		if status[content] != want {
			t.Errorf("%q is %q, want %q", content, status[content], want)
		}
	}
	c, err := sample.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Sessions {
		for _, step := range s.Steps {
			for content := range status {
				if step.LeftOut != "" && strings.Contains(step.Text, strings.TrimSuffix(content, "。")) {
					t.Errorf("%q was kept of %q, which is to be left out: %s", content, step.Text, step.LeftOut)
				}
			}
		}
	}
}

// Playing in twice writes nothing twice (A1): neither a second demo nor the
// same requests once more, as after an interruption.
func TestA1_DemoTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"demo", "--once", "--data", dir, "--addr", "127.0.0.1:0"}
	run(t, 0, args...)
	memories, messages := rows(t, dir)
	if len(memories) < 12 || len(messages) < 40 {
		t.Errorf("%d memories and %d messages", len(memories), len(messages))
	}
	out, _ := run(t, 0, args...)
	if !strings.Contains(out, "nothing is written twice") {
		t.Error("the second demo does not say that it is one")
	}
	replay(t, dir)
	again, messagesAgain := rows(t, dir)
	if diff := cmp.Diff(memories, again); diff != "" {
		t.Error(diff)
	}
	if len(messagesAgain) != len(messages) {
		t.Errorf("%d messages after %d", len(messagesAgain), len(messages))
	}
}

func replay(t *testing.T, dir string) {
	t.Helper()
	cfg := config.Default()
	cfg.Embed.Driver = "none"
	cfg.DataDir = dir
	core, err := app.Open(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = core.Close() }()
	c, err := sample.Load()
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{tool: &tool{env: Env{Now: time.Now}}, service: core.Service(), sample: c}
	anchor, done, err := d.played(t.Context())
	if err != nil || !done {
		t.Fatal(done, err)
	}
	for _, r := range c.Requests(anchor) {
		if _, err := d.send(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDemoTakesAnotherPort(t *testing.T) {
	t.Parallel()
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	addr := other.Addr().String()
	out, _ := run(t, 0, "demo", "--once", "--data", t.TempDir(), "--addr", addr)
	if !strings.Contains(out, addr+" is taken by another program") || strings.HasPrefix(out, "listening on http://"+addr+"\n") {
		t.Errorf("got %s", out[:200])
	}
}

// trigger calls a function when a text has been written.
type trigger struct {
	bytes.Buffer
	text string
	then func()
}

func (w *trigger) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.then()
	}
	return n, err
}

// Without --once the server stays up until the user ends it, and that is no failure.
func TestDemoStaysUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	var url string
	out := &trigger{text: "The server stays up"}
	out.then = func() {
		url, _, _ = strings.Cut(strings.TrimPrefix(out.String(), "listening on "), "\n")
		if err := get(ctx, url+"/readyz"); err != nil {
			t.Errorf("not up: %v", err)
		}
		cancel()
	}
	var stderr bytes.Buffer
	env := Env{Args: []string{"demo", "--data", dir, "--addr", "127.0.0.1:0"}, Stdin: strings.NewReader(""), Stdout: out, Stderr: &stderr, Now: time.Now}
	if code := Run(ctx, env); code != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
	if url == "" || get(t.Context(), url+"/healthz") == nil {
		t.Error("the server is still there, or never was", url)
	}
	if !strings.Contains(out.String(), "--user demo-linxia") {
		t.Error("no hints are given")
	}
}

// asked answers every context with the query in it, or a fault.
type asked struct{ yiku.Service }

func (asked) GetContext(_ context.Context, r yiku.GetContextRequest) (yiku.GetContextResponse, error) {
	if r.Query == "fault" {
		return yiku.GetContextResponse{}, yiku.Errorf(yiku.ErrUnavailable, "not now")
	}
	return yiku.GetContextResponse{System: "about " + r.Query}, nil
}

func TestDemoQuestions(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := &demo{tool: &tool{env: Env{Stdout: &out}}, service: asked{}}
	input := lines(t.Context(), strings.NewReader("上海\n\nfault\ntea\x1b[2J\xff\n"))
	if err := d.questions(t.Context(), input); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"about 上海", "not now", `about tea\u001b[2J`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %s", want, out.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.questions(ctx, make(chan string)); err == nil {
		t.Error("questions go on after the end")
	}
}
