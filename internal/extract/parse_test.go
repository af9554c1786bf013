package extract_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/extract"
)

// TestC6_Answers reads the answers that models really give: what can be read
// is applied, the rest is parked, and nothing is lost without a word (C6): a bad
// operation stops no other (L8), and the sentence that there is nothing to
// change is no content (L47).
func TestC6_Answers(t *testing.T) {
	t.Parallel()
	const tea = `{"op":"create","content":"Drinks green tea","type":"preference","importance":4,"messages":[1]}`
	tests := []struct {
		name, answer string
		contents     []string
		parked       []extract.Reason
	}{
		{"plain", `{"operations":[` + tea + `]}`, []string{"Drinks green tea"}, nil},
		{"nothing to remember", `{"operations":[]}`, nil, nil},
		{"a list without a name", `[` + tea + `]`, []string{"Drinks green tea"}, nil},
		{"one object for a list", tea, []string{"Drinks green tea"}, nil},
		{"object under the name", `{"operations":` + tea + `}`, []string{"Drinks green tea"}, nil},
		{"fenced", "Sure!\n```json\n{\"operations\":[" + tea + "]}\n```\nAnything else?", []string{"Drinks green tea"}, nil},
		{"prose with braces before it", `I used the format {op, content} and {"a": 1}: {"operations":[` + tea + `]}`, []string{"Drinks green tea"}, nil},
		{"thinking aloud", `<think>{"operations":[{"op":"delete","target":1}]}</think>{"operations":[` + tea + `]}`, []string{"Drinks green tea"}, nil},
		{"an example, then the answer", `For example [{"op":"create","content":"X"}]. Mine: [` + tea + `]`, []string{"Drinks green tea"}, []extract.Reason{extract.Replaced}},
		{"an object a line", tea + "\n" + tea, []string{"Drinks green tea", "Drinks green tea"}, nil},
		{"a fenced list each", "```json\n[" + tea + "]\n```\n```json\n[" + tea + "]\n```", []string{"Drinks green tea", "Drinks green tea"}, nil},
		{"the name twice", `{"operations":[` + tea + `],"operations":[` + tea + `]}`, []string{"Drinks green tea", "Drinks green tea"}, nil},
		{"trailing commas and comments", `{"operations":[` + tea + `, // done` + "\n" + `],}`, []string{"Drinks green tea"}, nil},
		{"Python", `{'operations': [{'op': 'create', 'content': 'Drinks green tea', 'single': None, 'pinned': True}]}`, []string{"Drinks green tea"}, nil},
		{"bare keys", `{operations: [{op: create, content: "Drinks green tea"}]}`, []string{"Drinks green tea"}, nil},
		{"curly quotes", `{“operations”: [{“op”: “create”, “content”: “爱喝绿茶”}]}`, []string{"爱喝绿茶"}, nil},
		{"full-width punctuation", `{"operations"：[{"op"："create"，"content"："爱喝绿茶"}]}`, []string{"爱喝绿茶"}, nil},
		{"lone surrogate", `{"operations":[{"op":"create","content":"爱喝\ud83d绿茶"}]}`, []string{"爱喝\ufffd绿茶"}, nil},
		{"pair of surrogates", `{"operations":[{"op":"create","content":"爱喝绿茶\ud83c\udf75"}]}`, []string{"爱喝绿茶🍵"}, nil},
		{"line break in a string", "{\"operations\":[{\"op\":\"create\",\"content\":\"Drinks\ngreen tea\"}]}", []string{"Drinks\ngreen tea"}, nil},
		{"quotes in a string", `{"operations":[{"op":"create","content":"Calls it "the leaf" at home"}]}`, []string{`Calls it "the leaf" at home`}, nil},
		{"broken off in the second", `{"operations":[` + tea + `,{"op":"create","content":"Lives in Hang`, []string{"Drinks green tea"}, []extract.Reason{extract.Truncated}},
		{"broken off behind the second", `{"operations":[` + tea + `,` + tea, []string{"Drinks green tea", "Drinks green tea"}, []extract.Reason{extract.Truncated}},
		{"broken off before its operation", `{"operations":[{"content":"Lives in Hangzhou"`, nil, []extract.Reason{extract.Truncated}},
		{"one bad among good", `{"operations":[{"op":"create","content": ?? },` + tea + `]}`, []string{"Drinks green tea"}, []extract.Reason{extract.Unreadable}},
		{"a string among objects", `{"operations":["Drinks tea",` + tea + `]}`, []string{"Drinks green tea"}, []extract.Reason{extract.Unreadable}},
		{"unknown number: the fact stays", `{"operations":[{"op":"update","target":99,"content":"Lives in Hangzhou"}]}`, []string{"Lives in Hangzhou"}, nil},
		{"delete of an unknown number", `{"operations":[{"op":"delete","target":99}]}`, nil, []extract.Reason{extract.UnknownTarget}},
		{"unknown operation", `{"operations":[{"op":"ponder","content":"x"}]}`, nil, []extract.Reason{extract.UnknownOp}},
		{"without content", `{"operations":[{"op":"create","content":{"a":1}}]}`, nil, []extract.Reason{extract.NoContent}},
		{"too long", `{"operations":[{"op":"create","content":"` + strings.Repeat("茶", 20001) + `"}]}`, nil, []extract.Reason{extract.TooLong}},
		{"the sentence that there is nothing", `{"operations":[{"op":"update","target":1,"content":"No change needed."},{"op":"create","content":"没有需要记住的内容"}]}`, nil, nil},
		{"prose", "There is nothing worth remembering here.", nil, []extract.Reason{extract.NoJSON}},
		{"tool call markup", "<tool_call>remember</tool_call>", nil, []extract.Reason{extract.NoJSON}},
		{"empty", "", nil, []extract.Reason{extract.NoJSON}},
		{"null", `{"operations":null}`, nil, nil},
		{"brackets only", strings.Repeat("[", 1<<20), nil, []extract.Reason{extract.NoJSON}},
		{"braces only", strings.Repeat(`{"a":`, 1<<18), nil, []extract.Reason{extract.NoJSON}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			candidates, parked := extract.ParseAnswer(test.answer, 3, 2)
			var contents []string
			for _, c := range candidates {
				contents = append(contents, c.Content)
			}
			if got, want := strings.Join(contents, "|"), strings.Join(test.contents, "|"); got != want {
				t.Errorf("contents %q, want %q", got, want)
			}
			var reasons []extract.Reason
			for _, p := range parked {
				reasons = append(reasons, p.Reason)
			}
			if len(reasons) != len(test.parked) {
				t.Fatalf("parked %q, want %q", reasons, test.parked)
			}
			for i := range reasons {
				if reasons[i] != test.parked[i] {
					t.Errorf("parked %q, want %q", reasons, test.parked)
				}
			}
		})
	}
}

