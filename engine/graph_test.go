package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
)

// told saves facts of ann, each "subject | attribute | value".
func told(t *testing.T, s yiku.Service, facts ...string) (ids []string) {
	t.Helper()
	for _, f := range facts {
		p := strings.Split(f, " | ")
		ids = append(ids, save(t, s, yiku.SaveMemoryRequest{Content: strings.Join(p, " "), Subject: p[0], Attribute: p[1], Value: p[2]}).ID)
	}
	return ids
}

// ends are where the paths of a question lead, in order.
func ends(t *testing.T, s yiku.Service, req yiku.QueryGraphRequest) []string {
	t.Helper()
	req.UserID = "ann"
	res, err := s.QueryGraph(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, p := range res.Paths {
		last := p.Steps[len(p.Steps)-1]
		end := last.Value
		if last.To != nil {
			end = last.To.Name
		}
		if !slices.Contains(out, end) {
			out = append(out, end)
		}
		for _, step := range p.Steps {
			for _, id := range step.MemoryIDs {
				if !slices.ContainsFunc(res.Memories, func(m yiku.Memory) bool { return m.ID == id }) {
					t.Errorf("a step is proved by %s, which is not given", id)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// entities lists the entities of ann by name, with their other names behind.
func entities(t *testing.T, s yiku.Service, req yiku.ListEntitiesRequest) []string {
	t.Helper()
	req.UserID = "ann"
	page, err := s.ListEntities(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range page.Items {
		slices.Sort(e.Aliases)
		out = append(out, strings.Join(append([]string{string(e.Kind) + " " + e.Name}, e.Aliases...), "/"))
	}
	slices.Sort(out)
	return out
}

// TestC14_SeveralHops: people are asked about over several relations, in both
// languages, and every answer has its proof.
func TestC14_SeveralHops(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	told(t, s, "my sister's husband | name | Tom", "Tom | works at | Acme", "Acme | headquarters | Oslo", "我弟弟 | 妻子 | 小红", "小红 | 雇主 | 谷歌", "user | residence | Bergen", "my 妈妈 | 昵称 | 阿珍", "阿珍 | 居住地 | 杭州")
	for _, c := range []struct {
		req  yiku.QueryGraphRequest
		want string
	}{
		{yiku.QueryGraphRequest{Start: "my sister's husband", Relation: "works for"}, "Acme"},
		{yiku.QueryGraphRequest{Relation: "sister/husband/employer"}, "Acme"},
		{yiku.QueryGraphRequest{Relation: "妹妹/丈夫/公司"}, "Acme"},
		{yiku.QueryGraphRequest{Relation: "brother/wife/employer"}, "谷歌"},
		{yiku.QueryGraphRequest{Start: "我弟弟的老婆", Relation: "公司", Hops: 1}, "谷歌"},
		{yiku.QueryGraphRequest{Start: "Tom", Relation: "headquarters", Hops: 2}, "Oslo"},
		{yiku.QueryGraphRequest{Start: "我妈", Relation: "居住地"}, "杭州"},
		{yiku.QueryGraphRequest{Relation: "lives in", Hops: 1}, "Bergen"},
		{yiku.QueryGraphRequest{Start: "Acme", Relation: "employee", Hops: 1}, "Tom"},
		{yiku.QueryGraphRequest{Start: "nobody we know"}, ""},
		{yiku.QueryGraphRequest{Start: "he"}, ""},
		{yiku.QueryGraphRequest{Relation: "owns", Hops: 4}, ""},
	} {
		if got := strings.Join(ends(t, s, c.req), ", "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.req, got, c.want)
		}
	}
}

// TestC14_IntervalsAreTheFacts: a relation holds as long as its fact does; what
// was true then is found as of then.
func TestC14_IntervalsAreTheFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := b.operator()
	told(t, s, "Tom | employer | Acme")
	then := b.clock.Now()
	b.clock.Advance(48 * time.Hour)
	told(t, s, "Tom | employer | Globex")
	if got := ends(t, s, yiku.QueryGraphRequest{Start: "Tom", Relation: "employer"}); !slices.Equal(got, []string{"Globex"}) {
		t.Errorf("now %q", got)
	}
	if got := ends(t, s, yiku.QueryGraphRequest{Start: "Tom", Relation: "employer", AsOf: then.Add(time.Hour)}); !slices.Equal(got, []string{"Acme"}) {
		t.Errorf("then %q", got)
	}
	page, err := s.ListRelations(t.Context(), yiku.ListRelationsRequest{UserID: "ann", Status: yiku.StatusSuperseded, Relation: "works for"})
	if err != nil || len(page.Items) != 1 || page.Items[0].To.Name != "Acme" || !page.Items[0].ValidTo.Equal(b.clock.Now()) {
		t.Errorf("history: %+v, %v", page.Items, err)
	}
}

// TestC14_NamesComeApart: what made two names one is a memory, and forgetting
// it takes them apart again; a second one of that name makes a short one uncertain.
func TestC14_NamesComeApart(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	told(t, s, "Robert Lee | employer | Acme", "Bobby | residence | Oslo")
	alias := told(t, s, "Robert Lee | also known as | Bobby")
	if diff := strings.Join(entities(t, s, yiku.ListEntitiesRequest{Kind: yiku.EntityPerson}), "; "); diff != "person Robert Lee/Bobby" {
		t.Errorf("with an alias: %s", diff)
	}
	res, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{IDs: alias}})
	if err != nil || res.Removed.Relations != 1 || res.Removed.Entities != 0 || !res.Verified {
		t.Errorf("forget: %+v, %v", res, err)
	}
	if got := ends(t, s, yiku.QueryGraphRequest{Start: "Bobby", Relation: "employer"}); len(got) != 0 {
		t.Errorf("without it: %q", got)
	}
	told(t, s, "Bob Smith | employer | Acme", "Bob | residence | Rome")
	if got := ends(t, s, yiku.QueryGraphRequest{Start: "Bob", Relation: "employer"}); !slices.Equal(got, []string{"Acme"}) {
		t.Errorf("the only Bob: %q", got)
	}
	told(t, s, "Bob Jones | employer | Globex")
	q, err := s.QueryGraph(t.Context(), yiku.QueryGraphRequest{UserID: "ann", Start: "Bob", Relation: "employer"})
	if err != nil || len(q.Paths) != 0 || len(q.Candidates) != 2 {
		t.Errorf("one of two: %+v, %v", q, err)
	}
}

// TestC14_ForgottenWithTheirSource: relations go with what said them, by every
// way to forget, and entities with the last that spoke of them; the preview
// says so, the receipt counts it, and no byte of a name stays.
func TestC14_ForgottenWithTheirSource(t *testing.T) {
	t.Parallel()
	for name, selector := range map[string]func(ids []string) yiku.Selector{
		"all":     func([]string) yiku.Selector { return yiku.Selector{All: true} },
		"keyword": func([]string) yiku.Selector { return yiku.Selector{Keyword: "Quux"} },
		"ids":     func(ids []string) yiku.Selector { return yiku.Selector{IDs: ids} },
		"filter": func([]string) yiku.Selector {
			return yiku.Selector{Filter: &yiku.Filter{Field: "value", Op: yiku.OpContains, Value: "Quux"}}
		},
		"time": func([]string) yiku.Selector {
			return yiku.Selector{From: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)}
		},
		"session": func([]string) yiku.Selector { return yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			s := b.operator()
			utter(t, s, "s", "Hello.")
			ids := []string{save(t, s, yiku.SaveMemoryRequest{Content: "Quuxine works at Quuxcorp", Subject: "my cousin Quuxine", Attribute: "employer", Value: "Quuxcorp", SessionID: "s"}).ID}
			b.clock.Advance(time.Hour)
			told(t, s, "my cousin Pat | employer | Acme")
			req := yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: selector(ids), DryRun: true}
			would, err := s.Forget(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			req.DryRun = false
			did, err := s.Forget(t.Context(), req)
			if err != nil || did.Removed != would.Removed || !did.Verified {
				t.Fatalf("would remove %+v, removed %+v, %v", would.Removed, did.Removed, err)
			}
			relations, names := 2, 2 // Quuxine and Quuxcorp; the user is spoken of by the other one, too
			left := []string{"organisation Acme", "person my cousin Pat", "person the user"}
			if name == "all" {
				relations, names, left = 4, 5, []string{}
			}
			if did.Removed.Relations != relations || did.Removed.Entities != names {
				t.Errorf("removed %+v, want %d relations and %d entities", did.Removed, relations, names)
			}
			if got := entities(t, s, yiku.ListEntitiesRequest{}); !slices.Equal(got, left) {
				t.Errorf("left %q, want %q", got, left)
			}
			if v, err := s.VerifyReceipt(t.Context(), yiku.VerifyReceiptRequest{UserID: "ann", ID: did.ReceiptID}); err != nil || !v.Clean || v.LookedAt["relations.memory"] == 0 {
				t.Errorf("verify: %+v, %v", v, err)
			}
			if faults, err := b.store.Check(t.Context()); err != nil || len(faults) > 0 {
				t.Errorf("check: %q, %v", faults, err)
			}
		})
	}
}

// TestC16_GraphKeepsItsScope: what belongs to a project is seen in it only; what
// is shared is seen by all, and nobody sees another's.
func TestC16_GraphKeepsItsScope(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	save(t, s, yiku.SaveMemoryRequest{ProjectID: "apollo", Content: "Eve leads it", Subject: "Apollo", Attribute: "owner", Value: "Eve"})
	save(t, s, yiku.SaveMemoryRequest{Level: yiku.LevelShared, Content: "Support is in Oslo", Subject: "Support", Attribute: "located_in", Value: "Oslo"})
	if _, err := s.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "bob", Content: "Eve works at Acme", Subject: "Eve", Attribute: "employer", Value: "Acme"}); err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]string{"": "", "apollo": "Eve", "other": ""} {
		if got := strings.Join(ends(t, s, yiku.QueryGraphRequest{ProjectID: project, Start: "Apollo", Relation: "owner"}), ", "); got != want {
			t.Errorf("in project %q: %q, want %q", project, got, want)
		}
		if got := len(entities(t, s, yiku.ListEntitiesRequest{ProjectID: project})) > 0; got != (want != "") {
			t.Errorf("entities in project %q: %v", project, got)
		}
	}
	if got := ends(t, s, yiku.QueryGraphRequest{Start: "support", Relation: "location"}); len(got) != 0 {
		t.Errorf("another relation: %q", got)
	}
	if got := ends(t, s, yiku.QueryGraphRequest{Start: "support", Relation: "位于"}); !slices.Equal(got, []string{"Oslo"}) {
		t.Errorf("shared: %q", got)
	}
	if got := ends(t, s, yiku.QueryGraphRequest{ProjectID: "apollo", Start: "Eve", Relation: "employer"}); len(got) != 0 {
		t.Errorf("bob's: %q", got)
	}
	save(t, s, yiku.SaveMemoryRequest{Level: yiku.LevelShared, Content: "The user works at Initech", Subject: "user", Attribute: "employer", Value: "Initech"})
	if got := ends(t, s, yiku.QueryGraphRequest{Start: "user", Relation: "employer"}); len(got) != 0 {
		t.Errorf("the user of a shared memory: %q", got)
	}
}

