package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

func (t *tool) skillsCommand() *cobra.Command {
	return t.group("skills", phrase{"List and save skills, and say how they went", "列出、保存技能，记录成败"},
		t.skillsListCommand(), t.skillsSaveCommand(), t.skillsOutcomeCommand())
}

func (t *tool) skillsListCommand() *cobra.Command {
	var s scope
	cmd := &cobra.Command{
		Use:   "list",
		Short: t.say(phrase{"List a user's skills, newest first", "列出用户的技能，最新的在前"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				req := yiku.ListSkillsRequest{Paging: yiku.Paging{Limit: 500}, UserID: s.user, ProjectID: s.project}
				all, err := everyPage(&req.Paging, func() (yiku.Page[yiku.Memory], error) { return service.ListSkills(ctx, req) })
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, all)
				}
				for _, m := range all {
					if m.Skill != nil {
						t.println(fmt.Sprintf("%s  %d/%d  %s", m.ID, m.Skill.Successes, m.Skill.Successes+m.Skill.Failures, clean(m.Skill.Name)))
					}
				}
				return nil
			})
		},
	}
	t.scopeFlags(cmd, &s)
	return cmd
}

func (t *tool) skillsSaveCommand() *cobra.Command {
	var s scope
	req := yiku.SaveSkillRequest{}
	cmd := &cobra.Command{
		Use:   "save NAME STEP…",
		Short: t.say(phrase{"Save a skill by its name; other steps become its new version", "按名称保存技能；步骤不同则成为新版本"}),
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Name, req.Steps = args[0], args[1:]
			req.UserID, req.ProjectID, req.TaskID, req.SessionID = s.user, s.project, s.task, s.session
			return t.begin(cmd.Context(), req, func(ctx context.Context, service yiku.Service) error {
				res, err := service.SaveSkill(ctx, req)
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				t.println(fmt.Sprintf("%s  %s", res.ID, res.Outcome))
				return nil
			})
		},
	}
	t.scopeFlags(cmd, &s)
	cmd.Flags().StringVar(&req.Situation, "situation", "", t.say(phrase{"when it applies", "适用情境"}))
	return cmd
}

func (t *tool) skillsOutcomeCommand() *cobra.Command {
	var s scope
	var failed bool
	cmd := &cobra.Command{
		Use:   "outcome ID",
		Short: t.say(phrase{"Say that a skill has worked, or with --failed that it has not", "记录技能奏效；带 --failed 时记录没有奏效"}),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			worked := !failed
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				m, err := service.SkillOutcome(ctx, yiku.SkillOutcomeRequest{ID: args[0], UserID: s.user, Success: &worked})
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, m)
				}
				t.println(fmt.Sprintf("%s  %d/%d", m.ID, m.Skill.Successes, m.Skill.Successes+m.Skill.Failures))
				return nil
			})
		},
	}
	t.scopeFlags(cmd, &s)
	cmd.Flags().BoolVar(&failed, "failed", false, t.say(phrase{"it has not worked", "没有奏效"}))
	return cmd
}
