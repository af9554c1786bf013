package cli

import (
	"context"
	"strings"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/config"
	"github.com/yiku-ai/yiku/internal/sample"
	"github.com/yiku-ai/yiku/internal/usage"
)

// project is the project that the sample's user works on.
const project = "orchid"

// showMemories lists what is remembered, what was superseded and what was left out.
func (d *demo) showMemories(ctx context.Context) error {
	active, err := d.list(ctx, yiku.StatusActive)
	if err != nil {
		return err
	}
	old, err := d.list(ctx, yiku.StatusSuperseded)
	if err != nil {
		return err
	}
	d.title(phrase{"Remembered (%d)", "记住的（%d 条）"}, len(active))
	successor := map[string]string{}
	for _, m := range active {
		indentFirst(d.env.Stdout, "  "+pad(string(m.Type), 13), m.Content)
		successor[m.Supersedes] = m.Content
	}
	d.title(phrase{"Superseded (%d): kept as history, not recalled", "被取代的（%d 条）：留作历史，不再召回"}, len(old))
	for _, m := range old {
		indentFirst(d.env.Stdout, "  "+pad(string(m.Type), 13), m.Content)
		if next := successor[m.ID]; next != "" {
			indentFirst(d.env.Stdout, strings.Repeat(" ", 15)+"→ ", next)
		}
	}
	d.title(phrase{"Left out: said, but not worth keeping", "没有留下的：说过，但不值得记"})
	for _, s := range d.sample.Sessions {
		for _, step := range s.Steps {
			if step.LeftOut != "" {
				indentFirst(d.env.Stdout, "  "+pad(d.reason(step.LeftOut), 15), step.Text)
			}
		}
	}
	d.note(phrase{"Every message stays word for word in its session and can be searched.", "每条消息都原样留在会话里，可以搜索。"})
	return nil
}

func (d *demo) list(ctx context.Context, status yiku.Status) ([]yiku.Memory, error) {
	req := yiku.ListMemoriesRequest{UserID: d.sample.UserID, Status: status, Paging: yiku.Paging{Limit: 500}}
	page, err := d.service.ListMemories(ctx, req)
	return page.Items, err
}

// showQuestions composes the context of each of the sample's questions, asked
// in a new session.
func (d *demo) showQuestions(ctx context.Context) error {
	d.title(phrase{"A new session, three questions", "新的会话，三个问题"})
	d.note(phrase{
		"This is what an agent would send to its model as system text: no conversation is sent again, only what matters of all of them. What was said word for word comes back where it answers the question.",
		"下面是智能体发给模型的系统提示：不再发送任何一段完整对话，只发送其中重要的内容；与问题相关的原话会逐字找回。",
	})
	for _, q := range d.sample.Questions {
		d.println("")
		indentFirst(d.env.Stdout, "? ", q.Query)
		res, err := d.ask(ctx, q)
		if err != nil {
			return err
		}
		d.context += res.Budget.Total
	}
	d.context /= len(d.sample.Questions)
	return d.showStranger(ctx)
}

// stranger is a user of whom nothing is known.
const stranger = "demo-sam"

// showStranger asks the first question as another user.
func (d *demo) showStranger(ctx context.Context) error {
	res, err := d.service.GetContext(ctx, yiku.GetContextRequest{UserID: stranger, Query: d.sample.Questions[0].Query})
	if err != nil {
		return err
	}
	d.println("")
	d.note(phrase{
		"The first question again, asked by another user (%s): %d memories, %d past messages.",
		"另一位用户（%s）提出第一个问题：记忆 %d 条，过去的消息 %d 条。",
	}, stranger, len(res.Memories), len(res.Episodes))
	return nil
}

