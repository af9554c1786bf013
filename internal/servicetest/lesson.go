package servicetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/yiku-ai/yiku"
)

// lessonGroups are what broke in other memory systems, as docs/lessons.md
// numbers it.
func lessonGroups() []group {
	return []group{
		{"L50_ForgetReachesOneUserOnly", forgetReachesOneUserOnly},
		{"L54_TheSameThingInTwoProjects", sameThingInTwoProjects},
		{"L55_ForgetOfWhatIsOthers", forgetOfWhatIsOthers},
		{"L57_OneFactGoesWithWhatItBore", oneFactGoesWithWhatItBore},
		{"L60_ForgetTellsTheTruth", forgetTellsTheTruth},
		{"L61_ForgetWhatASearchFound", forgetWhatASearchFound},
		{"L67_ManyUsersAtOnce", manyUsersAtOnce},
		{"L68_WrittenIsWhereItIsRead", writtenIsWhereItIsRead},
		{"L70_NothingKnownIsNothing", nothingKnownIsNothing},
		{"L71_MetadataIsOnlyMetadata", metadataIsOnlyMetadata},
		{"L105_CountsAndListsAreWhole", countsAndListsAreWhole},
		{"L108_QueriesOfAnyCharacters", queriesOfAnyCharacters},
		{"L110_EveryFilterField", everyFilterField},
	}
}

// forgetReachesOneUserOnly: L50, L56, L64, one call forgets hundreds of things
// of one user, says how many, and leaves everybody else's and what is shared.
func forgetReachesOneUserOnly(s *suite) {
	const many = 300
	for i := range many {
		s.save(yiku.SaveMemoryRequest{UserID: "u", Content: fmt.Sprint("第 ", i, " 件事 thing ", i)})
	}
	s.append("u", "s", user("你好"), assistant("hello"))
	for _, who := range []string{"v", "u2", "U", "u.", "ｕ"} {
		s.save(yiku.SaveMemoryRequest{UserID: who, Content: "别人的 somebody else's"})
		s.append(who, "s", user("别人的"))
	}
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "公司的 the company's", Level: yiku.LevelShared})
	gone := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{All: true}})
	if gone.Removed.Memories != many || gone.Removed.Messages != 2 || gone.Removed.Sessions != 1 || !gone.Verified || s.remembered("u") != "" {
		s.Errorf("removed %+v, verified %v, left %q", gone.Removed, gone.Verified, s.remembered("u"))
	}
	for _, who := range []string{"v", "u2", "U", "u.", "ｕ"} {
		if s.remembered(who) != "别人的 somebody else's" || texts(s.messages(who, "s")) != "别人的" {
			s.Errorf("%q lost something: %q", who, s.remembered(who))
		}
	}
	if got := s.contents(yiku.ListMemoriesRequest{UserID: "u", Level: yiku.LevelShared}); len(got) != 1 {
		s.Errorf("shared: %v", got)
	}
}

// sameThingInTwoProjects: L54, what two projects share goes from the one that
// forgets it, and stays in the other, in whatever way it is named.
func sameThingInTwoProjects(s *suite) {
	for name, forget := range map[string]func(ids map[string]string){
		"by keyword": func(map[string]string) {
			s.forget(yiku.ForgetRequest{ProjectID: "p", Selector: yiku.Selector{Keyword: "端口"}})
		},
		"by id": func(ids map[string]string) {
			s.forget(yiku.ForgetRequest{Selector: yiku.Selector{IDs: []string{ids["p"]}}})
		},
		"all of the project": func(map[string]string) {
			s.forget(yiku.ForgetRequest{ProjectID: "p", Selector: yiku.Selector{All: true}})
		},
		"delete": func(ids map[string]string) {
			must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{UserID: "u", ID: ids["p"]}))
		},
	} {
		ids := map[string]string{}
		for _, project := range []string{"p", "q", ""} {
			ids[project] = s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: project, Content: "端口是 port 5433"}).ID
		}
		if ids["p"] == ids["q"] || ids["q"] == ids[""] {
			s.Fatalf("%s: one memory for two projects: %v", name, ids)
		}
		forget(ids)
		fails[yiku.Memory](s, yiku.ErrNotFound)(s.GetMemory(s.ctx, yiku.MemoryRequest{UserID: "u", ID: ids["p"]}))
		for _, project := range []string{"q", ""} {
			if m := s.memory("u", ids[project]); m.Status != yiku.StatusActive {
				s.Errorf("%s: in project %q it is %s", name, project, m.Status)
			}
		}
	}
}

