package servicetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/yiku-ai/yiku"
)

func memoryGroups() []group {
	return []group{
		{"C2_SaveAndRead", saveAndRead},
		{"C2_ListNarrowed", listNarrowed},
		{"C2_PatchAndHistory", patchAndHistory},
		{"C2_Delete", deleteMemory},
		{"C7_Duplicates", duplicates},
		{"C8_SingleValued", singleValued},
		{"C8_ManyValued", manyValued},
		{"C8_Restore", restore},
		{"C9_Stale", stale},
		{"C16_Levels", levels},
		{"D9_HistoryOutOfOrder", historyOutOfOrder},
		{"D1_Filters", filters},
		{"D1_OwnWrites", ownWrites},
		{"F1_SaveKey", saveKey},
	}
}

// saveAndRead: C2, every field of a memory is kept; defaults are those of the
// documentation.
func saveAndRead(s *suite) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	res := s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: "项目", SessionID: "s", Content: "生产库用 PostgreSQL 17", Type: yiku.TypeProject,
		Subject: "生产库", Attribute: "engine", Value: "PostgreSQL 17", Importance: ptr(0.9), Confidence: ptr(0.7), Topics: []string{"数据库", "infra"},
		ValidFrom: from, ValidTo: from.AddDate(10, 0, 0), ExpiresAt: from.AddDate(20, 0, 0), Pinned: true, Metadata: yiku.Metadata{"ticket": "OPS-7"}, Origin: yiku.OriginImport})
	m := res.Memory
	if res.Outcome != yiku.OutcomeCreated || res.ID == "" || res.ID != m.ID || len(res.Superseded) != 0 {
		s.Errorf("saved %+v", res)
	}
	want := yiku.Memory{ID: res.ID, UserID: "u", Content: "生产库用 PostgreSQL 17", Kind: yiku.KindSemantic, Type: yiku.TypeProject, Level: yiku.LevelProject,
		ProjectID: "项目", SessionID: "s", Subject: "生产库", Attribute: "engine", Value: "PostgreSQL 17", Single: true, Topics: []string{"数据库", "infra"},
		Status: yiku.StatusActive, Importance: 0.9, Confidence: 0.7, Origin: yiku.OriginImport, Trust: yiku.OriginImport.Trust(), Pinned: true,
		ValidFrom: from, ValidTo: from.AddDate(10, 0, 0), ExpiresAt: from.AddDate(20, 0, 0), Metadata: yiku.Metadata{"ticket": "OPS-7"},
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ConfirmedAt: m.ConfirmedAt, Version: m.Version}
	same(s, "memory", want, m)
	if m.CreatedAt.IsZero() || m.Version == 0 || m.CreatedAt.Location() != time.UTC {
		s.Errorf("times and version %+v", m)
	}
	same(s, "read", m, s.memory("u", res.ID))

	plain := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "I like tea"}).Memory
	if plain.Type != yiku.TypeFact || plain.Level != yiku.LevelUser || plain.Importance != 0.5 || plain.Confidence != 1 ||
		plain.Origin != yiku.OriginUser || plain.Trust != 1 || plain.ValidFrom.IsZero() {
		s.Errorf("defaults %+v", plain)
	}
	if ttl := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "once", TTLSeconds: 3600}).Memory; ttl.ExpiresAt.Sub(ttl.CreatedAt) != time.Hour {
		s.Errorf("expires at %v, created at %v", ttl.ExpiresAt, ttl.CreatedAt)
	}
	sources := must[yiku.MemorySources](s)(s.MemorySources(s.ctx, yiku.MemoryRequest{ID: plain.ID, UserID: "u"}))
	if len(sources.Messages)+len(sources.Memories) != 0 {
		s.Errorf("sources %+v", sources)
	}
}

