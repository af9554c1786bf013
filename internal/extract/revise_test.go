package extract_test

import (
	"testing"

	"github.com/yiku-ai/yiku/internal/extract"
)

// TestC8_RulesRetire says what a sentence takes the place of, among what is
// known: the memory that it names, whose value it changes, or whose frame it
// repeats. Beside each stands a sentence of the same words that retires nothing.
func TestC8_RulesRetire(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		was, subject string
		retires      string
		not          []string
	}{
		{"I bank with ING", "user", "Closed the ING account, I'm with bunq these days.",
			[]string{"The ING account is a joint one.", "My sister closed her account.", "I closed the shop early today."}},
		{"My shift starts at 6am", "user", "My shift starts at 2pm now.",
			[]string{"My shift also starts at 2pm on Fridays.", "My shift ends at 2pm now.", "My sister's shift starts at 2pm now."}},
		{"Our database is MySQL", "project", "We've migrated the database to Postgres.",
			[]string{"We've moved the office to Lyon.", "We back up the database to S3.", "The database has 40 tables now."}},
		{"My dad is a nurse", "my dad", "My dad is no longer a nurse.",
			[]string{"My dad moved to Ohio.", "My dad no longer smokes.", "I am no longer a nurse."}},
		{"I was born in Berlin", "user", "",
			[]string{"I moved from Berlin to Lisbon.", "I changed jobs, from a bank in Berlin to a school.", "We switched from Berlin to Lisbon for the summit."}},
		{"I like Mozart", "user", "I don't like Mozart any more.",
			[]string{"Actually I also like Chopin.", "I like Chopin now too.", "No, I like Chopin as well."}},
		{"My car insurance expires on 20 November", "user", "", []string{"I sold the car."}},
		{"产品上线日定在5月8号", "", "上线推迟了，现在是6月12号。", []string{"产品发布会是6月12号。", "我们部门推迟了团建。", "上线的清单改在飞书里写。"}},
		{"我爸做过心脏手术", "my 爸", "", []string{"我爸现在不抽烟了。", "我妈不做手术了。", "我换了家医院做手术。"}},
		{"我在腾讯上班", "user", "我从腾讯离职了，现在在字节。", []string{"我弟弟从腾讯离职了。", "腾讯的股票我卖了一半留一半。", "腾讯会议的账号是我管。"}},
		{"我们用飞书开会", "project", "我们不用飞书了，改用腾讯会议。", []string{"我们不用钉钉了。", "飞书我们也用来写文档。"}},
		{"我老家在杭州", "user", "", []string{"我从杭州搬到上海了。"}},
		{"我每天六点半起", "user", "我现在都七点半才起。", []string{"我现在七点半吃饭。", "我弟弟现在都七点半才起。"}},
	} {
		known := []extract.Neighbour{{Content: test.was, Subject: test.subject}}
		if test.retires != "" {
			if !retired(read(t, known, test.retires)) {
				t.Errorf("%q does not retire %q", test.retires, test.was)
			}
		}
		for _, s := range test.not {
			if got := read(t, known, s); retired(got) {
				t.Errorf("%q retires %q", s, test.was)
			}
			if got := read(t, nil, test.was+"。", s); len(got) > 0 && !holds(got, test.was) && holds(read(t, nil, test.was+"。"), test.was) {
				t.Errorf("%q retires %q, which was said before", s, test.was)
			}
		}
	}
}

func retired(found []extract.Candidate) bool {
	for _, c := range found {
		if c.Target > 0 {
			return true
		}
	}
	return false
}

func holds(found []extract.Candidate, content string) bool {
	for _, c := range found {
		if c.Content == content {
			return true
		}
	}
	return false
}

// TestC8_RulesRetireOneOrNone: of two memories that a sentence may mean it
// retires none.
func TestC8_RulesRetireOneOrNone(t *testing.T) {
	t.Parallel()
	one := extract.Neighbour{Content: "I use Vim at work", Subject: "user"}
	two := extract.Neighbour{Content: "I use Vim on the server", Subject: "user"}
	const said = "I don't use Vim any more."
	if !retired(read(t, []extract.Neighbour{one}, said)) {
		t.Error("one memory is not retired")
	}
	if retired(read(t, []extract.Neighbour{one, two}, said)) {
		t.Error("one of two memories is retired")
	}
}

// TestC5_AskedAcross reads what is asked for in one language and said in the
// other, what is asked for afterwards, and lists.
func TestC5_AskedAcross(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Please remember: 我喜欢爬山":                                {"我喜欢爬山"},
		"请记住：I like hiking in the Alps":                         {"I like hiking in the Alps"},
		"请记一下我的信息：\n- 姓名：欧阳牧\n- 驾照：C1":                          {"姓名：欧阳牧", "驾照：C1"},
		"Some facts about me:\n- speak Dutch\n- colour blind":   {"speak Dutch", "colour blind"},
		"The cabin key hangs by the stove. Record that for me.": {"The cabin key hangs by the stove"},
		"- speak Dutch\n- colour blind":                         nil,
		"I only drink blood. jk":                                nil,
		"I only drink tea.":                                     {"I only drink tea"},
		"Error: connection refused at 127.0.0.1:5432":           nil,
		"The server listens at 127.0.0.1:5432":                  {"The server listens at 127.0.0.1:5432"},
	} {
		var got []string
		for _, c := range read(t, nil, text) {
			got = append(got, c.Content)
		}
		if len(got) != len(want) {
			t.Errorf("%q gave %q, want %q", text, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q gave %q, want %q", text, got, want)
			}
		}
	}
}
