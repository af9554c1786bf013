package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku/internal/usage"
)

func (t *tool) costCommand() *cobra.Command {
	plan := usage.DefaultPlan()
	cmd := &cobra.Command{
		Use:   "cost",
		Short: t.say(phrase{"What memory saves against sending the whole history", "与每次发送全部历史相比，记忆省下多少钱"}),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if min(plan.HistoryTokens, plan.ContextTokens, plan.Calls, plan.Tasks, plan.Days) < 0 || plan.Price < 0 {
				return usagef("%s", t.say(phrase{"numbers must not be negative", "数字不能为负"}))
			}
			c := plan.Compare()
			if t.flags.json {
				return writeJSON(t.env.Stdout, c)
			}
			t.showCost(c)
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&plan.HistoryTokens, "history-tokens", plan.HistoryTokens, t.say(phrase{"tokens of the whole history, a call", "每次调用发送全部历史的 token 数"}))
	f.IntVar(&plan.ContextTokens, "context-tokens", plan.ContextTokens, t.say(phrase{"tokens of the composed context, a call", "每次调用发送组装好的上下文的 token 数"}))
	f.IntVar(&plan.Calls, "calls", plan.Calls, t.say(phrase{"calls a task", "每个任务的调用次数"}))
	f.IntVar(&plan.Tasks, "tasks", plan.Tasks, t.say(phrase{"tasks a day", "每天的任务数"}))
	f.IntVar(&plan.Days, "days", plan.Days, t.say(phrase{"days a month", "每月的天数"}))
	f.Float64Var(&plan.Price, "price", plan.Price, t.say(phrase{"USD for a million input tokens", "每百万输入 token 的价格（美元）"}))
	return cmd
}

func (t *tool) showCost(c usage.Comparison) {
	p := c.Plan
	t.println(t.say(phrase{
		"%s calls a task × %s tasks a day × %s days, %s USD for a million tokens",
		"每个任务 %s 次调用 × 每天 %s 个任务 × %s 天，每百万 token %s 美元",
	}, thousands(p.Calls), thousands(p.Tasks), thousands(p.Days), strconv.FormatFloat(p.Price, 'f', -1, 64)), "")
	row := func(cells ...string) {
		t.println("  " + pad(cells[0], 18) + right(cells[1], 14) + right(cells[2], 20) + right(cells[3], 14))
	}
	row("", t.say(phrase{"tokens a call", "每次 token"}), t.say(phrase{"tokens a month", "每月 token"}), t.say(phrase{"USD a month", "每月美元"}))
	row(t.say(phrase{"whole history", "全部历史"}), thousands(p.HistoryTokens), thousands(c.History.TokensMonth), money(c.History.USDMonth))
	row(t.say(phrase{"with memory", "使用记忆"}), thousands(p.ContextTokens), thousands(c.Context.TokensMonth), money(c.Context.USDMonth))
	row(t.say(phrase{"saved", "节省"}), thousands(p.HistoryTokens-p.ContextTokens), thousands(c.History.TokensMonth-c.Context.TokensMonth), money(c.SavedUSD))
	t.println("", t.say(phrase{"saved: %.1f %%", "节省：%.1f %%"}, c.Share*100))
}