// TestI4_GraphQuestions: a question that cannot be read names its field.
func TestI4_GraphQuestions(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	for field, req := range map[string]yiku.QueryGraphRequest{
		"relation": {Relation: "sister//employer"}, "hops": {Relation: "sister/employer", Hops: 3},
	} {
		req.UserID = "ann"
		if _, err := s.QueryGraph(t.Context(), req); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%+v: %v, want %s", req, err, field)
		}
	}
}

// TestC8_OnlyTheSameAttribute: a new fact retires what says otherwise of the
// same subject and attribute, and none of many others, however alike they are.
// Lessons: L45.
func TestC8_OnlyTheSameAttribute(t *testing.T) {
	t.Parallel()
	s := newBench(t, nil).operator()
	for i := range 20 {
		told(t, s, "user | favourite "+strings.Repeat("very ", i)+"food | Hangzhou noodles", "person "+strings.Repeat("i", i+1)+" | residence | Hangzhou")
	}
	old := told(t, s, "user | residence | Hangzhou")
	res := save(t, s, yiku.SaveMemoryRequest{Content: "The user lives in Shanghai now, not in Hangzhou", Subject: "user", Attribute: "residence", Value: "Shanghai"})
	if !slices.Equal(res.Superseded, old) {
		t.Errorf("superseded %q, want %q", res.Superseded, old)
	}
	page, err := s.ListMemories(t.Context(), yiku.ListMemoriesRequest{UserID: "ann", Status: yiku.StatusSuperseded})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%d memories are history, %v; want 1", len(page.Items), err)
	}
}

