package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
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
	cmd.AddCommand(t.costUsedCommand())
	return cmd
}

// costUsedCommand tells the ledger: what was used, where costCommand supposes.
func (t *tool) costUsedCommand() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "used",
		Short: t.say(phrase{"What a tenant's model calls took, by purpose, model and day, and what is left of its budgets", "租户的模型调用用了多少：按用途、模型、日期列出，并给出预算余额"}),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var req yiku.GetStatsRequest
			for _, day := range []struct {
				flag, text string
				to         *time.Time
			}{{"from", from, &req.From}, {"to", to, &req.To}} {
				if day.text == "" {
					continue
				}
				at, err := time.Parse(time.DateOnly, day.text)
				if err != nil {
					return usagef("%s", t.say(phrase{"--%s must be a day such as 2026-03-02", "--%s 必须是日期，例如 2026-03-02"}, day.flag))
				}
				*day.to = at
			}
			return t.with(cmd.Context(), false, func(ctx context.Context, s yiku.Service) error {
				stats, err := s.GetStats(ctx, req)
				if err != nil {
					return err
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, stats)
				}
				t.showUsed(stats)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", t.say(phrase{"the first day, in UTC; 29 days before the last where absent", "第一天（UTC）；默认为最后一天之前 29 天"}))
	cmd.Flags().StringVar(&to, "to", "", t.say(phrase{"the last day, in UTC; today where absent", "最后一天（UTC）；默认为今天"}))
	return cmd
}

func (t *tool) showUsed(s yiku.Stats) {
	t.println(t.say(phrase{"tenant %s, %s to %s", "租户 %s，%s 至 %s"}, s.Tenant, s.From.Format(time.DateOnly), s.To.Format(time.DateOnly)), "")
	usd := func(cost *float64) string {
		if cost == nil {
			return "–"
		}
		return strconv.FormatFloat(*cost, 'f', 4, 64)
	}
	row := func(what, model string, cells ...string) {
		line := "  " + pad(clean(what), 12) + pad(clean(model), 28)
		for _, c := range cells {
			line += right(c, 14)
		}
		t.println(line)
	}
	calls, in, out := t.say(phrase{"calls", "调用"}), t.say(phrase{"tokens in", "输入 token"}), t.say(phrase{"tokens out", "输出 token"})
	failures, dollars := t.say(phrase{"failures", "失败"}), t.say(phrase{"USD", "美元"})
	row(t.say(phrase{"purpose", "用途"}), t.say(phrase{"model", "模型"}), calls, failures, in, out, dollars)
	for _, m := range s.Models {
		name := m.Model
		if m.Path == "rules" {
			name = t.say(phrase{"rules", "规则"})
		}
		row(m.Operation, name, thousands(m.Calls), thousands(m.Failures), thousands(m.TokensIn), thousands(m.TokensOut), usd(m.CostUSD))
	}
	t.println("")
	row(t.say(phrase{"day", "日期"}), "", calls, failures, in, out, dollars)
	for _, d := range s.Days {
		row(d.Day.Format(time.DateOnly), "", thousands(d.Calls), thousands(d.Failures), thousands(d.TokensIn), thousands(d.TokensOut), usd(d.CostUSD))
	}
	t.println("")
	for _, b := range []struct {
		name string
		left *yiku.BudgetLeft
	}{{"day_calls", s.Budgets.DayCalls}, {"day_tokens", s.Budgets.DayTokens}, {"month_calls", s.Budgets.MonthCalls}, {"month_tokens", s.Budgets.MonthTokens}} {
		if b.left != nil {
			t.println(t.say(phrase{"budget.%s: %s of %s are left", "budget.%s：剩余 %s，上限 %s"}, b.name, thousands(b.left.Left), thousands(b.left.Limit)))
		}
	}
	t.println(t.say(phrase{"contexts: %s, with %s tokens in place of %s", "上下文：%s 个，用 %s token 代替 %s token"},
		thousands(s.Contexts.Contexts), thousands(s.Contexts.Tokens), thousands(s.Contexts.HistoryTokens)))
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