// TestC4_Fields reads the fields of an operation: numbers within what was
// shown, importance on its scale of five, and what has a wrong type left out.
func TestC4_Fields(t *testing.T) {
	t.Parallel()
	answer := `[{"op":"update","target":"2","content":" 住在上海 ","type":"PROFILE","subject":"用户","attribute":"居住地","value":"上海","single":true,
		"importance":"4","confidence":"low","messages":[1,"2",9,2],"depends_on":[1,7],"topics":["home",3,"home",{}],"level":"project","valid_from":"2026-03-02","valid_to":"yesterday"}]`
	candidates, parked := extract.ParseAnswer(answer, 3, 2)
	if len(candidates) != 1 || len(parked) != 0 {
		t.Fatalf("%d candidates, %d parked", len(candidates), len(parked))
	}
	c := candidates[0]
	if c.Op != extract.OpUpdate || c.Target != 2 || c.Content != "住在上海" || c.Type != yiku.TypeProfile || c.Value != "上海" || c.Single == nil || !*c.Single {
		t.Errorf("what it says: %+v", c)
	}
	if c.Importance != 0.8 || c.Confidence != 0.3 || c.Level != yiku.LevelProject || c.ValidFrom.Format("2006-01-02") != "2026-03-02" || !c.ValidTo.IsZero() {
		t.Errorf("how it stands: %+v", c)
	}
	if len(c.Messages) != 2 || c.Messages[1] != 2 || len(c.From) != 1 || len(c.Topics) != 2 {
		t.Errorf("what it rests on: %+v", c)
	}
}

// TestC6_NoAnswerIsLost cuts and bends 10,000 answers. Each ends as
// candidates, as parked, or as an answer that says that there is nothing; what
// stood before the damage is there.
func TestC6_NoAnswerIsLost(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(6, 6))
	contents := []string{"Drinks green tea", "住在杭州", "deadline is 2026-12-01", "喜欢 \"老酒馆\"，不加糖", "emoji 🍵 and \\ slash"}
	for i := range 10000 {
		var ops []map[string]any
		for range 1 + rnd.IntN(4) {
			ops = append(ops, map[string]any{"op": "create", "content": contents[rnd.IntN(len(contents))], "importance": rnd.IntN(9) - 2, "messages": []int{rnd.IntN(9)}})
		}
		b, err := json.Marshal(map[string]any{"operations": ops})
		if err != nil {
			t.Fatal(err)
		}
		answer := string(b)
		whole := len(ops)
		switch rnd.IntN(5) {
		case 0:
			at := rnd.IntN(len(answer))
			whole = strings.Count(answer[:at], "}")
			answer = answer[:at]
		case 1:
			answer = "Here: {x} \n```json\n" + answer + "\n```"
		case 2:
			answer = strings.ReplaceAll(answer, "}", ",}")
		case 3:
			at := rnd.IntN(len(answer))
			answer = answer[:at] + string(rune(rnd.IntN(0x300))) + answer[at:]
			whole = 0 // anything may have happened to it
		}
		candidates, parked := extract.ParseAnswer(answer, 4, 0)
		if len(candidates)+len(parked) == 0 {
			t.Fatalf("answer %d is lost: %q", i, answer)
		}
		if len(candidates) < min(whole, len(ops)) {
			t.Fatalf("answer %d: %d of %d: %q", i, len(candidates), whole, answer)
		}
	}
}

// FuzzAnswer holds that no answer is lost and that what is given is in bounds.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"operations":[{"op":"create","content":"爱喝茶"}]}`, "```json\n[]\n```", `[{"op":"update","target":1,"content":"x"`, `{"a":[[[{{{`, `{'op':'create','content':'\ud800'}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		candidates, parked := extract.ParseAnswer(answer, 3, 2)
		for _, c := range candidates {
			if c.Op != extract.OpDelete && (c.Content == "" || !utf8.ValidString(c.Content) || strings.Contains(c.Content, "\x00")) {
				t.Errorf("content %q", c.Content)
			}
			if c.Importance < 0 || c.Importance > 1 || c.Confidence < 0 || c.Confidence > 1 || c.Target < 0 || c.Target > 2 {
				t.Errorf("out of bounds: %+v", c)
			}
		}
		for _, p := range parked {
			if !utf8.ValidString(p.Raw) {
				t.Errorf("parked %q", p.Raw)
			}
		}
	})
}
