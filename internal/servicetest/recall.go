package servicetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/yiku-ai/yiku"
)

func recallGroups() []group {
	return []group{
		{"D9_TimeOfAQuery", timeOfQuery},
		{"G3_Arms", arms},
		{"D2_Relations", relationsFind},
	}
}

// event saves what happened then.
func (s *suite) event(content string, at time.Time) {
	s.Helper()
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: content, Type: yiku.TypeEvent, ValidFrom: at})
}

// timeOfQuery: a time in a query favours what is of it, in both languages, and
// is enough where the query asks for nothing else.
func timeOfQuery(s *suite) {
	now := time.Now().UTC()
	s.event("和外婆在湖边钓鱼", time.Date(2019, 10, 3, 9, 0, 0, 0, time.UTC))
	s.event("和外婆在河边钓鱼", time.Date(2018, 5, 20, 9, 0, 0, 0, time.UTC))
	s.event("Repaired the old bicycle", now.AddDate(0, 0, -1))
	s.event("Repaired the old clock", now.AddDate(0, 0, -40))
	for query, want := range map[string]string{
		"What did I do yesterday?": "Repaired the old bicycle", "昨天我做了什么": "Repaired the old bicycle", "what was repaired yesterday": "Repaired the old bicycle",
		"2019年国庆的钓鱼": "和外婆在湖边钓鱼", "钓鱼，2018年5月下旬": "和外婆在河边钓鱼", "钓鱼 before 2019": "和外婆在河边钓鱼",
	} {
		if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: query, Limit: 1}); !cmp.Equal(got, []string{want}) {
			s.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	off := yiku.SearchMemoryRequest{UserID: "u", Query: "What did I do yesterday?", Layers: yiku.Layers{Time: yiku.Some(false)}}
	if got := s.found(off); len(got) != 0 {
		s.Errorf("without the arm of time %q is found", got)
	}
	// Midnight is elsewhere at another time.
	s.event("Sowed the beans", time.Date(2020, 6, 30, 23, 30, 0, 0, time.UTC))
	only := yiku.Layers{Dense: yiku.Some(false), Lexical: yiku.Some(false), Graph: yiku.Some(false)}
	at := yiku.SearchMemoryRequest{UserID: "u", Query: "2020年7月1日", Layers: only, Timezone: "Asia/Shanghai", MinRelevance: ptr(0.5)}
	if got := s.found(at); !cmp.Equal(got, []string{"Sowed the beans"}) {
		s.Errorf("on the first of July in Shanghai: %q", got)
	}
	at.Timezone, at.MinRelevance = "America/Lima", ptr(0.54)
	if got := s.found(at); len(got) != 0 {
		s.Errorf("on the first of July in Lima: %q", got)
	}
	at.Timezone = "Mars/Base"
	names[yiku.SearchMemoryResponse](s, "timezone")(s.SearchMemory(s.ctx, at))
}

// arms: each way of finding can be left out of one request, and says what it
// has given.
func arms(s *suite) {
	s.event("Painted the fence green", time.Date(2019, 10, 3, 9, 0, 0, 0, time.UTC))
	search := func(query string, a yiku.Layers) []yiku.SearchItem {
		return must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: query, Layers: a, Explain: true})).Items
	}
	off := yiku.Some(false)
	both := search("fence, October 2019", yiku.Layers{})
	if len(both) != 1 || both[0].Scores.Lexical <= 0 || both[0].Scores.Time != 1 || both[0].Explain.Arms["time"] != 1 {
		s.Fatalf("found %+v", both)
	}
	if got := search("fence", yiku.Layers{Lexical: off, Dense: off}); len(got) != 0 {
		s.Errorf("without words: %+v", got)
	}
	if got := search("fence, October 2019", yiku.Layers{Time: off}); len(got) != 1 || got[0].Scores.Time != 0 {
		s.Errorf("without time: %+v", got)
	}
	context := func(a yiku.Layers) int {
		return len(s.context(yiku.GetContextRequest{UserID: "u", Query: "fence", Options: yiku.ContextOptions{Layers: a}}).Memories)
	}
	if with, without := context(yiku.Layers{}), context(yiku.Layers{Lexical: off, Dense: off}); with != 1 || without != 0 {
		s.Errorf("%d memories in a context, %d without words", with, without)
	}
}

// relationsFind: what is said of whom the question names is found over hops
// that share no word with it, and by nobody else; without the arm it is not.
func relationsFind(s *suite) {
	s.says("my sister", "spouse", "Tom")
	works := s.says("Tom", "employer", "Siemens")
	s.says("Ulf", "employer", "Bosch")
	s.says("我老婆", "姓名", "安娜")
	lives := s.says("安娜", "居住地", "奥斯陆")
	off := yiku.Some(false)
	ask := func(user, query string, l yiku.Layers) map[string]yiku.Scores {
		out := map[string]yiku.Scores{}
		for _, item := range must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: user, Query: query, Layers: l})).Items {
			out[item.Memory.Value] = item.Scores
		}
		return out
	}
	only := yiku.Layers{Lexical: off, Dense: off, Time: off}
	for query, want := range map[string]yiku.Memory{"In which firm is my sister's husband?": works, "my sister's husband": works, "我老婆在哪个城市": lives} {
		got := ask("u", query, only)
		if got[want.Value].Graph <= 0 || got["Bosch"].Graph > 0 {
			s.Errorf("%q finds %v", query, got)
		}
		if got := ask("u", query, yiku.Layers{Lexical: off, Dense: off, Time: off, Graph: off}); len(got) != 0 {
			s.Errorf("%q without the arm finds %v", query, got)
		}
		if got := ask("v", query, only); len(got) != 0 {
			s.Errorf("%q finds another user's %v", query, got)
		}
	}
	forgotten := must[yiku.ForgetResponse](s)(s.Forget(s.ctx, yiku.ForgetRequest{UserID: "u", Selector: yiku.Selector{IDs: []string{works.ID}}, Reason: "test"}))
	if got := ask("u", "my sister's husband", only); got["Siemens"].Graph > 0 || forgotten.Removed.Memories != 1 {
		s.Errorf("what was forgotten is found: %v", got)
	}
}
