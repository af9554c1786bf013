package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/config"
)

// group is a command that only holds others.
func (t *tool) group(use string, short phrase, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: t.say(short), Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return t.noCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

// noCommand says that there is no such command, and which one may be meant.
func (t *tool) noCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	text := t.say(phrase{"there is no command %q in %s", "没有命令 %q（%s）"}, clean(name), cmd.CommandPath())
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		text += t.say(phrase{"; did you mean %s?", "；是否想用 %s？"}, strings.Join(near, t.say(phrase{" or ", " 或 "})))
	}
	return usagef("%s", text)
}

func (t *tool) keyCommand() *cobra.Command {
	return t.group("key", phrase{"Make, list and revoke API keys", "创建、列出、吊销 API 密钥"},
		t.keyCreateCommand(), t.keyListCommand(), t.keyRevokeCommand())
}

func (t *tool) keyCreateCommand() *cobra.Command {
	var req yiku.CreateKeyRequest
	var access, expires string
	cmd := &cobra.Command{
		Use:   "create",
		Short: t.say(phrase{"Make a key of a tenant and write its secret to standard output, once", "为租户创建密钥；密钥明文只输出这一次"}),
		Long: t.say(phrase{
			"Make a key of a tenant. The secret is written to standard output, alone on its line, and cannot be shown again. From the first key on a server lets nobody in without one.",
			"为租户创建密钥。密钥明文单独占一行写到标准输出，以后无法再次显示。有了第一个密钥之后，没有密钥就无法访问服务。",
		}),
		Example: "  export YIKU_KEY=$(yiku key create --tenant acme --access admin)",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Access = yiku.Access(access)
			if expires != "" {
				d, err := config.ParseDuration(expires)
				if err != nil || d <= 0 {
					return usagef("--expires needs a duration such as 12h or 90d")
				}
				req.ExpiresAt = t.env.Now().Add(d).UTC().Truncate(time.Second)
			}
			return t.begin(cmd.Context(), req, func(ctx context.Context, s yiku.Service) error {
				res, err := s.CreateKey(ctx, req)
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				fmt.Fprintln(t.env.Stderr, t.say(phrase{"key %s (%s); its secret is shown this once:", "密钥 %s（%s）；明文只显示这一次："}, res.Key.ID, res.Key.Access))
				t.println(res.Secret)
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&access, "access", "", t.say(phrase{"read, write or admin (required)", "read、write 或 admin（必填）"}))
	f.StringVar(&req.Name, "name", "", t.say(phrase{"what uses it", "用途"}))
	f.StringVar(&req.UserID, "user", "", t.say(phrase{"the only `USER` that it may speak for", "只能代表的用户 `USER`"}))
	f.StringVar(&expires, "expires", "", t.say(phrase{"time after which it is refused, such as 12h or 90d; never where absent", "多久之后失效，如 12h、90d；默认不失效"}))
	return cmd
}

func (t *tool) keyListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: t.say(phrase{"List the keys of a tenant, without their secrets", "列出租户的密钥（不含明文）"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.with(cmd.Context(), false, func(ctx context.Context, s yiku.Service) error {
				req := yiku.ListKeysRequest{Paging: yiku.Paging{Limit: 500}}
				all, err := everyPage(&req.Paging, func() (yiku.Page[yiku.Key], error) { return s.ListKeys(ctx, req) })
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, all)
				}
				for _, k := range all {
					t.println(t.keyLine(k))
				}
				return nil
			})
		},
	}
}

// keyLine is a key on one line: id, role, state, user, name.
func (t *tool) keyLine(k yiku.Key) string {
	state := t.say(phrase{"valid", "有效"})
	switch {
	case !k.RevokedAt.IsZero():
		state = t.say(phrase{"revoked %s", "%s 吊销"}, k.RevokedAt.Format(time.DateOnly))
	case !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(t.env.Now()):
		state = t.say(phrase{"expired %s", "%s 过期"}, k.ExpiresAt.Format(time.DateOnly))
	case !k.ExpiresAt.IsZero():
		state = t.say(phrase{"until %s", "有效至 %s"}, k.ExpiresAt.Format(time.DateOnly))
	}
	line := pad(k.ID, 18) + pad(string(k.Access), 7) + pad(state, 20)
	if k.UserID != "" {
		line += clean(k.UserID) + "  "
	}
	return strings.TrimRight(cut(line+clean(k.Name), columns), " ")
}

func (t *tool) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: t.say(phrase{"Revoke a key, with the tokens made with it", "吊销密钥，以及用它签发的令牌"}),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd.Context(), false, func(ctx context.Context, s yiku.Service) error {
				if _, err := s.RevokeKey(ctx, yiku.RevokeKeyRequest{ID: args[0]}); err != nil {
					return missing(err, fmt.Sprintf("there is no key %s of this tenant", args[0]))
				}
				if !t.flags.json {
					t.println(t.say(phrase{"revoked", "已吊销"}))
				}
				return nil
			})
		},
	}
}

func (t *tool) tokenCommand() *cobra.Command {
	return t.group("token", phrase{"Make short-lived tokens for end users", "为最终用户签发短期令牌"}, t.tokenCreateCommand())
}

func (t *tool) tokenCreateCommand() *cobra.Command {
	var req yiku.CreateTokenRequest
	var access, ttl string
	cmd := &cobra.Command{
		Use:   "create",
		Short: t.say(phrase{"Make a token that speaks for one user and write it to standard output", "签发只代表一个用户的令牌，写到标准输出"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := config.ParseDuration(ttl)
			if err != nil || d < time.Second {
				return usagef("--ttl needs a duration such as 15m")
			}
			req.Access, req.TTLSeconds = yiku.Access(access), int(d/time.Second)
			return t.with(cmd.Context(), false, func(ctx context.Context, s yiku.Service) error {
				res, err := s.CreateToken(ctx, req)
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				t.println(res.Token)
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.UserID, "user", "", t.say(phrase{"`USER` that it speaks for (required)", "令牌代表的用户 `USER`（必填）"}))
	f.StringVar(&access, "access", "read", t.say(phrase{"read or write", "read 或 write"}))
	f.StringVar(&ttl, "ttl", "15m", t.say(phrase{"how long it lives, at most 24h", "有效时长，最长 24h"}))
	return cmd
}
