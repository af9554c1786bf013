package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/app"
	"github.com/yiku-ai/yiku/llm"
)

// chat is a conversation in a terminal, with what was recalled beside each answer.
type chat struct {
	*tool
	service yiku.Service
	scope   scope
	system  string
	model   llm.Model // nil: what would stand in the prompt is shown instead
	name    string    // of the model, which chooses tokenizer and window
	lines   <-chan string
	person  bool // a person types
	said    bool // something was said in the session
	last    yiku.GetContextResponse
	list    []string // ids of the memories that were listed last, by number
}

func (t *tool) chatCommand() *cobra.Command {
	var s scope
	var system string
	cmd := &cobra.Command{
		Use:   "chat",
		Short: t.say(phrase{"Talk in the terminal, and see beside each answer what was recalled and why", "在终端里对话，并在每个回答旁看到召回了什么、为什么"}),
		Long: t.say(phrase{
			"Talk in the terminal. Beside each answer stands what was recalled. The language model is the one of model.driver, asked by this command itself (YIKU_MODEL_KEY holds its key); without one the answer is what would stand in the prompt. /help lists the commands.",
			"在终端里对话，每个回答旁列出召回的记忆。语言模型由 model.driver 配置，由本命令直接调用（密钥放在 YIKU_MODEL_KEY）；没有模型时，回答就是将要放进提示的内容。/help 列出命令。",
		}),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			model, name, err := t.chatModel()
			if err != nil {
				return err
			}
			return t.with(cmd.Context(), true, func(ctx context.Context, service yiku.Service) error {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel() // ends the reading of lines
				c := &chat{tool: t, service: service, scope: s, system: system, model: model, name: name,
					lines: lines(ctx, t.env.Stdin), person: terminal(t.env.Stdin)}
				return c.run(ctx)
			})
		},
	}
	t.scopeFlags(cmd, &s)
	cmd.Flags().StringVar(&system, "system", "", t.say(phrase{"the assistant's own system `PROMPT`", "助手自己的系统提示 `PROMPT`"}))
	return cmd
}

// chatModel is the language model that is configured; nil where none is.
func (t *tool) chatModel() (llm.Model, string, error) {
	cfg, err := t.settings(nil)
	if err != nil || cfg.Model.Driver == "" {
		return nil, "", err
	}
	model, err := app.OpenModel(cfg.Model)
	return model, cfg.Model.Name, err
}

// run answers each line until there are no more, and then ends the session, so
// that what was said is read for what is worth keeping.
func (c *chat) run(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	for {
		line, more := c.next(ctx)
		if !more {
			return errors.Join(ctx.Err(), c.end(ctx))
		}
		quit, err := c.do(ctx, line)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // the conversation goes on
			c.println("! " + oneLine(c.describe(err)))
		case quit:
			return c.end(ctx)
		}
	}
}

// begin opens the session, the one that was named or a new one.
func (c *chat) begin(ctx context.Context) error {
	session, err := c.service.CreateSession(ctx, yiku.CreateSessionRequest{UserID: c.scope.user, SessionID: c.scope.session, ProjectID: c.scope.project})
	if errors.Is(err, yiku.ErrConflict) && c.scope.session != "" { // it goes on
		session, err = c.service.GetSession(ctx, yiku.GetSessionRequest{UserID: c.scope.user, SessionID: c.scope.session})
	}
	if err != nil {
		return err
	}
	c.scope.session, c.scope.project, c.said = session.ID, session.ProjectID, false
	c.println(c.say(phrase{"session %s; /help lists the commands", "会话 %s；输入 /帮助 查看命令"}, clean(session.ID)))
	if c.model == nil {
		c.println(c.say(phrase{"no language model is configured: each answer shows what would stand in its prompt", "没有配置语言模型：每个回答显示将要放进提示的内容"}))
	}
	return nil
}

// end says that the user has left and tells what was learnt.
func (c *chat) end(ctx context.Context) error {
	if !c.said || ctx.Err() != nil {
		return nil
	}
	res, err := c.service.EndSession(ctx, yiku.EndSessionRequest{UserID: c.scope.user, SessionID: c.scope.session, Reason: yiku.EndUserLeft, Wait: true})
	if err != nil {
		return err
	}
	if res.ExtractionReport != nil {
		c.showLearnt(res.Operations)
	}
	return nil
}

// next is the next line that says something.
func (c *chat) next(ctx context.Context) (line string, more bool) {
	for {
		if c.person {
			c.printf("\n> ")
		}
		select {
		case <-ctx.Done():
			return "", false
		case line, more = <-c.lines:
		}
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "")); line != "" || !more {
			return line, more
		}
	}
}

// do does what a line asks for: a command, or an answer.
func (c *chat) do(ctx context.Context, line string) (quit bool, err error) {
	if !strings.HasPrefix(line, "/") {
		return false, c.answer(ctx, line)
	}
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "/why", "/为什么":
		return false, c.why(rest)
	case "/forget", "/遗忘":
		return false, c.forget(ctx, rest)
	case "/memories", "/记忆":
		return false, c.memories(ctx)
	case "/session", "/会话":
		return false, c.session(ctx, rest)
	case "/quit", "/exit", "/退出":
		return true, nil
	case "/help", "/帮助":
		c.help()
		return false, nil
	}
	return false, usagef("%s", c.say(phrase{"there is no command %s; /help lists them", "没有命令 %s；输入 /帮助 查看"}, name))
}

// answer keeps what the user says, recalls for it, asks the model, and keeps
// what that says.
func (c *chat) answer(ctx context.Context, text string) error {
	if err := c.keep(ctx, yiku.RoleUser, text); err != nil {
		return err
	}
	res, err := c.service.GetContext(ctx, yiku.GetContextRequest{UserID: c.scope.user, ProjectID: c.scope.project, TaskID: c.scope.task,
		SessionID: c.scope.session, System: c.system, Model: c.name, Options: yiku.ContextOptions{Explain: true}})
	if err != nil {
		return err
	}
	c.last = res
	if c.model == nil {
		c.showPrompt(res)
		c.showRecalled(res)
		return nil
	}
	said, err := c.model.Complete(ctx, llm.Request{System: res.System, Messages: promptOf(res.Messages)})
	if err != nil {
		c.println(c.say(phrase{"[the model gave no answer]", "[模型没有给出回答]"}))
		c.showRecalled(res)
		return err
	}
	indent(c.env.Stdout, "", said.Text)
	c.showRecalled(res)
	return c.keep(ctx, yiku.RoleAssistant, said.Text)
}

// keep appends a message and says what was done at once because of it.
func (c *chat) keep(ctx context.Context, role yiku.Role, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	res, err := c.service.AppendMessages(ctx, yiku.AppendMessagesRequest{UserID: c.scope.user, SessionID: c.scope.session, ProjectID: c.scope.project,
		TaskID: c.scope.task, Messages: []yiku.Message{{Role: role, Content: yiku.Text(text)}}})
	if err != nil {
		return err
	}
	c.said = true
	c.showLearnt(res.Applied)
	c.showLearnt(res.Commands)
	return nil
}

// promptOf are a context's messages as a model takes them.
func promptOf(messages []yiku.Message) []llm.Message {
	var out []llm.Message
	for _, m := range messages {
		role := llm.User
		if m.Role == yiku.RoleAssistant {
			role = llm.Assistant
		}
		if text := m.Content.PlainText(); text != "" {
			out = append(out, llm.Message{Role: role, Content: text})
		}
	}
	return out
}