// TestC14_Conversations: what is said in a conversation can be asked about over
// several hops, by both ways of reading it and in both languages, and goes
// with the messages that said it.
func TestC14_Conversations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string // of a model; "" rules read
		says   []string
		ask    map[string]string
	}{
		"rules": {"", []string{"My sister is called Eva.", "Eva works at Acme.", "我老婆王小红住在杭州。"},
			map[string]string{"sister/employer": "Acme", "妻子/居住地": "杭州"}},
		"model": {`{"op":"create","content":"The user's sister Eva is married to Tom","messages":[1],"relations":[{"from":"user","relation":"sister","to":"Eva"},{"from":"Eva","relation":"husband","to":"Tom"},{"from":"Tom"}]},
			{"op":"create","content":"Tom works at Acme","subject":"Tom","attribute":"employer","value":"Acme","messages":[1],"entities":[{"name":"Tom","aliases":["Tommy"]}]}`,
			[]string{"My sister Eva is married to Tom, who works at Acme."}, map[string]string{"sister/spouse/employer": "Acme", "兄弟姐妹/配偶/公司": "Acme"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			if c.answer != "" {
				b, _ = modelBench(t, answering(c.answer))
			}
			s := b.operator()
			utter(t, s, "s", c.says...)
			report, err := s.ExtractSession(t.Context(), yiku.ExtractSessionRequest{UserID: "ann", SessionID: "s"})
			if err != nil || report.Status != yiku.ExtractionStored {
				t.Fatalf("%+v, %v", report, err)
			}
			if parked := len(report.Parked); (parked == 1) != (c.answer != "") {
				t.Errorf("parked %+v", report.Parked)
			}
			for relation, want := range c.ask {
				if got := ends(t, s, yiku.QueryGraphRequest{Relation: relation}); !slices.Equal(got, []string{want}) {
					t.Errorf("%s: %q, want %s", relation, got, want)
				}
			}
			if c.answer != "" {
				if got := ends(t, s, yiku.QueryGraphRequest{Start: "Tommy", Relation: "employer"}); !slices.Equal(got, []string{"Acme"}) {
					t.Errorf("by an alias: %q", got)
				}
			}
			res, err := s.Forget(t.Context(), yiku.ForgetRequest{UserID: "ann", Reason: "asked", Selector: yiku.Selector{Source: &yiku.SourceSelector{SessionID: "s"}}})
			if err != nil || res.Removed.Entities < 4 || res.Removed.Relations < 3 || !res.Verified {
				t.Errorf("forget: %+v, %v", res, err)
			}
			if got := entities(t, s, yiku.ListEntitiesRequest{}); len(got) != 0 {
				t.Errorf("left %q", got)
			}
		})
	}
}
