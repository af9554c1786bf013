package cli

import (
	"context"
	"errors"
	"fmt"
	"net"

	"log/slog"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku/client"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/sample"
)

func (t *tool) demoCommand() *cobra.Command {
	var addr, events string
	var once bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: t.say(phrase{"Show what memory does: a few days of conversation, then questions", "演示记忆的作用：先放入几天的对话，再提问"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := t.settings(map[string]string{"addr": addr, "events": events})
			if err != nil {
				return err
			}
			if cfg.Log.Level == slog.LevelInfo {
				cfg.Log.Level = slog.LevelError // the show is on the same terminal
			}
			return t.demo(cmd.Context(), cfg, once)
		},
	}
	f := cmd.Flags()
	f.StringVar(&addr, "addr", "", t.say(phrase{"`HOST:PORT` to listen on; 127.0.0.1:7421 where absent, port 0 picks a free one", "监听地址 `HOST:PORT`；默认 127.0.0.1:7421，端口 0 表示任选一个空闲端口"}))
	f.StringVar(&events, "events", "", t.say(phrase{"`FILE` that JSON Lines events are appended to", "事件（JSON Lines）追加到 `FILE`"}))
	f.BoolVar(&once, "once", false, t.say(phrase{"end after the show", "演示完就结束"}))
	return cmd
}

// demo starts a server, or finds the one that runs, plays the sample in, shows
// what came of it, and takes questions until it is told to end.
func (t *tool) demo(ctx context.Context, cfg config.Config, once bool) (err error) {
	url, stop, err := t.demoServer(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(context.WithoutCancel(ctx))) }()
	key := cfg.APIKey
	if server, ok := running(ctx, cfg.DataDir); ok && server.Address == url {
		key = server.Credential(t.tenant()) // the show is the directory owner's
	}
	service, err := client.New(url, &client.Options{UserAgent: "yiku-demo", APIKey: key})
	if err != nil {
		return err
	}
	conversation, err := sample.Load()
	if err != nil {
		return err
	}
	d := &demo{tool: t, service: service, sample: conversation, url: url}
	for _, step := range []func(context.Context) error{d.play, d.showMemories, d.showQuestions, d.showSaving} {
		if err := step(ctx); err != nil {
			return over(ctx, err)
		}
	}
	if once {
		return nil
	}
	d.showHints(cfg)
	return over(ctx, d.prompt(ctx))
}

// over makes the end that the user asked for a success.
func over(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// demoServer gives the address of the server that runs on the data directory,
// or of one that it starts; stop ends the latter.
func (t *tool) demoServer(ctx context.Context, cfg config.Config) (url string, stop func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	if cfg.URL != "" {
		return cfg.URL, nothing, nil
	}
	if server, ok := running(ctx, cfg.DataDir); ok {
		if cfg.Events != "" {
			return "", nil, usagef("%s", t.say(phrase{"a server runs on this data directory; give --events to it", "该数据目录上已有服务在运行；请对那个服务使用 --events"}))
		}
		t.println(t.say(phrase{"using the server that runs at %s", "使用正在运行的服务 %s"}, server.Address))
		return server.Address, nothing, nil
	}
	taken := ""
	if app.PortTaken(ctx, cfg.Addr) {
		host, _, _ := net.SplitHostPort(cfg.Addr)
		taken, cfg.Addr = cfg.Addr, net.JoinHostPort(host, "0")
	}
	server, err := app.Start(ctx, cfg, t.options(cfg))
	if err != nil {
		return "", nil, err
	}
	t.println(fmt.Sprintf("listening on %s", server.URL()))
	if taken != "" {
		t.println(t.say(phrase{"(%s is taken by another program, so another port was chosen)", "（%s 已被其他程序占用，因此换了一个端口）"}, taken))
	}
	t.println(t.say(phrase{"data: %s", "数据目录：%s"}, show(cfg.DataDir)))
	return server.URL(), server.Stop, nil
}