// listNarrowed: C2, a list is newest first and narrowed by each of its fields.
func listNarrowed(s *suite) {
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "喜欢喝茶", Type: yiku.TypePreference, Topics: []string{"饮食"}, Subject: "user", Attribute: "drink", Value: "tea"})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "never deploy on Friday", Type: yiku.TypeConstraint, ProjectID: "p"})
	s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "昨天发布了 2.0", Type: yiku.TypeEvent, ProjectID: "p", TaskID: "t"})
	for _, c := range []struct {
		name string
		req  yiku.ListMemoriesRequest
		want []string
	}{
		{"all", yiku.ListMemoriesRequest{}, []string{"昨天发布了 2.0", "never deploy on Friday", "喜欢喝茶"}},
		{"type", yiku.ListMemoriesRequest{Type: yiku.TypeConstraint}, []string{"never deploy on Friday"}},
		{"kind", yiku.ListMemoriesRequest{Kind: yiku.KindEpisodic}, []string{"昨天发布了 2.0"}},
		{"project", yiku.ListMemoriesRequest{ProjectID: "p"}, []string{"昨天发布了 2.0", "never deploy on Friday"}},
		{"task", yiku.ListMemoriesRequest{ProjectID: "p", TaskID: "t"}, []string{"昨天发布了 2.0"}},
		{"level", yiku.ListMemoriesRequest{Level: yiku.LevelUser}, []string{"喜欢喝茶"}},
		{"topic", yiku.ListMemoriesRequest{Topic: "饮食"}, []string{"喜欢喝茶"}},
		{"subject", yiku.ListMemoriesRequest{Subject: "ＵＳＥＲ"}, []string{"喜欢喝茶"}},
		{"attribute", yiku.ListMemoriesRequest{Attribute: "drink"}, []string{"喜欢喝茶"}},
		{"status", yiku.ListMemoriesRequest{Status: yiku.StatusArchived}, nil},
	} {
		c.req.UserID = "u"
		same(s, c.name, c.want, s.contents(c.req))
	}
	first := must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: 2}}))
	if len(first.Items) != 2 || first.NextCursor == "" || first.Total == nil || *first.Total != 3 {
		s.Errorf("first page %+v", first)
	}
	second := must[yiku.Page[yiku.Memory]](s)(s.ListMemories(s.ctx, yiku.ListMemoriesRequest{UserID: "u", Paging: yiku.Paging{Limit: 2, Cursor: first.NextCursor}}))
	if len(second.Items) != 1 || second.NextCursor != "" || second.Total != nil {
		s.Errorf("second page %+v", second)
	}
}

