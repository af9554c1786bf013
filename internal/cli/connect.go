package cli

import (
	"context"
	"errors"
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
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/store"
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
		if t.flags.tenant != "" {
			return nil, usagef("%s", t.say(phrase{"--tenant is for a data directory; at --url the key says the tenant", "--tenant 只用于数据目录；用 --url 时租户由密钥决定"}))
		}
		return dial(cfg.URL, cfg.APIKey)
	}
	if cfg.APIKey != "" && t.flags.tenant != "" {
		return nil, usagef("%s", t.say(phrase{"--tenant is for the owner of a data directory; the API key says the tenant", "--tenant 只供数据目录的所有者使用；给了 API 密钥时租户由密钥决定"}))
	}
	if server, ok := running(ctx, cfg.DataDir); ok {
		return dial(server.Address, t.bearer(cfg, server))
	}
	if _, err := os.Stat(cfg.DataDir); err != nil && !create {
		return nil, yiku.Errorf(yiku.ErrNotFound, "%s", t.say(phrase{
			"there is no data directory %s: start `yiku serve`, or name one with --data or a server with --url",
			"没有数据目录 %s：请先运行 yiku serve，或用 --data 指定目录，或用 --url 指定服务",
		}, cfg.DataDir))
	}
	cfg.Log.Level = max(cfg.Log.Level, slog.LevelError) // standard error is for this command's own failure
	var core *app.Core
	err = t.patiently(ctx, cfg.DataDir, func() (err error) {
		core, err = app.Open(ctx, cfg, t.options(cfg))
		return err
	})
	if err != nil {
		if server, ok := running(ctx, cfg.DataDir); ok { // it was just starting
			return dial(server.Address, t.bearer(cfg, server))
		}
		return nil, err
	}
	service, err := core.As(ctx, t.tenant(), cfg.APIKey)
	if err != nil {
		return nil, errors.Join(err, core.Close())
	}
	return &connection{Service: service, close: core.Close}, nil
}

const (
	lockTries = 50
	lockPause = 100 * time.Millisecond
)

// patiently opens a data directory, and waits for a while where another
// command has it open: such a command soon ends. A server does not, so that it
// is not waited for.
func (t *tool) patiently(ctx context.Context, dir string, open func() error) error {
	for try := 1; ; try++ {
		err := open()
		var taken *store.InUseError
		if !errors.As(err, &taken) {
			return err
		}
		if _, serves := running(ctx, dir); serves {
			return err
		}
		if try == lockTries {
			return yiku.Errorf(yiku.ErrUnavailable, "%s", t.say(phrase{
				"the data directory %s is in use by %s; waited %s for it. Run the command again when that has ended, or run `yiku serve` so that many commands may work at once",
				"数据目录 %s 正被 %s 使用，已等待 %s。请在其结束后重试；若要让多个命令同时工作，请运行 yiku serve",
			}, taken.Dir, taken.Holder, lockTries*lockPause))
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tenant is the tenant that the command acts for.
func (t *tool) tenant() string {
	if t.flags.tenant != "" {
		return t.flags.tenant
	}
	return app.DefaultTenant
}

// bearer is what to send to the server of the data directory: the key that was
// given, or else what the directory's owner may send.
func (t *tool) bearer(cfg config.Config, server app.ServerFile) string {
	if cfg.APIKey != "" {
		return cfg.APIKey
	}
	return server.Credential(t.tenant())
}

func dial(url, key string) (*connection, error) {
	c, err := client.New(url, &client.Options{APIKey: key})
	if err != nil {
		return nil, err
	}
	return &connection{Service: c, close: func() error { return nil }}, nil
}

// options are those of an app that this tool starts.
func (t *tool) options(cfg config.Config) *app.Options {
	return &app.Options{Version: t.env.Version, Stderr: t.env.Stderr, Log: app.NewLog(t.env.Stderr, cfg.Log), Now: t.env.Now, NewJournal: t.newJournal}
}

// probeTimeout is how long a server may take to say that it lives.
const probeTimeout = 2 * time.Second

// running returns the server that runs on a data directory. A file that a
// killed server left behind is no server; nor is one at another address than
// this machine's own, to which the directory's secret would go: a server that
// listens on one address of the network only is named with --url.
func running(ctx context.Context, dir string) (app.ServerFile, bool) {
	file, err := app.ReadServerFile(dir)
	if err != nil {
		return app.ServerFile{}, false
	}
	u, err := url.Parse(file.Address)
	if err != nil || !config.IsLoopback(u.Hostname()) {
		return app.ServerFile{}, false
	}
	return file, get(ctx, file.Address+"/healthz") == nil
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

// begin is with for a command that makes the data directory where there is
// none: what is wrong with its request is said before that.
func (t *tool) begin(ctx context.Context, req any, run func(context.Context, yiku.Service) error) error {
	if err := check.New().Request(req); err != nil {
		return err
	}
	return t.with(ctx, true, run)
}

// show is a data directory's path as a person knows it.
func show(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
