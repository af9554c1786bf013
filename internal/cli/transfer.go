package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

func (t *tool) exportCommand() *cobra.Command {
	var s scope
	var out string
	cmd := &cobra.Command{
		Use:   "export",
		Short: t.say(phrase{"Write a session as one JSON document", "把一个会话导出为 JSON"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.session == "" {
				return usagef("export needs --session")
			}
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				res, err := service.ExportSession(ctx, yiku.ExportSessionRequest{SessionID: s.session, UserID: s.user})
				if err != nil {
					return missing(err, fmt.Sprintf("there is no session %s of user %s", s.session, s.user))
				}
				if out == "" || out == "-" {
					return writeJSON(t.env.Stdout, res)
				}
				return writeFile(out, res)
			})
		},
	}
	t.scopeFlags(cmd, &s)
	cmd.Flags().StringVar(&out, "out", "", t.say(phrase{"`FILE` to write; standard output where absent", "写入 `FILE`；默认标准输出"}))
	return cmd
}

// writeFile writes JSON into a file that only its owner can read.
func writeFile(path string, v any) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return yiku.Errorf(yiku.ErrUnavailable, "cannot write %s", path)
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	return writeJSON(f, v)
}

func (t *tool) importCommand() *cobra.Command {
	var s scope
	var form string
	cmd := &cobra.Command{
		Use:   "import FILE | -",
		Short: t.say(phrase{"Make a session from a JSON document: an export, OpenAI, Anthropic or plain messages", "从 JSON 建立会话：导出文件，或 OpenAI、Anthropic、普通格式的消息"}),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var document []byte
			var err error
			if args[0] == "-" {
				document, err = t.argument("-")
			} else {
				document, err = os.ReadFile(args[0])
			}
			if err != nil {
				return yiku.Errorf(yiku.ErrUnavailable, "cannot read %s", args[0])
			}
			if !json.Valid(document) {
				return yiku.Invalid("document", "is not JSON")
			}
			req := yiku.ImportSessionRequest{UserID: s.user, SessionID: s.session, ProjectID: s.project,
				Format: yiku.MessageForm(form), Document: yiku.RawJSON(document)}
			return t.begin(cmd.Context(), req, func(ctx context.Context, service yiku.Service) error {
				res, err := service.ImportSession(ctx, req)
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				t.println(t.say(phrase{"imported %s into session %s", "已导入 %s到会话 %s"}, t.count(res.MessageCount, messages()), clean(res.ID)))
				return nil
			})
		},
	}
	t.scopeFlags(cmd, &s)
	cmd.Flags().StringVar(&form, "format", "", t.say(phrase{"yiku, openai, anthropic or plain; recognised where absent", "yiku、openai、anthropic 或 plain；默认自动识别"}))
	return cmd
}