// patchAndHistory: C2, a merge patch changes what it names, keeps what it
// replaced as a version, and honours If-Match.
func patchAndHistory(s *suite) {
	made := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "住在杭州", Topics: []string{"home"}, Metadata: yiku.Metadata{"a": 1.0, "b": 2.0}}).Memory
	patch := func(match string, req yiku.PatchMemoryRequest) (yiku.Memory, error) {
		req.ID, req.UserID, req.IfMatch = made.ID, "u", match
		return s.PatchMemory(s.ctx, req)
	}
	next := must[yiku.Memory](s)(patch(made.ETag(), yiku.PatchMemoryRequest{Content: yiku.Some("住在杭州西湖区"), Importance: yiku.Some(0.0),
		Topics: yiku.Null[[]string](), Metadata: yiku.Some(yiku.Metadata{"a": nil, "c": "新"})}))
	if next.Content != "住在杭州西湖区" || next.Importance != 0 || len(next.Topics) != 0 || next.Version <= made.Version {
		s.Errorf("patched %+v", next)
	}
	same(s, "metadata", yiku.Metadata{"b": 2.0, "c": "新"}, next.Metadata)
	fails[yiku.Memory](s, yiku.ErrPreconditionFailed)(patch(made.ETag(), yiku.PatchMemoryRequest{Pinned: yiku.Some(true)}))
	names[yiku.Memory](s, "content")(patch("", yiku.PatchMemoryRequest{Content: yiku.Null[string]()}))
	names[yiku.Memory](s, "importance")(patch("", yiku.PatchMemoryRequest{Importance: yiku.Some(1.5)}))
	names[yiku.Memory](s, "status")(patch("", yiku.PatchMemoryRequest{Status: yiku.Some(yiku.StatusSuperseded)}))
	same(s, "read", next, s.memory("u", made.ID))

	noted := must[yiku.Memory](s)(patch("", yiku.PatchMemoryRequest{Metadata: yiku.Some(yiku.Metadata{"b": 3.0})})) // nothing else changes
	same(s, "metadata alone", yiku.Metadata{"b": 3.0, "c": "新"}, noted.Metadata)
	same(s, "metadata alone, read", noted, s.memory("u", made.ID))
	archived := must[yiku.Memory](s)(patch("", yiku.PatchMemoryRequest{Status: yiku.Some(yiku.StatusArchived)}))
	if archived.Status != yiku.StatusArchived || len(s.contents(yiku.ListMemoriesRequest{UserID: "u"})) != 0 {
		s.Errorf("archived %+v", archived)
	}
	if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "西湖区"}); len(got) != 0 {
		s.Errorf("an archived memory is found: %v", got)
	}
	history := must[yiku.Page[yiku.MemoryVersion]](s)(s.MemoryHistory(s.ctx, yiku.MemoryHistoryRequest{ID: made.ID, UserID: "u"})).Items
	var was []string
	for _, v := range history {
		was = append(was, v.Memory.Content+"/"+string(v.Memory.Status)+"/"+v.Reason)
	}
	want := []string{"住在杭州西湖区/archived/patched", "住在杭州西湖区/active/patched", "住在杭州西湖区/active/patched", "住在杭州/active/created"}
	if !slices.Equal(was, want) || !history[0].ReplacedAt.IsZero() || history[1].ReplacedAt.IsZero() {
		s.Errorf("history %v; want %v", was, want)
	}
	back := must[yiku.Memory](s)(s.RestoreMemory(s.ctx, yiku.RestoreMemoryRequest{ID: made.ID, UserID: "u"}))
	if back.Status != yiku.StatusActive {
		s.Errorf("restored %+v", back)
	}
}

// deleteMemory: C2, a deleted memory is gone with its versions, from lists and
// searches at once.
func deleteMemory(s *suite) {
	m := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "the password hint is 蓝色的猫"}).Memory
	fails[yiku.Empty](s, yiku.ErrPreconditionFailed)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{ID: m.ID, UserID: "u", Conditional: yiku.Conditional{IfMatch: `"nope"`}}))
	must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{ID: m.ID, UserID: "u", Conditional: yiku.Conditional{IfMatch: m.ETag()}}))
	fails[yiku.Memory](s, yiku.ErrNotFound)(s.GetMemory(s.ctx, yiku.MemoryRequest{ID: m.ID, UserID: "u"}))
	fails[yiku.Page[yiku.MemoryVersion]](s, yiku.ErrNotFound)(s.MemoryHistory(s.ctx, yiku.MemoryHistoryRequest{ID: m.ID, UserID: "u"}))
	fails[yiku.Empty](s, yiku.ErrNotFound)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{ID: m.ID, UserID: "u"}))
	if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "蓝色的猫"}); len(got) != 0 {
		s.Errorf("found after deletion: %v", got)
	}
}

// duplicates: C7, the same content again is one memory, reinforced.
func duplicates(s *suite) {
	first := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "我对花生过敏。"})
	for range 30 {
		again := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "我对花生过敏。"})
		if again.ID != first.ID || again.Outcome != yiku.OutcomeReinforced {
			s.Fatalf("again %+v", again)
		}
	}
	for _, same := range []string{" 我对花生过敏 ", "我对花生过敏"} {
		if again := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: same}); again.ID != first.ID {
			s.Errorf("%q became another memory", same)
		}
	}
	en := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "I prefer Dark Mode"})
	if again := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "i prefer ｄａｒｋ mode"}); again.ID != en.ID {
		s.Error("case and width made another memory")
	}
	if got := s.contents(yiku.ListMemoriesRequest{UserID: "u"}); len(got) != 2 {
		s.Errorf("memories %v", got)
	}
	if other := s.save(yiku.SaveMemoryRequest{UserID: "v", Content: "我对花生过敏。"}); other.Outcome != yiku.OutcomeCreated {
		s.Errorf("another user's %+v", other)
	}
	if other := s.save(yiku.SaveMemoryRequest{UserID: "u", ProjectID: "p", Content: "我对花生过敏。"}); other.Outcome != yiku.OutcomeCreated {
		s.Errorf("another scope's %+v", other)
	}
}