// ask composes the context of one question and shows it.
func (d *demo) ask(ctx context.Context, q sample.Question) (yiku.GetContextResponse, error) {
	res, err := d.service.GetContext(ctx, yiku.GetContextRequest{
		UserID: d.sample.UserID, ProjectID: q.Project, AgentID: d.sample.AgentID, Query: q.Query,
	})
	if err != nil {
		return res, err
	}
	indent(d.env.Stdout, "  │ ", strings.TrimRight(res.System, "\n"))
	d.showRecalled(res)
	d.showBudget(res.Budget)
	if missing := d.degraded(res.Degraded); missing != "" {
		indent(d.env.Stdout, "  ", missing)
	}
	return res, nil
}

// showRecalled lists what was recalled for the question, as opposed to what is
// always loaded.
func (d *demo) showRecalled(res yiku.GetContextResponse) {
	recalled, always := 0, 0
	for _, m := range res.Memories {
		if m.Group != yiku.GroupRelevant {
			always++
			continue
		}
		if recalled == 0 {
			d.println("  " + d.say(phrase{"memories recalled for this question, with score:", "为这个问题召回的记忆（得分）："}))
		}
		recalled++
		d.printf("    %.2f  %s\n", m.Score, cut(clean(m.Content), columns-10))
	}
	for i, e := range res.Episodes {
		if i == 0 {
			d.println("  " + d.say(phrase{"found in what was said:", "在说过的话里找到的："}))
		}
		d.printf("    %.2f  %s\n", e.Score, cut(clean(e.Content), columns-10))
	}
	if recalled == 0 && len(res.Episodes) == 0 {
		d.println("  " + d.say(phrase{"recalled for this question: nothing", "为这个问题召回的：没有"}))
	}
	d.println("  " + d.say(phrase{"always loaded (constraints, profile, project, recent): %d", "始终载入的（约束、资料、项目、近期）：%d 条"}, always))
}

// showSaving compares the contexts with what the whole history would have cost (G6).
func (d *demo) showSaving(ctx context.Context) error {
	turns := 1000
	for _, s := range d.sample.Sessions {
		res, err := d.service.GetContext(ctx, yiku.GetContextRequest{
			UserID: d.sample.UserID, ProjectID: s.Project, SessionID: s.ID, Query: "-", WindowTokens: 1000000, Turns: &turns,
			Options: yiku.ContextOptions{Layers: yiku.Layers{Longterm: yiku.Some(false), Working: yiku.Some(false), Summary: yiku.Some(false)}},
		})
		if err != nil {
			return err
		}
		d.history += res.Budget.FullHistory
	}
	d.title(phrase{"What it saves", "省下多少"})
	d.note(phrase{
		"The whole history of these few days is %s tokens; the contexts above are %s on average. It grows with every message, they do not.",
		"这几天的全部历史是 %s token；上面的上下文平均 %s token。历史随每条消息增长，上下文不会。",
	}, thousands(d.history), thousands(d.context))
	plan := usage.DefaultPlan()
	plan.HistoryTokens, plan.ContextTokens = d.history, d.context
	d.println("")
	d.showCost(plan.Compare())
	d.println("")
	d.note(phrase{"These are assumed figures, as is what follows; put in your own with `yiku cost`. After a few months the history is longer. With 60,000 tokens against 2,000:", "以上和以下都是假设的数字，用 yiku cost 换成自己的。几个月后历史会更长。如果是 60,000 对 2,000 token："})
	d.showCost(usage.DefaultPlan().Compare())
	return nil
}

// showHints says what else can be tried.
func (d *demo) showHints(cfg config.Config) {
	d.title(phrase{"Try it yourself, in another terminal", "在另一个终端里自己试试"})
	flag := ""
	if cfg.DataDir != config.Default().DataDir {
		flag = " --url " + d.url
	}
	d.println(
		"  bin/yiku search --user "+d.sample.UserID+flag+" 上海",
		"  bin/yiku context --user "+d.sample.UserID+" --project "+project+flag+" \"Which port?\"",
		"  bin/yiku call list_memories '{\"user_id\": \""+d.sample.UserID+"\"}'"+flag,
		"  curl '"+d.url+"/v1/memories?user_id="+d.sample.UserID+"'",
	)
}
