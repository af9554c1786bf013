package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// help gives cobra's own texts in the tool's language.
func (t *tool) help(root *cobra.Command) {
	if t.lang != "zh" {
		return
	}
	root.SetUsageTemplate(chineseTemplate(root.UsageTemplate()))
	root.SetUsageFunc(chineseUsage(root))
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Use, cmd.Short, cmd.Long = "help [COMMAND]", "显示命令的说明", "显示任意命令的说明。"
		}
	}
	chineseHelpFlags(root)
}

// chineseHelpFlags describes --help of a command and of those below it.
func chineseHelpFlags(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	if f := cmd.Flags().Lookup("help"); f != nil {
		f.Usage = "显示 " + cmd.Name() + " 的说明"
	}
	for _, below := range cmd.Commands() {
		chineseHelpFlags(below)
	}
}

func chineseTemplate(template string) string {
	return strings.NewReplacer(
		"Usage:", "用法：", "Aliases:", "别名：", "Examples:", "例子：", "Available Commands:", "命令：", "Additional Commands:", "其他命令：",
		"Global Flags:", "通用选项：", "Flags:", "选项：", "Additional help topics:", "其他帮助：",
		`Use "{{.CommandPath}} [command] --help" for more information about a command.`, `各命令的说明：{{.CommandPath}} [命令] --help`,
		"{{.CommandPath}} [command]", "{{.CommandPath}} [命令]",
	).Replace(template)
}

// chineseUsage gives in Chinese what cobra and its flags add to usages
// themselves, past the template.
func chineseUsage(root *cobra.Command) func(*cobra.Command) error {
	var usage func(*cobra.Command) error
	usage = func(cmd *cobra.Command) error {
		root.SetUsageFunc(nil)
		text := cmd.UsageString()
		root.SetUsageFunc(usage)
		_, err := io.WriteString(cmd.OutOrStdout(), strings.NewReplacer("[flags]", "[选项]", "(default ", "(默认 ").Replace(text))
		return err
	}
	return usage
}