// singleValued: C8, another value of a single-valued attribute takes the old
// one's place; the old one is history and out of retrieval.
func singleValued(s *suite) {
	for _, c := range []struct{ user, subject, attribute, old, new string }{
		{"u", "用户", "居住地", "我住在杭州", "我搬到上海了"},
		{"v", "user", "residence", "I live in Paris", "I moved to Berlin"},
	} {
		fact := func(content string) yiku.SaveMemoryResponse {
			return s.save(yiku.SaveMemoryRequest{UserID: c.user, Content: content, Subject: c.subject, Attribute: c.attribute, Value: content, Single: ptr(true)})
		}
		one, two := fact(c.old), fact(c.new)
		if two.Outcome != yiku.OutcomeSuperseded || !slices.Equal(two.Superseded, []string{one.ID}) || two.Memory.Supersedes != one.ID {
			s.Errorf("second %+v", two)
		}
		same(s, "active", []string{c.new}, s.contents(yiku.ListMemoriesRequest{UserID: c.user}))
		same(s, "history", []string{c.old}, s.contents(yiku.ListMemoriesRequest{UserID: c.user, Status: yiku.StatusSuperseded}))
		if old := s.memory(c.user, one.ID); old.Status != yiku.StatusSuperseded || old.ValidTo.IsZero() {
			s.Errorf("old %+v", old)
		}
		for _, query := range []string{c.old, c.new} {
			if got := s.found(yiku.SearchMemoryRequest{UserID: c.user, Query: query}); slices.Contains(got, c.old) {
				s.Errorf("the old value is found: %v", got)
			}
		}
	}
}

// manyValued: C8, values of an attribute that is not single stand together.
func manyValued(s *suite) {
	for _, fruit := range []string{"apples", "bananas"} {
		res := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "I like " + fruit, Subject: "user", Attribute: "likes", Value: fruit})
		if res.Outcome != yiku.OutcomeCreated {
			s.Errorf("%s: %+v", fruit, res)
		}
	}
	same(s, "active", []string{"I like bananas", "I like apples"}, s.contents(yiku.ListMemoriesRequest{UserID: "u"}))
	names[yiku.SaveMemoryResponse](s, "subject")(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: "x y", Attribute: "a", Value: "v"}))
}

// restore: C8, restoring a superseded value takes the place back, and
// confirming a memory says when.
func restore(s *suite) {
	fact := func(value string) yiku.SaveMemoryResponse {
		return s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "截止日期是" + value, Subject: "项目", Attribute: "deadline", Value: value, Single: ptr(true)})
	}
	one, two := fact("周五"), fact("下周")
	back := must[yiku.Memory](s)(s.RestoreMemory(s.ctx, yiku.RestoreMemoryRequest{ID: one.ID, UserID: "u"}))
	if back.ID != one.ID || back.Status != yiku.StatusActive || !back.ValidTo.IsZero() {
		s.Errorf("restored %+v", back)
	}
	if m := s.memory("u", two.ID); m.Status != yiku.StatusSuperseded {
		s.Errorf("the other is %s", m.Status)
	}
	same(s, "active", []string{"截止日期是周五"}, s.contents(yiku.ListMemoriesRequest{UserID: "u"}))
	confirmed := must[yiku.Memory](s)(s.ConfirmMemory(s.ctx, yiku.ConfirmMemoryRequest{ID: one.ID, UserID: "u"}))
	if confirmed.ConfirmedAt.Before(back.ConfirmedAt) || confirmed.Status != yiku.StatusActive {
		s.Errorf("confirmed %+v", confirmed)
	}
	fails[yiku.Memory](s, yiku.ErrNotFound)(s.RestoreMemory(s.ctx, yiku.RestoreMemoryRequest{ID: "none", UserID: "u"}))
	fails[yiku.Memory](s, yiku.ErrNotFound)(s.ConfirmMemory(s.ctx, yiku.ConfirmMemoryRequest{ID: "none", UserID: "u"}))
}

