package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/yiku-ai/yiku"
)

func (c *chat) help() {
	for _, row := range [][2]phrase{
		{{"/why [N]", "/为什么 [N]"}, {"how the last answer's memories were found; of number N only", "上一个回答的记忆是怎样找到的；或只看第 N 条"}},
		{{"/memories", "/记忆"}, {"what is remembered of you", "列出记住的内容"}},
		{{"/forget N | WORD", "/遗忘 N | 词语"}, {"forget the memory of that number, or all that says WORD", "遗忘该编号的记忆，或所有提到该词语的内容"}},
		{{"/session [ID]", "/会话 [ID]"}, {"the session; with an ID go on in that one", "查看会话；给出 ID 则转到该会话"}},
		{{"/quit", "/退出"}, {"end", "结束"}},
	} {
		c.println(pad(c.say(row[0]), 20) + c.say(row[1]))
	}
}

// showPrompt shows what a model would be sent.
func (c *chat) showPrompt(res yiku.GetContextResponse) {
	c.println(c.say(phrase{"[no model; this would stand in the prompt]", "[没有模型；以下内容将放进提示]"}))
	if res.System != "" {
		indent(c.env.Stdout, "  ", res.System)
	}
	for _, m := range res.Messages {
		indentFirst(c.env.Stdout, "  "+pad(string(m.Role), 10), m.Content.PlainText())
	}
}

// showRecalled lists what stands in the context, numbered for /why and /forget.
func (c *chat) showRecalled(res yiku.GetContextResponse) {
	c.list = nil
	for _, m := range res.Memories {
		c.list = append(c.list, m.ID)
		indentFirst(c.env.Stdout, fmt.Sprintf("  [%d] ", len(c.list)), fmt.Sprintf("%s  (%s, %.2f; %s)", m.Content, c.group(m.Group), m.Score, m.Source))
	}
	for _, e := range res.Episodes {
		indentFirst(c.env.Stdout, "  [·] ", fmt.Sprintf("%s: %s  (%s %s, %.2f)", e.Role, e.Content, c.say(phrase{"said in session", "说于会话"}), e.SessionID, e.Score))
	}
	if len(res.Memories)+len(res.Episodes) == 0 {
		c.println("  " + c.say(phrase{"[nothing was recalled]", "[没有召回任何内容]"}))
	}
	b := res.Budget
	c.println("  " + c.say(phrase{"%s tokens, memory %s; the whole history: %s", "%s 个 token，其中记忆 %s；发送全部历史需 %s"}, thousands(b.Total), thousands(b.Memory), thousands(b.FullHistory)))
	if missing := c.degraded(res.Degraded); missing != "" {
		indent(c.env.Stdout, "  ", missing)
	}
}

// group says why a memory stands in a context.
func (c *chat) group(g yiku.Group) string {
	names := map[yiku.Group]phrase{
		yiku.GroupConstraint: {"always: a constraint", "总是带上：约束"}, yiku.GroupIdentity: {"always: who you are", "总是带上：身份"},
		yiku.GroupProject: {"always: the project", "总是带上：项目"}, yiku.GroupRelevant: {"relevant", "相关"}, yiku.GroupRecent: {"used often", "常用"},
	}
	return c.say(names[g])
}

// showLearnt says what was remembered or forgotten because of what was said.
func (c *chat) showLearnt(ops []yiku.Operation) {
	names := map[string]phrase{"create": {"remembered", "已记住"}, "update": {"updated", "已更新"}, "delete": {"forgotten", "已遗忘"}}
	for _, op := range ops {
		if p, ok := names[op.Op]; ok {
			indentFirst(c.env.Stdout, "  + "+c.say(p)+": ", op.Content)
		}
	}
}

