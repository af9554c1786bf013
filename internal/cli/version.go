package cli

import (
	"runtime"

	"github.com/spf13/cobra"
)

func (t *tool) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: t.say(phrase{"Print the version", "显示版本"}),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if t.flags.json {
				return writeJSON(t.env.Stdout, map[string]string{"version": t.env.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			t.printf("yiku %s %s %s/%s\n", t.env.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
