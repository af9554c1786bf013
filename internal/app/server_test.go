package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/engine"
	"github.com/yiku-ai/yiku/internal/config"
)

func testConfig(t *testing.T) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Embed.Driver = "none"
	cfg.DataDir, cfg.Addr = t.TempDir(), "127.0.0.1:0"
	return cfg
}

// serveFake starts a server over a handler instead of an engine.
func serveFake(t *testing.T, cfg config.Config, handler http.Handler) (*Server, *[]string) {
	t.Helper()
	var order []string
	s := &Server{cfg: cfg, log: slog.New(slog.DiscardHandler)}
	o := (*Options)(nil).orDefaults()
	err := s.start(t.Context(), backend{
		handler: handler,
		tend:    func(context.Context) error { return nil },
		close: func() error {
			if _, err := os.Stat(filepath.Join(cfg.DataDir, ServerFileName)); err == nil {
				t.Error("server.json is still there when the store closes")
			}
			order = append(order, "closed")
			return nil
		},
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s, &order
}

func TestR19_StopWaitsForRunningRequests(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	cfg := testConfig(t)
	s, order := serveFake(t, cfg, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "whole answer")
	}))
	type result struct {
		body string
		err  error
	}
	answered := make(chan result, 1)
	go func() {
		res, err := http.Get(s.URL())
		if err != nil {
			answered <- result{"", err}
			return
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		answered <- result{string(body), err}
	}()
	<-entered
	file, err := ReadServerFile(cfg.DataDir)
	if err != nil || file.Address != s.URL() || file.PID != os.Getpid() {
		t.Errorf("server.json: %+v, %v", file, err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(context.Background()) }()
	if err := <-s.Failed(); !errors.Is(err, http.ErrServerClosed) { // the listener is closed
		t.Error(err)
	}
	if err := s.ready(func(context.Context) error { return nil })(t.Context()); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a stopping server says that it is ready: %v", err)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("a stopping server takes a new connection")
	}
	select {
	case <-stopped:
		t.Error("stopped before the running request was answered")
	default:
	}
	close(release)
	if got := <-answered; got.body != "whole answer" || got.err != nil {
		t.Errorf("got %+v", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"closed"}, *order); diff != "" {
		t.Error(diff)
	}
	if _, err := ReadServerFile(cfg.DataDir); !errors.Is(err, yiku.ErrNotFound) {
		t.Errorf("server.json after the stop: %v", err)
	}
	if err := s.Stop(context.Background()); err != nil || len(*order) != 1 {
		t.Error("a second stop does it again", err)
	}
}

func TestStopCancelsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.Stop = time.Millisecond
	entered := make(chan struct{})
	cancelled := make(chan struct{})
	s, order := serveFake(t, cfg, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(cancelled)
	}))
	go func() {
		if res, err := http.Get(s.URL()); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-entered
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	<-cancelled
	if len(*order) != 1 {
		t.Error("the store was not closed")
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Addr = "0.0.0.0:0"
	if _, err := Start(t.Context(), cfg, nil); !errors.Is(err, yiku.ErrInvalid) || !strings.Contains(err.Error(), "API key") {
		t.Errorf("another address: %v", err)
	}
	if _, err := listen(t.Context(), "0.0.0.0"); !errors.Is(err, yiku.ErrInvalid) {
		t.Errorf("listen: %v", err)
	}
	taken, _ := serveFake(t, testConfig(t), http.NotFoundHandler())
	addr := strings.TrimPrefix(taken.URL(), "http://")
	if _, err := listen(t.Context(), addr); !errors.Is(err, yiku.ErrUnavailable) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a taken port: %v", err)
	}
	if !PortTaken(t.Context(), addr) || PortTaken(t.Context(), "127.0.0.1:0") {
		t.Error("PortTaken is wrong")
	}
}

func TestServerFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ServerFileName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadServerFile(dir); !errors.Is(err, yiku.ErrUnavailable) {
		t.Errorf("a broken file: %v", err)
	}
	want := ServerFile{Address: "http://127.0.0.1:1", PID: 2, StartedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadServerFile(dir)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if info, err := os.Stat(filepath.Join(dir, ServerFileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error("mode", info.Mode(), err)
	}
}

// The defaults of the configuration are those of the engine, and every setting
// of the engine can be configured.
func TestSettings(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(engine.DefaultSettings(), Settings(config.Default())); diff != "" {
		t.Error(diff)
	}
	var zero config.Config
	if diff := cmp.Diff(engine.Settings{}, Settings(zero)); diff != "" {
		t.Errorf("settings that no key reaches: %s", diff)
	}
}
