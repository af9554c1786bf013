package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

func (t *tool) jobsCommand() *cobra.Command {
	return t.group("jobs", phrase{"List and replay the work that was promised", "列出、重放后台任务"}, t.jobsListCommand(), t.jobsReplayCommand())
}

func (t *tool) jobsListCommand() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use:   "list",
		Short: t.say(phrase{"List the jobs of a tenant that wait or are parked, oldest first", "列出租户等待中或已搁置的任务，最早的在前"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.with(cmd.Context(), false, func(ctx context.Context, s yiku.Service) error {
				req := yiku.ListJobsRequest{Paging: yiku.Paging{Limit: 500}, State: yiku.JobState(state)}
				all, err := everyPage(&req.Paging, func() (yiku.Page[yiku.Job], error) { return s.ListJobs(ctx, req) })
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, all)
				}
				t.showJobs(all)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&state, "state", "", t.say(phrase{"waiting or parked; both where absent", "waiting 或 parked；默认两者都列出"}))
	return cmd
}

// showJobs prints jobs in columns, under their names.
func (t *tool) showJobs(jobs []yiku.Job) {
	if len(jobs) == 0 {
		t.println(t.say(phrase{"no job waits, and none is parked", "没有等待或搁置的任务"}))
		return
	}
	rows := [][]string{{t.say(phrase{"id", "编号"}), t.say(phrase{"kind", "种类"}), t.say(phrase{"state", "状态"}), t.say(phrase{"not before", "最早执行"}),
		t.say(phrase{"attempts", "次数"}), t.say(phrase{"user", "用户"}), t.say(phrase{"problem", "问题"})}}
	for _, j := range jobs {
		rows = append(rows, []string{j.ID, string(j.Kind), string(j.State), j.NotBefore.Format(time.RFC3339), strconv.Itoa(j.Attempts), clean(j.UserID), clean(j.Problem)})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], width(text)+2)
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, text := range row {
			line.WriteString(pad(text, widths[i]))
		}
		t.println(strings.TrimRight(line.String(), " "))
	}
}

func (t *tool) jobsReplayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay ID",
		Short: t.say(phrase{"Let a parked job run again", "让已搁置的任务重新执行"}),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd.Context(), false, func(ctx context.Context, s yiku.Service) error {
				job, err := s.ReplayJob(ctx, yiku.ReplayJobRequest{ID: args[0]})
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, job)
				}
				t.println(t.say(phrase{"job %s waits again", "任务 %s 已重新排队"}, job.ID))
				return nil
			})
		},
	}
}
