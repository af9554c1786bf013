package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

// scope is whose data a command is about.
type scope struct{ user, project, task, session string }

func (t *tool) scopeFlags(cmd *cobra.Command, s *scope) {
	f := cmd.Flags()
	f.StringVar(&s.user, "user", "", t.say(phrase{"`USER` whose memory it is (required)", "记忆属于哪个用户 `USER`（必填）"}))
	f.StringVar(&s.project, "project", "", t.say(phrase{"`PROJECT`", "项目 `PROJECT`"}))
	f.StringVar(&s.task, "task", "", t.say(phrase{"`TASK`", "任务 `TASK`"}))
	f.StringVar(&s.session, "session", "", t.say(phrase{"`SESSION`", "会话 `SESSION`"}))
	_ = cmd.MarkFlagRequired("user")
}

func (t *tool) addCommand() *cobra.Command {
	var s scope
	var role string
	save := yiku.SaveMemoryRequest{}
	var single bool
	var importance float64
	cmd := &cobra.Command{
		Use:   "add TEXT | -",
		Short: t.say(phrase{"Save a memory, or with --role append a message to --session", "保存一条记忆；带 --role 时向 --session 追加一条消息"}),
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := t.argument(strings.Join(args, " "))
			if err != nil {
				return err
			}
			if role != "" {
				return t.addMessage(cmd.Context(), s, yiku.Role(role), strings.TrimSuffix(string(text), "\n"))
			}
			save.Content = strings.TrimSpace(string(text))
			save.UserID, save.ProjectID, save.TaskID, save.SessionID = s.user, s.project, s.task, s.session
			if cmd.Flags().Changed("single") {
				save.Single = &single
			}
			if cmd.Flags().Changed("importance") {
				save.Importance = &importance
			}
			return t.addMemory(cmd.Context(), save)
		},
	}
	t.scopeFlags(cmd, &s)
	f := cmd.Flags()
	f.StringVar(&role, "role", "", t.say(phrase{"append a message of this `ROLE`: user, assistant, system, tool", "追加一条消息，角色为 `ROLE`：user、assistant、system、tool"}))
	f.StringVar((*string)(&save.Type), "type", "", t.say(phrase{"`TYPE` of the memory: fact, preference, constraint, profile, …", "记忆类型 `TYPE`：fact、preference、constraint、profile……"}))
	f.StringVar(&save.Subject, "subject", "", t.say(phrase{"what it is about", "主体"}))
	f.StringVar(&save.Attribute, "attribute", "", t.say(phrase{"which property of the subject", "属性"}))
	f.StringVar(&save.Value, "value", "", t.say(phrase{"its value", "值"}))
	f.BoolVar(&single, "single", false, t.say(phrase{"the attribute has one value at a time", "该属性同时只有一个值"}))
	f.Float64Var(&importance, "importance", 0, t.say(phrase{"0 to 1", "0 到 1"}))
	f.BoolVar(&save.Pinned, "pinned", false, t.say(phrase{"never left out", "始终保留"}))
	f.StringVar(&save.IdempotencyKey, "idempotency-key", "", t.say(phrase{"`KEY` under which a repetition writes nothing again", "幂等键 `KEY`：用同一个键重试不会重复写入"}))
	return cmd
}

func (t *tool) addMemory(ctx context.Context, req yiku.SaveMemoryRequest) error {
	return t.begin(ctx, req, func(ctx context.Context, service yiku.Service) error {
		res, err := service.SaveMemory(ctx, req)
		if err != nil {
			return err
		}
		if t.flags.json {
			return writeJSON(t.env.Stdout, res)
		}
		t.println(t.outcome(res.Outcome) + " " + res.ID)
		for _, id := range res.Superseded {
			t.println("  " + t.say(phrase{"in place of %s", "取代 %s"}, id))
		}
		return nil
	})
}

func (t *tool) outcome(o yiku.Outcome) string {
	p, ok := map[yiku.Outcome]phrase{
		yiku.OutcomeCreated:     {"created", "已保存"},
		yiku.OutcomeReinforced:  {"known already", "早已记住"},
		yiku.OutcomeSuperseded:  {"updated", "已更新"},
		yiku.OutcomeQuarantined: {"waits for review", "待审核"},
	}[o]
	if !ok {
		return string(o)
	}
	return t.say(p)
}

func (t *tool) addMessage(ctx context.Context, s scope, role yiku.Role, text string) error {
	if s.session == "" {
		return usagef("--role needs --session")
	}
	req := yiku.AppendMessagesRequest{
		SessionID: s.session, UserID: s.user, ProjectID: s.project, TaskID: s.task,
		Messages: []yiku.Message{{Role: role, Content: yiku.Text(text)}},
	}
	return t.begin(ctx, req, func(ctx context.Context, service yiku.Service) error {
		res, err := service.AppendMessages(ctx, req)
		if err != nil {
			return err
		}
		if t.flags.json {
			return writeJSON(t.env.Stdout, res)
		}
		for _, m := range res.Messages {
			t.println(t.say(phrase{"appended", "已追加"}) + " " + m.ID)
		}
		return nil
	})
}
