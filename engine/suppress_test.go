package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/yiku-ai/yiku"
)

// TestE2_ForgottenIsWhatWasSaid: of messages that are sent under the id of one
// that was forgotten only the same one is not taken in: other tool calls and
// other parts are another message, the same in other JSON is the same.
func TestE2_ForgottenIsWhatWasSaid(t *testing.T) {
	t.Parallel()
	parts := func(raw string) yiku.Message {
		m := yiku.Message{ID: "m", Role: yiku.RoleUser}
		if err := json.Unmarshal([]byte(raw), &m.Content); err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain := func(text string) yiku.Message {
		return yiku.Message{ID: "m", Role: yiku.RoleUser, Content: yiku.Text(text)}
	}
	for name, test := range map[string]struct {
		before, after yiku.Message
		forgotten     bool
	}{
		"another call":           {callTool("m", `{"city":"上海"}`), callTool("m", `{"city":"北京"}`), false},
		"the same call":          {callTool("m", `{"city":"上海"}`), callTool("m", `{"city":"上海"}`), true},
		"another image, 图":       {parts(`[{"type":"text","text":"看"},{"type":"image_url","image_url":{"url":"a"}}]`), parts(`[{"type":"text","text":"看"},{"type":"image_url","image_url":{"url":"b"}}]`), false},
		"the same image":         {parts(`[{"type":"image_url","image_url":{"url":"a","detail":"low"}}]`), parts(`[ {"image_url": {"detail":"low", "url":"a"}, "type":"image_url"} ]`), true},
		"text and image":         {plain("look"), parts(`[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"a"}}]`), false},
		"text in a part, 文字":     {plain("看 look"), parts(`[{"text":"看 look","type":"text"}]`), true},
		"the same text":          {plain("看 look"), plain("看 look"), true},
		"other text":             {plain("看"), plain("见"), false},
		"text beside a call":     {callTool("m", "{}"), plain("done"), false},
		"a part with more to it": {parts(`[{"type":"text","text":"a"}]`), parts(`[{"type":"text","text":"a","cache":true}]`), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBench(t, nil).operator()
			put := func(m yiku.Message) yiku.MessageRef {
				res, err := s.AppendMessages(t.Context(), yiku.AppendMessagesRequest{UserID: "ann", SessionID: "s", Messages: []yiku.Message{m}})
				if err != nil {
					t.Fatal(err)
				}
				return res.Messages[0]
			}
			put(test.before)
			forget(t, s, yiku.ForgetRequest{Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s", MessageID: "m"}}})
			if got := put(test.after); got.Forgotten != test.forgotten {
				t.Errorf("%+v, want forgotten %v", got, test.forgotten)
			}
			page, err := s.ListMessages(t.Context(), yiku.ListMessagesRequest{UserID: "ann", SessionID: "s"})
			if err != nil || (len(page.Items) == 0) != test.forgotten {
				t.Errorf("stored: %+v, %v", page.Items, err)
			}
		})
	}
}
