package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

func (t *tool) replayCommand() *cobra.Command {
	req := yiku.ReplaySnapshotRequest{}
	cmd := &cobra.Command{
		Use:   "replay SNAPSHOT",
		Short: t.say(phrase{"Make a stored context anew from today's memory, and say what differs and why", "用今天的记忆重做一次保存过的上下文，说明有何不同、为什么"}),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ID = args[0]
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				res, err := service.ReplaySnapshot(ctx, req)
				if err != nil {
					return missing(err, fmt.Sprintf("there is no snapshot %s of user %s", req.ID, req.UserID))
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				t.showDiff(res.Diff)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&req.UserID, "user", "", t.say(phrase{"`USER` whose context it was (required)", "上下文属于哪个用户 `USER`（必填）"}))
	_ = cmd.MarkFlagRequired("user")
	return cmd
}

func (t *tool) showDiff(d yiku.ContextDiff) {
	if d.Same {
		t.println(t.say(phrase{"nothing differs", "没有不同"}))
		return
	}
	for _, part := range []struct {
		mark string
		list []yiku.MemoryDiff
	}{{"- ", d.Gone}, {"+ ", d.New}, {"~ ", d.Changed}} {
		for _, m := range part.list {
			indentFirst(t.env.Stdout, part.mark, m.Content+"  ("+t.reasons(m.Why)+")")
			if m.Was != "" {
				indentFirst(t.env.Stdout, "    ", t.say(phrase{"was: ", "原为："})+m.Was)
			}
		}
	}
	counts := []struct {
		name      phrase
		gone, new int
	}{
		{phrase{"past messages", "历史消息"}, len(d.EpisodesGone), len(d.EpisodesNew)},
		{phrase{"messages of the conversation", "会话消息"}, len(d.MessagesGone), len(d.MessagesNew)},
	}
	for _, c := range counts {
		if c.gone+c.new > 0 {
			t.println(fmt.Sprintf("%s: -%d +%d", t.say(c.name), c.gone, c.new))
		}
	}
	for _, part := range slices.Sorted(maps.Keys(d.Budget)) {
		t.println(fmt.Sprintf("%s: %+d", part, d.Budget[part]))
	}
}

// reasons says in the tool's language why a memory came, went or changed, or
// which rule cut it.
func (t *tool) reasons(why []string) string {
	names := map[string]phrase{
		"superseded": {"superseded", "已被新值取代"}, "archived": {"archived", "已归档"}, "deleted": {"deleted", "已删除"}, "stale": {"stale", "待重新确认"},
		"quarantined": {"quarantined", "已隔离"}, "expired": {"expired", "已过期"}, "created": {"new since", "之后新增"}, "updated": {"updated", "已修改"},
		"recalled": {"recalled now", "现在被召回"}, "not_recalled": {"not recalled now", "现在未被召回"}, "score": {"another score", "得分不同"}, "group": {"another group", "分组不同"},
		"relevance": {"below the threshold", "低于相关度门槛"}, "filter": {"outside scope or filter", "不在范围或过滤条件内"}, "retention": {"beyond retention", "超出保留期"},
		"shown": {"in the window already", "已在窗口中"}, "repeats": {"says what another says", "与另一条重复"}, "limit": {"more than asked for", "超出条数上限"},
		"value": {"an older value", "同一属性的旧值"}, "room": {"no room in the budget", "预算放不下"},
	}
	out := make([]string, len(why))
	for i, w := range why {
		out[i] = w
		if p, ok := names[w]; ok {
			out[i] = t.say(p)
		}
	}
	return strings.Join(out, t.say(phrase{", ", "、"}))
}

// showTrace says how a read came to its answer; nothing where nobody asked.
func (t *tool) showTrace(e *yiku.Trace) {
	if e == nil {
		return
	}
	t.println(t.say(phrase{"── how it was found ──", "── 查找过程 ──"}))
	var on, off []string
	for _, name := range slices.Sorted(maps.Keys(e.Layers)) {
		if e.Layers[name] {
			on = append(on, name)
		} else {
			off = append(off, name)
		}
	}
	indent(t.env.Stdout, "  ", t.say(phrase{"layers: ", "启用的层："})+strings.Join(on, " "))
	if len(off) > 0 {
		indent(t.env.Stdout, "  ", t.say(phrase{"switched off: ", "关闭的层："})+strings.Join(off, " "))
	}
	if e.Rewritten != "" {
		indent(t.env.Stdout, "  ", t.say(phrase{"searched for: ", "实际查找："})+e.Rewritten)
	}
	t.println("  " + t.say(phrase{"%d candidates, threshold %.2f", "%d 个候选，门槛 %.2f"}, e.Candidates, e.MinRelevance))
	for _, rule := range slices.Sorted(maps.Keys(e.CutBy)) {
		t.println(fmt.Sprintf("  %4d  %s", e.CutBy[rule], t.reasons([]string{rule})))
	}
}
