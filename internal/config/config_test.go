package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/internal/usage"
	"pgregory.net/rapid"

	"github.com/yiku-ai/yiku"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "yiku.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	cfg, err := Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Lang = "en"
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Error(diff)
	}
}

func TestSourcesInOrder(t *testing.T) {
	t.Parallel()
	path := write(t, `
data_dir: /from/file
addr: 127.0.0.1:1
log: {level: warn, format: json}
context:
  turns: 3
session:
  transcript_retention: 30d
recall:
  weights: {relevance: 0.5}
layers:
  summary: false
`)
	cfg, err := Load(
		[]string{"YIKU_CONFIG=" + path, "YIKU_ADDR=127.0.0.1:2", "YIKU_LOG_LEVEL=debug", "YIKU_CONTEXT_MAX_ITEMS=7", "LANG=zh_CN.UTF-8"},
		map[string]string{"addr": "[::1]:3"})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.DataDir, want.Addr, want.Lang = "/from/file", "[::1]:3", "zh"
	want.Log = Log{Level: slog.LevelDebug, Format: "json"}
	want.Context.Turns, want.Context.MaxItems = 3, 7
	want.Session.TranscriptRetention = 30 * day
	want.Recall.Relevance = 0.5
	want.Layers.Summary = false
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	path := write(t, `
adr: 127.0.0.1:1
context: {turns: many, max_items: 11, colour: red}
session: {recent_idle: tomorrow}
`)
	_, err := Load(
		[]string{"YIKU_DATADIR=x", "YIKU_PORT=tcp://10.0.0.1:7421", "YIKU_SERVICE_HOST=10.0.0.1", "YIKU_RECALL_HALF_LIFE=0s"},
		map[string]string{"config": path, "addr": "example.org:7421"})
	var e *yiku.Error
	if !errors.As(err, &e) || !errors.Is(err, yiku.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, f := range e.Fields {
		fields = append(fields, f.Field)
	}
	want := []string{"YIKU_DATADIR", "adr", "context.colour", "session.recent_idle", "context.turns", "--addr", "context.max_items", "YIKU_RECALL_HALF_LIFE"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(err.Error(), "must be an IP address or localhost") {
		t.Errorf("the refusal of the address does not say why: %v", err)
	}
	for _, value := range []string{"tomorrow", "many", "red"} {
		if strings.Contains(err.Error(), value) {
			t.Errorf("the error holds the value %q", value)
		}
	}
}

func TestBrokenFile(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"absent":    filepath.Join(t.TempDir(), "absent.yaml"),
		"not yaml":  write(t, "a: [\n"),
		"twice":     write(t, "addr: 127.0.0.1:1\naddr: 127.0.0.1:2\n"),
		"not a map": write(t, "- addr\n"),
	} {
		if _, err := Load(nil, map[string]string{"config": path}); !errors.Is(err, yiku.ErrInvalid) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line of ErrInvalid", name, err)
		}
	}
}

func TestAddr(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"127.0.0.1:0": true, "127.9.9.9:80": true, "[::1]:7421": true, "localhost:7421": true, "[::ffff:127.0.0.1]:1": true,
		":7421": true, "0.0.0.0:7421": true, "[::]:7421": true, "192.168.1.2:7421": true, "example.org:7421": false,
		"127.0.0.1": false, "127.0.0.1:http": false, "127.0.0.1:70000": false,
	} {
		if got := checkAddr(addr) == nil; got != want {
			t.Errorf("%s: got %v, want %v", addr, got, want)
		}
	}
	for host, want := range map[string]bool{"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "192.168.1.2": false, "example.org": false, "LOCALHOST.evil": false} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q is loopback: %v", host, got)
		}
	}
}