// why explains what stands in the last answer's context.
func (c *chat) why(number string) error {
	from, to := 0, len(c.last.Memories)
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > to {
			return usagef("%s", c.say(phrase{"there is no number %s beside the last answer", "上一个回答旁没有编号 %s"}, number))
		}
		from, to = n-1, n
	}
	for i, m := range c.last.Memories[from:to] {
		indentFirst(c.env.Stdout, fmt.Sprintf("[%d] ", from+i+1), m.Content)
		c.println("    " + c.group(m.Group) + "; " + c.scores(m.Scores))
		if m.Explain == nil {
			c.println("    " + c.say(phrase{"loaded whatever is asked", "无论问什么都会带上"}))
			continue
		}
		indent(c.env.Stdout, "    ", m.Explain.Formula)
		for _, arm := range slices.Sorted(maps.Keys(m.Explain.Ranks)) {
			c.println("    " + c.say(phrase{"place %d by %s", "%[2]s 排第 %[1]d"}, m.Explain.Ranks[arm], arm))
		}
		for _, note := range m.Explain.Notes {
			indent(c.env.Stdout, "    ", note)
		}
	}
	if c.last.Explain == nil {
		c.println(c.say(phrase{"nothing was asked yet", "还没有提过问题"}))
		return nil
	}
	if number == "" {
		c.showTrace(c.last.Explain)
		c.println(c.say(phrase{"snapshot: ", "快照："}) + c.last.SnapshotID)
	}
	return nil
}

// memories lists what is remembered, numbered for /forget.
func (c *chat) memories(ctx context.Context) error {
	req := yiku.ListMemoriesRequest{Paging: yiku.Paging{Limit: 500}, UserID: c.scope.user}
	all, err := everyPage(&req.Paging, func() (yiku.Page[yiku.Memory], error) { return c.service.ListMemories(ctx, req) })
	if err != nil {
		return err
	}
	c.list = nil
	for _, m := range all {
		c.list = append(c.list, m.ID)
		indentFirst(c.env.Stdout, fmt.Sprintf("[%d] ", len(c.list)), fmt.Sprintf("%s  (%s)", m.Content, m.Type))
	}
	if len(all) == 0 {
		c.println(c.say(phrase{"nothing is remembered", "什么也没有记住"}))
	}
	return nil
}

// forget forgets a memory by its number, or all that says a word, once the user
// has seen what would go and said yes.
func (c *chat) forget(ctx context.Context, what string) error {
	req := yiku.ForgetRequest{UserID: c.scope.user, Reason: "asked in the chat", Trigger: yiku.TriggerUser, DryRun: true}
	n, err := strconv.Atoi(what)
	switch {
	case what == "":
		return usagef("%s", c.say(phrase{"/forget needs a number or a word", "/遗忘 需要编号或词语"}))
	case err == nil && (n < 1 || n > len(c.list)):
		return usagef("%s", c.say(phrase{"there is no number %d in the last list", "上一个列表里没有编号 %d"}, n))
	case err == nil:
		req.Selector.IDs = []string{c.list[n-1]}
	default:
		req.Selector.Keyword = what
	}
	preview, err := c.service.Forget(ctx, req)
	if err != nil {
		return err
	}
	c.showForgotten(preview)
	if preview.Removed.Memories+preview.Removed.Messages+preview.Removed.Sessions+preview.Removed.Working == 0 {
		return nil
	}
	c.println(c.say(phrase{"type yes to forget it", "输入“是”确认遗忘"}))
	line, _ := c.next(ctx)
	if line != "yes" && line != "y" && line != "是" {
		c.println(c.say(phrase{"nothing was forgotten", "没有遗忘任何内容"}))
		return nil
	}
	req.DryRun = false
	res, err := c.service.Forget(ctx, req)
	if err != nil {
		return err
	}
	c.list, c.last = nil, yiku.GetContextResponse{}
	c.showForgotten(res)
	return nil
}

// session shows the session, or ends it and goes on in another.
func (c *chat) session(ctx context.Context, id string) error {
	if id == "" {
		s, err := c.service.GetSession(ctx, yiku.GetSessionRequest{UserID: c.scope.user, SessionID: c.scope.session})
		if errors.Is(err, yiku.ErrNotFound) {
			return missing(err, fmt.Sprintf("there is no session %s of user %s", c.scope.session, c.scope.user))
		}
		if err != nil {
			return err
		}
		c.println(fmt.Sprintf("%s  %s", clean(s.ID), c.count(s.MessageCount, messages())))
		return nil
	}
	if err := c.end(ctx); err != nil {
		return err
	}
	c.scope.session = id
	return c.begin(ctx)
}
