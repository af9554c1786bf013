package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/sample"
)

// demo is one show.
type demo struct {
	*tool
	service yiku.Service
	sample  sample.Conversation
	url     string
	history int             // tokens of all conversations
	context int             // tokens of the contexts shown, on average
	told    map[string]bool // memories that were shown, by id
}

func (d *demo) title(p phrase, args ...any) {
	text := d.say(p, args...)
	d.println("", "━━ "+text+" "+strings.Repeat("━", max(0, columns-4-width(text))))
}

func (d *demo) note(p phrase, args ...any) { indent(d.env.Stdout, "", d.say(p, args...)) }

// play sends the sample through the API and tells the story on the way. What
// was played in completely before is left as it is; what was interrupted is
// sent again under the same keys and times, which writes nothing twice.
func (d *demo) play(ctx context.Context) error {
	d.title(phrase{"A few days of conversation", "几天的对话"})
	anchor, done, err := d.played(ctx)
	if err != nil {
		return err
	}
	if done {
		d.note(phrase{
			"The conversations were played in before, on %s. They are left as they are: nothing is written twice.",
			"这些对话在 %s 已经放入过，保持原样：不会重复写入。",
		}, anchor.In(d.env.Now().Location()).Format(time.DateTime))
		return nil
	}
	d.note(phrase{
		"One user, two languages. Every message goes through the HTTP API. No model and no key is needed: rules read the conversations and write the memories (the lines with +), at once what cannot wait and the rest when a session ends.",
		"一位用户，两种语言。每条消息都经过 HTTP API。不需要模型，也不需要密钥：规则读对话、写记忆（带 + 的行），等不得的当场写，其余的在会话结束时写。",
	})
	story := d.story()
	for _, r := range d.sample.Requests(anchor) {
		line, err := d.send(ctx, r)
		if err != nil {
			return fmt.Errorf("play the sample in: %w", err)
		}
		d.tell(r, line, story)
		if r.End != nil {
			if err := d.tellKept(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellKept shows the memories that are new.
func (d *demo) tellKept(ctx context.Context) error {
	active, err := d.list(ctx, yiku.StatusActive)
	if err != nil {
		return err
	}
	for _, m := range active {
		if d.told[m.ID] {
			continue
		}
		if d.told == nil {
			d.told = map[string]bool{}
		}
		d.told[m.ID] = true
		d.println("  + " + pad(string(m.Type), 13) + cut(clean(m.Content), columns-17))
	}
	return nil
}

// played returns the time that the sample's times are counted from, and
// whether all of it is there already.
func (d *demo) played(ctx context.Context) (anchor time.Time, done bool, err error) {
	first, last := d.sample.Sessions[0].ID, d.sample.Sessions[len(d.sample.Sessions)-1].ID
	session, err := d.service.GetSession(ctx, yiku.GetSessionRequest{SessionID: first, UserID: d.sample.UserID})
	if errors.Is(err, yiku.ErrNotFound) {
		return d.env.Now(), false, nil
	}
	if err != nil {
		return time.Time{}, false, err
	}
	text, _ := session.Metadata[sample.AnchorKey].(string)
	if anchor, err = time.Parse(time.RFC3339, text); err != nil {
		return time.Time{}, false, yiku.Errorf(yiku.ErrConflict, "the session %s is there and is not the sample's", first)
	}
	session, err = d.service.GetSession(ctx, yiku.GetSessionRequest{SessionID: last, UserID: d.sample.UserID})
	if errors.Is(err, yiku.ErrNotFound) {
		return anchor, false, nil
	}
	return anchor, err == nil && !session.EndedAt.IsZero(), err
}

// send makes one request and returns what there is to tell of its answer.
func (d *demo) send(ctx context.Context, r sample.Request) (string, error) {
	switch {
	case r.Create != nil:
		_, err := d.service.CreateSession(ctx, *r.Create)
		return "", err
	case r.Append != nil:
		_, err := d.service.AppendMessages(ctx, *r.Append)
		return "", err
	case r.Save != nil:
		res, err := d.service.SaveMemory(ctx, *r.Save)
		return d.outcome(res.Outcome), err
	default:
		_, err := d.service.EndSession(ctx, *r.End)
		return "", err
	}
}

// story is why messages were left out, by their text.
func (d *demo) story() map[string]sample.Reason {
	reasons := map[string]sample.Reason{}
	for _, s := range d.sample.Sessions {
		for _, step := range s.Steps {
			reasons[step.Text] = step.LeftOut
		}
	}
	return reasons
}

// tell writes what a request was, in one line a message.
func (d *demo) tell(r sample.Request, outcome string, story map[string]sample.Reason) {
	switch {
	case r.Create != nil:
		d.println("", "● "+r.Create.SessionID)
	case r.Append != nil:
		for _, m := range r.Append.Messages {
			d.tellMessage(m, story[m.Content.PlainText()])
		}
	case r.Save != nil:
		d.println("    save_memory  → " + outcome)
	}
}

func (d *demo) tellMessage(m yiku.Message, left sample.Reason) {
	text := m.Content.PlainText()
	for _, c := range m.ToolCalls {
		text = c.Function.Name + "(" + c.Function.Arguments + ")"
	}
	suffix := ""
	if left != "" {
		suffix = "  – " + d.reason(left)
	}
	d.println("    " + pad(string(m.Role), 11) + cut(clean(text), columns-15-width(suffix)) + suffix)
}

func (d *demo) reason(r sample.Reason) string {
	return d.say(map[sample.Reason]phrase{
		sample.SmallTalk: {"small talk", "闲聊"},
		sample.JustOnce:  {"just this once", "只此一次"},
		sample.Guess:     {"a guess", "猜测"},
		sample.Mood:      {"a mood", "情绪"},
		sample.Forgotten: {"forgotten", "已忘掉"},
	}[r])
}
