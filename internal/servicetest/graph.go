package servicetest

import (
	"strings"

	"github.com/yiku-ai/yiku"
)

func graphGroups() []group {
	return []group{
		{"C14_Entities", entityList},
		{"C14_Relations", relationList},
		{"C14_Query", graphQuery},
	}
}

// says saves a fact.
func (s *suite) says(subject, attribute, value string) yiku.Memory {
	s.Helper()
	return must[yiku.SaveMemoryResponse](s)(s.SaveMemory(s.ctx, yiku.SaveMemoryRequest{UserID: "u", Content: subject + " " + attribute + " " + value,
		Subject: subject, Attribute: attribute, Value: value})).Memory
}

// entityList: C14, every name of somebody is one entity, page after page; it is
// found by any of its names.
func entityList(s *suite) {
	said := s.says("my wife Anna", "employer", "谷歌")
	s.says("我老婆", "居住地", "Oslo")
	s.says("user", "nickname", "阿明")
	var got []string
	req := yiku.ListEntitiesRequest{UserID: "u", Paging: yiku.Paging{Limit: 1}}
	for {
		page := must[yiku.Page[yiku.Entity]](s)(s.ListEntities(s.ctx, req))
		for _, e := range page.Items {
			got = append(got, string(e.Kind)+" "+e.Name)
		}
		if page.NextCursor == "" {
			break
		}
		req.Cursor = page.NextCursor
	}
	if want := "place Oslo|organisation 谷歌|person 阿明|person my wife Anna"; len(got) != 4 || !sameSet(got, strings.Split(want, "|")) {
		s.Errorf("entities %q, want %s", got, want)
	}
	for _, name := range []string{"Anna", "my wife", "我的妻子安娜", "我太太"} {
		page := must[yiku.Page[yiku.Entity]](s)(s.ListEntities(s.ctx, yiku.ListEntitiesRequest{UserID: "u", Name: name}))
		known := name != "我的妻子安娜" // nobody was called so
		if (len(page.Items) == 1) != known || known && (page.Items[0].Sources[len(page.Items[0].Sources)-1] != said.ID || page.Items[0].FirstSeen.IsZero()) {
			s.Errorf("%s: %+v", name, page.Items)
		}
	}
	page := must[yiku.Page[yiku.Entity]](s)(s.ListEntities(s.ctx, yiku.ListEntitiesRequest{UserID: "u", Kind: yiku.EntityPlace}))
	if len(page.Items) != 1 || page.Items[0].Name != "Oslo" {
		s.Errorf("places: %+v", page.Items)
	}
	if other := must[yiku.Page[yiku.Entity]](s)(s.ListEntities(s.ctx, yiku.ListEntitiesRequest{UserID: "v"})); len(other.Items) != 0 {
		s.Errorf("another user: %+v", other.Items)
	}
}

func sameSet(a, b []string) bool {
	for _, x := range a {
		if !strings.Contains("|"+strings.Join(b, "|")+"|", "|"+x+"|") {
			return false
		}
	}
	return len(a) == len(b)
}

// relationList: C14, relations with their ends, their time and the memory that
// says them, by entity, relation and status.
func relationList(s *suite) {
	old := s.says("Tom", "employer", "Acme")
	now := s.says("Tom", "works for", "Globex")
	s.says("Tom", "age", "41")
	list := func(req yiku.ListRelationsRequest) []yiku.Relation {
		req.UserID = "u"
		return must[yiku.Page[yiku.Relation]](s)(s.ListRelations(s.ctx, req)).Items
	}
	all := list(yiku.ListRelationsRequest{})
	if len(all) != 2 || all[0].Value != "41" || all[0].To != nil || all[1].To == nil || all[1].To.Name != "Globex" || all[1].MemoryID != now.ID || all[1].Relation != "employer" {
		s.Errorf("relations: %+v", all)
	}
	if past := list(yiku.ListRelationsRequest{Status: yiku.StatusSuperseded, Relation: "雇主"}); len(past) != 1 || past[0].MemoryID != old.ID || past[0].ValidTo.IsZero() {
		s.Errorf("history: %+v", past)
	}
	if around := list(yiku.ListRelationsRequest{EntityID: all[1].To.ID}); len(around) != 1 || around[0].From.Name != "Tom" {
		s.Errorf("around: %+v", around)
	}
	if none := list(yiku.ListRelationsRequest{EntityID: "none"}); len(none) != 0 {
		s.Errorf("around nobody: %+v", none)
	}
	first := must[yiku.Page[yiku.Relation]](s)(s.ListRelations(s.ctx, yiku.ListRelationsRequest{UserID: "u", Paging: yiku.Paging{Limit: 1}}))
	second := must[yiku.Page[yiku.Relation]](s)(s.ListRelations(s.ctx, yiku.ListRelationsRequest{UserID: "u", Paging: yiku.Paging{Limit: 1, Cursor: first.NextCursor}}))
	if len(first.Items) != 1 || len(second.Items) != 1 || second.Items[0].MemoryID != now.ID {
		s.Errorf("pages: %+v, %+v", first, second)
	}
}

// graphQuery: C14, who does my sister's husband work for.
func graphQuery(s *suite) {
	s.says("my sister's husband", "name", "Tom")
	proof := s.says("Tom", "employer", "Acme")
	for _, req := range []yiku.QueryGraphRequest{
		{Start: "my sister's husband", Relation: "works for"}, {Relation: "sister/husband/employer"}, {Start: "我妹妹的老公", Relation: "公司"},
	} {
		req.UserID = "u"
		res := must[yiku.QueryGraphResponse](s)(s.QueryGraph(s.ctx, req))
		if len(res.Paths) != 1 || res.Start == nil {
			s.Errorf("%+v: %+v", req, res)
			continue
		}
		last := res.Paths[0].Steps[len(res.Paths[0].Steps)-1]
		if last.To == nil || last.To.Name != "Acme" || len(last.MemoryIDs) != 1 || last.MemoryIDs[0] != proof.ID || res.Memories[len(res.Memories)-1].ID != proof.ID {
			s.Errorf("%+v: %+v", req, last)
		}
	}
	names[yiku.QueryGraphResponse](s, "relation")(s.QueryGraph(s.ctx, yiku.QueryGraphRequest{UserID: "u", Relation: "sister//employer"}))
}
