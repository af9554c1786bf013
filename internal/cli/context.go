package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
)

func (t *tool) contextCommand() *cobra.Command {
	var s scope
	req := yiku.GetContextRequest{}
	cmd := &cobra.Command{
		Use:   "context [QUERY]",
		Short: t.say(phrase{"Show what the next request to a model would hold", "显示下一次请求模型时要发送的内容"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Query = strings.Join(args, " ")
			req.UserID, req.ProjectID, req.TaskID, req.SessionID = s.user, s.project, s.task, s.session
			return t.with(cmd.Context(), false, func(ctx context.Context, service yiku.Service) error {
				res, err := service.GetContext(ctx, req)
				if err != nil {
					return missing(err, fmt.Sprintf("there is no session %s of user %s", s.session, s.user))
				}
				if t.flags.json {
					return writeJSON(t.env.Stdout, res)
				}
				t.showContext(res)
				return nil
			})
		},
	}
	t.scopeFlags(cmd, &s)
	f := cmd.Flags()
	f.StringVar(&req.Model, "model", "", t.say(phrase{"`MODEL` that it is for: tokenizer and window", "面向的模型 `MODEL`：决定分词器和窗口"}))
	f.StringVar(&req.System, "system", "", t.say(phrase{"the caller's own system `PROMPT`", "调用方自己的系统提示 `PROMPT`"}))
	f.IntVar(&req.WindowTokens, "window", 0, t.say(phrase{"tokens of the window", "窗口的 token 数"}))
	f.BoolVar(&req.Options.Explain, "explain", false, t.say(phrase{"say how each memory came to its place", "说明每条记忆的得分"}))
	f.StringVar(&req.Options.Timezone, "timezone", "", t.say(phrase{"IANA `ZONE` for dates", "显示日期所用的时区 `ZONE`"}))
	return cmd
}

func (t *tool) showContext(res yiku.GetContextResponse) {
	t.println(t.say(phrase{"── system ──", "── 系统提示 ──"}))
	indent(t.env.Stdout, "", res.System)
	t.println(t.say(phrase{"── messages ──", "── 消息 ──"}))
	for _, m := range res.Messages {
		text := m.Content.PlainText()
		for _, c := range m.ToolCalls {
			text += "→ " + c.Function.Name + "(" + c.Function.Arguments + ")"
		}
		indentFirst(t.env.Stdout, pad(string(m.Role), 10), text)
	}
	t.println(t.say(phrase{"── budget ──", "── 预算 ──"}))
	t.showBudget(res.Budget)
	t.showTrace(res.Explain)
	if res.SnapshotID != "" {
		t.println(t.say(phrase{"snapshot: ", "快照："}) + res.SnapshotID)
	}
	if missing := t.degraded(res.Degraded); missing != "" {
		indent(t.env.Stdout, "", missing)
	}
}

// degraded says what did not take part in an answer; nothing where all did.
func (t *tool) degraded(parts []string) string {
	names := map[string]phrase{
		"dense":     {"vectors (yiku model pull fetches a model)", "向量检索（用 yiku model pull 下载模型）"},
		"index_lag": {"what was written in the last moments", "刚刚写入的内容"},
		"llm":       {"a language model", "语言模型"},
		"rerank":    {"the reranker, which failed", "重排序（出错）"},
		"rewrite":   {"query rewriting, which failed", "查询改写（出错）"},
	}
	var said []string
	for _, part := range parts {
		if p, ok := names[part]; ok {
			part = t.say(p)
		}
		said = append(said, part)
	}
	if len(said) == 0 {
		return ""
	}
	return t.say(phrase{"did not take part: ", "未参与："}) + strings.Join(said, t.say(phrase{", ", "、"}))
}

// showBudget lists the parts of a budget that hold something.
func (t *tool) showBudget(b yiku.Budget) {
	rows := []struct {
		name phrase
		n    int
	}{
		{phrase{"caller's system prompt", "调用方的系统提示"}, b.CallerSystem},
		{phrase{"reserved by the caller", "调用方预留"}, b.Reserved},
		{phrase{"memory", "记忆"}, b.Memory},
		{phrase{"working memory", "工作记忆"}, b.Working},
		{phrase{"summary", "摘要"}, b.Summary},
		{phrase{"messages", "消息"}, b.Messages},
	}
	for _, r := range rows {
		if r.n > 0 {
			t.println("  " + pad(t.say(r.name), 26) + right(thousands(r.n), 10))
		}
	}
	t.println("  " + pad(t.say(phrase{"together", "合计"}), 26) + right(thousands(b.Total), 10))
	t.println("  " + t.say(phrase{"of a window of %s, with %s kept free for the answer (%s)", "窗口 %s，其中 %s 留给回答（%s）"},
		thousands(b.Window), thousands(b.ReservedOutput), b.Tokenizer))
}
