package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/config"
)

// connection is a service and how to let go of it.
type connection struct {
	yiku.Service
	close func() error
}

// connect gives the service that the flags name: the server at --url, the
// running server of the data directory, or the directory itself, opened in
// this process. Without create a missing directory is an error.
func (t *tool) connect(ctx context.Context, create bool) (*connection, error) {
	cfg, err := t.settings(nil)
	if err != nil {
		return nil, err
	}
	if cfg.URL != "" {
		return dial(cfg.URL)
	}
	if url, ok := running(ctx, cfg.DataDir); ok {
		return dial(url)
	}
	if _, err := os.Stat(cfg.DataDir); err != nil && !create {
		return nil, yiku.Errorf(yiku.ErrNotFound, "%s", t.say(phrase{
			"there is no data directory %s: start `yiku serve`, or name one with --data or a server with --url",
			"没有数据目录 %s：请先运行 yiku serve，或用 --data 指定目录，或用 --url 指定服务",
		}, cfg.DataDir))
	}
	cfg.Log.Level = max(cfg.Log.Level, slog.LevelError) // standard error is for this command's own failure
	core, err := app.Open(ctx, cfg, t.options(cfg))
	if err != nil {
		return nil, err
	}
	return &connection{Service: core.Service(), close: core.Close}, nil
}

func dial(url string) (*connection, error) {
	c, err := client.New(url, nil)
	if err != nil {
		return nil, err
	}
	return &connection{Service: c, close: func() error { return nil }}, nil
}

// options are those of an app that this tool starts.
func (t *tool) options(cfg config.Config) *app.Options {
	return &app.Options{Version: t.env.Version, Stderr: t.env.Stderr, Log: app.NewLog(t.env.Stderr, cfg.Log), Now: t.env.Now}
}

// probeTimeout is how long a server may take to say that it lives.
const probeTimeout = 2 * time.Second

// running returns the address of the server that runs on a data directory. A
// file that a killed server left behind is no server; neither is one that
// names another machine.
func running(ctx context.Context, dir string) (string, bool) {
	file, err := app.ReadServerFile(dir)
	if err != nil {
		return "", false
	}
	u, err := url.Parse(file.Address)
	if err != nil || !config.IsLoopback(u.Hostname()) {
		return "", false
	}
	return file.Address, get(ctx, file.Address+"/healthz") == nil
}

// get asks for a page within the probe's time; anything but 200 is an error.
func get(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// with connects, runs and closes. The error of the run comes first.
func (t *tool) with(ctx context.Context, create bool, run func(context.Context, yiku.Service) error) error {
	c, err := t.connect(ctx, create)
	if err != nil {
		return err
	}
	err = run(ctx, c.Service)
	if closeErr := c.close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close: %w", closeErr)
	}
	return err
}

// show is a data directory's path as a person knows it.
func show(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