// forgetOfWhatIsOthers: L55, an id of somebody else's is not found, and then
// nothing of the request is done, not even to one's own.
func forgetOfWhatIsOthers(s *suite) {
	own := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "mine 我的"}).ID
	foreign := s.save(yiku.SaveMemoryRequest{UserID: "v", Content: "theirs 别人的"}).ID
	s.append("v", "s-v", yiku.Message{ID: "m", Role: yiku.RoleUser, Content: yiku.Text("theirs")})
	try := func(sel yiku.Selector) (yiku.ForgetResponse, error) {
		return s.Forget(s.ctx, yiku.ForgetRequest{UserID: "u", Selector: sel, Reason: "r"})
	}
	fails[yiku.ForgetResponse](s, yiku.ErrNotFound)(try(yiku.Selector{IDs: []string{own, foreign}}))
	fails[yiku.ForgetResponse](s, yiku.ErrNotFound)(try(yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s-v"}}))
	fails[yiku.ForgetResponse](s, yiku.ErrNotFound)(try(yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s-v", MessageID: "m"}}))
	fails[yiku.Empty](s, yiku.ErrNotFound)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{UserID: "u", ID: foreign}))
	fails[yiku.Empty](s, yiku.ErrNotFound)(s.DeleteSession(s.ctx, yiku.DeleteSessionRequest{UserID: "u", SessionID: "s-v"}))
	fails[yiku.Memory](s, yiku.ErrNotFound)(s.PatchMemory(s.ctx, yiku.PatchMemoryRequest{UserID: "u", ID: foreign, Pinned: yiku.Some(true)}))
	if s.remembered("u") != "mine 我的" || s.remembered("v") != "theirs 别人的" || len(s.messages("v", "s-v")) != 1 {
		s.Errorf("left %q and %q", s.remembered("u"), s.remembered("v"))
	}
}

// oneFactGoesWithWhatItBore: L57, a false fact can be removed, not only set
// right, and what was concluded from it goes too, at any depth.
func oneFactGoesWithWhatItBore(s *suite) {
	first := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "对花生过敏 allergic to peanuts"}).ID
	second := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "不吃沙爹 no satay", DerivedFrom: []string{first}}).ID
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "不去那家店 not that restaurant", DerivedFrom: []string{second}})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "喜欢面条 likes noodles"})
	if gone := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{IDs: []string{first}}}); gone.Removed.Memories != 3 || len(gone.IDs) != 3 {
		s.Errorf("removed %+v", gone)
	}
	if got := s.remembered("u"); got != "喜欢面条 likes noodles" {
		s.Errorf("left %q", got)
	}
}

