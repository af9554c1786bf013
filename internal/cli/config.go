package cli

import (
	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku/internal/config"
)

func (t *tool) configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: t.say(phrase{"Show every setting as it holds now, as a file for --config", "显示当前生效的全部配置，可直接用作 --config 的文件"}),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := t.settings(nil)
			if err != nil {
				return err
			}
			if !t.flags.json {
				return cfg.WriteYAML(t.env.Stdout)
			}
			values := map[string]string{}
			for _, k := range config.Keys() {
				if k.IsSecret() {
					continue
				}
				values[k.Name] = k.Value(cfg)
			}
			return writeJSON(t.env.Stdout, values)
		},
	}
}