// stale: C9, what was derived from a fact that is superseded is stale until it
// is confirmed.
func stale(s *suite) {
	home := func(city string) yiku.SaveMemoryResponse {
		return s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "家在" + city, Subject: "我", Attribute: "residence", Value: city, Single: ptr(true)})
	}
	base := home("杭州")
	derived := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "通勤要坐地铁一号线", DerivedFrom: []string{base.ID}})
	sources := must[yiku.MemorySources](s)(s.MemorySources(s.ctx, yiku.MemoryRequest{ID: derived.ID, UserID: "u"}))
	if len(sources.Memories) != 1 || sources.Memories[0].ID != base.ID {
		s.Errorf("sources %+v", sources)
	}
	home("上海")
	if m := s.memory("u", derived.ID); m.Status != yiku.StatusStale {
		s.Errorf("the derived one is %s", m.Status)
	}
	if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "地铁一号线"}); len(got) != 0 {
		s.Errorf("a stale memory is found: %v", got)
	}
	if m := must[yiku.Memory](s)(s.ConfirmMemory(s.ctx, yiku.ConfirmMemoryRequest{ID: derived.ID, UserID: "u"})); m.Status != yiku.StatusActive {
		s.Errorf("confirmed it is %s", m.Status)
	}
	names[yiku.SaveMemoryResponse](s, "derived_from[0]")(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: "无根", DerivedFrom: []string{"none"}}))
}

// levels: C16, each level is found in its scope and nowhere else.
func levels(s *suite) {
	save := func(content string, level yiku.Level, project, task string) {
		s.save(yiku.SaveMemoryRequest{UserID: "u", Content: content, Level: level, ProjectID: project, TaskID: task})
	}
	save("报销标准：公司每天 100 元", yiku.LevelShared, "", "")
	save("报销标准：我爱住民宿", yiku.LevelUser, "", "")
	save("报销标准：项目每天 200 元", yiku.LevelProject, "p", "")
	save("报销标准：任务每天 300 元", yiku.LevelTask, "p", "t")
	s.save(yiku.SaveMemoryRequest{UserID: "v", Content: "报销标准：别人的秘密"})
	for _, c := range []struct {
		user, project, task string
		want                []string
	}{
		{"u", "", "", []string{"公司每天 100 元", "我爱住民宿"}},
		{"u", "p", "", []string{"公司每天 100 元", "我爱住民宿", "项目每天 200 元"}},
		{"u", "p", "t", []string{"任务每天 300 元", "公司每天 100 元", "我爱住民宿", "项目每天 200 元"}},
		{"u", "q", "", []string{"公司每天 100 元", "我爱住民宿"}},
		{"w", "", "", []string{"公司每天 100 元"}},
	} {
		got := s.found(yiku.SearchMemoryRequest{UserID: c.user, ProjectID: c.project, TaskID: c.task, Query: "报销标准", Limit: 20, MinRelevance: ptr(0.0)})
		slices.Sort(got)
		for i := range c.want {
			c.want[i] = "报销标准：" + c.want[i]
		}
		slices.Sort(c.want)
		same(s, c.user+"/"+c.project+"/"+c.task, c.want, got)
	}
	names[yiku.SaveMemoryResponse](s, "project_id")(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: "x y", Level: yiku.LevelProject}))
	names[yiku.SaveMemoryResponse](s, "task_id")(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: "x y", Level: yiku.LevelTask}))
}