// forgetTellsTheTruth: L60, L52, what a forget says has gone is gone from every
// door, and where nothing goes it says so.
func forgetTellsTheTruth(s *suite) {
	s.append("u", "s", yiku.Message{ID: "m", Role: yiku.RoleUser, Content: yiku.Text("暗号是 falcon")})
	id := s.save(yiku.SaveMemoryRequest{UserID: "u", SessionID: "s", Content: "暗号是 falcon", Type: yiku.TypeConstraint}).ID
	if gone := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "no such thing"}}); gone.Removed != (yiku.Removed{}) || len(gone.IDs) != 0 || s.remembered("u") == "" {
		s.Errorf("nothing: %+v", gone)
	}
	if gone := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{Keyword: "FALCON"}}); gone.Removed.Memories != 1 || gone.Removed.Messages != 1 {
		s.Errorf("removed %+v", gone.Removed)
	}
	fails[yiku.Memory](s, yiku.ErrNotFound)(s.GetMemory(s.ctx, yiku.MemoryRequest{UserID: "u", ID: id}))
	fails[yiku.Page[yiku.MemoryVersion]](s, yiku.ErrNotFound)(s.MemoryHistory(s.ctx, yiku.MemoryHistoryRequest{UserID: "u", ID: id}))
	found := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "falcon 暗号", IncludeMessages: true, MinRelevance: ptr(0.0), AsOf: time.Now()})
	found = append(found, s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "falcon 暗号", IncludeMessages: true, MinRelevance: ptr(0.0)})...)
	ctx := must[yiku.GetContextResponse](s)(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: "u", SessionID: "s", Query: "falcon 暗号"}))
	if len(found) != 0 || len(s.messages("u", "s")) != 0 || strings.Contains(ctx.System+texts(ctx.Messages), "falcon") {
		s.Errorf("found %v, context %q", found, ctx.System)
	}
	fails[yiku.Empty](s, yiku.ErrNotFound)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{UserID: "u", ID: id}))
}

// forgetWhatASearchFound: L61, what a search or a list gives has ids, and by
// these it is forgotten.
func forgetWhatASearchFound(s *suite) {
	for _, text := range []string{"喜欢绿茶 green tea", "likes tea 喝茶", "茶杯是蓝的 blue cup of tea"} {
		s.save(yiku.SaveMemoryRequest{UserID: "u", Content: text})
	}
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "never SMS 不发短信"})
	var ids []string
	for _, item := range must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "tea 茶"})).Items {
		ids = append(ids, item.Memory.ID)
	}
	if len(ids) != 3 || slices.Contains(ids, "") {
		s.Fatalf("ids %v", ids)
	}
	gone := s.forget(yiku.ForgetRequest{Selector: yiku.Selector{IDs: ids}})
	slices.Sort(ids)
	slices.Sort(gone.IDs)
	same(s, "gone", ids, gone.IDs)
	if got := s.remembered("u"); got != "never SMS 不发短信" {
		s.Errorf("left %q", got)
	}
}

// manyUsersAtOnce: L67, L75, users who write, search and read at once find what
// is theirs, and nothing of the others'.
func manyUsersAtOnce(s *suite) {
	var wg sync.WaitGroup
	for n := range 12 {
		who, word := fmt.Sprint("user-", n), fmt.Sprintf("zq%cword", 'a'+n)
		wg.Go(func() {
			for i := range 6 {
				if _, err := s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: who, Content: fmt.Sprint("密语 secret ", word, " ", i)}); err != nil {
					s.Error(err)
				}
				if _, err := s.AppendMessages(s.ctx, yiku.AppendMessagesRequest{UserID: who, SessionID: "same", Messages: []yiku.Message{user("密语 secret " + word)}}); err != nil {
					s.Error(err)
				}
				found, err := s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: who, Query: "密语 secret", IncludeMessages: true, Limit: 50, MinRelevance: ptr(0.0)})
				if err != nil || len(found.Items) == 0 {
					s.Errorf("%s found %d, %v", who, len(found.Items), err)
				}
				for _, item := range found.Items {
					if item.Memory != nil && !strings.Contains(item.Memory.Content, word) || item.Message != nil && !strings.Contains(item.Message.Content.PlainText(), word) {
						s.Errorf("%s found somebody else's", who)
					}
				}
				ctx, err := s.GetContext(s.ctx, yiku.GetContextRequest{UserID: who, SessionID: "same", Query: "密语 secret"})
				if err != nil || strings.Count(ctx.System+texts(ctx.Messages), "zq") != strings.Count(ctx.System+texts(ctx.Messages), word) {
					s.Errorf("%s: context with somebody else's, or %v", who, err)
				}
			}
		})
	}
	wg.Wait()
}

