package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

func (t *tool) searchCommand() *cobra.Command {
	var s scope
	req := yiku.SearchMemoryRequest{}
	var filter string
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: t.say(phrase{"Find memories, and with --messages what was said", "查找记忆；带 --messages 时也查找说过的话"}),
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			req.UserID, req.ProjectID, req.TaskID, req.SessionID = s.user, s.project, s.task, s.session
			if filter != "" {
				req.Filter = &yiku.Filter{}
				if err := decode([]byte(filter), req.Filter); err != nil {
					return usagef("--filter: %s", t.describe(err))
				}
			}
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				res, err := service.SearchMemory(ctx, req)
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				t.showItems(res)
				return nil
			})
		},
	}
	t.scopeFlags(cmd, &s)
	cmd.Flags().IntVar(&req.Limit, "limit", 10, t.say(phrase{"at most this many", "最多多少条"}))
	cmd.Flags().BoolVar(&req.IncludeMessages, "messages", false, t.say(phrase{"messages too", "包括消息"}))
	cmd.Flags().BoolVar(&req.Explain, "explain", false, t.say(phrase{"say how each came to its place", "说明每条的得分"}))
	cmd.Flags().StringVar(&filter, "filter", "", t.say(phrase{"a filter as `JSON`", "过滤条件 `JSON`"}))
	return cmd
}

func (t *tool) showItems(res yiku.SearchMemoryResponse) {
	if len(res.Items) == 0 {
		t.println(t.say(phrase{"nothing found", "没有找到"}))
	}
	for i, item := range res.Items {
		what, text := "", ""
		switch {
		case item.Memory != nil:
			what, text = string(item.Memory.Type), item.Memory.Content
		case item.Message != nil:
			what, text = string(item.Message.Role), item.Message.Content.PlainText()
		}
		t.printf("%2d  %.2f  %s\n", i+1, item.Score, what)
		indent(t.env.Stdout, "          ", text)
		t.println("          " + t.scores(item.Scores))
		if item.Source != "" {
			indent(t.env.Stdout, "          ", t.say(phrase{"from: ", "来源："})+item.Source)
		}
		if item.Explain != nil {
			indent(t.env.Stdout, "          ", item.Explain.Formula)
		}
	}
	t.showTrace(res.Explain)
	if missing := t.degraded(res.Degraded); missing != "" {
		indent(t.env.Stdout, "", missing)
	}
}

func (t *tool) scores(s yiku.Scores) string {
	return fmt.Sprintf("%s %.2f  %s %.2f  %s %.2f  %s %.2f",
		t.say(phrase{"relevance", "相关"}), s.Relevance, t.say(phrase{"freshness", "新鲜"}), s.Freshness,
		t.say(phrase{"importance", "重要"}), s.Importance, t.say(phrase{"use", "使用"}), s.Use)
}