// filters: D1, a filter narrows before ranking; one that cannot be honoured is
// an error that names the place.
func filters(s *suite) {
	for i, tea := range []string{"红茶 black tea", "绿茶 green tea", "花茶 flower tea"} {
		s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "喜欢" + tea, Type: []yiku.Type{yiku.TypePreference, yiku.TypeFact, yiku.TypeEvent}[i],
			Importance: ptr(float64(i) / 2), Topics: []string{tea[:6]}, Metadata: yiku.Metadata{"cup": float64(i), "shop": map[bool]string{true: "西湖", false: "other"}[i == 1]}})
	}
	leaf := func(field string, op yiku.Op, value any) *yiku.Filter {
		return &yiku.Filter{Field: field, Op: op, Value: value}
	}
	for name, c := range map[string]struct {
		filter *yiku.Filter
		want   string
	}{
		"eq":       {leaf("type", yiku.OpEq, "fact"), "绿茶"},
		"gt":       {leaf("importance", yiku.OpGt, 0.6), "花茶"},
		"lt":       {leaf("metadata.cup", yiku.OpLt, 1.0), "红茶"},
		"metadata": {leaf("metadata.shop", yiku.OpEq, "西湖"), "绿茶"},
		"in":       {leaf("type", yiku.OpIn, []any{"event", "skill"}), "花茶"},
		"contains": {leaf("topics", yiku.OpContains, "红茶"), "红茶"},
		"not":      {&yiku.Filter{And: []yiku.Filter{{Not: leaf("type", yiku.OpEq, "fact")}, {Not: leaf("type", yiku.OpEq, "event")}}}, "红茶"},
		"or":       {&yiku.Filter{Or: []yiku.Filter{*leaf("kind", yiku.OpEq, "episodic"), *leaf("importance", yiku.OpGt, 5.0)}}, "花茶"},
		"exists":   {&yiku.Filter{And: []yiku.Filter{*leaf("metadata.cup", yiku.OpExists, true), *leaf("metadata.cup", yiku.OpGte, 2.0)}}, "花茶"},
	} {
		got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "喜欢什么茶 tea", Filter: c.filter, MinRelevance: ptr(0.0)})
		if len(got) != 1 || got[0][6:12] != c.want {
			s.Errorf("%s: found %v; want %s", name, got, c.want)
		}
	}
	for field, filter := range map[string]*yiku.Filter{
		"filter.field":        leaf("colour", yiku.OpEq, "red"),
		"filter.op":           leaf("type", "like", "red"),
		"filter.value":        leaf("importance", yiku.OpGt, "high"),
		"filter":              {},
		"filter.and[0].field": {And: []yiku.Filter{*leaf("colour", yiku.OpEq, "red")}},
	} {
		names[yiku.SearchMemoryResponse](s, field)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "茶", Filter: filter}))
	}
	types := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "茶 tea", Types: []yiku.Type{yiku.TypePreference, yiku.TypeEvent}, MinRelevance: ptr(0.0)})
	if len(types) != 2 {
		s.Errorf("by types: %v", types)
	}
	names[yiku.SearchMemoryResponse](s, "kinds[0]")(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "茶", Kinds: []yiku.Kind{"odd"}}))
	names[yiku.SearchMemoryResponse](s, "query")(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u"}))
}