// writtenIsWhereItIsRead: L68, L113, what is written for a level is read there,
// and in no scope beside it. A task memory without a project is the task's in
// every project.
func writtenIsWhereItIsRead(s *suite) {
	scopes := map[string][2]string{"user": {}, "project p": {"p", ""}, "project q": {"q", ""}, "task t of p": {"p", "t"}, "task t of q": {"q", "t"}, "task t": {"", "t"}}
	for name, scope := range scopes {
		s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: scope[0], TaskID: scope[1], Content: "口令 password of " + name})
	}
	for name, scope := range scopes {
		want := []string{"口令 password of user"}
		for other, o := range scopes {
			if other != "user" && (o == scope || scope[1] != "" && scope[0] != "" && o == [2]string{scope[0], ""} || scope[1] != "" && o == [2]string{"", scope[1]}) {
				want = append(want, "口令 password of "+other)
			}
		}
		got := s.found(yiku.SearchMemoryRequest{UserID: "u", ProjectID: scope[0], TaskID: scope[1], Query: "口令 password", Limit: 50, MinRelevance: ptr(0.0)})
		slices.Sort(got)
		slices.Sort(want)
		same(s, "in the scope of "+name, want, slices.Compact(got))
	}
}

// nothingKnownIsNothing: L70, where nothing is known there is nothing: no item,
// no memory in the context, and no error. A filter that is not known is refused.
func nothingKnownIsNothing(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "喜欢爵士乐 likes jazz"})
	for _, who := range []string{"u", "nobody yet"} {
		found := must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: who, Query: "量子力学 quantum mechanics"}))
		ctx := must[yiku.GetContextResponse](s)(s.GetContext(s.ctx, yiku.GetContextRequest{UserID: who, Query: "量子力学 quantum mechanics"}))
		if len(found.Items) != 0 || len(ctx.Memories) != 0 || len(ctx.Episodes) != 0 || strings.Contains(ctx.System, "jazz") {
			s.Errorf("%s: %d items, context %q", who, len(found.Items), ctx.System)
		}
	}
	for _, field := range []string{"dataset", "user_id", "tenant", "Content", "metadata", "metadata.", "content;", "内容"} {
		names[yiku.SearchMemoryResponse](s, "filter.field")(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "jazz", Filter: &yiku.Filter{Field: field, Op: yiku.OpEq, Value: "x"}}))
	}
}

// metadataIsOnlyMetadata: L71, keys of metadata that are called as something
// else is called change nothing but metadata, on the way in and by a patch.
func metadataIsOnlyMetadata(s *suite) {
	forged := yiku.Metadata{"user_id": "v", "tenant": "other", "id": "x", "level": "shared", "status": "archived", "trust": 0.0, "pinned": true,
		"agent_id": "a", "project_id": "p", "session_id": "s", "content": "不同 other", "expires_at": "2001-01-01T00:00:00Z", "created_at": "2001-01-01T00:00:00Z"}
	m := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "住在杭州 lives in Hangzhou", Metadata: forged}).Memory
	check := func(what string, m yiku.Memory) {
		if m.UserID != "u" || m.Level != yiku.LevelUser || m.Status != yiku.StatusActive || m.Pinned || m.Content != "住在杭州 lives in Hangzhou" ||
			m.AgentID+m.ProjectID+m.SessionID != "" || !m.ExpiresAt.IsZero() || m.Trust != 1 || len(m.Metadata) != len(forged) {
			s.Errorf("%s: %+v", what, m)
		}
	}
	check("saved", m)
	must[yiku.Memory](s)(s.PatchMemory(s.ctx, yiku.PatchMemoryRequest{UserID: "u", ID: m.ID, Metadata: yiku.Some(forged)}))
	check("patched", s.memory("u", m.ID))
	s.append("u", "s", yiku.Message{ID: "m", Role: yiku.RoleUser, Content: yiku.Text("你好"), Metadata: forged})
	if got := s.messages("u", "s"); len(got) != 1 || got[0].ID != "m" || got[0].SessionID != "s" {
		s.Errorf("message %+v", got)
	}
	if s.remembered("v") != "" || len(s.contents(yiku.ListMemoriesRequest{UserID: "u", Level: yiku.LevelShared})) != 0 {
		s.Error("it stands with somebody else")
	}
	found := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "Hangzhou", Filter: &yiku.Filter{Field: "metadata.user_id", Op: yiku.OpEq, Value: "v"}})
	same(s, "found by its metadata", []string{"住在杭州 lives in Hangzhou"}, found)
}

