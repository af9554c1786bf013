package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/app"
)

func (t *tool) serveCommand() *cobra.Command {
	var addr, events string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: t.say(phrase{"Run the server", "运行服务"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := t.settings(map[string]string{"addr": addr, "events": events})
			if err != nil {
				return err
			}
			err = t.patiently(cmd.Context(), cfg.DataDir, func() error {
				return app.Run(cmd.Context(), cfg, t.env.Stdout, t.options(cfg))
			})
			if errors.Is(err, yiku.ErrInvalid) {
				return usagef("%s", t.describe(err))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "", t.say(phrase{"`HOST:PORT` to listen on; 127.0.0.1:7421 where absent, port 0 picks a free one", "监听地址 `HOST:PORT`；默认 127.0.0.1:7421，端口 0 表示任选一个空闲端口"}))
	cmd.Flags().StringVar(&events, "events", "", t.say(phrase{"`FILE` that JSON Lines events are appended to; - is standard error", "事件（JSON Lines）追加到 `FILE`；- 表示标准错误"}))
	return cmd
}