// TestKeysReachEveryField sets each key to another value through the
// environment and finds it again under that key alone.
func TestKeysReachEveryField(t *testing.T) {
	t.Parallel()
	def := Default()
	for _, k := range Keys() {
		other := map[string]string{"addr": "127.0.0.1:9", "lang": "zh", "url": "http://127.0.0.1:1", "log.level": "error", "log.format": "json", "limits.queue_wait": "9s", "backup.keep": "40d",
			"extract.window": "900", "summary.turns": "9", "summary.tokens": "99", "extract.commands": "log", "model.name": "m", "model.url": "http://127.0.0.1:2", "model.structured": "none", "embed.driver": "none", "embed.url": "http://127.0.0.1:3", "embed.encoding": "base64", "embed.former.driver": "auto", "embed.former.url": "http://127.0.0.1:4", "embed.former.encoding": "base64",
			"rerank.driver": "tei", "rerank.url": "http://127.0.0.1:3", "layers.rewrite": "true"}[k.Name]
		if other == "" {
			switch k.at(&def).(type) {
			case *string:
				other = "elsewhere"
			case *bool:
				other = "false"
			case *int, *int64:
				other = "9"
			case *float64:
				other = "0.75"
			case *time.Duration:
				other = "1h1m"
			case *usage.Prices:
				other = "m=1/2,*=0.5/1"
			case *Shares:
				other = "acme=9,*=1"
			}
		}
		cfg, err := Load([]string{k.Env() + "=" + other}, map[string]string{"lang": ""})
		if k.Name == "server.stop_timeout" {
			continue // an hour is too long
		}
		if k.Name == "model.driver" {
			continue // needs a name beside it: TestModelNeedsAName
		}
		if k.Name == "lang" {
			cfg, err = Load([]string{k.Env() + "=" + other}, nil)
		}
		if err != nil {
			t.Errorf("%s: %v", k.Env(), err)
			continue
		}
		if got := k.Value(cfg); got != other {
			t.Errorf("%s: got %q, want %q", k.Name, got, other)
		}
		if k.Value(def) == other {
			t.Errorf("%s: the test's value is the default", k.Name)
		}
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	of := Shares("acme=3,*=1").Of()
	if of("acme") != 3 || of("其他") != 1 || Shares("").Of()("acme") != 0 {
		t.Error("not the tenant's number")
	}
	for text, want := range map[string]Shares{"": "", " acme = 3 , *=0": "acme=3,*=0"} {
		if got, err := parseShares(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"acme", "acme=", "=3", "acme=-1", "acme=x", "acme=1,,b=2", "a b=1=2"} {
		if got, err := parseShares(text); err == nil {
			t.Errorf("%q: got %q, want an error", text, got)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{"365d": 365 * day, "1d12h": 36 * time.Hour, "90s": 90 * time.Second, "0s": 0} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "d", "-1d", "1d-2h", "1.5d", "7 days", "99999999999d"} {
		if d, err := ParseDuration(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, d)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(1000*day)).Draw(t, "d"))
		if got, err := ParseDuration(d.String()); err != nil || got != d {
			t.Fatalf("%v: got %v, %v", d, got, err)
		}
		d -= d % time.Duration(rapid.SampledFrom([]int64{1, int64(time.Minute), int64(time.Hour), int64(day)}).Draw(t, "unit"))
		if got, err := ParseDuration(formatDuration(d)); err != nil || got != d {
			t.Fatalf("%v, written %s: got %v, %v", d, formatDuration(d), got, err)
		}
	})
}

// TestModelNeedsAName: a driver without a model's name is refused, with both
// named it is taken.
func TestModelNeedsAName(t *testing.T) {
	t.Parallel()
	if _, err := Load([]string{"YIKU_MODEL_DRIVER=ollama"}, nil); err == nil {
		t.Error("a driver without a name")
	}
	cfg, err := Load([]string{"YIKU_MODEL_DRIVER=ollama", "YIKU_MODEL_NAME=qwen3"}, nil)
	if err != nil || cfg.Model.Driver != "ollama" || cfg.Model.Name != "qwen3" {
		t.Errorf("%+v, %v", cfg.Model, err)
	}
}

// TestD11_RerankerSettings: what a reranker needs is asked for at the start.
func TestD11_RerankerSettings(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]bool{
		"YIKU_RERANK_DRIVER=cohere": false, "YIKU_RERANK_DRIVER=dashscope": false, "YIKU_RERANK_DRIVER=model": false, "YIKU_RERANK_DRIVER=jina": false,
		"YIKU_RERANK_DRIVER=tei": true, "YIKU_RERANK_DRIVER=cohere YIKU_RERANK_NAME=m": true, "YIKU_RERANK_CANDIDATES=1": false, "YIKU_REWRITE_TIMEOUT=0s": false, "YIKU_EMBED_QUERY_TIMEOUT=0s": false,
		"YIKU_RERANK_DRIVER=model YIKU_MODEL_DRIVER=ollama YIKU_MODEL_NAME=m": true,
	} {
		if _, err := Load(strings.Fields(set), nil); (err == nil) != want {
			t.Errorf("%s: %v", set, err)
		}
	}
}