// countsAndListsAreWhole: L105, L106, totals are true at any size, and a walk
// from cursor to cursor gives everything once.
func countsAndListsAreWhole(s *suite) {
	const many = 620 // more than any page holds
	for i := range many {
		s.save(yiku.SaveMemoryRequest{UserID: "u", Content: fmt.Sprint("事 thing ", i)})
	}
	for _, limit := range []int{0, 7, 500} {
		seen := map[string]bool{}
		req := yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: limit}}
		for first := true; first || req.Cursor != ""; first = false {
			page := must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, req))
			if first && (page.Total == nil || *page.Total != many) {
				s.Errorf("total %v, want %d", page.Total, many)
			}
			for _, m := range page.Items {
				if seen[m.ID] {
					s.Errorf("%s stands twice", m.ID)
				}
				seen[m.ID] = true
			}
			req.Cursor = page.NextCursor
		}
		if len(seen) != many {
			s.Errorf("pages of %d: %d of %d", limit, len(seen), many)
		}
	}
}

// queriesOfAnyCharacters: L108, a query is words for whoever wrote it: no
// character in it is grammar, and a query of punctuation alone finds nothing.
func queriesOfAnyCharacters(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "部署命令是 make deploy"})
	for _, noise := range []string{"`", "``", "'", `"`, `""`, "*", "-", "+", "~", "^", ":", "(", ")", "()", "[", "{", "\\", "/", "%", "_", "?", "!", "&&", "||", "AND", "OR", "NOT", "NEAR/3",
		"；", "“”", "？！", "《》", "…", "\u200b", "\x00", "😀", "content:", "-deploy", "\"deploy", "deploy*"} {
		if strings.ContainsAny(noise, "\x00") {
			continue // refused or taken: bad input has a suite of its own
		}
		if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "部署 make deploy " + noise}); len(got) != 1 {
			s.Errorf("with %q: %v", noise, got)
		}
		_, err := s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: noise})
		if err != nil {
			names[yiku.SearchMemoryResponse](s, "query")(yiku.SearchMemoryResponse{}, err)
		}
	}
	for _, empty := range []string{"", " ", "\n", "　"} {
		names[yiku.SearchMemoryResponse](s, "query")(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: empty}))
	}
}

// everyFilterField: L110, every field that a filter may name works with every
// operator, or is refused by name: none fails in the store.
func everyFilterField(s *suite) {
	s.append("u", "s", user("喜欢绿茶 green tea"))
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "喜欢绿茶 green tea", Topics: []string{"饮食"}, Metadata: yiku.Metadata{"k": "v"}})
	fields := []string{"metadata.k", "metadata.无"}
	for field := range yiku.FilterFields() {
		fields = append(fields, field)
	}
	values := []any{"green", 0.5, true, nil, []any{"a", 1.0}, "2026-01-02T03:04:05Z", map[string]any{"a": "b"}}
	taken := 0
	for _, field := range fields {
		for _, op := range []yiku.Op{yiku.OpEq, yiku.OpNe, yiku.OpGt, yiku.OpGte, yiku.OpLt, yiku.OpLte, yiku.OpIn, yiku.OpContains, yiku.OpExists} {
			for _, value := range values {
				_, err := s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "绿茶 tea", IncludeMessages: true,
					Filter: &yiku.Filter{And: []yiku.Filter{{Field: field, Op: op, Value: value}, {Not: &yiku.Filter{Field: field, Op: yiku.OpExists, Value: false}}}}})
				if err == nil {
					taken++
					continue
				}
				fails[yiku.SearchMemoryResponse](s, yiku.ErrInvalid)(yiku.SearchMemoryResponse{}, err)
			}
		}
	}
	if taken < len(fields) {
		s.Errorf("only %d filters were taken", taken)
	}
}
