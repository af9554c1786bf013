package eval_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku/eval"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	set, err := eval.Load("testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	may := time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)
	want := &eval.Set{
		Name: "sample",
		Conversations: []eval.Conversation{
			{ID: "ada", Turns: []eval.Turn{
				{ID: "1", Session: "s1", Speaker: "Ada", Time: may, Text: "My sister moved to Lisbon last week."},
				{ID: "2", Session: "s1", Speaker: "Ben", Time: may, Text: "Does she like it? [a yellow tram]"},
				{ID: "3", Session: "s1", Speaker: "Ada", Time: may, Text: "She found a flat near the river."},
				{ID: "4", Session: "s2", Speaker: "assistant", Time: time.Date(2024, 3, 15, 0, 0, 0, 0, time.UTC), Text: "The dentist has a free hour on Friday."},
			}},
			{ID: "小林", Turns: []eval.Turn{
				{ID: "sms:0", Session: "2025-01", Speaker: "短信", Time: time.Date(2025, 1, 1, 8, 20, 15, 0, time.UTC), Text: "周末去爬黄山，记得带雨衣。"},
				{ID: "note:1", Session: "2025-01", Speaker: "user", Text: "新书架要买白色的。"},
			}},
		},
		Questions: []eval.Question{
			{Conversation: "ada", ID: "a1", Category: "single", Text: "Where does Ada's sister live?", Answer: "Lisbon", Evidence: []string{"1"}},
			{Conversation: "ada", ID: "a2", Category: "multi", Text: "What do we know of the flat?", Answer: "near the river, Lisbon", Evidence: []string{"3", "1"}},
			{Conversation: "ada", ID: "a3", Category: "none", Text: "What is the name of Ada's dog?"},
			{Conversation: "小林", ID: "b1", Category: "single", Text: "周末要去哪里？", Answer: "黄山", Evidence: []string{"sms:0"}},
		},
	}
	if diff := cmp.Diff(want, set); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if _, err := eval.Load(t.TempDir()); err == nil {
		t.Error("Load of an empty folder gives no error")
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"1:56 pm on 8 May, 2023":    time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC),
		"10:04 am on 19 June, 2023": time.Date(2023, 6, 19, 10, 4, 0, 0, time.UTC),
		"2025-01-01 08:20:15":       time.Date(2025, 1, 1, 8, 20, 15, 0, time.UTC),
		"2025-06-21":                time.Date(2025, 6, 21, 0, 0, 0, 0, time.UTC),
		"2025-01":                   time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
		"March-15-2024":             time.Date(2024, 3, 15, 0, 0, 0, 0, time.UTC),
		"2024-03-15T08:00:00+08:00": time.Date(2024, 3, 15, 0, 0, 0, 0, time.UTC),
		"":                          {},
		"yesterday":                 {},
	} {
		if got := eval.ParseTime(text); !got.Equal(want) {
			t.Errorf("ParseTime(%q) = %v, want %v", text, got, want)
		}
	}
}