// ownWrites: D1 and D2, what was just saved, said or changed is found at once,
// in both languages; scores lie between 0 and 1.
func ownWrites(s *suite) {
	s.append("u", "s", yiku.Message{ID: "m-1", Role: yiku.RoleUser, Content: yiku.Text("我的猫叫年糕，今年三岁")})
	m := s.save(yiku.SaveMemoryRequest{UserID: "u", Content: "The staging server is called falcon-7"}).Memory
	res := must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "staging server falcon-7", Explain: true}))
	if len(res.Items) == 0 || res.Items[0].Memory == nil || res.Items[0].Memory.ID != m.ID {
		s.Fatalf("found %+v", res)
	}
	item := res.Items[0]
	for _, score := range []float64{item.Score, item.Scores.Relevance, item.Scores.Lexical, item.Scores.Freshness, item.Scores.Importance, item.Scores.Use} {
		if score < 0 || score > 1 {
			s.Errorf("scores %+v", item)
		}
	}
	if item.Explain == nil || item.Explain.Formula == "" || item.Source == "" {
		s.Errorf("unexplained %+v", item)
	}
	messages := must[yiku.SearchMemoryResponse](s)(s.SearchMemory(s.ctx, yiku.SearchMemoryRequest{UserID: "u", Query: "我的猫叫年糕", IncludeMessages: true}))
	if len(messages.Items) == 0 || messages.Items[0].Message == nil || messages.Items[0].Message.ID != "m-1" || messages.Items[0].Message.SessionID != "s" {
		s.Errorf("messages %+v", messages)
	}
	if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "我的猫叫年糕"}); len(got) != 0 {
		s.Errorf("messages without asking: %v", got)
	}
	must[yiku.Memory](s)(s.PatchMemory(s.ctx, yiku.PatchMemoryRequest{ID: m.ID, UserID: "u", Content: yiku.Some("预发布服务器叫猎鹰九号")}))
	if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "猎鹰九号服务器"}); len(got) != 1 {
		s.Errorf("after the patch: %v", got)
	}
	if got := s.found(yiku.SearchMemoryRequest{UserID: "u", Query: "falcon-7"}); len(got) != 0 {
		s.Errorf("the old words still find it: %v", got)
	}
	if got := s.found(yiku.SearchMemoryRequest{UserID: "stranger", Query: "猎鹰九号", IncludeMessages: true}); len(got) != 0 {
		s.Errorf("a stranger finds %v", got)
	}
}

// saveKey: F1, a replay gives the answer again, rebuilt from what is stored
// now, and ErrForgotten where that is gone.
func saveKey(s *suite) {
	req := yiku.SaveMemoryRequest{Idempotent: yiku.Idempotent{IdempotencyKey: "k-1"}, UserID: "u", Content: "生日是五月三日"}
	one := s.save(req)
	must[yiku.Memory](s)(s.PatchMemory(s.ctx, yiku.PatchMemoryRequest{ID: one.ID, UserID: "u", Content: yiku.Some("生日是五月四日")}))
	two := s.save(req)
	if two.ID != one.ID || two.Outcome != yiku.OutcomeCreated || two.Memory.Content != "生日是五月四日" {
		s.Errorf("replay %+v", two)
	}
	changed := req
	changed.Pinned = true
	fails[yiku.SaveMemoryResponse](s, yiku.ErrConflict)(s.SaveMemory(s.ctx, changed))
	must[yiku.Empty](s)(s.DeleteMemory(s.ctx, yiku.DeleteMemoryRequest{ID: one.ID, UserID: "u"}))
	fails[yiku.SaveMemoryResponse](s, yiku.ErrForgotten)(s.SaveMemory(s.ctx, req))
}

// historyOutOfOrder: C8, D9, the values of one attribute may be saved in any
// order; as of each day there is the one that held then, and no other.
func historyOutOfOrder(s *suite) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	cities := []string{"杭州", "Shanghai", "成都", "Suzhou"} // from the 1st, the 6th, the 11th, the 16th
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {3, 0, 1, 2}, {2, 0, 3, 1}, {1, 3, 0, 2}, {3, 0, 2, 1}} {
		who := fmt.Sprint("u", order)
		for _, i := range order {
			s.save(yiku.SaveMemoryRequest{UserID: who, Content: "住在 lives in " + cities[i], Subject: "user", Attribute: "residence", Value: cities[i], ValidFrom: day(1 + 5*i)})
		}
		for i, city := range cities {
			for _, at := range []time.Time{day(1 + 5*i), day(5 + 5*i)} {
				same(s, fmt.Sprint(order, at), []string{"住在 lives in " + city}, s.found(yiku.SearchMemoryRequest{UserID: who, Query: "住在 lives in", AsOf: at}))
			}
		}
		same(s, "now", []string{"住在 lives in Suzhou"}, s.contents(yiku.ListMemoriesRequest{UserID: who}))
	}
}
